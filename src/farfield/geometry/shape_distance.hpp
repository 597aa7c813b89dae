// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Distance and crossing of two placed surfaces, by descending both trees.
#include <Eigen/Dense>
#include <optional>

#include "farfield/geometry/collision_shape.hpp"
#include "farfield/geometry/distance.hpp"

namespace farfield {

/// A lower bound of the distance that is at least `fraction` of it (to rounding); 0 when the surfaces touch. `b_in_a`:
/// shape frames.
[[nodiscard]] double distance_lower_bound(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a,
                                          double fraction = 0.9);

/// Two points, one on either surface, that are the closest of all, in a's shape frame.
[[nodiscard]] SweptDistance nearest_points(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a);

/// A common point of the two surfaces in a's shape frame; nothing when they are apart (one may still hold the other).
[[nodiscard]] std::optional<Eigen::Vector3d> crossing_point(const CollisionShape& a, const CollisionShape& b,
                                                            const Pose& b_in_a);

}  // namespace farfield
