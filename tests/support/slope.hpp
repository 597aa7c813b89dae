// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Derivative of a function of one number that is dear to evaluate, such as a whole rollout.
#include <cmath>
#include <functional>
#include <limits>

namespace farfield::testing {

/// Derivative at 0 by fourth-order central differences; the two neighbouring steps that agree best give value and noise.
struct Slope {
    double value = 0.0, noise = std::numeric_limits<double>::infinity();
};

inline Slope slope(const std::function<double(double)>& f, double first, int steps) {
    Slope best;
    double previous = 0.0, outer = f(2.0 * first) - f(-2.0 * first);
    for (int k = 0; k < steps; ++k) {
        const double h = std::ldexp(first, -k), inner = f(h) - f(-h), value = (8.0 * inner - outer) / (12.0 * h);
        if (k > 0 && std::abs(value - previous) < best.noise) best = {value, std::abs(value - previous)};
        previous = value;
        outer = inner;
    }
    return best;
}

}  // namespace farfield::testing
