// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/simulation.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/stable_step.hpp"
#include "farfield/dynamics/step.hpp"
#include "farfield/model/constraint_projection.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;

/// The setup with a filter for the surfaces these parameters make.
ContactSetup for_shapes(const Model& model, const Parameters& parameters, ContactSetup contact) {
    if (!contact.filter || !contact.potential) return contact;
    std::shared_ptr<const CollisionGeometry> surfaces = contact.potential->surfaces(parameters);
    if (surfaces != contact.filter->surfaces()) {
        contact.filter = std::make_shared<const CollisionFilter>(model, std::move(surfaces), contact.filter->options());
    }
    return contact;
}

void require_finite(const VectorXd& values, Eigen::Index size, const char* what) {
    if (values.size() != size) fail("step: ", what, " has ", values.size(), " entries, expected ", size);
    for (Eigen::Index k = 0; k < size; ++k) {
        if (!std::isfinite(values[k])) fail("step: ", what, "[", k, "] = ", values[k], ", expected a finite number");
    }
}

/// Where the kinematic bodies are.
void set_resting_script(const Model& model, const VectorXd& q, VectorXd& script) {
    script.resize(7 * model.num_kinematic());
    for (int k = 0; k < model.num_kinematic(); ++k) {
        const int body = model.kinematic_bodies()[static_cast<std::size_t>(k)];
        const int joint = model.bodies()[static_cast<std::size_t>(body)].first_joint;
        script.segment<7>(7 * k) = q.segment<7>(model.joints()[static_cast<std::size_t>(joint)].q);
    }
}

void normalise_quaternions(const Model& model, VectorXd& script) {
    for (int k = 0; k < model.num_kinematic(); ++k) {
        auto quaternion = script.segment<4>(7 * k + 3);
        const double norm = quaternion.norm();
        if (std::abs(norm - 1.0) > 1e-6) {
            const int body = model.kinematic_bodies()[static_cast<std::size_t>(k)];
            fail("step: script: quaternion of body '", model.bodies()[static_cast<std::size_t>(body)].name,
                 "' has norm ", norm, ", expected 1");
        }
        quaternion /= norm;
    }
}

}  // namespace

struct Simulation::Parts {
    Parts(std::shared_ptr<const Model> model_, Parameters parameters_, ContactSetup contact_, StepOptions options_,
          std::shared_ptr<ThreadPool> pool_)
        : model(std::move(model_)),
          parameters(std::move(parameters_)),
          contact(for_shapes(*model, parameters, std::move(contact_))),
          options(options_),
          pool(std::move(pool_)),
          context{.model = *model,
                  .parameters = parameters,
                  .contact = contact.potential.get(),
                  .filter = contact.filter.get(),
                  .options = options,
                  .pool = pool.get(),
                  .law = contact.law.get()},
          now(model->default_state()) {}

    void take(const StepInput& next_input);
    void refuse_intersection(const State& start, const char* place) const;

    std::shared_ptr<const Model> model;
    Parameters parameters;
    ContactSetup contact;  ///< its filter is that of the surfaces these parameters make
    StepOptions options;
    std::shared_ptr<ThreadPool> pool;
    StepContext context;
    StepMemory memory;
    AnyStepScratch scratch;
    State now, next;
    Eigen::VectorXd previous_q;
    double last_length = 1.0;
    std::vector<StepCut> cuts;
    std::vector<StepIteration> trace;
    StepInput input;
    StepReport report;
    int num_steps = 0;
    bool start_checked = false;
};

Simulation::Simulation(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact,
                       StepOptions options, std::shared_ptr<ThreadPool> pool)
    : parts_(std::make_unique<Parts>(std::move(model), std::move(parameters), std::move(contact), options,
                                     std::move(pool))) {
    Parts& s = *parts_;
    validate(s.options);
    validate(*s.model, s.parameters, "simulation: parameters");
    require_stable_step(s.context);
    s.memory = make_memory(s.context);
    set_resting_script(*s.model, s.now.q, s.input.script);
}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const State& Simulation::state() const { return parts_->now; }
int Simulation::num_steps() const { return parts_->num_steps; }
const StepReport& Simulation::last_report() const { return parts_->report; }
const StepInput& Simulation::last_input() const { return parts_->input; }
const std::vector<StepCut>& Simulation::last_cuts() const { return parts_->cuts; }
void Simulation::set_trace(bool on) { parts_->context.trace = on ? &parts_->trace : nullptr; }
const std::vector<StepIteration>& Simulation::last_trace() const { return parts_->trace; }
const std::shared_ptr<const Model>& Simulation::model() const { return parts_->model; }
const Parameters& Simulation::parameters() const { return parts_->parameters; }
const ContactSetup& Simulation::contact() const { return parts_->contact; }
const StepOptions& Simulation::options() const { return parts_->options; }

