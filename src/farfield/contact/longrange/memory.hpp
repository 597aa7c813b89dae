// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the long-range model: planes to start from, lagged friction, and scratch space.
///
/// Only the planes are saved: begin_step rebuilds the rest from the poses. Scratch carries no values between calls.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "farfield/contact/longrange/lagged_friction.hpp"
#include "farfield/contact/pairwise/pairwise_potential.hpp"

namespace farfield::contact::longrange {

/// Of one body pair.
struct PairMemory {
    PlaneTable planes;
    LaggedMeshPair mesh_friction;
    std::vector<LaggedHalfSpace> half_space_friction;
    PairWork start_work;                         ///< what was lagged, for the way back: StepMode::Backward
    std::vector<HalfSpaceWork> start_half_work;  ///< the same, one per half-space

    /// Does any load lagged at the start of the step act?
    [[nodiscard]] bool lagged() const;
    void forget_start(std::size_t num_half_spaces);
};

struct PairScratch {
    PairWork work;
    HalfSpaceWork half_space_work;
    std::vector<double> band_weights;
    std::vector<FrictionPoint> points;
    std::vector<PlaneAdjointChunk> plane_adjoints;
};

class Memory final : public PairwiseMemory {
 public:
    using PairwiseMemory::PairwiseMemory;
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;

    std::vector<PairMemory> pairs;
    std::vector<RotatedShape> now, start;  ///< per body, for the current and the lagged poses
    std::vector<char> seen;                ///< per body: some active pair looks at it

    /// Scratch space for one pair at a time; it comes back at the end of the caller's scope.
    using Scratch = std::unique_ptr<PairScratch, std::function<void(PairScratch*)>>;
    [[nodiscard]] Scratch borrow();

 private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<PairScratch>> free_;
};

}  // namespace farfield::contact::longrange
