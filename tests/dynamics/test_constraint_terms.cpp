// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/constraint_terms.hpp"

#include <doctest/doctest.h>

#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/simulation.hpp"
#include "farfield/model/constraint_projection.hpp"
#include "support/loops.hpp"
#include "support/one_step.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::OneStep;

double worst_residual(const Trajectory& t) {
    double worst = 0.0;
    for (const StepReport& report : t.reports) worst = std::max(worst, report.constraint_residual);
    return worst;
}

Trajectory run(const Scene& scene, int steps, double dt, double push = 0.0) {
    const std::shared_ptr<const Model> model = build_model(scene);
    RolloutInput input{.state0 = model->default_state()};
    input.controls = RowMatrix::Zero(steps, model->num_controls());
    for (int k = 0; k < steps; ++k) {
        input.controls.row(k) = model->default_control().transpose();
        for (int c = 0; c < model->num_controls(); ++c) input.controls(k, c) += push * std::sin(0.1 * k + c);
    }
    return rollout(model, model->default_parameters(), input, {.dt = dt}, {});
}

TEST_CASE("constraint: values, Jacobian and curvature by body twists, inside and far outside") {
    Random random(3);
    for (const ConstraintType type : {ConstraintType::Connect, ConstraintType::Weld}) {
        ModelConstraint c{.name = "c", .type = type, .a = 1, .b = 2};
        c.anchor_a = normal_vector(random, 3);
        c.anchor_b = normal_vector(random, 3);
        c.orientation = random_rotation(random);
        c.num_rows = type == ConstraintType::Weld ? 6 : 3;
        Poses poses(3);
        for (std::size_t i = 1; i < 3; ++i) poses[i] = {random_rotation(random), normal_vector(random, 3)};
        if (type == ConstraintType::Weld)
            poses[2].rotation = poses[1].rotation * c.orientation * exp_rotation({0.3, -0.2, 0.1});
        const auto moved = [&](const VectorXd& xi) {
            Poses out = poses;
            for (int i = 0; i < 2; ++i) {
                Pose& pose = out[static_cast<std::size_t>(i + 1)];
                pose.position += xi.segment<3>(6 * i);
                pose.rotation = exp_rotation(xi.segment<3>(6 * i + 3)) * pose.rotation;
            }
            return out;
        };
        const VectorXd f = normal_vector(random, c.num_rows);
        const auto weighted = [&](const VectorXd& xi) { return f.dot(constraint_value(c, moved(xi), {})); };
        const VectorXd gradient = constraint_jacobian(c, poses).transpose() * f;
        const testing::DerivativeReport first =
            testing::check_gradient(weighted, VectorXd::Zero(12), gradient, {}, random);
        CHECK_MESSAGE(first.passes(), first);
        const VectorXd xi = testing::random_direction(random, 12);
        const double bend = xi.dot(constraint_curvature(c, poses, f) * xi);
        const double h = 1e-4,
                     numeric = (weighted(h * xi) - 2.0 * weighted(VectorXd::Zero(12)) + weighted(-h * xi)) / (h * h);
        CHECK(numeric == doctest::Approx(bend).epsilon(1e-5));
        CHECK(std::abs(bend) > 1e-2);
    }
}

TEST_CASE("constraint: a weld that agrees is zero, one that does not is the sine of its angle") {
    ModelConstraint c{.name = "c", .type = ConstraintType::Weld, .a = 0, .b = 1};
    c.anchor_a = c.anchor_b = Vector3d(0.1, 0.2, 0.3);
    c.orientation = exp_rotation({0.4, 0.5, 0.6});
    c.num_rows = 6;
    Poses poses(2);
    poses[1].rotation = c.orientation;
    poses[1].position = c.anchor_a - c.orientation * c.anchor_b;
    CHECK(constraint_value(c, poses, {}).norm() < 1e-15);
    poses[1].rotation = exp_rotation({0.0, 0.2, 0.0}) * c.orientation;
    CHECK(constraint_value(c, poses, {}).tail<3>().norm() == doctest::Approx(std::sin(0.2)));
}

TEST_CASE("constraint: loops stay closed to 1e-8") {
    for (const auto& [scene, push] : {std::pair(testing::four_bar(), 0.8), std::pair(testing::stewart(), 0.02),
                                      std::pair(testing::welded_and_coupled(), 0.0)}) {
        const Trajectory t = run(scene, 200, 0.01, push);
        INFO(scene.name);
        REQUIRE(t.converged());
        CHECK(worst_residual(t) <= 1e-8);
        CHECK(worst_residual(t) > 0.0);
        CHECK((t.q.row(200) - t.q.row(0)).norm() > 1e-2);
        double iterations = 0.0;
        for (const StepReport& report : t.reports) iterations += report.iterations;
        CHECK(iterations / 200.0 < 12.0);
    }
}

