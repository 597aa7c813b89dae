// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Joint limits and actuators as generalised forces, and their derivatives.
///
///     limit        tau = -kappa/2 x |x|, x the excess of a coordinate (ball: of its angle, along the rotation vector)
///     motor        tau = gear u
///     pd           tau = gear (kp (q* - gear q) + kd (v* - gear v));  ball: -kp e + kd (v* - v), e = log(R*^T R)
#include <Eigen/Dense>

#include "farfield/model/model.hpp"

namespace farfield {

/// Factors of kp and kd.
struct GainFactors {
    double kp = 1.0, kd = 1.0;
};

/// Added to tau (num_dofs). Scripted degrees of freedom get nothing.
void add_drive_force(const Model& model, const Parameters& parameters, const GainFactors& factors,
                     const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                     Eigen::VectorXd& tau);

/// Gradient of lambda . tau, added: by the tangent of q, by v, by the control, and by kp and kd.
void add_drive_force_vjp(const Model& model, const Parameters& parameters, const GainFactors& factors,
                         const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                         const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar, Eigen::VectorXd& v_bar,
                         Eigen::VectorXd& control_bar, Parameters& gradient);

}  // namespace farfield
