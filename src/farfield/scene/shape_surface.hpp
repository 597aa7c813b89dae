// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The triangles and the mass of a shape, in its body's frame.
#include "farfield/scene/scene.hpp"

namespace farfield {

/// Throws unless sizes, placement, density, friction, body and mesh indices make sense.
void check_shape(const Shape& shape, const Scene& scene);

/// Triangles of any shape but a half-space, in the frame of its body.
[[nodiscard]] TriangleMesh shape_surface(const Shape& shape, const Scene& scene);

/// The same with a sphere or capsule as one point or segment that a ball sweeps (TriangleMesh::radii).
[[nodiscard]] TriangleMesh round_surface(const Shape& shape, const Scene& scene);

/// Moments from the shape's density: exact for the smooth primitives, exact for the solid inside a closed mesh.
[[nodiscard]] Moments shape_moments(const Shape& shape, const Scene& scene);

/// Adds the triangles of `part` to `whole`.
void append(const TriangleMesh& part, TriangleMesh& whole);

}  // namespace farfield
