// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Mass of bodies as a function of their hull vertices, and its derivative: how a change of shape changes inertia.
///
/// Lumped: a body's mass sits in equal parts in its vertices, S = (m/M) sum x~ x~^T                          [SDRS2025, Sec. III-A]
/// Exact:  solid of uniform density, integrated over the hulls of the current vertices (hull_integral.hpp).
/// Volumes are those of the current hulls, never of a remembered triangulation: new vertices span new faces, and a block that was turned inside
/// out is still the hull of its points. Where a face of four or more corners bends the true volume has a kink; the derivative there is
/// the mean of facet_fans.hpp, which does not depend on how the face was cut.
/// A hull that was squeezed flat keeps a millionth of its described volume, lumped in its vertices, so that a body never loses its mass.
/// Lumped mass triples the second moment of a cube (1/4 against 1/12 per unit of mass and edge squared).
/// Overlapping hulls of one body share its mass by volume, the overlap counted twice.
#include <Eigen/Dense>
#include <vector>

#include "farfield/model/model.hpp"

namespace farfield {

enum class HullMass {
    Lumped,  ///< in the vertices
    Exact,   ///< uniform density
    Fixed,   ///< as the parameters have it, whatever the shape
};
enum class MassTotal {
    Constant,  ///< each body keeps the mass of the default parameters
    Density,   ///< each body keeps the density of the default parameters and shape
};

using MomentRows = decltype(Parameters::moments);
using VertexRows = decltype(Parameters::hull_vertices);

/// One of the model's hulls as its vertices span it now.
struct CurrentHull {
    HullTriangles triangles;    ///< outward, counted from the hull's first vertex
    double volume = 0.0;        ///< [m^3]
    bool clamped = false;       ///< flat: a millionth of the described volume counts instead
    bool inverted = false;      ///< its described triangulation, with these vertices, is inside out
    std::vector<int> interior;  ///< vertices strictly inside, counted from the first: contact does not feel them
};

/// All of model.hulls(), in order.
[[nodiscard]] std::vector<CurrentHull> current_hulls(const Model& model, const VertexRows& vertices);

/// Moments of all bodies with hulls at `parameters.hull_vertices`; masses and densities are those of the model's default parameters. Bodies
/// without mass or without volume (Lumped: without hulls) keep the moments of `parameters`.
[[nodiscard]] MomentRows hull_moments(const Model& model, const Parameters& parameters, HullMass mass,
                                      MassTotal total = MassTotal::Constant);

/// dL/dvertices for dL/dmoments, the transpose of the derivative of hull_moments.
[[nodiscard]] VertexRows hull_moments_vjp(const Model& model, const Parameters& parameters, HullMass mass,
                                          MassTotal total, const MomentRows& moments_bar);

}  // namespace farfield
