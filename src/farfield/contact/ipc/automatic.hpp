// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Defaults of the IPC model that depend on the scene; fixed when a model is built, never changed by a rollout.
#include <vector>

#include "farfield/contact/ipc/barrier.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::ipc {

/// A hundredth of the diagonal of the box around all meshes at `poses` [m].
[[nodiscard]] double automatic_range(const CollisionGeometry& geometry, const Poses& poses);
/// The same in the reference pose.
[[nodiscard]] double automatic_range(const Model& model);

/// Per pair, the weight [J] with which four terms at half the range carry the lighter body. For the global form, which is that of the
/// long-range model, as much as there.
[[nodiscard]] std::vector<double> automatic_weights(const CollisionGeometry& geometry, const Parameters& parameters,
                                                    Form form, double range);

}  // namespace farfield::contact::ipc
