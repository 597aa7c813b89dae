// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/polygon_obstacle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

using Eigen::Vector2d;

double size_of(const Polygon& polygon) {
    double size = 0.0;
    for (const Vector2d& p : polygon.rings[0]) size = std::max(size, (p - polygon.rings[0][0]).norm());
    return size;
}

/// Calls visit(corner, next corner, corner before) for every edge.
template <class Visit>
void visit_edges(const Polygon& polygon, Visit&& visit) {
    for (const Ring& ring : polygon.rings) {
        const std::size_t n = ring.size();
        for (std::size_t i = 0; i < n; ++i) visit(ring[i], ring[(i + 1) % n], ring[(i + n - 1) % n]);
    }
}

/// Whether a convex corner can lie on a wall with this outward normal, its polygon outside the wall.
bool corner_fits(const Vector2d& before, const Vector2d& corner, const Vector2d& after, const Vector2d& normal) {
    constexpr double kSlack = -1e-12;
    const Vector2d in = corner - before, out = after - corner;
    return cross(in, out) > 0.0 && normal.dot(-in) >= kSlack * in.norm() && normal.dot(out) >= kSlack * out.norm();
}

/// Parameter along p..q where r..s crosses it, or -1.
double crossing(const ContactSegment& one, const ContactSegment& two) {
    const Vector2d u = one.q - one.p, v = two.q - two.p, w = two.p - one.p;
    const double det = cross(u, v);
    if (std::abs(det) <= 1e-14 * u.norm() * v.norm()) return -1.0;
    const double along = cross(w, v) / det, other = cross(w, u) / det;
    constexpr double kEnd = 1e-10;
    return along >= -kEnd && along <= 1.0 + kEnd && other >= -kEnd && other <= 1.0 + kEnd ? along : -1.0;
}

struct Box2 {
    Vector2d low, high;
};
Box2 box_of(const Vector2d& p, const Vector2d& q) { return {p.cwiseMin(q), p.cwiseMax(q)}; }
bool apart(const Box2& a, const Box2& b) {
    return a.low.x() > b.high.x() || b.low.x() > a.high.x() || a.low.y() > b.high.y() || b.low.y() > a.high.y();
}

Vector2d nearest_on(const ContactSegment& segment, const Vector2d& point) {
    const Vector2d u = segment.q - segment.p;
    return segment.p + std::clamp((point - segment.p).dot(u) / u.squaredNorm(), 0.0, 1.0) * u;
}

PolygonDistance separated(const Polygon& a, const Polygon& b) {
    PolygonDistance best;
    double square = std::numeric_limits<double>::infinity();
    Vector2d outward = Vector2d::UnitX();
    const auto scan = [&](const Polygon& edges, const Polygon& corners, bool corners_of_b) {
        visit_edges(edges, [&](const Vector2d& p, const Vector2d& q, const Vector2d&) {
            const Vector2d u = q - p;
            const double length = u.squaredNorm();
            visit_edges(corners, [&](const Vector2d& corner, const Vector2d&, const Vector2d&) {
                const Vector2d foot = p + std::clamp((corner - p).dot(u) / length, 0.0, 1.0) * u;
                const double now = (corner - foot).squaredNorm();
                if (now >= square) return;
                square = now;
                best.point_a = corners_of_b ? foot : corner;
                best.point_b = corners_of_b ? corner : foot;
                outward = Vector2d(u.y(), -u.x()) * (corners_of_b ? 1.0 : -1.0);
            });
        });
    };
    scan(a, b, true);
    scan(b, a, false);
    best.distance = std::sqrt(square);
    best.normal = square > 0.0 ? Vector2d((best.point_b - best.point_a) / best.distance) : outward.normalized();
    return best;
}

struct Exit {
    double length;
    Vector2d translation, outward;
    const ContactSegment *segment, *other;  // other: the second one at a corner, else null
};

