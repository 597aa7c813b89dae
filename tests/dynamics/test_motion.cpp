// SPDX-License-Identifier: Apache-2.0
/// @file  Momentum, energy and convergence of contact-free motion.
#include <doctest/doctest.h>

#include <cmath>

#include "support/motion.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::check_first_order;
using testing::mass_times_center;
using testing::momenta;
using testing::Momenta;
using testing::simulate;

Moments rod(double mass, const Vector3d& half) {  // a box from the origin to 2 half
    const Vector3d square = half.cwiseAbs2();
    const Eigen::Matrix3d inertia =
        mass / 3.0 * (square.sum() * Eigen::Matrix3d::Identity() - Eigen::Matrix3d(square.asDiagonal()));
    return moments_from_inertia(mass, Vector3d(0.0, 0.0, -half.z()), inertia, "rod");
}

Scene tumbling_scene(std::uint64_t seed = 11) {
    Random random(seed);
    Scene scene;
    scene.gravity.setZero();
    Body body = testing::random_body(random, "stone", 0);
    body.joints.push_back({.name = "free", .type = JointType::Free});
    scene.bodies.push_back(body);
    return scene;
}

/// Hinges in a row, hanging down; axes turn from link to link.
Scene chain_scene(const std::vector<Vector3d>& axes, double length = 0.4) {
    Scene scene;
    for (std::size_t k = 0; k < axes.size(); ++k) {
        Body link{.name = "link " + std::to_string(k), .parent = static_cast<int>(k)};
        if (k > 0) link.position = {0.0, 0.0, -length};
        link.joints.push_back({.name = "joint " + std::to_string(k), .type = JointType::Hinge, .axis = axes[k]});
        link.moments = rod(1.0, {0.05, 0.04, 0.5 * length});
        scene.bodies.push_back(link);
    }
    return scene;
}

/// A free torso with four legs of two hinges each, all driven by motors.
Scene ant_scene() {
    Random random(5);
    Scene scene;
    scene.gravity.setZero();
    Body torso = testing::random_body(random, "torso", 0);
    torso.joints.push_back({.name = "root", .type = JointType::Free});
    scene.bodies.push_back(torso);
    for (int leg = 0; leg < 4; ++leg) {
        for (const char* part : {"thigh", "shin"}) {
            const std::string name = part + std::to_string(leg);
            const int parent = std::string(part) == "thigh" ? 1 : static_cast<int>(scene.bodies.size()) - 1;
            Body body = testing::random_body(random, name, parent);
            body.joints.push_back({.name = name,
                                   .type = JointType::Hinge,
                                   .anchor = 0.1 * normal_vector(random, 3),
                                   .axis = unit_vector(random),
                                   .damping = 0.02,
                                   .stiffness = 0.5});
            scene.bodies.push_back(body);
            scene.actuators.push_back({.name = name, .type = ActuatorType::Motor, .joint = name});
        }
    }
    return scene;
}

State moving(const Model& model, std::uint64_t seed, double speed = 1.0) {
    Random random(seed);
    State state = testing::random_state(model, random);
    state.v *= speed;
    return state;
}

/// Largest change per step of the linear momentum sum m (x(t) - x(t - dt))/dt.
double linear_momentum_change(const Trajectory& t) {
    double largest = 0.0;
    for (Eigen::Index s = 1; s + 1 < t.q.rows(); ++s) {
        const auto at = [&](Eigen::Index row) {
            return mass_times_center(*t.model, t.parameters, t.q.row(row).transpose());
        };
        largest = std::max(largest, (at(s + 1) - 2.0 * at(s) + at(s - 1)).norm() / t.options.dt);
    }
    return largest;
}

Momenta last_momenta(const Trajectory& t) { return momenta(*t.model, t.parameters, t.state(t.num_steps())); }

TEST_CASE("motion: a tumbling body keeps its linear momentum; angular momentum and energy converge at first order") {
    const auto model = build_model(tumbling_scene());
    const State start = moving(*model, 2, 2.0);
    const Momenta before = momenta(*model, model->default_parameters(), start);
    REQUIRE(before.linear.norm() > 0.1);
    REQUIRE(before.angular.norm() > 0.01);
    CHECK(linear_momentum_change(simulate(model, start, 1.0, 0.01)) < 1e-12 * (1.0 + before.linear.norm()));
    check_first_order("angular momentum", 0.01, [&](double dt) {
        return (last_momenta(simulate(model, start, 1.0, dt)).angular - before.angular).norm();
    });
    check_first_order("energy", 0.01, [&](double dt) {
        const double drift = last_momenta(simulate(model, start, 1.0, dt)).kinetic - before.kinetic;
        CHECK(drift < 0.0);  // implicit Euler dissipates
        return drift;
    });
}

TEST_CASE("motion: the energies in the reports are those of the motion between two states") {
    // The report's kinetic energy is that of the chord from pose to pose, the rigid one that of the end velocity: they agree to O(dt).
    Scene scene = tumbling_scene();
    scene.gravity = {0.3, -0.2, -9.81};
    const auto model = build_model(scene);
    const State start = moving(*model, 2);
    check_first_order("kinetic energy", 0.01, [&](double dt) {
        const Trajectory t = simulate(model, start, 0.2, dt);
        return t.reports.back().kinetic - last_momenta(t).kinetic;
    });
    const Trajectory t = simulate(model, start, 0.2, 0.01);
    CHECK(t.reports.back().potential == doctest::Approx(last_momenta(t).potential).epsilon(1e-12));
}

