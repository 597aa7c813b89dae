// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Mechanisms with closed loops.
#include <cmath>
#include <numbers>
#include <string>

#include "farfield/math/rotation.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

inline Moments rod_moments(double mass, double length) {  // along x, from the origin
    const double across = mass * length * length / 12.0;
    return moments_from_inertia(mass, Eigen::Vector3d(0.5 * length, 0.0, 0.0),
                                Eigen::Vector3d(1e-2 * across, across, across).asDiagonal(), "rod");
}

/// Crank, coupler and rocker in the plane of x and z; the ground is the fourth bar. The hinges are parallel, so one row is redundant.
inline Scene four_bar() {
    Scene scene;
    scene.name = "four bar";
    const double crank = 0.2, coupler = 0.5, rocker = 0.35;
    const auto hinge = [](const std::string& name, double at) {
        return Joint{.name = name,
                     .type = JointType::Hinge,
                     .axis = -Eigen::Vector3d::UnitY(),
                     .reference = at,
                     .damping = 0.01};
    };
    const auto turn = [](double angle) { return Eigen::Quaterniond(exp_rotation({0.0, -angle, 0.0})); };
    // closed by hand: crank up, coupler to where the rocker's circle is met
    const Eigen::Vector2d top(0.0, crank), ground(0.45, 0.0), between = ground - top;
    const double d = between.norm(), x = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d);
    const double y = std::sqrt(coupler * coupler - x * x);
    const Eigen::Vector2d along = between / d, meet = top + x * along + y * Eigen::Vector2d(-along.y(), along.x());
    const double coupler_angle = std::atan2(meet.y() - top.y(), meet.x() - top.x());
    const double rocker_angle = std::atan2(meet.y() - ground.y(), meet.x() - ground.x());
    scene.bodies.push_back({.name = "crank", .joints = {hinge("crank", 0.0)}, .moments = rod_moments(0.4, crank)});
    scene.bodies.back().orientation = turn(0.5 * std::numbers::pi);
    scene.bodies.push_back(
        {.name = "coupler", .parent = 1, .joints = {hinge("coupler", 0.0)}, .moments = rod_moments(0.8, coupler)});
    scene.bodies.back().position = Eigen::Vector3d(crank, 0.0, 0.0);
    scene.bodies.back().orientation = turn(coupler_angle - 0.5 * std::numbers::pi);
    scene.bodies.push_back({.name = "rocker", .joints = {hinge("rocker", 0.0)}, .moments = rod_moments(0.6, rocker)});
    scene.bodies.back().position = Eigen::Vector3d(ground.x(), 0.0, ground.y());
    scene.bodies.back().orientation = turn(rocker_angle);
    scene.constraints.push_back({.name = "pin",
                                 .body = "coupler",
                                 .other = "rocker",
                                 .anchor = Eigen::Vector3d(coupler, 0.0, 0.0),
                                 .other_anchor = Eigen::Vector3d(rocker, 0.0, 0.0)});
    scene.actuators.push_back({.name = "motor", .type = ActuatorType::Motor, .joint = "crank"});
    return scene;
}

