// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/convex_hull.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "farfield/base/random.hpp"
#include "farfield/geometry/gjk.hpp"
#include "farfield/geometry/primitives.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using Eigen::Vector3d;
using farfield::testing::contains;
using farfield::testing::error_of;
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

namespace {

TriangleMesh as_mesh(const Points& points, const ConvexHull& hull) {
    TriangleMesh mesh;
    mesh.name = "hull";
    mesh.vertices = points(hull.vertices, Eigen::all);
    mesh.triangles = hull.triangles;
    return mesh;
}

/// Watertight, Euler, outward, and no point in front of any triangle.
void check_hull(const Points& points, const ConvexHull& hull) {
    const TriangleMesh mesh = as_mesh(points, hull);
    CHECK(is_watertight(mesh));
    CHECK(mesh.vertices.rows() - mesh.triangles.rows() / 2 == 2);
    CHECK(std::is_sorted(hull.vertices.begin(), hull.vertices.end()));
    const double size = (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)), b = mesh.vertices.row(mesh.triangles(t, 1)),
                       c = mesh.vertices.row(mesh.triangles(t, 2));
        const Vector3d normal = (b - a).cross(c - a);
        if (normal.norm() < 1e-12 * size * size) continue;  // no area, no side
        CHECK((((points.rowwise() - a.transpose()) * normal.normalized()).array() < 1e-13 * size).all());
    }
}

}  // namespace

TEST_CASE("hull of a box with points inside, on faces and on edges") {
    Random random(1);
    Points points(8 + 300, 3);
    const TriangleMesh box = make_box({0.3, 0.5, 0.2});
    for (int i = 0; i < 300; ++i) {
        for (int axis = 0; axis < 3; ++axis)
            points(i, axis) = uniform(random, -1.0, 1.0) * box.vertices(7, axis) * 0.999;
    }
    points.bottomRows(8) = box.vertices;
    const ConvexHull hull = convex_hull(points, "test");
    std::vector<int> expected(8);
    std::iota(expected.begin(), expected.end(), 300);
    CHECK(hull.vertices == expected);
    CHECK(hull.triangles.rows() == 12);
    check_hull(points, hull);
    const Moments moments = solid_moments(as_mesh(points, hull), 1.0);
    CHECK((to_vector(moments) - to_vector(box_moments({0.3, 0.5, 0.2}, 1.0))).norm() < 1e-15);
}

TEST_CASE("grids: many points on faces and edges") {
    Random random(2);
    for (const int n : {2, 3, 4, 7}) {
        for (int turn = 0; turn < 4; ++turn) {
            const Eigen::Matrix3d r = turn == 0 ? Eigen::Matrix3d::Identity() : random_rotation(random);
            Points points(n * n * n, 3);
            for (int i = 0; i < n * n * n; ++i)
                points.row(i) = (r * Vector3d(i % n, (i / n) % n, i / (n * n))).transpose();
            const ConvexHull hull = convex_hull(points, "grid");
            CAPTURE(n);
            check_hull(points, hull);
            CHECK(solid_moments(as_mesh(points, hull), 1.0).mass ==
                  doctest::Approx(std::pow(n - 1.0, 3)).epsilon(1e-12));
        }
    }
}

TEST_CASE("random points: same extreme points, same distances") {
    Random random(3);
    for (int i = 0; i < 100; ++i) {
        const int count = 4 + uniform_index(random, 200);
        Points points(count, 3);
        for (double& value : points.reshaped()) value = normal(random);
        const ConvexHull hull = convex_hull(points, "random");
        check_hull(points, hull);
        const TriangleMesh mesh = as_mesh(points, hull);
        for (int k = 0; k < 20; ++k) {
            const Vector3d n = unit_vector(random);
            CHECK((mesh.vertices * n).maxCoeff() == (points * n).maxCoeff());
        }
    }
}

TEST_CASE("hull of a sphere keeps every vertex; a dented mesh loses the dent") {
    for (const TriangleMesh& mesh :
         {make_sphere(0.3, 2), make_capsule(0.1, 0.3, 16), make_ellipsoid({0.1, 0.2, 0.3}, 2)}) {
        const TriangleMesh hull = as_mesh(mesh.vertices, convex_hull(mesh.vertices, "mesh"));
        CHECK(hull.vertices == mesh.vertices);
        CHECK(is_watertight(hull));
        CHECK(solid_moments(hull, 1.0).mass >= solid_moments(mesh, 1.0).mass * (1.0 - 1e-12));
    }
    TriangleMesh dented = make_sphere(0.3, 1);
    dented.vertices.row(20) *= 0.5;
    CHECK(convex_hull(dented.vertices, "dented").vertices.size() == 41);
}

TEST_CASE("sizes from micrometres to kilometres, far from the origin") {
    Random random(4);
    Points points(50, 3);
    for (double& value : points.reshaped()) value = normal(random);
    const ConvexHull reference = convex_hull(points, "reference");
    for (const double scale : {1e-6, 1e3}) CHECK(convex_hull(scale * points, "scaled").vertices == reference.vertices);
    const Points far = points.rowwise() + Eigen::RowVector3d(1000, -1000, 500);
    CHECK(convex_hull(far, "far").vertices == reference.vertices);
}

TEST_CASE("several threads at once") {
    Random random(5);
    Points points(200, 3);
    for (double& value : points.reshaped()) value = normal(random);
    const ConvexHull reference = convex_hull(points, "reference");
    std::vector<int> equal(4, 0);
    {
        std::vector<std::jthread> threads;
        for (int& result : equal) {
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) result += convex_hull(points, "thread").triangles == reference.triangles;
            });
        }
    }
    CHECK(equal == std::vector<int>(4, 20));
}

TEST_CASE("degenerate input is named") {
    const auto complaint = [](const Points& points) {
        return error_of([&] { (void)convex_hull(points, "body 'foot'"); });
    };
    CHECK(complaint(Points(0, 3)) == "convex_hull: body 'foot': 0 points, expected at least 4");
    CHECK(complaint(Points::Zero(3, 3)) == "convex_hull: body 'foot': 3 points, expected at least 4");
    CHECK(
        contains(complaint(Points::Zero(9, 3)), "body 'foot': 9 points lie in one plane (extent 0, thickness 0 [m])"));
    Random random(6);
    Points points(20, 3);
    for (double& value : points.reshaped()) value = normal(random);
    Points line = points, plane = points;
    for (int i = 0; i < 20; ++i) {
        line.row(i) = points(i, 0) * Eigen::RowVector3d(1, 2, 3);
        plane.row(i) = points(i, 0) * Eigen::RowVector3d(1, 2, 3) + points(i, 1) * Eigen::RowVector3d(0, 1, -1);
    }
    CHECK(contains(complaint(line), "20 points lie in one plane"));
    CHECK(contains(complaint(plane), "20 points lie in one plane"));
    points(7, 2) = std::numeric_limits<double>::quiet_NaN();
    CHECK(contains(complaint(points), "body 'foot': point 7 ("));
    CHECK(contains(complaint(Points(0, 3)), "body 'foot': 0 points"));
}
