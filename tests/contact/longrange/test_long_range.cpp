// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;

namespace {

struct Worst {
    double gradient = 0.0, hessian = 0.0, previous = 0.0;
    int rubbing = 0;
};

void check_derivatives(const LongRange& model, const Poses& poses, double scale, Random& random, Worst& worst) {
    const auto size = 6 * static_cast<Eigen::Index>(poses.size());
    Parameters parameters;
    parameters.contact_stiffness = 1e-3;
    parameters.friction = Eigen::VectorXd::Zero(size / 6);
    const auto memory = model.make_memory();
    contact::ContactStep& step = frictionless(model, poses, parameters, *memory);
    ContactLinearization d;
    step.linearize(poses, d);
    REQUIRE(std::isfinite(d.energy));
    CHECK(step.energy(poses) == doctest::Approx(d.energy).epsilon(1e-12));
    const LadderOptions ladder{.scale = scale, .floor = 1e-14};
    const DerivativeReport gradient =
        check_tangent_gradient([&](const Eigen::VectorXd& twist) { return step.energy(moved(poses, twist)); },
                               stacked(d.wrench), ladder, random);
    CHECK_MESSAGE(gradient.passes(1e-6), gradient);
    const DerivativeReport hessian = check_jacobian(
        [&](const Eigen::VectorXd& twist) {
            ContactLinearization there;
            step.linearize(moved(poses, twist), there);
            return stacked(there.wrench);
        },
        Eigen::VectorXd::Zero(size), wrench_jacobian(d), ladder, random);
    CHECK_MESSAGE(hessian.passes(1e-6), hessian);
    CHECK((assembled(d) - assembled(d).transpose()).norm() <= 1e-14 * assembled(d).norm());
    worst.gradient = std::max(worst.gradient, gradient.error);
    worst.hessian = std::max(worst.hessian, hessian.error);
}

void check_vjp(const LongRange& model, const Poses& start, double coefficient, double scale, Random& random,
               Worst& worst, double slip = 1e-3) {
    const auto count = static_cast<Eigen::Index>(start.size());
    Parameters parameters;
    parameters.contact_stiffness = 1e-3;
    // different ones: the larger of two equal coefficients has no derivative
    parameters.friction = Eigen::VectorXd::LinSpaced(count, coefficient, 1.2 * coefficient);
    const auto memory = model.make_memory();
    const double dt = 0.01;
    const Poses poses = moved(start, slip * normal_vector(random, 6 * count));
    contact::Twists twists(start.size());
    for (Vector6d& twist : twists) twist = normal_vector(random, 6);
    ContactLinearization here;
    contact::ContactGradient gradient;
    contact::ContactStep& step = model.begin_step(start, dt, parameters, *memory, contact::StepMode::Backward);
    step.linearize(poses, here);
    step.vjp({&twists, 1}, {&gradient, 1});
    const auto phi = [&](const Poses& previous, const Parameters& p) {
        ContactLinearization there;
        model.begin_step(previous, dt, p, *memory).linearize(poses, there);
        double sum = 0.0;
        for (std::size_t body = 0; body < twists.size(); ++body) sum += twists[body].dot(there.wrench[body]);
        return sum;
    };
    Eigen::VectorXd by_parameter(count + 1);
    by_parameter << gradient.friction, gradient.contact_stiffness * parameters.contact_stiffness;
    const DerivativeReport parameter = check_tangent_gradient(
        [&](const Eigen::VectorXd& values) {
            Parameters p = parameters;
            p.friction += values.head(count);
            p.contact_stiffness *= 1.0 + values[count];
            return phi(start, p);
        },
        by_parameter, {.floor = 1e-14}, random);
    CHECK_MESSAGE(parameter.passes(), parameter);
    // Differences of phi, most of which is the normal force, carry noise of 1e-16 phi / step: too far apart, friction drowns.
    if (stacked(gradient.previous_wrench).norm() * scale < 1e-7 * std::abs(phi(start, parameters))) return;
    const DerivativeReport previous =
        check_tangent_gradient([&](const Eigen::VectorXd& twist) { return phi(moved(start, twist), parameters); },
                               stacked(gradient.previous_wrench), {.scale = scale, .floor = 1e-14}, random);
    CHECK_MESSAGE(previous.passes(5e-6), previous);
    worst.previous = std::max(worst.previous, previous.error);
    ++worst.rubbing;
}

LongRangeOptions varied_options(int round) {
    LongRangeOptions options;
    if (round % 5 == 4) options.leaf_weights = contact::longrange::LeafWeights::Paper;
    options.zero_offset = round % 3 != 0;
    if (round % 7 == 6) options.length_scale = 0.3;
    options.friction =
        round % 4 == 3 ? contact::longrange::FrictionForm::Paper : contact::longrange::FrictionForm::Projected;
    options.energy_tolerance = 1e-12;
    options.slip_speed = 0.05;
    return options;
}

}  // namespace

