// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/shape.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "farfield/base/index.hpp"

namespace farfield::contact::ipc {

Shape make_shape(const TriangleMesh& mesh) {
    Shape shape;
    if (mesh.triangles.rows() == 0) return shape;
    shape.tree = CollisionShape(mesh);
    const Pose inverse = shape.tree.frame().inverse();
    std::vector<int> index(at(static_cast<int>(mesh.vertices.rows())), -1);
    std::map<std::pair<int, int>, int> known;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        Eigen::Vector3i corners;
        Owned owned;
        for (int k = 0; k < 3; ++k) {
            const int vertex = mesh.triangles(t, k);
            if (index[at(vertex)] < 0) {
                index[at(vertex)] = static_cast<int>(shape.vertices.size());
                shape.vertices.push_back(inverse * mesh.vertices.row(vertex).transpose());
                owned.vertices[at(owned.num_vertices++)] = index[at(vertex)];
            }
            corners[k] = index[at(vertex)];
        }
        for (int k = 0; k < 3; ++k) {
            const auto ends = std::minmax(corners[k], corners[(k + 1) % 3]);
            if (!known.emplace(ends, static_cast<int>(shape.edges.size())).second) continue;
            owned.edges[at(owned.num_edges++)] = static_cast<int>(shape.edges.size());
            shape.edges.emplace_back(ends.first, ends.second);
            shape.edge_squared.push_back(
                (shape.vertices[at(ends.second)] - shape.vertices[at(ends.first)]).squaredNorm());
        }
        shape.triangles.push_back(corners);
        shape.owned.push_back(owned);
    }
    for (const Eigen::Vector3d& vertex : shape.vertices) shape.reach = std::max(shape.reach, vertex.norm());
    return shape;
}

WorldShape in_world(const Shape& shape, const Eigen::Matrix3d& rotation) {
    if (!shape.has_mesh()) return {rotation, Eigen::Vector3d::Zero(), Eigen::Vector3d::Zero()};
    WorldShape world;
    world.rotation = rotation * shape.tree.frame().rotation;
    world.origin = rotation * shape.tree.frame().position;
    world.center = world.rotation * shape.tree.root().centre + world.origin;
    return world;
}

}  // namespace farfield::contact::ipc
