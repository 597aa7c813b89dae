// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Scenes shared by C++ tests.
#include <string>

#include "farfield/base/random.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

inline Body random_body(Random& random, const std::string& name, int parent) {
    const Eigen::Matrix3d axes = random_rotation(random);
    Body body{.name = name, .parent = parent};
    body.position = 0.3 * normal_vector(random, 3);
    body.orientation = Eigen::Quaterniond(random_rotation(random));
    const Eigen::Vector3d size(uniform(random, 0.1, 0.3), uniform(random, 0.1, 0.3), uniform(random, 0.1, 0.3));
    const double mass = uniform(random, 0.3, 2.0);
    const Eigen::Vector3d square = size.cwiseAbs2();
    const Eigen::Matrix3d inertia =
        mass / 3.0 * axes * (square.sum() * Eigen::Matrix3d::Identity() - Eigen::Matrix3d(square.asDiagonal())) *
        axes.transpose();
    body.moments = moments_from_inertia(mass, 0.1 * normal_vector(random, 3), inertia, name);
    return body;
}

inline Joint random_joint(Random& random, const std::string& name, JointType type) {
    Joint joint{.name = name, .type = type};
    joint.anchor = 0.1 * normal_vector(random, 3);
    joint.axis = unit_vector(random);
    joint.axis2 = joint.axis.cross(unit_vector(random)).normalized();
    joint.damping = 0.2;
    joint.armature = 0.05;
    joint.stiffness = 1.5;
    if (type == JointType::Hinge || type == JointType::Slide) {
        joint.reference = 0.2;
        joint.spring_reference = 0.1;
        joint.range = Range{-0.05, 0.05};  // reference lies outside: the limit acts from the start
        joint.limit_stiffness = 50.0;
    }
    if (type == JointType::Ball) {
        joint.range = Range{0.0, 0.3};
        joint.limit_stiffness = 50.0;
    }
    return joint;
}

/// A tree with every joint type, several joints on one body, a tie, every kind of actuator; free root.
inline Scene zoo(std::uint64_t seed, bool free_root = true) {
    Random random(seed);
    Scene scene;
    scene.name = "zoo";
    const auto add = [&](const std::string& name, int parent, std::vector<JointType> types) {
        Body body = random_body(random, name, parent);
        for (std::size_t k = 0; k < types.size(); ++k)
            body.joints.push_back(random_joint(random, name + " joint " + std::to_string(k), types[k]));
        scene.bodies.push_back(body);
        return static_cast<int>(scene.bodies.size()) - 1;
    };
    const int root = add("root", 0, {free_root ? JointType::Free : JointType::Hinge});
    const int ball = add("ball", root, {JointType::Ball});
    const int universal = add("universal", ball, {JointType::Universal});
    const int fixed = add("fixed", universal, {});
    const int hinge = add("hinge", fixed, {JointType::Hinge});
    const int several = add("several", root, {JointType::Slide, JointType::Hinge, JointType::Ball});
    const int left = add("left", hinge, {JointType::Hinge});
    const int right = add("right", several, {JointType::Hinge});
    (void)left;
    (void)right;
    scene.bodies[static_cast<std::size_t>(fixed)].motion = BodyMotion::Fixed;
    scene.ties.push_back(Tie{.joint = "right joint 0", .source = "left joint 0", .ratio = -0.7, .offset = 0.1});
    scene.actuators = {
        Actuator{.name = "pd root", .type = ActuatorType::Pd, .joint = "root joint 0", .kp = 20.0, .kd = 2.0},
        Actuator{.name = "pd ball", .type = ActuatorType::Pd, .joint = "ball joint 0", .kp = 5.0, .kd = 0.5},
        Actuator{.name = "motor ball", .type = ActuatorType::Motor, .joint = "several joint 2"},
        Actuator{.name = "geared ball", .type = ActuatorType::Motor, .joint = "ball joint 0", .gear = {0.3, -0.2, 0.5}},
        Actuator{.name = "pd universal",
                 .type = ActuatorType::Pd,
                 .joint = "universal joint 0",
                 .kp = 4.0,
                 .kd = 0.4,
                 .velocity_input = false},
        Actuator{
            .name = "geared", .type = ActuatorType::Pd, .joint = "hinge joint 0", .kp = 3.0, .kd = 0.3, .gear = {1.7}},
        Actuator{
            .name = "velocity", .type = ActuatorType::Pd, .joint = "left joint 0", .kd = 0.3, .position_input = false},
        Actuator{.name = "motor", .type = ActuatorType::Motor, .joint = "several joint 0", .gear = {2.0}},
    };
    return scene;
}

/// A kinematic body carrying a pendulum, beside the zoo.
inline Scene zoo_with_kinematic(std::uint64_t seed) {
    Scene scene = zoo(seed);
    Random random(seed + 1000);
    Body carrier = random_body(random, "carrier", 0);
    carrier.motion = BodyMotion::Kinematic;
    scene.bodies.push_back(carrier);
    Body bob = random_body(random, "bob", static_cast<int>(scene.bodies.size()) - 1);
    bob.joints.push_back(random_joint(random, "bob joint", JointType::Ball));
    scene.bodies.push_back(bob);
    return scene;
}

/// A random state near the default one, on the ties.
inline State random_state(const Model& model, Random& random, double spread = 0.4) {
    State state;
    const Eigen::VectorXd z = spread * normal_vector(random, model.num_unknowns());
    const Eigen::VectorXd w = normal_vector(random, model.num_unknowns());
    retract(model, model.default_state().q, model.reduction().E * z, state.q);
    state.v = model.reduction().E * w;
    return state;
}

}  // namespace farfield::testing
