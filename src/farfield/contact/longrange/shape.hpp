// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What the long-range model keeps of a body: its trees, and the same rotated for one evaluation.
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "farfield/geometry/sphere_tree.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::contact::longrange {

/// Four doubles, read at once: a point and one more number.
struct alignas(32) Row4 {
    double v[4] = {0.0, 0.0, 0.0, 0.0};
};

[[nodiscard]] inline Eigen::Map<const Eigen::Vector3d> point(const Row4& row) {
    return Eigen::Map<const Eigen::Vector3d>(row.v);
}

/// Of a node of the tree, read at once: the sum of the effective areas below it [m^2] and SphereTree::spread [m].
struct alignas(16) NodeExtent {
    double v[2] = {0.0, 0.0};

    [[nodiscard]] double area() const { return v[0]; }
};

/// The two children of a node as the pair recursion reads them; a leaf stands for itself and has one child.
struct ChildNodes {
    std::uint64_t as_a[2] = {0, 0};  ///< node in the low half
    std::uint64_t as_b[2] = {0, 0};  ///< node in the high half
    /// Bit 2 p + q belongs to child p of a node of A with child q of a node of B.
    unsigned valid_a = 0xf, valid_b = 0xf;
};
struct alignas(64) ChildSpheres {
    double x[2], y[2], z[2], radius[2];  ///< centres rotated to world axes
};

/// Metres.
struct Shape {
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Eigen::Vector3i> triangles;
    std::vector<double> radii;             ///< per triangle, of the ball that sweeps it
    SphereTree tree;                       ///< over triangles; empty without a mesh
    SphereTree vertex_tree;                ///< for half-spaces
    std::vector<NodeExtent> extents;       ///< per node of `tree`
    std::vector<double> vertex_area;       ///< per node of `vertex_tree`, see effective_areas
    std::vector<int> leaf;                 ///< per triangle: its node of `tree`
    std::vector<std::uint64_t> path_bits;  ///< per triangle: its path with a zero after every bit
    std::vector<ChildNodes>
        children;              ///< per node of `tree`, and last a node above the root with the root as only child
    int first_leaf_level = 0;  ///< depth of the leaf nearest to the root
    std::vector<Row4> nodes, corners, vertex_nodes;  ///< centres and tight radii; vertices; centres of the vertex tree
    double blend = 0.5;

    [[nodiscard]] bool has_mesh() const { return !triangles.empty(); }
};

/// Per triangle, a/(1 + 12 a/A) [m^2], A the whole surface: where a large face touches, so do the edges of its neighbours, and they count
/// too. Of the 12 triangles of a box 10 reach the face it stands on, of a fine mesh hardly more than the face itself.
[[nodiscard]] std::vector<double> effective_areas(const TriangleMesh& mesh);

[[nodiscard]] Shape make_shape(const TriangleMesh& mesh, double blend);

/// 0.5 for round bodies, 1 for boxes and elongated ones: fewer than 20 triangles, or principal spreads below 0.6 of the largest.
[[nodiscard]] double automatic_blend(const TriangleMesh& mesh);

/// Leaf pairs found at the same level of the pair recursion have increasing keys (I turns before J), and deeper levels larger ones.
[[nodiscard]] inline std::uint64_t pair_key(int level, std::uint64_t path_bits_a, std::uint64_t path_bits_b) {
    return (static_cast<std::uint64_t>(level) << 58) | ((path_bits_a | (path_bits_b >> 1)) >> 6);
}

/// Rotated, not translated: R x. Recomputed only when the rotation changes.
struct RotatedShape {
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Zero();
    Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< of the root
    std::vector<Row4> nodes, vertices, vertex_centers;  ///< as in Shape; the fourth number is kept
    std::vector<ChildSpheres> spheres;                  ///< as Shape::children

    void update(const Shape& shape, const Eigen::Matrix3d& new_rotation);
};

}  // namespace farfield::contact::longrange
