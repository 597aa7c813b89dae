// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Scenes of free meshes, and rollouts of them under long-range contact.
#include <memory>
#include <string>

#include "farfield/base/random.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/math/rotation.hpp"
#include "support/collision_meshes.hpp"

namespace farfield::testing {

/// A free body of the given mesh with the moments of a 1 kg ball of radius 0.2 m; its degrees of freedom are 7 coordinates and 6 speeds in
/// the order bodies are added.
inline int add_free_mesh(Scene& scene, const std::string& name, const TriangleMesh& mesh,
                         const Eigen::Vector3d& position) {
    const int body = static_cast<int>(scene.bodies.size());
    scene.bodies.push_back(Body{.name = name,
                                .position = position,
                                .joints = {Joint{.name = name, .type = JointType::Free}},
                                .moments = ellipsoid_moments(Eigen::Vector3d::Constant(0.2), 29.841551829730377)});
    scene.meshes.push_back(mesh);
    scene.shapes.push_back(
        Shape{.name = name, .body = body, .type = ShapeType::Mesh, .mesh = static_cast<int>(scene.meshes.size()) - 1});
    return body;
}

inline int add_free_box(Scene& scene, const std::string& name, const Eigen::Vector3d& half, double mass,
                        const Eigen::Vector3d& position) {
    const int body = add_free_mesh(scene, name, make_box(half), position);
    scene.bodies.back().moments = box_moments(half, mass / (8.0 * half.prod()));
    return body;
}

/// The region below the plane through the origin with this orientation.
inline void add_ground(Scene& scene, const Eigen::Quaterniond& orientation = Eigen::Quaterniond::Identity()) {
    scene.shapes.push_back(
        Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace, .orientation = orientation});
}

inline TriangleMesh make_tetrahedron(double radius) {
    const double r = radius / std::sqrt(3.0);
    return test::make_mesh({{r, r, r}, {r, -r, -r}, {-r, r, -r}, {-r, -r, r}},
                           {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}});
}

/// Both surfaces of a hollow ball; the cavity is outside of it.
inline TriangleMesh make_hollow_ball(double outer, double inner, int subdivisions) {
    const TriangleMesh shell = make_sphere(outer, subdivisions), cavity = make_sphere(inner, subdivisions);
    TriangleMesh mesh{.name = "hollow ball"};
    mesh.vertices.resize(shell.vertices.rows() + cavity.vertices.rows(), 3);
    mesh.vertices << shell.vertices, cavity.vertices;
    mesh.triangles.resize(shell.triangles.rows() + cavity.triangles.rows(), 3);
    mesh.triangles.topRows(shell.triangles.rows()) = shell.triangles;
    mesh.triangles.bottomRows(cavity.triangles.rows()) =
        cavity.triangles.rowwise().reverse().array() + static_cast<int>(shell.vertices.rows());
    return mesh;
}

inline ContactSetup long_range(const Model& model, const contact::longrange::LongRangeOptions& options = {}) {
    return {std::make_shared<const contact::longrange::LongRange>(model, options),
            std::make_shared<const CollisionFilter>(model), contact_to_json(options)};
}

inline Poses poses_of(const Trajectory& t, int step) {
    Kinematics kinematics;
    forward_kinematics(*t.model, t.parameters, t.q.row(step).transpose(), kinematics);
    return kinematics.poses;
}

/// Jitters position and orientation of every free body.
inline void jitter(Random& random, double distance, double angle, State& state) {
    for (Eigen::Index k = 0; k + 7 <= state.q.size(); k += 7) {
        state.q.segment<3>(k) += distance * normal_vector(random, 3);
        const Eigen::Matrix3d turn = exp_rotation(angle * Eigen::Vector3d(normal_vector(random, 3)));
        state.q.segment<4>(k + 3) =
            quaternion_from_rotation(rotation_from_quaternion(state.q.segment<4>(k + 3)) * turn);
    }
}

}  // namespace farfield::testing
