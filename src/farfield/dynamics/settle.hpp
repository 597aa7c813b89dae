// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A start that contact can go on from: small overlaps are resolved, and nothing stands closer than it would rest.
///
/// Only whole trees with a free joint move, and only by translations:
///   overlap   the shortest of the translations tried (half-space normals, the line of centres, 26 directions of a cube) that brings the
///             tree out of all it crosses, the lighter of two free ones;
///   too near  along the force F of contact on the tree, until it is the tree's weight: |F| = m |g|.
#include <memory>
#include <vector>

#include "farfield/dynamics/step_types.hpp"

namespace farfield {

struct SettleOptions {
    /// Deepest overlap that is resolved, and furthest that a tree is moved away from what it is too near to, in sizes of the smaller of
    /// the two (diameter of the collision geometry of a whole tree).
    double max_depth = 0.05;
};

struct SettleMove {
    int body = 0;          ///< root of the tree that moved
    int other = -1;        ///< the body it crossed; -1: it was only too near
    double overlap = 0.0;  ///< length of the translation that resolved the crossing [m]
    double force = 0.0;    ///< of contact on it before it was moved to rest, in its own weights; 0: it was not too near
    Eigen::Vector3d shift = Eigen::Vector3d::Zero();  ///< in all [m]
};

struct Settled {
    State state;
    std::vector<SettleMove> moves;  ///< one per tree that moved, by root
};

/// Throws, naming bodies, depth and limit, when an overlap is deeper than that or nothing in it is free. Without contact: the state as it is.
[[nodiscard]] Settled settle(const Model& model, const Parameters& parameters, const State& state,
                             const ContactSetup& contact, const SettleOptions& options = {});

}  // namespace farfield
