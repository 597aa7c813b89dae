// SPDX-License-Identifier: Apache-2.0
/// @file  Explicit steps: exact derivatives on a tree with every joint, orders of accuracy, and pushing a T under the soft-minimum law.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/softmin/push_scene.hpp"
#include "farfield/contact/softmin/softmin.hpp"
#include "farfield/dynamics/explicit_step.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/simulation.hpp"
#include "farfield/dynamics/stable_step.hpp"
#include "farfield/dynamics/step_jacobian.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/io/simulation_file.hpp"
#include "farfield/io/trajectory_file.hpp"
#include "support/derivative_check.hpp"
#include "support/error_text.hpp"
#include "support/test_scenes.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::softmin::SoftminOptions;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

ContactSetup softmin_setup(const Model& model, const SoftminOptions& options) {
    return make_contact_setup(model, contact::make_contact_model(model, options), contact_to_json(options));
}

/// A finger that starts just below the stem and pushes up and a little to the side.
RolloutInput push_input(const Model& model, int steps) {
    RolloutInput input{.state0 = model.default_state()};
    input.state0.q[2] = 0.0235;
    input.state0.q[7] = 0.008;
    input.state0.q[8] = -0.1375 - 0.0205 + 0.22;
    input.controls.resize(steps, 2);
    for (int k = 0; k < steps; ++k) input.controls.row(k) << 0.008 + 2e-5 * k, -0.1375 - 0.02 + 0.22 + 1.5e-4 * k;
    return input;
}

/// Sum of fixed random numbers times all states, and its partials.
struct RandomLoss {
    RowMatrix q, v;
    RandomLoss(Random& random, const Trajectory& t)
        : q(t.q.rows(), t.model->num_dofs()), v(t.v.rows(), t.model->num_dofs()) {
        for (double& x : q.reshaped()) x = normal(random);
        for (double& x : v.reshaped()) x = normal(random);
    }
    [[nodiscard]] double operator()(const Trajectory& reference, const Trajectory& t) const {
        double sum = 0.0;
        VectorXd delta;
        for (Eigen::Index k = 0; k < q.rows(); ++k) {
            difference(*t.model, reference.q.row(k).transpose(), t.q.row(k).transpose(), delta);
            sum += q.row(k).dot(delta) + v.row(k).dot(t.v.row(k));
        }
        return sum;
    }
    [[nodiscard]] LossPartials partials() const { return {view(q), view(v)}; }
};

struct Change {
    VectorXd q0, v0, controls, parameters;
};

/// Gradient of a random loss against differences along one direction in everything at once.
DerivativeReport check_rollout(const std::shared_ptr<const Model>& model, const RolloutInput& input,
                               const StepOptions& options, const ContactSetup& contact, Random& random,
                               const Parameters& parameters, const Parameters& along, double scale) {
    const Trajectory t = rollout(model, parameters, input, options, contact);
    REQUIRE(t.converged());
    const RandomLoss loss(random, t);
    const RolloutGradient gradient = rollout_vjp(t, loss.partials());
    VectorXd dq = model->reduction().identity
                      ? normal_vector(random, model->num_dofs())
                      : VectorXd(model->reduction().E * normal_vector(random, model->num_unknowns()));
    VectorXd dv = model->reduction().identity
                      ? normal_vector(random, model->num_dofs())
                      : VectorXd(model->reduction().E * normal_vector(random, model->num_unknowns()));
    RowMatrix du(input.controls.rows(), input.controls.cols());
    for (double& x : du.reshaped()) x = normal(random);
    const double analytic = gradient.q0.dot(dq) + gradient.v0.dot(dv) + (gradient.controls.array() * du.array()).sum() +
                            dot(gradient.parameters, along);
    const auto value = [&](double h) {
        RolloutInput other = input;
        retract(*model, input.state0.q, h * dq, other.state0.q);
        other.state0.v += h * dv;
        other.controls += h * du;
        Parameters changed = parameters;
        add_scaled(changed, h, along);
        return VectorXd(VectorXd::Constant(1, loss(t, rollout(model, changed, other, options, contact))));
    };
    return check_ladder([&](double h) { return std::pair(value(h), value(-h)); }, VectorXd::Constant(1, analytic),
                        {.scale = scale});
}

