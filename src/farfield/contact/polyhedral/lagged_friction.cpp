// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/lagged_friction.hpp"

#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/math/dense.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;

void lag_side(const HullColumns& hull, int row, double side, const Vector3d& centre, const Eigen::Matrix3d& rotation,
              const PairScale& scale, FrictionForm form, LaggedContact& out) {
    const Plane& plane = out.pair.plane;
    const double length = plane.normal.norm();
    const Vector3d local = rotation.transpose() * plane.normal;
    for (int m = 0; m < hull.size; ++m) {
        const Vector3d from = hull.point(m) - centre;
        const double q = side * (local.dot(from) + plane.offset);
        if (!(q < scale.margin)) continue;
        const Vector3d x = rotation * from;
        const double height = form == FrictionForm::Projected ? side * q / length : 0.0;
        out.vertices.push_back({row + m, x, q});
        out.points.push_back({x - height * out.normal, -scale.weight * barrier(q, scale.margin).first * length});
    }
}

ContactAdjoint pull_back_hulls(const LaggedContact& contact, const FrictionAdjoint& adjoint,
                               const std::vector<FrictionPoint>& points, const PairScale& scale, FrictionForm form) {
    const Vector3d &n = contact.pair.plane.normal, &unit = contact.normal;
    const double o = contact.pair.plane.offset, length = n.norm(), pressure = scale.weight;
    ContactAdjoint out;
    out.vertices.resize(points.size());
    Vector3d unit_bar = adjoint.normal, n_bar = Vector3d::Zero();
    double o_bar = 0.0, length_bar = 0.0;
    for (std::size_t m = 0; m < points.size(); ++m) {
        const double side = m < contact.split ? -1.0 : 1.0, q = contact.vertices[m].margin;
        const Vector3d &x = contact.vertices[m].x, &y_bar = points[m].position;
        Vector3d& x_bar = out.vertices[m];
        x_bar = y_bar;
        if (form == FrictionForm::Projected) {  // y = x - h unit, h = unit.x + o/|n|
            const double h = side * q / length, h_bar = -unit.dot(y_bar);
            unit_bar += h_bar * x - h * y_bar;
            x_bar += h_bar * unit;
            o_bar += h_bar / length;
            length_bar -= h_bar * o / (length * length);
        }
        const BarrierTaylor p = barrier(q, scale.margin);
        const double load_bar = points[m].load, q_bar = -pressure * p.second * length * load_bar;
        length_bar -= pressure * p.first * load_bar;
        n_bar += side * q_bar * x;
        o_bar += side * q_bar;
        x_bar += side * q_bar * n;
    }
    n_bar += (unit_bar - unit * unit.dot(unit_bar)) / length + length_bar * unit;
    // the plane minimises Phi: dp = -Phi_pp^-1 Phi_px dx
    const Vector4d r = solve_ldlt(contact.pair.hessian, Vector4d(n_bar.x(), n_bar.y(), n_bar.z(), o_bar));
    for (std::size_t m = 0; m < points.size(); ++m) {
        const double side = m < contact.split ? -1.0 : 1.0;
        const Vector3d& x = contact.vertices[m].x;
        const BarrierTaylor p = barrier(contact.vertices[m].margin, scale.margin);
        Vector3d& x_bar = out.vertices[m];
        x_bar -= p.second * (x.dot(r.head<3>()) + r[3]) * n + side * p.first * r.head<3>();
        const bool on_a = m < contact.split;
        (on_a ? out.start.a : out.start.b) += wrench_of(x_bar, x - (on_a ? contact.origin_a : contact.origin_b));
    }
    return out;
}

ContactAdjoint pull_back_half_space(const LaggedContact& contact, const FrictionAdjoint& adjoint,
                                    const std::vector<FrictionPoint>& points, const PairScale& scale,
                                    FrictionForm form) {
    const Vector3d& n = contact.normal;
    const double c = height_factor(scale.margin);
    ContactAdjoint out;
    out.vertices.resize(points.size());
    Vector3d n_bar = adjoint.normal;
    for (std::size_t m = 0; m < points.size(); ++m) {
        const Vector3d &x = contact.vertices[m].x, &y_bar = points[m].position;
        const double q = contact.vertices[m].margin;
        double z_bar = -scale.weight * c * c * barrier(q, scale.margin).second * points[m].load;
        if (form == FrictionForm::Projected) {  // y = x - z n
            n_bar -= q / c * y_bar;
            z_bar -= n.dot(y_bar);
        }
        n_bar += z_bar * (x + contact.frame.apart);
        out.vertices[m] = y_bar + z_bar * n;
        out.start.a += wrench_of(out.vertices[m], x);
        out.start.b.head<3>() -= z_bar * n;
    }
    out.start.b.tail<3>() += n.cross(n_bar);  // dn = w x n
    return out;
}

}  // namespace

LaggedContact lag_hull_pair(const HullPairSolution& solution, const HullColumns& a, const HullColumns& b, int row_a,
                            int row_b, const Pose& pose_a, const Pose& pose_b, const PairScale& scale,
                            FrictionForm form) {
    LaggedContact out;
    out.pair = in_world(solution, pose_a, pose_b);
    out.normal = out.pair.plane.normal.normalized();
    out.origin_a = -out.pair.from_a;
    out.origin_b = -out.pair.from_b;
    lag_side(a, row_a, -1.0, solution.centre, pose_a.rotation, scale, form, out);
    out.split = out.points.size();
    lag_side(b, row_b, 1.0, pose_b.rotation.transpose() * out.pair.from_b, pose_b.rotation, scale, form, out);
    return out;
}

LaggedContact begin_half_space(const HalfSpaceFrame& frame, bool swapped) {
    LaggedContact out;
    out.half_space = true;
    out.swapped = swapped;
    out.frame = frame;
    out.normal = frame.normal;
    out.origin_b = -frame.apart;
    return out;
}

void lag_hull_above(const HullColumns& hull, int row, const Eigen::Matrix3d& rotation, const PairScale& scale,
                    FrictionForm form, LaggedContact& contact) {
    const double c = height_factor(scale.margin);
    const Vector3d local = rotation.transpose() * contact.normal;
    for (int m = 0; m < hull.size; ++m) {
        const double z = local.dot(hull.point(m)) + contact.frame.height, q = c * z;
        if (!(q < scale.margin)) continue;
        const Vector3d x = rotation * hull.point(m);
        contact.vertices.push_back({row + m, x, q});
        contact.points.push_back({form == FrictionForm::Projected ? Vector3d(x - z * contact.normal) : x,
                                  -scale.weight * c * barrier(q, scale.margin).first});
    }
    contact.split = contact.points.size();
}

ContactAdjoint pull_back(const LaggedContact& contact, const FrictionAdjoint& adjoint,
                         const std::vector<FrictionPoint>& points, const PairScale& scale, FrictionForm form) {
    return contact.half_space ? pull_back_half_space(contact, adjoint, points, scale, form)
                              : pull_back_hulls(contact, adjoint, points, scale, form);
}

}  // namespace farfield::contact::polyhedral
