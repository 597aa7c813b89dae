// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A step that is taken in pieces where it does not arrive as a whole, and the way back through them.
///
/// A step that fails is cut in two halves, and so on. So is one that seems to lead a body around another; where the halves end as the
/// whole does, it did not, and the whole is kept. Each piece is an ordinary step: of its own length,
/// with its own lagged friction, from the state the last one ended in. Controls are those of the whole; scripted bodies go along
/// q -> retract(q, t delta), t the time in the step.
#include <span>
#include <vector>

#include "farfield/dynamics/implicit_step.hpp"

namespace farfield {

/// Solves for `next` and fills `cuts` with the states between pieces, in order of time. A step that fails leaves `next` where it was
/// tried as a whole, and no cuts. The work of all attempts together is bounded.
[[nodiscard]] StepReport piecewise_step(const StepContext& context, const State& now, const StepInput& input,
                                        StepMemory& memory, StepScratch& scratch, State& next,
                                        std::vector<StepCut>& cuts);

/// As implicit_step_vjp, through all pieces.
void piecewise_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                        std::span<const StepCut> cuts, std::span<const StateGradient> next_bars, StepMemory& memory,
                        StepScratch& scratch, std::span<StepGradient> gradients, std::span<Parameters> parameters);

}  // namespace farfield
