// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Many steps, and the gradient back through them.
#include <Eigen/Dense>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "farfield/base/thread_pool.hpp"
#include "farfield/dynamics/trajectory.hpp"

namespace farfield {

/// Closed loop: u = pi(state, step; c), with its derivatives. Implementations live above this room.
class Policy {
 public:
    virtual ~Policy() = default;
    [[nodiscard]] virtual Eigen::VectorXd control(int step, const State& state) const = 0;
    /// Adds the pull-back of `control_bar` to the state's tangent gradients and to the gradient by the policy's own numbers c.
    virtual void vjp(int step, const State& state, const Eigen::VectorXd& control_bar, Eigen::VectorXd& q_bar,
                     Eigen::VectorXd& v_bar, Eigen::VectorXd& c_bar) const = 0;
    [[nodiscard]] virtual int num_parameters() const = 0;
};

struct RolloutInput {
    State state0;
    RowMatrix controls;  ///< (steps, num_controls); with a policy only its row count is used
    RowMatrix
        script;  ///< (steps, 7 num_kinematic): coordinates of the kinematic bodies after each step; empty = at rest
    const Policy* policy = nullptr;
    /// Warm start, (steps, num_dofs): velocities after each step of a motion much like this one; empty = inertia. The result depends on it
    /// only within the tolerance.
    RowMatrix guess{};
};

/// Stops at the first step that does not converge (it is recorded, the rows after it are cut off).
/// `pool` shares out the body pairs of contact; results do not depend on its size.
[[nodiscard]] Trajectory rollout(std::shared_ptr<const Model> model, const Parameters& parameters,
                                 const RolloutInput& input, const StepOptions& options,
                                 const ContactSetup& contact = {}, ThreadPool* pool = nullptr);

/// One of many rollouts: each may have a model, parameters and contact of its own.
struct RolloutJob {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    ContactSetup contact;
    RolloutInput input;
};

/// Independent rollouts, spread over the pool. Results do not depend on its size.
[[nodiscard]] std::vector<Trajectory> rollout_batch(const std::vector<RolloutJob>& jobs, const StepOptions& options,
                                                    ThreadPool& pool);

/// Partials of one loss; an empty view is zero, but one must be given. dL/dq, dL/dv: (steps + 1, num_dofs) per state, tangent;
/// dL/dpose: (steps + 1, 6 num_bodies), per body by the position of its origin, then by a rotation vector, world axes;
/// dL/dparameters: of a loss that depends on parameters directly, states held fixed (a centre of mass, a point of a link); not owned.
struct LossPartials {
    ConstRows dL_dq{nullptr, 0, 0}, dL_dv{nullptr, 0, 0}, dL_dpose{nullptr, 0, 0};
    const Parameters* dL_dparameters = nullptr;
};

/// Everything is held fixed but what a member stands for. Where the initial state depends on parameters theta, the caller chains it:
/// dL/dtheta = parameters + (dq0/dtheta)^T q0 + (dv0/dtheta)^T v0, dq0 the tangent by which the initial coordinates move.
struct RolloutGradient {
    Eigen::VectorXd q0, v0;  ///< tangent (num_dofs)
    RowMatrix controls;      ///< (steps, num_controls)
    RowMatrix script;        ///< (steps, 6 num_kinematic): tangent at states 1..steps
    Parameters parameters;
    Eigen::VectorXd policy;     ///< by the policy's own numbers
    Eigen::VectorXd contact{};  ///< by those of the force law (ForceLaw::number_names), when asked for
};

/// Throws std::invalid_argument on an unconverged trajectory unless `allow_unconverged`.
struct VjpOptions {
    bool allow_unconverged = false;
    const Policy* policy = nullptr;
    ThreadPool* pool = nullptr;    ///< as of rollout
    bool contact_numbers = false;  ///< RolloutGradient::contact is wanted
};
[[nodiscard]] RolloutGradient rollout_vjp(const Trajectory& trajectory, const LossPartials& partials,
                                          const VjpOptions& options = {});

/// The gradients of many losses, each with the bits it has alone. Every step is linearised and factored once for all of them.
[[nodiscard]] std::vector<RolloutGradient> rollout_vjp(const Trajectory& trajectory,
                                                       std::span<const LossPartials> partials,
                                                       const VjpOptions& options = {});

/// `options`: one for all, or one per trajectory.
[[nodiscard]] std::vector<RolloutGradient> rollout_vjp_batch(const std::vector<Trajectory>& trajectories,
                                                             const std::vector<LossPartials>& partials,
                                                             ThreadPool& pool,
                                                             const std::vector<VjpOptions>& options = {{}});

}  // namespace farfield
