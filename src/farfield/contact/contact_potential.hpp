// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The door between contact models that have an energy and everything else. Contact speaks in rigid bodies, never in joints.
///
/// A model is built once. A step begins at the previous poses and owns what is lagged there; everything else is asked of the step:
///     ContactStep& step = model.begin_step(previous, dt, parameters, memory);
///     step.energy(poses), step.linearize(poses, out) at any trial poses; then, going backward, step.vjp(directions, out)
/// E(poses; previous poses) is the contact and friction energy of one time step [J]. Derivatives are taken in the chart
/// of each body, x -> p + v + exp(w)(x - p) with p the body origin and (v, w) in world axes (math/pose.hpp).
#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "farfield/base/thread_pool.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/parameters.hpp"

namespace farfield::contact {

using Twists = std::vector<Vector6d>;  ///< per body: (v, w)

/// Warm starts, the step under way, and scratch space. Belongs to one rollout, starts cold, must not outlive its model.
class ContactMemory {
 public:
    virtual ~ContactMemory() = default;
    /// The warm starts.
    [[nodiscard]] virtual std::vector<double> save() const = 0;
    virtual void restore(const std::vector<double>& values) = 0;  ///< throws on a foreign size
};

/// One interacting pair of bodies, a < b. Rows and columns: (v_a, w_a, v_b, w_b).
struct PairBlock {
    using Vector12d = Eigen::Matrix<double, 12, 1>;
    using Matrix12d = Eigen::Matrix<double, 12, 12>;
    int a = 0, b = 0;
    Matrix12d hessian = Matrix12d::Zero();
    Vector12d gradient = Vector12d::Zero();                ///< of this pair's energy
    double gap = std::numeric_limits<double>::infinity();  ///< certified lower bound of the distance [m]
    /// The part of friction, when there is any; else it means nothing.
    bool has_friction = false;
    double friction_energy = 0.0;
    Vector12d friction_gradient = Vector12d::Zero();
    Matrix12d friction_hessian = Matrix12d::Zero();

    /// Without friction.
    [[nodiscard]] Vector12d normal_gradient() const {
        return has_friction ? Vector12d(gradient - friction_gradient) : gradient;
    }
    [[nodiscard]] Matrix12d normal_hessian() const {
        return has_friction ? Matrix12d(hessian - friction_hessian) : hessian;
    }
};

struct ContactLinearization {
    double energy = 0.0;
    double friction_energy = 0.0;   ///< the part of `energy` that is friction
    std::vector<Vector6d> wrench;   ///< per body: dE/d(v, w)
    std::vector<PairBlock> blocks;  ///< in pair order; pairs that do not interact may be left out
    std::vector<double> gaps;       ///< per contact pair, as PairBlock::gap
};

/// Derivatives of a number by what Parameters hold for contact.
struct ParameterGradient {
    Eigen::VectorXd friction;  ///< per body
    double contact_stiffness = 0.0;
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>
        hull_vertices;  ///< empty: the model does not depend on them
};

/// Derivatives of phi = sum over bodies of twist . dE/d(v, w), twists held fixed.
struct ContactGradient : ParameterGradient {
    std::vector<Vector6d> previous_wrench;  ///< per body: dphi by the previous pose, in its chart
};

/// What a step will be asked for.
enum class StepMode {
    Frictionless,  ///< nothing is lagged: the potential alone, as if nothing had moved
    Forward,       ///< energy and linearize
    Backward,      ///< vjp as well: keeps what adjoints of the previous poses need
};

/// The contact of one time step, lagged at its start. It lives in the memory of a rollout, where the next begin_step replaces it.
class ContactStep {
 public:
    /// +infinity when any two bodies touch or cross.
    [[nodiscard]] virtual double energy(const Poses& poses) = 0;

    /// Derivatives, exact but for the Hessian of friction after accept(). Reuses the storage of `out`. Energy is +infinity (and the rest
    /// unspecified) when bodies touch.
    virtual void linearize(const Poses& poses, ContactLinearization& out) = 0;

    /// Friction alone, which asks for nothing but what was lagged: fills a, b and the part of friction of one block for every pair that
    /// has_friction. Afterwards `poses` are those last seen.
    virtual void linearize_friction(const Poses& poses, std::vector<PairBlock>& out) = 0;

    /// Newton's method goes on from the poses last seen. From here on the Hessian of friction is a positive one that leads it to the
    /// minimum sooner and ends as the exact one there (plane_friction/slip_dual.hpp). Going backward every linearisation is exact.
    virtual void accept() = 0;

    /// At the poses last linearised, for any number of directions, one result each.
    virtual void vjp(std::span<const Twists> directions, std::span<ContactGradient> out) = 0;

 protected:
    ~ContactStep() = default;
};

class ContactPotential {
 public:
    virtual ~ContactPotential() = default;

    /// `pool`: shares out body pairs, with the same bits for any number of threads; null: one thread.
    [[nodiscard]] virtual std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const = 0;

    /// Begins a step of length `dt` [s] at `previous`, where bodies that rub must not touch. Nothing given is referred to afterwards.
    virtual ContactStep& begin_step(const Poses& previous, double dt, const Parameters& parameters,
                                    ContactMemory& memory, StepMode mode = StepMode::Forward) const = 0;

    /// Per contact pair of surfaces(): the weight of its energy [J] at Parameters::contact_stiffness 1.
    [[nodiscard]] virtual const std::vector<double>& pair_weights() const = 0;

    /// What must not meet, and therefore what a collision filter has to certify. Null: the surfaces of the model the potential was built
    /// for. The same pointer for the same shapes.
    [[nodiscard]] virtual std::shared_ptr<const CollisionGeometry> surfaces(const Parameters& /*parameters*/) const {
        return nullptr;
    }
};

}  // namespace farfield::contact
