// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the IPC model: lists of features, lagged friction, results per pair.
///
/// Nothing of it changes a result, so nothing is saved: lists are found anew, and begin_step rebuilds the friction.
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/ipc/candidates.hpp"
#include "farfield/contact/ipc/lagged_friction.hpp"
#include "farfield/contact/ipc/term.hpp"

namespace farfield::contact::ipc {

/// Of one body pair.
struct PairMemory {
    CandidateList list;
    std::vector<Eigen::Vector3d> vertices_b;  ///< scratch: all vertices of B in the frame of A's tree
    std::vector<LaggedContact> friction;
};

/// Of one body pair, one evaluation.
struct PairResult {
    bool finite = true;
    double energy = 0.0;                                                ///< per unit of weight and scale
    double friction = 0.0;                                              ///< and of the friction coefficient
    Vector6d wrench_a = Vector6d::Zero(), wrench_b = Vector6d::Zero();  ///< of the weighted energies
};

/// Of one body pair and one direction of a vjp.
struct PairAdjoint {
    double friction_phi = 0.0;  ///< of the friction energy per unit of weight, scale and coefficient
    MotionAdjoint previous;     ///< of friction_phi
};

class Ipc;

class Memory final : public ContactMemory, public ContactStep {
 public:
    Memory(const Ipc& model, ThreadPool* pool);
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;
    [[nodiscard]] double energy(const Poses& poses) override;
    void linearize(const Poses& poses, ContactLinearization& out) override;
    void vjp(std::span<const Twists> directions, std::span<ContactGradient> out) override;

    const Ipc& model;
    ThreadPool* pool = nullptr;
    std::vector<PairMemory> pairs;
    std::vector<PlacedShape> now, start;  ///< per body, for the current and the lagged poses
    // The step
    StepMode mode = StepMode::Frictionless;
    Poses previous, poses;  ///< at its start, and where it was last linearised
    double dt = 0.0, weight = 0.0;
    std::vector<double> coefficients, weights;  ///< per pair: of friction, and of the energy [J]
    bool linearized = false;                    ///< `results` are those of linearize at `poses`
    std::vector<PairResult> results;
    std::vector<PairAdjoint> adjoints;  ///< per pair, direction by direction
    std::vector<int> near;              ///< pairs that need evaluation
    std::vector<double> gaps;           ///< per pair, of bounding spheres [m]
};

}  // namespace farfield::contact::ipc
