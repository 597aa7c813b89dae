// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One implicit time step by Newton's method, and its vector-Jacobian products by the implicit function theorem.
///
/// Paper:     [SDRS2025, Secs. IV-D, V], [LongRange2026, Sec. 3]
/// Deviation: scripted coordinates approach their targets inside the Newton loop. See also dynamics/newton.hpp.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/dynamics/newton.hpp"
#include "farfield/dynamics/step_problem.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield {

/// Scratch space for steps of one thread. Carries no values.
struct StepScratch {
    StepProblem problem;
    NewtonIterate x;
    // backward, per direction
    std::vector<StateGradient> next_bars;
    std::vector<Eigen::VectorXd> lambdas;
    std::vector<StepProducts> products;
    RightHandSides sides;
    Eigen::VectorXd difference, applied;
};

/// Solves for `next`. Sizes are checked by the caller once per rollout.
[[nodiscard]] StepReport implicit_step(const StepContext& context, const State& now, const StepInput& input,
                                       StepMemory& memory, StepScratch& scratch, State& next);

/// Adjoint of one step for any number of directions: one linearisation and one factor serve all. In: `next_bars` = gradients by the next
/// state. Out: `gradients`, one per direction; those by parameters are added to.
void implicit_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                       std::span<const StateGradient> next_bars, StepMemory& memory, StepScratch& scratch,
                       std::span<StepGradient> gradients, std::span<Parameters> parameters);

}  // namespace farfield
