// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "farfield/geometry/predicates.hpp"

namespace farfield {

namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr int next(int k) { return k == 2 ? 0 : k + 1; }
const Vector3d& corner(const Triangle& triangle, int k) { return triangle[static_cast<std::size_t>(k)]; }

/// Parameter of the point of x0 + t d closest to p, in [0, 1]; 0 for a segment that is a point.
double project(const Vector3d& p, const Vector3d& x0, const Vector3d& d) {
    const double length2 = d.squaredNorm();
    if (!(length2 > 0.0)) return 0.0;
    return std::clamp(d.dot(p - x0) / length2, 0.0, 1.0);
}

/// x0 at t = 0 and x1 at t = 1 exactly.
Vector3d along(const Vector3d& x0, const Vector3d& x1, double t) {
    return t < 0.5 ? Vector3d(x0 + t * (x1 - x0)) : Vector3d(x1 - (1.0 - t) * (x1 - x0));
}

/// Closest points of two segments when both lie in the interiors; any point pair otherwise.
/// For nearly parallel segments s is inaccurate, but then the distance hardly depends on it.
SegmentSegmentDistance crossing_candidate(const Vector3d& a0, const Vector3d& a1, const Vector3d& b0,
                                          const Vector3d& b1) {
    const Vector3d u = a1 - a0, v = b1 - b0, r = b0 - a0;
    const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v);
    const double determinant = uu * vv - uv * uv;
    SegmentSegmentDistance result;
    if (determinant > 0.0) result.s = std::clamp((u.dot(r) * vv - v.dot(r) * uv) / determinant, 0.0, 1.0);
    result.t = project(along(a0, a1, result.s), b0, v);
    result.on_a = along(a0, a1, result.s);
    result.on_b = along(b0, b1, result.t);
    result.squared_distance = (result.on_b - result.on_a).squaredNorm();
    return result;
}

TriangleFeature edge_feature(int edge, double t) {
    if (t <= 0.0) return {FeatureKind::Vertex, edge};
    if (t >= 1.0) return {FeatureKind::Vertex, next(edge)};
    return {FeatureKind::Edge, edge};
}

/// Where the segment p, q crosses the plane of `triangle`, if that is inside it. `side_p`, `side_q`: orientations of p and q.
std::optional<Vector3d> piercing(const Vector3d& p, const Vector3d& q, int side_p, int side_q,
                                 const Triangle& triangle) {
    if (side_p * side_q > 0 || (side_p == 0 && side_q == 0)) return std::nullopt;
    int positive = 0, negative = 0;
    for (int k = 0; k < 3; ++k) {
        const int side = orientation(p, q, corner(triangle, k), corner(triangle, next(k)));
        positive += side > 0;
        negative += side < 0;
    }
    if (positive > 0 && negative > 0) return std::nullopt;
    const Vector3d normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
    const double height_p = std::abs(normal.dot(p - triangle[0])), height_q = std::abs(normal.dot(q - triangle[0]));
    const double sum = height_p + height_q;
    return along(p, q, sum > 0.0 ? height_p / sum : 0.0);
}

bool on_segment_line(const Vector2d& p, const Vector2d& a, const Vector2d& b) {  // p known to be on the line
    return p.cwiseMax(a.cwiseMin(b)).cwiseMin(a.cwiseMax(b)) == p;
}

bool segments_meet_exactly(const Vector2d& a, const Vector2d& b, const Vector2d& c, const Vector2d& d) {
    const int c_side = orientation(a, b, c), d_side = orientation(a, b, d);
    const int a_side = orientation(c, d, a), b_side = orientation(c, d, b);
    if (c_side * d_side < 0 && a_side * b_side < 0) return true;
    return (c_side == 0 && on_segment_line(c, a, b)) || (d_side == 0 && on_segment_line(d, a, b)) ||
           (a_side == 0 && on_segment_line(a, c, d)) || (b_side == 0 && on_segment_line(b, c, d));
}

using Triangle2 = std::array<Vector2d, 3>;

bool inside(const Vector2d& p, const Triangle2& triangle) {
    int positive = 0, negative = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const int side = orientation(triangle[k], triangle[(k + 1) % 3], p);
        positive += side > 0;
        negative += side < 0;
    }
    return positive == 0 || negative == 0;
}

