// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Friction of the IPC model: every term acts with the normal force, normal and closest points it had at the start of the step.
///
/// Formula:   D = load f0(|u|),   u = (1 - n n^T)((x_a - a) - (x_b - b)),   e = slip_speed dt
///            f0(y) = y for y >= e, else -y^3/(3 e^2) + y^2/e + e/3                             [Li2020, Eq. (19)]
/// with x_a, x_b the places to which the bodies have carried their closest points a, b.
/// Deviation: nearly parallel edges rub with their mollified force instead of not at all, so that loads are continuous.
#include "farfield/contact/plane_friction/plane_friction.hpp"

namespace farfield::contact::ipc {

struct LaggedContact {
    Eigen::Vector3d a, b, normal;  ///< relative to a point common to both bodies, world axes
    double load = 0.0;             ///< per unit of weight and friction coefficient
    SlipDual<3> dual{};            ///< of u
};

/// Both bodies from the start of the step to now, and the slip e [m] from which friction is full.
struct Slip {
    BodyMotion a, b;
    double full = 1e-5;
};

[[nodiscard]] double slip_energy(const LaggedContact& contact, const Slip& slip);
void add_slip(LaggedContact& contact, const Slip& slip, Multiplier multiplier, FrictionSum& sum);

/// Derivatives of phi = twist_a . dD/d(v, w)_a + twist_b . dD/d(v, w)_b by everything lagged.
struct SlipAdjoint {
    double phi = 0.0, load = 0.0;
    Eigen::Vector3d a, b, normal;     ///< poses at the start held
    Vector6d previous_a, previous_b;  ///< by the poses at the start, a, b and normal held
};
[[nodiscard]] SlipAdjoint slip_vjp(const LaggedContact& contact, const Slip& slip, const Vector6d& twist_a,
                                   const Vector6d& twist_b);

}  // namespace farfield::contact::ipc
