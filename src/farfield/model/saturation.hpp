// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What a range makes of a control or a force: a clamp with rounded corners.
///
/// With w = kSaturationWidth (upper - lower), exactly x inside [lower + w, upper - w] and exactly the bound beyond a bound by w; in
/// between a parabola, so that the slope is continuous. A clamp is never left by more than w/4. An infinite end does not saturate, and
/// the other then has w = kSaturationWidth times its own size.
#include <Eigen/Dense>

#include "farfield/model/model.hpp"

namespace farfield {

inline constexpr double kSaturationWidth = 2e-3;

struct Saturated {
    double value = 0.0, slope = 1.0;
};
[[nodiscard]] Saturated saturate(const Range& range, double x);

/// The mean of saturate() between two numbers, exactly.
[[nodiscard]] double mean_saturated(const Range& range, double from, double to);

/// Every control inside its range.
void saturate_controls(const Model& model, const Eigen::VectorXd& control, Eigen::VectorXd& out);
/// A gradient by the saturated controls becomes one by the controls.
void saturate_controls_vjp(const Model& model, const Eigen::VectorXd& control, Eigen::VectorXd& bar);

}  // namespace farfield
