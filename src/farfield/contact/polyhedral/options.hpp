// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the convex-polyhedron contact model.
#include <optional>

namespace farfield::contact::polyhedral {

/// Projected: friction acts in points on the contact plane, momentum balances. Paper: in the vertices [SDRS2025, Eq. (12)].
enum class FrictionForm { Projected, Paper };

struct PolyhedralOptions {
    double stiffness = 1.0;                    ///< factor of the weights below
    std::optional<double> weight_in_joules{};  ///< kappa [J] of every pair; none: automatic_weight
    std::optional<double> range{};             ///< distance at which hulls begin to repel [m]; none: automatic_range
    double margin = 0.1;                       ///< s of the barrier: larger is softer in the plane's tilt; in (0, 1/2]
    std::optional<double> slip_speed{};        ///< smoothing of friction [m/s]; none: automatic_slip_speed
    FrictionForm friction = FrictionForm::Projected;
};

/// Throws, naming the option, its value and what is expected.
void validate(const PolyhedralOptions& options);

}  // namespace farfield::contact::polyhedral
