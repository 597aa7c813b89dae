// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Binary tree of nested bounding spheres over the triangles or the vertices of a mesh, built once in the body frame.
///
/// Node:  c = mean of the distinct vertices below it; of a swept triangle (TriangleMesh::radii) r below is the radius, else zero
///        radius (layered): leaf max|x - c| + r, inner max over children (|c - c_child| + radius_child)
///        tight:            max|x - c| + r over all vertices below it, never more than the layered radius
///        spread:           layered like the radius, but zero at leaves
/// Layered radii make "child sphere inside parent sphere" exact, which the blended potential of contact/longrange needs;
/// collision filters use the tight ones. Splitting at the median along the longest side of the item centres, ties,
/// up to a millionth of the node, by index, so the same mesh gives the same tree in any unit of length.
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

struct SphereTree {
    /// Nodes in depth-first order, root first; the left child of node k is k + 1.
    std::vector<Eigen::Vector3d> center;
    std::vector<double> radius, tight, spread;
    std::vector<int> right;           ///< right child, -1 at a leaf
    std::vector<int> item;            ///< triangle or vertex of a leaf, -1 elsewhere
    std::vector<std::uint32_t> path;  ///< turns from the root, first turn in the highest bit, right = 1
    int num_leaves = 0;

    [[nodiscard]] int size() const { return static_cast<int>(right.size()); }
    [[nodiscard]] bool is_leaf(int node) const { return right[static_cast<std::size_t>(node)] < 0; }
};

/// One leaf per triangle. @pre validate(mesh) passed.
[[nodiscard]] SphereTree build_triangle_tree(const TriangleMesh& mesh);

/// One leaf per vertex that belongs to a triangle, of its vertex_radii.
[[nodiscard]] SphereTree build_vertex_tree(const TriangleMesh& mesh);

}  // namespace farfield
