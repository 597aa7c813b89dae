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
#include "farfield/dynamics/implicit_step.hpp"

namespace farfield {

/// Where a simulation is.
struct SimulationSnapshot {
    State state;
    Eigen::VectorXd previous_q;  ///< at the start of the last step; empty before the first one
    Eigen::VectorXd script;      ///< where kinematic bodies rest when a step has no script
    int num_steps = 0;
    std::vector<double> memory;  ///< warm starts (StepMemory::save)
};

class Simulation {
 public:
    /// Starts at the model's default state. `pool` shares out body pairs (null: one thread); the same bits for any size.
    Simulation(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact, StepOptions options,
               std::shared_ptr<ThreadPool> pool = nullptr);
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Back to time 0 and cold warm starts. Refuses bodies that intersect; `place` begins the message.
    void reset(const State& state, const char* place = "simulation: state");
    void reset() { reset(model_->default_state()); }

    /// One step. control: (num_controls); script: (7 num_kinematic), the next coordinates of kinematic bodies, empty = they rest.
    /// A step that does not converge is reported and its last state kept; then no further one is possible before a reset.
    const StepReport& step(const StepInput& input);

    [[nodiscard]] const State& state() const { return now_; }
    [[nodiscard]] int num_steps() const { return num_steps_; }
    [[nodiscard]] double time() const { return num_steps_ * options_.dt; }  ///< [s]
    [[nodiscard]] const StepReport& last_report() const { return report_; }
    [[nodiscard]] const StepInput& last_input() const { return input_; }  ///< as applied: quaternions of unit length

    [[nodiscard]] SimulationSnapshot snapshot() const;
    /// Throws when the snapshot is of another model or contact model.
    void restore(const SimulationSnapshot& snapshot);

    /// What contact did in the last step; before the first one, the potential alone.
    [[nodiscard]] std::vector<ContactForce> contacts() const;
    [[nodiscard]] std::optional<Intersection> find_intersection() const;

    [[nodiscard]] const std::shared_ptr<const Model>& model() const { return model_; }
    [[nodiscard]] const Parameters& parameters() const { return parameters_; }
    [[nodiscard]] const ContactSetup& contact() const { return contact_; }
    [[nodiscard]] const StepOptions& options() const { return options_; }

 private:
    void take(const StepInput& input);
    void refuse_intersection(const State& start, const char* place) const;

    std::shared_ptr<const Model> model_;
    Parameters parameters_;
    ContactSetup contact_;  ///< its filter is that of the surfaces these parameters make
    StepOptions options_;
    std::shared_ptr<ThreadPool> pool_;
    StepContext context_;
    StepMemory memory_;
    StepScratch scratch_;
    State now_, next_;
    Eigen::VectorXd previous_q_;
    StepInput input_;
    StepReport report_;
    int num_steps_ = 0;
    bool start_checked_ = false;
};

}  // namespace farfield
