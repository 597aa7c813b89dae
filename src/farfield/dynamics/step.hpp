// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One step, implicit or explicit as its context says, and its vector-Jacobian products.
#include <span>

#include "farfield/dynamics/explicit_step.hpp"
#include "farfield/dynamics/implicit_step.hpp"

namespace farfield {

/// Scratch space for steps of one thread. Carries no values.
struct AnyStepScratch {
    StepScratch implicit_part;
    ExplicitScratch explicit_part;
};

[[nodiscard]] inline StepReport take_step(const StepContext& context, const State& now, const StepInput& input,
                                          StepMemory& memory, AnyStepScratch& scratch, State& next) {
    return context.explicit_steps() ? explicit_step(context, now, input, memory, scratch.explicit_part, next)
                                    : implicit_step(context, now, input, memory, scratch.implicit_part, next);
}

inline void take_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                          std::span<const StateGradient> next_bars, StepMemory& memory, AnyStepScratch& scratch,
                          std::span<StepGradient> gradients, std::span<Parameters> parameters) {
    if (context.explicit_steps()) {
        explicit_step_vjp(context, now, input, next_bars, memory, scratch.explicit_part, gradients, parameters);
    } else {
        implicit_step_vjp(context, now, input, next, next_bars, memory, scratch.implicit_part, gradients, parameters);
    }
}

}  // namespace farfield
