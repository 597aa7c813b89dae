// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What contact did to every pair of bodies in one step: where, in which direction, and how hard.
#include <Eigen/Dense>
#include <vector>

#include "farfield/dynamics/step_types.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

/// One contact pair. Forces are those that body b exerts *on body a*; those on b are opposite and equal.
struct ContactForce {
    int a = 0, b = 0;                                 ///< bodies, a < b
    double gap = 0.0;                                 ///< distance of the surfaces [m]
    Eigen::Vector3d point = Eigen::Vector3d::Zero();  ///< centre of pressure, half-way between the surfaces, world [m]
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();   ///< unit, the direction in which a is pushed
    Eigen::Vector3d force = Eigen::Vector3d::Zero();     ///< normal and friction together, world axes [N]
    double normal_force = 0.0;                           ///< force of the potential, >= 0 [N]
    Eigen::Vector3d friction = Eigen::Vector3d::Zero();  ///< friction alone, world axes [N]
    Eigen::Vector3d torque_a = Eigen::Vector3d::Zero(),  ///< on a about the origin of a [N m]
        torque_b = Eigen::Vector3d::Zero();              ///< on b about the origin of b [N m]
};

/// Forces at the end of a step from `previous` to `poses`, friction included, one entry per pair that interacts, in pair order.
/// Evaluates with a memory of its own: warm starts of a simulation stay as they are.
[[nodiscard]] std::vector<ContactForce> contact_forces(const StepContext& context, const Poses& previous,
                                                       const Poses& poses);
/// Of a force law, in a state. Then `gap` is the least separation, negative when the bodies penetrate.
[[nodiscard]] std::vector<ContactForce> contact_forces(const StepContext& context, const State& state);
/// The same without friction: nothing has moved yet.
[[nodiscard]] std::vector<ContactForce> contact_forces(const StepContext& context, const Poses& poses);

}  // namespace farfield
