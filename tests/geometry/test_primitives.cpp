// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/primitives.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "support/error_text.hpp"

using namespace farfield;
using Eigen::Vector3d;
using farfield::testing::contains;
using farfield::testing::error_of;

namespace {

constexpr double kPi = std::numbers::pi;

/// Watertight, valid, outward: every triangle of these (convex, origin inside) shapes faces away from the origin.
void check_sound(const TriangleMesh& mesh, int num_vertices, int num_triangles) {
    CAPTURE(mesh.name);
    validate(mesh);
    CHECK(is_watertight(mesh));
    CHECK(mesh.vertices.rows() == num_vertices);
    CHECK(mesh.triangles.rows() == num_triangles);
    CHECK(num_vertices - num_triangles / 2 == 2);  // Euler: one closed surface without handles, all vertices used
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
                       c = mesh.vertices.row(mesh.triangles(t, 2));
        CHECK(a.dot(b.cross(c)) > 0.0);
    }
}

std::vector<Vector3d> vertices_of(const TriangleMesh& mesh) {
    std::vector<Vector3d> vertices;
    for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) vertices.emplace_back(mesh.vertices.row(i));
    return vertices;
}

/// Signed distance to the capsule of radius r around the segment |z| <= h.
double capsule_distance(const Vector3d& x, double r, double h) {
    return (x - Vector3d(0, 0, std::clamp(x.z(), -h, h))).norm() - r;
}

