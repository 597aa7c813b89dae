// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What the lanes of the pair recursion read and return, as plain data.
#include <cstddef>

#include "farfield/contact/longrange/pair_work.hpp"

namespace farfield::contact::longrange {

/// One body of a pair, as plain pointers.
struct TreeSide {
    const ChildSpheres* spheres;
    const ChildNodes* children;
    const Row4* nodes;  ///< rotated centres, tight radii
    const NodeExtent* extents;
    double origin[3];  ///< times 1 / l0
};

/// Everything the recursion reads.
struct TraversalInput {
    TreeSide a, b;
    double margin;  ///< eps
    PotentialForm form;
};

/// Sums over far terms or bands: beta, beta a (3), beta sym(a b^T) (xx yy zz yz xz xy), rank terms (lower, by columns).
inline constexpr std::size_t kFirstRank = 1 + 3 + 6, kTermSums = kFirstRank + 21;

/// How many node pairs of a level went where.
struct LevelCounts {
    std::size_t far, found, bands;
};

}  // namespace farfield::contact::longrange
