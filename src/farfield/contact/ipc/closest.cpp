// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/closest.hpp"

namespace farfield::contact::ipc {

using Eigen::Vector3d;

namespace {

constexpr double kParallel = 1e-20;  // squared sine of the angle below which edges count as parallel

OnTriangle on_vertex(const Vector3d& x) { return {x, 0, {}}; }

OnTriangle on_edge(const Vector3d& x, const Vector3d& direction, double t) {
    OnTriangle on;
    on.point = x + t * direction;
    on.free = 1;
    on.direction[0] = direction;
    return on;
}

double clamped(double t) { return std::clamp(t, 0.0, 1.0); }

}  // namespace

OnTriangle closest_on_triangle(const Vector3d& p, const Vector3d& x0, const Vector3d& x1, const Vector3d& x2) {
    const Vector3d ab = x1 - x0, ac = x2 - x0, ap = p - x0;
    const double d1 = ab.dot(ap), d2 = ac.dot(ap);
    if (d1 <= 0.0 && d2 <= 0.0) return on_vertex(x0);
    const Vector3d bp = p - x1;
    const double d3 = ab.dot(bp), d4 = ac.dot(bp);
    if (d3 >= 0.0 && d4 <= d3) return on_vertex(x1);
    const Vector3d cp = p - x2;
    const double d5 = ab.dot(cp), d6 = ac.dot(cp);
    if (d6 >= 0.0 && d5 <= d6) return on_vertex(x2);
    // areas of the three parts, without the cancellation of d1 d4 - d2 d3 and its like
    const Vector3d normal = ab.cross(ac);
    const double c = normal.dot(ab.cross(ap)), b = normal.dot(ap.cross(ac)), all = normal.squaredNorm();
    if (c <= 0.0 && d1 >= 0.0 && d3 <= 0.0) return on_edge(x0, ab, d1 / (d1 - d3));
    if (b <= 0.0 && d2 >= 0.0 && d6 <= 0.0) return on_edge(x0, ac, d2 / (d2 - d6));
    if (b + c >= all && d4 >= d3 && d5 >= d6) return on_edge(x1, x2 - x1, (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    OnTriangle on;
    on.point = x0 + (b / all) * ab + (c / all) * ac;
    on.free = 2;
    on.direction[0] = ab;
    on.direction[1] = ac;
    return on;
}

void edge_edge(const Vector3d& a0, const Vector3d& a1, const Vector3d& b0, const Vector3d& b1, Closest& out) {
    const Vector3d u = a1 - a0, v = b1 - b0, r = a0 - b0;
    const double uu = u.squaredNorm(), vv = v.squaredNorm(), uv = u.dot(v), ur = u.dot(r), vr = v.dot(r);
    const Vector3d normal = u.cross(v);
    const double cross = normal.squaredNorm();
    double s = 0.0;
    if (cross > kParallel * uu * vv) s = clamped((v.cross(r)).dot(normal) / cross);
    double t = (uv * s + vr) / vv;
    const bool ends_t = !(t > 0.0 && t < 1.0);
    if (ends_t) {
        t = t > 0.0 ? 1.0 : 0.0;
        s = clamped((uv * t - ur) / uu);
    }
    out.a = a0 + s * u;
    out.b = b0 + t * v;
    out.squared = (out.a - out.b).squaredNorm();
    out.free = 0;
    // parallel edges side by side slide together: one parameter is enough, and two would be one too many
    const bool free_s = s > 0.0 && s < 1.0, free_t = !ends_t && (!free_s || cross > kParallel * uu * vv);
    if (free_s) {
        out.da[out.free] = u;
        out.db[out.free++].setZero();
    }
    if (free_t) {
        out.da[out.free].setZero();
        out.db[out.free++] = v;
    }
}

Mollifier edge_mollifier(const Vector3d& ea, const Vector3d& eb, double limit) {
    Mollifier out;
    const double c = ea.cross(eb).squaredNorm();
    if (c >= limit) return out;
    const double x = c / limit;
    out.value = x * (2.0 - x);
    out.first = 2.0 * (1.0 - x) / limit;
    out.second = -2.0 / (limit * limit);
    out.active = true;
    out.ea = ea;
    out.eb = eb;
    return out;
}

}  // namespace farfield::contact::ipc
