// SPDX-License-Identifier: Apache-2.0
#include "farfield/scene/shape_surface.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/geometry/primitives.hpp"

namespace farfield {
namespace {

constexpr const char* kPlace = "build_model";

int sizes_used(ShapeType type) {
    switch (type) {
        case ShapeType::Box:
        case ShapeType::Ellipsoid:
            return 3;
        case ShapeType::Capsule:
        case ShapeType::Cylinder:
            return 2;
        case ShapeType::Sphere:
            return 1;
        case ShapeType::Mesh:
        case ShapeType::HalfSpace:
            return 0;
    }
    return 0;
}

TriangleMesh local_surface(const Shape& shape, const Scene& scene) {
    const Eigen::Vector3d& s = shape.size;
    const int r = shape.resolution;
    switch (shape.type) {
        case ShapeType::Box:
            return make_box(s);
        case ShapeType::Sphere:
            return r > 0 ? make_sphere(s[0], r) : make_sphere(s[0]);
        case ShapeType::Ellipsoid:
            return r > 0 ? make_ellipsoid(s, r) : make_ellipsoid(s);
        case ShapeType::Capsule:
            return r > 0 ? make_capsule(s[0], s[1], r) : make_capsule(s[0], s[1]);
        case ShapeType::Cylinder:
            return r > 0 ? make_cylinder(s[0], s[1], r) : make_cylinder(s[0], s[1]);
        case ShapeType::Mesh:
            return scene.meshes[static_cast<std::size_t>(shape.mesh)];
        case ShapeType::HalfSpace:
            break;
    }
    fail("shape_surface: shape '", shape.name, "' is a half-space, which has no triangles");
}

TriangleMesh placed(TriangleMesh mesh, const Shape& shape) {
    const Eigen::Matrix3d rotation = shape.orientation.normalized().toRotationMatrix();
    mesh.vertices = ((mesh.vertices * rotation.transpose()).rowwise() + shape.position.transpose()).eval();
    return mesh;
}

}  // namespace

void check_shape(const Shape& shape, const Scene& scene) {
    const std::string place = std::string(kPlace) + ": shape '" + shape.name + "'";
    const int num_bodies = static_cast<int>(scene.bodies.size());
    if (shape.body < 0 || shape.body >= num_bodies)
        fail(place, ": body index ", shape.body, ", expected 0 to ", num_bodies - 1);
    if (!shape.size.allFinite()) fail(place, ": size (", shape.size.transpose(), "), expected finite numbers");
    if (!shape.color.allFinite()) fail(place, ": color (", shape.color.transpose(), "), expected finite numbers");
    if (!shape.position.allFinite())
        fail(place, ": position (", shape.position.transpose(), "), expected finite numbers");
    if (!shape.orientation.coeffs().allFinite() || shape.orientation.norm() < 1e-12) {
        fail(place, ": orientation quaternion (", shape.orientation.coeffs().transpose(), "), expected a rotation");
    }
    for (int i = 0; i < sizes_used(shape.type); ++i) {
        if (!(shape.size[i] > 0.0) || !std::isfinite(shape.size[i]))
            fail(place, ": size[", i, "] = ", shape.size[i], ", expected > 0 [m]");
    }
    if (!(shape.density >= 0.0) || !std::isfinite(shape.density))
        fail(place, ": density ", shape.density, ", expected >= 0 [kg/m^3]");
    if (!(shape.friction >= 0.0) || !std::isfinite(shape.friction))
        fail(place, ": friction ", shape.friction, ", expected >= 0");
    if (shape.resolution < 0) fail(place, ": resolution ", shape.resolution, ", expected >= 0");
    const bool sides = shape.type == ShapeType::Capsule || shape.type == ShapeType::Cylinder;
    if (sides && shape.resolution > 0 && (shape.resolution < 3 || shape.resolution > 4096)) {
        fail(place, ": resolution ", shape.resolution, ", expected 0 (the default) or 3 to 4096 sides");
    }
    const bool subdivided = shape.type == ShapeType::Sphere || shape.type == ShapeType::Ellipsoid;
    if (subdivided && shape.resolution > 8)
        fail(place, ": resolution ", shape.resolution, ", expected at most 8 subdivisions");
    const int num_meshes = static_cast<int>(scene.meshes.size());
    if (shape.type == ShapeType::Mesh && (shape.mesh < 0 || shape.mesh >= num_meshes)) {
        fail(place, ": mesh index ", shape.mesh, ", expected the index of one of the ", num_meshes, " meshes");
    }
}

TriangleMesh shape_surface(const Shape& shape, const Scene& scene) {
    return placed(local_surface(shape, scene), shape);
}

TriangleMesh round_surface(const Shape& shape, const Scene& scene) {
    const Eigen::Vector3d& s = shape.size;
    if (shape.type == ShapeType::Sphere) return placed(make_round_sphere(s[0]), shape);
    if (shape.type == ShapeType::Capsule) return placed(make_round_capsule(s[0], s[1]), shape);
    return shape_surface(shape, scene);
}

Moments shape_moments(const Shape& shape, const Scene& scene) {
    const Eigen::Vector3d& s = shape.size;
    Moments local;
    switch (shape.type) {
        case ShapeType::Box:
            local = box_moments(s, shape.density);
            break;
        case ShapeType::Sphere:
            local = ellipsoid_moments(Eigen::Vector3d::Constant(s[0]), shape.density);
            break;
        case ShapeType::Ellipsoid:
            local = ellipsoid_moments(s, shape.density);
            break;
        case ShapeType::Capsule:
            local = capsule_moments(s[0], s[1], shape.density);
            break;
        case ShapeType::Cylinder:
            local = cylinder_moments(s[0], s[1], shape.density);
            break;
        case ShapeType::Mesh:
            local = solid_moments(scene.meshes[static_cast<std::size_t>(shape.mesh)], shape.density);
            break;
        case ShapeType::HalfSpace:
            fail(kPlace, ": shape '", shape.name, "': a half-space has no mass; give body moments");
    }
    return transformed(local, shape.position, shape.orientation.normalized().toRotationMatrix());
}

void append(const TriangleMesh& part, TriangleMesh& whole) {
    const Eigen::Index v = whole.vertices.rows(), t = whole.triangles.rows();
    whole.vertices.conservativeResize(v + part.vertices.rows(), 3);
    whole.vertices.bottomRows(part.vertices.rows()) = part.vertices;
    if (!whole.radii.empty() || !part.radii.empty()) {
        whole.radii.resize(static_cast<std::size_t>(t), 0.0);
        for (Eigen::Index k = 0; k < part.triangles.rows(); ++k) whole.radii.push_back(part.radius(k));
    }
    whole.triangles.conservativeResize(t + part.triangles.rows(), 3);
    whole.triangles.bottomRows(part.triangles.rows()) = part.triangles.array() + static_cast<int>(v);
}

}  // namespace farfield
