// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/distance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "farfield/base/random.hpp"

using namespace farfield;
using Eigen::Vector3d;

namespace {

/// Distance by trying points: a grid of weights on both triangles, refined around its best pair (the problem is convex).
/// Shares nothing with the code under test.
double sampled_distance(const Triangle& a, const Triangle& b) {
    const auto at = [](const Triangle& t, double u, double v) -> Vector3d {
        return t[0] + u * (t[1] - t[0]) + v * (t[2] - t[0]);
    };
    double best = std::numeric_limits<double>::infinity();
    double center[4] = {1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3}, width = 0.5;
    for (int round = 0; round < 34; ++round, width *= 0.6) {
        double next_center[4] = {center[0], center[1], center[2], center[3]};
        const int n = 4;
        for (int i = -n; i <= n; ++i) {
            for (int j = -n; j <= n; ++j) {
                double u = std::clamp(center[0] + width * i / n, 0.0, 1.0),
                       v = std::clamp(center[1] + width * j / n, 0.0, 1.0);
                if (u + v > 1.0) {
                    const double s = u + v;
                    u /= s;
                    v /= s;
                }
                const Vector3d x = at(a, u, v);
                for (int k = -n; k <= n; ++k) {
                    for (int l = -n; l <= n; ++l) {
                        double p = std::clamp(center[2] + width * k / n, 0.0, 1.0),
                               q = std::clamp(center[3] + width * l / n, 0.0, 1.0);
                        if (p + q > 1.0) {
                            const double s = p + q;
                            p /= s;
                            q /= s;
                        }
                        const double d = (x - at(b, p, q)).norm();
                        if (d < best) {
                            best = d;
                            next_center[0] = u, next_center[1] = v, next_center[2] = p, next_center[3] = q;
                        }
                    }
                }
            }
        }
        std::copy(next_center, next_center + 4, center);
    }
    return best;
}

/// A unit direction n with n.b - n.a >= margin for all corners proves that the distance is at least margin.
double separation(const Triangle& a, const Triangle& b, const Vector3d& n) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Vector3d& x : b) low = std::min(low, n.dot(x));
    for (const Vector3d& x : a) high = std::max(high, n.dot(x));
    return low - high;
}

bool on_feature(const Vector3d& p, const Triangle& t, const TriangleFeature& feature) {
    const std::size_t k = static_cast<std::size_t>(feature.index), l = (k + 1) % 3;
    const double tolerance = 1e-13 * (1.0 + p.norm());
    if (feature.kind == FeatureKind::Vertex) return p == t[k];
    if (feature.kind == FeatureKind::Edge)
        return std::abs((p - t[k]).norm() + (p - t[l]).norm() - (t[l] - t[k]).norm()) < tolerance;
    return std::sqrt(point_triangle_distance(p, t).squared_distance) < tolerance;
}

/// Duality: the closest points prove an upper bound, their direction a lower one; both must agree.
void check_certified(const Triangle& a, const Triangle& b, double tolerance) {
    const TriangleTriangleDistance d = triangle_triangle_distance(a, b);
    const double length = std::sqrt(d.squared_distance);
    CHECK_FALSE(d.intersect);
    CHECK((d.on_b - d.on_a).norm() == doctest::Approx(length).epsilon(1e-14));
    CHECK(on_feature(d.on_a, a, d.feature_a));
    CHECK(on_feature(d.on_b, b, d.feature_b));
    const Vector3d n = (d.on_b - d.on_a) / length;
    CHECK(separation(a, b, n) >= length - tolerance);
    const TriangleTriangleDistance swapped = triangle_triangle_distance(b, a);
    CHECK(std::sqrt(swapped.squared_distance) == doctest::Approx(length).epsilon(1e-12));
}

Triangle random_triangle(Random& random, const Vector3d& center, double size) {
    Triangle t;
    for (Vector3d& x : t) x = center + size * Vector3d(normal_vector(random, 3));
    return t;
}

}  // namespace

