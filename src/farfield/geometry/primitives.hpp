// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Triangulated primitives, and the exact moments of the smooth shapes they stand for.
///
/// Sizes as in scene/scene.hpp. `resolution` 0 = default: sphere and ellipsoid 80 triangles (icosahedron subdivided once),
/// capsule and cylinder 8-gon, box 12 triangles. Vertices lie on the smooth surface.
#include <Eigen/Dense>

#include "farfield/geometry/moments.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

[[nodiscard]] TriangleMesh make_box(const Eigen::Vector3d& half_extents);
[[nodiscard]] TriangleMesh make_sphere(double radius, int subdivisions = 1);
[[nodiscard]] TriangleMesh make_ellipsoid(const Eigen::Vector3d& half_axes, int subdivisions = 1);
[[nodiscard]] TriangleMesh make_capsule(double radius, double half_length, int sides = 8);
/// The same exactly: one point or segment along z that a ball sweeps (TriangleMesh::radii).
[[nodiscard]] TriangleMesh make_round_sphere(double radius);
[[nodiscard]] TriangleMesh make_round_capsule(double radius, double half_length);
[[nodiscard]] TriangleMesh make_cylinder(double radius, double half_length, int sides = 8);

[[nodiscard]] Moments box_moments(const Eigen::Vector3d& half_extents, double density);
[[nodiscard]] Moments ellipsoid_moments(const Eigen::Vector3d& half_axes, double density);
[[nodiscard]] Moments capsule_moments(double radius, double half_length, double density);
[[nodiscard]] Moments cylinder_moments(double radius, double half_length, double density);

}  // namespace farfield
