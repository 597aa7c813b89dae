// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Closest points between the bodies of a model, exactly, over all triangles. For tools; the solver has faster bounds.
#include <Eigen/Dense>
#include <limits>

#include "farfield/math/pose.hpp"
#include "farfield/model/model.hpp"

namespace farfield {

struct ClosestPoints {
    int a = 0, b = 0;
    double distance =
        std::numeric_limits<double>::infinity();  ///< infinite when one of them has no surface; 0 when they touch
    Eigen::Vector3d point_a = Eigen::Vector3d::Zero(), point_b = Eigen::Vector3d::Zero();  ///< world
};

/// Distance of the surfaces of one contact pair (mesh to mesh, mesh to half-space).
[[nodiscard]] ClosestPoints closest_points(const CollisionGeometry& geometry, const ContactPair& pair,
                                           const Poses& poses);

}  // namespace farfield
