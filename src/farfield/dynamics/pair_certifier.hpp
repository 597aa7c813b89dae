// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Up to which time does a moving surface stay clear of a fixed one? Certified by planes fixed in the frame of
/// the fixed body.
///
/// For any unit n fixed in that frame and points y(t) with |n . y''| <= Q on [a, a + h]:
///   n . y(a + s h) >= (1 - s) n . y(a) + s n . y(a + h) - Q h^2/2 s (1 - s)
/// so margins of a plane at both ends of an interval, less Q h^2/8, bound the gap in between, and the first root of a
/// quadratic tells how far
/// one plane reaches. An inexact n only costs length: every margin is evaluated, never inferred.
#include <Eigen/Dense>
#include <limits>

#include "farfield/geometry/collision_shape.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/motion_bound.hpp"

namespace farfield {

struct FilterOptions {
    double keep =
        0.1;  ///< c: fraction of the gap at the start that is kept everywhere on the certified path, in (0, 1)
    double tolerance = 0.05;  ///< of the remaining gap: where the search for the largest step may stop, in (0, 1)
    bool body_tests = true;   ///< whole-body planes and hulls before the trees; off only to test the trees
    double curvature_scale =
        1.0;  ///< multiplies the bounds of bending; anything below 1 gives up the certificate (for control experiments)
};

/// Gaps of one pair [m]: `required` is certified on the whole path, at `stop` the search may end.
struct GapTargets {
    double required = 0.0, stop = 0.0;
};

/// Result of one pair: the certified part of [0, alpha] and a lower bound of the gap on it.
struct PairCertificate {
    double alpha = 0.0;
    double gap = 0.0;
};

/// One surface moving relative to another. A short-lived view: holds references only.
class PairCertifier {
 public:
    PairCertifier(const CollisionShape& fixed, const CollisionShape& moving, const RelativeMotion& motion,
                  const GapTargets& targets, const FilterOptions& options);

    /// `direction` (fixed frame): a guess in, the last separating direction out; zero when there is none.
    [[nodiscard]] PairCertificate certify(double alpha, Eigen::Vector3d& direction);

 private:
    struct Interval {
        double begin = 0.0, end = 0.0;
        Pose pose_begin, pose_end;
        [[nodiscard]] double length() const { return end - begin; }
    };

    [[nodiscard]] CurvatureBound bend(const Eigen::Vector3d& n) const;
    [[nodiscard]] double hull_margin(const Eigen::Vector3d& n, const Pose& pose) const;
    bool accept(const Eigen::Vector3d& n, double margin, double reach, double length);
    bool try_direction(const Interval& interval, const Eigen::Vector3d& n);
    bool try_boxes(const Interval& interval);
    [[nodiscard]] double advance_hulls(const Interval& interval, bool& exact);
    void descend(int fixed_node, int moving_node, const Interval& interval, bool try_cluster);
    void split(int fixed_node, int moving_node, const Interval& interval, bool try_cluster);
    [[nodiscard]] bool spheres_clear(const CollisionShape::Node& fixed, const CollisionShape::Node& moving,
                                     const Interval& interval, double& bending, double& chord) const;
    [[nodiscard]] bool boxes_clear(const CollisionShape::Node& fixed, const CollisionShape::Node& moving,
                                   const Interval& interval) const;
    [[nodiscard]] bool clusters_clear(const CollisionShape::Node& fixed, const CollisionShape::Node& moving,
                                      const Interval& interval);
    void leaf(const CollisionShape::Node& fixed, const CollisionShape::Node& moving, const Interval& interval);
    template <class Surface>
    [[nodiscard]] double advance(Surface& surface, const Interval& interval);

    const CollisionShape& fixed_;
    const CollisionShape& moving_;
    const RelativeMotion& motion_;
    const GapTargets& targets_;
    const FilterOptions& options_;
    CurvatureBound isotropic_;
    std::array<CurvatureBound, 3> axis_;
    double alpha_ = 1.0;
    double body_gap_ = 0.0;           ///< bound of the last accepted whole-body plane
    Eigen::Vector3d direction_;       ///< whole-body guess
    Eigen::Vector3d leaf_direction_;  ///< last plane that cleared two triangles
};

/// The same for a half-space fixed in the frame the motion is seen from.
[[nodiscard]] PairCertificate certify_half_space(const HalfSpace& half_space, const CollisionShape& moving,
                                                 const RelativeMotion& motion, const GapTargets& targets,
                                                 const FilterOptions& options, double alpha);

/// Largest s in [0, 1] such that (1 - r) first + r last - K r (1 - r) >= required for all r <= s. @pre first >
/// required, K >= 0.
[[nodiscard]] double plane_reach(double first, double last, double bending, double required);

}  // namespace farfield
