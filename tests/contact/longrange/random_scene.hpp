// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Seeded random worlds for the long-range model: two bodies, near or far, with or without the ground.
#include <algorithm>
#include <cmath>

#include "contact/contact_scene.hpp"

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

inline Scene random_scene(Random& random, bool ground, double largest_gap = 3.0) {
    Scene scene;
    const TriangleMesh a = random_mesh(random), b = random_mesh(random);
    scene.geometry = make_geometry({a, b}, ground);
    const double radius_a = a.vertices.rowwise().norm().maxCoeff(), radius_b = b.vertices.rowwise().norm().maxCoeff();
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

}  // namespace farfield::testing
