// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Friction only where a leaf carries load: what is pressed too lightly to matter fades smoothly and is then left out.
///
/// Formula:   the load a of a leaf counts S(ln(p/low)/ln(high/low)) a,   S(t) = 6t^5 - 15t^4 + 10t^3,   p = a / share
/// p is a pressure, so what fades does not depend on how finely a body is cut. Both ends are constants of the model: the energy stays
/// proportional to Parameters::contact_stiffness.
/// Deviation: [LongRange, A.3] has friction at every distance.
#include <cmath>

#include "farfield/contact/pairwise/pair_units.hpp"

namespace farfield::contact::longrange {

struct FrictionRamp {
    static constexpr double kFull =
        2.4e-3;  ///< `high`, of the weight of the lighter body over A_ref: on a leaf of a cube of 12
                 ///< triangles, 1e-4 of the cube's weight
    static constexpr double kWidth = 8.0;  ///< high / low

    double low = 0.0, high = 0.0;  ///< both 0: everything counts

    /// S and dS/dln(p).
    struct Factor {
        double value = 1.0, slope = 0.0;
    };
    [[nodiscard]] Factor at(double pressure) const {
        if (pressure >= high) return {};
        if (!(pressure > low)) return {.value = 0.0};
        const double scale = 1.0 / std::log(kWidth), t = scale * std::log(pressure / low);
        return {t * t * t * (10.0 + t * (6.0 * t - 15.0)), 30.0 * scale * t * t * (1.0 - t) * (1.0 - t)};
    }
};

/// In units of the potential: weight [J] and length l0 [m] of the pair.
[[nodiscard]] inline FrictionRamp make_ramp(const PairUnits& units, double weight, double length) {
    const double high = FrictionRamp::kFull * units.force() * length / weight;
    return {high / FrictionRamp::kWidth, high};
}

}  // namespace farfield::contact::longrange
