// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What bodies feel of others that they are nowhere near.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact {

/// A pair further apart than this share of its size (see PairUnits), ten resting gaps, counts as far.
inline constexpr double kFar = 0.1;

/// Per body, the sum of the forces [N] of its far pairs, friction aside. All zero where bodies touch or cross.
[[nodiscard]] std::vector<Eigen::Vector3d> far_forces(const Model& model, const ContactPotential& potential,
                                                      const Parameters& parameters, const Poses& poses);

}  // namespace farfield::contact
