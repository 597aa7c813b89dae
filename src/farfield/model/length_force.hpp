// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Drives with a saturating force and dry friction of joints as generalised forces, and their derivatives: what length_terms are to
///        implicit steps.
///
///     drive           tau = c sat(g u + b + kp (l* - l) + kd (l'* - l')),   l = c . q a length of scalar coordinates
///     dry friction    tau = -f sign(v) (2 y - y^2), y = |v| over the smoothing speed; -f sign(v) beyond it
#include <Eigen/Dense>

#include "farfield/model/drive_force.hpp"

namespace farfield {

/// Added to tau (num_dofs). Scripted degrees of freedom get no friction.
void add_length_force(const Model& model, const Parameters& parameters, const GainFactors& factors,
                      const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                      Eigen::VectorXd& tau);

/// As add_drive_force_vjp, and by joint_friction.
void add_length_force_vjp(const Model& model, const Parameters& parameters, const GainFactors& factors,
                          const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                          const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar, Eigen::VectorXd& v_bar,
                          Eigen::VectorXd& control_bar, Parameters& gradient);

/// Adds the largest -dtau/dq and -dtau/dv there can be, (num_dofs, num_dofs) each.
void add_length_stiffness(const Model& model, const Parameters& parameters, const GainFactors& factors,
                          Eigen::MatrixXd& stiffness, Eigen::MatrixXd& damping);

}  // namespace farfield
