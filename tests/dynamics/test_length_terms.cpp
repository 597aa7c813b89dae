// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/length_terms.hpp"

#include <doctest/doctest.h>

#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/step_problem.hpp"
#include "farfield/model/saturation.hpp"
#include "support/error_text.hpp"
#include "support/loops.hpp"
#include "support/one_step.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;
using testing::OneStep;

/// Three joints in a row, two tendons over them, drives of every kind with ranges, dry friction, a thruster, compensated weight.
Scene driven_chain() {
    Scene scene;
    scene.name = "driven chain";
    for (int k = 0; k < 3; ++k) {
        const std::string name = "link" + std::to_string(k);
        Body body{.name = name,
                  .parent = k,
                  .joints = {Joint{.name = name,
                                   .type = k == 1 ? JointType::Slide : JointType::Hinge,
                                   .axis = Eigen::Vector3d(0.2 * k, 1.0, 0.1),
                                   .damping = 0.05,
                                   .friction = 0.3}}};
        body.position = Eigen::Vector3d(0.2, 0.0, 0.05);
        body.moments = testing::rod_moments(0.5, 0.2);
        body.gravity_compensation = 0.4 * k;
        scene.bodies.push_back(body);
    }
    scene.tendons.push_back({.name = "spring",
                             .terms = {{"link0", 1.0}, {"link2", -0.5}},
                             .range = Range{-0.2, 0.2},
                             .limit_stiffness = 200.0,
                             .stiffness = 3.0,
                             .rest = Range{-0.02, 0.03},
                             .damping = 0.1,
                             .armature = 0.02,
                             .friction = 0.2});
    scene.tendons.push_back({.name = "drive", .terms = {{"link1", 0.8}, {"link2", 0.3}}});
    scene.actuators.push_back({.name = "servo",
                               .type = ActuatorType::Pd,
                               .kp = 20.0,
                               .kd = 1.0,
                               .gear = {2.0},
                               .velocity_input = false,
                               .tendon = "drive",
                               .force_range = Range{-1.5, 1.5}});
    scene.actuators.push_back({.name = "affine",
                               .type = ActuatorType::Affine,
                               .joint = "link0",
                               .kp = 4.0,
                               .kd = 0.3,
                               .gain = 2.5,
                               .bias = 0.1});
    scene.actuators.push_back({.name = "held",
                               .type = ActuatorType::Pd,
                               .joint = "link2",
                               .kp = 6.0,
                               .kd = 0.4,
                               .force_range = Range{-0.5, 0.5}});
    scene.actuators.push_back({.name = "pull",
                               .type = ActuatorType::Motor,
                               .gear = {0.7},
                               .control_range = Range{-1.0, 1.0},
                               .tendon = "spring"});
    scene.actuators.push_back({.name = "thrust",
                               .type = ActuatorType::Motor,
                               .gear = {0.3, -0.2, 1.0, 0.05, 0.02, -0.1},
                               .control_range = Range{0.0, 2.0},
                               .body = "link2",
                               .position = Eigen::Vector3d(0.2, 0.01, 0.02),
                               .orientation = Eigen::Quaterniond(exp_rotation({0.3, 0.1, -0.2}))});
    return scene;
}

TEST_CASE("saturation: exact inside and outside, continuous slope, the mean is the integral") {
    const Range range{-1.0, 3.0};
    const double w = kSaturationWidth * 4.0;
    CHECK(saturate(range, 2.9).value == 2.9);
    CHECK(saturate(range, 3.0 + w).value == 3.0);
    CHECK(saturate(range, 100.0).slope == 0.0);
    CHECK(saturate(range, -1.0 - w).value == -1.0);
    CHECK(std::abs(saturate(range, 3.0).value - 3.0) <= w / 4.0 * (1.0 + 1e-12));
    for (const double at : {3.0 - w, 3.0 + w, 3.0, -1.0 + w, -1.0 - w, -1.0 + 0.3 * w}) {
        const double h = 1e-9;
        CHECK(saturate(range, at + h).slope == doctest::Approx(saturate(range, at - h).slope).epsilon(1e-6));
        CHECK((saturate(range, at + h).value - saturate(range, at - h).value) / (2.0 * h) ==
              doctest::Approx(saturate(range, at).slope).epsilon(1e-4));
    }
    for (const auto& [from, to] :
         {std::pair(-5.0, 5.0), std::pair(2.99, 3.5), std::pair(3.2, 1.0), std::pair(0.5, 0.7)}) {
        double sum = 0.0;
        const int n = 400000;
        for (int k = 0; k < n; ++k) sum += saturate(range, from + (to - from) * (k + 0.5) / n).value / n;
        CHECK(mean_saturated(range, from, to) == doctest::Approx(sum).epsilon(1e-8));
    }
    const Range half{-std::numeric_limits<double>::infinity(), 2.0};
    CHECK(saturate(half, -1e9).value == -1e9);
    CHECK(saturate(half, 5.0).value == 2.0);
}

