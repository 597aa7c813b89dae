// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How far a set of points reaches along its principal axes.
#include <Eigen/Core>

namespace farfield {

using PointRowsRef = Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;

/// The points about their mean, turned into their principal axes: 3 x n with orthogonal rows. Found on the points
/// themselves, by one-sided Jacobi rotations: second moments would lose a thickness below 1e-8 of the extent.
[[nodiscard]] Eigen::Matrix3Xd principal_coordinates(const PointRowsRef& points);

/// Norms of those rows, ascending: the singular values of the points about their mean.
[[nodiscard]] Eigen::Vector3d principal_spread(const PointRowsRef& points);

/// Whether the points lie in one plane, to 1e-9 of their spread.
[[nodiscard]] bool is_flat(const PointRowsRef& points);

}  // namespace farfield
