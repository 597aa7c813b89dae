// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/lagged_friction.hpp"

#include <cmath>

#include "farfield/math/rotation.hpp"

namespace farfield::contact::ipc {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// f0, f0'/y and (f0'/y)'/y at a slip of length y.
struct Profile {
    double value = 0.0, ratio = 0.0, fall = 0.0;

    Profile(double y, double full) {
        if (y >= full) {
            value = y;
            ratio = 1.0 / y;
            fall = -ratio * ratio * ratio;
        } else {
            value = full / 3.0 + y * y * (1.0 / full - y / (3.0 * full * full));
            ratio = (2.0 - y / full) / full;
            fall = y > 0.0 ? -1.0 / (full * full * y) : 0.0;  // only ever multiplied by y^2
        }
    }
};

/// How far the two points have slid past each other, without its part along the normal.
Vector3d tangential(const LaggedContact& contact, const Vector3d& u) {
    return u - contact.normal.dot(u) * contact.normal;
}
Vector3d displacement(const LaggedContact& contact, const Slip& slip) {
    return slip.a.displacement(contact.a) - slip.b.displacement(contact.b);
}

void add_rotation(const Vector3d& force, const Vector3d& arm, Eigen::Index first, FrictionSum& sum) {
    sum.gradient.segment<3>(first) += force;
    sum.gradient.segment<3>(first + 3) += arm.cross(force);
    sum.hessian.block<3, 3>(first + 3, first + 3) +=
        0.5 * (force * arm.transpose() + arm * force.transpose()) - force.dot(arm) * Matrix3d::Identity();
}

/// Pulls dphi/dx through x = T_now T_start^-1 y; returns the part that goes to y.
Vector3d pull_back(const BodyMotion& body, const Vector3d& y, const Vector3d& adjoint, Vector6d& previous) {
    const Vector3d back = body.turn.transpose() * adjoint;
    previous << -back, -(y - body.origin).cross(back);
    return back;
}

}  // namespace

double slip_energy(const LaggedContact& contact, const Slip& slip) {
    return contact.load * Profile(tangential(contact, displacement(contact, slip)).norm(), slip.full).value;
}

void add_slip(LaggedContact& contact, const Slip& slip, Multiplier multiplier, FrictionSum& sum) {
    const Vector3d u = tangential(contact, displacement(contact, slip));
    const Profile profile(u.norm(), slip.full);
    const Vector3d force = contact.load * profile.ratio * u;
    // In the words of slip_dual.hpp 1/psi is the ratio, and dpsi/du = -u fall / ratio^2.
    const Vector3d slope = -profile.fall / (profile.ratio * profile.ratio) * u;
    const Vector3d excess = contact.dual.move_to(multiplier, u, profile.ratio, slope);
    const Matrix3d curvature =
        contact.load * (profile.ratio * (Matrix3d::Identity() - contact.normal * contact.normal.transpose() -
                                         0.5 * (excess * slope.transpose() + slope * excess.transpose())) +
                        profile.fall * u * u.transpose());
    const Vector3d arm_a = slip.a.arm(contact.a), arm_b = slip.b.arm(contact.b);
    Eigen::Matrix<double, 3, 12> lever;
    lever << Matrix3d::Identity(), -hat(arm_a), -Matrix3d::Identity(), hat(arm_b);
    sum.energy += contact.load * profile.value;
    const Eigen::Matrix<double, 3, 12> half = curvature.lazyProduct(lever);
    const Eigen::Matrix<double, 12, 3> left = lever.transpose();
    sum.hessian += left.lazyProduct(half);
    add_rotation(force, arm_a, 0, sum);
    add_rotation(-force, arm_b, 6, sum);
}

SlipAdjoint slip_vjp(const LaggedContact& contact, const Slip& slip, const Vector6d& twist_a, const Vector6d& twist_b) {
    const Vector3d &n = contact.normal, spin_a = twist_a.tail<3>(), spin_b = twist_b.tail<3>();
    const Vector3d moved = displacement(contact, slip), u = tangential(contact, moved);
    const Vector3d rate = twist_a.head<3>() + spin_a.cross(slip.a.arm(contact.a)) - twist_b.head<3>() -
                          spin_b.cross(slip.b.arm(contact.b));
    const Profile profile(u.norm(), slip.full);
    const Vector3d force = contact.load * profile.ratio * u;
    // phi = load ratio(|u|) u.rate; by the displacement before projection
    const Vector3d by_moved =
        contact.load * (profile.ratio * tangential(contact, rate) + profile.fall * u.dot(rate) * u);
    SlipAdjoint out;
    out.phi = force.dot(rate);
    out.load = profile.ratio * u.dot(rate);
    out.normal = -(n.dot(moved) * by_moved + n.dot(rate) * force);
    const Vector3d back_a = pull_back(slip.a, contact.a, by_moved + force.cross(spin_a), out.previous_a);
    const Vector3d back_b = pull_back(slip.b, contact.b, -by_moved - force.cross(spin_b), out.previous_b);
    out.a = back_a - by_moved;
    out.b = back_b + by_moved;
    return out;
}

}  // namespace farfield::contact::ipc
