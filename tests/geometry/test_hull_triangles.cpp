// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/hull_triangles.hpp"

#include <doctest/doctest.h>

#include "farfield/base/random.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/facet_fans.hpp"
#include "farfield/geometry/hull_integral.hpp"
#include "farfield/geometry/predicates.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

using namespace farfield;
using Eigen::Vector3d;

namespace {

TriangleMesh used(const HullPoints& points, const HullTriangles& triangles) {
    TriangleMesh mesh{.name = "hull", .vertices = points, .triangles = triangles};
    return mesh;
}

/// Watertight, and no point strictly in front of any triangle: exact, without a tolerance.
void check_surface(const HullPoints& points) {
    const HullTriangles triangles = hull_triangles(points);
    REQUIRE(triangles.rows() >= 4);
    CHECK(is_watertight(used(points, triangles)));
    for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
        for (Eigen::Index k = 0; k < points.rows(); ++k) {
            CHECK(orientation(Vector3d(points.row(triangles(t, 0))), Vector3d(points.row(triangles(t, 1))),
                              Vector3d(points.row(triangles(t, 2))), Vector3d(points.row(k))) <= 0);
        }
    }
}

double volume(const HullPoints& points) {
    return hull_integral(points, facet_fans(points, hull_triangles(points))).mass;
}

}  // namespace

TEST_CASE("hull triangles: random, gridded, doubled and nearly flat points") {
    Random random(3);
    for (int trial = 0; trial < 40; ++trial) {
        const int count = 4 + trial % 20;
        HullPoints points(count, 3);
        for (int k = 0; k < count; ++k) points.row(k) = normal_vector(random, 3).transpose();
        check_surface(points);
        if (count >= 8) {
            const HullPoints grid = (2.0 * points).array().round();  // many on one plane, some twice
            const HullTriangles found = hull_triangles(grid);
            if (found.rows() > 4) check_surface(grid);
        }
        points.col(2) *= 1e-15;
        check_surface(points);
        points.rowwise() += Eigen::RowVector3d(100.0, -3.0, 7.0);
        if (hull_triangles(points).rows() >= 4) CHECK(is_watertight(used(points, hull_triangles(points))));
    }
}

TEST_CASE("hull triangles: a box with its faces' and edges' middles, and volumes as Qhull has them") {
    HullPoints grid(27, 3);
    for (int k = 0; k < 27; ++k) grid.row(k) << 0.1 * (k % 3 - 1), 0.2 * (k / 3 % 3 - 1), 0.3 * (k / 9 - 1);
    check_surface(grid);
    CHECK(volume(grid) == doctest::Approx(8.0 * 0.1 * 0.2 * 0.3));
    Random random(4);
    for (const int count : {10, 60, 400}) {  // the last by Qhull
        HullPoints points(count, 3);
        for (int k = 0; k < count; ++k) points.row(k) = normal_vector(random, 3).transpose();
        const ConvexHull qhull = convex_hull(points, "test");
        const TriangleMesh mesh{.vertices = points(qhull.vertices, Eigen::all), .triangles = qhull.triangles};
        CHECK(volume(points) == doctest::Approx(solid_moments(mesh, 1.0).mass));
    }
}

TEST_CASE("hull triangles: points in a plane give their polygon, on a line a triangle without area") {
    HullPoints flat(6, 3);
    flat << 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0.5, 0.5, 1, 0.5, 0, 1;
    const HullTriangles both = hull_triangles(flat);
    CHECK(both.rows() == 4);  // two triangles on each side; the middle and the edge's point are no corners
    CHECK(both.maxCoeff() <= 3);
    CHECK(volume(flat) == 0.0);
    HullPoints line(4, 3);
    line << 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3;
    CHECK(hull_triangles(line).rows() == 1);
}

TEST_CASE("facet fans: a face's weights add up to its area from every corner") {
    const TriangleMesh cylinder = make_cylinder(0.2, 0.3, 12);
    const HullPoints points = cylinder.vertices;
    const HullTriangles triangles = hull_triangles(points);
    const auto fans = facet_fans(points, triangles);
    double area = 0.0, direct = 0.0;
    const auto of = [&](int a, int b, int c) {
        const Vector3d x = points.row(a), y = points.row(b), z = points.row(c);
        return 0.5 * (y - x).cross(z - x).norm();
    };
    for (const auto& [corners, weight] : fans) area += weight * of(corners[0], corners[1], corners[2]);
    for (Eigen::Index t = 0; t < triangles.rows(); ++t) direct += of(triangles(t, 0), triangles(t, 1), triangles(t, 2));
    CHECK(area == doctest::Approx(direct));
    CHECK(hull_integral(points, fans).mass == doctest::Approx(solid_moments(cylinder, 1.0).mass));
    CHECK(fans.size() > static_cast<std::size_t>(triangles.rows()));  // the caps were fanned from every corner
}
