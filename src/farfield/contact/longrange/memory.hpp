// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the long-range model: planes to start from, lagged friction, and scratch space.
///
/// Only the planes are saved: begin_step rebuilds the rest from the poses. Scratch carries no values between calls.
#include <memory>
#include <mutex>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/longrange/lagged_friction.hpp"

namespace farfield::contact::longrange {

/// Of one body pair.
struct PairMemory {
    PlaneTable planes;
    LaggedMeshPair mesh_friction;
    std::vector<LaggedHalfSpace> half_space_friction;
    PairWork start_work;                         ///< what was lagged, for the way back: StepMode::Backward
    std::vector<HalfSpaceWork> start_half_work;  ///< the same, one per half-space
};

/// Of one body pair, one evaluation.
struct PairResult {
    bool finite = true;
    double energy = 0.0;                                                ///< per unit of weight
    double friction = 0.0;                                              ///< per unit of weight and friction coefficient
    Vector6d wrench_a = Vector6d::Zero(), wrench_b = Vector6d::Zero();  ///< of the weighted energies
};

/// Of one body pair and one direction of a vjp.
struct PairAdjoint {
    double friction_phi = 0.0;  ///< of the friction energy per unit of weight and coefficient
    PreviousAdjoint previous;   ///< of friction_phi
};

struct PairScratch {
    PairWork work;
    HalfSpaceWork half_space_work;
    std::vector<double> band_weights;
    std::vector<FrictionPoint> points;
    std::vector<PlaneAdjointChunk> plane_adjoints;
};

class LongRange;

class Memory final : public ContactMemory, public ContactStep {
 public:
    Memory(const LongRange& model, ThreadPool* pool);
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;
    [[nodiscard]] double energy(const Poses& poses) override;
    void linearize(const Poses& poses, ContactLinearization& out) override;
    void vjp(std::span<const Twists> directions, std::span<ContactGradient> out) override;

    const LongRange& model;
    ThreadPool* pool = nullptr;
    std::vector<PairMemory> pairs;
    std::vector<RotatedShape> now, start;  ///< per body, for the current and the lagged poses
    Poses scaled;                          ///< the current poses, lengths divided by the length scale
    // The step
    StepMode mode = StepMode::Frictionless;
    Poses previous;  ///< lengths divided by the length scale
    double dt = 0.0, weight = 0.0;
    std::vector<double> coefficients;  ///< of friction, per pair
    bool linearized = false;           ///< `results` are those of linearize at `scaled`
    std::vector<PairResult> results;
    std::vector<PairAdjoint> adjoints;  ///< per pair, direction by direction

    /// Lent to one chunk at a time.
    [[nodiscard]] std::unique_ptr<PairScratch> borrow();
    void give_back(std::unique_ptr<PairScratch> scratch);

 private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<PairScratch>> free_;
};

}  // namespace farfield::contact::longrange
