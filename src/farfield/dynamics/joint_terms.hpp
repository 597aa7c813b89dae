// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Terms of the incremental potential that live on single joints: springs, limits, damping, armature, actuators.
///
/// Per coordinate with increment d = q+ - q (ball: e = log(R^T R+)), s = deviation from a reference:
///   spring 1/2 k s^2,   limit kappa/6 excess^3 (C2, finite outside the range),   damping c/(2 dt) d^2,
///   armature 1/2 a (d/dt - v)^2,   motor -u gear d,   pd 1/2 kp (q* - q+)^2 + 1/2 kd dt (v* - d/dt)^2
/// Paper:     [SDRS2025, Eq. (5)] for the pd term; see PdConvention.
/// On a ball, a term f(e) has gradient J_r^-T(e) y, y = f'(e), and Hessian sym[(d(J_r^-T y)/de + J_r^-T K) J_r^-1], K = f''(e).
#include <Eigen/Dense>
#include <span>

#include "farfield/dynamics/step_types.hpp"
#include "farfield/math/block_matrix.hpp"
#include "farfield/model/drive_force.hpp"

namespace farfield {

struct JointStep {
    const Model& model;
    const Parameters& parameters;
    const StepOptions& options;
    const State& now;
    const Eigen::VectorXd& control;
};

/// What kp and kd are multiplied by in a convention.
[[nodiscard]] GainFactors gain_factors(const StepOptions& options);

[[nodiscard]] double joint_energy(const JointStep& step, const Eigen::VectorXd& q);

/// Adds gradient and, unless it is null, the Hessian; returns the energy.
double add_joint_derivatives(const JointStep& step, const Eigen::VectorXd& q, Eigen::VectorXd& gradient,
                             BlockMatrix* hessian);

/// Subtracts the derivatives of phi = lambda . dE/dq+ by the state now, the control and the parameters, for every direction lambda.
void joint_vjp(const JointStep& step, const Eigen::VectorXd& q, std::span<const Eigen::VectorXd> lambdas,
               std::span<StepProducts> products, std::span<Parameters> gradients);

/// Springs and limits alone: the part that is a potential energy of the state.
[[nodiscard]] double stored_joint_energy(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q);

}  // namespace farfield