void Simulation::Parts::refuse_intersection(const State& start, const char* place) const {
    if (!contact.filter) return;
    Kinematics kinematics;
    forward_kinematics(*model, parameters, start.q, kinematics);
    const auto hit = contact.filter->find_intersection(kinematics.poses);
    if (!hit || hit->inside) return;  // a shell inside another is a legal start: surfaces meet surfaces
    const auto name = [&](int body) { return model->bodies()[static_cast<std::size_t>(body)].name; };
    fail(place, ": bodies '", name(hit->a), "' and '", name(hit->b), "' intersect at (", hit->point.x(), ", ",
         hit->point.y(), ", ", hit->point.z(),
         "); expected a start without intersections: settle() resolves small ones by moving free bodies");
}

void Simulation::reset(const State& state, const char* place) {
    Parts& s = *parts_;
    validate(*s.model, state, place);
    State start = state;
    for (const BallCoordinate& c : s.model->balls()) start.q.segment<4>(c.q).normalize();
    require_constraints(*s.model, s.parameters, start, place);
    s.refuse_intersection(start, place);
    s.now = std::move(start);
    set_resting_script(*s.model, s.now.q, s.input.script);
    s.memory = make_memory(s.context);
    s.previous_q.resize(0);
    s.last_length = 1.0;
    s.cuts.clear();
    s.trace.clear();
    s.report = {};
    s.num_steps = 0;
    s.start_checked = true;
}

void Simulation::Parts::take(const StepInput& next_input) {
    require_finite(next_input.control, model->num_controls(), "control");
    input.control = next_input.control;
    if (next_input.script.size()) {  // else they stay where they were sent last
        require_finite(next_input.script, 7 * model->num_kinematic(), "script");
        input.script = next_input.script;
        normalise_quaternions(*model, input.script);
    }
    if (next_input.guess.size()) require_finite(next_input.guess, model->num_dofs(), "guess");
    input.guess = next_input.guess;
}

const StepReport& Simulation::step(const StepInput& input) {
    Parts& s = *parts_;
    if (s.report.status != StepStatus::Converged) {
        fail("step: the last step ended with '", to_string(s.report.status),
             "'; expected a reset, or a snapshot from before, in between");
    }
    if (!s.start_checked) s.refuse_intersection(s.now, "simulation: state");
    s.start_checked = true;
    s.take(input);
    s.trace.clear();
    s.report = take_step(s.context, s.now, s.input, s.memory, s.scratch, s.next, s.cuts);
    for (StepCut& cut : s.cuts) cut.step = s.num_steps;
    s.previous_q = s.cuts.empty() ? s.now.q : s.cuts.back().state.q;
    s.last_length = s.cuts.empty() ? 1.0 : 1.0 - s.cuts.back().fraction;
    std::swap(s.now, s.next);
    ++s.num_steps;
    return s.report;
}

SimulationSnapshot Simulation::snapshot() const {
    const Parts& s = *parts_;
    return {s.now, s.previous_q, s.last_length, s.input.script, s.num_steps, s.report, s.memory.save()};
}

void Simulation::restore(const SimulationSnapshot& snapshot) {
    Parts& s = *parts_;
    validate(*s.model, snapshot.state, "simulation: snapshot");
    if (snapshot.previous_q.size() && snapshot.previous_q.size() != s.model->num_q()) {
        fail("simulation: snapshot: previous_q has ", snapshot.previous_q.size(), " entries, expected none or ",
             s.model->num_q());
    }
    require_finite(snapshot.script, 7 * s.model->num_kinematic(), "snapshot: script");
    if (!(snapshot.last_length > 0.0 && snapshot.last_length <= 1.0))
        fail("simulation: snapshot: last_length ", snapshot.last_length, ", expected in (0, 1]");
    if (snapshot.num_steps < 0) fail("simulation: snapshot: ", snapshot.num_steps, " steps, expected >= 0");
    s.memory.restore(snapshot.memory);
    s.now = snapshot.state;
    s.previous_q = snapshot.previous_q;
    s.last_length = snapshot.last_length;
    s.cuts.clear();
    s.trace.clear();
    s.input.script = snapshot.script;
    s.num_steps = snapshot.num_steps;
    s.start_checked = true;
    s.report = snapshot.report;
}

std::vector<ContactForce> Simulation::contacts() const {
    const Parts& s = *parts_;
    if (s.context.law) return contact_forces(s.context, s.now);
    StepContext context{*s.model, s.parameters, s.contact.potential.get(), s.contact.filter.get(), s.options};
    context.options.dt *= s.last_length;
    Kinematics now, previous;
    forward_kinematics(*s.model, s.parameters, s.now.q, now);
    if (s.previous_q.size() == 0) return contact_forces(context, now.poses);
    forward_kinematics(*s.model, s.parameters, s.previous_q, previous);
    return contact_forces(context, previous.poses, now.poses);
}

std::optional<Intersection> Simulation::find_intersection() const {
    const Parts& s = *parts_;
    if (!s.contact.filter) return std::nullopt;
    Kinematics now;
    forward_kinematics(*s.model, s.parameters, s.now.q, now);
    return s.contact.filter->find_intersection(now.poses);
}

}  // namespace farfield
