// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/gjk.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "farfield/base/random.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/geometry/primitives.hpp"

using namespace farfield;
using Eigen::Matrix3d;
using Eigen::Matrix3Xd;
using Eigen::Vector3d;

namespace {

Matrix3Xd placed(const TriangleMesh& mesh, const Vector3d& position, const Matrix3d& rotation) {
    return (rotation * mesh.vertices.transpose()).colwise() + position;
}

Matrix3Xd random_points(Random& random, int count, const Vector3d& center) {
    Matrix3Xd points(3, count);
    for (int i = 0; i < count; ++i) points.col(i) = center + unit_vector(random);
    return points;
}

double margin(const Matrix3Xd& a, const Matrix3Xd& b, const Vector3d& n) {
    return (n.transpose() * b).minCoeff() - (n.transpose() * a).maxCoeff();
}

/// Distance of two closed convex meshes that are apart, by all pairs of triangles.
double brute_force(const TriangleMesh& mesh_a, const Matrix3Xd& a, const TriangleMesh& mesh_b, const Matrix3Xd& b) {
    double best = std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < mesh_a.triangles.rows(); ++i) {
        for (Eigen::Index j = 0; j < mesh_b.triangles.rows(); ++j) {
            Triangle ta, tb;
            for (int k = 0; k < 3; ++k) {
                ta[static_cast<std::size_t>(k)] = a.col(mesh_a.triangles(i, k));
                tb[static_cast<std::size_t>(k)] = b.col(mesh_b.triangles(j, k));
            }
            best = std::min(best, triangle_triangle_distance(ta, tb).squared_distance);
        }
    }
    return std::sqrt(best);
}

/// The bounds are what they claim to be, and close to each other within `tolerance` (relative).
void check_bounds(const Matrix3Xd& a, const Matrix3Xd& b, const GjkResult& result, double tolerance) {
    CHECK(std::abs(result.direction.norm() - 1.0) < 1e-14);
    CHECK(margin(a, b, result.direction) == doctest::Approx(result.lower).epsilon(1e-9));
    CHECK((result.on_b - result.on_a).norm() == doctest::Approx(result.upper).epsilon(1e-6));
    CHECK(result.upper - result.lower <= tolerance * result.upper);
    CHECK(result.upper - result.lower >= -1e-14);
}

}  // namespace

TEST_CASE("distance of triangles agrees with the direct formula, from any warm direction") {
    Random random(1);
    int apart = 0;
    for (int i = 0; i < 2000; ++i) {
        const Matrix3Xd a = random_points(random, 3, Vector3d::Zero());
        const Matrix3Xd b = random_points(random, 3, 2.0 * unit_vector(random));
        const TriangleTriangleDistance direct =
            triangle_triangle_distance({a.col(0), a.col(1), a.col(2)}, {b.col(0), b.col(1), b.col(2)});
        const double distance = std::sqrt(direct.squared_distance);
        if (distance < 1e-3) continue;
        ++apart;
        for (int warm = 0; warm < 3; ++warm) {
            GjkOptions options;
            if (warm == 1) options.warm_direction = 1e-3 * (direct.on_b - direct.on_a);
            if (warm == 2) options.warm_direction = -unit_vector(random);
            const GjkResult result = gjk_distance(a, b, options);
            CHECK(result.status == GjkStatus::Converged);
            CHECK(result.upper == doctest::Approx(distance).epsilon(1e-9));
            check_bounds(a, b, result, 1e-9);
            if (warm == 1) CHECK(result.iterations <= 8);
        }
    }
    CHECK(apart > 1000);
}

TEST_CASE("hulls of random points: bounds meet, points belong to the hulls") {
    Random random(2);
    int apart = 0, overlapping = 0;
    for (int i = 0; i < 2000; ++i) {
        const int count = 4 + uniform_index(random, 60);
        const Matrix3Xd a = random_points(random, count, Vector3d::Zero());
        const Matrix3Xd b = random_points(random, count, uniform(random, 1.0, 3.0) * unit_vector(random));
        const GjkResult result = gjk_distance(a, b);
        CHECK(result.iterations < 60);
        if (result.status == GjkStatus::Overlap) {
            ++overlapping;
            CHECK(result.upper == 0.0);
            CHECK(result.lower <= 1e-12);
            for (int k = 0; k < 30; ++k) CHECK(margin(a, b, unit_vector(random)) <= 0.0);
            continue;
        }
        ++apart;
        CHECK(result.status == GjkStatus::Converged);
        check_bounds(a, b, result, 1e-9);
        // In the hull: no direction tells the point from all corners.
        for (int k = 0; k < 10; ++k) {
            const Vector3d n = unit_vector(random);
            CHECK((n.transpose() * a).maxCoeff() >= n.dot(result.on_a) - 1e-12);
            CHECK((n.transpose() * b).maxCoeff() >= n.dot(result.on_b) - 1e-12);
        }
    }
    CHECK(apart > 400);
    CHECK(overlapping > 400);
}

