// SPDX-License-Identifier: Apache-2.0
/// @file  Relative motions agree with forward kinematics, and no point ever bends more than its bound.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "farfield/base/random.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/motion_bound.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

Joint random_joint(Random& random, const std::string& name, JointType type) {
    return Joint{.name = name,
                 .type = type,
                 .anchor = 0.4 * Vector3d(normal_vector(random, 3)),
                 .axis = unit_vector(random),
                 .axis2 = unit_vector(random)};
}

/// Two trees of all joint types (one floating, one on the world), a free body, a kinematic body and a fixed one.
Scene random_scene(Random& random) {
    Scene scene;
    const auto add = [&](int parent, BodyMotion motion, std::vector<Joint> joints) {
        const std::string name = "body " + std::to_string(scene.bodies.size());
        scene.bodies.push_back(Body{.name = name,
                                    .parent = parent,
                                    .position = 0.7 * Vector3d(normal_vector(random, 3)),
                                    .orientation = Eigen::Quaterniond(random_rotation(random)),
                                    .motion = motion,
                                    .joints = std::move(joints),
                                    .moments = box_moments(Vector3d::Constant(0.1), 1000.0)});
        return static_cast<int>(scene.bodies.size()) - 1;
    };
    const auto joint = [&](JointType type) { return random_joint(random, "joint " + std::to_string(random()), type); };
    const int base = add(0, BodyMotion::Dynamic, {joint(JointType::Free)});
    const int arm = add(base, BodyMotion::Dynamic, {joint(JointType::Hinge)});
    add(arm, BodyMotion::Dynamic, {joint(JointType::Slide), joint(JointType::Hinge)});
    const int leg = add(base, BodyMotion::Dynamic, {joint(JointType::Ball)});
    add(leg, BodyMotion::Dynamic, {joint(JointType::Universal)});
    const int rail = add(0, BodyMotion::Dynamic, {joint(JointType::Slide)});
    const int tool = add(rail, BodyMotion::Dynamic, {joint(JointType::Hinge), joint(JointType::Hinge)});
    add(tool, BodyMotion::Fixed, {});
    add(0, BodyMotion::Dynamic, {joint(JointType::Free)});
    add(0, BodyMotion::Kinematic, {});
    add(0, BodyMotion::Fixed, {});
    return scene;
}

VectorXd random_q(const Model& model, Random& random) {
    VectorXd q = model.default_state().q, out;
    const VectorXd delta = normal_vector(random, model.num_dofs());
    retract(model, q, delta, out);
    return out;
}

Pose random_frame(Random& random) { return {random_rotation(random), 0.3 * Vector3d(normal_vector(random, 3))}; }

/// Ratio of the measured second derivative to its bound, the worst over a few points, directions and times.
double worst_ratio(const RelativeMotion& motion, Random& random, double& directional) {
    constexpr double kStep = 1e-4;
    double worst = 0.0;
    for (int sample = 0; sample < 4; ++sample) {
        const Vector3d x = uniform(random, 0.0, 1.0) * unit_vector(random), n = unit_vector(random);
        const double t = uniform(random, kStep, 1.0 - kStep);
        const Vector3d second =
            (motion.at(t - kStep) * x - 2.0 * (motion.at(t) * x) + motion.at(t + kStep) * x) / (kStep * kStep);
        const double noise = 1e-6 * (1.0 + motion.any_direction().at(x.norm()));
        worst = std::max(worst, (second.norm() - noise) / (motion.any_direction().at(x.norm()) + 1e-9));
        const Vector3d aligned = sample % 2 == 0 ? n : Vector3d(second.stableNormalized());
        if (aligned.isZero()) continue;
        directional = std::max(directional,
                               (std::abs(aligned.dot(second)) - noise) / (motion.along(aligned).at(x.norm()) + 1e-9));
    }
    return worst;
}

}  // namespace

TEST_CASE("relative motion is that of forward kinematics") {
    Random random(11);
    double worst = 0.0;
    for (int scene = 0; scene < 20; ++scene) {
        const auto model = build_model(random_scene(random));
        const MotionPaths paths(*model);
        const Parameters& parameters = model->default_parameters();
        const VectorXd q = random_q(*model, random), delta = 0.5 * normal_vector(random, model->num_dofs());
        Kinematics start, later;
        forward_kinematics(*model, parameters, q, start);
        for (int trial = 0; trial < 40; ++trial) {
            const int a = uniform_index(random, model->num_bodies()), b = uniform_index(random, model->num_bodies());
            const Pose local_a = random_frame(random), local_b = random_frame(random);
            RelativeMotion motion;
            paths.relative(start, delta, a, b, start.poses[static_cast<std::size_t>(a)] * local_a,
                           start.poses[static_cast<std::size_t>(b)] * local_b, motion);
            const double t = uniform(random);
            VectorXd moved;
            retract(*model, q, t * delta, moved);
            forward_kinematics(*model, parameters, moved, later);
            const Pose expected = (later.poses[static_cast<std::size_t>(a)] * local_a).inverse() *
                                  (later.poses[static_cast<std::size_t>(b)] * local_b);
            const Pose found = motion.at(t);
            worst = std::max(
                {worst, (found.rotation - expected.rotation).norm(), (found.position - expected.position).norm()});
            if (a == b) CHECK(motion.is_still());
        }
    }
    CHECK(worst < 1e-12);
}

