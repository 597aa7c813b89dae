// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Lagged friction on a plane that belongs to body B, such as the ground: the same as plane_friction.hpp without u and omega.
///
///     D = dt sum_m a_m psi(w_m),   w_m = B^T (x_m^A - x_m^B)/dt
/// with x^A, x^B the places to which both bodies have carried the same point y_m. Each point stands for both sides, so
/// `PlaneContact::split` plays no role, and slip is measured once: `smoothing` here equals 4 times that of a free plane,
/// which splits the slip over its two sides.
#include "farfield/contact/plane_friction/plane_friction.hpp"

namespace farfield::contact {

[[nodiscard]] double fixed_friction_energy(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                                           const SlipModel& model);

void add_fixed_friction(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                        FrictionSum& sum, const SlipDuals& duals = {});

[[nodiscard]] FrictionAdjoint fixed_friction_vjp(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                                                 const SlipModel& model, const Vector6d& twist_a,
                                                 const Vector6d& twist_b, std::span<FrictionPoint> points);

}  // namespace farfield::contact
