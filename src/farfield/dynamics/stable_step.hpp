// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How long explicit steps may be: known beforehand, by what is stiffest at the default state.
#include "farfield/contact/force_law.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/model/drive_force.hpp"

namespace farfield {

/// The longest stable step under the stiffest pair of the law at rest under gravity [s]; a load above that makes it shorter.
/// With m the mass of a pair (inverse masses of both bodies at the default state add) and load F = m g:
///     w^2 = (k + F/sharing)/m,   z = F/(2 m w v_d):    Euler dt < 2 (sqrt(1 + z^2) - z)/w,   RK4 dt < 2.78/w
///     friction:                                        mu F dt/(m v_s) < 2 and 2.78
[[nodiscard]] double stable_contact_step(const Model& model, const Parameters& parameters, const contact::ForceLaw& law,
                                         Integrator integrator);

/// The longest stable step under damping D of joints, their dry friction at rest included, springs and drives K, at the default state [s]; infinite without. Every motion x of
/// M x'' + D x' + K x = 0 has a quotient of each matrix, so that positive definite matrices keep all motions inside the region of stability:
///     Euler   4 M - 2 dt D - dt^2 K
///     RK4     s^2 M - s D + K, 2 s M - D, s^2 M - K,   s = 2.61/dt: roots in a half disk inside the region
/// Limits of joints, which stiffen as they give way, are not in K.
[[nodiscard]] double stable_joint_step(const Model& model, const Parameters& parameters, const GainFactors& factors,
                                       Integrator integrator);

/// Throws when the steps of a context are explicit and would be longer than either, or know a force that explicit steps do not.
void require_stable_step(const StepContext& context);

}  // namespace farfield