TEST_CASE("point to triangle: every region") {
    const Triangle t{Vector3d(0, 0, 0), Vector3d(2, 0, 0), Vector3d(0, 1, 0)};
    const auto check = [&](const Vector3d& p, const Vector3d& expected, TriangleFeature feature) {
        const PointTriangleDistance d = point_triangle_distance(p, t);
        CHECK((d.point - expected).norm() < 1e-15);
        CHECK(d.squared_distance == doctest::Approx((p - expected).squaredNorm()).epsilon(1e-15));
        CHECK(d.feature == feature);
    };
    check({0.5, 0.25, 3}, {0.5, 0.25, 0}, {FeatureKind::Face, 0});
    check({0.5, 0.25, -2}, {0.5, 0.25, 0}, {FeatureKind::Face, 0});
    check({-1, -1, 1}, {0, 0, 0}, {FeatureKind::Vertex, 0});
    check({5, -1, 1}, {2, 0, 0}, {FeatureKind::Vertex, 1});
    check({-1, 4, 1}, {0, 1, 0}, {FeatureKind::Vertex, 2});
    check({1, -1, 1}, {1, 0, 0}, {FeatureKind::Edge, 0});
    check({2, 2.5, 1}, {1, 0.5, 0}, {FeatureKind::Edge, 1});
    check({-1, 0.5, 1}, {0, 0.5, 0}, {FeatureKind::Edge, 2});
    check({0, 0, 0}, {0, 0, 0}, {FeatureKind::Vertex, 0});
}

TEST_CASE("triangle distance agrees with sampling") {
    Random random(1);
    int separate = 0;
    for (int i = 0; i < 60; ++i) {
        const Triangle a = random_triangle(random, Vector3d::Zero(), 0.5);
        const Triangle b = random_triangle(random, 1.5 * unit_vector(random), 0.5);
        const TriangleTriangleDistance d = triangle_triangle_distance(a, b);
        const double sampled = sampled_distance(a, b);
        CHECK(std::sqrt(d.squared_distance) <= sampled + 1e-12);
        CHECK(std::sqrt(d.squared_distance) >= sampled - 1e-3);
        separate += !d.intersect;
    }
    CHECK(separate > 30);
}

TEST_CASE("triangle distance carries its own proof, at all separations and for every feature pair") {
    Random random(2);
    std::array<std::array<int, 3>, 3> seen{};
    for (int i = 0; i < 4000; ++i) {
        const Triangle a = random_triangle(random, Vector3d::Zero(), 0.5);
        Triangle b = random_triangle(random, Vector3d::Zero(), 0.5);
        // Apart along a random direction by a gap from 1e-6 to 1.
        const Vector3d n = unit_vector(random);
        const double gap = std::pow(10.0, uniform(random, -6.0, 0.0));
        const double shift = gap - separation(a, b, n);
        for (Vector3d& x : b) x += shift * n;
        check_certified(a, b, 1e-9);
        const TriangleTriangleDistance d = triangle_triangle_distance(a, b);
        ++seen[static_cast<std::size_t>(d.feature_a.kind)][static_cast<std::size_t>(d.feature_b.kind)];
    }
    using enum FeatureKind;
    const auto count = [&](FeatureKind x, FeatureKind y) {
        return seen[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)];
    };
    CHECK(count(Vertex, Vertex) > 20);
    CHECK(count(Vertex, Edge) > 20);
    CHECK(count(Edge, Vertex) > 20);
    CHECK(count(Vertex, Face) > 0);
    CHECK(count(Face, Vertex) > 0);
    CHECK(count(Edge, Edge) > 0);
}

TEST_CASE("degenerate positions: parallel edges, coplanar, stacked, slivers") {
    const Triangle floor{Vector3d(0, 0, 0), Vector3d(1, 0, 0), Vector3d(0, 1, 0)};
    for (const double gap : {1.0, 1e-3, 1e-6, 1e-9}) {
        CAPTURE(gap);
        // Stacked, same shape: everything is parallel.
        Triangle above = floor;
        for (Vector3d& x : above) x.z() += gap;
        TriangleTriangleDistance d = triangle_triangle_distance(floor, above);
        CHECK(std::sqrt(d.squared_distance) == doctest::Approx(gap).epsilon(1e-12));
        // Coplanar, edges parallel and apart.
        Triangle beside = floor;
        for (Vector3d& x : beside) x.x() -= 1.0 + gap;
        d = triangle_triangle_distance(floor, beside);
        CHECK(std::sqrt(d.squared_distance) == doctest::Approx(gap).epsilon(1e-6));
        CHECK_FALSE(d.intersect);
        // A wall standing on an edge parallel to an edge of the floor.
        const Triangle wall{Vector3d(0.2, 0.1, gap), Vector3d(0.7, 0.1, gap), Vector3d(0.4, 0.1, 2.0)};
        d = triangle_triangle_distance(floor, wall);
        CHECK(std::sqrt(d.squared_distance) == doctest::Approx(gap).epsilon(1e-12));
    }
    Random random(3);
    for (int i = 0; i < 500; ++i) {
        // Slivers: one corner within 1e-9 of the opposite edge, both triangles.
        Triangle a = random_triangle(random, Vector3d::Zero(), 0.5),
                 b = random_triangle(random, Vector3d(0, 0, 4), 0.5);
        for (Triangle* t : {&a, &b}) (*t)[2] = 0.3 * (*t)[0] + 0.7 * (*t)[1] + 1e-9 * unit_vector(random);
        check_certified(a, b, 1e-8);
    }
}

