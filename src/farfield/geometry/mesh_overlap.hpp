// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Do two placed surfaces cross, or does one closed surface hold the other?
#include <Eigen/Dense>
#include <optional>

#include "farfield/geometry/triangle_mesh.hpp"
#include "farfield/math/pose.hpp"

namespace farfield {

/// A point in the common region (on an edge that pierces a triangle, or a vertex inside the other solid); nothing when apart.
[[nodiscard]] std::optional<Eigen::Vector3d> overlap_point(const TriangleMesh& a, const Pose& pose_a,
                                                           const TriangleMesh& b, const Pose& pose_b);

/// Is a point inside the solid bounded by a closed mesh (generalised winding number above one half)?
[[nodiscard]] bool contains(const TriangleMesh& mesh, const Eigen::Vector3d& local_point);

}  // namespace farfield