/// A platform on six legs of changing length between ball joints: three connects per ... one each.
inline Scene stewart() {
    Scene scene;
    scene.name = "stewart platform";
    Body platform{.name = "platform", .joints = {Joint{.name = "platform", .type = JointType::Free}}};
    platform.position = Eigen::Vector3d(0.0, 0.0, 0.6);
    platform.moments =
        moments_from_inertia(3.0, Eigen::Vector3d::Zero(), Eigen::Vector3d(0.03, 0.03, 0.06).asDiagonal(), "platform");
    scene.bodies.push_back(platform);
    for (int k = 0; k < 6; ++k) {
        const double spread = k % 2 == 0 ? 0.25 : -0.25,
                     base_angle = std::numbers::pi / 3.0 * (k - k % 2) * 1.0 + spread;
        const double top_angle = std::numbers::pi / 3.0 * (k - k % 2) + (k % 2 == 0 ? 0.8 : -0.8);
        const Eigen::Vector3d foot(0.5 * std::cos(base_angle), 0.5 * std::sin(base_angle), 0.0);
        const Eigen::Vector3d head(0.25 * std::cos(top_angle), 0.25 * std::sin(top_angle), 0.6);
        const Eigen::Vector3d way = head - foot;
        const double length = way.norm();
        const std::string name = "leg" + std::to_string(k);
        Body lower{.name = name + " lower",
                   .joints = {Joint{.name = name + " universal",
                                    .type = JointType::Universal,
                                    .axis = Eigen::Vector3d::UnitY(),
                                    .axis2 = Eigen::Vector3d::UnitZ(),
                                    .damping = 0.01}}};
        lower.position = foot;
        lower.orientation = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitX(), way);
        lower.moments = rod_moments(0.3, 0.5 * length);
        scene.bodies.push_back(lower);
        Body upper{
            .name = name + " upper",
            .parent = static_cast<int>(scene.bodies.size()) - 1,
            .joints = {Joint{.name = name + " slide", .type = JointType::Slide, .axis = Eigen::Vector3d::UnitX()}}};
        upper.position = Eigen::Vector3d(0.5 * length, 0.0, 0.0);
        upper.moments = rod_moments(0.2, 0.5 * length);
        scene.bodies.push_back(upper);
        scene.constraints.push_back({.name = name,
                                     .body = name + " upper",
                                     .other = "platform",
                                     .anchor = Eigen::Vector3d(0.5 * length, 0.0, 0.0),
                                     .other_anchor = head - platform.position});
        scene.actuators.push_back({.name = name,
                                   .type = ActuatorType::Pd,
                                   .joint = name + " slide",
                                   .kp = 4000.0,
                                   .kd = 80.0,
                                   .velocity_input = false});
    }
    return scene;
}

/// Two free bodies welded to each other, and joints coupled by a polynomial and by tendons.
inline Scene welded_and_coupled() {
    Scene scene;
    scene.name = "welded and coupled";
    for (const char* name : {"left", "right"}) {
        Body body{.name = name, .joints = {Joint{.name = std::string(name) + " free", .type = JointType::Free}}};
        body.position = Eigen::Vector3d(name[0] == 'l' ? -0.2 : 0.2, 0.1, 0.5);
        body.moments = moments_from_inertia(1.0, Eigen::Vector3d(0.02, 0.01, 0.0),
                                            Eigen::Vector3d(0.01, 0.02, 0.025).asDiagonal(), name);
        scene.bodies.push_back(body);
    }
    for (int k = 0; k < 3; ++k) {
        const std::string name = "arm" + std::to_string(k);
        Body body{
            .name = name,
            .parent = 1 + k % 2,
            .joints = {Joint{
                .name = name, .type = JointType::Hinge, .axis = Eigen::Vector3d(0.0, 1.0, 0.2 * k), .damping = 0.02}}};
        body.position = Eigen::Vector3d(0.1, 0.05 * k, 0.0);
        body.moments = rod_moments(0.3, 0.2);
        scene.bodies.push_back(body);
    }
    Constraint weld{.name = "weld", .type = ConstraintType::Weld, .body = "left", .other = "right"};
    weld.anchor = Eigen::Vector3d(0.2, 0.0, 0.0);
    weld.other_anchor = Eigen::Vector3d(-0.2, 0.0, 0.0);
    scene.constraints.push_back(weld);
    scene.constraints.push_back({.name = "bend",
                                 .type = ConstraintType::Coupling,
                                 .terms = {{"arm1", 1.0}, {"arm2", 0.3}},
                                 .source = {{"arm0", 1.0}},
                                 .reference = 0.05,
                                 .source_reference = -0.1,
                                 .polynomial = {-0.05 - 0.1 * 0.7 - 0.01 * 0.5, 0.7, 0.5}});
    return scene;
}

}  // namespace farfield::testing
