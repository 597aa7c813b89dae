// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What the long-range model keeps of a body: its trees in units of the length scale, and the same rotated for one evaluation.
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "farfield/geometry/sphere_tree.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::contact::longrange {

struct LongRangeOptions;

/// The two children of a node as the pair recursion reads them; a leaf stands for itself and has one child.
struct ChildData {
    double tight[2] = {0.0, 0.0}, share[2] = {1.0, 1.0}, spread[2] = {0.0, 0.0};
    int node[2] = {0, 0};
    int item[2] = {-1, -1};  ///< triangle when that child is a leaf
    bool single = false;     ///< only the first child counts
};
struct alignas(64) ChildSpheres {
    double x[2], y[2], z[2], radius[2];  ///< centres rotated to world axes
};

/// Lengths are divided by the length scale.
struct Shape {
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Eigen::Vector3i> triangles;
    SphereTree tree;                       ///< over triangles; empty without a mesh
    SphereTree vertex_tree;                ///< for half-spaces
    std::vector<std::uint64_t> path_bits;  ///< per triangle: its path with a zero after every bit
    std::vector<ChildData>
        children;  ///< per node of `tree`, and last a node above the root with the root as only child
    std::vector<HalfSpace> half_spaces;
    double blend = 0.5;

    [[nodiscard]] bool has_mesh() const { return !triangles.empty(); }
};

[[nodiscard]] Shape make_shape(const CollisionBody& body, double blend, double length_scale);

/// 0.5 for round bodies, 1 for boxes and elongated ones: fewer than 20 triangles, or principal spreads below 0.6 of the largest.
[[nodiscard]] double automatic_blend(const TriangleMesh& mesh);

/// Leaf pairs in depth-first order of the pair recursion have increasing keys (I turns before J).
[[nodiscard]] inline std::uint64_t pair_key(std::uint64_t path_bits_a, std::uint64_t path_bits_b) {
    return path_bits_a | (path_bits_b >> 1);
}

/// Rotated, not translated: R x. Recomputed only when the rotation changes.
struct RotatedShape {
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Zero();
    Eigen::Vector3d center = Eigen::Vector3d::Zero();  ///< of the root
    std::vector<Eigen::Vector3d> vertices, vertex_centers;
    std::vector<ChildSpheres> spheres;  ///< as Shape::children

    void update(const Shape& shape, const Eigen::Matrix3d& new_rotation);
};

}  // namespace farfield::contact::longrange
