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
    double energy = 0.0;    ///< per unit of weight and scale
    double friction = 0.0;  ///< and of the friction coefficient
    Vector6d wrench_a = Vector6d::Zero(), wrench_b = Vector6d::Zero();
    double phi = 0.0, friction_phi = 0.0;  ///< vjp: of the unit energies above
    MotionAdjoint previous;                ///< vjp: of friction_phi
};

class Memory final : public ContactMemory {
 public:
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;

    std::vector<PairMemory> pairs;
    std::vector<PlacedShape> now, start;  ///< per body, for the current and the lagged poses
    Poses previous;                       ///< of the last begin_step; empty before
    double dt = 0.0;
    std::vector<PairResult> results;
    std::vector<int> near;     ///< pairs that need evaluation
    std::vector<double> gaps;  ///< per pair, of bounding spheres [m]
};

}  // namespace farfield::contact::ipc
