// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Motors whose force and torque turn with a body (thrusters), as a term of the incremental potential.
///
///     E = -u [F . (x+ - x) + 1/2 T . sum_k a_k x b_k],   F, T in the direction of the body at the start of the step
/// x the point of attack, a_k and b_k the axes of the body at the start and at the end. Its derivative at the start is the force itself.
#include <span>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield {

/// The parts of a step that these motors know.
struct BodyDriveStep {
    const Model& model;
    const Poses& now;
    const Eigen::VectorXd& control;
};

[[nodiscard]] double body_drive_energy(const BodyDriveStep& step, const Poses& poses);

/// Adds wrenches and blocks (against the world) per body; returns the energy.
double add_body_drives(const BodyDriveStep& step, const Poses& poses, contact::ContactLinearization& out);

/// Subtracts the derivatives of phi = twist . dE/d(v, w), twist that of a direction, by the poses at the start and by the control.
void body_drive_vjp(const BodyDriveStep& step, const Poses& poses, const std::vector<Vector6d>& twists,
                    std::vector<Vector6d>& now, Eigen::VectorXd& control);

}  // namespace farfield
