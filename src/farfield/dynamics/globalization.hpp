// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What an implicit step does where Newton's method alone does not arrive, or arrives beyond a body it should have met.
#include <span>

#include "farfield/dynamics/newton.hpp"
#include "farfield/dynamics/step_problem.hpp"

namespace farfield {

/// One step on the way to its solution.
struct StepSolve {
    const StepContext& context;
    const State& now;
    const StepInput& input;
    StepMemory& memory;
    StepProblem& problem;
    NewtonIterate& x;
    StepReport report{};
};

/// A way to start over. Leaves solution and report as good as they were, or better.
struct Strategy {
    const char* name;
    bool (*needed)(StepSolve& solve);
    void (*run)(StepSolve& solve);
};

/// In the order in which they are tried, each where it is needed after those before it. None without certified contact.
[[nodiscard]] std::span<const Strategy> strategies(const StepContext& context);

/// Iterations that Newton's method may take before the strategies get their turn.
[[nodiscard]] int first_attempt(const StepContext& context);

}  // namespace farfield
