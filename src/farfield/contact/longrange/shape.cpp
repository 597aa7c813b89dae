// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/shape.hpp"

#include <Eigen/Eigenvalues>

namespace farfield::contact::longrange {

namespace {

std::uint64_t spread_bits(std::uint32_t path) {
    std::uint64_t bits = 0;
    for (int k = 0; k < 32; ++k) {
        if ((path >> k) & 1u) bits |= std::uint64_t{1} << (2 * k + 1);
    }
    return bits;
}

void rotate_all(const Eigen::Matrix3d& rotation, const std::vector<Eigen::Vector3d>& from,
                std::vector<Eigen::Vector3d>& to) {
    to.resize(from.size());
    for (std::size_t k = 0; k < from.size(); ++k) to[k].noalias() = rotation * from[k];
}

std::vector<ChildData> collect_children(const SphereTree& tree) {
    std::vector<ChildData> all(static_cast<std::size_t>(tree.size()) + 1);
    const auto set = [&](ChildData& data, int slot, int node) {
        const auto k = static_cast<std::size_t>(node);
        data.node[slot] = node;
        data.tight[slot] = tree.tight[k];
        data.share[slot] = tree.share[k];
        data.spread[slot] = tree.spread[k];
        data.item[slot] = tree.item[k];
    };
    for (int node = 0; node <= tree.size(); ++node) {
        ChildData& data = all[static_cast<std::size_t>(node)];
        const bool above_root = node == tree.size();
        data.single = above_root || tree.is_leaf(node);
        set(data, 0, above_root ? 0 : (data.single ? node : node + 1));
        set(data, 1, data.single ? data.node[0] : tree.right[static_cast<std::size_t>(node)]);
    }
    return all;
}

}  // namespace

double automatic_blend(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() < 20) return 1.0;
    const Eigen::RowVector3d mean = mesh.vertices.colwise().mean();
    const Eigen::Matrix<double, Eigen::Dynamic, 3> centred = mesh.vertices.rowwise() - mean;
    const Eigen::Vector3d spread = Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(centred.transpose() * centred)
                                       .eigenvalues()
                                       .cwiseMax(0.0)
                                       .cwiseSqrt();
    return spread.minCoeff() < 0.6 * spread.maxCoeff() ? 1.0 : 0.5;
}

Shape make_shape(const CollisionBody& body, double blend, double length_scale) {
    Shape shape;
    shape.half_spaces = body.half_spaces;
    for (HalfSpace& half_space : shape.half_spaces) half_space.offset /= length_scale;
    if (body.mesh.triangles.rows() == 0) return shape;

    TriangleMesh mesh = body.mesh;
    mesh.vertices /= length_scale;
    shape.blend = blend > 0.0 ? blend : automatic_blend(mesh);
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) shape.vertices.emplace_back(mesh.vertices.row(v));
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) shape.triangles.emplace_back(mesh.triangles.row(t));
    shape.tree = build_triangle_tree(mesh);
    shape.vertex_tree = build_vertex_tree(mesh);
    shape.children = collect_children(shape.tree);
    shape.path_bits.resize(shape.triangles.size());
    for (int node = 0; node < shape.tree.size(); ++node) {
        const auto k = static_cast<std::size_t>(node);
        if (shape.tree.is_leaf(node)) {
            shape.path_bits[static_cast<std::size_t>(shape.tree.item[k])] = spread_bits(shape.tree.path[k]);
        }
    }
    return shape;
}

void RotatedShape::update(const Shape& shape, const Eigen::Matrix3d& new_rotation) {
    if (rotation == new_rotation) return;
    rotation = new_rotation;
    rotate_all(rotation, shape.vertices, vertices);
    rotate_all(rotation, shape.vertex_tree.center, vertex_centers);
    if (!shape.has_mesh()) return;
    center = rotation * shape.tree.center.front();
    spheres.resize(shape.children.size());
    for (std::size_t k = 0; k < spheres.size(); ++k) {
        for (int slot = 0; slot < 2; ++slot) {
            const auto node = static_cast<std::size_t>(shape.children[k].node[slot]);
            const Eigen::Vector3d c = rotation * shape.tree.center[node];
            spheres[k].x[slot] = c.x();
            spheres[k].y[slot] = c.y();
            spheres[k].z[slot] = c.z();
            spheres[k].radius[slot] = shape.tree.radius[node];
        }
    }
}

}  // namespace farfield::contact::longrange
