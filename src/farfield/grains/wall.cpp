// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/wall.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;
constexpr double kLog2 = 0.6931471805599453;

/// Soft minimum over hull corners of height(p) with gradient direction(p).
template <class Height, class Direction>
WallContact soft_contact(const GrainShape& shape, const Body& body, double smoothing, Height&& height,
                         Direction&& direction) {
    const auto arm_of = [&body](const Vector2d& v) {
        return Vector2d(body.cos * v.x() - body.sin * v.y(), body.sin * v.x() + body.cos * v.y());
    };
    double lowest = std::numeric_limits<double>::infinity();
    for (const Vector2d& v : shape.hull) {
        const Vector2d arm = arm_of(v);
        lowest = std::min(lowest, height(Vector2d(body.x + arm.x(), body.y + arm.y())));
    }
    WallContact out;
    out.distance = lowest;
    if (lowest > smoothing) return out;  // the soft minimum is above lowest - eps log(n/2); one corner adds eps log 2
    double sum = 0.0;
    Vector2d point = Vector2d::Zero(), gradient = Vector2d::Zero();
    double g_theta = 0.0;
    const double per = smoothing > 0.0 ? 1.0 / smoothing : std::numeric_limits<double>::infinity();
    for (const Vector2d& v : shape.hull) {
        const Vector2d arm = arm_of(v);  // the same arithmetic: the lowest corner has weight 1 even without smoothing
        const Vector2d p(body.x + arm.x(), body.y + arm.y());
        const double above = height(p) - lowest;
        const double weight = above > 0.0 ? std::exp(-above * per) : 1.0;
        if (weight == 0.0) continue;
        const Vector2d n = direction(p);
        sum += weight;
        point += weight * p;
        gradient += weight * n;
        g_theta += weight * (n.y() * arm.x() - n.x() * arm.y());
    }
    out.distance = lowest - smoothing * (std::log(sum) - kLog2);
    out.px = point.x() / sum;
    out.py = point.y() / sum;
    out.g_x = gradient.x() / sum;
    out.g_y = gradient.y() / sum;
    out.g_theta = g_theta / sum;
    return out;
}

WallContact disc_contact(const Wall& wall, const GrainShape& shape, const Body& body) {
    WallContact out;
    const double dx = wall.centre.x() - body.x, dy = wall.centre.y() - body.y;
    if (std::hypot(dx, dy) > shape.radius + wall.radius) return out;
    const Vector2d local(body.cos * dx + body.sin * dy, -body.sin * dx + body.cos * dy);
    const PointDistance found = signed_distance(shape.outline, local);
    const Vector2d& n = found.normal;
    out.distance = found.distance - wall.radius;
    // d depends on local = R(-theta)(centre - x): dd/dx = -R n, dd/dtheta = -n . S local.
    out.g_x = -(body.cos * n.x() - body.sin * n.y());
    out.g_y = -(body.sin * n.x() + body.cos * n.y());
    out.g_theta = n.x() * local.y() - n.y() * local.x();
    const Vector2d& p = found.nearest;
    out.px = body.x + body.cos * p.x() - body.sin * p.y();
    out.py = body.y + body.sin * p.x() + body.cos * p.y();
    return out;
}

}  // namespace

void validate(const Wall& wall) {
    if (!wall.normal.allFinite() || std::abs(wall.normal.norm() - 1.0) > 1e-9)
        fail("wall: normal (", wall.normal.x(), ", ", wall.normal.y(), "), expected a unit vector");
    if (!std::isfinite(wall.offset) || !wall.centre.allFinite() || !wall.velocity.allFinite() ||
        !std::isfinite(wall.spin))
        fail("wall: offset, centre, velocity or spin is not finite");
    if (!(wall.radius > 0.0) || !std::isfinite(wall.radius)) fail("wall: radius ", wall.radius, ", expected > 0 [m]");
    if (!(wall.friction >= 0.0) || !std::isfinite(wall.friction))
        fail("wall: friction ", wall.friction, ", expected >= 0");
}

WallContact wall_contact(const Wall& wall, const GrainShape& shape, const Body& body, double smoothing) {
    if (wall.kind == WallKind::Disc) return disc_contact(wall, shape, body);
    if (wall.kind == WallKind::HalfPlane) {
        const Vector2d& n = wall.normal;
        if (n.x() * body.x + n.y() * body.y - wall.offset > shape.radius) return {};
        return soft_contact(
            shape, body, smoothing, [&](const Vector2d& p) { return n.dot(p) - wall.offset; },
            [&](const Vector2d&) { return n; });
    }
    if (std::hypot(body.x - wall.centre.x(), body.y - wall.centre.y()) + shape.radius < wall.radius) return {};
    return soft_contact(
        shape, body, smoothing, [&](const Vector2d& p) { return wall.radius - (p - wall.centre).norm(); },
        [&](const Vector2d& p) { return Vector2d((wall.centre - p).normalized()); });
}

double circle_distance(const Wall& wall, double x, double y, double radius) {
    if (wall.kind == WallKind::HalfPlane) return wall.normal.x() * x + wall.normal.y() * y - wall.offset - radius;
    const double away = std::hypot(x - wall.centre.x(), y - wall.centre.y());
    return (wall.kind == WallKind::Disc ? away - wall.radius : wall.radius - away) - radius;
}

void advance(Wall& wall, double dt) {
    wall.centre += dt * wall.velocity;
    if (wall.kind == WallKind::HalfPlane) wall.offset += dt * wall.normal.dot(wall.velocity);
}

}  // namespace farfield::grains
