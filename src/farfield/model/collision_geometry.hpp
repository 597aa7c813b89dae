// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What contact models see of a scene: surfaces in body frames, and which bodies may meet.
#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

/// {x : normal . x <= offset} in the body frame, unit normal.
struct HalfSpace {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
    double offset = 0.0;
};

struct CollisionBody {
    std::string name;
    TriangleMesh mesh;  ///< all colliding shapes of the body, body frame; may be empty
    /// The same with each sphere and capsule as one point or segment swept by a ball; empty when there are none.
    TriangleMesh round_mesh{};
    std::vector<HalfSpace> half_spaces;  ///< only on bodies that are never solved for
    bool moves = true;                   ///< false: no degree of freedom of its own or above it
};

/// Bodies a < b that may meet.
struct ContactPair {
    int a = 0, b = 0;
    std::optional<double> friction{};  ///< of this pair alone; none: the larger of its bodies'
    bool near = false;                 ///< ContactPolicy::Near
};

struct CollisionGeometry {
    std::vector<CollisionBody> bodies;  ///< index = body index, body 0 = world
    std::vector<ContactPair> pairs;     ///< sorted by (a, b)
};

/// With round meshes in place of tessellated ones. Null when nothing is round.
[[nodiscard]] std::shared_ptr<const CollisionGeometry> round_geometry(const CollisionGeometry& geometry);

}  // namespace farfield
