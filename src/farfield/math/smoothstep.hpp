// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Quintic blend from 0 to 1: phi(u) = 6 u^5 - 15 u^4 + 10 u^3 on [0, 1], constant outside, twice continuously
/// differentiable everywhere.

namespace farfield {

struct SmoothstepTaylor {
    double value = 0.0, first = 0.0, second = 0.0;  ///< phi, phi', phi'' at u
};

[[nodiscard]] inline SmoothstepTaylor smoothstep(double u) {
    if (u <= 0.0) return {0.0, 0.0, 0.0};
    if (u >= 1.0) return {1.0, 0.0, 0.0};
    const double w = 1.0 - u;
    // Above 1/2 by symmetry, phi(u) = 1 - phi(1 - u): no rounding beyond [0, 1].
    const auto lower = [](double t) { return t * t * t * (10.0 + t * (6.0 * t - 15.0)); };
    return {u <= 0.5 ? lower(u) : 1.0 - lower(w), 30.0 * u * u * w * w, 60.0 * u * w * (w - u)};
}

}  // namespace farfield
