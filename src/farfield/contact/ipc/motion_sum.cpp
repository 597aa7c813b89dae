// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/motion_sum.hpp"

#include "farfield/math/rotation.hpp"

namespace farfield::contact::ipc {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Second derivative of F.(w x (w x -s))/2 by w.
Matrix3d turning(const Vector3d& force, const Vector3d& s) {
    return force.dot(s) * Matrix3d::Identity() - 0.5 * (force * s.transpose() + s * force.transpose());
}

}  // namespace

void MotionSum::turn(const Matrix3d& rotation) {
    Matrix6d both = Matrix6d::Zero();
    both.topLeftCorner<3, 3>() = both.bottomRightCorner<3, 3>() = rotation;
    gradient = (both * gradient).eval();
    hessian = (both * hessian * both.transpose()).eval();
}

void add_to_pair(const MotionSum& sum, const Vector3d& s_a, const Vector3d& s_b, bool a_first, double weight,
                 Vector12d& gradient, Matrix12d& hessian) {
    const Eigen::Index a = a_first ? 0 : 6, b = 6 - a;
    const Vector3d force = sum.gradient.head<3>(), torque = sum.gradient.tail<3>();
    Eigen::Matrix<double, 6, 12> to_o = Eigen::Matrix<double, 6, 12>::Zero();  // W
    to_o.block<6, 6>(0, a).setIdentity();
    to_o.block<6, 6>(0, b) = -Matrix6d::Identity();
    to_o.block<3, 3>(0, a + 3) = hat(s_a);
    to_o.block<3, 3>(0, b + 3) = -hat(s_b);

    gradient.noalias() += weight * to_o.transpose() * sum.gradient;
    const Eigen::Matrix<double, 6, 12> half = weight * sum.hessian * to_o;
    hessian.noalias() += to_o.transpose() * half;
    hessian.block<3, 3>(a + 3, a + 3) += weight * turning(force, s_a);
    hessian.block<3, 3>(b + 3, b + 3) -= weight * turning(force, s_b);
    // F.(w_b x (v_b' - v_a')), whose last factor is minus the upper half of W (u_a, u_b), and tau.(w_a x w_b)/2
    const Eigen::Matrix<double, 3, 12> cross = weight * hat(force) * to_o.topRows<3>();
    hessian.middleRows<3>(b + 3) += cross;
    hessian.middleCols<3>(b + 3) += cross.transpose();
    hessian.block<3, 3>(a + 3, b + 3) -= 0.5 * weight * hat(torque);
    hessian.block<3, 3>(b + 3, a + 3) += 0.5 * weight * hat(torque);
}

}  // namespace farfield::contact::ipc