TEST_CASE("segments: crossing, parallel, collinear, points") {
    const Vector3d o = Vector3d::Zero(), x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
    SegmentSegmentDistance d = segment_segment_distance(-x, x, z - y, z + y);
    CHECK(d.squared_distance == 1.0);
    CHECK(d.s == 0.5);
    CHECK(d.t == 0.5);
    d = segment_segment_distance(o, x, y, y + x);  // side by side
    CHECK(d.squared_distance == 1.0);
    d = segment_segment_distance(o, x, 2.0 * x + y, 3.0 * x + y);  // parallel, one after the other
    CHECK(d.squared_distance == 2.0);
    CHECK(d.s == 1.0);
    CHECK(d.t == 0.0);
    d = segment_segment_distance(o, x, 3.0 * x, 2.0 * x);  // one line
    CHECK(d.squared_distance == 1.0);
    CHECK(d.t == 1.0);
    CHECK(segment_segment_distance(o, o, x, x).squared_distance == 1.0);
    CHECK(segment_segment_distance(o, 2.0 * x, x + y, x + y).squared_distance == 1.0);
    Random random(4);
    for (int i = 0; i < 2000; ++i) {
        const Vector3d a0 = normal_vector(random, 3), b0 = normal_vector(random, 3), u = unit_vector(random);
        const Vector3d v =
            (u + std::pow(10.0, uniform(random, -12.0, 0.0)) * unit_vector(random)).normalized();  // nearly parallel
        const SegmentSegmentDistance e = segment_segment_distance(a0, a0 + u, b0, b0 + v);
        // First-order conditions of the convex problem, with clamped parameters.
        const Vector3d r = e.on_b - e.on_a;
        const double slope_s = -r.dot(u), slope_t = r.dot(v);
        const double tolerance = 1e-7 * (1.0 + r.norm());
        CHECK((e.s == 0.0 ? slope_s > -tolerance : (e.s == 1.0 ? slope_s < tolerance : std::abs(slope_s) < tolerance)));
        CHECK((e.t == 0.0 ? slope_t > -tolerance : (e.t == 1.0 ? slope_t < tolerance : std::abs(slope_t) < tolerance)));
    }
}

