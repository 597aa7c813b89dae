// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Data on its way into and out of the lanes of the pair solver, four leaves at a time.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/longrange/pair_work.hpp"

namespace farfield::contact::longrange {

/// to = R from; the fourth number is kept.
void rotate_rows(const Eigen::Matrix3d& rotation, const std::vector<Row4>& from, std::vector<Row4>& to);

/// Fills work.batch with the vertices of work.leaves, times `scale` and relative to o, and with the planes of `table` that belong to them.
void gather_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                   const PairFrame& frame, double scale, const PlaneTable& table, PairWork& work);

/// Keeps the planes of work.batch.
void keep_planes(const PairFrame& frame, const PairWork& work, PlaneTable& table);

/// Adds value and wrench of every leaf to the sums of the band node above it. `offset` is added to each value.
void add_leaves_to_bands(double offset, PairWork& work);

}  // namespace farfield::contact::longrange
