// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Private to ipc*.cpp: a pair of bodies where they are, and the half-spaces between them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/geometry/shape_distance.hpp"

namespace farfield::contact::ipc {

struct Ipc::Placed {
    int pair, a, b;
    const Shape *shape_a, *shape_b;
    const PlacedShape *placed_a, *placed_b;
    const Pose *pose_a, *pose_b;
    Eigen::Vector3d origin_a, origin_b;  ///< body origins about o, the origin of A's tree, or of B's when A has no mesh

    Placed(int index, const ContactPair& bodies, const Shape& sa, const Shape& sb, const PlacedShape& pa,
           const PlacedShape& pb, const Pose& xa, const Pose& xb)
        : pair(index),
          a(bodies.a),
          b(bodies.b),
          shape_a(&sa),
          shape_b(&sb),
          placed_a(&pa),
          placed_b(&pb),
          pose_a(&xa),
          pose_b(&xb) {
        const Eigen::Vector3d between = xb.position - xa.position;
        if (sa.has_mesh()) {
            origin_a = -pa.origin;
            origin_b = between - pa.origin;
        } else {
            origin_a = -between - pb.origin;
            origin_b = -pb.origin;
        }
    }

    [[nodiscard]] bool meshes() const { return shape_a->has_mesh() && shape_b->has_mesh(); }
    /// B's tree seen from A's.
    [[nodiscard]] Pose b_in_a() const {
        return {placed_a->rotation.transpose() * placed_b->rotation,
                placed_a->rotation.transpose() * (origin_b + placed_b->origin)};
    }
    /// Of the bounding spheres.
    [[nodiscard]] double sphere_gap() const {
        return (pose_b->position - pose_a->position + placed_b->center - placed_a->center).norm() -
               shape_a->tree.root().radius - shape_b->tree.root().radius;
    }
};

struct Ipc::Facing {
    bool mesh_is_a = true;
    const Shape* mesh = nullptr;
    const PlacedShape* placed = nullptr;
    Eigen::Vector3d normal;                     ///< world axes
    Eigen::Vector3d local_normal;               ///< in the frame of the mesh's tree
    double height = 0.0;                        ///< of that frame's origin
    Eigen::Vector3d origin_mesh, origin_plane;  ///< body origins about that origin, world axes
    double center_height = 0.0;                 ///< of the bounding sphere
};

struct Ipc::Nearest {
    bool finite = true;
    double gap = std::numeric_limits<double>::infinity();  ///< lower bound of the distance
};

template <class Work>
void Ipc::for_each_half_space(const Placed& at, Work&& work) const {
    const auto one_side = [&](bool mesh_is_a) {
        const Shape &mesh = mesh_is_a ? *at.shape_a : *at.shape_b, &other = mesh_is_a ? *at.shape_b : *at.shape_a;
        if (!mesh.has_mesh()) return;
        const PlacedShape& placed = mesh_is_a ? *at.placed_a : *at.placed_b;
        const Pose &mesh_pose = mesh_is_a ? *at.pose_a : *at.pose_b, &pose = mesh_is_a ? *at.pose_b : *at.pose_a;
        for (const HalfSpace& half_space : other.half_spaces) {
            Facing facing;
            facing.mesh_is_a = mesh_is_a;
            facing.mesh = &mesh;
            facing.placed = &placed;
            facing.normal = pose.rotation * half_space.normal;
            facing.local_normal = placed.rotation.transpose() * facing.normal;
            facing.origin_mesh = -placed.origin;
            facing.origin_plane = pose.position - mesh_pose.position - placed.origin;
            facing.height = -facing.normal.dot(facing.origin_plane) - half_space.offset;
            facing.center_height = facing.height + facing.normal.dot(placed.center - placed.origin);
            work(facing);
        }
    };
    one_side(true);
    one_side(false);
}

template <class Visit>
Ipc::Nearest Ipc::for_each_height(const Facing& facing, Visit&& visit) const {
    const double limit = barrier_.limit(), range = std::sqrt(limit);
    const double sphere = facing.center_height - facing.mesh->tree.root().radius;
    if (sphere >= range) return {true, sphere};
    double lowest = std::numeric_limits<double>::infinity();
    for (const Eigen::Vector3d& x : facing.mesh->vertices) {
        const double z = facing.local_normal.dot(x) + facing.height;
        lowest = std::min(lowest, z);
        if (z < range) {
            if (!(z > 0.0)) return {false, 0.0};
            visit(x, z);
        }
    }
    return {true, lowest};
}

template <class Visit>
Ipc::Nearest Ipc::for_each_term(const Placed& at, PairMemory& memory, Visit&& visit) const {
    const Shape &a = *at.shape_a, &b = *at.shape_b;
    const double limit = barrier_.limit(), spheres = at.sphere_gap();
    const bool clamped = barrier_.form() == Form::Clamped;
    if (clamped && spheres >= options_.range) return {true, spheres};
    const Pose pose = at.b_in_a();
    const CandidateList& list = memory.list;
    if (clamped) {
        memory.list.update(a, b, pose, options_.range);
        if (any_crossing(a, b, pose, list.triangles)) return {false, 0.0};
    } else {
        if (crossing_point(a.tree, b.tree, pose)) return {false, 0.0};
        memory.vertices_b.clear();
        for (const Eigen::Vector3d& vertex : b.vertices) memory.vertices_b.push_back(pose * vertex);
    }
    const auto index = [](int k) { return static_cast<std::size_t>(k); };
    const auto on_b = [&](int v) -> Eigen::Vector3d {
        return clamped ? Eigen::Vector3d(pose * b.vertices[index(v)]) : memory.vertices_b[index(v)];
    };
    double nearest = limit;
    Closest closest;
    const Mollifier one;
    const auto offer = [&] {
        nearest = std::min(nearest, closest.squared);
        if (closest.squared < limit && closest.squared > 0.0) visit(closest, one);
    };
    const auto vertex_of_a = [&](int vertex, int triangle) {
        const Eigen::Vector3i& y = b.triangles[index(triangle)];
        vertex_face(a.vertices[index(vertex)], on_b(y[0]), on_b(y[1]), on_b(y[2]), closest);
        offer();
    };
    const auto vertex_of_b = [&](int triangle, int vertex) {
        const Eigen::Vector3i& x = a.triangles[index(triangle)];
        face_vertex(a.vertices[index(x[0])], a.vertices[index(x[1])], a.vertices[index(x[2])], on_b(vertex), closest);
        offer();
    };
    const auto edges = [&](int edge_a, int edge_b) {
        const Eigen::Vector2i &e = a.edges[index(edge_a)], &f = b.edges[index(edge_b)];
        const Eigen::Vector3d &x0 = a.vertices[index(e[0])], &x1 = a.vertices[index(e[1])];
        const Eigen::Vector3d y0 = on_b(f[0]), y1 = on_b(f[1]);
        edge_edge(x0, x1, y0, y1, closest);
        nearest = std::min(nearest, closest.squared);
        if (!(closest.squared < limit && closest.squared > 0.0)) return;
        visit(closest, edge_mollifier(x1 - x0, y1 - y0,
                                      kParallelLimit * a.edge_squared[index(edge_a)] * b.edge_squared[index(edge_b)]));
    };
    if (clamped) {
        for (const FeaturePair& pair : list.vertex_face) vertex_of_a(pair.a, pair.b);
        for (const FeaturePair& pair : list.face_vertex) vertex_of_b(pair.a, pair.b);
        for (const FeaturePair& pair : list.edge_edge) edges(pair.a, pair.b);
    } else {
        const auto size = [](const auto& items) { return static_cast<int>(items.size()); };
        for (int i = 0; i < size(a.vertices); ++i)
            for (int j = 0; j < size(b.triangles); ++j) vertex_of_a(i, j);
        for (int i = 0; i < size(a.triangles); ++i)
            for (int j = 0; j < size(b.vertices); ++j) vertex_of_b(i, j);
        for (int i = 0; i < size(a.edges); ++i)
            for (int j = 0; j < size(b.edges); ++j) edges(i, j);
    }
    return {nearest > 0.0, std::max(spheres, std::sqrt(nearest))};
}

}  // namespace farfield::contact::ipc
