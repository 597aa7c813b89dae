// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One step, implicit (and cut where it has to be) or explicit as its context says, and its vector-Jacobian products.
#include <span>
#include <vector>

#include "farfield/dynamics/explicit_step.hpp"
#include "farfield/dynamics/piecewise_step.hpp"

namespace farfield {

/// Scratch space for steps of one thread. Carries no values.
struct AnyStepScratch {
    StepScratch implicit_part;
    ExplicitScratch explicit_part;
};

[[nodiscard]] inline StepReport take_step(const StepContext& context, const State& now, const StepInput& input,
                                          StepMemory& memory, AnyStepScratch& scratch, State& next,
                                          std::vector<StepCut>& cuts) {
    if (!context.explicit_steps())
        return piecewise_step(context, now, input, memory, scratch.implicit_part, next, cuts);
    cuts.clear();
    return explicit_step(context, now, input, memory, scratch.explicit_part, next);
}

inline void take_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                          std::span<const StepCut> cuts, std::span<const StateGradient> next_bars, StepMemory& memory,
                          AnyStepScratch& scratch, std::span<StepGradient> gradients,
                          std::span<Parameters> parameters) {
    if (context.explicit_steps()) {
        explicit_step_vjp(context, now, input, next_bars, memory, scratch.explicit_part, gradients, parameters);
    } else {
        piecewise_step_vjp(context, now, input, next, cuts, next_bars, memory, scratch.implicit_part, gradients,
                           parameters);
    }
}

}  // namespace farfield
