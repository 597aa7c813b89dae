// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/saturation.hpp"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

/// Half the length on which a corner is round.
double half_width(const Range& range) {
    const bool below = std::isfinite(range.lower), above = std::isfinite(range.upper);
    if (below && above) return kSaturationWidth * (range.upper - range.lower);
    return kSaturationWidth * (below ? std::abs(range.lower) : above ? std::abs(range.upper) : 0.0);
}

}  // namespace

Saturated saturate(const Range& range, double x) {
    const double w = half_width(range);
    if (x >= range.upper + w) return {range.upper, 0.0};
    if (x <= range.lower - w) return {range.lower, 0.0};
    if (x > range.upper - w) {
        const double d = x - (range.upper - w);
        return {x - d * d / (4.0 * w), 1.0 - d / (2.0 * w)};
    }
    if (x < range.lower + w) {
        const double d = (range.lower + w) - x;
        return {x + d * d / (4.0 * w), 1.0 - d / (2.0 * w)};
    }
    return {x, 1.0};
}

double mean_saturated(const Range& range, double from, double to) {
    const double w = half_width(range);
    double knots[6] = {0.0, range.lower - w, range.lower + w, range.upper - w, range.upper + w, 0.0};
    const double low = std::min(from, to), high = std::max(from, to);
    if (!(high > low)) return saturate(range, from).value;
    knots[0] = low;
    knots[5] = high;
    for (int k = 1; k < 5; ++k) knots[k] = std::clamp(knots[k], low, high);
    double sum = 0.0;  // a parabola between knots: Simpson's rule is exact
    for (int k = 0; k < 5; ++k) {
        const double a = knots[k], b = knots[k + 1];
        if (!(b > a)) continue;
        const double middle = 0.5 * (a + b);
        sum += (b - a) / (high - low) / 6.0 *
               (saturate(range, a).value + 4.0 * saturate(range, middle).value + saturate(range, b).value);
    }
    return sum;
}

void saturate_controls(const Model& model, const Eigen::VectorXd& control, Eigen::VectorXd& out) {
    out = control;
    for (std::size_t k = 0; k < model.control_limits().size(); ++k) {
        const auto& limit = model.control_limits()[k];
        if (limit) out[static_cast<Eigen::Index>(k)] = saturate(*limit, control[static_cast<Eigen::Index>(k)]).value;
    }
}

void saturate_controls_vjp(const Model& model, const Eigen::VectorXd& control, Eigen::VectorXd& bar) {
    for (std::size_t k = 0; k < model.control_limits().size(); ++k) {
        const auto& limit = model.control_limits()[k];
        if (limit) bar[static_cast<Eigen::Index>(k)] *= saturate(*limit, control[static_cast<Eigen::Index>(k)]).slope;
    }
}

}  // namespace farfield
