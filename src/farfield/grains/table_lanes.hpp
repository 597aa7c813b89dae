// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Tricubic table lookup in SIMD lanes, for the pairs of one map.
///
/// Places in the table are found with a pose per lane. The 64 nodes of a stencil are summed with a node per lane, in single
/// precision as they are stored: a row along Y is contiguous, and contiguous loads beat gathers over several pairs. A pair
/// that is clearly apart costs a single read.
#include <cstddef>

#include "farfield/grains/contact_map.hpp"

namespace farfield::grains {

struct TableView {
    const float* distance = nullptr;
    const float* arm = nullptr;
    int num_theta = 0, num_space = 0;
    double scale = 1.0, inverse_scale = 1.0;    ///< [m] per table unit
    double half_width = 0.0, per_space = 0.0;   ///< nodes per table unit
    double first_theta = 0.0, per_theta = 0.0;  ///< slices per radian
    float clear = 0.0f;                         ///< nearest node above this: apart
};

void evaluate_table(const TableView& table, const Relative* poses, std::size_t count, MapValue* values);

}  // namespace farfield::grains