/// The point of B through which a unit force along `normal` acts. At a corner of the obstacle two contacts share the
/// force, normal = alpha n1 + beta n2, and the point lies on the line of action of their sum.
Vector2d acting_point(const Exit& exit, const Vector2d& normal) {
    const Vector2d one = exit.segment->touching(exit.translation) - exit.translation;
    if (exit.other == nullptr) return one;
    const Vector2d two = exit.other->touching(exit.translation) - exit.translation;
    const Vector2d &n1 = exit.segment->normal, &n2 = exit.other->normal;
    const double det = cross(n1, n2);
    if (std::abs(det) < 1e-9) return one;
    const double alpha = cross(normal, n2) / det, beta = cross(n1, normal) / det;
    const Vector2d middle = (alpha * one + beta * two) / (alpha + beta);
    const double moment = alpha * cross(one, n1) + beta * cross(two, n2);
    const Vector2d tangent(-normal.y(), normal.x());
    return middle - (moment - cross(middle, normal)) * tangent;
}

/// Shortest translation of B that separates the interiors: feet on segments, and corners where two segments cross.
PolygonDistance penetrating(const Polygon& a, const Polygon& b) {
    const std::vector<ContactSegment> all = contact_segments(a, b);
    const double size = size_of(a) + size_of(b), offset = 1e-8 * size;
    for (double reach = 0.05 * size;; reach *= 2.0) {
        std::vector<const ContactSegment*> near;
        std::vector<Exit> exits;
        for (const ContactSegment& segment : all) {
            const Vector2d foot = nearest_on(segment, Vector2d::Zero());
            if (foot.norm() > reach) continue;
            near.push_back(&segment);
            exits.push_back({foot.norm(), foot, segment.normal, &segment, nullptr});
        }
        for (std::size_t i = 0; i < near.size(); ++i) {
            for (std::size_t j = i + 1; j < near.size(); ++j) {
                const double along = crossing(*near[i], *near[j]);
                if (along < -0.5) continue;
                const Vector2d point = near[i]->p + along * (near[i]->q - near[i]->p);
                const Vector2d outward = near[i]->normal + near[j]->normal;
                if (point.norm() <= reach && outward.norm() > 1e-6)
                    exits.push_back({point.norm(), point, outward.normalized(), near[i], near[j]});
            }
        }
        std::sort(exits.begin(), exits.end(), [](const Exit& x, const Exit& y) { return x.length < y.length; });
        for (const Exit& exit : exits) {
            if (interiors_meet(a, b, exit.translation + offset * exit.outward)) continue;
            PolygonDistance out;
            out.distance = -exit.length;
            // B moves out along +translation: the gap grows that way.
            out.normal = exit.length > 1e-12 * size ? Vector2d(exit.translation / exit.length) : exit.outward;
            out.point_b = acting_point(exit, out.normal);
            out.point_a = out.point_b + exit.translation;
            return out;
        }
        FARFIELD_ASSERT(reach < 1e3 * size);
    }
}

}  // namespace

std::vector<ContactSegment> contact_segments(const Polygon& a, const Polygon& b) {
    std::vector<ContactSegment> out;
    visit_edges(a, [&](const Vector2d& p, const Vector2d& q, const Vector2d&) {
        const Vector2d normal = Vector2d(q.y() - p.y(), p.x() - q.x()).normalized();
        visit_edges(b, [&](const Vector2d& corner, const Vector2d& after, const Vector2d& before) {
            if (corner_fits(before, corner, after, normal))
                out.push_back({p - corner, q - corner, normal, corner, true});
        });
    });
    visit_edges(b, [&](const Vector2d& p, const Vector2d& q, const Vector2d&) {
        const Vector2d normal = Vector2d(q.y() - p.y(), p.x() - q.x()).normalized();
        visit_edges(a, [&](const Vector2d& corner, const Vector2d& after, const Vector2d& before) {
            if (corner_fits(before, corner, after, normal))
                out.push_back({corner - p, corner - q, -normal, corner, false});
        });
    });
    return out;
}

