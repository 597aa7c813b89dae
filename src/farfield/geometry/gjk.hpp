// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Distance of two convex point sets [Gilbert1988], bounded from both sides at every iteration.
///
/// Any unit direction n from A to B proves distance >= min n.b - max n.a, and any point pair proves distance <= |b - a|.
/// Each iteration takes the direction of the best point pair so far, and asks for the extreme points along it:
///
///     Gjk gjk(warm_direction);
///     do {
///         const Vector3d& n = gjk.direction();
///         a = extreme point of A along n, b = extreme point of B along -n;
///         ... any test of the direction n may end the search here ...
///     } while (gjk.add(a, b) == GjkStatus::Searching);
///
/// So A and B may be anything with extreme points, such as the union of two placements of a body.
/// Deviation: the closest point of a simplex is found by trying all its faces, and where the distance is small against the
/// size (flat contact), directions come from normals of faces rather than from the difference of the closest points, whose
/// direction is lost to rounding.
#include <Eigen/Dense>
#include <array>
#include <limits>

namespace farfield {

enum class GjkStatus {
    Searching,  ///< add another pair of extreme points
    Converged,  ///< bounds agree to the tolerance
    Overlap,    ///< the hulls meet (to rounding)
    Stalled,    ///< rounding keeps the bounds apart; both are still valid
};

class Gjk {
 public:
    /// `direction`: a guess of any length, from A to B; zero when there is none.
    /// `tolerance`: relative difference of the bounds at which the search ends.
    explicit Gjk(const Eigen::Vector3d& direction, double tolerance = 1e-9);

    /// Unit vector from A to B, along which the next extreme points are wanted.
    [[nodiscard]] const Eigen::Vector3d& direction() const { return direction_; }

    /// `a`, `b`: extreme points of A along direction() and of B against it.
    GjkStatus add(const Eigen::Vector3d& a, const Eigen::Vector3d& b);

    /// Largest margin found, up to rounding of the points; not positive when no direction separated the sets.
    [[nodiscard]] double lower() const { return lower_; }
    /// Distance of the closest points found; 0 on overlap.
    [[nodiscard]] double upper() const { return upper_; }
    /// The direction that proves lower().
    [[nodiscard]] const Eigen::Vector3d& best_direction() const { return best_direction_; }
    [[nodiscard]] Eigen::Vector3d closest_a() const;
    [[nodiscard]] Eigen::Vector3d closest_b() const;
    [[nodiscard]] int iterations() const { return iterations_; }

 private:
    struct Vertex {
        Eigen::Vector3d w = Eigen::Vector3d::Zero(), a = w, b = w;  // w = b - a
    };
    struct Candidate;  // a face of the simplex and the point on it closest to the origin

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(num_vertices_); }
    [[nodiscard]] bool bounds_agree() const { return num_vertices_ > 0 && upper_ - lower_ <= tolerance_ * upper_; }
    void offer_vertex(Candidate& best, int i) const;
    void offer_edge(Candidate& best, int i, int j) const;
    void offer_face(Candidate& best, int i, int j, int k) const;
    [[nodiscard]] bool contains_origin() const;
    void keep(const Candidate& candidate);

    std::array<Vertex, 4> simplex_{};
    std::array<double, 4> weights_{};
    int num_vertices_ = 0;
    double tolerance_;
    double size_ = 0.0;  // largest |w| seen: rounding is relative to it
    double lower_ = -std::numeric_limits<double>::infinity(), upper_ = std::numeric_limits<double>::infinity();
    Eigen::Vector3d direction_, best_direction_;
    int iterations_ = 0, idle_ = 0;  // idle_: iterations since a bound last moved
};

/// Index of the point (column) farthest along `direction`; the first of equals.
[[nodiscard]] int support(const Eigen::Ref<const Eigen::Matrix3Xd>& points, const Eigen::Vector3d& direction);

struct GjkOptions {
    double tolerance = 1e-9;                                      ///< relative difference of the bounds
    double stop_above = std::numeric_limits<double>::infinity();  ///< also stop once lower >= this [m]
    double stop_below = 0.0;                                      ///< also stop once upper <= this [m]
    Eigen::Vector3d warm_direction = Eigen::Vector3d::Zero();     ///< from A to B, any length; zero: none
};

struct GjkResult {
    GjkStatus status = GjkStatus::Searching;               ///< Searching: ended by stop_above or stop_below
    double lower = 0.0, upper = 0.0;                       ///< bounds of the distance [m]
    Eigen::Vector3d direction = Eigen::Vector3d::UnitZ();  ///< unit, from A to B; proves `lower`
    Eigen::Vector3d on_a = Eigen::Vector3d::Zero(), on_b = Eigen::Vector3d::Zero();
    int iterations = 0;
};

/// Distance of the hulls of two point sets, points as columns (mesh.vertices.transpose() binds without a copy).
[[nodiscard]] GjkResult gjk_distance(const Eigen::Ref<const Eigen::Matrix3Xd>& a,
                                     const Eigen::Ref<const Eigen::Matrix3Xd>& b, const GjkOptions& options = {});

}  // namespace farfield
