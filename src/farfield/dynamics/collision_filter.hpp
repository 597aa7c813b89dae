// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Collision filter: the largest fraction of a step along which no two bodies come too close, certified for the
/// continuous path.
///
/// The path is q -> retract(q, t delta), t in [0, alpha]. For each pair with a gap of at least g at the start the gap
/// stays above
/// keep * g everywhere on it: nothing can pass through anything, however fast or thin. See dynamics/pair_certifier.hpp.
#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "farfield/dynamics/pair_certifier.hpp"

namespace farfield {

struct SweptDistance;

/// Throws unless 0 < keep < 1, 0 < tolerance < 1, curvature_scale >= 0.
void validate(const FilterOptions& options);

/// Separating directions of the last call, and scratch space. Belongs to one rollout, starts cold.
class FilterMemory {
 public:
    void forget();  ///< back to cold
    [[nodiscard]] std::vector<double> save() const;
    void restore(const std::vector<double>& values);  ///< throws unless save() made them

 private:
    friend class CollisionFilter;
    struct Cached {
        Eigen::Vector3d direction = Eigen::Vector3d::Zero();
        bool seen_from_b = false;  ///< the direction is fixed in the frame of the second body
    };
    struct Path {  ///< of a bounding sphere's centre in the world
        Eigen::Vector3d first, chord;
        double bending = 0.0;  ///< largest distance from the chord
        double turning = 0.0;  ///< sum of all angles turned
        Pose frame;
    };
    std::vector<Cached> cached_;
    std::vector<Path> paths_;
    std::vector<double> gaps_;
    std::vector<int> order_;
    RelativeMotion motion_;
};

/// Two bodies that meet, and where.
struct Intersection {
    int a = 0, b = 0;
    Eigen::Vector3d point = Eigen::Vector3d::Zero();  ///< world
    bool inside = false;  ///< no surfaces cross, but one body lies wholly inside the closed surface of the other
};

/// Built once per model, which must outlive it. Const calls with different memories may run at the same time.
class CollisionFilter {
 public:
    explicit CollisionFilter(const Model& model, const FilterOptions& options = {});
    /// For other surfaces than the model's: one body each. Null: the model's.
    CollisionFilter(const Model& model, std::shared_ptr<const CollisionGeometry> surfaces,
                    const FilterOptions& options);

    struct Result {
        double alpha = 1.0;  ///< certified fraction of the step
        double certified_gap =
            std::numeric_limits<double>::infinity();  ///< lower bound of the gap over all pairs on [0, alpha] [m]
        int limiting_a = -1, limiting_b = -1;         ///< the bodies that shortened the step, -1 when none did
    };
    /// `gaps`: per contact pair a lower bound of the gap at `start`; what is not finite (or all, when
    /// empty) is computed here.
    /// A gap that is zero or lost in rounding gives alpha = 0. `fractions`: per contact pair, filled with what that pair alone
    /// lets pass, which asks more of the filter; empty when nobody wants to know.
    [[nodiscard]] Result max_step(const Kinematics& start, const Eigen::VectorXd& delta, std::span<const double> gaps,
                                  FilterMemory& memory, std::span<double> fractions = {}) const;

    /// The first contact pair of meshes of which one, seen from the other, cannot have moved from `from` to `to` along a screw, nor along
    /// two that lead a tenth of the smaller one's radius aside: it went around the other or, between states that no certified path
    /// connects, through it. Turning together is no motion here. `pieces`: where shorter steps end, if known; a pair that ends there
    /// as it does in `to`, up to a tenth of that radius, went the same way.
    [[nodiscard]] std::optional<ContactPair> find_detour(const Poses& from, const Poses& to, FilterMemory& memory,
                                                         const Poses* pieces = nullptr) const;

    /// Lower bound of the gap of one contact pair, at least nine tenths of it; 0 when the surfaces touch.
    [[nodiscard]] double gap_lower_bound(int pair, const Poses& poses) const;

    /// Two points of a contact pair that are nearest to each other; world.
    [[nodiscard]] SweptDistance nearest(int pair, const Poses& poses) const;

    /// The first contact pair whose surfaces cross or touch; when there is none, the first of which one lies inside the other.
    [[nodiscard]] std::optional<Intersection> find_intersection(const Poses& poses) const;

    /// The same of one contact pair.
    [[nodiscard]] std::optional<Intersection> find_intersection(int pair, const Poses& poses) const;

    [[nodiscard]] const std::vector<ContactPair>& pairs() const { return geometry().pairs; }
    [[nodiscard]] const FilterOptions& options() const { return options_; }
    /// The surfaces it was built for when they are not the model's, else null.
    [[nodiscard]] const std::shared_ptr<const CollisionGeometry>& surfaces() const { return surfaces_; }

 private:
    [[nodiscard]] PairCertificate certify_pair(int pair, double gap, double alpha, const Kinematics& start,
                                               const Eigen::VectorXd& delta, FilterMemory& memory) const;
    [[nodiscard]] PairCertificate certify_meshes(int pair, const GapTargets& targets, double alpha,
                                                 const Kinematics& start, const Eigen::VectorXd& delta,
                                                 FilterMemory& memory) const;
    void set_paths(const Kinematics& start, const Eigen::VectorXd& delta, FilterMemory& memory) const;

    [[nodiscard]] const CollisionGeometry& geometry() const { return surfaces_ ? *surfaces_ : model_->collision(); }

    FilterOptions options_;
    const Model* model_;
    std::shared_ptr<const CollisionGeometry> surfaces_;
    std::vector<CollisionShape> shapes_;  ///< per body
    MotionPaths motions_;
};

}  // namespace farfield
