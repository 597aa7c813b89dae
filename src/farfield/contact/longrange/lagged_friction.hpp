// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Friction of the long-range model: what is lagged at the start of a step, and how adjoints go back through it.
///
/// Mesh pairs: each leaf is a contact plane with its six vertices; the load of a vertex is the leaf's own normal force
///     a_k = W N / s_k^2,   W = product of (1 - phi) above the leaf
/// per unit of weight and friction coefficient. Far terms carry no friction.
/// Half-space: each vertex leaf, a = -W f'(z), on a plane that belongs to the half-space's body.
/// Both times the leaf's share, and what friction_ramp.hpp leaves of it. Leaves of which nothing is left have no plane.
/// Deviation: [LongRange, A.3] differentiates the local potential, which would count the force of the blending itself.
#include <vector>

#include "farfield/contact/longrange/friction_ramp.hpp"
#include "farfield/contact/longrange/half_space_work.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/longrange/pair_work.hpp"
#include "farfield/contact/pairwise/pair_vectors.hpp"
#include "farfield/contact/plane_friction/plane_lanes.hpp"

namespace farfield::contact::longrange {

/// A leaf that carries load, and what the ramp makes of it.
struct LoadedLeaf {
    std::size_t leaf = 0;
    FrictionRamp::Factor ramp{};
};

/// All of one mesh pair.
struct LaggedMeshPair {
    PairFrame frame;
    std::vector<LoadedLeaf> leaves;  ///< ascending
    PlaneBatch planes;               ///< one for each of them
};

/// All of one mesh above one half-space.
struct LaggedHalfSpace {
    HalfSpaceFrame frame;
    std::vector<FrictionPoint> points;
    std::vector<SlipDual<2>> duals;  ///< one per point

    [[nodiscard]] PlaneContact plane() const { return {frame.normal, points, points.size()}; }
};

/// All leaves of solved work that carry load.
void lag_mesh_pair(const PairFrame& frame, const PairWork& work, FrictionForm form, const FrictionRamp& ramp,
                   LaggedMeshPair& lagged);
void lag_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                    FrictionForm form, const FrictionRamp& ramp, LaggedHalfSpace& lagged);

/// Takes the adjoints of all lagged planes to the vertices they came from, and adds W dphi/dW to the band nodes above the leaves.
void pull_back_leaves(const PairWork& work, const LaggedMeshPair& lagged, FrictionForm form,
                      const std::vector<PlaneAdjointChunk>& adjoints, std::vector<double>& band_weights,
                      StartAdjoint& start);
/// Takes W dphi/dW of every leaf, summed per band node, to the node centres. Consumes `band_weights`.
void pull_back_bands(const PairWork& work, const PairFrame& frame, std::vector<double>& band_weights,
                     StartAdjoint& start);

/// The same for a half-space; a = mesh, b = the half-space's body.
void pull_back_half_space(const HalfSpaceFrame& frame, const HalfSpaceWork& work, const PotentialForm& potential,
                          FrictionForm form, const FrictionRamp& ramp, const FrictionAdjoint& adjoint,
                          const std::vector<FrictionPoint>& points, std::vector<double>& band_weights,
                          StartAdjoint& start);

}  // namespace farfield::contact::longrange
