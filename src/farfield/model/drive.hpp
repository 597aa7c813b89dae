// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Which controls drive which coordinates: what forces of actuators and their potentials have in common.
#include <Eigen/Dense>
#include <algorithm>
#include <optional>

#include "farfield/model/model.hpp"

namespace farfield {

/// How far q is beyond a range, signed: negative below it.
[[nodiscard]] inline double excess(const std::optional<Range>& range, double q) {
    if (!range) return 0.0;
    return q < range->lower ? q - range->lower : q > range->upper ? q - range->upper : 0.0;
}

/// Entries of the control that drive one degree of freedom; -1: none, its target is 0.
struct Drive {
    double gear = 1.0;
    int force = -1, position = -1, velocity = -1;
};
[[nodiscard]] inline Drive drive_of(const Model& model, const ModelActuator& actuator, int dof) {
    const ModelJoint& joint = model.joints()[static_cast<std::size_t>(actuator.joint)];
    const bool geared = !actuator.gear.empty();
    const int local = dof - joint.dof, slot = geared ? 0 : local, width = geared ? 1 : joint.num_dofs;
    Drive out{.gear = geared ? actuator.gear[static_cast<std::size_t>(local)] : 1.0};
    if (actuator.type == ActuatorType::Motor) {
        out.force = actuator.control + slot;
    } else {
        if (actuator.position_input) out.position = actuator.control + slot;
        if (actuator.velocity_input) out.velocity = actuator.control + slot + (actuator.position_input ? width : 0);
    }
    return out;
}
[[nodiscard]] inline double input_of(const Eigen::VectorXd& control, int index) {
    return index < 0 ? 0.0 : control[index];
}

/// The three of a ball coordinate; `force` has the gear in it.
struct BallDrive {
    bool motor = false;
    Drive of[3];
    Eigen::Vector3d force, position, velocity;

    BallDrive(const Model& model, const ModelActuator& actuator, const BallCoordinate& c,
              const Eigen::VectorXd& control)
        : motor(actuator.type == ActuatorType::Motor) {
        for (int k = 0; k < 3; ++k) {
            of[k] = drive_of(model, actuator, c.dof + k);
            force[k] = of[k].gear * input_of(control, of[k].force);
            position[k] = input_of(control, of[k].position);
            velocity[k] = input_of(control, of[k].velocity);
        }
    }
};

/// Calls on_scalar(coordinate, actuator) and on_ball(coordinate, actuator) for every coordinate that an actuator of its joint drives and no script
/// moves.
template <class OnScalar, class OnBall>
void for_each_drive(const Model& model, OnScalar&& on_scalar, OnBall&& on_ball) {
    const auto each = [&](const auto& coordinates, std::size_t a, auto&& use) {  // those of a joint lie together
        const int joint = model.actuators()[a].joint;
        auto c = std::lower_bound(coordinates.begin(), coordinates.end(), joint,
                                  [](const auto& item, int index) { return item.joint < index; });
        for (; c != coordinates.end() && c->joint == joint; ++c) {
            if (!model.dofs()[static_cast<std::size_t>(c->dof)].prescribed) use(*c, static_cast<Eigen::Index>(a));
        }
    };
    for (std::size_t a = 0; a < model.actuators().size(); ++a) {
        if (model.actuators()[a].joint < 0 || !model.actuators()[a].length.empty())
            continue;  // length_terms, body_drive
        each(model.scalars(), a, on_scalar);
        each(model.balls(), a, on_ball);
    }
}

}  // namespace farfield
