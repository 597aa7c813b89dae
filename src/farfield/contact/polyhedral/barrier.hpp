// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The barrier on one margin, with its derivatives.
///
/// Paper:     [SDRS2025, Eq. (6)]
///            P(x) = (x - s)^4 / x^5 for 0 < x < s, else 0
///            P'   = (x - s)^3 (5 s - x) / x^6,   P'' = (x - s)^2 (2 x^2 - 20 s x + 30 s^2) / x^7
/// C3 at s; P <= 0 slope and P'' >= 0 on (0, s].
/// Deviation: x <= 0 is the caller's to refuse (infinite energy); the printed formula is negative there.

namespace farfield::contact::polyhedral {

struct BarrierTaylor {
    double value = 0.0, first = 0.0, second = 0.0;
};

/// @pre x > 0
[[nodiscard]] inline BarrierTaylor barrier(double x, double s) {
    if (!(x < s)) return {};
    const double d = x - s, d2 = d * d, r = 1.0 / x, r2 = r * r, r5 = r2 * r2 * r;
    return {d2 * d2 * r5, d2 * d * (5.0 * s - x) * (r5 * r),
            d2 * (2.0 * x * x - 20.0 * s * x + 30.0 * s * s) * (r5 * r2)};
}

}  // namespace farfield::contact::polyhedral
