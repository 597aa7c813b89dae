// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the polyhedral model: planes to start from, lagged friction, and scratch space.
///
/// Only the planes are saved: begin_step rebuilds the rest. A plane changes results by rounding only.
#include <utility>
#include <vector>

#include "farfield/contact/pairwise/pairwise_potential.hpp"
#include "farfield/contact/polyhedral/body_boxes.hpp"
#include "farfield/contact/polyhedral/lagged_friction.hpp"

namespace farfield::contact::polyhedral {

/// Two hulls within reach of each other, and the plane last found between them.
struct HullPair {
    int a = 0, b = 0;
    WarmPlane warm;
    HullPairSolution solution;  ///< of the last linearize
};

/// Of one body pair.
struct PairMemory {
    std::vector<HullPair> near;         ///< hull pairs of the last broad phase, ascending
    std::vector<int> half_spaces;       ///< within reach: positions in half_space_sides
    std::vector<LaggedContact> lagged;  ///< active at the start of the step
    double box_gap = 0.0;               ///< lower bound of the distance of everything not listed above [m]
};

class Memory final : public PairwiseMemory {
 public:
    using PairwiseMemory::PairwiseMemory;
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;

    std::vector<PairMemory> pairs;
    std::vector<int> lagged;                                             ///< pairs with friction
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertices;  ///< what columns and boxes were made from
    std::vector<double> x, y, z;                                         ///< columns of all vertices [m]
    std::vector<Box> hull_local, hull_world, body_world;                 ///< [m]
    BodyTree tree;
    std::vector<std::pair<int, int>> found;
};

}  // namespace farfield::contact::polyhedral
