// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact {

namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

/// psi and its derivatives at one slip.
struct Slip {
    Vector2d w;
    double smoothing, psi;

    Slip(const Vector2d& slip, double eps) : w(slip), smoothing(eps), psi(std::sqrt(slip.squaredNorm() + eps)) {}
    /// (eps 1 + p p^T) / psi^3, p = (-w_y, w_x): no cancellation, however fast the slip
    [[nodiscard]] Matrix2d curvature() const {
        const Vector2d across(-w.y(), w.x());
        return (smoothing * Matrix2d::Identity() + across * across.transpose()) / (psi * psi * psi);
    }
};

Vector3d relative_displacement(const Vector3d& y, const BodyMotion& a, const BodyMotion& b) {
    return a.displacement(y) - b.displacement(y);
}

void add_rotation(const Vector3d& force, const Vector3d& arm, Eigen::Index first, FrictionSum& sum) {
    sum.gradient.segment<3>(first) += force;
    sum.gradient.segment<3>(first + 3) += arm.cross(force);
    sum.hessian.block<3, 3>(first + 3, first + 3) +=
        0.5 * (force * arm.transpose() + arm * force.transpose()) - force.dot(arm) * Matrix3d::Identity();
}

/// Pulls dphi/dx through x = T_now T_start^-1 y; returns the part that goes to y.
Vector3d pull_back(const BodyMotion& body, const Vector3d& y, const Vector3d& adjoint, Vector6d& previous) {
    const Vector3d back = body.turn.transpose() * adjoint, arm = y - body.origin;
    previous.head<3>() -= back;
    previous.tail<3>() -= arm.cross(back);
    return back;
}

}  // namespace

double fixed_friction_energy(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                             const SlipModel& model) {
    const auto basis = tangents(contact.normal);
    double value = 0.0;
    for (const FrictionPoint& point : contact.points) {
        const Slip slip(basis.transpose() * relative_displacement(point.position, a, b) / model.dt, model.smoothing);
        value += point.load * slip.psi;
    }
    return value * model.dt;
}

void add_fixed_friction(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                        FrictionSum& sum, const SlipDuals& duals) {
    const auto basis = tangents(contact.normal);
    for (std::size_t m = 0; m < contact.points.size(); ++m) {
        const FrictionPoint& point = contact.points[m];
        const Slip slip(basis.transpose() * relative_displacement(point.position, a, b) / model.dt, model.smoothing);
        const Vector3d arm_a = a.arm(point.position), arm_b = b.arm(point.position);
        const Vector3d force = point.load / slip.psi * (basis * slip.w);
        sum.energy += point.load * model.dt * slip.psi;
        Eigen::Matrix<double, 12, 2> lever;
        lever << basis, hat(arm_a) * basis, -basis, -hat(arm_b) * basis;
        const Matrix2d curvature = point.load / model.dt * (slip.curvature() + duals.correction(m, slip.w, slip.psi));
        const Eigen::Matrix<double, 12, 2> half = lever.lazyProduct(curvature);
        sum.hessian += half.lazyProduct(lever.transpose());
        add_rotation(force, arm_a, 0, sum);
        add_rotation(-force, arm_b, 6, sum);
    }
}

FrictionAdjoint fixed_friction_vjp(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                                   const SlipModel& model, const Vector6d& twist_a, const Vector6d& twist_b,
                                   std::span<FrictionPoint> points) {
    FARFIELD_ASSERT(points.size() == contact.points.size());
    const auto basis = tangents(contact.normal);
    const Vector3d &n = contact.normal, spin_a = twist_a.tail<3>(), spin_b = twist_b.tail<3>();
    FrictionAdjoint out;
    for (std::size_t m = 0; m < points.size(); ++m) {
        const Vector3d& y = contact.points[m].position;
        const Vector3d moved = relative_displacement(y, a, b);
        const Vector3d delta = twist_a.head<3>() + spin_a.cross(a.arm(y)) - twist_b.head<3>() - spin_b.cross(b.arm(y));
        const Slip slip(basis.transpose() * moved / model.dt, model.smoothing);
        const Vector2d rate = basis.transpose() * delta / model.dt;
        const double load = contact.points[m].load;
        const Vector3d force = load / slip.psi * (basis * slip.w),
                       force_rate = load * (basis * (slip.curvature() * rate));
        out.phi += force.dot(delta);
        out.normal -= n.dot(moved) * force_rate + n.dot(delta) * force;
        points[m].load = model.dt * slip.w.dot(rate) / slip.psi;
        points[m].position = pull_back(a, y, force_rate + force.cross(spin_a), out.previous_a) +
                             pull_back(b, y, -force_rate - force.cross(spin_b), out.previous_b);
    }
    return out;
}

}  // namespace farfield::contact