TEST_CASE("motion: free fall is the implicit Euler parabola, whatever the rotation") {
    Scene scene = tumbling_scene();
    scene.gravity = {0.3, -0.2, -9.81};
    const auto model = build_model(scene);
    const Trajectory t = simulate(model, moving(*model, 2), 0.5, 0.01);
    const double mass = model->default_parameters().moments(1, 0);
    for (Eigen::Index s = 1; s + 1 < t.q.rows(); ++s) {
        const auto at = [&](Eigen::Index row) {
            return Vector3d(mass_times_center(*model, t.parameters, t.q.row(row).transpose()) / mass);
        };
        CHECK(((at(s + 1) - 2.0 * at(s) + at(s - 1)) / 1e-4 - scene.gravity).norm() < 1e-9);
    }
}

TEST_CASE("motion: pendulum against the elliptic integral") {
    Scene scene = chain_scene({Vector3d::UnitY()}, 1.0);
    const auto model = build_model(scene);
    const double amplitude = 1.5, g = 9.81;
    const Moments moments = *scene.bodies[1].moments;
    const double about_axis = moments.second(0, 0) + moments.second(2, 2), arm = -moments.first.z();
    const double quarter = std::sqrt(about_axis / (arm * g)) * std::comp_ellint_1(std::sin(0.5 * amplitude));
    State start = model->default_state();
    start.q[0] = amplitude;
    check_first_order("quarter period", 0.004, [&](double dt) {
        const Trajectory t = simulate(model, start, 1.2 * quarter, dt);
        Eigen::Index s = 1;
        while (s < t.q.rows() && t.q(s, 0) > 0.0) ++s;
        REQUIRE(s < t.q.rows());
        const double fraction = t.q(s - 1, 0) / (t.q(s - 1, 0) - t.q(s, 0));
        return (static_cast<double>(s - 1) + fraction) * dt - quarter;
    });
    const Trajectory t = simulate(model, start, 4.0 * quarter, 0.001);
    for (std::size_t s = 1; s < t.reports.size(); ++s) {  // no step gains energy
        CHECK(t.reports[s].kinetic + t.reports[s].potential <=
              t.reports[s - 1].kinetic + t.reports[s - 1].potential + 1e-9);
    }
}

TEST_CASE("motion: double pendulum and seven-link arm lose energy at first order, and their motion converges") {
    const Vector3d x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
    struct Arm {
        const char* name;
        std::vector<Vector3d> axes;
    };
    for (const Arm& arm : {Arm{"double pendulum", {y, y}}, Arm{"seven links", {z, y, z, y, x, y, z}}}) {
        CAPTURE(arm.name);
        const auto model = build_model(chain_scene(arm.axes));
        State start = model->default_state();
        for (Eigen::Index k = 0; k < start.q.size(); ++k) start.q[k] = 0.9 - 0.25 * static_cast<double>(k);
        const double before = momenta(*model, model->default_parameters(), start).energy();
        const double seconds = 0.4, dt = 0.001;
        check_first_order("energy", dt, [&](double step) {
            const double drift = last_momenta(simulate(model, start, seconds, step)).energy() - before;
            CHECK(drift < 0.0);
            return drift;
        });
        check_first_order("motion", dt, [&](double step) {  // distance to the next finer run, a quarter of the step
            const Trajectory coarse = simulate(model, start, seconds, step),
                             fine = simulate(model, start, seconds, step / 4);
            return (coarse.state(coarse.num_steps()).q - fine.state(fine.num_steps()).q).norm();
        });
    }
}

TEST_CASE("motion: an ant in the air keeps its linear momentum under its own motors") {
    const auto model = build_model(ant_scene());
    const State start = moving(*model, 4);
    const Momenta before = momenta(*model, model->default_parameters(), start);
    Random random(8);
    const VectorXd control = 0.5 * normal_vector(random, model->num_controls());
    const Trajectory t = simulate(model, start, 0.5, 0.01, control);
    CHECK(linear_momentum_change(t) < 1e-12 * (1.0 + before.linear.norm()));
    CHECK((t.q.row(50) - t.q.row(0)).tail(8).norm() > 0.1);  // the legs did move
    check_first_order("angular momentum", 0.005, [&](double dt) {
        return (last_momenta(simulate(model, start, 0.5, dt, control)).angular - before.angular).norm();
    });
}

TEST_CASE("motion: ten kilometres from the origin everything moves alike") {
    const auto model = build_model(ant_scene());
    State start = moving(*model, 4);
    const Trajectory here = simulate(model, start, 0.5, 0.01);
    const Vector3d offset(1e4, -1e4, 1e4);
    start.q.head<3>() += offset;
    const Trajectory there = simulate(model, start, 0.5, 0.01);
    const Eigen::Index n = start.q.size();
    // Positions are rounded to 2e-12 m there, so velocities to 2e-10 m/s in every step.
    CHECK((there.q.rightCols(n - 3) - here.q.rightCols(n - 3)).cwiseAbs().maxCoeff() < 1e-8);
    CHECK(((there.q.leftCols(3).rowwise() - offset.transpose()) - here.q.leftCols(3)).cwiseAbs().maxCoeff() < 1e-8);
}

}  // namespace
}  // namespace farfield
