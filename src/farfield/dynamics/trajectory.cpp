// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

void require_shape(const RowMatrix& values, Eigen::Index rows, Eigen::Index cols, const char* what) {
    if (values.rows() != rows || values.cols() != cols) {
        fail("trajectory: ", what, " has shape (", values.rows(), ", ", values.cols(), "), expected (", rows, ", ",
             cols, ")");
    }
}

/// The last state of an unconverged rollout is whatever the solver left: only the `rows` before it must be finite.
void require_finite(const RowMatrix& values, Eigen::Index rows, const char* what) {
    const Eigen::Index count = values.cols() > 0 ? rows * values.cols() : 0;
    for (Eigen::Index i = 0; i < count; ++i) {
        if (!std::isfinite(values.data()[i])) {
            fail("trajectory: ", what, "[", i / values.cols(), ", ", i % values.cols(), "] = ", values.data()[i],
                 ", expected a finite number");
        }
    }
}

/// Rows before the first one that is not finite.
Eigen::Index num_finite(const RowMatrix& q, const RowMatrix& v) {
    Eigen::Index rows = 0;
    while (rows < q.rows() && rows < v.rows() && q.row(rows).allFinite() && v.row(rows).allFinite()) ++rows;
    return rows;
}

/// Ends the states with the last good one, once more for the step that failed.
void end_with_failed_step(GivenStates& states) {
    const Eigen::Index good = std::max<Eigen::Index>(num_finite(states.q, states.v), 1), asked = states.controls.rows();
    for (RowMatrix* rows : {&states.q, &states.v}) {
        if (rows->rows() == 0) return;  // refused by validate
        rows->conservativeResize(good + 1, Eigen::NoChange);
        rows->row(good) = rows->row(good - 1);
    }
    states.controls.conservativeResize(good, Eigen::NoChange);
    for (Eigen::Index k = asked; k < good; ++k) {  // the step that failed may have no controls
        states.controls.row(k).setZero();
        if (asked > 0) states.controls.row(k) = states.controls.row(asked - 1);
    }
}

/// Between the states of the steps they belong to, and as many as the reports say.
void require_cuts(const Trajectory& t) {
    std::vector<int> pieces(t.reports.size(), 1);
    for (std::size_t k = 0; k < t.cuts.size(); ++k) {
        const StepCut& cut = t.cuts[k];
        if (cut.step < 0 || cut.step >= t.num_steps())
            fail("trajectory: cuts[", k, "] is of step ", cut.step, ", expected 0 to ", t.num_steps() - 1);
        const double before = k > 0 && t.cuts[k - 1].step == cut.step ? t.cuts[k - 1].fraction : 0.0;
        if (!(cut.fraction > before && cut.fraction < 1.0) || (k > 0 && t.cuts[k - 1].step > cut.step))
            fail("trajectory: cuts[", k, "] at ", cut.fraction, " of step ", cut.step, ", expected order of time");
        validate(*t.model, cut.state, "trajectory: cuts");
        ++pieces[static_cast<std::size_t>(cut.step)];
    }
    for (std::size_t step = 0; step < pieces.size(); ++step) {
        const StepReport& report = t.reports[step];
        if (report.status == StepStatus::Converged && report.pieces != pieces[step])
            fail("trajectory: step ", step, " was taken in ", report.pieces,
                 " pieces, expected as many cuts less one, got ", pieces[step] - 1);
    }
}

RowMatrix script_of(const Model& model, const RowMatrix& q) {
    RowMatrix script(std::max<Eigen::Index>(q.rows() - 1, 0), 7 * model.num_kinematic());
    for (int k = 0; k < model.num_kinematic() && q.cols() == model.num_q(); ++k) {
        const int body = model.kinematic_bodies()[static_cast<std::size_t>(k)];
        const int joint = model.bodies()[static_cast<std::size_t>(body)].first_joint;
        script.middleCols<7>(7 * k) =
            q.bottomRows(script.rows()).middleCols<7>(model.joints()[static_cast<std::size_t>(joint)].q);
    }
    return script;
}

}  // namespace