/// A direction in all parameters that keeps masses positive.
Parameters direction_of(const Model& model, Random& random, double contact) {
    Parameters along = zero_parameters(model);
    visit_fields(along, [&](const auto& field, auto& values) {
        if (std::string_view(field.name) == "hull_vertices") return;
        const auto base = entries(model.default_parameters().*field.member);
        auto numbers = entries(values);
        for (Eigen::Index k = 0; k < numbers.size(); ++k) numbers[k] = 0.3 * base[k] * normal(random);
    });
    along.contact_stiffness = contact * normal(random);
    along.friction *= contact;
    along.attachment.setZero();
    for (Eigen::Index k = 1; k < along.attachment.rows(); ++k)
        along.attachment.row(k) = 0.05 * normal_vector(random, 3).transpose();
    return along;
}

}  // namespace

TEST_CASE("explicit step: gradients through a tree with every joint, tie and actuator agree with differences") {
    for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
        for (const bool free_root : {true, false}) {
            CAPTURE(free_root);
            const auto model = build_model(zoo(5, free_root));
            Random random(21);
            RolloutInput input{.state0 = model->default_state()};
            input.state0.v = model->reduction().identity
                                 ? normal_vector(random, model->num_dofs())
                                 : VectorXd(model->reduction().E * normal_vector(random, model->num_unknowns()));
            input.controls.resize(12, model->num_controls());
            for (double& x : input.controls.reshaped()) x = 0.3 * normal(random);
            for (int round = 0; round < 3; ++round) {
                const DerivativeReport report =
                    check_rollout(model, input, {.dt = 0.004, .integrator = integrator}, {}, random,
                                  model->default_parameters(), direction_of(*model, random, 0.0), 0.1);
                CHECK_MESSAGE(report.passes(1e-6), report);
            }
        }
    }
}

TEST_CASE("explicit step: Runge-Kutta is of fourth order on rotations too, Euler of first") {
    const auto model = build_model(zoo(6));
    Random random(22);
    State start = model->default_state();
    start.v = model->reduction().identity
                  ? normal_vector(random, model->num_dofs())
                  : VectorXd(model->reduction().E * normal_vector(random, model->num_unknowns()));
    const auto end = [&](Integrator integrator, int steps) {
        RolloutInput input{.state0 = start, .controls = RowMatrix::Zero(steps, model->num_controls())};
        return rollout(model, model->default_parameters(), input, {.dt = 0.02 / steps, .integrator = integrator})
            .state(steps);
    };
    const State exact = end(Integrator::Rk4, 512);
    const auto error = [&](Integrator integrator, int steps) {
        const State found = end(integrator, steps);
        VectorXd delta;
        difference(*model, exact.q, found.q, delta);
        return std::hypot(delta.norm(), (exact.v - found.v).norm());
    };
    const double order4 = std::log2(error(Integrator::Rk4, 8) / error(Integrator::Rk4, 16));
    const double order1 = std::log2(error(Integrator::Euler, 64) / error(Integrator::Euler, 128));
    CHECK(order4 > 3.6);
    CHECK(order1 == doctest::Approx(1.0).epsilon(0.1));
}

TEST_CASE("explicit step: gradients of a push over 200 steps agree with differences to 1e-6") {
    const auto model = build_model(t_scene());
    for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
        SoftminOptions options = t_options(1);
        options.tolerance = 1e-15;
        const ContactSetup contact = softmin_setup(*model, options);
        Random random(23);
        Parameters along = direction_of(*model, random, 0.3);
        along.attachment.setZero();
        along.gravity *= 0.1;
        const RolloutInput input = push_input(*model, 200);
        Parameters parameters = model->default_parameters();
        parameters.friction[0] += 0.05;  // equal ones have no derivative
        const DerivativeReport report = check_rollout(model, input, {.dt = 0.002, .integrator = integrator}, contact,
                                                      random, parameters, along, 1e-3);
        CHECK_MESSAGE(report.passes(1e-6), report);
    }
}

TEST_CASE("explicit step: the Jacobian of one step holds every row of its gradients") {
    const auto model = build_model(t_scene());
    const ContactSetup contact = softmin_setup(*model, t_options(1));
    const Trajectory t = rollout(model, model->default_parameters(), push_input(*model, 40), {.dt = 0.002}, contact);
    REQUIRE(t.converged());
    const StepJacobian found = step_jacobian(t, 39);
    Random random(24);
    const int n = model->num_dofs();
    const DerivativeReport report = check_jacobian(
        [&](const VectorXd& x) {
            RolloutInput input{.state0 = t.state(39), .controls = t.controls.row(39)};
            retract(*model, t.state(39).q, x.head(n), input.state0.q);
            input.state0.v += x.segment(n, n);
            input.controls.row(0) += x.tail(2).transpose();
            const State next = rollout(model, t.parameters, input, t.options, contact).state(1);
            VectorXd out(2 * n), delta;
            difference(*model, t.state(40).q, next.q, delta);
            out << delta, next.v;
            return out;
        },
        VectorXd::Zero(2 * n + 2), (Eigen::MatrixXd(2 * n, 2 * n + 2) << found.A, found.B).finished(), {.scale = 1e-2},
        random);
    CHECK_MESSAGE(report.passes(), report);
}

