// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the long-range contact model.
#include <optional>
#include <vector>

namespace farfield::contact::longrange {

enum class FrictionForm {
    Projected,  ///< forces act at the vertices' projections on the separating plane: torques balance too
    Paper,      ///< forces act at the vertices themselves, as printed in [LongRange]
};

enum class LeafWeights {
    Parallel,  ///< by the parallel area of two triangles: how finely bodies are cut does not matter
    Paper,  ///< every pair of triangles weighs 1, as printed in [LongRange]: forces grow with the number of triangles
};

struct LongRangeOptions {
    double stiffness = 1.0;  ///< factor of the weights below
    /// mu [J] of every pair, as in the tables of [LongRange]; none: automatic_weight.
    std::optional<double> weight_in_joules{};
    LeafWeights leaf_weights = LeafWeights::Parallel;
    /// Blending margin eps: a node pair is blended between d1 = R + R' and (1 + eps) d1. One entry per body, or one for all;
    /// empty or 0 = chosen by shape (0.5 for round bodies, 1 for boxes and elongated ones). A pair uses the larger.
    std::vector<double> blend{};
    bool zero_offset =
        true;  ///< the potential tends to 0 at infinity instead of 12 (forces are the same outside bands)
    /// l0 [m]: the potential is evaluated on x / l0. None: 1 m beside a weight in joules, as in the tables, else automatic_length.
    std::optional<double> length_scale{};
    std::optional<double> slip_speed{};  ///< smoothing of friction [m/s]; none: automatic_slip_speed
    /// Range of ContactPair::near in sizes L of the smaller body (PairUnits::length): two triangles stop pushing where their bounding
    /// spheres are near_range L apart, and begin to fade at half of it.
    double near_range = 0.05;
    double energy_tolerance = 1e-9;  ///< nested solves when only the energy is wanted
    double derivative_tolerance = 1e-12;
    FrictionForm friction = FrictionForm::Projected;
    /// Spheres and capsules are round: one leaf each, a point or segment swept by a ball. False: their triangles, as in the tables.
    bool round_shapes = true;
    bool brute_force = false;  ///< all pairs of triangles, all vertices, no blending: the oracle and the baseline
};

/// Throws, naming the option, its value and what is expected.
void validate(const LongRangeOptions& options, int num_bodies);

}  // namespace farfield::contact::longrange
