// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Pairs of grains whose circumcircles come closer than a skin: uniform grid, counting sort, half stencil.
#include <cstdint>
#include <vector>

#include "farfield/grains/body.hpp"

namespace farfield::grains {

struct SlotPair {
    std::int32_t first = 0, second = 0;
};

/// Cells at least as wide as the largest interaction distance. Indices are clamped to a box around most of the grains:
/// clamping never moves two grains farther apart, so a stray one costs nothing and is still found.
class CellGrid {
 public:
    /// All pairs i < j with |x_i - x_j| < radius_i + radius_j + skin and held_i + held_j < 2. In order of cells.
    void find_pairs(const std::vector<Body>& bodies, const std::vector<double>& radii, const std::vector<char>& held,
                    double skin, std::vector<SlotPair>& pairs);

    /// Order of the slots along a Morton curve over cells of this width; ties keep their order.
    [[nodiscard]] static std::vector<std::int32_t> morton_order(const std::vector<Body>& bodies, double width);

 private:
    void place(const std::vector<Body>& bodies, double width);

    int columns_ = 1, rows_ = 1;
    std::vector<std::int32_t> cell_, first_, members_;
    std::vector<double> scratch_;
};

}  // namespace farfield::grains
