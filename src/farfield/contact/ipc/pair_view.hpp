// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Private to ipc*.cpp: a pair of bodies at given poses, a mesh above a half-space within it, and the terms of both.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/contact/ipc/closest.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/geometry/shape_distance.hpp"

namespace farfield::contact::ipc {

struct Ipc::PairView {
    int a, b;
    const Shape *shape_a, *shape_b;
    const WorldShape *world_a, *world_b;
    const Pose *pose_a, *pose_b;
    Eigen::Vector3d origin_a, origin_b;  ///< body origins about o, the origin of A's tree, or of B's when A has no mesh

    PairView(const ContactPair& bodies, const std::vector<Shape>& shapes, const std::vector<WorldShape>& world,
             const Poses& poses)
        : a(bodies.a),
          b(bodies.b),
          shape_a(&shapes[static_cast<std::size_t>(a)]),
          shape_b(&shapes[static_cast<std::size_t>(b)]),
          world_a(&world[static_cast<std::size_t>(a)]),
          world_b(&world[static_cast<std::size_t>(b)]),
          pose_a(&poses[static_cast<std::size_t>(a)]),
          pose_b(&poses[static_cast<std::size_t>(b)]) {
        const Eigen::Vector3d between = pose_b->position - pose_a->position;
        if (shape_a->has_mesh()) {
            origin_a = -world_a->origin;
            origin_b = between - world_a->origin;
        } else {
            origin_a = -between - world_b->origin;
            origin_b = -world_b->origin;
        }
    }

    [[nodiscard]] bool meshes() const { return shape_a->has_mesh() && shape_b->has_mesh(); }
    /// B's tree seen from A's.
    [[nodiscard]] Pose b_in_a() const {
        return {world_a->rotation.transpose() * world_b->rotation,
                world_a->rotation.transpose() * (origin_b + world_b->origin)};
    }
    /// Of the bounding spheres.
    [[nodiscard]] double sphere_gap() const {
        return (pose_b->position - pose_a->position + world_b->center - world_a->center).norm() -
               shape_a->tree.root().radius - shape_b->tree.root().radius;
    }
};

struct Ipc::SideView {
    bool surface_first = true;
    const Shape* mesh = nullptr;
    const WorldShape* world = nullptr;
    Eigen::Vector3d normal;                     ///< world axes
    Eigen::Vector3d local_normal;               ///< in the frame of the mesh's tree
    double height = 0.0;                        ///< of that frame's origin
    Eigen::Vector3d origin_mesh, origin_plane;  ///< body origins about that origin, world axes
    double sphere_gap = 0.0;                    ///< of the bounding sphere

    SideView(const HalfSpaceSide& side, const PairView& pair)
        : surface_first(side.surface_first),
          mesh(side.surface_first ? pair.shape_a : pair.shape_b),
          world(side.surface_first ? pair.world_a : pair.world_b) {
        const Pose &mesh_pose = surface_first ? *pair.pose_a : *pair.pose_b,
                   &pose = surface_first ? *pair.pose_b : *pair.pose_a;
        normal = pose.rotation * side.half_space.normal;
        local_normal = world->rotation.transpose() * normal;
        origin_mesh = -world->origin;
        origin_plane = pose.position - mesh_pose.position - world->origin;
        height = -normal.dot(origin_plane) - side.half_space.offset;
        sphere_gap = height + normal.dot(world->center - world->origin) - mesh->tree.root().radius;
    }
};

/// What a pass over all terms has seen.
struct Ipc::Nearest {
    bool finite = true;
    double gap = std::numeric_limits<double>::infinity();  ///< lower bound of the distance
};

template <class Visit>
Ipc::Nearest Ipc::for_each_height(const Barrier& barrier, const SideView& side, Visit&& visit) {
    const double range = barrier.range();
    if (side.sphere_gap >= range) return {true, side.sphere_gap};
    double lowest = std::numeric_limits<double>::infinity();
    for (const Eigen::Vector3d& x : side.mesh->vertices) {
        const double z = side.local_normal.dot(x) + side.height;
        lowest = std::min(lowest, z);
        if (z < range) {
            if (!(z > 0.0)) return {false, 0.0};
            visit(x, z);
        }
    }
    return {true, lowest};
}

template <class Visit>
Ipc::Nearest Ipc::for_each_term(const Barrier& barrier, const PairView& at, PairMemory& memory, Visit&& visit) {
    const Shape &a = *at.shape_a, &b = *at.shape_b;
    const double limit = barrier.limit(), spheres = at.sphere_gap();
    const bool clamped = barrier.form() == Form::Clamped;
    if (clamped && spheres >= barrier.range()) return {true, spheres};
    const Pose pose = at.b_in_a();
    const CandidateList& list = memory.list;
    if (clamped) {
        memory.list.update(a, b, pose, barrier.range());
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
