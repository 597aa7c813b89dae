// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Whether a point is inside a closed mesh.
#include <Eigen/Dense>

#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

/// Solid angle of the mesh seen from p over 4 pi: 1 inside a closed mesh, 0 outside.
[[nodiscard]] double winding_number(const TriangleMesh& mesh, const Eigen::Vector3d& p);

}  // namespace farfield
