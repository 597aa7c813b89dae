// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Mass of bodies as a function of their hull vertices, and its derivative: how a change of shape changes inertia.
///
/// Lumped: a body's mass sits in equal parts in its vertices, S = (m/M) sum x~ x~^T                          [SDRS2025, Sec. III-A]
/// Exact:  solid of uniform density. A fan of the hulls' triangles (a, b, c) from the origin, D = a.(b x c), s = a + b + c:
///             V = sum D/6,  h = sum D s/24,  S2 = sum D (s s^T + a a^T + b b^T + c c^T)/120
///         with the model's own triangulation, so that it is a polynomial of the vertices. Where a face of four or more corners bends, the
///         true hull would switch triangulations: mass is only continuous there, and this derivative is that of the model's side.
/// Lumped mass triples the second moment of a cube (1/4 against 1/12 per unit of mass and edge squared).
/// Overlapping hulls of one body share its mass by volume, the overlap counted twice.
#include <Eigen/Dense>

#include "farfield/model/model.hpp"

namespace farfield {

enum class HullMass {
    Lumped,           ///< in the vertices, the body's mass constant
    Solid,            ///< uniform density, the body's mass constant
    ConstantDensity,  ///< uniform density, that of the default shape
};

using MomentRows = decltype(Parameters::moments);
using VertexRows = decltype(Parameters::hull_vertices);

/// Moments of all bodies with hulls at `parameters.hull_vertices`; masses and densities are those of the model's default parameters. Bodies
/// without mass or without hulls (Solid: without volume) keep the moments of `parameters`. Throws when the volume of one is not positive.
[[nodiscard]] MomentRows hull_moments(const Model& model, const Parameters& parameters, HullMass mass);

/// dL/dvertices for dL/dmoments, the transpose of the derivative of hull_moments.
[[nodiscard]] VertexRows hull_moments_vjp(const Model& model, const Parameters& parameters, HullMass mass,
                                          const MomentRows& moments_bar);

}  // namespace farfield
