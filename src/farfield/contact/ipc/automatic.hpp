// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Defaults of the IPC model that depend on the scene; fixed when a model is built, never changed by a rollout.
#include <vector>

#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/parameters.hpp"

namespace farfield::contact::ipc {

/// A hundredth of the diagonal of the box around all meshes at `poses` [m].
[[nodiscard]] double automatic_range(const CollisionGeometry& geometry, const Poses& poses);

/// Per pair, the factor of the weight with which, at the default weight, four terms at half the range carry the lighter body.
/// (An energy that suits the long-range model, 12 weight/distance, is far too soft for a logarithm.)
[[nodiscard]] std::vector<double> automatic_scale(const CollisionGeometry& geometry, const Parameters& parameters,
                                                  double range);

}  // namespace farfield::contact::ipc
