// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Private to the files that hold a model or parameters beside other things.
#include <string>

#include "farfield/io/model_file.hpp"
#include "farfield/io/tensor_arrays.hpp"

namespace farfield {

void put(TensorFile& file, const Model& model, const std::string& place);
void put(TensorFile& file, const Parameters& parameters);
[[nodiscard]] LoadedModel read_model(TensorReader& reader);
[[nodiscard]] Parameters read_parameters(TensorReader& reader);

}  // namespace farfield
