// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A Scene as JSON text, without loss: every double comes back with the same bits.
///
/// Keys are the field names of scene/scene.hpp, all required, none other allowed; enumerators are lower-case words,
/// quaternions (w, x, y, z), absent optional values null, infinities and NaN the texts "inf", "-inf", "nan".
/// Of a mesh only the name is here: its arrays are kept apart.
#include <string>

#include "farfield/scene/scene.hpp"

namespace farfield {

[[nodiscard]] std::string scene_to_json(const Scene& scene, const std::string& place);

/// Throws FileError "<place>: scene.bodies[2].position: ..., expected ...". Meshes come back empty, with their names.
/// Whether the scene makes sense is for build_model to say.
[[nodiscard]] Scene scene_from_json(const std::string& text, const std::string& place);

}  // namespace farfield
