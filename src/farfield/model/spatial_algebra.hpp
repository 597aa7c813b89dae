// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Rigid-body mechanics in 6-vectors: cross products, inertia, and vectors fixed at points.
///
/// Everything here is (linear; angular) in world axes about one fixed point o of space: a motion (v, w) moves the point x
/// with v + w x x, a force (F, T) has the moment T about o. Unlike the twists of pose.hpp, which are taken at each body's own
/// origin, motions about one point of different bodies add and subtract without being moved.
#include <Eigen/Dense>

#include "farfield/geometry/moments.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {

/// Rate of the motion `b` that is fixed to a body which moves with `a`.
[[nodiscard]] inline Vector6d cross_motion(const Vector6d& a, const Vector6d& b) {
    const Eigen::Vector3d v = a.head<3>(), w = a.tail<3>(), bv = b.head<3>(), bw = b.tail<3>();
    Vector6d out;
    out << w.cross(bv) + v.cross(bw), w.cross(bw);
    return out;
}

/// The same for a force: cross_motion(a, b) . f = -b . cross_force(a, f).
[[nodiscard]] inline Vector6d cross_force(const Vector6d& a, const Vector6d& f) {
    const Eigen::Vector3d v = a.head<3>(), w = a.tail<3>(), force = f.head<3>(), torque = f.tail<3>();
    Vector6d out;
    out << w.cross(force), w.cross(torque) + v.cross(force);
    return out;
}

/// Moments about o in world axes: sums of m, m x, m x x^T.
struct SpatialInertia {
    double mass = 0.0;
    Eigen::Vector3d first = Eigen::Vector3d::Zero();
    Eigen::Matrix3d second = Eigen::Matrix3d::Zero();

    SpatialInertia() = default;
    /// Of a body with moments `m` (body frame) whose frame stands at `position` from o.
    SpatialInertia(const MomentVector& m, const Eigen::Matrix3d& rotation, const Eigen::Vector3d& position) {
        Eigen::Matrix3d S;
        S << m[4], m[7], m[8], m[7], m[5], m[9], m[8], m[9], m[6];
        const Eigen::Vector3d h = rotation * m.segment<3>(1);
        mass = m[0];
        first = h + mass * position;
        second = rotation * S * rotation.transpose() + h * position.transpose() + position * first.transpose();
    }
    /// Momentum of the motion, or force of the acceleration: sum of m u and of m x x u, u = v + w x x.
    [[nodiscard]] Vector6d operator*(const Vector6d& motion) const {
        const Eigen::Vector3d v = motion.head<3>(), w = motion.tail<3>();
        Vector6d out;
        out << mass * v + w.cross(first), first.cross(v) + second.trace() * w - second * w;
        return out;
    }
    SpatialInertia& operator+=(const SpatialInertia& other) {
        mass += other.mass;
        first += other.first;
        second += other.second;
        return *this;
    }
};

/// Vectors u at points x (momenta of particles, forces): what is needed to turn all of them while the points stay.
struct PointVectors {
    Eigen::Vector3d total = Eigen::Vector3d::Zero();   ///< sum of u
    Eigen::Matrix3d moment = Eigen::Matrix3d::Zero();  ///< sum of u x^T, and hat(T) of a free torque T

    /// Force and moment of the vectors a x u at the points x; of a free torque T, a x T.
    [[nodiscard]] Vector6d turned(const Eigen::Vector3d& a) const {
        Vector6d out;
        out << a.cross(total), moment.trace() * a - moment * a;
        return out;
    }
    /// turned_transpose(b) . a = b . turned(a)
    [[nodiscard]] Eigen::Vector3d turned_transpose(const Vector6d& b) const {
        const Eigen::Vector3d v = b.head<3>(), w = b.tail<3>();
        return total.cross(v) + moment.trace() * w - moment.transpose() * w;
    }
    PointVectors& operator+=(const PointVectors& other) {
        total += other.total;
        moment += other.moment;
        return *this;
    }
};

/// Momenta of the particles of a body that moves with `motion`: u = m (v + w x x).
[[nodiscard]] inline PointVectors particle_momenta(const SpatialInertia& inertia, const Vector6d& motion) {
    const Eigen::Vector3d v = motion.head<3>(), w = motion.tail<3>();
    return {inertia.mass * v + w.cross(inertia.first), v * inertia.first.transpose() + hat(w) * inertia.second};
}

}  // namespace farfield
