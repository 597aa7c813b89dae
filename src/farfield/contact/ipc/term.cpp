// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/term.hpp"

#include <cmath>

namespace farfield::contact::ipc {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector6d wrench(const Vector3d& force, const Vector3d& torque) {
    Vector6d out;
    out << force, torque;
    return out;
}

/// (E^T E)^-1 of one or two columns; the determinant as that of the cross product, which is exact for nearly parallel ones.
struct Inverse {
    double xx = 0.0, xy = 0.0, yy = 0.0;

    explicit Inverse(const Vector3d* e, int free) {
        if (free == 1) xx = 1.0 / e[0].squaredNorm();
        if (free < 2) return;
        const double determinant = e[0].cross(e[1]).squaredNorm();
        xx = e[1].squaredNorm() / determinant;
        yy = e[0].squaredNorm() / determinant;
        xy = -e[0].dot(e[1]) / determinant;
    }
};

/// hessian += factor K (E^T E)^-1 K^T
void add_parameters(const Closest& closest, const Vector3d& r, double factor, Matrix6d& hessian) {
    Vector3d e[2];
    Vector6d k[2];
    for (int i = 0; i < closest.free; ++i) {
        e[i] = closest.da[i] - closest.db[i];
        k[i] = wrench(e[i], closest.a.cross(e[i]) + closest.da[i].cross(r));
    }
    const Inverse inverse(e, closest.free);
    if (closest.free == 1) {
        hessian.noalias() += (factor * inverse.xx) * k[0] * k[0].transpose();
    } else {  // by completing the square: two products instead of three
        const Vector6d first = k[0] + (inverse.xy / inverse.xx) * k[1];
        const double rest = inverse.yy - inverse.xy * inverse.xy / inverse.xx;
        hessian.noalias() += (factor * inverse.xx) * first * first.transpose();
        hessian.noalias() += (factor * rest) * k[1] * k[1].transpose();
    }
}

/// Adds what the mollifier's own variation gives, b the barrier's value and b_u its gradient.
void add_mollifier(const Mollifier& m, double b, const Vector6d& b_u, RelativeSum& sum) {
    const double dot = m.ea.dot(m.eb);
    const Vector3d dot_w = m.ea.cross(m.eb), c_w = -2.0 * dot * dot_w, m_w = m.first * c_w;
    sum.gradient.tail<3>() += b * m_w;
    const Matrix3d c_ww = -2.0 * (dot_w * dot_w.transpose() + dot * rotation_term(m.eb, m.ea));
    sum.hessian.bottomRightCorner<3, 3>() += b * (m.second * c_w * c_w.transpose() + m.first * c_ww);
    sum.hessian.rightCols<3>().noalias() += b_u * m_w.transpose();
    sum.hessian.bottomRows<3>().noalias() += m_w * b_u.transpose();
}

}  // namespace

void add_term(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier, RelativeSum& sum) {
    const Vector3d& a = closest.a;
    const Vector3d r = a - closest.b;
    const double slope = mollifier.value * barrier.first;
    const Vector6d s_u = 2.0 * wrench(r, a.cross(r));
    sum.value += mollifier.value * barrier.value;
    sum.gradient += slope * s_u;
    sum.hessian.noalias() += (mollifier.value * barrier.second) * s_u * s_u.transpose();
    sum.hessian.topLeftCorner<3, 3>().diagonal().array() += 2.0 * slope;
    Matrix3d lever;  // [a]x
    lever << 0.0, -a.z(), a.y(), a.z(), 0.0, -a.x(), -a.y(), a.x(), 0.0;
    sum.hessian.bottomLeftCorner<3, 3>() += 2.0 * slope * lever;
    sum.hessian.topRightCorner<3, 3>() -= 2.0 * slope * lever;
    Matrix3d turning = rotation_term(r, a) - a * a.transpose();
    turning.diagonal().array() += a.squaredNorm();
    sum.hessian.bottomRightCorner<3, 3>() += 2.0 * slope * turning;
    if (closest.free > 0) add_parameters(closest, r, -2.0 * slope, sum.hessian);
    if (mollifier.active) add_mollifier(mollifier, barrier.value, barrier.first * s_u, sum);
}

double normal_force(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier) {
    return -2.0 * std::sqrt(closest.squared) * mollifier.value * barrier.first;
}

void pull_back(const Closest& closest, const Mollifier& mollifier, const ClosestAdjoint& adjoint,
               const Vector3d& origin_a, const Vector3d& origin_b, StartAdjoint& out) {
    const Vector3d r = closest.a - closest.b, arm_a = closest.a - origin_a, arm_b = closest.b - origin_b;
    const Vector3d along = 2.0 * adjoint.squared * r;  // s by a, lambda held: it is at its minimum
    add_force(adjoint.a + along, arm_a, out.a);
    add_force(adjoint.b - along, arm_b, out.b);
    if (closest.free > 0) {  // dlambda = -(E^T E)^-1 K^T du
        Vector3d e[2];
        double bar[2] = {0.0, 0.0};
        for (int i = 0; i < closest.free; ++i) {
            e[i] = closest.da[i] - closest.db[i];
            bar[i] = adjoint.a.dot(closest.da[i]) + adjoint.b.dot(closest.db[i]);
        }
        const Inverse inverse(e, closest.free);
        const double y[2] = {inverse.xx * bar[0] + inverse.xy * bar[1], inverse.xy * bar[0] + inverse.yy * bar[1]};
        for (int i = 0; i < closest.free; ++i) {
            add_force(-y[i] * e[i], arm_a, out.a);
            out.a.tail<3>() -= y[i] * closest.da[i].cross(r);
            add_force(y[i] * e[i], arm_b, out.b);
            out.b.tail<3>() += y[i] * closest.db[i].cross(r);
        }
    }
    if (mollifier.active) {
        const Vector3d turn = -2.0 * adjoint.mollifier * mollifier.first * mollifier.ea.dot(mollifier.eb) *
                              mollifier.ea.cross(mollifier.eb);
        out.a.tail<3>() += turn;
        out.b.tail<3>() -= turn;
    }
}

}  // namespace farfield::contact::ipc
