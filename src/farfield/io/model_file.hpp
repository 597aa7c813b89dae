// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Models and their parameters in files and in memory, without loss.
///
/// A safetensors file with the texts "format" = "farfield.model", "version" = "1", "scene" (see scene_json.hpp) and the
/// tensors "mesh.<i>.vertices", "mesh.<i>.triangles" and "parameters.<field>". Loading builds the model anew, so all checks
/// of build_model apply. Anything wrong with a file is a FileError that names it.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "farfield/model/model.hpp"

namespace farfield {

struct LoadedModel {
    std::shared_ptr<const Model> model;
    Parameters parameters;
};

/// Throws std::invalid_argument when the parameters do not fit the model.
void save_model(const std::filesystem::path& path, const Model& model, const Parameters& parameters);
[[nodiscard]] LoadedModel load_model(const std::filesystem::path& path);

/// The bytes that save_model would write.
[[nodiscard]] std::string model_to_bytes(const Model& model, const Parameters& parameters);
[[nodiscard]] LoadedModel model_from_bytes(std::string_view bytes);

}  // namespace farfield
