// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Vectors and matrices of two bodies in pair order, and adjoints by where both were at the start of a step.
#include <Eigen/Dense>

#include "farfield/contact/plane_friction/plane_friction.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact {

using Vector12d = Eigen::Matrix<double, 12, 1>;
using Matrix12d = Eigen::Matrix<double, 12, 12>;

/// Adds `scale` times what belongs to two bodies (first, second) to that of a pair, in which they stand in this order or exchanged.
inline void add_in_pair_order(bool same_order, double scale, const Vector12d& gradient, const Matrix12d& hessian,
                              Vector12d& pair_gradient, Matrix12d& pair_hessian) {
    const Eigen::Index first = same_order ? 0 : 6, second = 6 - first;
    pair_gradient.segment<6>(first) += scale * gradient.head<6>();
    pair_gradient.segment<6>(second) += scale * gradient.tail<6>();
    pair_hessian.block<6, 6>(first, first) += scale * hessian.block<6, 6>(0, 0);
    pair_hessian.block<6, 6>(first, second) += scale * hessian.block<6, 6>(0, 6);
    pair_hessian.block<6, 6>(second, first) += scale * hessian.block<6, 6>(6, 0);
    pair_hessian.block<6, 6>(second, second) += scale * hessian.block<6, 6>(6, 6);
}

/// Of a number by the poses of two bodies at the start of a step, in their charts.
struct StartAdjoint {
    Vector6d a = Vector6d::Zero(), b = Vector6d::Zero();

    void add(const StartAdjoint& other, bool same_order = true) {
        a += same_order ? other.a : other.b;
        b += same_order ? other.b : other.a;
    }
};

[[nodiscard]] inline Vector6d wrench_of(const Eigen::Vector3d& force, const Eigen::Vector3d& arm) {
    Vector6d wrench;
    wrench << force, arm.cross(force);
    return wrench;
}

inline void add_force(const Eigen::Vector3d& force, const Eigen::Vector3d& arm, Vector6d& wrench) {
    wrench.head<3>() += force;
    wrench.tail<3>() += arm.cross(force);
}

/// From `start` to `now`; `origin` of the body at the start, relative to the point common to both bodies.
[[nodiscard]] inline BodyMotion body_motion(const Pose& start, const Pose& now, const Eigen::Vector3d& origin) {
    return {origin, now.rotation * start.rotation.transpose(), now.position - start.position};
}

}  // namespace farfield::contact
