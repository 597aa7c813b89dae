// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  All translations of one polygon at which it touches another: the boundary of the translational obstacle.
///
/// B moved by t touches A from outside along segments of two kinds: a convex corner of B on an edge of A, and a convex
/// corner of A on an edge of B. Distance and penetration depth of A and B moved by t are the distance from t to the
/// pieces of these segments that border free space, on either side: nothing is made convex.
#include <Eigen/Dense>
#include <vector>

#include "farfield/geometry/polygon.hpp"

namespace farfield {

/// Translations p .. q of B at which `vertex` of one polygon lies on an edge of the other.
struct ContactSegment {
    Eigen::Vector2d p, q;
    Eigen::Vector2d normal;  ///< unit; translating B this way separates
    Eigen::Vector2d vertex;  ///< of A in place, or of B before its translation
    bool vertex_of_b = false;

    /// The touching point when B is moved by `translation`, a point of the segment.
    [[nodiscard]] Eigen::Vector2d touching(const Eigen::Vector2d& translation) const {
        return vertex_of_b ? Eigen::Vector2d(translation + vertex) : vertex;
    }
};

/// Segments that local geometry allows; parts of them may lie inside the obstacle.
[[nodiscard]] std::vector<ContactSegment> contact_segments(const Polygon& a, const Polygon& b);

/// The pieces that border free space. @pre no edge of A is exactly parallel to one of B (a tiny turn removes the tie).
[[nodiscard]] std::vector<ContactSegment> obstacle_boundary(const Polygon& a, const Polygon& b);

/// Whether the interiors of A and of B moved by `shift` meet. Touching configurations may go either way.
[[nodiscard]] bool interiors_meet(const Polygon& a, const Polygon& b, const Eigen::Vector2d& shift);

/// Signed distance of A and B: the gap, or minus the length of the shortest separating translation.
struct PolygonDistance {
    double distance = 0.0;                              ///< [m]
    Eigen::Vector2d normal = Eigen::Vector2d::UnitX();  ///< unit, from A to B; gradient by a translation of B
    Eigen::Vector2d point_a = Eigen::Vector2d::Zero();  ///< witness on A [m]
    Eigen::Vector2d point_b = Eigen::Vector2d::Zero();  ///< on B: point_a + distance normal
    // At a corner of the obstacle, where two contacts share the force, the points lie on its line of action.
};
[[nodiscard]] PolygonDistance polygon_distance(const Polygon& a, const Polygon& b);

/// The same for B moved by `shift`, from its obstacle boundary (not empty), and whether the interiors meet there.
[[nodiscard]] PolygonDistance distance_to_boundary(const std::vector<ContactSegment>& boundary,
                                                   const Eigen::Vector2d& shift, bool meet);

}  // namespace farfield
