// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Relative poses and the contact law, with a pair per SIMD lane.
#include <cstddef>
#include <cstdint>

#include "farfield/grains/body.hpp"
#include "farfield/grains/contact_law.hpp"
#include "farfield/grains/contact_map.hpp"

namespace farfield::grains {

/// A pair of the neighbour list: slots of A and B. A has the lower shape, or the lower number among equal shapes.
struct ListPair {
    std::int32_t a = 0, b = 0;
};

/// What a pair adds to B; A gets the opposite force.
struct alignas(32) PairForce {
    double fx = 0.0, fy = 0.0, torque_a = 0.0, torque_b = 0.0;
};

/// Poses of B in A's frame of `count` pairs.
void relative_poses(const Body* bodies, const ListPair* pairs, std::size_t count, Relative* poses);

/// Forces of `count` touching pairs. Entry k belongs to pair index[k]: its pose and map value are poses[k] and values[k]; the
/// friction spring springs[index[k]] is advanced by a step as in friction_force, and forces[index[k]] is written. A pair's result
/// does not depend on its neighbours in the list.
void pair_forces(const Body* bodies, const ListPair* pairs, const std::int32_t* index, std::size_t count,
                 const Relative* poses, const MapValue* values, const ContactLaw& law, double dt, Spring* springs,
                 PairForce* forces);

}  // namespace farfield::grains