/// Overlap of two triangles in one plane: seen along an axis in which at least one of them (`a` or `b`) keeps an area.
bool coplanar_overlap(const Triangle& a, const Triangle& b) {
    std::array<Triangle2, 2> flat;
    std::array<int, 2> turn{};
    for (int axis = 0; axis < 3 && turn[0] == 0 && turn[1] == 0; ++axis) {
        for (std::size_t which = 0; which < 2; ++which) {
            for (std::size_t k = 0; k < 3; ++k) {
                const Vector3d& x = which == 0 ? a[k] : b[k];
                flat[which][k] = Vector2d(x(next(axis)), x(next(next(axis))));
            }
            turn[which] = orientation(flat[which][0], flat[which][1], flat[which][2]);
        }
    }
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            if (segments_meet_exactly(flat[0][i], flat[0][(i + 1) % 3], flat[1][j], flat[1][(j + 1) % 3])) return true;
        }
    }
    // No edges meet: one is inside the other or they are apart.
    return (turn[0] != 0 && inside(flat[1][0], flat[0])) || (turn[1] != 0 && inside(flat[0][0], flat[1]));
}

struct Sides {
    std::array<int, 3> of{};  ///< orientation of each corner by the plane of the other triangle
    [[nodiscard]] bool all_one_side() const { return of[0] * of[1] > 0 && of[1] * of[2] > 0; }
    [[nodiscard]] bool all_zero() const { return of[0] == 0 && of[1] == 0 && of[2] == 0; }
};

Sides sides(const Triangle& plane, const Triangle& triangle) {
    Sides result;
    for (std::size_t k = 0; k < 3; ++k) result.of[k] = orientation(plane[0], plane[1], plane[2], triangle[k]);
    return result;
}

/// First edge of `triangle` that pierces `other`, and where.
struct Piercing {
    int edge = -1;
    Vector3d point = Vector3d::Zero();
};
Piercing first_piercing(const Triangle& triangle, const Sides& side, const Triangle& other) {
    for (int k = 0; k < 3; ++k) {
        const std::size_t i = static_cast<std::size_t>(k), j = static_cast<std::size_t>(next(k));
        if (const auto point = piercing(triangle[i], triangle[j], side.of[i], side.of[j], other)) return {k, *point};
    }
    return {};
}

enum class Meeting { Apart, Coplanar, EdgeOfA, EdgeOfB };

/// With exact orientations, edges inside the other's plane need no test of their own: where they meet the other triangle,
/// one of the edges that leave the plane does, too.
Meeting meeting(const Triangle& a, const Triangle& b, Piercing& where) {
    const Sides b_sides = sides(a, b);
    if (b_sides.all_one_side()) return Meeting::Apart;
    const Sides a_sides = sides(b, a);
    if (a_sides.all_one_side()) return Meeting::Apart;
    if (a_sides.all_zero() && b_sides.all_zero()) return coplanar_overlap(a, b) ? Meeting::Coplanar : Meeting::Apart;
    where = first_piercing(b, b_sides, a);
    if (where.edge >= 0) return Meeting::EdgeOfB;
    where = first_piercing(a, a_sides, b);
    if (where.edge >= 0) return Meeting::EdgeOfA;
    return Meeting::Apart;
}

/// Closest among the corner-triangle and edge-edge pairs: the distance of triangles that do not cross.
TriangleTriangleDistance boundary_distance(const Triangle& a, const Triangle& b) {
    TriangleTriangleDistance best;
    best.squared_distance = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
        const PointTriangleDistance of_b = point_triangle_distance(corner(b, k), a);
        if (of_b.squared_distance < best.squared_distance) {
            best = {of_b.point, corner(b, k), of_b.squared_distance, of_b.feature, {FeatureKind::Vertex, k}, false};
        }
        const PointTriangleDistance of_a = point_triangle_distance(corner(a, k), b);
        if (of_a.squared_distance < best.squared_distance) {
            best = {corner(a, k), of_a.point, of_a.squared_distance, {FeatureKind::Vertex, k}, of_a.feature, false};
        }
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const SegmentSegmentDistance edges =
                crossing_candidate(corner(a, i), corner(a, next(i)), corner(b, j), corner(b, next(j)));
            if (edges.squared_distance < best.squared_distance) {
                best = {
                    edges.on_a, edges.on_b, edges.squared_distance, edge_feature(i, edges.s), edge_feature(j, edges.t),
                    false};
            }
        }
    }
    return best;
}

}  // namespace

