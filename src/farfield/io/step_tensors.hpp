// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Private to the files that hold steps: reports, cuts and options as tensors, one per field.
#include <vector>

#include "farfield/dynamics/step_types.hpp"
#include "farfield/io/tensor_arrays.hpp"

namespace farfield {

/// "report.<field>", one entry per step.
void put(TensorFile& file, const std::vector<StepReport>& reports);
[[nodiscard]] std::vector<StepReport> read_reports(TensorReader& reader);

/// "cuts.<field>", one entry per state inside a step.
void put(TensorFile& file, const Model& model, const std::vector<StepCut>& cuts);
[[nodiscard]] std::vector<StepCut> read_cuts(TensorReader& reader);

/// "options.<field>", of one entry.
void put(TensorFile& file, const StepOptions& options);
[[nodiscard]] StepOptions read_step_options(TensorReader& reader);

/// "filter.<field>", of one entry.
void put(TensorFile& file, const FilterOptions& options);
[[nodiscard]] FilterOptions read_filter_options(TensorReader& reader);

}  // namespace farfield
