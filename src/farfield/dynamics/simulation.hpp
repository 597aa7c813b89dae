// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One simulation to hold: a model that moves step by step, with its warm starts.
///
/// Everything that happens later depends on model, parameters, contact, options and the snapshot alone: a simulation that takes up a
/// snapshot goes on bit for bit as the one that gave it.
#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <vector>

#include "farfield/base/thread_pool.hpp"
#include "farfield/dynamics/contact_forces.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield {

/// Where a simulation is.
struct SimulationSnapshot {
    State state;
    Eigen::VectorXd previous_q;  ///< at the start of the last piece of the last step; empty before the first one
    double last_length = 1.0;    ///< of that piece, as a fraction of the step
    Eigen::VectorXd script;      ///< where kinematic bodies rest when a step has no script
    int num_steps = 0;
    StepReport report{};         ///< of the last step
    std::vector<double> memory;  ///< warm starts (StepMemory::save)
};

/// Reports, inputs and states are those of the last step: references hold until the next one.
class Simulation {
 public:
    /// Starts at the model's default state. `pool` shares out body pairs (null: one thread); the same bits for any size.
    Simulation(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact, StepOptions options,
               std::shared_ptr<ThreadPool> pool = nullptr);
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;
    ~Simulation();

    /// Back to time 0 and cold warm starts. Refuses bodies that intersect; `place` begins the message.
    void reset(const State& state, const char* place = "simulation: state");
    void reset() { reset(model()->default_state()); }

    /// One step. control: (num_controls); script: (7 num_kinematic), the next coordinates of kinematic bodies, empty = they rest.
    /// A step that does not converge is reported and its last state kept; then no further one is possible before a reset.
    const StepReport& step(const StepInput& input);

    [[nodiscard]] const State& state() const;
    [[nodiscard]] int num_steps() const;
    [[nodiscard]] double time() const { return num_steps() * options().dt; }  ///< [s]
    [[nodiscard]] const StepReport& last_report() const;
    [[nodiscard]] const StepInput& last_input() const;            ///< as applied: quaternions of unit length
    [[nodiscard]] const std::vector<StepCut>& last_cuts() const;  ///< states between the pieces of the last step

    /// Whether steps record their iterations. Off at first; costs nothing then.
    void set_trace(bool on);
    [[nodiscard]] const std::vector<StepIteration>& last_trace() const;

    [[nodiscard]] SimulationSnapshot snapshot() const;
    /// Throws when the snapshot is of another model or contact model.
    void restore(const SimulationSnapshot& snapshot);

    /// What contact did in the last step; before the first one, the potential alone.
    [[nodiscard]] std::vector<ContactForce> contacts() const;
    [[nodiscard]] std::optional<Intersection> find_intersection() const;

    [[nodiscard]] const std::shared_ptr<const Model>& model() const;
    [[nodiscard]] const Parameters& parameters() const;
    [[nodiscard]] const ContactSetup& contact() const;
    [[nodiscard]] const StepOptions& options() const;

 private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace farfield
