// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The flat vector of Parameters, entry by entry: names, and indices of the fields, rows and entries one asks for.
///
/// Names: "friction[box]", "moments[box].mass", "damping[knee]", "damping[ball.2]" (third degree of freedom of a joint),
/// "hull_vertices[box:17].x" (row 17 of hull_vertices, which belongs to body "box"), "gravity.z", "weight".
#include <Eigen/Dense>
#include <string>
#include <vector>

#include "farfield/model/model.hpp"

namespace farfield {

/// Rows that a field has in this model.
[[nodiscard]] Eigen::Index num_rows(const Model& model, RowOf rows);

/// One name per entry of the flat vector.
[[nodiscard]] std::vector<std::string> parameter_names(const Model& model);

using Indices = Eigen::VectorXi;

/// Indices into the flat vector, ascending and without repetition. A selection is a field ("friction"), a row ("moments[box]") or an entry
/// ("moments[box].mass"). Throws for one that the model does not have.
[[nodiscard]] Indices parameter_mask(const Model& model, const std::vector<std::string>& selection);

}  // namespace farfield
