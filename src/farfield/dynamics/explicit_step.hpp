// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Explicit time steps for force laws: semi-implicit Euler and Runge-Kutta of order 4, with exact vector-Jacobian products.
///
/// Paper:     [SCM2025, Eqs. (24), (25)]
///            a(q, v) = forward dynamics under springs, limits, actuators and the wrenches of contact
///            Euler: v+ = v + dt a(q, v),   q+ = retract(q, dt v+)
///            RK4:   the classical stages in the chart theta of retract(q, theta), where theta' = J_r^-1(theta) v on rotations
/// Scripted degrees of freedom move at the speed v_s that takes them to their targets; their acceleration is (v_s - v)/dt.
#include <Eigen/Dense>
#include <array>
#include <span>
#include <vector>

#include "farfield/contact/force_law.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/model/body_twists_vjp.hpp"
#include "farfield/model/forward_dynamics.hpp"

namespace farfield {

/// One evaluation of the accelerations.
struct ExplicitStage {
    Eigen::VectorXd theta, q, v;  ///< tangent from the start of the step, where that leads, velocity
    Kinematics kinematics;
    std::vector<Vector6d> twists;
    std::vector<Vector6d> wrenches;  ///< of contact, per body
    Eigen::VectorXd tau, a, rate;    ///< generalised forces, acceleration, rate of theta
};

/// Scratch space for steps of one thread. Carries no values.
struct ExplicitScratch {
    std::array<ExplicitStage, 4> stages;
    ForwardDynamicsScratch dynamics;
    Eigen::VectorXd script_speed, script_acceleration, difference, target;
    Kinematics end;
    // backward
    ForwardDynamicsGradient bars;
    TwistScratch twists;
    contact::ForceBars contact_bars;
    std::vector<Vector6d> subtree;
    std::array<Eigen::VectorXd, 4> rate_bar, a_bar;
    Eigen::VectorXd q_bar, v_bar, theta, theta_bar, start_bar;
    Eigen::VectorXd control;  ///< inside the ranges
    Eigen::VectorXd speed_bar, scripted_bar, end_bar, end_v_bar, end_theta_bar, acceleration_bar, end_v;
};

[[nodiscard]] StepReport explicit_step(const StepContext& context, const State& now, const StepInput& input,
                                       StepMemory& memory, ExplicitScratch& scratch, State& next);

/// As implicit_step_vjp.
void explicit_step_vjp(const StepContext& context, const State& now, const StepInput& input,
                       std::span<const StateGradient> next_bars, StepMemory& memory, ExplicitScratch& scratch,
                       std::span<StepGradient> gradients, std::span<Parameters> parameters);

}  // namespace farfield
