// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Terms of the incremental potential on lengths l = sum c_k q_k: fixed tendons, drives with a saturating force, and dry friction of
///        joints, whose length is one coordinate.
///
/// With d = l+ - l and the speed d/dt:
///   spring 1/2 k x^2, x beyond the rest range;   limit kappa/6 excess^3;   damping c/(2 dt) d^2;   armature 1/2 a (d/dt - l')^2
///   dry friction f dt h(|d|/dt), h' = 2y - y^2 below the smoothing speed (y = speed over it), 1 above: as contact friction
///   drive -integral of sat(F), F = g u + b - kp l - kd d/dt, from l to l+
/// Each is convex in l+ and C2, but for a spring at the end of a slack range.
#include <Eigen/Dense>
#include <span>

#include "farfield/dynamics/joint_terms.hpp"

namespace farfield {

[[nodiscard]] double length_energy(const JointStep& step, const Eigen::VectorXd& q);

/// Adds gradient and, unless it is null, the Hessian; returns the energy.
double add_length_derivatives(const JointStep& step, const Eigen::VectorXd& q, Eigen::VectorXd& gradient,
                              BlockMatrix* hessian);

/// Subtracts the derivatives of phi = lambda . dE/dq+; see joint_vjp.
void length_vjp(const JointStep& step, const Eigen::VectorXd& q, std::span<const Eigen::VectorXd> lambdas,
                std::span<StepProducts> products, std::span<Parameters> gradients);

/// Springs and limits alone.
[[nodiscard]] double stored_length_energy(const Model& model, const Eigen::VectorXd& q);

}  // namespace farfield
