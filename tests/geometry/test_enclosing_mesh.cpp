// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/random.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/enclosing_mesh.hpp"
#include "farfield/geometry/mesh_overlap.hpp"
#include "farfield/geometry/moments.hpp"
#include "farfield/geometry/primitives.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using Eigen::Vector3d;

namespace {

/// A torus: closed, concave, smooth.
TriangleMesh torus(int around, int across, double large, double small) {
    TriangleMesh mesh{.name = "torus", .vertices = {}, .triangles = {}};
    mesh.vertices.resize(around * across, 3);
    mesh.triangles.resize(2 * around * across, 3);
    const double turn = 2.0 * 3.14159265358979323846;
    Eigen::Index row = 0;
    for (int i = 0; i < around; ++i) {
        for (int j = 0; j < across; ++j) {
            const double u = turn * i / around, v = turn * j / across, r = large + small * std::cos(v);
            mesh.vertices.row(i * across + j) << r * std::cos(u), r * std::sin(u), small * std::sin(v);
            const int a = i * across + j, b = ((i + 1) % around) * across + j, c = i * across + (j + 1) % across,
                      d = ((i + 1) % around) * across + (j + 1) % across;
            mesh.triangles.row(row++) << a, b, d;
            mesh.triangles.row(row++) << a, d, c;
        }
    }
    return mesh;
}

double volume(const TriangleMesh& mesh) { return solid_moments(mesh, 1.0).mass; }

/// Random points of the surface of `inner` are inside `outer`, or on it.
void check_inside(const TriangleMesh& inner, const TriangleMesh& outer, Random& random) {
    const double size = (inner.vertices.colwise().maxCoeff() - inner.vertices.colwise().minCoeff()).norm();
    for (Eigen::Index t = 0; t < inner.triangles.rows(); t += 1 + inner.triangles.rows() / 400) {
        double a = uniform(random, 0.0, 1.0), b = uniform(random, 0.0, 1.0);
        if (a + b > 1.0) a = 1.0 - a, b = 1.0 - b;
        const auto corner = [&](int k) { return Vector3d(inner.vertices.row(inner.triangles(t, k)).transpose()); };
        const Vector3d x = (1.0 - a - b) * corner(0) + a * corner(1) + b * corner(2);
        if (contains(outer, x)) continue;
        TriangleMesh point{.name = "point", .vertices = {}, .triangles = {}};
        point.vertices.resize(3, 3);
        point.vertices << x.transpose(), (x + Vector3d(1e-12 * size, 0, 0)).transpose(),
            (x + Vector3d(0, 1e-12 * size, 0)).transpose();
        point.triangles.resize(1, 3);
        point.triangles << 0, 1, 2;
        CHECK(surface_distance(point, outer, 1e-12 * size) < 1e-9 * size);
    }
}

}  // namespace

TEST_CASE("enclosing mesh: coarser, closed, around the original, and no further than stated") {
    Random random(71);
    for (const TriangleMesh& mesh : {torus(40, 20, 0.2, 0.06), make_sphere(0.1, 3), make_ellipsoid({0.3, 0.1, 0.05}, 3),
                                     convex_hull_mesh(torus(30, 16, 0.1, 0.05))}) {
        CAPTURE(mesh.name);
        const TriangleMesh outer = enclosing_mesh(mesh, {.max_triangles = 400, .max_distance = 0.02});
        CHECK(outer.triangles.rows() <= 400);
        CHECK(is_watertight(outer));
        CHECK_NOTHROW(validate(outer));
        CHECK(volume(outer) > volume(mesh));
        CHECK(volume(outer) < 1.35 * volume(mesh));
        const double distance = surface_distance(outer, mesh, 1e-5);
        CHECK(distance > 1e-5);
        CHECK(distance < 0.02);
        check_inside(mesh, outer, random);
        MESSAGE(mesh.triangles.rows() << " -> " << outer.triangles.rows() << " triangles, " << distance
                                      << " m, volume x" << volume(outer) / volume(mesh));
    }
}

