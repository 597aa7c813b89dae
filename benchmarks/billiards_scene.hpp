// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The racked billiard balls that several benchmarks are measured on.
///
/// 16 balls of radius 0.1 m, 15 racked and a cue ball, closest gap 1e-3 m, on a half-space. 32 and 128 triangles:
/// octahedron subdivided once and twice;
/// 388 triangles: hull of 196 Fibonacci points.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "farfield/geometry/triangle_mesh.hpp"
#include "farfield/scene/scene.hpp"

namespace farfield::benchmarks {

using Eigen::Vector3d;
using Eigen::Vector3i;

inline constexpr double kRadius = 0.1, kGap = 1e-3;

inline TriangleMesh to_mesh(const std::vector<Vector3d>& vertices, const std::vector<Vector3i>& triangles) {
    TriangleMesh mesh;
    mesh.name = "ball";
    mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t i = 0; i < vertices.size(); ++i)
        mesh.vertices.row(static_cast<Eigen::Index>(i)) = kRadius * vertices[i].transpose();
    for (std::size_t i = 0; i < triangles.size(); ++i)
        mesh.triangles.row(static_cast<Eigen::Index>(i)) = triangles[i].transpose();
    return mesh;
}

inline TriangleMesh octahedron_ball(int subdivisions) {
    std::vector<Vector3d> vertices{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    std::vector<Vector3i> triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (int level = 0; level < subdivisions; ++level) {
        std::map<std::pair<int, int>, int> middles;
        const auto middle = [&](int a, int b) {
            const auto [entry, fresh] =
                middles.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<int>(vertices.size()));
            if (fresh)
                vertices.push_back(
                    (vertices[static_cast<std::size_t>(a)] + vertices[static_cast<std::size_t>(b)]).normalized());
            return entry->second;
        };
        std::vector<Vector3i> finer;
        for (const Vector3i& t : triangles) {
            const int a = middle(t.x(), t.y()), b = middle(t.y(), t.z()), c = middle(t.z(), t.x());
            for (const Vector3i& s :
                 {Vector3i(t.x(), a, c), Vector3i(a, t.y(), b), Vector3i(c, b, t.z()), Vector3i(a, b, c)})
                finer.push_back(s);
        }
        triangles = finer;
    }
    return to_mesh(vertices, triangles);
}

/// Hull of Fibonacci points by gift wrapping.
inline TriangleMesh fibonacci_ball(int count) {
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i) {
        const double z = 1.0 - (2.0 * i + 1.0) / count, angle = std::numbers::pi * (1.0 + std::sqrt(5.0)) * i;
        points.emplace_back(std::sqrt(1.0 - z * z) * std::cos(angle), std::sqrt(1.0 - z * z) * std::sin(angle), z);
    }
    // Third corner of the hull triangle left of the directed edge a -> b: all other points lie behind its plane.
    const auto third = [&](int a, int b) {
        int best = -1;
        for (int c = 0; c < count; ++c) {
            if (c == a || c == b) continue;
            if (best < 0) {
                best = c;
                continue;
            }
            const Vector3d& p = points[static_cast<std::size_t>(a)];
            const Vector3d normal =
                (points[static_cast<std::size_t>(b)] - p).cross(points[static_cast<std::size_t>(best)] - p);
            if (normal.dot(points[static_cast<std::size_t>(c)] - p) > 0.0) best = c;
        }
        return best;
    };
    int neighbour = 1;  // the point nearest to point 0 makes a hull edge with it
    for (int i = 2; i < count; ++i) {
        if ((points[static_cast<std::size_t>(i)] - points[0]).norm() <
            (points[static_cast<std::size_t>(neighbour)] - points[0]).norm())
            neighbour = i;
    }
    std::vector<Vector3i> triangles;
    std::map<std::pair<int, int>, bool> done;
    std::vector<std::pair<int, int>> open{{0, neighbour}};
    while (!open.empty()) {
        const auto [a, b] = open.back();
        open.pop_back();
        if (done[{a, b}]) continue;
        const int c = third(a, b);
        triangles.emplace_back(a, b, c);
        for (const auto& edge : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
            done[edge] = true;
            if (!done[{edge.second, edge.first}]) open.emplace_back(edge.second, edge.first);
        }
    }
    return to_mesh(points, triangles);
}

inline Scene billiards(const TriangleMesh& ball) {
    Scene scene;
    scene.meshes.push_back(ball);
    const double pitch = 2.0 * kRadius + kGap;
    const auto add = [&](double x, double y) {
        const std::string name = "ball " + std::to_string(scene.bodies.size());
        scene.shapes.push_back(
            Shape{.name = name, .body = static_cast<int>(scene.bodies.size()), .type = ShapeType::Mesh, .mesh = 0});
        scene.bodies.push_back(Body{.name = name,
                                    .position = {x, y, kRadius + kGap},
                                    .joints = {Joint{.name = name, .type = JointType::Free}}});
    };
    for (int row = 0; row < 5; ++row) {
        for (int k = 0; k <= row; ++k) add(row * pitch * std::sqrt(3.0) / 2.0, (k - 0.5 * row) * pitch);
    }
    add(-pitch, 0.0);
    scene.shapes.push_back(Shape{.name = "table", .body = 0, .type = ShapeType::HalfSpace});
    return scene;
}

}  // namespace farfield::benchmarks
