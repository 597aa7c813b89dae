// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The door between contact models and everything else. Contact speaks in rigid bodies, never in joints.
///
/// E(poses; previous poses) is the contact and friction energy of one time step [J]. Derivatives are taken in the chart
/// of each body, x -> p + v + exp(w)(x - p) with p the body origin and (v, w) in world axes (math/pose.hpp).
/// A step is: begin_step(previous) once, then energy / derivatives at trial poses, then, going backward, vjp.
#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <vector>

#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/parameters.hpp"

namespace farfield::contact {

/// Warm starts and lagged friction data. Belongs to one rollout, starts cold, is saved in checkpoints.
class ContactMemory {
 public:
    virtual ~ContactMemory() = default;
    [[nodiscard]] virtual std::vector<double> save() const = 0;
    virtual void restore(const std::vector<double>& values) = 0;  ///< throws on a foreign size
};

/// One interacting pair of bodies, a < b. Rows and columns: (v_a, w_a, v_b, w_b).
struct PairBlock {
    int a = 0, b = 0;
    Eigen::Matrix<double, 12, 12> hessian = Eigen::Matrix<double, 12, 12>::Zero();
    double gap = std::numeric_limits<double>::infinity();  ///< certified lower bound of the distance [m]
};

struct ContactDerivatives {
    double energy = 0.0;
    double friction_energy = 0.0;   ///< the part of `energy` that is friction
    std::vector<Vector6d> wrench;   ///< per body: dE/d(v, w)
    std::vector<PairBlock> blocks;  ///< in pair order; pairs that do not interact may be left out
    std::vector<double> gaps;       ///< per contact pair, as PairBlock::gap, where blocks are left out; else empty
};

/// Derivatives of phi = sum over bodies of twist . dE/d(v, w), twists held fixed.
struct ContactGradient {
    std::vector<Vector6d> previous_wrench;  ///< per body: dphi by the previous pose, in its chart
    Eigen::VectorXd friction;               ///< per body
    double weight = 0.0;
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> hull_vertices;
};

class ContactPotential {
 public:
    virtual ~ContactPotential() = default;

    [[nodiscard]] virtual std::unique_ptr<ContactMemory> make_memory() const = 0;

    /// Fixes the lagged friction quantities of a step of length `dt` [s] that starts at `previous`.
    virtual void begin_step(const Poses& previous, double dt, const Parameters& parameters,
                            ContactMemory& memory) const = 0;

    /// +infinity when any two bodies touch or cross.
    [[nodiscard]] virtual double energy(const Poses& poses, const Parameters& parameters,
                                        ContactMemory& memory) const = 0;

    /// Exact derivatives. Reuses the storage of `out`. Energy is +infinity (and the rest unspecified) when bodies touch.
    virtual void derivatives(const Poses& poses, const Parameters& parameters, ContactMemory& memory,
                             ContactDerivatives& out) const = 0;

    virtual void vjp(const Poses& poses, const Poses& previous, double dt, const Parameters& parameters,
                     ContactMemory& memory, const std::vector<Vector6d>& twists, ContactGradient& out) const = 0;

    /// What must not meet, and therefore what a collision filter has to certify. Null: the surfaces of the model the potential was built
    /// for. The same pointer for the same shapes.
    [[nodiscard]] virtual std::shared_ptr<const CollisionGeometry> surfaces(const Parameters& /*parameters*/) const {
        return nullptr;
    }
};

}  // namespace farfield::contact