void validate(const Trajectory& t) {
    if (!t.model) fail("trajectory: no model");
    const Model& model = *t.model;
    validate(t.options);
    validate(model, t.parameters, "trajectory: parameters");
    const Eigen::Index taken = t.num_steps(), asked = t.controls.rows();
    require_shape(t.q, taken + 1, model.num_q(), "q");
    require_shape(t.v, taken + 1, model.num_dofs(), "v");
    require_shape(t.controls, asked, model.num_controls(), "controls");
    require_shape(t.script, asked, 7 * model.num_kinematic(), "script");
    for (Eigen::Index step = 0; step + 1 < taken; ++step) {
        const StepStatus status = t.reports[static_cast<std::size_t>(step)].status;
        if (status != StepStatus::Converged) {
            fail("trajectory: step ", step, " of ", taken, " is ", to_string(status),
                 ", expected only the last not to converge");
        }
    }
    const bool stopped = taken > 0 && t.reports.back().status != StepStatus::Converged;
    if (taken > asked || (taken < asked && !stopped)) {
        fail("trajectory: ", taken, " steps taken with ", asked,
             " rows of controls, expected as many, or fewer after a failed step");
    }
    validate(model, t.state(0), "trajectory: first state");
    require_finite(t.q, stopped ? taken : taken + 1, "q");
    require_finite(t.v, stopped ? taken : taken + 1, "v");
    require_finite(t.controls, asked, "controls");
    require_finite(t.script, asked, "script");
    require_cuts(t);
}

Trajectory trajectory_of(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact,
                         const StepOptions& options, GivenStates states) {
    if (!model) fail("trajectory: no model");
    if (states.reports.empty()) {
        if (states.failed) end_with_failed_step(states);
        const Eigen::Index steps = std::max<Eigen::Index>(states.q.rows() - 1, 0);
        states.reports.assign(static_cast<std::size_t>(steps), StepReport{.min_gap = states.min_gap});
        if (states.failed && steps > 0) states.reports.back().status = StepStatus::NonFinite;
    }
    Trajectory t{.model = std::move(model),
                 .parameters = std::move(parameters),
                 .contact = std::move(contact),
                 .options = options,
                 .q = std::move(states.q),
                 .v = std::move(states.v),
                 .controls = std::move(states.controls),
                 .reports = std::move(states.reports),
                 .cuts = std::move(states.cuts)};
    t.script = script_of(*t.model, t.q);
    validate(t);
    return t;
}

void require_contact_model(const Trajectory& t, const char* place) {
    if (t.contact.potential || t.contact.law || t.contact.description.empty()) return;
    fail(place, ": the trajectory had contact (", t.contact.description,
         ") but carries no contact model; expected one, since its derivatives depend on it");
}

bool Trajectory::converged() const {
    return static_cast<Eigen::Index>(reports.size()) == controls.rows() &&
           std::all_of(reports.begin(), reports.end(),
                       [](const StepReport& r) { return r.status == StepStatus::Converged; });
}

State Trajectory::state(int step) const { return State{q.row(step).transpose(), v.row(step).transpose()}; }

std::span<const StepCut> Trajectory::cuts_of(int step) const {
    const auto [first, last] = std::equal_range(cuts.begin(), cuts.end(), StepCut{.step = step},
                                                [](const StepCut& a, const StepCut& b) { return a.step < b.step; });
    return {first, last};
}

std::vector<ContactForce> contact_forces(const Trajectory& t, int step) {
    if (step < 0 || step >= t.num_steps()) fail("contact_forces: step ", step, ", expected 0 to ", t.num_steps() - 1);
    StepContext context{.model = *t.model,
                        .parameters = t.parameters,
                        .contact = t.contact.potential.get(),
                        .options = t.options,
                        .law = t.contact.law.get()};
    if (context.law) return contact_forces(context, t.state(step + 1));
    const std::span<const StepCut> cuts = t.cuts_of(step);
    if (!cuts.empty()) context.options.dt *= 1.0 - cuts.back().fraction;
    Kinematics previous, now;
    forward_kinematics(*t.model, t.parameters, cuts.empty() ? t.q.row(step).transpose() : cuts.back().state.q,
                       previous);
    forward_kinematics(*t.model, t.parameters, t.q.row(step + 1).transpose(), now);
    return contact_forces(context, previous.poses, now.poses);
}

}  // namespace farfield
