// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/separating_direction.hpp"

#include <algorithm>
#include <limits>

namespace farfield::contact::longrange {
namespace {

using Eigen::Vector3d;
using Points = Eigen::Matrix<double, 3, 6>;

constexpr double kTiny = 1e-300;  // keeps divisions by the squared length of a degenerate edge finite

struct Candidate {
    Vector3d direction = Vector3d::Zero();
    double squared = std::numeric_limits<double>::infinity();

    void offer(const Vector3d& from_b_to_a, double squared_distance) {
        if (squared_distance < squared) {
            squared = squared_distance;
            direction = from_b_to_a;
        }
    }
};

double clamp01(double t) { return std::min(1.0, std::max(0.0, t)); }

// Segments p + s u and q + t v: one unconstrained solve, then t and s clamped in turn. Each projection is exact, so a
// nearly singular first solve (parallel edges) still ends in a nearby pair of points.
void offer_edges(const Vector3d& p, const Vector3d& u, const Vector3d& q, const Vector3d& v, Candidate& best) {
    const Vector3d r = p - q;
    const double a = u.squaredNorm(), e = v.squaredNorm(), b = u.dot(v), c = u.dot(r), f = v.dot(r);
    double s = clamp01((b * f - c * e) / std::max(a * e - b * b, kTiny));
    const double t = clamp01((b * s + f) / std::max(e, kTiny));
    s = clamp01((b * t - c) / std::max(a, kTiny));
    const Vector3d difference = r + s * u - t * v;
    best.offer(difference, difference.squaredNorm());
}

// Vertex p over the face (a, a + u, a + v); counts only if the foot point is inside. `sign` is +1 if p belongs to A.
// The face normal is the direction itself, far more accurate than the difference of two points a tiny gap apart.
void offer_face(const Vector3d& p, const Vector3d& a, const Vector3d& u, const Vector3d& v, double sign,
                Candidate& best) {
    const Vector3d r = p - a, m = u.cross(v);
    const double area = m.squaredNorm(), height = r.dot(m);
    const double beta = r.cross(v).dot(m), gamma = u.cross(r).dot(m);
    if (beta >= 0.0 && gamma >= 0.0 && beta + gamma <= area && area > kTiny) {
        best.offer(sign * height * m, height * height / area);
    }
}

}  // namespace

Vector3d closest_point_direction(const Points& x) {
    Candidate best;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const Vector3d p = x.col(i), q = x.col(3 + j);
            offer_edges(p, x.col((i + 1) % 3) - p, q, x.col(3 + (j + 1) % 3) - q, best);
        }
    }
    for (int k = 0; k < 3; ++k) {
        offer_face(x.col(k), x.col(3), x.col(4) - x.col(3), x.col(5) - x.col(3), 1.0, best);
        offer_face(x.col(3 + k), x.col(0), x.col(1) - x.col(0), x.col(2) - x.col(0), -1.0, best);
    }
    return best.direction;
}

double support_gap(const Points& x, const Vector3d& u) {
    const Eigen::Matrix<double, 6, 1> h = x.transpose() * u;
    return h.head<3>().minCoeff() - h.tail<3>().maxCoeff();
}

SeparatingAxis best_separating_axis(const Points& x) {
    SeparatingAxis best{Vector3d::UnitX(), -std::numeric_limits<double>::infinity()};
    const auto offer = [&](const Vector3d& axis) {
        const double length = axis.norm();
        if (!(length > kTiny)) return;
        for (const double sign : {1.0, -1.0}) {
            const Vector3d u = (sign / length) * axis;
            const double gap = support_gap(x, u);
            if (gap > best.gap) best = {u, gap};
        }
    };
    std::array<Vector3d, 6> edge;
    for (int i = 0; i < 3; ++i) {
        edge[static_cast<size_t>(i)] = x.col((i + 1) % 3) - x.col(i);
        edge[static_cast<size_t>(3 + i)] = x.col(3 + (i + 1) % 3) - x.col(3 + i);
    }
    const Vector3d normal_a = edge[0].cross(edge[1]), normal_b = edge[3].cross(edge[4]);
    offer(normal_a);
    offer(normal_b);
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 3; j < 6; ++j) offer(edge[i].cross(edge[j]));
        offer(normal_a.cross(edge[i]));
        offer(normal_b.cross(edge[3 + i]));
    }
    return best;
}

}  // namespace farfield::contact::longrange
