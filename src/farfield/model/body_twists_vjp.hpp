// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How twists of bodies change with coordinates and velocities, transposed.
///
/// With T_i the bar of twist i about the fixed point of its tree, f_i its linear part and p_i the body's origin:
///     by v_k:  S_k . sum T_i,      by q_k:  S_k . sum (V_i x* T_i + (f_i x w_i at p_i)) + Psi'_k . sum T_i
/// summed over the bodies that k moves (see rigid_body_dynamics.hpp).
#include <Eigen/Dense>
#include <vector>

#include "farfield/model/rigid_body_dynamics.hpp"

namespace farfield {

struct TwistScratch {
    std::vector<Vector6d> bars, turns;
};

/// Gradient of the sum of bars[i] . twist_i, twists as of body_twists(v): added to q_bar (tangent), v_bar and the attachment of `gradient`.
/// @pre `bodies` holds set_rigid_bodies and set_motions of the same kinematics and v.
void add_body_twists_vjp(const Model& model, const Kinematics& kinematics, const RigidBodyScratch& bodies,
                         const std::vector<Vector6d>& bars, TwistScratch& scratch, Eigen::VectorXd& q_bar,
                         Eigen::VectorXd& v_bar, Parameters& gradient);

}  // namespace farfield
