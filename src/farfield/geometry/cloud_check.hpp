// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How well a point cloud stands for the mesh it was made from.
#include <span>

#include "farfield/geometry/point_cloud.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

/// Share of points within three spacings of the surface on which the soft distance has the wrong sign, those nearer than a tenth of a
/// spacing left aside.
[[nodiscard]] double sign_errors(const PointCloud& cloud, std::span<const TriangleMesh> parts, int samples = 20000);

}  // namespace farfield
