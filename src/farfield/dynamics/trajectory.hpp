// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A motion: states, what drove them, and what certifies them. The one representation, in memory and in files.
#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "farfield/dynamics/contact_forces.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A view of rows owned by the caller.
using ConstRows = Eigen::Map<const RowMatrix>;
[[nodiscard]] inline ConstRows view(const RowMatrix& rows) { return {rows.data(), rows.rows(), rows.cols()}; }

/// The tape: states, controls and reports. Small; the backward pass re-evaluates each step once.
struct Trajectory {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    ContactSetup contact;
    StepOptions options;
    RowMatrix q, v;                   ///< (steps + 1, ...)
    RowMatrix controls;               ///< (steps, num_controls), as applied
    RowMatrix script;                 ///< (steps, 7 num_kinematic), as applied
    std::vector<StepReport> reports;  ///< one per step taken
    std::vector<StepCut> cuts{};      ///< states inside steps that were cut, in order of time

    [[nodiscard]] int num_steps() const { return static_cast<int>(reports.size()); }
    /// Every step asked for was taken and converged.
    [[nodiscard]] bool converged() const;
    [[nodiscard]] State state(int step) const;
    /// Those of one step.
    [[nodiscard]] std::span<const StepCut> cuts_of(int step) const;
};

/// States that no single rollout made, as a trajectory: steps taken one by one, or by another engine.
struct GivenStates {
    RowMatrix q, v;                     ///< (steps + 1, ...)
    RowMatrix controls;                 ///< (steps, num_controls)
    std::vector<StepReport> reports{};  ///< one per step; empty: all converged, but for `failed`
    std::vector<StepCut> cuts{};        ///< of steps that were cut
    bool failed =
        false;  ///< without reports: a further step was tried and led nowhere; states from the first that is not finite are dropped
    double min_gap = std::numeric_limits<double>::infinity();  ///< of every step without reports [m]
};

/// Scripts are read from the coordinates of kinematic bodies. Throws when arrays do not fit the model or each other.
[[nodiscard]] Trajectory trajectory_of(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact,
                                       const StepOptions& options, GivenStates states);

/// Throws std::invalid_argument when the arrays do not fit each other.
void validate(const Trajectory& trajectory);

/// What contact did in step `step` (from state `step` to the next); in its last piece, if it was cut.
[[nodiscard]] std::vector<ContactForce> contact_forces(const Trajectory& trajectory, int step);

/// Throws when the trajectory had contact but carries no model of it: then it cannot be differentiated.
void require_contact_model(const Trajectory& trajectory, const char* place);

}  // namespace farfield
