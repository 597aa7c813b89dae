// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/triangle_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

void check_vertices(const TriangleMesh& mesh) {
    if (mesh.vertices.rows() == 0) fail("mesh '", mesh.name, "': no vertices, expected at least 3");
    if (mesh.triangles.rows() == 0) fail("mesh '", mesh.name, "': no triangles, expected at least 1");
    if (!mesh.radii.empty()) fail("mesh '", mesh.name, "': ", mesh.radii.size(), " radii, expected none");
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
        for (int axis = 0; axis < 3; ++axis) {
            if (!std::isfinite(mesh.vertices(v, axis))) {
                fail("mesh '", mesh.name, "': vertex ", v, ": coordinate ", axis, " is ", mesh.vertices(v, axis),
                     ", expected a finite number");
            }
        }
    }
}

void check_indices(const TriangleMesh& mesh) {
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        for (int corner = 0; corner < 3; ++corner) {
            const int index = mesh.triangles(t, corner);
            if (index < 0 || index >= mesh.vertices.rows()) {
                fail("mesh '", mesh.name, "': triangle ", t, ": vertex index ", index, ", expected 0 to ",
                     mesh.vertices.rows() - 1);
            }
        }
    }
}

}  // namespace

void validate(const TriangleMesh& mesh) {
    check_vertices(mesh);
    check_indices(mesh);
    const Eigen::RowVector3d extent = mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff();
    const double smallest = 1e-14 * extent.squaredNorm();
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Eigen::RowVector3d a = mesh.vertices.row(mesh.triangles(t, 0));
        const Eigen::RowVector3d ab = mesh.vertices.row(mesh.triangles(t, 1)) - a;
        const Eigen::RowVector3d ac = mesh.vertices.row(mesh.triangles(t, 2)) - a;
        const double area = 0.5 * ab.cross(ac).norm();
        if (!(area > smallest)) {
            fail("mesh '", mesh.name, "': triangle ", t, " (vertices ", mesh.triangles(t, 0), ", ",
                 mesh.triangles(t, 1), ", ", mesh.triangles(t, 2), "): area ", area, ", expected > ", smallest,
                 " [m^2]");
        }
    }
}

std::vector<double> vertex_radii(const TriangleMesh& mesh) {
    std::vector<double> radii(static_cast<std::size_t>(mesh.vertices.rows()), 0.0);
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        for (int k = 0; k < 3; ++k) {
            double& radius = radii[static_cast<std::size_t>(mesh.triangles(t, k))];
            radius = std::max(radius, mesh.radius(t));
        }
    }
    return radii;
}

std::vector<double> triangle_areas(const TriangleMesh& mesh) {
    std::vector<double> areas;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Eigen::RowVector3d a = mesh.vertices.row(mesh.triangles(t, 0));
        const Eigen::RowVector3d ab = mesh.vertices.row(mesh.triangles(t, 1)) - a;
        const Eigen::RowVector3d ac = mesh.vertices.row(mesh.triangles(t, 2)) - a;
        const double radius = mesh.radius(t), edges = ab.norm() + ac.norm() + (ac - ab).norm();
        areas.push_back(radius > 0.0 ? std::numbers::pi * radius * (edges + 4.0 * radius) : 0.5 * ab.cross(ac).norm());
    }
    return areas;
}

double surface_area(const TriangleMesh& mesh) {
    const std::vector<double> areas = triangle_areas(mesh);
    return std::accumulate(areas.begin(), areas.end(), 0.0);
}

bool is_watertight(const TriangleMesh& mesh) {
    // Directed edges, as one number each. Closed and consistently oriented: each occurs once, and so does its reverse.
    std::vector<std::uint64_t> edges, reversed;
    edges.reserve(static_cast<std::size_t>(3 * mesh.triangles.rows()));
    reversed.reserve(edges.capacity());
    const auto key = [](int from, int to) {
        return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32) | static_cast<std::uint32_t>(to);
    };
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        if (mesh.radius(t) > 0.0) continue;
        for (int corner = 0; corner < 3; ++corner) {
            const int from = mesh.triangles(t, corner), to = mesh.triangles(t, (corner + 1) % 3);
            if (from == to) return false;
            edges.push_back(key(from, to));
            reversed.push_back(key(to, from));
        }
    }
    std::sort(edges.begin(), edges.end());
    std::sort(reversed.begin(), reversed.end());
    const bool repeated = std::adjacent_find(edges.begin(), edges.end()) != edges.end();
    return !edges.empty() && !repeated && edges == reversed;
}

}  // namespace farfield
