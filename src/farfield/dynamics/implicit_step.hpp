// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One implicit time step by Newton's method, and its vector-Jacobian product by the implicit function theorem.
///
/// Paper:     [SDRS2025, Secs. IV-D, V], [LongRange2026, Sec. 3]
/// Deviation: at least one Newton step is taken and the step computed where the stopping test passes is still taken, so that forces far
///            below the tolerance reach the next state. Scripted coordinates approach their targets inside the Newton loop.
#include <Eigen/Dense>
#include <vector>

#include "farfield/dynamics/incremental_potential.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/math/tree_cholesky.hpp"

namespace farfield {

/// Scratch space for steps of one thread. Carries no values.
class StepScratch {
 public:
    IncrementalPotential objective;
    std::vector<double> gaps;  ///< per contact pair
    Eigen::VectorXd q, trial, step, reduced_gradient, reduced_step, remaining, difference, target;
    Eigen::VectorXd q_next_bar, v_next_bar, reduced_bar, lambda, direct;  ///< backward
    IncrementalPotential::Bars products;
    Eigen::MatrixXd reduced_hessian, full_hessian, product;
    TreeCholesky cholesky;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu;  ///< of the adjoint where the Hessian is not positive definite
};

/// Solves for `next`. Sizes are checked by the caller once per rollout.
[[nodiscard]] StepReport implicit_step(const StepContext& context, const State& now, const StepInput& input,
                                       StepMemory& memory, StepScratch& scratch, State& next);

/// Adjoint of one step. In: `next_bar` = gradient by the next state (tangent). Out: gradients by the state, control and script;
/// parameters are added to.
struct StepBars {
    Eigen::VectorXd q, v, control, script;
};
void implicit_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                       const Eigen::VectorXd& q_next_bar, const Eigen::VectorXd& v_next_bar, StepMemory& memory,
                       StepScratch& scratch, StepBars& bars, Parameters& gradient);

}  // namespace farfield