TEST_CASE("long range: gradient and Hessian agree with differences, with and without the ground") {
    Random random(11);
    Worst worst;
    for (int round = 0; round < 40; ++round) {
        const testing::Scene scene = random_scene(random, round % 2 == 0);
        check_derivatives(LongRange(scene.geometry, varied_options(round)), scene.poses, std::min(scene.scale, 0.1),
                          random, worst);
    }
    MESSAGE("worst gradient error " << worst.gradient << ", Hessian " << worst.hessian);
}

TEST_CASE("long range: vjp agrees with differences") {
    Random random(12);
    Worst worst;
    for (int round = 0; round < 30; ++round) {
        const testing::Scene scene = random_scene(random, round % 2 == 0, 0.3);
        check_vjp(LongRange(scene.geometry, varied_options(round)), scene.poses, 0.5, std::min(scene.scale, 0.1),
                  random, worst);
    }
    CHECK(worst.rubbing >= 15);
    MESSAGE("worst error by the previous pose " << worst.previous << " in " << worst.rubbing << " scenes");
}

TEST_CASE("long range: derivatives of round shapes agree with differences, with and without the ground") {
    Random random(21);
    Worst worst;
    for (int round = 0; round < 40; ++round) {
        CAPTURE(round);
        const testing::Scene scene = random_round_scene(random, round % 2 == 0);
        check_derivatives(LongRange(scene.geometry, varied_options(round)), scene.poses, std::min(scene.scale, 0.1),
                          random, worst);
    }
    MESSAGE("worst gradient error " << worst.gradient << ", Hessian " << worst.hessian);
}

TEST_CASE("long range: the vjp of round shapes agrees with differences") {
    Random random(22);
    Worst worst;
    for (int round = 0; round < 40; ++round) {
        CAPTURE(round);
        const testing::Scene scene = random_round_scene(random, round % 2 == 0, 0.3);
        check_vjp(LongRange(scene.geometry, varied_options(round)), scene.poses, 0.5, std::min(scene.scale, 0.1),
                  random, worst, std::min(1e-3, 0.1 * scene.scale));  // whose bounding spheres are as near as they are
    }
    CHECK(worst.rubbing >= 15);
    MESSAGE("worst error by the previous pose " << worst.previous << " in " << worst.rubbing << " scenes");
}

TEST_CASE("long range: derivatives of near pairs of round shapes agree with differences") {
    Random random(23);
    Worst worst;
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        testing::Scene scene = random_round_scene(random, round % 2 == 0, 0.1);
        for (ContactPair& pair : scene.geometry.pairs) pair.near = true;
        LongRangeOptions options = varied_options(round);
        options.near_range = 4.0;
        check_derivatives(LongRange(scene.geometry, options), scene.poses, std::min(scene.scale, 0.1), random, worst);
    }
}

TEST_CASE("long range: without friction nothing is lagged, and the vjp still tells what friction would do") {
    Random random(14);
    Worst worst;
    for (int round = 0; round < 10; ++round) {
        const testing::Scene scene = random_scene(random, round % 2 == 0, 0.3);
        const LongRange model(scene.geometry, varied_options(round));
        check_vjp(model, scene.poses, 0.0, std::min(scene.scale, 0.1), random, worst);
        Parameters parameters;
        parameters.contact_stiffness = 1e-3;
        parameters.friction = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(scene.poses.size()));
        const auto begun = model.make_memory(), resting = model.make_memory();
        ContactLinearization moving, still;
        model.begin_step(scene.poses, 0.01, parameters, *begun).linearize(scene.poses, moving);
        frictionless(model, scene.poses, parameters, *resting).linearize(scene.poses, still);
        CHECK(moving.energy == still.energy);
        CHECK(stacked(moving.wrench) == stacked(still.wrench));
    }
    CHECK(worst.rubbing == 0);
}

TEST_CASE("long range: the vjp does not depend on what the memory held before") {
    Random random(13);
    double worst = 0.0;
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = random_scene(random, round % 2 == 0, 0.3);
        const LongRange model(scene.geometry, varied_options(round));
        const auto count = static_cast<Eigen::Index>(scene.poses.size());
        Parameters parameters;
        parameters.contact_stiffness = 1e-3;
        parameters.friction = Eigen::VectorXd::Constant(count, round % 3 == 0 ? 0.0 : 0.5);
        const auto memory = model.make_memory();
        contact::Twists twists(scene.poses.size());
        Poses start = scene.poses;
        for (int step = 0; step < 3; ++step) {
            for (Vector6d& twist : twists) twist = normal_vector(random, 6);
            const Poses end = moved(start, 1e-3 * normal_vector(random, 6 * count));
            ContactLinearization d;
            contact::ContactGradient kept, fresh;
            const auto gradient_of = [&](contact::ContactMemory& used, contact::ContactGradient& out) {
                contact::ContactStep& begun =
                    model.begin_step(start, 0.01, parameters, used, contact::StepMode::Backward);
                begun.linearize(end, d);
                begun.vjp({&twists, 1}, {&out, 1});
            };
            gradient_of(*memory, kept);
            gradient_of(*model.make_memory(), fresh);
            const Eigen::VectorXd x = stacked(kept.previous_wrench), y = stacked(fresh.previous_wrench);
            worst = std::max(worst, (x - y).norm() / std::max(y.norm(), 1e-12 * stacked(d.wrench).norm()));
            CHECK((kept.friction - fresh.friction).norm() <= 1e-8 * fresh.friction.norm());
            CHECK(kept.contact_stiffness == doctest::Approx(fresh.contact_stiffness).epsilon(1e-10));
            start = end;
        }
    }
    CHECK(worst < 1e-7);
    MESSAGE("worst difference " << worst);
}

