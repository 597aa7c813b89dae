// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  From sums over vertices to derivatives by body motions, in constant time.
///
/// Per hull, with d = centre - body origin, K = [[0, n], [-[n]x, d x n]] (6x4), b = sigma (a_xyz + a_4 d), in the body's chart:
///     g = sigma K a,   Phi_xixi = K Q K^T + diag(0, (n b^T + b n^T)/2 - (n.b) 1)
///     Phi_pxi = Q K^T + [[sigma a_4 1, -[b]x], [0, 0]]
/// and since p = (n, o) minimises Phi,  Hess U = Phi_xixi - Phi_xip Phi_pp^-1 Phi_pxi.
#include <Eigen/Dense>

#include "farfield/contact/pairwise/pair_vectors.hpp"
#include "farfield/contact/polyhedral/hull_pair.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact::polyhedral {

using Matrix4x12d = Eigen::Matrix<double, 4, 12>;

/// A solved pair in world axes: plane, sums, and where the body origins are from its centre. Lengths scaled.
struct WorldPair {
    Plane plane;
    HullSums a, b;
    Eigen::Matrix4d hessian;         ///< Phi_pp
    Eigen::Vector3d from_a, from_b;  ///< centre - body origin
};
[[nodiscard]] WorldPair in_world(const HullPairSolution& solution, const Pose& pose_a, const Pose& pose_b);

/// dU by (v_a, w_a, v_b, w_b).
[[nodiscard]] Vector12d pair_gradient(const WorldPair& pair);

/// Phi_pxi.
[[nodiscard]] Matrix4x12d plane_coupling(const WorldPair& pair);

/// Second derivatives of U.
[[nodiscard]] Matrix12d pair_hessian(const WorldPair& pair);

/// Everything above in units of length: forces take 1/length, torques 1.
[[nodiscard]] Vector12d unscaled_gradient(const Vector12d& scaled, double factor, double length);
[[nodiscard]] Matrix12d unscaled_hessian(const Matrix12d& scaled, double factor, double length);
/// Twists with their linear parts divided by the length.
[[nodiscard]] Vector12d scaled_twists(const Vector6d& a, const Vector6d& b, double length);

}  // namespace farfield::contact::polyhedral