TEST_CASE("constraint: a four-bar without friction keeps its energy to first order") {
    Scene scene = testing::four_bar();
    for (Body& body : scene.bodies) {
        for (Joint& joint : body.joints) joint.damping = 0.0;
    }
    scene.actuators.clear();
    const auto loss = [&](double dt) {
        const int steps = static_cast<int>(std::lround(0.4 / dt));
        const Trajectory t = run(scene, steps, dt);
        REQUIRE(t.converged());
        const auto energy = [&](int k) {
            return t.reports[static_cast<std::size_t>(k)].kinetic + t.reports[static_cast<std::size_t>(k)].potential;
        };
        return std::abs(energy(steps - 1) - energy(0));
    };
    const double coarse = loss(2e-3), fine = loss(1e-3);
    CHECK(fine < 0.62 * coarse);
    CHECK(fine > 0.38 * coarse);
}

TEST_CASE("constraint: exact Jacobians of a step, a redundant row and attachments included") {
    for (const Scene& scene : {testing::four_bar(), testing::stewart(), testing::welded_and_coupled()}) {
        INFO(scene.name);
        OneStep one(scene);
        one.first = 4e-5;
        one.options.tolerance = 1e-12;
        Random random(5);
        one.start.v = 0.5 * normal_vector(random, one.model->num_dofs());
        one.start = project_onto_constraints(*one.model, one.parameters, one.start).state;
        if (one.control.size()) one.control += 0.01 * normal_vector(random, one.control.size());
        // the hinges of a four-bar are parallel: shifted across its plane it would not close
        const bool flat = scene.name == "four bar";
        testing::check_all(one, {flat ? "attachment[coupler].x" : "attachment", "damping", "gravity"}, 2e-6);
    }
}

TEST_CASE("constraint: a mocap body that drags another by a weld passes gradients to the script") {
    Scene scene;
    scene.bodies.push_back({.name = "hand", .motion = BodyMotion::Kinematic});
    Body box{.name = "box", .joints = {Joint{.name = "box", .type = JointType::Free}}};
    box.moments = moments_from_inertia(1.0, Vector3d(0.01, 0.0, 0.02), Vector3d(0.01, 0.02, 0.025).asDiagonal(), "box");
    scene.bodies.push_back(box);
    Body arm{.name = "arm",
             .parent = 2,
             .joints = {Joint{.name = "arm", .type = JointType::Hinge, .axis = Vector3d::UnitY()}}};
    arm.moments = testing::rod_moments(0.3, 0.2);
    scene.bodies.push_back(arm);
    scene.constraints.push_back({.name = "grip", .type = ConstraintType::Weld, .body = "hand", .other = "box"});
    OneStep one(scene);
    one.first = 4e-5;
    one.options.tolerance = 1e-12;
    Random random(7);
    one.script = one.start.q.segment<7>(0);
    one.script = one.script_moved(0.01 * normal_vector(random, 6));
    testing::check_all(one, {"gravity"}, 2e-6);
    const Trajectory t = one.run();
    CHECK((t.q.row(1).segment<3>(0) - t.q.row(1).segment<3>(7)).norm() < 1e-8);
}

TEST_CASE("constraint: a state off the loop is projected, a broken start is refused by name") {
    Scene scene = testing::four_bar();
    scene.bodies[3].joints[0].reference = 0.0;
    const std::shared_ptr<const Model> model = build_model(scene);
    State start = model->default_state();
    CHECK(model->warnings().empty());
    start.q[0] += 0.2;
    const ProjectedState found = project_onto_constraints(*model, model->default_parameters(), start);
    CHECK(found.residual_before > 1e-2);
    CHECK(found.residual_after < 1e-12);
    CHECK(found.worst == "pin");
    CHECK(found.moved > 1e-3);
    Simulation simulation(model, model->default_parameters(), {}, {});
    CHECK_THROWS_WITH_AS(simulation.reset(start), doctest::Contains("constraint 'pin' is broken by"),
                         std::invalid_argument);
    simulation.reset(found.state);
    CHECK(simulation.step({VectorXd::Zero(1), {}}).status == StepStatus::Converged);
    CHECK(simulation.last_report().constraint_residual <= 1e-8);
}

}  // namespace
}  // namespace farfield
