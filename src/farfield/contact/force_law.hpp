// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The second door of contact: force laws, which say what acts on each body by its pose and velocity and need have no energy.
///
///     ForceStep& step = law.begin_step(parameters, memory);
///     step.wrench(poses, twists, out), step.linearize(poses, twists, out); then, going backward, step.vjp(directions, out)
/// A twist (v, w) is the velocity of the body's origin and the angular velocity, a wrench (F, tau) the force on the body and its torque
/// about the origin, both in world axes; wrench . twist is the power. Poses vary in the chart of each body, as in contact_potential.hpp:
/// p -> p + v, R -> exp(w) R. Twists and wrenches keep their world components meanwhile.
#include <Eigen/Dense>
#include <memory>
#include <span>
#include <vector>

#include "farfield/contact/contact_potential.hpp"

namespace farfield::contact {

/// How the wrenches of bodies a < b, (F_a, tau_a, F_b, tau_b), change with both. Need not be symmetric.
struct ForceBlock {
    int a = 0, b = 0;
    Eigen::Matrix<double, 12, 12> by_pose =
        Eigen::Matrix<double, 12, 12>::Zero();  ///< by (v_a, w_a, v_b, w_b) of the chart
    Eigen::Matrix<double, 12, 12> by_twist = Eigen::Matrix<double, 12, 12>::Zero();  ///< by both twists
};

struct ForceLinearization {
    std::vector<Vector6d> wrench;    ///< per body: what acts on it
    std::vector<ForceBlock> blocks;  ///< in pair order; pairs that do not interact may be left out
};

/// A force law with fixed parameters. It lives in the memory of a rollout, where the next begin_step replaces it.
class ForceStep {
 public:
    virtual void wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out) = 0;

    /// Exact derivatives. Reuses the storage of `out`.
    virtual void linearize(const Poses& poses, const Twists& twists, ForceLinearization& out) = 0;

    /// Derivatives of phi = sum over bodies of direction . wrench by the parameters, where last linearised: any number of directions,
    /// one result each.
    virtual void vjp(std::span<const Twists> directions, std::span<ParameterGradient> out) = 0;

 protected:
    ~ForceStep() = default;
};

class ForceLaw {
 public:
    virtual ~ForceLaw() = default;

    /// `pool`: shares out body pairs, with the same bits for any number of threads; null: one thread.
    [[nodiscard]] virtual std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const = 0;

    /// Nothing given is referred to afterwards.
    virtual ForceStep& begin_step(const Parameters& parameters, ContactMemory& memory) const = 0;
};

}  // namespace farfield::contact
