// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;

namespace {

/// Wrench about the world's origin.
Vector6d at_origin(const Vector6d& wrench, const Pose& pose) {
    Vector6d moved = wrench;
    moved.tail<3>() += pose.position.cross(wrench.head<3>());
    return moved;
}

}  // namespace

TEST_CASE("long range: a rigid motion of everything changes nothing but the axes") {
    Random random(31);
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = round % 2 == 0 ? random_round_scene(random, false) : random_scene(random, false);
        const LongRange model(scene.geometry, {});
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        const Pose motion{random_rotation(random), 10.0 * normal_vector(random, 3)};
        const ContactLinearization before = evaluate(model, scene.poses, parameters);
        const ContactLinearization after = evaluate(model, transformed(scene.poses, motion), parameters);
        CHECK(after.energy == doctest::Approx(before.energy).epsilon(1e-11));
        CHECK(after.blocks[0].gap == doctest::Approx(before.blocks[0].gap).epsilon(1e-9));
        const double size = stacked(before.wrench).norm();
        for (std::size_t body = 1; body < 3; ++body) {
            Vector6d turned;
            turned << motion.rotation * before.wrench[body].head<3>(), motion.rotation * before.wrench[body].tail<3>();
            CHECK((after.wrench[body] - turned).norm() < 1e-10 * size);
        }
        Eigen::MatrixXd turn = Eigen::MatrixXd::Zero(12, 12);
        for (int k = 0; k < 4; ++k) turn.block<3, 3>(3 * k, 3 * k) = motion.rotation;
        CHECK((after.blocks[0].hessian - turn * before.blocks[0].hessian * turn.transpose()).norm() <
              1e-8 * before.blocks[0].hessian.norm());
    }
}

TEST_CASE("long range: forces and torques balance, with and without the ground") {
    Random random(32);
    for (int round = 0; round < 40; ++round) {
        const bool ground = round % 2 == 0;
        const testing::Scene scene = round % 4 < 2 ? random_round_scene(random, ground) : random_scene(random, ground);
        const LongRange model(scene.geometry, {});
        const ContactLinearization d = evaluate(model, scene.poses, make_parameters(scene.geometry, 1.0, 0.0));
        Vector6d total = Vector6d::Zero();
        double size = 0.0;
        for (std::size_t body = 0; body < 3; ++body) {
            total += at_origin(d.wrench[body], scene.poses[body]);
            size += d.wrench[body].norm();
        }
        CHECK(size > 0.0);
        CHECK(total.norm() < 1e-13 * size);
    }
}

TEST_CASE("long range: exchanging the bodies exchanges the blocks") {
    Random random(33);
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = round % 2 == 0 ? random_round_scene(random, false) : random_scene(random, false);
        CollisionGeometry swapped = scene.geometry;
        std::swap(swapped.bodies[1], swapped.bodies[2]);
        Poses poses = scene.poses;
        std::swap(poses[1], poses[2]);
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        const ContactLinearization one = evaluate(LongRange(scene.geometry, {}), scene.poses, parameters);
        const ContactLinearization two = evaluate(LongRange(swapped, {}), poses, parameters);
        CHECK(two.energy == doctest::Approx(one.energy).epsilon(1e-12));
        CHECK((one.wrench[1] - two.wrench[2]).norm() < 1e-10 * one.wrench[1].norm());
        CHECK((one.blocks[0].hessian.topLeftCorner<6, 6>() - two.blocks[0].hessian.bottomRightCorner<6, 6>()).norm() <
              1e-9 * one.blocks[0].hessian.norm());
        CHECK((one.blocks[0].hessian.topRightCorner<6, 6>() - two.blocks[0].hessian.bottomLeftCorner<6, 6>()).norm() <
              1e-9 * one.blocks[0].hessian.norm());
    }
}

TEST_CASE("long range: the same bits for 1, 2 and 4 threads, friction and vjp included") {
    Random random(34);
    std::vector<TriangleMesh> meshes;
    Poses poses(7);
    for (int body = 1; body <= 6; ++body) {
        meshes.push_back(body % 3 == 0 ? make_box({0.1, 0.1, 0.1})
                                       : (body % 3 == 1 ? make_sphere(0.1) : make_round_capsule(0.08, 0.05)));
        poses[static_cast<std::size_t>(body)] = {random_rotation(random), {0.36 * (body % 3), 0.36 * (body / 3), 0.2}};
    }
    const CollisionGeometry geometry = make_geometry(meshes, true);
    const Parameters parameters = make_parameters(geometry, 1e-3, 0.5);
    const Poses next = moved(poses, 1e-4 * normal_vector(random, 42));
    contact::Twists twists(7);
    for (Vector6d& twist : twists) twist = normal_vector(random, 6);
    ContactLinearization first;
    contact::ContactGradient first_gradient;
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        const LongRange model(geometry, {});
        const auto memory = model.make_memory(&pool);
        ContactLinearization d;
        contact::ContactGradient gradient;
        contact::ContactStep& step = model.begin_step(poses, 0.01, parameters, *memory, contact::StepMode::Backward);
        step.linearize(next, d);
        step.vjp({&twists, 1}, {&gradient, 1});
        CHECK(d.friction_energy > 0.0);
        if (threads == 1) {
            first = d;
            first_gradient = gradient;
            continue;
        }
        CHECK(d.energy == first.energy);
        CHECK(stacked(d.wrench) == stacked(first.wrench));
        CHECK(assembled(d) == assembled(first));
        CHECK(stacked(gradient.previous_wrench) == stacked(first_gradient.previous_wrench));
        CHECK(gradient.friction == first_gradient.friction);
    }
}

