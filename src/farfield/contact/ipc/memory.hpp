// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the IPC model: lists of features, lagged friction.
///
/// Nothing of it changes a result, so nothing is saved: lists are found anew, and begin_step rebuilds the friction.
#include <vector>

#include "farfield/contact/ipc/candidates.hpp"
#include "farfield/contact/ipc/lagged_friction.hpp"
#include "farfield/contact/pairwise/pairwise_potential.hpp"

namespace farfield::contact::ipc {

/// Of one body pair.
struct PairMemory {
    CandidateList list;
    std::vector<Eigen::Vector3d> vertices_b;  ///< scratch: all vertices of B in the frame of A's tree
    std::vector<LaggedContact> friction;
};

class Memory final : public PairwiseMemory {
 public:
    using PairwiseMemory::PairwiseMemory;
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;

    std::vector<PairMemory> pairs;
    std::vector<WorldShape> now, start;  ///< per body, for the current and the lagged poses
};

}  // namespace farfield::contact::ipc