TEST_CASE("enclosing mesh: flat faces cost nothing, and a distance of nothing moves nothing") {
    // a cube whose faces are cut into many triangles
    TriangleMesh fine = make_box({0.1, 0.1, 0.1});
    for (int round = 0; round < 3; ++round) {
        TriangleMesh next{.name = "cube", .vertices = {}, .triangles = {}};
        next.vertices.resize(4 * fine.triangles.rows() * 3, 3);
        next.triangles.resize(4 * fine.triangles.rows(), 3);
        Eigen::Index v = 0, t = 0;
        std::vector<std::pair<Vector3d, int>> seen;
        const auto put = [&](const Vector3d& x) {
            for (const auto& [y, index] : seen) {
                if ((x - y).norm() < 1e-12) return index;
            }
            next.vertices.row(v) = x.transpose();
            seen.emplace_back(x, static_cast<int>(v));
            return static_cast<int>(v++);
        };
        for (Eigen::Index k = 0; k < fine.triangles.rows(); ++k) {
            const auto c = [&](int i) { return Vector3d(fine.vertices.row(fine.triangles(k, i)).transpose()); };
            const int a = put(c(0)), b = put(c(1)), d = put(c(2)), e = put(0.5 * (c(0) + c(1))),
                      f = put(0.5 * (c(1) + c(2))), g = put(0.5 * (c(2) + c(0)));
            next.triangles.row(t++) << a, e, g;
            next.triangles.row(t++) << e, b, f;
            next.triangles.row(t++) << g, f, d;
            next.triangles.row(t++) << e, f, g;
        }
        next.vertices.conservativeResize(v, 3);
        fine = next;
    }
    REQUIRE(fine.triangles.rows() == 768);
    const TriangleMesh coarse = enclosing_mesh(fine, {.max_triangles = 12, .max_distance = 1e-9});
    CHECK(coarse.triangles.rows() <= 24);
    CHECK(volume(coarse) == doctest::Approx(0.008).epsilon(1e-9));
    CHECK(surface_distance(coarse, fine, 1e-3) < 1.001e-3);
    CHECK(surface_distance(fine, coarse, 1e-3) < 1.001e-3);
}

TEST_CASE("enclosing mesh: distances between surfaces are never too small") {
    const TriangleMesh small = make_sphere(0.1, 3), large = make_box({0.2, 0.2, 0.2});
    // a corner of the box, and the middle of a face seen from the ball
    CHECK(surface_distance(large, small, 1e-6) == doctest::Approx(0.2 * std::sqrt(3.0) - 0.1).epsilon(1e-2));
    CHECK(surface_distance(large, small, 1e-6) >= 0.2 * std::sqrt(3.0) - 0.1);
    CHECK(surface_distance(small, large, 1e-6) == doctest::Approx(0.2 - 0.1 / std::sqrt(3.0)).epsilon(0.05));
    CHECK(surface_distance(small, small, 1e-6) <= 1.0001e-6);  // a sum of both in floating point
}

TEST_CASE("enclosing mesh: mistakes are refused by name") {
    TriangleMesh open = make_box({0.1, 0.1, 0.1});
    open.name = "lid";
    open.triangles.conservativeResize(10, 3);
    const std::string lid =
        testing::error_of([&] { (void)enclosing_mesh(open, {.max_triangles = 8, .max_distance = 0.1}); });
    CHECK(testing::contains(lid, "'lid'"));
    CHECK(testing::contains(lid, "expected a watertight"));
    const std::string few = testing::error_of([] {
        (void)enclosing_mesh(make_box({0.1, 0.1, 0.1}), {.max_triangles = 3, .max_distance = 0.1});
    });
    CHECK(testing::contains(few, "max_triangles 3"));
    CHECK(testing::contains(few, "expected >= 4"));
}
