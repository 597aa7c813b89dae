// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "contact/polyhedral/hull_scene.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::polyhedral::FrictionForm;
using contact::polyhedral::Polyhedral;
using contact::polyhedral::PolyhedralOptions;

namespace {

struct Worst {
    double gradient = 0.0, hessian = 0.0, previous = 0.0, vertices = 0.0, momentum = 0.0;
    int active = 0;
};

PolyhedralOptions varied_options(int round) {
    PolyhedralOptions options;
    options.range = 0.03;
    options.margin = round % 3 == 2 ? 0.02 : 0.1;
    options.slip_speed = 0.05;
    options.friction = round % 4 == 3 ? FrictionForm::Paper : FrictionForm::Projected;
    return options;
}

void check_derivatives(const Polyhedral& model, const HullScene& scene, Random& random, Worst& worst) {
    const auto size = 6 * static_cast<Eigen::Index>(scene.poses.size());
    const Parameters& parameters = scene.model->default_parameters();
    const auto memory = model.make_memory();
    contact::ContactStep& step = frictionless(model, scene.poses, parameters, *memory);
    ContactLinearization d;
    step.linearize(scene.poses, d);
    REQUIRE(std::isfinite(d.energy));
    if (d.energy == 0.0) return;  // the hull of both parts is near, no part is
    ++worst.active;
    CHECK(step.energy(scene.poses) == doctest::Approx(d.energy).epsilon(1e-11));
    CHECK(frictionless(model, scene.poses, parameters, *model.make_memory()).energy(scene.poses) ==
          doctest::Approx(d.energy).epsilon(1e-11));
    const LadderOptions ladder{.scale = 0.3 * scene.gap, .floor = 1e-14};  // x^-5 varies on a fraction of the gap
    // a direction that happens to be normal to the gradient has differences that are all rounding
    const LadderOptions along{.scale = ladder.scale, .floor = 1e-2 * stacked(d.wrench).norm()};
    const DerivativeReport gradient =
        check_tangent_gradient([&](const Eigen::VectorXd& twist) { return step.energy(moved(scene.poses, twist)); },
                               stacked(d.wrench), along, random);
    CHECK_MESSAGE(gradient.passes(1e-6), gradient);
    const DerivativeReport hessian = check_jacobian(
        [&](const Eigen::VectorXd& twist) {
            ContactLinearization there;
            step.linearize(moved(scene.poses, twist), there);
            return stacked(there.wrench);
        },
        Eigen::VectorXd::Zero(size), wrench_jacobian(d), ladder, random);
    CHECK_MESSAGE(hessian.passes(1e-6), hessian);
    CHECK((assembled(d) - assembled(d).transpose()).norm() <= 1e-14 * assembled(d).norm());
    Eigen::Vector3d force = Eigen::Vector3d::Zero(), torque = force;
    double size_of_forces = 0.0;
    for (std::size_t body = 0; body < d.wrench.size(); ++body) {
        force += d.wrench[body].head<3>();
        torque += d.wrench[body].tail<3>() + scene.poses[body].position.cross(d.wrench[body].head<3>());
        size_of_forces += d.wrench[body].head<3>().norm();
    }
    const double unbalanced = (force.norm() + torque.norm()) / size_of_forces;
    CHECK(unbalanced <= 1e-7);
    worst.momentum = std::max(worst.momentum, unbalanced);
    worst.gradient = std::max(worst.gradient, gradient.error);
    worst.hessian = std::max(worst.hessian, hessian.error);
}

void check_vjp(const Polyhedral& model, const HullScene& scene, Random& random, Worst& worst) {
    const auto count = static_cast<Eigen::Index>(scene.poses.size());
    Parameters parameters = scene.model->default_parameters();
    set_friction(model.pairs(), 0.5, parameters);
    for (const ContactPair& pair : model.pairs())  // different ones: the larger of two equal has no derivative
        parameters.friction[pair.b] = 0.5 + 0.05 * pair.b;
    const auto memory = model.make_memory();
    const double dt = 0.01;
    const Poses &start = scene.poses, poses = moved(start, 0.02 * scene.gap * normal_vector(random, 6 * count));
    std::vector<Vector6d> twists(start.size());
    for (Vector6d& twist : twists) twist = normal_vector(random, 6);
    contact::ContactGradient gradient;
    ContactLinearization here;
    contact::ContactStep& step = model.begin_step(start, dt, parameters, *memory, contact::StepMode::Backward);
    step.linearize(poses, here);
    step.vjp({&twists, 1}, {&gradient, 1});
    if (gradient.hull_vertices.norm() == 0.0) return;
    ++worst.active;
    const auto phi = [&](const Poses& previous, const Parameters& p) {
        ContactLinearization there;
        model.begin_step(previous, dt, p, *memory).linearize(poses, there);
        double sum = 0.0;
        for (std::size_t body = 0; body < twists.size(); ++body) sum += twists[body].dot(there.wrench[body]);
        return sum;
    };
    Eigen::VectorXd by_parameter(count + 1);
    Eigen::VectorXd rubs = Eigen::VectorXd::Zero(count);  // a body in no pair has no coefficient to change
    for (const ContactPair& pair : model.pairs()) rubs[pair.a] = rubs[pair.b] = 1.0;
    by_parameter << gradient.friction, gradient.contact_stiffness * parameters.contact_stiffness;
    const DerivativeReport parameter = check_tangent_gradient(
        [&](const Eigen::VectorXd& values) {
            Parameters p = parameters;
            p.friction += values.head(count).cwiseProduct(rubs);
            p.contact_stiffness *= 1.0 + values[count];
            return phi(start, p);
        },
        by_parameter, {.floor = 1e-14}, random);
    CHECK_MESSAGE(parameter.passes(), parameter);
    const DerivativeReport previous =
        check_tangent_gradient([&](const Eigen::VectorXd& twist) { return phi(moved(start, twist), parameters); },
                               stacked(gradient.previous_wrench), {.scale = 0.3 * scene.gap, .floor = 1e-14}, random);
    CHECK_MESSAGE(previous.passes(5e-6), previous);
    const DerivativeReport vertices = check_tangent_gradient(
        [&](const Eigen::VectorXd& shift) {
            Parameters p = parameters;
            p.hull_vertices += shift.reshaped<Eigen::RowMajor>(p.hull_vertices.rows(), 3);
            return phi(start, p);
        },
        gradient.hull_vertices.reshaped<Eigen::RowMajor>(), {.scale = 0.3 * scene.gap, .floor = 1e-14}, random);
    CHECK_MESSAGE(vertices.passes(5e-6), vertices);
    worst.previous = std::max(worst.previous, previous.error);
    worst.vertices = std::max(worst.vertices, vertices.error);
}

}  // namespace

TEST_CASE("polyhedral: gradient and Hessian agree with differences, with and without the ground") {
    Random random(21);
    Worst worst;
    for (int round = 0; round < 40; ++round) {
        const PolyhedralOptions options = varied_options(round);
        const HullScene scene = random_hull_scene(random, round % 2 == 0, *options.range);
        check_derivatives(Polyhedral(*scene.model, options), scene, random, worst);
    }
    CHECK(worst.active >= 30);
    MESSAGE(worst.active << " active; worst gradient error " << worst.gradient << ", Hessian " << worst.hessian
                         << ", momentum " << worst.momentum);
}

TEST_CASE("polyhedral: vjp agrees with differences, by previous poses, friction, weight and vertices") {
    Random random(22);
    Worst worst;
    for (int round = 0; round < 30; ++round) {
        const PolyhedralOptions options = varied_options(round);
        const HullScene scene = random_hull_scene(random, round % 2 == 0, *options.range);
        check_vjp(Polyhedral(*scene.model, options), scene, random, worst);
    }
    CHECK(worst.active >= 20);
    MESSAGE(worst.active << " active; worst error by previous poses " << worst.previous << ", by vertices "
                         << worst.vertices);
}
