// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Which bodies may meet: joined, overlapping, excluded and grouped pairs are left out and listed.
#include <string>
#include <vector>

#include "farfield/model/model.hpp"

namespace farfield {

struct ContactFilterResult {
    std::vector<ContactPair> pairs;
    std::vector<std::string> excluded, warnings;
};

/// Left out: bodies welded together or both immovable; joined by a joint; overlapping in the reference pose by construction (same robot, or
/// a robot and what it is mounted on); excluded by the user; groups that do not match. A pair the user includes is always kept.
/// Free bodies that overlap something in the reference pose stay in: a start there is refused, not silently let through.
[[nodiscard]] ContactFilterResult filter_contacts(const Model& model);

/// Placed relative to each other by the description of one machine, as opposed to put somewhere as an initial condition.
[[nodiscard]] bool placed_together(const Model& model, int a, int b);

}  // namespace farfield