std::vector<ContactSegment> obstacle_boundary(const Polygon& a, const Polygon& b) {
    const std::vector<ContactSegment> all = contact_segments(a, b);
    const double size = size_of(a) + size_of(b), offset = 1e-8 * size;
    std::vector<Box2> boxes;
    boxes.reserve(all.size());
    for (const ContactSegment& segment : all) boxes.push_back(box_of(segment.p, segment.q));
    std::vector<ContactSegment> out;
    std::vector<double> cuts;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const ContactSegment& segment = all[i];
        cuts.assign({0.0, 1.0});
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (j == i || apart(boxes[i], boxes[j])) continue;
            const double along = crossing(segment, all[j]);
            if (along > 0.0 && along < 1.0) cuts.push_back(along);
        }
        std::sort(cuts.begin(), cuts.end());
        const double shortest = 1e-9 * size / (segment.q - segment.p).norm();
        double begin = -1.0;  // of the free run being collected
        for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
            if (cuts[c + 1] - cuts[c] < shortest) continue;
            const double middle = 0.5 * (cuts[c] + cuts[c + 1]);
            const Vector2d point = segment.p + middle * (segment.q - segment.p);
            const bool free = !interiors_meet(a, b, point + offset * segment.normal);
            if (free && begin < 0.0) begin = cuts[c];
            if (begin >= 0.0 && (!free || c + 2 == cuts.size())) {
                const double end = free ? cuts[c + 1] : cuts[c];
                ContactSegment piece = segment;
                piece.p = segment.p + begin * (segment.q - segment.p);
                piece.q = segment.p + end * (segment.q - segment.p);
                out.push_back(piece);
                begin = -1.0;
            }
        }
        if (begin >= 0.0) {  // the last, very short interval was skipped
            ContactSegment piece = segment;
            piece.p = segment.p + begin * (segment.q - segment.p);
            out.push_back(piece);
        }
    }
    return out;
}

bool interiors_meet(const Polygon& a, const Polygon& b, const Vector2d& shift) {
    Box2 around_a = box_of(a.rings[0][0], a.rings[0][0]), around_b = box_of(b.rings[0][0], b.rings[0][0]);
    for (const Vector2d& p : a.rings[0]) around_a = {around_a.low.cwiseMin(p), around_a.high.cwiseMax(p)};
    for (const Vector2d& p : b.rings[0]) around_b = {around_b.low.cwiseMin(p), around_b.high.cwiseMax(p)};
    around_b = {around_b.low + shift, around_b.high + shift};
    if (apart(around_a, around_b)) return false;
    bool meet = false;
    visit_edges(b, [&](const Vector2d& p0, const Vector2d& q0, const Vector2d&) {
        if (meet) return;
        const Vector2d p = p0 + shift, q = q0 + shift;
        const Box2 box = box_of(p, q);
        if (apart(box, around_a)) return;
        const Vector2d u = q - p;
        visit_edges(a, [&](const Vector2d& r, const Vector2d& s, const Vector2d&) {
            if (apart(box, box_of(r, s))) return;
            const double r_side = cross(u, r - p), s_side = cross(u, s - p);
            if (!(r_side < 0.0 && s_side > 0.0) && !(r_side > 0.0 && s_side < 0.0)) return;
            const Vector2d v = s - r;
            const double p_side = cross(v, p - r), q_side = cross(v, q - r);
            if ((p_side < 0.0 && q_side > 0.0) || (p_side > 0.0 && q_side < 0.0)) meet = true;
        });
    });
    // No edges cross: then each ring lies wholly inside or outside the other polygon.
    return meet || contains(a, b.rings[0][0] + shift) || contains(b, a.rings[0][0] - shift);
}

PolygonDistance polygon_distance(const Polygon& a, const Polygon& b) {
    return interiors_meet(a, b, Vector2d::Zero()) ? penetrating(a, b) : separated(a, b);
}

PolygonDistance distance_to_boundary(const std::vector<ContactSegment>& boundary, const Vector2d& shift, bool meet) {
    FARFIELD_ASSERT(!boundary.empty());
    double square = std::numeric_limits<double>::infinity();
    const ContactSegment* best = nullptr;
    Vector2d nearest = Vector2d::Zero();
    for (const ContactSegment& segment : boundary) {
        const Vector2d foot = nearest_on(segment, shift);
        const double now = (shift - foot).squaredNorm();
        if (now < square) {
            square = now;
            best = &segment;
            nearest = foot;
        }
    }
    PolygonDistance out;
    const double length = std::sqrt(square);
    out.distance = meet ? -length : length;
    out.normal = length > 1e-14 ? Vector2d((shift - nearest) / out.distance) : best->normal;
    out.point_a = best->touching(nearest);
    out.point_b = out.point_a + out.distance * out.normal;
    return out;
}

}  // namespace farfield
