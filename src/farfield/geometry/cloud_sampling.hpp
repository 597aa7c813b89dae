// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Point clouds of triangle meshes, mirrored about sharp edges.
///
/// A sharp edge of the soft distance lies where it should only if points on its two faces are mirror images of each other. Therefore:
///     stations along every chain of sharp edges, about one spacing apart, beginning far enough from its ends;
///     at each, one point on either side at the same inset, half a spacing or less where another edge is nearer;
///     inside the faces points at random no nearer than 0.78 spacings, then evened out.
#include <span>
#include <vector>

#include "farfield/geometry/point_cloud.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

/// Of closed meshes about `spacing` [m] apart, at `temperature` squared spacings. Points inside another part are dropped.
[[nodiscard]] PointCloud mesh_cloud(std::span<const TriangleMesh> parts, double spacing, double temperature = 0.1);

/// Solid angle of the mesh seen from p over 4 pi: 1 inside a closed mesh, 0 outside.
[[nodiscard]] double winding_number(const TriangleMesh& mesh, const Eigen::Vector3d& p);

/// Share of points within three spacings of the surface on which the soft distance has the wrong sign, those nearer than a tenth of a
/// spacing left aside.
[[nodiscard]] double sign_errors(const PointCloud& cloud, std::span<const TriangleMesh> parts, int samples = 20000);

}  // namespace farfield
