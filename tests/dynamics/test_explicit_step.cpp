// SPDX-License-Identifier: Apache-2.0
/// @file  Explicit steps: exact derivatives on a tree with every joint, orders of accuracy, and pushing a T under the soft-minimum law.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/softmin/push_scene.hpp"
#include "farfield/contact/softmin/softmin.hpp"
#include "farfield/dynamics/explicit_step.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/simulation.hpp"
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
        const RolloutInput input = push_input(*model, integrator == Integrator::Rk4 ? 60 : 200);
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
    const double limit = stable_step(*model, model->default_parameters(), *contact.law, Integrator::Euler);
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