TEST_CASE("explicit step: scripted bodies reach their targets, with gradients by the script") {
    Scene scene = t_scene();
    scene.bodies[2] =
        Body{.name = "finger", .position = {0.0, -0.1375 - 0.0205, 0.025}, .motion = BodyMotion::Kinematic};
    scene.actuators.clear();
    const auto model = build_model(scene);
    const ContactSetup contact = softmin_setup(*model, t_options(1));
    for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
        const StepOptions options{.dt = 0.002, .integrator = integrator};
        constexpr int kSteps = 10;
        RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix(kSteps, 0)};
        input.script.resize(kSteps, 7);
        for (int k = 0; k < kSteps; ++k)
            input.script.row(k) << 0.0, -0.1375 - 0.0205 + 3e-4 * (k + 1), 0.025, std::cos(0.01 * k), 0.0, 0.0,
                std::sin(0.01 * k);
        const Trajectory t = rollout(model, model->default_parameters(), input, options, contact);
        REQUIRE(t.converged());
        CHECK((t.q.row(kSteps).tail(7) - t.script.row(kSteps - 1)).norm() < 1e-14);
        Random random(25);
        const RandomLoss loss(random, t);
        const RolloutGradient gradient = rollout_vjp(t, loss.partials());
        RowMatrix along(kSteps, 6);
        for (double& x : along.reshaped()) x = normal(random);
        const auto value = [&](double h) {
            RolloutInput other = input;
            for (int k = 0; k < kSteps; ++k) {
                VectorXd q = t.q.row(k + 1).transpose(), step = VectorXd::Zero(model->num_dofs()), moved;
                step.tail(6) = h * along.row(k).transpose();
                retract(*model, q, step, moved);
                other.script.row(k) = moved.tail(7).transpose();
            }
            return VectorXd(VectorXd::Constant(1, loss(t, rollout(model, t.parameters, other, options, contact))));
        };
        const DerivativeReport report =
            check_ladder([&](double h) { return std::pair(value(h), value(-h)); },
                         VectorXd::Constant(1, (gradient.script.array() * along.array()).sum()), {.scale = 1e-3});
        CHECK_MESSAGE(report.passes(1e-6), report);
    }
}

TEST_CASE("explicit step: a push hardly depends on the step, and a T at rest stays") {
    const auto model = build_model(t_scene());
    const ContactSetup contact = softmin_setup(*model, t_options(3));
    const auto end = [&](double dt) {
        RolloutInput input = push_input(*model, static_cast<int>(std::lround(1.0 / dt)));
        for (Eigen::Index k = 0; k < input.controls.rows(); ++k)
            input.controls.row(k) << 0.008, -0.1375 - 0.02 + 0.22 + std::min(0.1 * dt * static_cast<double>(k), 0.06);
        const Trajectory t = rollout(model, model->default_parameters(), input, {.dt = dt}, contact);
        REQUIRE(t.converged());
        return t.state(t.num_steps());
    };
    const State fine = end(0.001), coarse = end(0.002);
    CHECK((fine.q - coarse.q).head<3>().norm() < 1e-3);
    const auto yaw = [](const State& s) { return 2.0 * std::atan2(s.q[6], s.q[3]); };
    CHECK(fine.q.head<2>().norm() > 0.03);
    CHECK(std::abs(yaw(fine) - yaw(coarse)) < 0.3 * 3.14159 / 180.0);

    RolloutInput rest{.state0 = model->default_state(), .controls = RowMatrix::Zero(500, 2)};
    rest.state0.q[2] = 0.024;
    const Trajectory still = rollout(model, model->default_parameters(), rest, {.dt = 0.002}, contact);
    CHECK(still.v.row(500).head<6>().norm() < 1e-6);
}

