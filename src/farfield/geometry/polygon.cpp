// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

using Eigen::Vector2d;

double signed_area(const Ring& ring) {
    double twice = 0.0;
    for (std::size_t i = 0; i < ring.size(); ++i) twice += cross(ring[i], ring[(i + 1) % ring.size()]);
    return 0.5 * twice;
}

double extent(const Polygon& polygon) {
    double size = 0.0;
    for (const Ring& ring : polygon.rings) {
        for (const Vector2d& p : ring) size = std::max(size, (p - polygon.rings[0][0]).norm());
    }
    return size;
}

/// Whether two closed segments share a point.
bool segments_meet(const Vector2d& a, const Vector2d& b, const Vector2d& c, const Vector2d& d) {
    const double abc = cross(b - a, c - a), abd = cross(b - a, d - a);
    const double cda = cross(d - c, a - c), cdb = cross(d - c, b - c);
    if (((abc > 0 && abd < 0) || (abc < 0 && abd > 0)) && ((cda > 0 && cdb < 0) || (cda < 0 && cdb > 0))) return true;
    const auto on = [](const Vector2d& p, const Vector2d& q, const Vector2d& x) {
        return (x - p).dot(x - q) <= 0.0;  // for collinear points
    };
    return (abc == 0 && on(a, b, c)) || (abd == 0 && on(a, b, d)) || (cda == 0 && on(c, d, a)) ||
           (cdb == 0 && on(c, d, b));
}

void check_ring(const Ring& ring, const std::string& place) {
    if (ring.size() < 3) fail(place, ": ", ring.size(), " points, expected at least 3");
    for (std::size_t i = 0; i < ring.size(); ++i) {
        if (!ring[i].allFinite()) fail(place, ": point ", i, " is not finite");
        if (ring[i] == ring[(i + 1) % ring.size()])
            fail(place, ": points ", i, " and ", (i + 1) % ring.size(), " coincide");
    }
    for (std::size_t i = 0; i < ring.size(); ++i) {
        for (std::size_t j = i + 1; j < ring.size(); ++j) {
            const std::size_t i1 = (i + 1) % ring.size(), j1 = (j + 1) % ring.size();
            const bool next = j == i1, last = i == j1;
            if (next || last) {  // neighbours share a corner; they overlap only when the ring turns straight back
                const Vector2d &common = next ? ring[j] : ring[i], &p = next ? ring[i] : ring[j],
                               &q = next ? ring[j1] : ring[i1];
                if (ring.size() > 2 && cross(p - common, q - common) == 0.0 && (p - common).dot(q - common) > 0.0)
                    fail(place, ": edges ", i, " and ", j, " fold onto each other, expected a simple polygon");
            } else if (segments_meet(ring[i], ring[i1], ring[j], ring[j1])) {
                fail(place, ": edges ", i, " and ", j, " cross (self-intersecting), expected a simple polygon");
            }
        }
    }
}

}  // namespace

void validate(const Polygon& polygon, const std::string& place) {
    if (polygon.rings.empty()) fail(place, ": no points, expected at least one ring");
    for (std::size_t r = 0; r < polygon.rings.size(); ++r) {
        const std::string where = r == 0 ? place + ": outer ring" : place + ": hole " + std::to_string(r);
        const Ring& ring = polygon.rings[r];
        if (ring.size() >= 3) {
            for (const Vector2d& p : ring) {
                if (!p.allFinite()) fail(where, ": a point is not finite");
            }
            const double size = extent(polygon), area = signed_area(ring);
            if (std::abs(area) <= 1e-12 * size * size) fail(where, ": zero area, expected > 0 [m^2]");
            check_ring(ring, where);
            if (r == 0 && area < 0)
                fail(where, ": clockwise (signed area ", area, "), expected counter-clockwise points");
            if (r > 0 && area > 0)
                fail(where, ": counter-clockwise (signed area ", area, "), expected clockwise points for a hole");
        } else {
            check_ring(ring, where);
        }
        for (std::size_t s = 0; s < r; ++s) {
            const Ring& other = polygon.rings[s];
            for (std::size_t i = 0; i < ring.size(); ++i) {
                for (std::size_t j = 0; j < other.size(); ++j) {
                    if (segments_meet(ring[i], ring[(i + 1) % ring.size()], other[j], other[(j + 1) % other.size()]))
                        fail(where, ": crosses ring ", s, ", expected holes strictly inside and apart");
                }
            }
            const bool inside = contains(Polygon{{other}}, ring[0]);
            if (inside != (s == 0)) fail(where, s == 0 ? ": lies outside the outer ring" : ": overlaps another hole");
        }
    }
}

