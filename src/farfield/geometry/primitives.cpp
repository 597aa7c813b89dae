// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/primitives.hpp"

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

constexpr double kPi = std::numbers::pi;

void check_length(const char* place, const char* what, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) fail(place, ": ", what, " ", value, ", expected > 0 and finite [m]");
}
void check_density(const char* place, double value) {
    if (!(value > 0.0) || !std::isfinite(value)) fail(place, ": density ", value, ", expected > 0 and finite [kg/m^3]");
}
void check_lengths(const char* place, const char* what, const Eigen::Vector3d& values) {
    for (const double value : values) check_length(place, what, value);
}
void check_sides(const char* place, int sides) {
    if (sides < 3 || sides > 4096) fail(place, ": sides ", sides, ", expected 3 to 4096");
}

using Corners3 = std::array<int, 3>;

TriangleMesh assemble(const char* name, const std::vector<Eigen::Vector3d>& vertices,
                      const std::vector<Corners3>& triangles) {
    TriangleMesh mesh;
    mesh.name = name;
    mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t i = 0; i < vertices.size(); ++i)
        mesh.vertices.row(static_cast<Eigen::Index>(i)) = vertices[i].transpose();
    for (std::size_t i = 0; i < triangles.size(); ++i) {
        mesh.triangles.row(static_cast<Eigen::Index>(i)) << triangles[i][0], triangles[i][1], triangles[i][2];
    }
    return mesh;
}

/// One level of refinement of a triangulated unit sphere: edge midpoints are pushed out to the sphere.
void subdivide(std::vector<Eigen::Vector3d>& vertices, std::vector<Corners3>& triangles) {
    std::map<std::pair<int, int>, int> midpoints;
    const auto midpoint = [&](int a, int b) {
        const auto [it, added] = midpoints.try_emplace(std::minmax(a, b), static_cast<int>(vertices.size()));
        if (added)
            vertices.push_back(
                (vertices[static_cast<std::size_t>(a)] + vertices[static_cast<std::size_t>(b)]).normalized());
        return it->second;
    };
    std::vector<Corners3> finer;
    finer.reserve(4 * triangles.size());
    for (const auto& [a, b, c] : triangles) {
        const int ab = midpoint(a, b), bc = midpoint(b, c), ca = midpoint(c, a);
        finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    triangles = std::move(finer);
}

/// Surface of revolution about z: rings of `sides` vertices at (radius, height), from top to bottom, closed by a vertex
/// at each end of the axis.
TriangleMesh revolve(const char* name, int sides, const std::vector<std::pair<double, double>>& rings, double top,
                     double bottom) {
    std::vector<Eigen::Vector3d> vertices{{0.0, 0.0, top}};
    for (const auto& [radius, height] : rings) {
        for (int i = 0; i < sides; ++i) {
            const double angle = 2.0 * kPi * i / sides;
            vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), height);
        }
    }
    vertices.emplace_back(0.0, 0.0, bottom);

    const int num_rings = static_cast<int>(rings.size());
    const int last = static_cast<int>(vertices.size()) - 1;
    const auto at = [sides](int ring, int i) { return 1 + ring * sides + i % sides; };
    std::vector<Corners3> triangles;
    for (int i = 0; i < sides; ++i) triangles.push_back({0, at(0, i), at(0, i + 1)});
    for (int ring = 0; ring + 1 < num_rings; ++ring) {
        for (int i = 0; i < sides; ++i) {
            triangles.push_back({at(ring, i), at(ring + 1, i), at(ring + 1, i + 1)});
            triangles.push_back({at(ring, i), at(ring + 1, i + 1), at(ring, i + 1)});
        }
    }
    for (int i = 0; i < sides; ++i) triangles.push_back({at(num_rings - 1, i), last, at(num_rings - 1, i + 1)});
    return assemble(name, vertices, triangles);
}

Moments centered(double mass, const Eigen::Vector3d& second) {
    Moments moments;
    moments.mass = mass;
    moments.second = second.asDiagonal();
    return moments;
}

}  // namespace

TriangleMesh make_box(const Eigen::Vector3d& half_extents) {
    check_lengths("make_box", "half extent", half_extents);
    std::vector<Eigen::Vector3d> vertices;
    for (int i = 0; i < 8; ++i) {  // bit k of i = sign along axis k
        vertices.push_back(half_extents.cwiseProduct(
            Eigen::Vector3d((i & 1) ? 1.0 : -1.0, (i & 2) ? 1.0 : -1.0, (i & 4) ? 1.0 : -1.0)));
    }
    return assemble("box", vertices,
                    {{0, 4, 6},
                     {0, 6, 2},
                     {1, 3, 7},
                     {1, 7, 5},
                     {0, 1, 5},
                     {0, 5, 4},
                     {2, 6, 7},
                     {2, 7, 3},
                     {0, 2, 3},
                     {0, 3, 1},
                     {4, 5, 7},
                     {4, 7, 6}});
}