TEST_CASE("explicit step: steps that are too long are refused with the limit, deep penetration ends a rollout") {
    const auto model = build_model(t_scene());
    const ContactSetup contact = softmin_setup(*model, t_options(1));
    const double limit = stable_contact_step(*model, model->default_parameters(), *contact.law, Integrator::Euler);
    CHECK(limit > 0.008);
    CHECK(limit < 0.016);
    const RolloutInput input = push_input(*model, 3);
    const auto error = [&](double dt, Integrator integrator) {
        return error_of([&] {
            static_cast<void>(
                rollout(model, model->default_parameters(), input, {.dt = dt, .integrator = integrator}, contact));
        });
    };
    CHECK(contains(error(0.016, Integrator::Euler), "is unstable under this contact law, expected at most 0.01"));
    CHECK(error(0.016, Integrator::Rk4).empty());
    CHECK(contains(error(0.03, Integrator::Rk4), "unstable"));
    CHECK(contains(error(0.002, Integrator::Implicit), "expected 'euler' or 'rk4'"));

    RolloutInput deep = input;
    deep.state0.q[7] = 0.0;
    deep.state0.q[8] = 0.22;  // in the middle of the T
    const Trajectory t = rollout(model, model->default_parameters(), deep, {.dt = 0.002}, contact);
    REQUIRE(t.num_steps() == 1);
    CHECK(t.reports[0].status == StepStatus::Penetrating);
    CHECK(t.reports[0].min_gap < -0.01);
    CHECK_FALSE(t.converged());
}

TEST_CASE("explicit step: steps too long for springs, damping and drives of joints are refused with a sharp limit") {
    Scene scene;
    scene.gravity.setZero();
    const std::vector<Body> bodies = {
        Body{.name = "arm",
             .joints = {Joint{.name = "shoulder", .type = JointType::Ball, .damping = 0.05, .stiffness = 2.0}}},
        Body{.name = "hand",
             .parent = 1,
             .position = {0.3, 0.0, 0.0},
             .joints = {Joint{.name = "wrist",
                              .type = JointType::Hinge,
                              .axis = {0.0, 1.0, 0.0},
                              .damping = 0.02,
                              .armature = 1e-3}}},
        Body{.name = "cart", .joints = {Joint{.name = "rail", .type = JointType::Slide, .axis = {1.0, 0.0, 0.0}}}}};
    for (const Body& body : bodies) {
        scene.bodies.push_back(body);
        scene.bodies.back().moments = box_moments({0.1, 0.02, 0.03}, 1000.0);
    }
    scene.actuators = {Actuator{.name = "servo", .type = ActuatorType::Pd, .joint = "wrist", .kp = 3.0, .kd = 0.1}};
    for (const double kd : {0.0, 4.0, 60.0}) {  // of the cart: undamped, damped, overdamped
        Scene with = scene;
        with.actuators.push_back(
            Actuator{.name = "rail", .type = ActuatorType::Pd, .joint = "rail", .kp = 30.0, .kd = kd});
        const auto model = build_model(with);
        const Parameters& parameters = model->default_parameters();
        for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
            const double limit = stable_joint_step(*model, parameters, {}, integrator);
            const auto grows = [&](double dt) {
                StepContext context{.model = *model, .parameters = parameters};
                context.options.dt = dt;
                context.options.integrator = integrator;
                StepMemory memory = make_memory(context);
                ExplicitScratch scratch;
                const StepInput input{.control = VectorXd::Zero(model->num_controls())};
                State now = model->default_state(), next = now;
                now.v.setConstant(1e-9);
                for (int k = 0; k < 3000; ++k) {
                    if (explicit_step(context, now, input, memory, scratch, next).status != StepStatus::Converged)
                        return true;
                    std::swap(now, next);
                }
                return now.v.norm() > 1e-6;
            };
            CHECK_FALSE(grows(0.99 * limit));
            // a half disk is not all of the region of Runge-Kutta
            CHECK(grows((integrator == Integrator::Rk4 ? 1.1 : 1.01) * limit));
            const auto error = [&](double dt) {
                return error_of([&] {
                    RolloutInput input{.state0 = model->default_state(),
                                       .controls = RowMatrix::Zero(1, model->num_controls())};
                    static_cast<void>(rollout(model, parameters, input, {.dt = dt, .integrator = integrator}));
                });
            };
            CHECK(error(0.999 * limit).empty());
            CHECK(contains(error(1.001 * limit),
                           "is unstable under joint springs, damping and drives, expected at most"));
        }
    }
}

