// SPDX-License-Identifier: Apache-2.0
/// @file  Gradients by design through polyhedral contact, friction and mass, against differences of whole rollouts.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>

#include "farfield/base/random.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/model/hull_mass.hpp"
#include "support/slope.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A driven arm whose last link, a box, pushes a block over the ground.
struct Pushing {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    RowMatrix controls;
    State start;
    ContactSetup contact;
    VectorXd weights;

    explicit Pushing(Random& random) {
        Scene scene;
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        for (int k = 0; k < 2; ++k) {
            const std::string name = k ? "lower" : "upper";
            scene.bodies.push_back(Body{
                .name = name,
                .parent = k,
                .position = k ? Vector3d(0.0, 0.0, -0.4) : Vector3d(0.0, 0.0, 0.95),
                .joints = {Joint{.name = name, .type = JointType::Hinge, .axis = {0.0, 1.0, 0.0}, .damping = 0.05}},
                .moments =
                    transformed(box_moments({0.05, 0.05, 0.2}, 250.0), {0.0, 0.0, -0.2}, Eigen::Matrix3d::Identity())});
            scene.shapes.push_back(Shape{.name = name,
                                         .body = k + 1,
                                         .type = ShapeType::Box,
                                         .size = {0.05, 0.06, 0.2},
                                         .position = {0.0, 0.0, -0.2},
                                         .collides = k == 1});
            scene.actuators.push_back(Actuator{.name = name, .type = ActuatorType::Motor, .joint = name});
        }
        scene.bodies.push_back(Body{.name = "block",
                                    .position = {0.2, 0.02, 0.11},
                                    .joints = {Joint{.name = "block", .type = JointType::Free}},
                                    .moments = box_moments({0.1, 0.12, 0.1}, 100.0)});
        scene.shapes.push_back(
            Shape{.name = "block", .body = 3, .type = ShapeType::Box, .size = {0.1, 0.12, 0.1}, .friction = 0.3});
        model = build_model(scene);
        parameters = model->default_parameters();
        start = model->default_state();
        controls = RowMatrix::Zero(100, model->num_controls());
        controls.col(0).setConstant(-6.0);
        controls.col(1).setConstant(-2.0);
        contact = make_contact_setup(*model,
                                     std::make_shared<const contact::polyhedral::Polyhedral>(
                                         *model, contact::polyhedral::PolyhedralOptions{.range = 0.02}),
                                     "polyhedral");
        weights = normal_vector(random, 2 * model->num_dofs());
        weights.tail(model->num_dofs()) *= 0.1;
    }

    [[nodiscard]] Trajectory run(const Parameters& p) const {
        const Trajectory t = rollout(model, p, {.state0 = start, .controls = controls}, {.tolerance = 1e-11}, contact);
        REQUIRE(t.converged());
        return t;
    }
};

TEST_CASE("polyhedral gradient: a hundred steps by vertices, attachments, masses, friction and weight") {
    Random random(31);
    const Pushing e(random);
    const Trajectory t = e.run(e.parameters);
    const Eigen::Index last = t.num_steps(), n = e.model->num_dofs();
    CHECK(t.q(last, 2) > t.q(0, 2) + 0.02);  // the block was pushed
    const VectorXd reference = t.q.row(last).transpose();
    RowMatrix by_q = RowMatrix::Zero(last + 1, n), by_v = by_q;
    by_q.row(last) = e.weights.head(n).transpose();
    by_v.row(last) = e.weights.tail(n).transpose();
    const RolloutGradient g = rollout_vjp(t, {.dL_dq = view(by_q), .dL_dv = view(by_v)});
    const auto check = [&](const std::string& quantity, double analytic, double scale,
                           const std::function<void(Parameters&, double)>& move) {
        const Slope numeric = slope(
            [&](double h) {
                Parameters p = e.parameters;
                move(p, h);
                const Trajectory there = e.run(p);
                VectorXd moved;
                difference(*e.model, reference, there.q.row(last).transpose(), moved);
                return e.weights.head(n).dot(moved) + e.weights.tail(n).dot(there.v.row(last).transpose());
            },
            scale, 4);
        const double size = std::max(std::abs(analytic), std::abs(numeric.value));
        const double error = std::abs(analytic - numeric.value) / size, noise = numeric.noise / size;
        MESSAGE(quantity, ": ", analytic, ", relative error ", error, ", noise ", noise);
        CHECK(analytic != 0.0);
        CHECK(noise <= 1e-4);
        CHECK_MESSAGE(error <= 1e-5, quantity, ": ", analytic, " against ", numeric.value);
    };
    VertexRows bend = VertexRows::Zero(e.parameters.hull_vertices.rows(), 3);
    for (Eigen::Index m = 0; m < bend.rows(); ++m) bend.row(m) = normal_vector(random, 3).transpose();
    bend.normalize();
    const VertexRows& by_vertices = g.parameters.hull_vertices;
    check("vertices, masses fixed", by_vertices.cwiseProduct(bend).sum(), 1e-4,
          [&](Parameters& p, double h) { p.hull_vertices += h * bend; });
    for (const HullMass mass : {HullMass::Lumped, HullMass::Exact}) {
        // From moments that already follow the vertices, so that differences and gradient are of one function.
        Pushing same = e;
        // Off the flat faces of boxes, where the mass of the current hull has a kink.
        if (mass == HullMass::Exact) same.parameters.hull_vertices += 0.02 * bend;
        same.parameters.moments = hull_moments(*e.model, same.parameters, mass);
        const Trajectory there = same.run(same.parameters);
        const VectorXd end = there.q.row(last).transpose();
        const RolloutGradient all = rollout_vjp(there, {.dL_dq = view(by_q), .dL_dv = view(by_v)});
        const VertexRows total =
            all.parameters.hull_vertices +
            hull_moments_vjp(*e.model, same.parameters, mass, MassTotal::Constant, all.parameters.moments);
        const Slope numeric = slope(
            [&](double h) {
                Parameters p = same.parameters;
                p.hull_vertices += h * bend;
                p.moments = hull_moments(*e.model, p, mass);
                const Trajectory moved = same.run(p);
                VectorXd shift;
                difference(*e.model, end, moved.q.row(last).transpose(), shift);
                return e.weights.head(n).dot(shift) + e.weights.tail(n).dot(moved.v.row(last).transpose());
            },
            1e-4, 4);
        const double analytic = total.cwiseProduct(bend).sum();
        const double error = std::abs(analytic - numeric.value) / std::abs(analytic);
        MESSAGE((mass == HullMass::Lumped ? "lumped" : "exact"), " mass: ", analytic, ", relative error ", error,
                ", noise ", numeric.noise / std::abs(analytic));
        CHECK(error <= 1e-5);
    }
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> shift = 0.0 * e.parameters.attachment;
    shift.row(1) = normal_vector(random, 3).transpose();
    shift.row(2) = normal_vector(random, 3).transpose();
    check("attachments", g.parameters.attachment.cwiseProduct(shift).sum(), 1e-5,
          [&](Parameters& p, double h) { p.attachment += h * shift; });
    check("masses", g.parameters.moments.cwiseProduct(e.parameters.moments).sum(), 1e-4,
          [&](Parameters& p, double h) { p.moments *= 1.0 + h; });
    check("friction", g.parameters.friction.dot(e.parameters.friction), 1e-3,
          [&](Parameters& p, double h) { p.friction *= 1.0 + h; });
    check("stiffness", g.parameters.contact_stiffness * e.parameters.contact_stiffness, 1e-2,
          [&](Parameters& p, double h) { p.contact_stiffness *= 1.0 + h; });
}

}  // namespace
}  // namespace farfield
