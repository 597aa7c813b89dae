// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Directions that may separate two triangles: where a nested solve without a previous plane begins.
#include <Eigen/Dense>
#include <array>

namespace farfield::contact::longrange {

/// Direction from the closest point of B to the closest point of A over 9 edge-edge and 6 vertex-face pairs. Not
/// normalised; for triangles that cross it is one of these directions and separates nothing.
[[nodiscard]] Eigen::Vector3d closest_point_direction(const Eigen::Matrix<double, 3, 6>& x);

/// Largest support gap min_A u.x - max_B u.x over the 17 axes of the separating-axis theorem for triangles (face
/// normals, edge crosses, in-plane edge normals), and its unit axis: the last resort when closest points were lost to
/// rounding.
struct SeparatingAxis {
    Eigen::Vector3d direction = Eigen::Vector3d::Zero();
    double gap = 0.0;  ///< positive only if the axis separates
};
[[nodiscard]] SeparatingAxis best_separating_axis(const Eigen::Matrix<double, 3, 6>& x);

/// min_A u.x - max_B u.x for a unit direction u.
[[nodiscard]] double support_gap(const Eigen::Matrix<double, 3, 6>& x, const Eigen::Vector3d& u);

}  // namespace farfield::contact::longrange