PointTriangleDistance point_triangle_distance(const Vector3d& point, const Triangle& triangle) {
    PointTriangleDistance best;
    best.squared_distance = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 3; ++k) {
        const Vector3d &x0 = corner(triangle, k), &x1 = corner(triangle, next(k));
        const double t = project(point, x0, x1 - x0);
        const Vector3d candidate = along(x0, x1, t);
        const double squared = (candidate - point).squaredNorm();
        if (squared < best.squared_distance) best = {candidate, squared, edge_feature(k, t)};
    }
    // Inside, seen along the normal: weights of the corners, all positive. The point is built from them, so it is on the
    // triangle even when the normal of a sliver is inaccurate.
    const Vector3d ab = triangle[1] - triangle[0], ac = triangle[2] - triangle[0], ap = point - triangle[0];
    const Vector3d normal = ab.cross(ac);
    const double normal2 = normal.squaredNorm();
    const double weight_b = normal.dot(ap.cross(ac)), weight_c = normal.dot(ab.cross(ap));
    if (weight_b > 0.0 && weight_c > 0.0 && weight_b + weight_c < normal2) {
        const Vector3d candidate = triangle[0] + (weight_b / normal2) * ab + (weight_c / normal2) * ac;
        const double squared = (candidate - point).squaredNorm();
        if (squared < best.squared_distance) best = {candidate, squared, {FeatureKind::Face, 0}};
    }
    return best;
}

SegmentSegmentDistance segment_segment_distance(const Vector3d& a0, const Vector3d& a1, const Vector3d& b0,
                                                const Vector3d& b1) {
    SegmentSegmentDistance best = crossing_candidate(a0, a1, b0, b1);
    const auto offer = [&](double s, double t) {
        SegmentSegmentDistance candidate;
        candidate.s = s;
        candidate.t = t;
        candidate.on_a = along(a0, a1, s);
        candidate.on_b = along(b0, b1, t);
        candidate.squared_distance = (candidate.on_b - candidate.on_a).squaredNorm();
        if (candidate.squared_distance < best.squared_distance) best = candidate;
    };
    offer(0.0, project(a0, b0, b1 - b0));
    offer(1.0, project(a1, b0, b1 - b0));
    offer(project(b0, a0, a1 - a0), 0.0);
    offer(project(b1, a0, a1 - a0), 1.0);
    return best;
}

TriangleTriangleDistance triangle_triangle_distance(const Triangle& a, const Triangle& b) {
    Piercing where;
    const Meeting kind = meeting(a, b, where);
    TriangleTriangleDistance result;
    if (kind == Meeting::Apart) return boundary_distance(a, b);
    result.intersect = true;
    if (kind == Meeting::Coplanar) {
        const TriangleTriangleDistance touch = boundary_distance(a, b);  // zero but for rounding
        result.on_a = result.on_b = touch.on_a;
        result.feature_a = touch.feature_a;
        result.feature_b = touch.feature_b;
        return result;
    }
    result.on_a = result.on_b = where.point;
    (kind == Meeting::EdgeOfA ? result.feature_a : result.feature_b) = {FeatureKind::Edge, where.edge};
    return result;
}

TriangleTriangleDistance core_distance(const Triangle& a, double radius_a, const Triangle& b, double radius_b) {
    return radius_a > 0.0 && radius_b > 0.0 ? boundary_distance(a, b) : triangle_triangle_distance(a, b);
}

SweptDistance swept_distance(const Triangle& a, double radius_a, const Triangle& b, double radius_b) {
    const TriangleTriangleDistance core = core_distance(a, radius_a, b, radius_b);
    if (core.intersect) return {0.0, core.on_a, core.on_b};
    const double length = std::sqrt(core.squared_distance);
    const Vector3d along = length > 0.0 ? Vector3d((core.on_b - core.on_a) / length) : Vector3d(Vector3d::Zero());
    const double distance = std::max(0.0, length - radius_a - radius_b);
    return {distance, core.on_a + radius_a * along, core.on_b - radius_b * along};
}

bool triangles_intersect(const Triangle& a, const Triangle& b) {
    Piercing where;
    return meeting(a, b, where) != Meeting::Apart;
}

}  // namespace farfield
