// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Which leaves of a point cloud matter to the soft distance of the points of a ball: lists that shrink on the way down a tree.
///
/// A query p keeps point i when |p - p_i|^2 <= |p - p_j|^2 + reach for all j. In a ball (c, rho), for any one j, that needs
///     |c - p_i|^2 <= |c - p_j|^2 + reach + 2 rho |p_i - p_j|,
/// since the difference of both squares changes by 2 d . (p_j - p_i) when p moves by d. This is exact in the sense that no point is missed.
#include <vector>

namespace farfield {

struct Ball {
    double c[3];
    double radius;
};

/// Leaves begin to end of NearLeaves::leaves.
struct LeafRange {
    int begin = 0, end = 0;
};

/// Lists one after the other. A descent cuts the list of a node out of its parent's and puts it behind; what lies beyond is free.
struct NearLeaves {
    std::vector<int> leaves;

    void free_after(LeafRange range) { leaves.resize(static_cast<std::size_t>(range.end)); }
};

}  // namespace farfield
