// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Where the bodies are, how each degree of freedom moves them, and the tangent operations on coordinates.
///
/// Paper:     [SDRS2025, Sec. III-A]; T_i = T_parent A_i(d) J_i(q)
/// Deviation: ball and free rotations are quaternions stepped by R exp(delta); absolute exponential coordinates lose rank.
#include <Eigen/Dense>
#include <vector>

#include "farfield/math/pose.hpp"
#include "farfield/model/model.hpp"

namespace farfield {

/// World placement of bodies and of the axes of all degrees of freedom. Storage is reused between calls.
struct Kinematics {
    Poses poses;
    std::vector<Eigen::Vector3d> axis;    ///< per degree of freedom, world, unit
    std::vector<Eigen::Vector3d> anchor;  ///< per degree of freedom: a point on the axis (rotations only)
};

void forward_kinematics(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, Kinematics& out);

/// q moved along the tangent vector `delta` (num_dofs): numbers add, rotations become R exp(delta).
void retract(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out);

/// The tangent vector that takes `from` to `to`: retract(from, difference(from, to)) = to.
void difference(const Model& model, const Eigen::VectorXd& from, const Eigen::VectorXd& to, Eigen::VectorXd& out);

/// Twists of all bodies, each at its own origin, for the tangent velocity `rates` (num_dofs).
void body_twists(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& rates,
                 std::vector<Vector6d>& out);

/// Transpose of body_twists: adds J^T wrench to `out`, wrenches taken at each body's own origin.
/// `subtree` receives the wrench of every body's subtree, moved to that body's origin.
void add_pull_back(const Model& model, const Kinematics& kinematics, const std::vector<Vector6d>& wrenches,
                   std::vector<Vector6d>& subtree, Eigen::VectorXd& out);

/// Gradient by attachment points belonging to the subtree wrenches of add_pull_back: adds R_parent^T F.
void add_attachment_pull_back(const Model& model, const Kinematics& kinematics, const std::vector<Vector6d>& subtree,
                              Parameters& gradient);

}  // namespace farfield