TEST_CASE("convex meshes agree with all pairs of triangles") {
    Random random(3);
    const TriangleMesh meshes[] = {make_box({0.3, 0.5, 0.2}), make_sphere(0.4), make_capsule(0.2, 0.4),
                                   make_cylinder(0.3, 0.3)};
    for (int i = 0; i < 60; ++i) {
        const TriangleMesh &ma = meshes[uniform_index(random, 4)], &mb = meshes[uniform_index(random, 4)];
        const Matrix3Xd a = placed(ma, Vector3d::Zero(), random_rotation(random));
        const Matrix3Xd b = placed(mb, uniform(random, 1.3, 2.0) * unit_vector(random), random_rotation(random));
        const GjkResult result = gjk_distance(a, b);
        CHECK(result.status == GjkStatus::Converged);
        CHECK(result.upper == doctest::Approx(brute_force(ma, a, mb, b)).epsilon(1e-9));
        check_bounds(a, b, result, 1e-9);
    }
}

TEST_CASE("flat contact: faces, edges and corners at gaps from 1e-2 to 1e-8, turned and shifted") {
    Random random(4);
    for (const double gap : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
        for (int i = 0; i < 300; ++i) {
            const TriangleMesh box_a = make_box({0.5, 0.4, 0.3}), box_b = make_box({0.3, 0.6, 0.2});
            Matrix3d turn = Matrix3d::Identity();
            if (i % 3 == 1) turn = Eigen::AngleAxisd(uniform(random, 0.0, 3.0), Vector3d::UnitZ());  // face on face
            if (i % 3 == 2) turn = Eigen::AngleAxisd(0.25 * std::numbers::pi, Vector3d::UnitX());    // edge on face
            const Vector3d slide(uniform(random, -0.5, 0.5), uniform(random, -0.1, 0.1), 0.0);
            const Matrix3d world = random_rotation(random);
            Matrix3Xd a = placed(box_a, Vector3d::Zero(), Matrix3d::Identity()), b = placed(box_b, slide, turn);
            const double lift = gap - margin(a, b, Vector3d::UnitZ());
            b = (b.colwise() + lift * Vector3d::UnitZ()).eval();
            a = (world * a).eval();
            b = (world * b).eval();
            const GjkResult result = gjk_distance(a, b);
            CAPTURE(gap);
            CAPTURE(i);
            CHECK(result.status != GjkStatus::Overlap);
            CHECK(result.iterations < 40);
            const double rounding = 1e-15 / gap;  // of the input itself, relative to the gap
            CHECK(result.lower == doctest::Approx(gap).epsilon(1e-9 + 4 * rounding));
            CHECK(result.upper == doctest::Approx(gap).epsilon(1e-9 + 4 * rounding));
            CHECK(margin(a, b, result.direction) >= gap * (1.0 - 1e-9) - 4e-15);
        }
    }
}

TEST_CASE(
    "aligned and nearly aligned contact: the closest points are on edges and diagonals, directions are still "
    "accurate") {
    Random random(8);
    const TriangleMesh meshes[] = {make_box({0.3, 0.5, 0.2}), make_box({0.5, 0.4, 0.02}), make_cylinder(0.3, 0.3),
                                   make_sphere(0.4)};
    const auto eighths = [&](const Vector3d& axis) {
        return Eigen::AngleAxisd(0.25 * std::numbers::pi * uniform_index(random, 8), axis).toRotationMatrix();
    };
    for (const double gap : {1e-3, 1e-5, 1e-7}) {
        for (const double tilt : {1e-3, 1e-7, 0.0}) {
            for (int i = 0; i < 1500; ++i) {
                const TriangleMesh &mesh_a = meshes[uniform_index(random, 4)],
                                   &mesh_b = meshes[uniform_index(random, 4)];
                const Matrix3d turn_a = eighths(Vector3d::Unit(uniform_index(random, 3))),
                               turn_b = eighths(Vector3d::UnitX());
                const Matrix3d tilted = Eigen::AngleAxisd(tilt, unit_vector(random)).toRotationMatrix();
                const Vector3d slide(i % 2 == 0 ? uniform(random, -0.3, 0.3) : 0.0, 0.0, 0.0);
                Matrix3Xd a = placed(mesh_a, Vector3d::Zero(), turn_a), b = placed(mesh_b, slide, tilted * turn_b);
                const double lift = gap - margin(a, b, Vector3d::UnitZ());
                const Matrix3d world = random_rotation(random);
                b = (world * (b.colwise() + lift * Vector3d::UnitZ())).eval();
                a = (world * a).eval();
                const GjkResult result = gjk_distance(a, b);
                CAPTURE(gap);
                CAPTURE(tilt);
                CAPTURE(i);
                CHECK(result.status != GjkStatus::Overlap);
                CHECK(result.upper - result.lower <= 1e-9 * result.upper + 2e-14);  // 2e-14: rounding at unit size
            }
        }
    }
}

