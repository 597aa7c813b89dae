// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Which bodies may meet, and why the others may not.
#include <string>
#include <vector>

#include "farfield/model/model.hpp"

namespace farfield {

struct ContactPairs {
    std::vector<ContactPair> pairs;
    /// "a, b: reason" of every pair with a moving body that is left out, and what the user should know of the others.
    std::vector<std::string> excluded, warnings;
};

/// Left out, in this order:
///   "welded together"                no joint between them;
///   "excluded by the user"           Scene::exclude_contacts;
///   "groups do not match"            Shape::group, Shape::collides_with;
///   "joined"                         parent and child, unless the parent is the world or welded to it (MuJoCo's rule);
///   "contact policy 'none'"          Scene::pair_contact or, of two bodies of one tree, Scene::self_contact;
///   "overlap in the reference pose"  two bodies of one tree.
/// Scene::include_contacts keeps a pair whatever the last five say. Any other pair that overlaps in the reference pose stays in: a start
/// there is refused, not silently let through. Bodies that can never move relative to the world do not meet and are not listed.
[[nodiscard]] ContactPairs find_contact_pairs(const Model& model);

/// Placed relative to each other by the description of one tree, as opposed to put somewhere as an initial condition.
[[nodiscard]] bool placed_together(const Model& model, int a, int b);

}  // namespace farfield
