// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Boundaries that are not grains: half-planes, discs and the inside of a circle.
///
/// A flat side that rests on a half-plane touches with two corners. The plain minimum over corners jumps between them and
/// makes blocks creep; a soft minimum d = h_min - eps log(Z/2), Z = sum exp(-(h - h_min)/eps), does not.
#include <Eigen/Dense>
#include <vector>

#include "farfield/grains/body.hpp"
#include "farfield/grains/shape.hpp"

namespace farfield::grains {

enum class WallKind {
    HalfPlane,  ///< grains stay where normal . x >= offset
    Disc,       ///< grains stay outside
    Container,  ///< grains stay inside
};

struct Wall {
    WallKind kind = WallKind::HalfPlane;
    Eigen::Vector2d normal = Eigen::Vector2d::UnitY();   ///< half-plane: unit, into the free side
    double offset = 0.0;                                 ///< half-plane [m]
    Eigen::Vector2d centre = Eigen::Vector2d::Zero();    ///< disc, container [m]
    double radius = 1.0;                                 ///< disc, container [m]
    Eigen::Vector2d velocity = Eigen::Vector2d::Zero();  ///< of the wall; it moves along [m/s]
    double spin = 0.0;                                   ///< disc, container: surface turns about the centre [rad/s]
    double friction = 0.5;
    bool enabled = true;
};
void validate(const Wall& wall);

/// Distance of a grain to a wall and its gradient by the grain's pose.
struct WallContact {
    double distance = 1.0;
    double g_theta = 0.0, g_x = 0.0, g_y = 0.0;
    double px = 0.0, py = 0.0;  ///< contact point, world [m]
};

/// `smoothing` is eps [m]. Far grains get some positive distance.
[[nodiscard]] WallContact wall_contact(const Wall& wall, const GrainShape& shape, const Body& body, double smoothing);

/// Distance of a circle about the grain's centroid to a wall [m], a lower bound of the grain's.
[[nodiscard]] double circle_distance(const Wall& wall, double x, double y, double radius);

/// Moves a wall by its velocity.
void advance(Wall& wall, double dt);

}  // namespace farfield::grains
