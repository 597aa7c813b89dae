// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "contact/contact_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactDerivatives;
using contact::longrange::BruteForce;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;

namespace {

/// Two bodies and the ground, the bodies `gap` apart along a random direction measured by their bounding radii.
struct Scene {
    CollisionGeometry geometry;
    Poses poses;
    double scale = 1.0;  ///< on which the energy varies
};

TriangleMesh random_mesh(Random& random) {
    switch (uniform_index(random, 3)) {
        case 0: return make_box({uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2)});
        case 1: return make_sphere(uniform(random, 0.05, 0.2));
        default: return make_ellipsoid({0.3, 0.1, 0.05});
    }
}

Scene random_scene(Random& random, bool ground) {
    Scene scene;
    const TriangleMesh a = random_mesh(random), b = random_mesh(random);
    scene.geometry = make_geometry({a, b}, ground);
    const double radius_a = a.vertices.rowwise().norm().maxCoeff(), radius_b = b.vertices.rowwise().norm().maxCoeff();
    const double gap = std::pow(10.0, uniform(random, -2.5, 0.5)) * (radius_a + radius_b);
    scene.poses.resize(3);
    scene.poses[1].rotation = random_rotation(random);
    scene.poses[2].rotation = random_rotation(random);
    scene.poses[1].position = {0.3, -0.2, radius_a + gap};
    Eigen::Vector3d direction = unit_vector(random);
    direction.z() = std::abs(direction.z());
    scene.poses[2].position = scene.poses[1].position + (radius_a + radius_b + gap) * direction +
                              Eigen::Vector3d(0.0, 0.0, std::max(0.0, radius_b - radius_a));
    scene.scale = gap;
    return scene;
}

}  // namespace

TEST_CASE("long range: gradient and Hessian agree with differences, with and without the ground") {
    Random random(11);
    double worst_gradient = 0.0, worst_hessian = 0.0;
    for (int round = 0; round < 40; ++round) {
        const Scene scene = random_scene(random, round % 2 == 0);
        LongRangeOptions options;
        options.area_weights = round % 5 == 4;
        options.zero_offset = round % 3 != 0;
        options.length_scale = round % 7 == 6 ? 0.3 : 1.0;
        options.energy_tolerance = 1e-12;
        const LongRange model(scene.geometry, options);
        const Parameters parameters = make_parameters(scene.geometry, 1e-3, 0.0);
        const auto memory = model.make_memory();
        ContactDerivatives d;
        model.derivatives(scene.poses, parameters, *memory, d);
        REQUIRE(std::isfinite(d.energy));
        const auto energy = [&](const Eigen::VectorXd& twist) { return model.energy(moved(scene.poses, twist), parameters, *memory); };
        const auto wrench = [&](const Eigen::VectorXd& twist) {
            ContactDerivatives there;
            model.derivatives(moved(scene.poses, twist), parameters, *memory, there);
            return stacked(there.wrench);
        };
        const DerivativeReport g =
            check_tangent_gradient(energy, stacked(d.wrench), {.scale = std::min(scene.scale, 0.1), .floor = 1e-14}, random);
        CHECK_MESSAGE(g.passes(1e-6), "round " << round << ": " << g);
        worst_gradient = std::max(worst_gradient, g.error);
        const DerivativeReport h = check_jacobian(wrench, Eigen::VectorXd::Zero(18), wrench_jacobian(d),
                                                  {.scale = std::min(scene.scale, 0.1), .floor = 1e-14}, random);
        CHECK_MESSAGE(h.passes(1e-6), "round " << round << ": " << h);
        worst_hessian = std::max(worst_hessian, h.error);
    }
    MESSAGE("worst gradient error " << worst_gradient << ", Hessian " << worst_hessian);
}

TEST_CASE("long range: vjp agrees with differences") {
    Random random(12);
    double worst = 0.0;
    int rubbing = 0;
    for (int round = 0; round < 30; ++round) {
        const Scene scene = random_scene(random, round % 2 == 0);
        LongRangeOptions options;
        options.area_weights = round % 5 == 4;
        options.length_scale = round % 7 == 6 ? 0.3 : 1.0;
        options.friction = round % 4 == 3 ? contact::longrange::FrictionForm::Paper : contact::longrange::FrictionForm::Projected;
        options.slip_speed = 0.05;
        const LongRange model(scene.geometry, options);
        const Parameters parameters = make_parameters(scene.geometry, 1e-3, 0.5);
        const auto memory = model.make_memory();
        const double dt = 0.01;
        const Poses poses = moved(scene.poses, 1e-3 * normal_vector(random, 18));
        std::vector<Vector6d> twists(3);
        for (Vector6d& twist : twists) twist = normal_vector(random, 6);
        contact::ContactGradient gradient;
        model.vjp(poses, scene.poses, dt, parameters, *memory, twists, gradient);
        const auto phi = [&](const Poses& previous, const Parameters& p) {
            ContactDerivatives there;
            model.begin_step(previous, dt, p, *memory);
            model.derivatives(poses, p, *memory, there);
            double sum = 0.0;
            for (std::size_t body = 0; body < 3; ++body) sum += twists[body].dot(there.wrench[body]);
            return sum;
        };
        const DerivativeReport previous = check_tangent_gradient(
            [&](const Eigen::VectorXd& twist) { return phi(moved(scene.poses, twist), parameters); },
            stacked(gradient.previous_wrench), {.scale = std::min(scene.scale, 0.1), .floor = 1e-14}, random);
        if (stacked(gradient.previous_wrench).norm() == 0.0) {  // all far: no friction, and the differences say so too
            CHECK(previous.numeric == 0.0);
            continue;
        }
        ++rubbing;
        CHECK_MESSAGE(previous.passes(2e-6), "round " << round << ": " << previous);
        worst = std::max(worst, previous.error);
        Eigen::Vector4d by_parameter;
        by_parameter << gradient.friction, gradient.weight * parameters.weight;
        const DerivativeReport parameter = check_tangent_gradient(
            [&](const Eigen::VectorXd& values) {
                Parameters p = parameters;
                p.friction += values.head<3>();
                p.weight *= 1.0 + values[3];
                return phi(scene.poses, p);
            },
            by_parameter, {.floor = 1e-14}, random);
        CHECK_MESSAGE(parameter.passes(), parameter);
    }
    CHECK(rubbing >= 15);
    MESSAGE("worst error by the previous pose " << worst);
}
