// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the long-range contact model.
#include <vector>

namespace farfield::contact::longrange {

enum class FrictionForm {
    Projected,  ///< forces act at the vertices' projections on the separating plane: torques balance too
    Paper,      ///< forces act at the vertices themselves, as printed in [LongRange]
};

struct LongRangeOptions {
    /// Blending margin eps: a node pair is blended between d1 = R + R' and (1 + eps) d1. One entry per body, or one for all;
    /// empty or 0 = chosen by shape (0.5 for round bodies, 1 for boxes and elongated ones). A pair uses the larger.
    std::vector<double> blend;
    bool zero_offset =
        true;  ///< the potential tends to 0 at infinity instead of 12 (forces are the same outside bands)
    bool area_weights = false;  ///< weight triangles by their share of the surface: independent of the mesh's fineness
    double length_scale = 1.0;  ///< l0 [m]: the potential is evaluated on x / l0
    double slip_speed = 1e-3;   ///< smoothing of friction [m/s]
    double energy_tolerance = 1e-9;  ///< nested solves when only the energy is wanted
    double derivative_tolerance = 1e-12;
    FrictionForm friction = FrictionForm::Projected;
};

/// Throws, naming the option, its value and what is expected.
void validate(const LongRangeOptions& options, int num_bodies);

}  // namespace farfield::contact::longrange