double relative_difference(const Moments& a, const Moments& b) {
    return (to_vector(a) - to_vector(b)).cwiseAbs().maxCoeff() / to_vector(b).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("primitives are closed, outward and of the documented size") {
    check_sound(make_box({0.1, 0.2, 0.3}), 8, 12);
    check_sound(make_sphere(0.3, 0), 12, 20);
    check_sound(make_sphere(0.3), 42, 80);
    check_sound(make_sphere(0.3, 3), 642, 1280);
    check_sound(make_ellipsoid({0.1, 0.2, 0.3}), 42, 80);
    check_sound(make_cylinder(0.1, 0.4), 18, 32);
    check_sound(make_cylinder(0.1, 0.4, 3), 8, 12);
    check_sound(make_cylinder(0.1, 0.4, 31), 64, 124);
    check_sound(make_capsule(0.1, 0.4), 34, 64);
    check_sound(make_capsule(0.1, 0.4, 3), 8, 12);
    check_sound(make_capsule(0.1, 0.4, 16), 130, 256);
}

TEST_CASE("vertices lie on the smooth surface") {
    for (const Vector3d& vertex : vertices_of(make_box({0.1, 0.2, 0.3}))) {
        CHECK(vertex.cwiseAbs() == Vector3d(0.1, 0.2, 0.3));
    }
    for (const Vector3d& vertex : vertices_of(make_sphere(0.3, 3))) {
        CHECK(vertex.norm() == doctest::Approx(0.3).epsilon(1e-15));
    }
    for (const Vector3d& vertex : vertices_of(make_ellipsoid({0.1, 0.2, 0.3}, 3))) {
        CHECK(vertex.cwiseQuotient(Vector3d(0.1, 0.2, 0.3)).norm() == doctest::Approx(1.0).epsilon(1e-15));
    }
    for (const int sides : {3, 8, 17, 40}) {
        for (const Vector3d& vertex : vertices_of(make_capsule(0.1, 0.4, sides))) {
            CHECK(std::abs(capsule_distance(vertex, 0.1, 0.4)) < 1e-16 * 4);
        }
        for (const Vector3d& vertex : vertices_of(make_cylinder(0.1, 0.4, sides))) {
            const double radius = vertex.head<2>().norm();
            CHECK(std::abs(vertex.z()) == 0.4);
            CHECK((radius == 0.0 || std::abs(radius - 0.1) < 1e-16));
        }
    }
}

TEST_CASE("triangulated moments converge to those of the smooth shape, with order two") {
    const auto check_order = [](auto&& make, const Moments& exact, double first_error) {
        double previous = 0.0;
        for (int level = 0; level < 4; ++level) {
            const Moments inscribed = solid_moments(make(level), 700.0);
            CHECK(inscribed.mass < exact.mass);
            const double error = relative_difference(inscribed, exact);
            CAPTURE(level);
            if (level == 0) CHECK(error < first_error);
            if (level > 0) CHECK(error < previous / 3.3);  // 4 in the limit
            previous = error;
        }
    };
    check_order([](int level) { return make_sphere(0.3, level + 1); },
                ellipsoid_moments(Vector3d::Constant(0.3), 700.0), 0.2);
    check_order(
        [](int level) {
            return make_ellipsoid({0.1, 0.2, 0.3}, level + 1);
        },
        ellipsoid_moments({0.1, 0.2, 0.3}, 700.0), 0.2);
    check_order([](int level) { return make_cylinder(0.1, 0.4, 8 << level); }, cylinder_moments(0.1, 0.4, 700.0), 0.2);
    check_order([](int level) { return make_capsule(0.1, 0.4, 8 << level); }, capsule_moments(0.1, 0.4, 700.0), 0.2);
}

TEST_CASE("moments of smooth shapes: textbook values") {
    const Moments ball = ellipsoid_moments(Vector3d::Constant(2.0), 3.0);
    CHECK(ball.mass == doctest::Approx(32.0 * kPi).epsilon(1e-15));
    CHECK(ball.inertia()(0, 0) == doctest::Approx(0.4 * ball.mass * 4.0).epsilon(1e-15));
    const Moments cylinder = cylinder_moments(0.5, 1.5, 2.0);  // I_z = m r^2/2, I_x = m (3 r^2 + L^2)/12
    CHECK(cylinder.inertia()(2, 2) == doctest::Approx(0.125 * cylinder.mass).epsilon(1e-15));
    CHECK(cylinder.inertia()(0, 0) == doctest::Approx(cylinder.mass * (0.75 + 9.0) / 12.0).epsilon(1e-15));
    // A capsule without length is a ball.
    CHECK(relative_difference(capsule_moments(2.0, 1e-17, 3.0), ball) < 1e-15);
    for (const Moments& moments : {ball, cylinder, capsule_moments(0.1, 0.4, 10.0)}) validate(moments, "smooth");
}

TEST_CASE("bad sizes are named") {
    CHECK(error_of([] { (void)make_box({1, -2, 1}); }) == "make_box: half extent -2, expected > 0 and finite [m]");
    CHECK(error_of([] { (void)make_sphere(0.0); }) == "make_sphere: radius 0, expected > 0 and finite [m]");
    CHECK(error_of([] { (void)make_sphere(1.0, -1); }) == "make_ellipsoid: subdivisions -1, expected 0 to 8");
    CHECK(error_of([] { (void)make_sphere(1.0, 9); }) == "make_ellipsoid: subdivisions 9, expected 0 to 8");
    CHECK(contains(error_of([] { (void)make_ellipsoid({1, NAN, 1}); }), "make_ellipsoid: half axis nan"));
    CHECK(contains(error_of([] { (void)make_capsule(-0.1, 1.0); }), "make_capsule: radius -0.1"));
    CHECK(contains(error_of([] { (void)make_capsule(0.1, 0.0); }), "make_capsule: half length 0"));
    CHECK(error_of([] { (void)make_capsule(0.1, 1.0, 2); }) == "make_capsule: sides 2, expected 3 to 4096");
    CHECK(contains(error_of([] { (void)make_cylinder(INFINITY, 1.0); }), "make_cylinder: radius inf"));
    CHECK(contains(error_of([] { (void)make_cylinder(1.0, -1.0); }), "make_cylinder: half length -1"));
    CHECK(contains(error_of([] { (void)make_cylinder(1.0, 1.0, 0); }), "make_cylinder: sides 0"));
    CHECK(contains(error_of([] { (void)box_moments({1, 1, 1}, 0.0); }), "box_moments: density 0"));
    CHECK(contains(error_of([] { (void)box_moments({0, 1, 1}, 1.0); }), "box_moments: half extent 0"));
    CHECK(contains(error_of([] { (void)ellipsoid_moments({1, 1, 1}, -1.0); }), "ellipsoid_moments: density -1"));
    CHECK(contains(error_of([] { (void)capsule_moments(1.0, 1.0, NAN); }), "capsule_moments: density nan"));
    CHECK(contains(error_of([] { (void)cylinder_moments(1.0, 0.0, 1.0); }), "cylinder_moments: half length 0"));
}
