// SPDX-License-Identifier: Apache-2.0
/// @file  A simulation is a rollout taken step by step; saved ones go on bit for bit; contacts carry what Newton's laws ask of them.
#include "farfield/dynamics/simulation.hpp"

#include <doctest/doctest.h>

#include "contact/contact_models.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "support/contact_rollouts.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Bodies that fall on the ground and on each other within a few steps.
std::shared_ptr<const Model> falling_bodies() {
    farfield::Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", {0.1, 0.08, 0.05}, 1.0, {0.0, 0.0, 0.06});
    add_free_mesh(scene, "ball", make_sphere(0.08, 0), {0.02, 0.01, 0.21});
    return build_model(scene);
}

State thrown(const Model& model) {
    State state = model.default_state();
    state.v[0] = 0.5;
    state.v[2] = -1.0;
    state.v[8] = -1.0;
    return state;
}

ContactSetup setup_of(const Model& model, const ContactCase& entry) {
    return make_contact_setup(model, entry.make_default(model), entry.name);
}

}  // namespace

TEST_CASE("simulation: single steps have the bits of a rollout") {
    const auto model = falling_bodies();
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        const ContactSetup contact = setup_of(*model, entry);
        const Trajectory whole = rollout(model, model->default_parameters(),
                                         {.state0 = thrown(*model), .controls = RowMatrix::Zero(25, 0)}, {}, contact);
        REQUIRE(whole.converged());
        Simulation simulation(model, model->default_parameters(), contact, {});
        simulation.reset(thrown(*model));
        for (int step = 0; step < 25; ++step) {
            const StepReport& report = simulation.step({.control = VectorXd(0), .script = VectorXd(0)});
            CHECK(report.iterations == whole.reports[static_cast<std::size_t>(step)].iterations);
            REQUIRE(simulation.state().q == whole.state(step + 1).q);
            REQUIRE(simulation.state().v == whole.state(step + 1).v);
        }
        CHECK(simulation.num_steps() == 25);
        CHECK(simulation.time() == doctest::Approx(0.25));
    }
}

TEST_CASE("simulation: one that takes up a snapshot goes on bit for bit, warm starts included") {
    const auto model = falling_bodies();
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        const ContactSetup contact = setup_of(*model, entry);
        Simulation first(model, model->default_parameters(), contact, {});
        first.reset(thrown(*model));
        for (int step = 0; step < 12; ++step) static_cast<void>(first.step({.control = VectorXd(0)}));
        const SimulationSnapshot snapshot = first.snapshot();
        Simulation second(model, model->default_parameters(), contact, {});
        second.restore(snapshot);
        CHECK(second.time() == first.time());
        for (int step = 0; step < 12; ++step) {
            const int iterations = first.step({.control = VectorXd(0)}).iterations;
            CHECK(second.step({.control = VectorXd(0)}).iterations == iterations);
            REQUIRE(second.state().q == first.state().q);
            REQUIRE(second.state().v == first.state().v);
        }
        first.restore(snapshot);  // back in time
        CHECK(first.num_steps() == 12);
    }
}

TEST_CASE("simulation: contacts of a resting box carry its weight under its centre") {
    farfield::Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", {0.1, 0.08, 0.05}, 2.0, {0.3, -0.2, 0.055});
    const auto model = build_model(scene);
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Simulation simulation(model, model->default_parameters(), setup_of(*model, entry), {});
        for (int step = 0; step < 300; ++step)
            REQUIRE(simulation.step({.control = VectorXd(0)}).status == StepStatus::Converged);
        const std::vector<ContactForce> contacts = simulation.contacts();
        REQUIRE(contacts.size() == 1);
        const ContactForce& c = contacts.front();
        CHECK(c.a == 0);
        CHECK(c.b == 1);
        CHECK(c.normal_force == doctest::Approx(2.0 * 9.81).epsilon(1e-3));
        CHECK(c.normal.z() == doctest::Approx(-1.0).epsilon(1e-6));  // the ground, body a, is pushed down
        CHECK((c.point - Vector3d(0.3, -0.2, c.point.z())).norm() < 1e-4);
        CHECK(c.gap > 0.0);
        CHECK(c.point.z() == doctest::Approx(0.5 * c.gap).epsilon(1e-6));
        CHECK(c.friction.norm() < 1e-3);
        CHECK_FALSE(simulation.find_intersection().has_value());
    }
}

TEST_CASE("simulation: friction on a sliding box is Coulomb's, against the motion, and momenta balance") {
    farfield::Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", {0.1, 0.1, 0.02}, 1.0, {0.0, 0.0, 0.022});
    const auto model = build_model(scene);
    Parameters parameters = model->default_parameters();
    parameters.friction.setConstant(0.3);
    State start = model->default_state();
    start.v[0] = 2.0;
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Simulation simulation(model, parameters, setup_of(*model, entry), {});
        simulation.reset(start);
        for (int step = 0; step < 30; ++step)
            REQUIRE(simulation.step({.control = VectorXd(0)}).status == StepStatus::Converged);
        const double before = simulation.state().v[0];
        REQUIRE(before > 0.5);
        static_cast<void>(simulation.step({.control = VectorXd(0)}));
        const ContactForce c = simulation.contacts().front();
        CHECK(-c.friction.x() == doctest::Approx(-0.3 * c.normal_force).epsilon(0.02));  // on the box, body b
        CHECK(-c.force.x() * 0.01 == doctest::Approx(simulation.state().v[0] - before).epsilon(1e-6));
    }
}

TEST_CASE("simulation: what cannot be done is refused by name") {
    const auto model = falling_bodies();
    Simulation simulation(model, model->default_parameters(),
                          make_contact_setup(*model, contact_cases().front().make_default(*model), "longrange"),
                          {.dt = 0.01, .max_iterations = 1});
    CHECK_THROWS_WITH_AS(static_cast<void>(simulation.step({.control = VectorXd::Zero(2)})),
                         "step: control has 2 entries, expected 0", std::invalid_argument);
    State crossing = model->default_state();
    crossing.q[2] = 0.0;
    CHECK_THROWS_AS(simulation.reset(crossing), std::invalid_argument);
    simulation.reset(thrown(*model));
    StepStatus status = StepStatus::Converged;
    for (int step = 0; step < 20 && status == StepStatus::Converged; ++step)
        status = simulation.step({.control = VectorXd(0)}).status;
    REQUIRE(status != StepStatus::Converged);
    CHECK_THROWS_AS(static_cast<void>(simulation.step({.control = VectorXd(0)})), std::invalid_argument);
    simulation.reset(thrown(*model));
    static_cast<void>(simulation.step({.control = VectorXd(0)}));
    SimulationSnapshot foreign = simulation.snapshot();
    foreign.memory.push_back(1.0);
    CHECK_THROWS_AS(simulation.restore(foreign), std::invalid_argument);
}

}  // namespace farfield
