// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Seeded random worlds for the polyhedral model: free bodies of one or two hulls, near each other, with or without the ground.
#include <memory>
#include <string>

#include "contact/contact_scene.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/geometry/gjk.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

inline TriangleMesh random_hull(Random& random) {
    switch (uniform_index(random, 4)) {
        case 0:
            return make_box({uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2), uniform(random, 0.05, 0.2)});
        case 1:
            return make_sphere(uniform(random, 0.05, 0.2));
        case 2:
            return make_cylinder(uniform(random, 0.05, 0.15), uniform(random, 0.05, 0.2));
        default:
            return make_ellipsoid({0.3, 0.1, 0.05});
    }
}

inline int add_body(farfield::Scene& scene, const std::vector<TriangleMesh>& parts) {
    const int body = static_cast<int>(scene.bodies.size());
    const std::string name = "body" + std::to_string(body);
    scene.bodies.push_back(Body{.name = name,
                                .position = {0.0, 0.0, 10.0 * body},
                                .joints = {Joint{.name = name, .type = JointType::Free}},
                                .moments = ellipsoid_moments(Eigen::Vector3d::Constant(0.2), 30.0)});
    for (const TriangleMesh& part : parts) {
        scene.meshes.push_back(part);
        scene.shapes.push_back(Shape{.name = name + "." + std::to_string(scene.shapes.size()),
                                     .body = body,
                                     .type = ShapeType::Mesh,
                                     .mesh = static_cast<int>(scene.meshes.size()) - 1});
    }
    return body;
}

/// Two bodies, `gap` apart along a random direction, and the ground, if any, `gap` below the lower one.
struct HullScene {
    std::shared_ptr<const Model> model;
    Poses poses;
    double gap = 0.0;  ///< [m]
};

inline HullScene random_hull_scene(Random& random, bool ground, double range) {
    farfield::Scene scene;
    std::vector<std::vector<TriangleMesh>> parts(2);
    for (auto& part : parts) {
        part.push_back(random_hull(random));
        if (uniform_index(random, 3) == 0) {
            part.push_back(random_hull(random));
            part.back().vertices.rowwise() += Eigen::RowVector3d(0.1, 0.05, 0.0);
        }
        add_body(scene, part);
    }
    if (ground) scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
    HullScene out;
    out.model = build_model(scene);
    out.gap = range * uniform(random, 0.15, 0.8);
    out.poses.resize(3);
    const auto points = [&](std::size_t body) {
        std::vector<Eigen::Vector3d> all;
        for (const TriangleMesh& mesh : parts[body - 1]) {
            for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v)
                all.push_back(out.poses[body] * Eigen::Vector3d(mesh.vertices.row(v).transpose()));
        }
        Eigen::Matrix3Xd matrix(3, static_cast<Eigen::Index>(all.size()));
        for (std::size_t k = 0; k < all.size(); ++k) matrix.col(static_cast<Eigen::Index>(k)) = all[k];
        return matrix;
    };
    for (std::size_t body = 1; body < 3; ++body)
        out.poses[body].rotation = exp_rotation(Eigen::Vector3d(normal_vector(random, 3)));
    // conservative approach along a line: the hull of all parts stops at the gap
    const Eigen::Vector3d direction = Eigen::Vector3d(normal_vector(random, 3)).normalized();
    out.poses[2].position = 3.0 * direction;
    for (int k = 0; k < 200; ++k) {
        const GjkResult found = gjk_distance(points(1), points(2), {});
        if (found.upper <= out.gap * 1.0001) break;
        out.poses[2].position -= (found.lower - out.gap) * direction;
    }
    if (ground) {
        const double lowest = std::min(points(1).row(2).minCoeff(), points(2).row(2).minCoeff());
        for (std::size_t body = 1; body < 3; ++body) out.poses[body].position.z() += out.gap - lowest;
    }
    return out;
}

}  // namespace farfield::testing
