// SPDX-License-Identifier: Apache-2.0
/// @file  Gradients through contact and friction against differences of whole rollouts.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include "support/contact_rollouts.hpp"
#include "support/slope.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Relative: doctest's Approx adds one to the size of what it compares.
bool close(double a, double b, double tolerance) {
    return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

struct Experiment {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    State start;
    RowMatrix controls;
    ContactSetup contact;
    VectorXd position_weights, velocity_weights;  // of the loss, by the coordinates of the last state

    [[nodiscard]] Trajectory run() const {
        const Trajectory t =
            rollout(model, parameters, {.state0 = start, .controls = controls}, {.tolerance = 1e-11}, contact);
        REQUIRE(t.converged());
        return t;
    }
    /// Tangent coordinates of the last state about `reference`, and its speeds, weighted.
    [[nodiscard]] double loss(const VectorXd& reference) const {
        const Trajectory t = run();
        const State end = t.state(t.num_steps());
        VectorXd moved;
        difference(*model, reference, end.q, moved);
        return position_weights.dot(moved) + velocity_weights.dot(end.v);
    }
};

/// Compares every quantity; the number of those that the differences' own noise leaves open.
int compare(const Experiment& e, Random& random) {
    const Trajectory t = e.run();
    const Eigen::Index last = t.num_steps();
    const VectorXd reference = t.q.row(last).transpose();
    RowMatrix by_q = RowMatrix::Zero(last + 1, e.model->num_dofs()), by_v = by_q;
    by_q.row(last) = e.position_weights.transpose();
    by_v.row(last) = e.velocity_weights.transpose();
    const RolloutGradient g = rollout_vjp(t, {.dL_dq = view(by_q), .dL_dv = view(by_v)});

    int open = 0;
    const auto check = [&](const std::string& quantity, double analytic, double scale,
                           const std::function<void(Experiment&, double)>& move) {
        const Slope numeric = slope(
            [&](double h) {
                Experiment moved = e;
                move(moved, h);
                return moved.loss(reference);
            },
            scale, 4);
        const double size = std::max(std::abs(analytic), std::abs(numeric.value));
        const double error = std::abs(analytic - numeric.value) / size, noise = numeric.noise / size;
        MESSAGE(quantity, ": ", analytic, ", relative error ", error, ", noise ", noise);
        CHECK(analytic != 0.0);
        if (noise > 1e-4) {
            ++open;
        } else {
            CHECK_MESSAGE(error <= 1e-5, quantity, ": ", analytic, " against ", numeric.value);
        }
    };
    const VectorXd turn = normal_vector(random, e.model->num_dofs()).normalized(),
                   push = normal_vector(random, e.model->num_dofs()).normalized();
    check("position", g.q0.dot(turn), 2e-5, [&](Experiment& x, double h) {
        VectorXd moved;
        retract(*x.model, e.start.q, h * turn, moved);
        x.start.q = moved;
    });
    check("velocity", g.v0.dot(push), 1e-3, [&](Experiment& x, double h) { x.start.v += h * push; });
    if (e.model->num_controls()) {
        const RowMatrix drive = normal_vector(random, e.controls.size())
                                    .normalized()
                                    .reshaped<Eigen::RowMajor>(e.controls.rows(), e.controls.cols());
        // Small: a step that ends at the rounding of energies leaves a force of 5e-6 N, 4e-5 of the slope where two larger steps share it.
        check("controls", g.controls.cwiseProduct(drive).sum(), 1.25e-3,
              [&](Experiment& x, double h) { x.controls += h * drive; });
    }
    check("masses", g.parameters.moments.cwiseProduct(e.parameters.moments).sum(), 1e-3,
          [&](Experiment& x, double h) { x.parameters.moments *= 1.0 + h; });
    check("friction", g.parameters.friction.dot(e.parameters.friction), 1e-3,
          [&](Experiment& x, double h) { x.parameters.friction *= 1.0 + h; });
    check("stiffness", g.parameters.contact_stiffness * e.parameters.contact_stiffness, 1e-2,
          [&](Experiment& x, double h) { x.parameters.contact_stiffness *= 1.0 + h; });
    return open;
}

Experiment experiment(const Scene& scene, Random& random, int steps) {
    Experiment e;
    e.model = build_model(scene);
    e.parameters = e.model->default_parameters();
    e.start = e.model->default_state();
    e.controls = RowMatrix::Zero(steps, e.model->num_controls());
    e.contact = long_range(*e.model);
    e.position_weights = normal_vector(random, e.model->num_dofs());
    e.velocity_weights = 0.1 * normal_vector(random, e.model->num_dofs());
    return e;
}

TEST_CASE("contact gradient: a hundred steps of bodies sliding into each other") {
    Random random(7);
    Scene scene;
    add_ground(scene);
    add_free_mesh(scene, "pusher", make_tetrahedron(0.3), {-0.1, 0.0, 0.103});
    add_free_mesh(scene, "pushed", make_tetrahedron(0.3), {0.4, 0.03, 0.103});
    for (std::size_t i : {1, 2}) {  // resting on a face
        scene.bodies[i].orientation = Eigen::Quaterniond::FromTwoVectors(Vector3d(1.0, 1.0, 1.0), Vector3d::UnitZ());
    }
    Experiment e = experiment(scene, random, 100);
    e.start.v[0] = 1.5;
    CHECK(compare(e, random) == 0);
    const Trajectory t = e.run();
    CHECK(t.q(100, 7) > t.q(0, 7) + 0.005);  // it was pushed
}

TEST_CASE("contact gradient: a hundred steps of a driven arm that pushes a block") {
    Random random(8);
    Scene scene;
    add_ground(scene);
    for (int k = 0; k < 2; ++k) {
        const std::string name = k ? "lower" : "upper";
        scene.bodies.push_back(Body{
            .name = name,
            .parent = k,
            .position = k ? Vector3d(0.0, 0.0, -0.45) : Vector3d(0.0, 0.0, 1.05),
            .joints = {Joint{.name = name, .type = JointType::Hinge, .axis = {0.0, 1.0, 0.0}, .damping = 0.05}},
            .moments =
                transformed(box_moments({0.05, 0.05, 0.2}, 250.0), {0.0, 0.0, -0.2}, Eigen::Matrix3d::Identity())});
        scene.meshes.push_back(make_tetrahedron(0.2));
        scene.shapes.push_back(Shape{.name = name,
                                     .body = k + 1,
                                     .type = ShapeType::Mesh,
                                     .position = {0.0, 0.0, -0.25},
                                     .mesh = k,
                                     .collides = k == 1});
        scene.actuators.push_back(Actuator{.name = name, .type = ActuatorType::Motor, .joint = name});
    }
    add_free_mesh(scene, "block", make_tetrahedron(0.3), {0.4, 0.02, 0.1005});
    scene.bodies.back().orientation = Eigen::Quaterniond::FromTwoVectors(Vector3d(1.0, 1.0, 1.0), Vector3d::UnitZ());
    Experiment e = experiment(scene, random, 100);
    e.controls.col(0).setConstant(-6.0);
    e.controls.col(1).setConstant(-2.0);
    CHECK(compare(e, random) == 0);
    const Trajectory t = e.run();
    CHECK(t.q(100, 2) > t.q(0, 2) + 0.02);  // the block was pushed
}

TEST_CASE("contact gradient: a body ten metres away feels a weight of 1e-8") {
    Scene scene;
    scene.gravity.setZero();
    add_free_box(scene, "near", Vector3d::Constant(0.1), 1.0, Vector3d::Zero());
    add_free_box(scene, "far", Vector3d::Constant(0.1), 1.0, {10.0, 0.0, 0.0});
    Random random(9);
    Experiment e = experiment(scene, random, 20);
    e.contact =
        long_range(*e.model, {.weight_in_joules = 1e-7, .leaf_weights = contact::longrange::LeafWeights::Paper});
    e.parameters.contact_stiffness = 0.1;
    e.position_weights = VectorXd::Unit(12, 0);
    e.velocity_weights.setZero();
    const Trajectory t = e.run();
    // Constant force, implicit Euler: x_n = F/m dt^2 n (n + 1)/2; far apart F = 12 w (1 + r^-1/2) r^-3/2.
    const double r = 10.0, force = 12.0 * (1.0 + 1.0 / std::sqrt(r)) * std::pow(r, -1.5), sum = 1e-4 * 20 * 21 / 2;
    CHECK(close(t.q(20, 0), -1e-8 * force * sum, 1e-6));
    RowMatrix by_q = RowMatrix::Zero(21, 12);
    by_q(20, 0) = 1.0;
    const RolloutGradient g = rollout_vjp(t, {.dL_dq = view(by_q)});
    const VectorXd reference = t.q.row(0).transpose();
    const Slope by_weight = slope(
        [&](double h) {
            Experiment x = e;
            x.parameters.contact_stiffness *= 1.0 + h;
            return x.loss(reference);
        },
        0.1, 4);
    const Slope by_place = slope(
        [&](double h) {
            Experiment x = e;
            x.start.q[7] += h;
            return x.loss(reference);
        },
        0.1, 4);
    CHECK(close(g.parameters.contact_stiffness, -1e-7 * force * sum, 1e-6));
    CHECK(close(g.parameters.contact_stiffness * 0.1, by_weight.value, 1e-6));
    CHECK(g.q0[6] > 0.0);  // further away: pushed back less
    CHECK(close(g.q0[6], by_place.value, 1e-6));
}

}  // namespace
}  // namespace farfield
