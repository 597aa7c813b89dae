// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Signs of orientation determinants, exact for the given doubles.
///
/// A rounded determinant with an error bound answers almost always; when it cannot, the determinant is summed without
/// error as a sum of doubles [Shewchuk1997]. Exact unless products of three coordinates over- or underflow.
#include <Eigen/Dense>

namespace farfield {

/// Sign of det(b - a, c - a, d - a): +1 when d is on the side from which a, b, c appear counter-clockwise, 0 in their plane.
[[nodiscard]] int orientation(const Eigen::Vector3d& a, const Eigen::Vector3d& b, const Eigen::Vector3d& c,
                              const Eigen::Vector3d& d);

/// Sign of det(b - a, c - a): +1 when a, b, c turn left, 0 on one line.
[[nodiscard]] int orientation(const Eigen::Vector2d& a, const Eigen::Vector2d& b, const Eigen::Vector2d& c);

}  // namespace farfield
