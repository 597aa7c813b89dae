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

}  // namespace farfield