TEST_CASE("identical boxes stacked without shift, points, segments, repeated points") {
    const TriangleMesh box = make_box({0.5, 0.5, 0.5});
    for (const double gap : {1e-3, 1e-6, 1e-9, 1e-12}) {
        const Matrix3Xd a = placed(box, Vector3d::Zero(), Matrix3d::Identity());
        const Matrix3Xd b = placed(box, Vector3d(0, 0, 1.0 + gap), Matrix3d::Identity());
        const GjkResult result = gjk_distance(a, b);
        CHECK(result.lower == doctest::Approx(gap).epsilon(1e-15 / gap));
        CHECK(result.status != GjkStatus::Overlap);
    }
    const Matrix3Xd same = placed(box, Vector3d::Zero(), Matrix3d::Identity());
    CHECK(gjk_distance(same, same).status == GjkStatus::Overlap);
    CHECK(gjk_distance(same, placed(box, Vector3d(0, 0, 1.0), Matrix3d::Identity())).upper == 0.0);  // touching faces
    Matrix3Xd point(3, 1), segment(3, 2), repeated(3, 5);
    point << 0, 0, 0;
    segment << 1, 1, -1, 1, 0, 0;
    repeated.colwise() = Vector3d(0, 3, 0);
    CHECK(gjk_distance(point, segment).upper == doctest::Approx(1.0).epsilon(1e-14));
    CHECK(gjk_distance(point, repeated).upper == 3.0);
    CHECK(gjk_distance(repeated, repeated).status == GjkStatus::Overlap);
    CHECK(gjk_distance(segment, segment).status == GjkStatus::Overlap);
}

TEST_CASE("size and place do not matter beyond rounding") {
    Random random(5);
    for (int i = 0; i < 200; ++i) {
        const Matrix3Xd a = random_points(random, 12, Vector3d::Zero()),
                        b = random_points(random, 12, Vector3d(2.5, 0.3, 0.1));
        const double reference = gjk_distance(a, b).upper;
        for (const double scale : {1e-6, 1e3}) {
            CHECK(gjk_distance(scale * a, scale * b).upper == doctest::Approx(scale * reference).epsilon(1e-9));
        }
        const Vector3d far(100, -50, 30);
        CHECK(gjk_distance(a.colwise() + far, b.colwise() + far).upper == doctest::Approx(reference).epsilon(1e-9));
        CHECK(gjk_distance(b, a).upper == doctest::Approx(reference).epsilon(1e-9));
    }
}

TEST_CASE("early stops") {
    Random random(6);
    for (int i = 0; i < 200; ++i) {
        const Matrix3Xd a = random_points(random, 40, Vector3d::Zero()),
                        b = random_points(random, 40, 2.5 * unit_vector(random));
        const GjkResult full = gjk_distance(a, b);
        const GjkResult above = gjk_distance(a, b, {.stop_above = 0.5 * full.lower});
        CHECK(above.lower >= 0.5 * full.lower);
        CHECK(above.iterations <= full.iterations);
        CHECK(margin(a, b, above.direction) == doctest::Approx(above.lower).epsilon(1e-12));
        const GjkResult below = gjk_distance(a, b, {.stop_below = 2.0 * full.upper});
        CHECK(below.upper <= 2.0 * full.upper);
        CHECK(below.iterations <= full.iterations);
        // Restarted from its own answer it is done at once.
        CHECK(gjk_distance(a, b, {.stop_above = 0.999 * full.lower, .warm_direction = full.direction}).iterations == 1);
    }
}

TEST_CASE("step by step: the hull of two placements of a body") {
    Random random(7);
    int early = 0;
    for (int i = 0; i < 300; ++i) {
        const TriangleMesh box = make_box({0.3, 0.2, 0.4});
        const Matrix3Xd still = placed(box, Vector3d::Zero(), Matrix3d::Identity());
        const Matrix3Xd start = placed(box, 1.5 * unit_vector(random), random_rotation(random));
        const Matrix3Xd end = start.colwise() + 0.3 * unit_vector(random);
        Matrix3Xd both(3, 16);
        both << start, end;
        const GjkResult whole = gjk_distance(still, both);
        const double enough = 0.5 * whole.lower;
        Gjk gjk(start.rowwise().mean() - still.rowwise().mean());
        GjkStatus status = GjkStatus::Searching;
        while (status == GjkStatus::Searching) {
            const Vector3d n = gjk.direction();
            const Vector3d a = still.col(support(still, n)), b0 = start.col(support(start, -n)),
                           b1 = end.col(support(end, -n));
            const Vector3d b = n.dot(b0) <= n.dot(b1) ? b0 : b1;
            CHECK(n.dot(b - a) == doctest::Approx(margin(still, both, n)).epsilon(1e-12));
            if (whole.status == GjkStatus::Converged && n.dot(b - a) >= enough) {
                ++early;
                break;
            }
            status = gjk.add(a, b);
        }
        if (whole.status == GjkStatus::Overlap) CHECK(status == GjkStatus::Overlap);
        CHECK(gjk.lower() <= whole.upper + 1e-14);
        CHECK(gjk.upper() >= whole.lower - 1e-14);
    }
    CHECK(early > 200);
}
