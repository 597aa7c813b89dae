// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Surface of the convex hull of a few points, exact for the given doubles and without a library behind it.
///
/// For shapes that change: hundreds of hulls of a dozen points each, found anew at every change of a design. Every point is inserted into
/// the hull of those before it, with exact signs, so coplanar, double and inner points need no tolerance; the work is points times triangles.
#include <Eigen/Dense>

namespace farfield {

using HullTriangles = Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// Triangles as rows of `points` (at least three), outward and watertight. Points in one plane give their convex polygon, both sides;
/// points on one line a triangle without area.
[[nodiscard]] HullTriangles hull_triangles(
    const Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>& points);

}  // namespace farfield
