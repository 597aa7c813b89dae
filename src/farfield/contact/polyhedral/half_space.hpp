// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Hulls above a half-space: a barrier on the height of every vertex.
///
///     U = sum_m P(q_m),   q_m = c z_m,   c = (1 - s)/2,   z_m = n . (x_m - p_h) - offset   (lengths scaled)
/// the margin that a plane of length 1 - s halfway to the ground would leave, so that U begins at the same range as between hulls.
/// The normal and the origin p_h move with the half-space's body. With N = c n, r = x - p (p the origin of the hulls' body), e = p - p_h:
///     dq = N.v + (r x N).w - N.v_h + (N x (r + e)).w_h
#include <Eigen/Dense>

#include "farfield/contact/polyhedral/pair_derivatives.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::contact::polyhedral {

/// A half-space as a body sees it. World axes, lengths scaled.
struct HalfSpaceFrame {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< unit
    Eigen::Vector3d apart = Eigen::Vector3d::Zero();    ///< e
    double height = 0.0;                                ///< z of the body's origin
};
/// Everything scaled.
[[nodiscard]] HalfSpaceFrame make_frame(const HalfSpace& half_space, const Pose& half_space_pose, const Pose& pose);

[[nodiscard]] inline double height_factor(double s) { return 0.5 * (1.0 - s); }

/// Adds one hull; sums in world axes about the body's origin. False when a vertex is not above the half-space.
bool add_hull_above(const HullColumns& hull, const HalfSpaceFrame& frame, const Eigen::Matrix3d& rotation, double s,
                    HullSums& sums);

/// By (v, w) of the hulls' body, then (v_h, w_h).
[[nodiscard]] Vector12d half_space_gradient(const HullSums& sums, const HalfSpaceFrame& frame, double s);
[[nodiscard]] Matrix12d half_space_hessian(const HullSums& sums, const HalfSpaceFrame& frame, double s);

}  // namespace farfield::contact::polyhedral
