// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Defaults of the IPC model that depend on the pair; fixed when a model is built, never changed by a rollout.
#include "farfield/contact/ipc/barrier.hpp"
#include "farfield/contact/pairwise/pair_units.hpp"

namespace farfield::contact::ipc {

/// Two hundredths of the pair's size [m].
[[nodiscard]] double automatic_range(const PairUnits& units);
/// The length of the global form [m], as in the long-range model.
[[nodiscard]] double automatic_length(const PairUnits& units);

/// The weight [J] with which four terms at 0.85 of the range carry the lighter body: the force of a logarithm grows as slowly as 1/gap, so
/// one that carries a body in the middle of the range leaves a hit of thousands of weights a gap of nanometres. For the global form, which
/// is that of the long-range model as printed, as much as there.
[[nodiscard]] double automatic_weight(const PairUnits& units, Form form, double range);

}  // namespace farfield::contact::ipc