TEST_CASE("explicit step: saturating drives and dry friction act as in short implicit steps, with exact gradients") {
    Scene scene;
    const char* names[] = {"one", "two", "three"};
    for (int k = 0; k < 3; ++k) {
        scene.bodies.push_back(Body{.name = names[k],
                                    .parent = k,
                                    .position = {k ? 0.2 : 0.0, 0.0, 0.0},
                                    .joints = {Joint{.name = names[k],
                                                     .type = JointType::Hinge,
                                                     .axis = {0.0, 1.0, 0.0},
                                                     .damping = 0.02,
                                                     .friction = 0.05,
                                                     .friction_speed = 0.3}},
                                    .moments = box_moments({0.1, 0.02, 0.03}, 1000.0)});
    }
    scene.actuators = {
        Actuator{.name = "pd", .joint = "one", .kp = 40.0, .kd = 0.5, .gear = {1.5}, .force_range = Range{-3.0, 2.0}},
        Actuator{.name = "affine",
                 .type = ActuatorType::Affine,
                 .joint = "two",
                 .kp = 5.0,
                 .kd = 0.1,
                 .gear = {2.0},
                 .gain = 3.0,
                 .bias = 0.2,
                 .force_range = Range{-0.5, 0.8}},
        Actuator{.name = "motor",
                 .type = ActuatorType::Motor,
                 .joint = "three",
                 .gear = {0.7},
                 .force_range = Range{-0.2, 0.2}}};
    const auto model = build_model(scene);
    const Parameters& parameters = model->default_parameters();
    const auto motion = [&](Integrator integrator, int steps) {
        RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix(steps, model->num_controls())};
        for (int k = 0; k < steps; ++k) {
            const double t = 0.3 * k / steps;
            input.controls.row(k) << 0.4 * std::sin(20.0 * t), 1.0, std::sin(15.0 * t), 0.3 * std::cos(30.0 * t);
        }
        return std::pair(input, rollout(model, parameters, input, {.dt = 0.3 / steps, .integrator = integrator}));
    };
    const VectorXd exact = motion(Integrator::Rk4, 3000).second.state(3000).q;
    double before = 0.0;
    for (const int steps :
         {300, 600, 1200}) {  // implicit steps approach the explicit ones as fast as they are accurate
        const double error = (motion(Integrator::Implicit, steps).second.state(steps).q - exact).norm();
        CHECK((motion(Integrator::Euler, steps).second.state(steps).q - exact).norm() < 2.0 * error);
        if (before > 0.0) CHECK(error < 0.6 * before);
        before = error;
    }
    CHECK(before < 1e-2);
    CHECK(exact.norm() > 0.3);
    for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
        const RolloutInput input = motion(integrator, 100).first;
        Random random(29);
        Parameters along = direction_of(*model, random, 0.0);
        along.joint_friction = 0.02 * normal_vector(random, 3);
        const DerivativeReport report =
            check_rollout(model, input, {.dt = 0.003, .integrator = integrator}, {}, random, parameters, along, 1e-3);
        CHECK_MESSAGE(report.passes(1e-6), report);
    }
}

TEST_CASE("explicit step: a saved simulation goes on bit for bit, trajectories keep their law") {
    const auto model = build_model(t_scene());
    const ContactSetup contact = softmin_setup(*model, t_options(1));
    const StepOptions options{.dt = 0.002, .integrator = Integrator::Rk4};
    Simulation simulation(model, model->default_parameters(), contact, options);
    simulation.reset(push_input(*model, 1).state0);
    const StepInput input{.control = Eigen::Vector2d(0.01, 0.09)};
    for (int k = 0; k < 20; ++k) simulation.step(input);
    Simulation loaded = simulation_from_bytes(simulation_to_bytes(simulation));
    CHECK(loaded.options().integrator == Integrator::Rk4);
    for (int k = 0; k < 5; ++k) {
        simulation.step(input);
        loaded.step(input);
    }
    CHECK(simulation.state().q == loaded.state().q);
    CHECK_FALSE(simulation.contacts().empty());
    CHECK(simulation.contacts().front().normal_force > 1.0);
    const Trajectory t = rollout(model, model->default_parameters(), push_input(*model, 10), options, contact);
    const Trajectory again = trajectory_from_bytes(trajectory_to_bytes(t));
    REQUIRE(again.contact.law);
    Random random(26);
    const RandomLoss loss(random, t);
    CHECK(rollout_vjp(again, loss.partials()).q0 == rollout_vjp(t, loss.partials()).q0);
}