TEST_CASE("intersection: generic, touching, coplanar, contained") {
    const Triangle floor{Vector3d(0, 0, 0), Vector3d(1, 0, 0), Vector3d(0, 1, 0)};
    const auto meets = [&](const Vector3d& p, const Vector3d& q, const Vector3d& r) {
        const Triangle other{p, q, r};
        const bool result = triangles_intersect(floor, other);
        for (int i = 0; i < 3; ++i) {  // the same from all sides
            const std::size_t k = static_cast<std::size_t>(i);
            const Triangle turned{other[k], other[(k + 1) % 3], other[(k + 2) % 3]},
                flipped{other[k], other[(k + 2) % 3], other[(k + 1) % 3]};
            CHECK(triangles_intersect(floor, turned) == result);
            CHECK(triangles_intersect(flipped, floor) == result);
        }
        const TriangleTriangleDistance d = triangle_triangle_distance(floor, other);
        CHECK(d.intersect == result);
        CHECK((d.squared_distance == 0.0) == result);
        if (result) {
            CHECK(point_triangle_distance(d.on_a, floor).squared_distance < 1e-30);
            CHECK(point_triangle_distance(d.on_a, other).squared_distance < 1e-30);
        }
        return result;
    };
    CHECK(meets({0.2, 0.2, -1}, {0.2, 0.2, 1}, {2, 2, 0}));        // an edge through the face
    CHECK_FALSE(meets({0.7, 0.7, -1}, {0.7, 0.7, 1}, {2, 2, 0}));  // past the long side
    CHECK(meets({0.2, 0.2, 0}, {0.3, 0.2, 1}, {0.2, 0.3, 1}));     // a corner on the face
    CHECK_FALSE(meets({0.2, 0.2, 1e-100}, {0.3, 0.2, 1}, {0.2, 0.3, 1}));
    CHECK(meets({0.5, 0.5, 0}, {1, 1, 1}, {1, 1, -1}));         // a corner on an edge
    CHECK(meets({0, 0, 0}, {-1, 0, 1}, {-1, -1, 1}));           // a common corner
    CHECK(meets({0, 0, 0}, {1, 0, 0}, {0.5, -1, 1}));           // a common edge
    CHECK(meets({0.25, 0, 0}, {0.75, 0, 0}, {0.5, -1, 1}));     // part of an edge
    CHECK(meets({-5, 0, 0}, {5, 0, 0}, {0.5, -1, 1}));          // more than an edge
    CHECK_FALSE(meets({2, 0, 0}, {5, 0, 0}, {3, -1, 1}));       // on the line of an edge, beyond it
    CHECK(meets({0.2, 0.2, 0}, {0.6, 0.2, 0}, {0.3, 0.3, 1}));  // an edge within the face
    CHECK(meets({-1, 0.2, 0}, {3, 0.2, 0}, {0.3, 0.3, 1}));     // an edge right across the face
    CHECK_FALSE(meets({-1, 1.2, 0}, {3, 1.2, 0}, {0.3, 0.3, 1}));
    CHECK(meets({0.1, 0.1, 0}, {0.2, 0.1, 0}, {0.1, 0.2, 0}));                       // coplanar: contained,
    CHECK(meets({-5, -5, 0}, {9, -5, 0}, {-5, 9, 0}));                               // containing,
    CHECK(meets({0.5, -1, 0}, {0.6, 2, 0}, {0.4, 2, 0}));                            // crossing,
    CHECK(meets({1, 0, 0}, {2, 0, 0}, {2, 1, 0}));                                   // corner to corner,
    CHECK(meets({0.5, 0.5, 0}, {1, 1, 0}, {1, 0.5, 0}));                             // corner on the long side,
    CHECK_FALSE(meets({0.6, 0.5, 0}, {1, 1, 0}, {1, 0.5, 0}));                       // apart
    CHECK_FALSE(meets({0.1, 0.1, 1e-100}, {0.2, 0.1, 1e-100}, {0.1, 0.2, 1e-100}));  // hovering
    CHECK(meets({0.2, 0.2, -1}, {0.2, 0.2, 1}, {0.2, 0.2, 0.5}));                    // a segment as a triangle
    CHECK_FALSE(meets({0.8, 0.8, -1}, {0.8, 0.8, 1}, {0.8, 0.8, 0.5}));
    CHECK(meets({0.2, 0.2, 0}, {0.4, 0.2, 0}, {0.3, 0.2, 0}));  // one that lies in the plane
    CHECK_FALSE(meets({0.2, 2, 0}, {0.4, 2, 0}, {0.3, 2, 0}));
}

TEST_CASE("intersection agrees with distance on random triangles pushed together and apart") {
    Random random(5);
    int meeting = 0, apart = 0;
    for (int i = 0; i < 3000; ++i) {
        const Triangle a = random_triangle(random, Vector3d::Zero(), 0.5);
        Triangle b = random_triangle(random, 0.3 * unit_vector(random), 0.5);
        const TriangleTriangleDistance d = triangle_triangle_distance(a, b);
        if (d.intersect) {
            ++meeting;
            CHECK(point_triangle_distance(d.on_a, a).squared_distance < 1e-24);
            CHECK(point_triangle_distance(d.on_a, b).squared_distance < 1e-24);
            // No direction separates them: try many.
            for (int k = 0; k < 20; ++k) CHECK(separation(a, b, unit_vector(random)) <= 1e-12);
            continue;
        }
        ++apart;
        check_certified(a, b, 1e-9);
        // Moved along the closest direction a little less than the distance: apart; a little more: they meet.
        const Vector3d gap = d.on_a - d.on_b;
        if (gap.norm() < 1e-3) continue;
        Triangle near = b, through = b;
        for (Vector3d& x : near) x += (1.0 - 1e-9) * gap;
        for (Vector3d& x : through) x += (1.0 + 1e-9) * gap;
        CHECK_FALSE(triangles_intersect(a, near));
        const FeatureKind kind_a = d.feature_a.kind, kind_b = d.feature_b.kind;
        const bool edges_cross = kind_a == FeatureKind::Edge && kind_b == FeatureKind::Edge;
        if (edges_cross || kind_a == FeatureKind::Face || kind_b == FeatureKind::Face)
            CHECK(triangles_intersect(a, through));
    }
    CHECK(meeting > 300);
    CHECK(apart > 300);
}
