// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Convex hull of a point set in space, by Qhull [Barber1996].
#include <Eigen/Dense>
#include <string>
#include <vector>

#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

struct ConvexHull {
    std::vector<int> vertices;  ///< indices of the points that are corners of the hull, ascending
    Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;  ///< positions in `vertices`; outward, watertight
};

/// Points (rows) within rounding of a face, an edge or another corner may be left out; corners closer than 1e-7 of the extent
/// can leave triangles without area. Throws, naming `place`, when there are
/// fewer than four points, one is not finite, or all lie (to 1e-10 of their extent) in one plane.
[[nodiscard]] ConvexHull convex_hull(
    const Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>& points,
    const std::string& place);

/// The hull of a mesh's vertices as a mesh of the same name.
[[nodiscard]] TriangleMesh convex_hull_mesh(const TriangleMesh& mesh);

}  // namespace farfield
