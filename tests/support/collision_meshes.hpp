// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Meshes that are hard for collision queries, small enough for brute force, and scenes made of them.
#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "farfield/geometry/primitives.hpp"
#include "farfield/geometry/triangle_mesh.hpp"
#include "farfield/model/model.hpp"

namespace farfield::test {

inline TriangleMesh make_mesh(const std::vector<Eigen::Vector3d>& vertices,
                              const std::vector<Eigen::Vector3i>& triangles) {
    TriangleMesh mesh;
    mesh.name = "mesh";
    mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t i = 0; i < vertices.size(); ++i)
        mesh.vertices.row(static_cast<Eigen::Index>(i)) = vertices[i].transpose();
    for (std::size_t i = 0; i < triangles.size(); ++i)
        mesh.triangles.row(static_cast<Eigen::Index>(i)) = triangles[i].transpose();
    return mesh;
}

/// Around the z axis.
inline TriangleMesh make_torus(double major, double minor, int around, int across) {
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Eigen::Vector3i> triangles;
    for (int i = 0; i < around; ++i) {
        for (int j = 0; j < across; ++j) {
            const double u = 2.0 * std::numbers::pi * i / around, v = 2.0 * std::numbers::pi * j / across;
            const double r = major + minor * std::cos(v);
            vertices.emplace_back(r * std::cos(u), r * std::sin(u), minor * std::sin(v));
            const int a = i * across + j, b = ((i + 1) % around) * across + j;
            const int c = ((i + 1) % around) * across + (j + 1) % across, d = i * across + (j + 1) % across;
            triangles.emplace_back(a, b, c);
            triangles.emplace_back(a, c, d);
        }
    }
    return make_mesh(vertices, triangles);
}

/// A rectangle without thickness in the xy plane: two triangles, open.
inline TriangleMesh make_sheet(double half_x, double half_y) {
    return make_mesh({{-half_x, -half_y, 0.0}, {half_x, -half_y, 0.0}, {half_x, half_y, 0.0}, {-half_x, half_y, 0.0}},
                     {{0, 1, 2}, {0, 2, 3}});
}

/// Profile of the letter U in the xz plane (outer half width and height 1 x 1, walls `wall`), drawn out along y.
inline TriangleMesh make_channel(double half_width, double height, double wall, double half_length) {
    const double w = half_width, h = height, t = wall;
    const std::vector<Eigen::Vector2d> profile{{-w, 0},    {w, 0},      {w, h},      {w - t, h},
                                               {w - t, t}, {-w + t, t}, {-w + t, h}, {-w, h}};
    const std::vector<Eigen::Vector3i> cap{{0, 1, 4}, {0, 4, 5}, {1, 2, 3}, {1, 3, 4}, {0, 5, 6}, {0, 6, 7}};
    std::vector<Eigen::Vector3d> vertices;
    std::vector<Eigen::Vector3i> triangles;
    for (const double y : {-half_length, half_length}) {
        for (const auto& p : profile) vertices.emplace_back(p.x(), y, p.y());
    }
    for (const auto& c : cap) {
        triangles.push_back(c);
        triangles.emplace_back(c.x() + 8, c.z() + 8, c.y() + 8);
    }
    for (int k = 0; k < 8; ++k) {
        const int next = (k + 1) % 8;
        triangles.emplace_back(k, k + 8, next + 8);
        triangles.emplace_back(k, next + 8, next);
    }
    return make_mesh(vertices, triangles);
}

/// A fan of triangles a thousand times longer than wide.
inline TriangleMesh make_slivers(double length, int count) {
    std::vector<Eigen::Vector3d> vertices{{0.0, 0.0, 0.0}};
    std::vector<Eigen::Vector3i> triangles;
    for (int k = 0; k <= count; ++k) vertices.emplace_back(length, 1e-3 * length * k, 1e-3 * length * (k % 2));
    for (int k = 0; k < count; ++k) triangles.emplace_back(0, k + 1, k + 2);
    return make_mesh(vertices, triangles);
}

/// A body of its own that carries `mesh`; returns its index.
inline int add_free_body(Scene& scene, const std::string& name, const TriangleMesh& mesh,
                         const Eigen::Vector3d& position = Eigen::Vector3d::Zero()) {
    const int body = static_cast<int>(scene.bodies.size());
    scene.bodies.push_back(Body{.name = name,
                                .position = position,
                                .joints = {Joint{.name = name, .type = JointType::Free}},
                                .moments = box_moments(Eigen::Vector3d::Constant(0.1), 1000.0)});
    scene.meshes.push_back(mesh);
    scene.shapes.push_back(
        Shape{.name = name, .body = body, .type = ShapeType::Mesh, .mesh = static_cast<int>(scene.meshes.size()) - 1});
    return body;
}

/// Two free bodies, far apart in the reference pose.
inline std::shared_ptr<const Model> two_bodies(const TriangleMesh& a, const TriangleMesh& b) {
    Scene scene;
    add_free_body(scene, "a", a, {0.0, 0.0, -50.0});
    add_free_body(scene, "b", b, {0.0, 0.0, 50.0});
    return build_model(scene);
}

}  // namespace farfield::test