TEST_CASE("lengths: gradient and Hessian of a step with tendons, ranges, dry friction and thrust") {
    const std::shared_ptr<const Model> model = build_model(driven_chain());
    Random random(11);
    for (int round = 0; round < 12; ++round) {
        const double fast = round % 3 == 0   ? 1e-5
                            : round % 3 == 1 ? 5e-5
                                             : 5e-3;  // within, at and above the smoothing speeds
        State now = model->default_state();
        now.q = (round % 2 ? 0.5 : 0.05) * normal_vector(random, model->num_q());
        now.v = normal_vector(random, model->num_dofs());
        const VectorXd control = normal_vector(random, model->num_controls());
        const VectorXd next = now.q + fast * normal_vector(random, model->num_dofs());
        const StepContext context{*model, model->default_parameters(), nullptr, nullptr, {.dt = 0.01}};
        StepMemory memory = make_memory(context);
        StepProblem problem;
        problem.begin(context, now, {control, {}}, memory);
        problem.linearize(next);
        const VectorXd gradient = problem.linearization().gradient;
        const Eigen::MatrixXd hessian = problem.linearization().hessian.to_dense();
        const auto energy = [&](const VectorXd& q) { return problem.energy(q); };
        const auto first = testing::check_gradient(energy, next, gradient, {.scale = 1e-3}, random);
        CHECK_MESSAGE(first.passes(1e-6), first);
        const auto slope = [&](const VectorXd& q) {
            problem.linearize(q);
            return problem.linearization().gradient;
        };
        const VectorXd direction = testing::random_direction(random, model->num_dofs());
        const VectorXd expected = hessian * direction;
        const auto second = testing::check_ladder(
            [&](double h) { return std::pair(slope(next + h * direction), slope(next - h * direction)); }, expected,
            {.scale = 1e-4});
        CHECK_MESSAGE(second.passes(1e-5), second);
    }
}

TEST_CASE("lengths: exact Jacobians of a step by state, control and parameters") {
    for (const double speed : {3e-3, 0.5}) {  // sticking and sliding
        OneStep one(driven_chain());
        Random random(5);
        one.start.q = 0.1 * normal_vector(random, one.model->num_q());
        one.start.v = speed * normal_vector(random, one.model->num_dofs());
        one.control = 0.4 * normal_vector(random, one.model->num_controls());
        one.control[one.control.size() - 1] = 0.7;
        one.first = 1e-4;
        testing::check_all(one, {"kp", "kd", "joint_friction", "gravity", "attachment"}, 3e-6);
    }
}

TEST_CASE("lengths: a motor beyond its range pushes as one at its range, without a gradient") {
    OneStep one(driven_chain());
    const int pull = one.model->actuators()[3].control;
    one.control[pull] = 5.0;
    const Trajectory beyond = one.run();
    const StepJacobian J = step_jacobian(beyond, 0);
    CHECK(J.B.col(pull).norm() == 0.0);
    one.control[pull] = 1.0 + 3.0 * kSaturationWidth;
    CHECK(one.run().q == beyond.q);
}

TEST_CASE("lengths: dry friction holds what is pushed less, and lets go of what is pushed more") {
    Scene scene;
    scene.gravity.setZero();
    scene.bodies.push_back(
        {.name = "slider",
         .joints = {Joint{.name = "slide", .type = JointType::Slide, .friction = 2.0, .friction_speed = 1e-3}},
         .moments = testing::rod_moments(1.0, 0.1)});
    scene.actuators.push_back({.name = "push", .type = ActuatorType::Motor, .joint = "slide"});
    const std::shared_ptr<const Model> model = build_model(scene);
    const auto reached = [&](double force) {
        RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Constant(100, 1, force)};
        const Trajectory t = rollout(model, model->default_parameters(), input, {.dt = 0.01}, {});
        REQUIRE(t.converged());
        return t.v(100, 0);
    };
    CHECK(reached(1.9) < 1e-3);
    CHECK(reached(1.9) > 0.0);
    CHECK(reached(5.0) == doctest::Approx(3.0).epsilon(1e-6));  // (5 - 2) N on 1 kg for 1 s
}

TEST_CASE("lengths: a thruster lifts along its own axis") {
    Scene scene;
    scene.gravity.setZero();
    Body body{.name = "drone", .joints = {Joint{.name = "free", .type = JointType::Free}}};
    body.moments =
        moments_from_inertia(2.0, Eigen::Vector3d::Zero(), Eigen::Vector3d(0.1, 0.1, 0.1).asDiagonal(), "drone");
    body.orientation = Eigen::Quaterniond(exp_rotation({0.5, 0.0, 0.0}));
    scene.bodies.push_back(body);
    scene.actuators.push_back({.name = "up", .type = ActuatorType::Motor, .gear = {0, 0, 1, 0, 0, 0}, .body = "drone"});
    const std::shared_ptr<const Model> model = build_model(scene);
    RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Constant(50, 1, 4.0)};
    const Trajectory t = rollout(model, model->default_parameters(), input, {.dt = 0.01}, {});
    REQUIRE(t.converged());
    const Eigen::Vector3d expected = exp_rotation({0.5, 0.0, 0.0}) * Eigen::Vector3d(0, 0, 1.0);  // 2 m/s^2 for 0.5 s
    CHECK((t.v.row(50).head<3>().transpose() - expected).norm() < 1e-9);
}

TEST_CASE("lengths: what explicit steps do not know they refuse by name") {
    const std::shared_ptr<const Model> model = build_model(driven_chain());
    RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Zero(1, model->num_controls())};
    StepOptions options{.dt = 0.001};
    options.integrator = Integrator::Euler;
    CHECK_THROWS_WITH_AS((void)rollout(model, model->default_parameters(), input, options, {}),
                         doctest::Contains("tendon 'spring'"), std::invalid_argument);
}

}  // namespace
}  // namespace farfield