TEST_CASE("long range: derivatives inside a band and just beside both of its ends") {
    // One triangle each: one pair of nodes, so d1 and d2 are known.
    Random random(13);
    Worst worst;
    TriangleMesh triangle;
    triangle.vertices.resize(3, 3);
    triangle.vertices << 0.1, 0.0, 0.0, -0.05, 0.08, 0.0, -0.05, -0.09, 0.01;
    triangle.triangles.resize(1, 3);
    triangle.triangles << 0, 1, 2;
    const CollisionGeometry geometry = make_geometry({triangle, triangle}, false);
    LongRangeOptions options = varied_options(1);
    options.blend = {0.7};
    const LongRange model(geometry, options);
    const double d1 = 2.0 * model.shape(1).tree.radius[0], d2 = 1.7 * d1;
    for (const double r : {d1 * 0.999, d1 * 1.001, d1 + 0.1 * (d2 - d1), 0.5 * (d1 + d2), d2 - 0.1 * (d2 - d1),
                           d2 * 0.999, d2 * 1.001}) {
        Poses poses(3);
        poses[2].rotation = random_rotation(random);
        poses[2].position =
            model.shape(1).tree.center[0] - poses[2].rotation * model.shape(2).tree.center[0] + r * unit_vector(random);
        check_derivatives(model, poses, 1e-3 * d1, random, worst);  // no step reaches across the switch
        if (r < d2 * 0.99) check_vjp(model, poses, 0.5, 1e-3 * d1, random, worst);
    }
    CHECK(worst.rubbing >= 4);
    MESSAGE("worst gradient error " << worst.gradient << ", Hessian " << worst.hessian << ", by the previous pose "
                                    << worst.previous);
}

TEST_CASE("long range: derivatives of near pairs inside, in the band and across all nodes of a mesh") {
    Random random(15);
    Worst worst;
    int pushing = 0;
    for (int round = 0; round < 40; ++round) {
        testing::Scene scene = random_scene(random, round % 2 == 0, 0.3);
        for (ContactPair& pair : scene.geometry.pairs) pair.near = true;
        LongRangeOptions options = varied_options(round);
        options.near_range = std::pow(10.0, uniform(random, -1.0, 1.0));
        options.brute_force = round % 8 == 7;
        const LongRange model(scene.geometry, options);
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        if (evaluate(model, scene.poses, parameters).energy < 1e-3) continue;  // hardly within range
        ++pushing;
        check_derivatives(model, scene.poses, std::min(scene.scale, 0.02), random, worst);
        check_vjp(model, scene.poses, 0.5, std::min(scene.scale, 0.02), random, worst);
    }
    CHECK(pushing >= 20);
    CHECK(worst.rubbing >= 10);
    MESSAGE("worst gradient error " << worst.gradient << ", Hessian " << worst.hessian << ", by the previous pose "
                                    << worst.previous << " in " << pushing << " scenes");
}

TEST_CASE("long range: derivatives of a fading leaf and just beside both ends of its band") {
    Random random(16);
    Worst worst;
    TriangleMesh triangle;
    triangle.vertices.resize(3, 3);
    triangle.vertices << 0.1, 0.0, 0.0, -0.05, 0.08, 0.0, -0.05, -0.09, 0.01;
    triangle.triangles.resize(1, 3);
    triangle.triangles << 0, 1, 2;
    CollisionGeometry geometry = make_geometry({triangle, triangle}, false);
    for (ContactPair& pair : geometry.pairs) pair.near = true;
    LongRangeOptions options = varied_options(1);
    options.blend = {0.7};
    options.near_range = 0.5;
    const LongRange model(geometry, options);
    const double d1 = 2.0 * model.shape(1).tree.radius[0], range = 0.5 * std::sqrt(surface_area(triangle) / 6.0);
    for (const double gap : {-0.1, 0.1, 0.499, 0.501, 0.6, 0.75, 0.9}) {
        Poses poses(3);
        poses[2].rotation = random_rotation(random);
        poses[2].position = model.shape(1).tree.center[0] - poses[2].rotation * model.shape(2).tree.center[0] +
                            (d1 + gap * range) * unit_vector(random);
        check_derivatives(model, poses, 1e-3 * range, random, worst);  // no step reaches across the switch
        check_vjp(model, poses, 0.5, 1e-3 * range, random, worst);
    }
    CHECK(worst.rubbing >= 4);
    MESSAGE("worst gradient error " << worst.gradient << ", Hessian " << worst.hessian << ", by the previous pose "
                                    << worst.previous);
}
