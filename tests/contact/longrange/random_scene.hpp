// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Seeded random worlds for the long-range model: two bodies, near or far, with or without the ground.
#include <algorithm>
#include <cmath>

#include "contact/contact_scene.hpp"
#include "farfield/scene/shape_surface.hpp"

namespace farfield::testing {

/// Bodies 1 and 2; their bounding spheres are `scale` apart, 0.003 to `largest_gap` of their radii.
struct Scene {
    CollisionGeometry geometry;
    Poses poses;
    double scale = 1.0;  ///< on which the energy varies
};

inline TriangleMesh random_mesh(Random& random) {
    switch (uniform_index(random, 3)) {
        case 0:
            return make_box({uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2)});
        case 1:
            return make_sphere(uniform(random, 0.05, 0.2));
        default:
            return make_ellipsoid({0.3, 0.1, 0.05});
    }
}

/// Where at least one leaf is swept by a ball.
inline TriangleMesh random_round_mesh(Random& random) {
    const auto size = [&] { return uniform(random, 0.05, 0.2); };
    TriangleMesh mesh;
    switch (uniform_index(random, 4)) {
        case 0:
            return make_round_sphere(size());
        case 1:
            return make_round_capsule(size(), size());
        case 2:  // two spheres and a capsule, off centre
            for (const double z : {-0.2, 0.2}) {
                TriangleMesh ball = make_round_sphere(0.05 + 0.2 * std::abs(z));
                ball.vertices.array() += z;
                append(ball, mesh);
            }
            append(make_round_capsule(0.04, 0.2), mesh);
            return mesh;
        default:  // sharp and round
            append(make_box({size(), size(), 0.05}), mesh);
            append(make_round_capsule(0.06, 0.15), mesh);
            return mesh;
    }
}

inline double bounding_radius(const TriangleMesh& mesh) {
    const std::vector<double> radii = vertex_radii(mesh);
    double largest = 0.0;
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v)
        largest = std::max(largest, mesh.vertices.row(v).norm() + radii[static_cast<std::size_t>(v)]);
    return largest;
}

inline Scene scene_of(Random& random, const TriangleMesh& a, const TriangleMesh& b, bool ground, double largest_gap) {
    Scene scene;
    scene.geometry = make_geometry({a, b}, ground);
    const double radius_a = bounding_radius(a), radius_b = bounding_radius(b);
    const double gap = std::pow(10.0, uniform(random, -2.5, std::log10(largest_gap))) * (radius_a + radius_b);
    scene.poses.resize(3);
    scene.poses[1].rotation = random_rotation(random);
    scene.poses[2].rotation = random_rotation(random);
    scene.poses[1].position = {0.3, -0.2, radius_a + gap};
    Eigen::Vector3d direction = unit_vector(random);
    direction.z() = std::abs(direction.z());
    scene.poses[2].position = scene.poses[1].position + (radius_a + radius_b + gap) * direction +
                              Eigen::Vector3d(0.0, 0.0, std::max(0.0, radius_b - radius_a));
    scene.scale = gap;
    return scene;
}

inline Scene random_scene(Random& random, bool ground, double largest_gap = 3.0) {
    const TriangleMesh a = random_mesh(random), b = random_mesh(random);
    return scene_of(random, a, b, ground, largest_gap);
}

/// One round body, and another that is round or not.
inline Scene random_round_scene(Random& random, bool ground, double largest_gap = 3.0) {
    const TriangleMesh a = random_round_mesh(random);
    const TriangleMesh b = uniform_index(random, 2) == 0 ? random_mesh(random) : random_round_mesh(random);
    return scene_of(random, a, b, ground, largest_gap);
}

}  // namespace farfield::testing