TEST_CASE("second derivatives never exceed their bounds") {
    Random random(12);
    SUBCASE("free rigid bodies") {
        double isotropic = 0.0, directional = 0.0;
        for (int trial = 0; trial < 6000; ++trial) {
            const double spin = std::pow(10.0, uniform(random, -2.0, 0.5)),
                         speed = std::pow(10.0, uniform(random, -2.0, 0.5));
            RelativeMotion motion;
            motion.begin(Pose{random_rotation(random), uniform(random, 0.0, 2.0) * unit_vector(random)});
            const int kind = trial % 4;  // both turn; only the body; only the frame; nearly together
            const Vector3d frame = spin * unit_vector(random);
            if (kind != 1)
                motion.turn(frame, kind == 0 ? Vector3d(Vector3d::Zero()) : Vector3d(0.3 * unit_vector(random)));
            motion.slide(speed * unit_vector(random));
            const Vector3d center = uniform(random) < 0.5
                                        ? motion.start().position
                                        : Vector3d(motion.start().position + 0.2 * unit_vector(random));
            if (kind == 3)
                motion.turn(-frame + 0.01 * unit_vector(random), center);
            else if (kind != 2)
                motion.turn(uniform(random, 0.0, 2.0) * unit_vector(random), center);
            motion.finish();
            isotropic = std::max(isotropic, worst_ratio(motion, random, directional));
        }
        MESSAGE("largest ratio: any direction " << isotropic << ", directional " << directional);
        CHECK(isotropic <= 1.0);
        CHECK(directional <= 1.0);
        CHECK(isotropic > 0.95);
        CHECK(directional > 0.95);
    }
    SUBCASE("articulated bodies") {
        double isotropic = 0.0, directional = 0.0;
        for (int scene = 0; scene < 60; ++scene) {
            const auto model = build_model(random_scene(random));
            const MotionPaths paths(*model);
            const VectorXd q = random_q(*model, random);
            Kinematics start;
            forward_kinematics(*model, model->default_parameters(), q, start);
            for (int trial = 0; trial < 100; ++trial) {
                VectorXd delta = std::pow(10.0, uniform(random, -2.0, 0.2)) * normal_vector(random, model->num_dofs());
                for (double& value : delta)
                    value *= uniform(random) < 0.6 ? 0.0 : 1.0;  // few joints at a time come closest to the bound
                const int a = uniform_index(random, model->num_bodies()),
                          b = uniform_index(random, model->num_bodies());
                RelativeMotion motion;
                paths.relative(start, delta, a, b, start.poses[static_cast<std::size_t>(a)],
                               start.poses[static_cast<std::size_t>(b)], motion);
                if (!motion.is_still()) isotropic = std::max(isotropic, worst_ratio(motion, random, directional));
            }
        }
        MESSAGE("largest ratio: any direction " << isotropic << ", directional " << directional);
        CHECK(isotropic <= 1.0);
        CHECK(directional <= 1.0);
        CHECK(isotropic > 0.9);
        CHECK(directional > 0.9);
    }
}

TEST_CASE("motion in common costs nothing") {
    Scene scene;
    scene.bodies.push_back(Body{.name = "base",
                                .joints = {Joint{.name = "free", .type = JointType::Free}},
                                .moments = box_moments(Vector3d::Ones(), 1.0)});
    for (const char* name : {"left", "right"}) {
        scene.bodies.push_back(Body{.name = name,
                                    .parent = 1,
                                    .position = {name[0] == 'l' ? -1.0 : 1.0, 0.0, 0.0},
                                    .joints = {Joint{.name = name, .type = JointType::Hinge}},
                                    .moments = box_moments(Vector3d::Ones(), 1.0)});
    }
    const auto model = build_model(scene);
    Kinematics start;
    forward_kinematics(*model, model->default_parameters(), model->default_state().q, start);
    VectorXd delta = VectorXd::Constant(model->num_dofs(), 0.3);
    delta.tail<2>().setZero();
    RelativeMotion motion;
    MotionPaths(*model).relative(start, delta, 2, 3, start.poses[2], start.poses[3], motion);
    CHECK(motion.is_still());

    // Spin about the normal of a plane does not bend the distance from it.
    motion.begin(Pose{});
    motion.slide({0.1, 0.2, 0.0});
    motion.turn({0.0, 0.0, 0.7}, Vector3d::Zero());
    motion.finish();
    CHECK(motion.along(Vector3d::UnitZ()).at(1.0) == 0.0);
    CHECK(motion.along(Vector3d::UnitX()).at(1.0) == doctest::Approx(0.49));
}

}  // namespace farfield
