// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What the IPC model keeps of a body: vertices, edges and triangles in the frame of its box tree.
#include <Eigen/Dense>
#include <array>
#include <vector>

#include "farfield/geometry/collision_shape.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield::contact::ipc {

/// Every vertex and every edge belongs to one of the triangles around it, so that pairs of triangles find each pair of features once.
struct Owned {
    std::array<int, 3> vertices{}, edges{};
    int num_vertices = 0, num_edges = 0;
};

struct Shape {
    CollisionShape tree;
    std::vector<Eigen::Vector3d> vertices;  ///< frame of the tree; only those of triangles
    std::vector<Eigen::Vector3i> triangles;
    std::vector<Eigen::Vector2i> edges;
    std::vector<double> edge_squared;  ///< |edge|^2
    std::vector<Owned> owned;          ///< per triangle
    double reach = 0.0;                ///< largest |vertex|

    [[nodiscard]] bool has_mesh() const { return !triangles.empty(); }
};

[[nodiscard]] Shape make_shape(const TriangleMesh& mesh);

/// A shape in the world.
struct WorldShape {
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  ///< from the tree's frame to world axes
    Eigen::Vector3d origin = Eigen::Vector3d::Zero();  ///< of the tree's frame, from the body's origin, world axes
    Eigen::Vector3d center = Eigen::Vector3d::Zero();  ///< of the bounding sphere, from the body's origin, world axes
};
[[nodiscard]] WorldShape in_world(const Shape& shape, const Eigen::Matrix3d& rotation);

}  // namespace farfield::contact::ipc