TriangleMesh make_sphere(double radius, int subdivisions) {
    check_length("make_sphere", "radius", radius);
    TriangleMesh mesh = make_ellipsoid(Eigen::Vector3d::Constant(radius), subdivisions);
    mesh.name = "sphere";
    return mesh;
}

TriangleMesh make_ellipsoid(const Eigen::Vector3d& half_axes, int subdivisions) {
    check_lengths("make_ellipsoid", "half axis", half_axes);
    if (subdivisions < 0 || subdivisions > 8) fail("make_ellipsoid: subdivisions ", subdivisions, ", expected 0 to 8");
    // Icosahedron: the corners of three golden rectangles.
    const double g = std::numbers::phi;
    std::vector<Eigen::Vector3d> vertices{{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                          {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    for (Eigen::Vector3d& vertex : vertices) vertex.normalize();
    std::vector<Corners3> triangles{{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
    for (int level = 0; level < subdivisions; ++level) subdivide(vertices, triangles);
    for (Eigen::Vector3d& vertex : vertices) vertex = vertex.cwiseProduct(half_axes).eval();
    return assemble("ellipsoid", vertices, triangles);
}

TriangleMesh make_capsule(double radius, double half_length, int sides) {
    check_length("make_capsule", "radius", radius);
    check_length("make_capsule", "half length", half_length);
    check_sides("make_capsule", sides);
    // As many steps of latitude per quarter circle as sides of longitude, so that triangles are about equilateral.
    const int steps = std::max(1, (sides + 2) / 4);
    std::vector<std::pair<double, double>> rings;
    for (int half = 0; half < 2; ++half) {
        for (int k = 0; k < steps; ++k) {
            const int step = half == 0 ? steps - 1 - k : k;  // 0 = equator
            const double latitude = 0.5 * kPi * step / steps;
            const double height = half_length + radius * std::sin(latitude);
            rings.emplace_back(radius * std::cos(latitude), half == 0 ? height : -height);
        }
    }
    return revolve("capsule", sides, rings, half_length + radius, -half_length - radius);
}

TriangleMesh make_cylinder(double radius, double half_length, int sides) {
    check_length("make_cylinder", "radius", radius);
    check_length("make_cylinder", "half length", half_length);
    check_sides("make_cylinder", sides);
    return revolve("cylinder", sides, {{radius, half_length}, {radius, -half_length}}, half_length, -half_length);
}

Moments box_moments(const Eigen::Vector3d& half_extents, double density) {
    check_lengths("box_moments", "half extent", half_extents);
    check_density("box_moments", density);
    const double mass = density * 8.0 * half_extents.prod();
    return centered(mass, mass / 3.0 * half_extents.cwiseAbs2());
}

Moments ellipsoid_moments(const Eigen::Vector3d& half_axes, double density) {
    check_lengths("ellipsoid_moments", "half axis", half_axes);
    check_density("ellipsoid_moments", density);
    const double mass = density * 4.0 / 3.0 * kPi * half_axes.prod();
    return centered(mass, mass / 5.0 * half_axes.cwiseAbs2());
}

Moments cylinder_moments(double radius, double half_length, double density) {
    check_length("cylinder_moments", "radius", radius);
    check_length("cylinder_moments", "half length", half_length);
    check_density("cylinder_moments", density);
    const double mass = density * 2.0 * kPi * radius * radius * half_length;
    const double across = mass * radius * radius / 4.0;
    return centered(mass, {across, across, mass * half_length * half_length / 3.0});
}

TriangleMesh make_round_sphere(double radius) {
    check_length("make_round_sphere", "radius", radius);
    TriangleMesh mesh{.name = "sphere"};
    mesh.vertices = Eigen::RowVector3d::Zero();
    mesh.triangles = Eigen::RowVector3i::Zero();
    mesh.radii = {radius};
    return mesh;
}

TriangleMesh make_round_capsule(double radius, double half_length) {
    check_length("make_round_capsule", "radius", radius);
    check_length("make_round_capsule", "half length", half_length);
    TriangleMesh mesh{.name = "capsule"};
    mesh.vertices.setZero(3, 3);  // both ends and the middle: neither end counts twice
    mesh.vertices(0, 2) = half_length;
    mesh.vertices(2, 2) = -half_length;
    mesh.triangles = Eigen::RowVector3i(0, 1, 2);
    mesh.radii = {radius};
    return mesh;
}

Moments capsule_moments(double radius, double half_length, double density) {
    check_length("capsule_moments", "radius", radius);
    check_length("capsule_moments", "half length", half_length);
    check_density("capsule_moments", density);
    // The two half balls: x^2 and (z - half_length)^2 average to r^2/5 over each, z - half_length to 3r/8.
    const double ball = density * 4.0 / 3.0 * kPi * radius * radius * radius;
    const double across = ball * radius * radius / 5.0;
    const double along = ball * (half_length * half_length + 0.75 * half_length * radius + radius * radius / 5.0);
    Moments moments = cylinder_moments(radius, half_length, density);
    moments += centered(ball, {across, across, along});
    return moments;
}

}  // namespace farfield
