// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Plane polygons with reflex corners and holes: validity, exact area moments, point queries.
///
/// The outer ring runs counter-clockwise, holes run clockwise, so the inside lies left of every edge. A ring is closed by
/// its first point, which is not repeated.
#include <Eigen/Dense>
#include <string>
#include <vector>

namespace farfield {

using Ring = std::vector<Eigen::Vector2d>;

struct Polygon {
    std::vector<Ring> rings;  ///< the outer ring, then holes [m]
};

/// The third coordinate of the cross product.
[[nodiscard]] inline double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) {
    return a.x() * b.y() - a.y() * b.x();
}

/// Throws unless every ring is finite, simple and of non-zero area, the outer one counter-clockwise and the holes
/// clockwise, and holes lie strictly inside, apart from each other. `place` starts the message.
void validate(const Polygon& polygon, const std::string& place);

struct AreaMoments {
    double area = 0.0;                                   ///< [m^2]
    Eigen::Vector2d centroid = Eigen::Vector2d::Zero();  ///< [m]
    double polar = 0.0;                                  ///< integral of |x - centroid|^2 [m^4]
};
/// Exact for polygons (Green's theorem on each edge).
[[nodiscard]] AreaMoments area_moments(const Polygon& polygon);

/// Rotated by `angle`, then moved by `shift`.
[[nodiscard]] Polygon transformed(const Polygon& polygon, double angle, const Eigen::Vector2d& shift);

/// Inside or on the boundary up to rounding (crossing number over all rings).
[[nodiscard]] bool contains(const Polygon& polygon, const Eigen::Vector2d& point);

struct PointDistance {
    double distance = 0.0;                              ///< negative inside [m]
    Eigen::Vector2d normal = Eigen::Vector2d::UnitX();  ///< gradient of `distance` by the point
    Eigen::Vector2d nearest = Eigen::Vector2d::Zero();  ///< on the boundary [m]
};
/// Exact signed distance of a point to the boundary.
[[nodiscard]] PointDistance signed_distance(const Polygon& polygon, const Eigen::Vector2d& point);

/// Corners of the convex hull, counter-clockwise, without corners on straight sides.
[[nodiscard]] Ring convex_hull(const Polygon& polygon);

/// Largest k <= 64 such that a turn by 2 pi/k about the origin maps the polygon onto itself to within `tolerance` [m].
[[nodiscard]] int rotational_symmetry(const Polygon& polygon, double tolerance);

}  // namespace farfield
