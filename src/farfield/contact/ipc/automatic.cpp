// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/automatic.hpp"

namespace farfield::contact::ipc {

double automatic_range(const PairUnits& units) { return 0.02 * units.length; }

double automatic_length(const PairUnits& units) { return 10.0 * units.length; }

double automatic_weight(const PairUnits& units, Form form, double range) {
    if (form == Form::Global) return 1e-7 * units.energy();
    constexpr double kTerms = 4.0;  // that carry a body
    const double distance = 0.85 * range;
    const double force = -2.0 * distance * Barrier(Form::Clamped, range).taylor(distance * distance).first;
    return units.force() / (kTerms * force);
}

}  // namespace farfield::contact::ipc
