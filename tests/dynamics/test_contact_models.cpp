// SPDX-License-Identifier: Apache-2.0
/// @file  What a rollout under every contact model must keep: nothing crosses, nothing passes through.
#include <doctest/doctest.h>

#include <algorithm>

#include "contact/contact_models.hpp"
#include "support/contact_rollouts.hpp"
#include "support/crossing.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::Vector3d;

/// Convex solids thrown onto the ground and onto each other, with spin.
farfield::Scene heap() {
    farfield::Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", {0.1, 0.08, 0.05}, 1.0, {0.0, 0.0, 0.1});
    add_free_mesh(scene, "ball", make_sphere(0.08, 0), {0.02, 0.01, 0.3});
    add_free_mesh(scene, "roller", make_cylinder(0.05, 0.12, 6), {0.05, -0.03, 0.55});
    add_free_box(scene, "plank", {0.2, 0.05, 0.005}, 0.3, {-0.02, 0.0, 0.75});
    add_free_mesh(scene, "tetrahedron", make_tetrahedron(0.1), {0.0, 0.02, 0.9});
    return scene;
}

/// A plate, 1 mm thick and too heavy in rotation to be turned away, and a small ball that flies at it.
farfield::Scene plate_and_ball() {
    farfield::Scene scene;
    scene.gravity.setZero();
    add_free_mesh(scene, "plate", make_box({0.5, 0.4, 5e-4}), Vector3d::Zero());
    scene.bodies.back().moments->second = 1e4 * Eigen::Matrix3d::Identity();
    add_free_mesh(scene, "ball", make_sphere(0.05, 0), {0.02, 0.01, 0.3});
    return scene;
}

Trajectory thrown(const std::shared_ptr<const Model>& model, const ContactSetup& contact, State start, int steps) {
    return rollout(model, model->default_parameters(),
                   {.state0 = std::move(start), .controls = RowMatrix::Zero(steps, 0)}, {.dt = 0.01, .tolerance = 1e-6},
                   contact);
}

std::string how_it_ended(const Trajectory& t) {
    const StepReport& last = t.reports.back();
    return std::string(to_string(last.status)) + " at step " + std::to_string(t.num_steps()) + ", residual " +
           std::to_string(last.residual) + " after " + std::to_string(last.iterations) + " iterations";
}

/// Poses a fraction of the way from one state to the next.
Poses between(const Trajectory& t, int step, double share) {
    Eigen::VectorXd delta, q;
    difference(*t.model, t.q.row(step).transpose(), t.q.row(step + 1).transpose(), delta);
    retract(*t.model, t.q.row(step).transpose(), share * delta, q);
    Kinematics kinematics;
    forward_kinematics(*t.model, t.parameters, q, kinematics);
    return kinematics.poses;
}

}  // namespace

// What is certified between two states is the way Newton's method took. The straight line is another one: bodies that roll over each
// other's edges do cross on it now and then.
TEST_CASE("contact models: a heap of thrown bodies never crosses") {
    const auto model = build_model(heap());
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        const ContactSetup contact = make_contact_setup(*model, entry.make_default(*model), entry.name);
        Random random(1);
        State start = model->default_state();
        start.v = 2.0 * normal_vector(random, start.v.size());
        for (Eigen::Index body = 0; body < 5; ++body) start.v[6 * body + 2] = -2.0 * static_cast<double>(body);
        const Trajectory t = thrown(model, contact, start, 40);
        CHECK_MESSAGE(t.converged(), how_it_ended(t));
        double closest = 1.0;
        for (int step = 0; step < t.num_steps(); ++step) {
            const double gap = t.reports[static_cast<std::size_t>(step)].min_gap;
            CHECK(gap > 0.0);
            closest = std::min(closest, gap);
            CHECK_FALSE(any_crossing(model->collision(), poses_of(t, step + 1)));
        }
        CHECK(closest < 0.01);  // they did meet
        MESSAGE(entry.name, ": smallest certified gap ", closest, " m");
    }
}

TEST_CASE("contact models: the exact test finds what it is to find") {
    const auto model = build_model(heap());
    Poses poses = poses_of(thrown(model, {}, model->default_state(), 1), 0);
    CHECK_FALSE(any_crossing(model->collision(), poses));
    poses[2].position = poses[1].position + Vector3d(0.1, 0.0, 0.0);
    CHECK(any_crossing(model->collision(), poses));
    poses[2].position.z() = 0.01;  // into the ground, away from the box
    poses[2].position.x() += 1.0;
    CHECK(any_crossing(model->collision(), poses));
    const Trajectory falling = thrown(model, {}, model->default_state(), 40);  // without contact
    CHECK(any_crossing(model->collision(), poses_of(falling, 40)));
}

TEST_CASE("contact models: a fast ball does not pass a thin plate, and without the filter it does") {
    const auto model = build_model(plate_and_ball());
    State start = model->default_state();
    start.v[8] = -60.0;  // 0.6 m in one step
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        ContactSetup contact = make_contact_setup(*model, entry.make_default(*model), entry.name);
        const Trajectory t = thrown(model, contact, start, 4);
        CHECK_MESSAGE(t.converged(), how_it_ended(t));
        double shortest = 1.0;
        for (int step = 0; step < t.num_steps(); ++step) {
            const StepReport& report = t.reports[static_cast<std::size_t>(step)];
            CHECK(report.min_gap > 0.0);
            shortest = std::min(shortest, report.shortest_step);
            for (const double share : {0.25, 0.5, 0.75, 1.0}) {
                const Poses poses = between(t, step, share);
                CHECK((poses[1].inverse() * poses[2].position).z() > 0.0);
                CHECK_FALSE(any_crossing(model->collision(), poses));
            }
        }
        MESSAGE(entry.name, ": shortest step ", shortest);
        CHECK(shortest < 1.0);  // the filter had to act
        contact.filter = nullptr;
        if (entry.far) continue;  // feels the plate from where it starts
        const Trajectory unfiltered = thrown(model, contact, start, 4);
        const Poses last = poses_of(unfiltered, unfiltered.num_steps());
        CHECK((last[1].inverse() * last[2].position).z() < 0.0);
    }
}

}  // namespace farfield
