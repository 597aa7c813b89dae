// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  ContactMemory of the polyhedral model: planes to start from, lagged friction, and scratch space.
///
/// Only the planes are saved: begin_step rebuilds the rest. A plane changes results by rounding only.
#include <utility>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
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
    std::vector<HullPair> near;    ///< hull pairs of the last broad phase, ascending
    std::vector<int> half_spaces;  ///< half-spaces within reach: those of the pair's first body, then of its second
    std::vector<LaggedContact> lagged;  ///< active at the start of the step
    double box_gap = 0.0;               ///< lower bound of the distance of everything not listed above [m]
};

/// Of one body pair, one evaluation.
struct PairResult {
    bool finite = true;
    double energy = 0.0;                     ///< per unit of relative weight
    double friction = 0.0;                   ///< per unit of relative weight and friction coefficient
    double gap = 0.0;                        ///< [m]
    Vector12d gradient = Vector12d::Zero();  ///< relative weight 1
};

/// Of one body pair and one direction of a vjp.
struct PairAdjoint {
    double friction_phi = 0.0;
    Vector6d previous_a = Vector6d::Zero(), previous_b = Vector6d::Zero();
    std::vector<std::pair<int, Eigen::Vector3d>> vertices;           ///< row, by the local vertex
    std::vector<std::pair<int, Eigen::Vector3d>> friction_vertices;  ///< the same per unit of friction coefficient

    void clear();
};

class Polyhedral;

struct Memory final : public ContactMemory, public ContactStep {
    Memory(const Polyhedral& model, ThreadPool* pool);
    [[nodiscard]] std::vector<double> save() const override;
    void restore(const std::vector<double>& values) override;
    [[nodiscard]] double energy(const Poses& poses) override;
    void linearize(const Poses& poses, ContactLinearization& out) override;
    void vjp(std::span<const Twists> directions, std::span<ContactGradient> out) override;

    const Polyhedral& model;
    ThreadPool* pool = nullptr;
    std::vector<PairMemory> pairs;
    std::vector<PairResult> results;
    std::vector<PairAdjoint> adjoints;  ///< per pair, direction by direction
    std::vector<int> work;              ///< pairs that need evaluation
    std::vector<int> lagged;            ///< pairs with friction
    // The step
    StepMode mode = StepMode::Frictionless;
    double dt = 0.0, weight = 0.0;     ///< `weight`: relative to the model's default
    std::vector<double> coefficients;  ///< of friction, per pair
    bool linearized = false;           ///< `results` and solutions are those of linearize at `scaled`
    Poses previous;                    ///< scaled
    Poses scaled;
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertices;  ///< what columns and boxes were made from
    std::vector<double> x, y, z;                                         ///< scaled columns of all vertices
    std::vector<Box> hull_local, hull_world, body_world;                 ///< [m]
    BodyTree tree;
    std::vector<std::pair<int, int>> found;
};

}  // namespace farfield::contact::polyhedral
