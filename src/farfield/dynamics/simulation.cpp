// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/simulation.hpp"

#include <cmath>

#include "farfield/base/error.hpp"

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

Simulation::Simulation(std::shared_ptr<const Model> model, Parameters parameters, ContactSetup contact,
                       StepOptions options, std::shared_ptr<ThreadPool> pool)
    : model_(std::move(model)),
      parameters_(std::move(parameters)),
      contact_(for_shapes(*model_, parameters_, std::move(contact))),
      options_(options),
      pool_(std::move(pool)),
      context_{*model_, parameters_, contact_.potential.get(), contact_.filter.get(), options_, pool_.get()} {
    validate(options_);
    validate(*model_, parameters_, "simulation: parameters");
    memory_ = make_memory(context_);
    now_ = model_->default_state();
    set_resting_script(*model_, now_.q, input_.script);
}

void Simulation::refuse_intersection(const State& start, const char* place) const {
    if (!contact_.filter) return;
    Kinematics kinematics;
    forward_kinematics(*model_, parameters_, start.q, kinematics);
    const auto hit = contact_.filter->find_intersection(kinematics.poses);
    if (!hit || hit->inside) return;  // a shell inside another is a legal start: surfaces meet surfaces
    const auto name = [&](int body) { return model_->bodies()[static_cast<std::size_t>(body)].name; };
    fail(place, ": bodies '", name(hit->a), "' and '", name(hit->b), "' intersect at (", hit->point.x(), ", ",
         hit->point.y(), ", ", hit->point.z(), "); expected a start without intersections");
}

void Simulation::reset(const State& state, const char* place) {
    validate(*model_, state, place);
    State start = state;
    for (const BallCoordinate& c : model_->balls()) start.q.segment<4>(c.q).normalize();
    refuse_intersection(start, place);
    now_ = std::move(start);
    set_resting_script(*model_, now_.q, input_.script);
    memory_ = make_memory(context_);
    previous_q_.resize(0);
    report_ = {};
    num_steps_ = 0;
    start_checked_ = true;
}

void Simulation::take(const StepInput& input) {
    require_finite(input.control, model_->num_controls(), "control");
    input_.control = input.control;
    if (input.script.size()) {  // else they stay where they were sent last
        require_finite(input.script, 7 * model_->num_kinematic(), "script");
        input_.script = input.script;
        normalise_quaternions(*model_, input_.script);
    }
    if (input.guess.size()) require_finite(input.guess, model_->num_dofs(), "guess");
    input_.guess = input.guess;
}

const StepReport& Simulation::step(const StepInput& input) {
    if (report_.status != StepStatus::Converged) {
        fail("step: the last step ended with '", to_string(report_.status),
             "'; expected a reset, or a snapshot from before, in between");
    }
    if (!start_checked_) refuse_intersection(now_, "simulation: state");
    start_checked_ = true;
    take(input);
    report_ = implicit_step(context_, now_, input_, memory_, scratch_, next_);
    previous_q_ = now_.q;
    std::swap(now_, next_);
    ++num_steps_;
    return report_;
}

SimulationSnapshot Simulation::snapshot() const {
    return {now_, previous_q_, input_.script, num_steps_, memory_.save()};
}

void Simulation::restore(const SimulationSnapshot& snapshot) {
    validate(*model_, snapshot.state, "simulation: snapshot");
    if (snapshot.previous_q.size() && snapshot.previous_q.size() != model_->num_q()) {
        fail("simulation: snapshot: previous_q has ", snapshot.previous_q.size(), " entries, expected none or ",
             model_->num_q());
    }
    require_finite(snapshot.script, 7 * model_->num_kinematic(), "snapshot: script");
    if (snapshot.num_steps < 0) fail("simulation: snapshot: ", snapshot.num_steps, " steps, expected >= 0");
    memory_.restore(snapshot.memory);
    now_ = snapshot.state;
    previous_q_ = snapshot.previous_q;
    input_.script = snapshot.script;
    num_steps_ = snapshot.num_steps;
    start_checked_ = true;
    report_ = {};
}

std::vector<ContactForce> Simulation::contacts() const {
    Kinematics now, previous;
    forward_kinematics(*model_, parameters_, now_.q, now);
    if (previous_q_.size() == 0) return contact_forces(context_, now.poses);
    forward_kinematics(*model_, parameters_, previous_q_, previous);
    return contact_forces(context_, previous.poses, now.poses);
}

std::optional<Intersection> Simulation::find_intersection() const {
    if (!contact_.filter) return std::nullopt;
    Kinematics now;
    forward_kinematics(*model_, parameters_, now_.q, now);
    return contact_.filter->find_intersection(now.poses);
}

}  // namespace farfield
