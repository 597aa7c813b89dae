// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Springs and dampers of the joints as generalised forces, and their derivatives.
///
///     hinge, slide, universal, translation    tau = -k (q - q_rest) - c v
///     ball, rotation                          tau = -J_r(e)^-T (k e) - c v,   e = log(R), k and c per axis
///
/// The spring is the negative gradient of its energy 1/2 k e^2 by the tangent of `retract`; with equal stiffness about all axes it is
/// -k e. Limits, which act only outside their range, and actuators are not in it.
#include <Eigen/Dense>

#include "farfield/model/model.hpp"

namespace farfield {

/// (num_dofs) [N m or N]. Zero on scripted degrees of freedom.
void passive_force(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                   Eigen::VectorXd& tau);

/// Jacobians by the tangent of q and by v, (num_dofs, num_dofs): blocks of one or three on the diagonal.
void passive_force_derivatives(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q,
                               Eigen::MatrixXd& dtau_dq, Eigen::MatrixXd& dtau_dv);

/// Gradient of lambda . tau, added: by the tangent of q, by v, and by stiffness and damping.
void add_passive_force_vjp(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q,
                           const Eigen::VectorXd& v, const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar,
                           Eigen::VectorXd& v_bar, Parameters& gradient);

}  // namespace farfield
