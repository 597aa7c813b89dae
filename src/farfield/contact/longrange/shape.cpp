// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/shape.hpp"

#include <algorithm>

#include "farfield/contact/longrange/leaf_lanes.hpp"
#include "farfield/geometry/principal_axes.hpp"

namespace farfield::contact::longrange {

namespace {

std::uint64_t spread_bits(std::uint32_t path) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 32; ++k) {
        if ((path >> k) & 1u) bits |= std::uint64_t{1} << (2 * k + 1);
    }
    return bits;
}

std::vector<Row4> rows(const std::vector<Eigen::Vector3d>& points, const std::vector<double>* last) {
    std::vector<Row4> out(points.size());
    for (std::size_t k = 0; k < points.size(); ++k) {
        for (int c = 0; c < 3; ++c) out[k].v[c] = points[k][c];
        if (last != nullptr) out[k].v[3] = (*last)[k];
    }
    return out;
}

std::vector<ChildNodes> collect_children(const SphereTree& tree) {
    std::vector<ChildNodes> all(static_cast<std::size_t>(tree.size()) + 1);
    for (int node = 0; node <= tree.size(); ++node) {
        ChildNodes& children = all[static_cast<std::size_t>(node)];
        const bool above_root = node == tree.size(), single = above_root || tree.is_leaf(node);
        const int first = above_root ? 0 : (single ? node : node + 1);
        const int second = single ? first : tree.right[static_cast<std::size_t>(node)];
        children.as_a[0] = static_cast<std::uint64_t>(first);
        children.as_a[1] = static_cast<std::uint64_t>(second);
        for (int slot = 0; slot < 2; ++slot) children.as_b[slot] = children.as_a[slot] << 32;
        if (single) children.valid_a = 0x3, children.valid_b = 0x5;
    }
    return all;
}

/// Depth of the leaf nearest to the root of the subtree at `node`.
int nearest_leaf(const SphereTree& tree, int node) {
    if (tree.is_leaf(node)) return 0;
    return 1 + std::min(nearest_leaf(tree, node + 1), nearest_leaf(tree, tree.right[static_cast<std::size_t>(node)]));
}

/// Of every node, from those of the items.
std::vector<double> sum_up(const SphereTree& tree, const std::vector<double>& items) {
    std::vector<double> sums(static_cast<std::size_t>(tree.size()));
    for (int node = tree.size() - 1; node >= 0; --node) {
        const auto k = static_cast<std::size_t>(node);
        sums[k] = tree.is_leaf(node) ? items[static_cast<std::size_t>(tree.item[k])]
                                     : sums[k + 1] + sums[static_cast<std::size_t>(tree.right[k])];
    }
    return sums;
}

/// A third of each triangle around a vertex.
std::vector<double> share_out(const TriangleMesh& mesh, const std::vector<double>& triangles) {
    std::vector<double> vertices(static_cast<std::size_t>(mesh.vertices.rows()), 0.0);
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        for (int k = 0; k < 3; ++k)
            vertices[static_cast<std::size_t>(mesh.triangles(t, k))] += triangles[static_cast<std::size_t>(t)] / 3.0;
    }
    return vertices;
}

}  // namespace

std::vector<double> effective_areas(const TriangleMesh& mesh) {
    const double whole = surface_area(mesh);
    std::vector<double> areas = triangle_areas(mesh);
    for (double& area : areas) area /= 1.0 + 12.0 * (area / whole);
    return areas;
}

double automatic_blend(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() < 20) return 1.0;
    const Eigen::Vector3d spread = principal_spread(mesh.vertices);
    return spread[0] < 0.6 * spread[2] ? 1.0 : 0.5;
}

Shape make_shape(const TriangleMesh& mesh, double blend) {
    Shape shape;
    if (mesh.triangles.rows() == 0) return shape;
    shape.blend = blend > 0.0 ? blend : automatic_blend(mesh);
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) shape.vertices.emplace_back(mesh.vertices.row(v));
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) shape.triangles.emplace_back(mesh.triangles.row(t));
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) shape.radii.push_back(mesh.radius(t));
    shape.tree = build_triangle_tree(mesh);
    shape.vertex_tree = build_vertex_tree(mesh);
    const std::vector<double> areas = effective_areas(mesh);
    const std::vector<double> sums = sum_up(shape.tree, areas);
    for (std::size_t k = 0; k < sums.size(); ++k) shape.extents.push_back({{sums[k], shape.tree.spread[k]}});
    shape.vertex_area = sum_up(shape.vertex_tree, share_out(mesh, areas));
    shape.children = collect_children(shape.tree);
    shape.first_leaf_level = nearest_leaf(shape.tree, 0);
    shape.nodes = rows(shape.tree.center, &shape.tree.tight);
    shape.corners = rows(shape.vertices, nullptr);
    shape.vertex_nodes = rows(shape.vertex_tree.center, nullptr);
    shape.path_bits.resize(shape.triangles.size());
    shape.leaf.resize(shape.triangles.size());
    for (int node = 0; node < shape.tree.size(); ++node) {
        const auto k = static_cast<std::size_t>(node);
        if (shape.tree.is_leaf(node)) {
            shape.path_bits[static_cast<std::size_t>(shape.tree.item[k])] = spread_bits(shape.tree.path[k]);
            shape.leaf[static_cast<std::size_t>(shape.tree.item[k])] = node;
        }
    }
    return shape;
}

void RotatedShape::update(const Shape& shape, const Eigen::Matrix3d& new_rotation) {
    if (rotation == new_rotation) return;
    rotation = new_rotation;
    rotate_rows(rotation, shape.corners, vertices);
    rotate_rows(rotation, shape.vertex_nodes, vertex_centers);
    if (!shape.has_mesh()) return;
    rotate_rows(rotation, shape.nodes, nodes);
    center = point(nodes.front());
    spheres.resize(shape.children.size());
    for (std::size_t k = 0; k < spheres.size(); ++k) {
        for (int slot = 0; slot < 2; ++slot) {
            const std::uint64_t node = shape.children[k].as_a[slot];
            const double(&c)[4] = nodes[node].v;
            spheres[k].x[slot] = c[0];
            spheres[k].y[slot] = c[1];
            spheres[k].z[slot] = c[2];
            spheres[k].radius[slot] = shape.tree.radius[node];
        }
    }
}

}  // namespace farfield::contact::longrange
