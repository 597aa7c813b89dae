// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What is long, heavy and fast between two bodies: the units in which contact models choose their weights, ranges and speeds.
///
///     L = sqrt(A/6), A the smaller of both surfaces: the edge of a cube with that surface
///     m = the mass of the lighter of the links that are solved for, each with everything that hangs on it
///     a = |g|, or where there is no gravity the acceleration that takes a body through L in 10 time steps of the scene, L/(10 dt)^2
/// They are constants of the model: of its default parameters and its default time step, whatever a rollout is given.
/// m and L are those of the smaller and the lighter whichever body that is, so that what is light is never lifted from afar by what is
/// heavy, and no gap is large beside either body. Bodies that are only scripted, and the world, have no say in m.
#include <cmath>
#include <vector>

#include "farfield/model/model.hpp"

namespace farfield::contact {

struct PairUnits {
    double length = 1.0;        ///< [m]
    double mass = 1.0;          ///< [kg]
    double acceleration = 1.0;  ///< [m/s^2]

    [[nodiscard]] double area() const { return 6.0 * length * length; }
    [[nodiscard]] double force() const { return mass * acceleration; }
    [[nodiscard]] double energy() const { return mass * acceleration * length; }
    [[nodiscard]] double speed() const { return std::sqrt(acceleration * length); }
};

/// Per pair.
[[nodiscard]] std::vector<PairUnits> pair_units(const Model& model, const std::vector<ContactPair>& pairs);
/// Where only surfaces are known: mass and acceleration are 1.
[[nodiscard]] std::vector<PairUnits> pair_units(const CollisionGeometry& geometry,
                                                const std::vector<ContactPair>& pairs);

/// The speed [m/s] below which friction fades unless one is given.
inline constexpr double kSlipShare = 1e-3;  ///< of the speed of the pair
[[nodiscard]] inline double automatic_slip_speed(const PairUnits& units) { return kSlipShare * units.speed(); }

}  // namespace farfield::contact