TEST_CASE("long range: saved memory gives the same bits, and other evaluations only change the last digits") {
    Random random(35);
    const testing::Scene scene = random_scene(random, true, 0.1);
    const LongRange model(scene.geometry, {});
    const Parameters parameters = make_parameters(scene.geometry, 1e-3, 0.5);
    const auto memory = model.make_memory(), copy = model.make_memory();
    contact::ContactStep &step = frictionless(model, scene.poses, parameters, *memory),
                         &other = frictionless(model, scene.poses, parameters, *copy);
    static_cast<void>(step.energy(scene.poses));
    copy->restore(memory->save());
    const Poses next = moved(scene.poses, 1e-4 * normal_vector(random, 18));
    ContactLinearization one, two, three;
    step.linearize(next, one);
    other.linearize(next, two);
    CHECK(one.energy == two.energy);
    CHECK(stacked(one.wrench) == stacked(two.wrench));
    CHECK(memory->save() == copy->save());
    static_cast<void>(step.energy(moved(scene.poses, 1e-3 * normal_vector(random, 18))));
    step.linearize(next, three);
    CHECK(three.energy == doctest::Approx(one.energy).epsilon(1e-12));
    CHECK((stacked(three.wrench) - stacked(one.wrench)).norm() < 1e-9 * stacked(one.wrench).norm());
    std::vector<double> foreign = memory->save();
    foreign.pop_back();
    CHECK_THROWS_AS(copy->restore(foreign), std::invalid_argument);
    CHECK_THROWS_AS(copy->restore({}), std::invalid_argument);
}

TEST_CASE("long range: friction of two bodies in the air conserves momentum") {
    Random random(36);
    int rubbing = 0;
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = random_scene(random, false, 0.1);
        const LongRange model(scene.geometry, {});
        const Parameters with = make_parameters(scene.geometry, 1e-3, 0.5),
                         without = make_parameters(scene.geometry, 1e-3, 0.0);
        const auto memory = model.make_memory();
        // translation of body 1: displaced points carry the force along, so the torque about where it acts is zero
        Poses next = scene.poses;
        const Eigen::Vector3d shift = 1e-4 * unit_vector(random);
        next[1].position += shift;
        ContactLinearization rough, smooth;
        model.begin_step(scene.poses, 0.01, with, *memory).linearize(next, rough);
        model.begin_step(scene.poses, 0.01, without, *memory).linearize(next, smooth);
        Vector6d total = Vector6d::Zero();
        for (std::size_t body = 1; body < 3; ++body) {
            total += at_origin(rough.wrench[body] - smooth.wrench[body], scene.poses[body]);
        }
        const double size = (rough.wrench[1] - smooth.wrench[1]).head<3>().norm();
        if (size == 0.0) continue;
        ++rubbing;
        const double noise = 1e-15 * stacked(smooth.wrench).norm();  // of the subtraction above
        CHECK(total.norm() < 1e-12 * size + noise);
    }
    CHECK(rubbing > 5);
}

TEST_CASE("long range: mistakes are refused by name") {
    Random random(37);
    const testing::Scene scene = random_scene(random, true);
    LongRangeOptions options;
    options.blend = {0.5, 0.5};
    CHECK_THROWS_AS(LongRange(scene.geometry, options), std::invalid_argument);
    options = {};
    options.length_scale = 0.0;
    CHECK_THROWS_AS(LongRange(scene.geometry, options), std::invalid_argument);
    CollisionGeometry bad = scene.geometry;
    bad.pairs[0].b = 9;
    CHECK_THROWS_AS(LongRange(bad, {}), std::invalid_argument);
    const LongRange model(scene.geometry, {});
    const auto memory = model.make_memory();
    Parameters parameters = make_parameters(scene.geometry, 1e-3, 0.5);
    Poses touching = scene.poses;
    touching[2] = touching[1];
    CHECK_THROWS_WITH_AS(model.begin_step(touching, 0.01, parameters, *memory),
                         doctest::Contains("bodies 'body1' and 'body2' touch"), std::invalid_argument);
    parameters.contact_stiffness = 0.0;
    CHECK_THROWS_AS(model.begin_step(scene.poses, 0.01, parameters, *memory), std::invalid_argument);
}
