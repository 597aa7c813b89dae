// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The distance label of a grid search, for replication.
///
/// Paper: [CEM2026, Eq. (5)] minimises phi_A + phi_B + |phi_A - phi_B| = 2 max(phi_A, phi_B) over points of a grid.
///        That is the gap of disjoint shapes, but for overlapping ones minus the diameter of the largest circle in the
///        overlap, which is less than the penetration depth at sharp corners.
#include <Eigen/Dense>

#include "farfield/geometry/polygon.hpp"

namespace farfield::grains {

inline constexpr int kLabelGrid = 201;

/// Over a 201 x 201 grid on the bounding box of A grown by a tenth; B moved by `shift`.
[[nodiscard]] double grid_label(const Polygon& a, const Polygon& b, const Eigen::Vector2d& shift);

}  // namespace farfield::grains