AreaMoments area_moments(const Polygon& polygon) {
    // About a point of the polygon, so that a shape far from the origin loses nothing.
    const Vector2d origin = polygon.rings[0][0];
    double area = 0.0, polar = 0.0;
    Vector2d first = Vector2d::Zero();
    for (const Ring& ring : polygon.rings) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const Vector2d p = ring[i] - origin, q = ring[(i + 1) % ring.size()] - origin;
            const double c = cross(p, q);
            area += 0.5 * c;
            first += c / 6.0 * (p + q);
            polar += c / 12.0 * (p.dot(p) + p.dot(q) + q.dot(q));
        }
    }
    const Vector2d centre = first / area;
    return {area, origin + centre, polar - area * centre.squaredNorm()};
}

Polygon transformed(const Polygon& polygon, double angle, const Vector2d& shift) {
    const double c = std::cos(angle), s = std::sin(angle);
    Polygon out = polygon;
    for (Ring& ring : out.rings) {
        for (Vector2d& p : ring) p = Vector2d(c * p.x() - s * p.y(), s * p.x() + c * p.y()) + shift;
    }
    return out;
}

bool contains(const Polygon& polygon, const Vector2d& point) {
    bool inside = false;
    for (const Ring& ring : polygon.rings) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const Vector2d &a = ring[i], &b = ring[(i + 1) % ring.size()];
            if ((a.y() > point.y()) == (b.y() > point.y())) continue;
            if (point.x() < a.x() + (b.x() - a.x()) * (point.y() - a.y()) / (b.y() - a.y())) inside = !inside;
        }
    }
    return inside;
}

PointDistance signed_distance(const Polygon& polygon, const Vector2d& point) {
    double best = std::numeric_limits<double>::infinity();
    Vector2d nearest = Vector2d::Zero(), outward = Vector2d::UnitX();
    for (const Ring& ring : polygon.rings) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
            const Vector2d &a = ring[i], edge = ring[(i + 1) % ring.size()] - a;
            const double along = std::clamp((point - a).dot(edge) / edge.squaredNorm(), 0.0, 1.0);
            const Vector2d foot = a + along * edge;
            const double square = (point - foot).squaredNorm();
            if (square < best) {
                best = square;
                nearest = foot;
                outward = Vector2d(edge.y(), -edge.x()).normalized();
            }
        }
    }
    const double distance = std::sqrt(best);
    const bool inside = contains(polygon, point);
    const double sign = inside ? -1.0 : 1.0;
    const Vector2d normal = distance > 1e-14 ? Vector2d(sign * (point - nearest) / distance) : outward;
    return {sign * distance, normal, nearest};
}

Ring convex_hull(const Polygon& polygon) {
    Ring points = polygon.rings[0];
    std::sort(points.begin(), points.end(),
              [](const Vector2d& a, const Vector2d& b) { return a.x() < b.x() || (a.x() == b.x() && a.y() < b.y()); });
    const double flat = 1e-12 * extent(polygon) * extent(polygon);
    const auto chain = [&](auto begin, auto end) {
        Ring out;
        for (auto p = begin; p != end; ++p) {
            while (out.size() >= 2 && cross(out.back() - out[out.size() - 2], *p - out.back()) <= flat) out.pop_back();
            out.push_back(*p);
        }
        out.pop_back();
        return out;
    };
    Ring hull = chain(points.begin(), points.end());
    const Ring upper = chain(points.rbegin(), points.rend());
    hull.insert(hull.end(), upper.begin(), upper.end());
    return hull;
}

int rotational_symmetry(const Polygon& polygon, double tolerance) {
    std::vector<Vector2d> corners;
    for (const Ring& ring : polygon.rings) corners.insert(corners.end(), ring.begin(), ring.end());
    for (int k = std::min<int>(64, static_cast<int>(corners.size())); k > 1; --k) {
        const Eigen::Matrix2d turn = Eigen::Rotation2Dd(2.0 * std::numbers::pi / k).toRotationMatrix();
        const bool maps = std::all_of(corners.begin(), corners.end(), [&](const Vector2d& p) {
            return std::any_of(corners.begin(), corners.end(),
                               [&](const Vector2d& q) { return (turn * p - q).norm() < tolerance; });
        });
        if (maps) return k;
    }
    return 1;
}

}  // namespace farfield
