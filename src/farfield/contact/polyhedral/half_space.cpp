// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/half_space.hpp"

#include <algorithm>

#include "farfield/math/rotation.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix12x4d = Eigen::Matrix<double, 12, 4>;

/// dq = (K r~) . twist
Matrix12x4d plane_lever(const Vector3d& n, const Vector3d& apart) {
    Matrix12x4d k;
    k << Matrix3d::Zero(), n, -hat(n), Vector3d::Zero(), Matrix3d::Zero(), -n, hat(n), n.cross(apart);
    return k;
}

Matrix3d turning(const Vector3d& n, const Vector3d& moment) {
    return 0.5 * (n * moment.transpose() + moment * n.transpose()) - n.dot(moment) * Matrix3d::Identity();
}

}  // namespace

HalfSpaceFrame make_frame(const HalfSpace& half_space, const Pose& half_space_pose, const Pose& pose) {
    HalfSpaceFrame frame;
    frame.normal = half_space_pose.rotation * half_space.normal;
    frame.apart = pose.position - half_space_pose.position;
    frame.height = frame.normal.dot(frame.apart) - half_space.offset;
    return frame;
}

bool add_hull_above(const HullColumns& hull, const HalfSpaceFrame& frame, const Matrix3d& rotation, double s,
                    HullSums& sums) {
    const double c = height_factor(s);
    HullSums hull_sums;
    const bool clear = add_hull(hull, 1.0, {c * (rotation.transpose() * frame.normal), c * frame.height},
                                Vector3d::Zero(), s, hull_sums);
    sums.lowest = std::min(sums.lowest, hull_sums.lowest);
    if (!clear) return false;
    sums.value += hull_sums.value;
    Eigen::Matrix4d turn = Eigen::Matrix4d::Identity();
    turn.topLeftCorner<3, 3>() = rotation;
    sums.first += turn * hull_sums.first;
    sums.second += turn * hull_sums.second * turn.transpose();
    return true;
}

Vector12d half_space_gradient(const HullSums& sums, const HalfSpaceFrame& frame, double s) {
    return plane_lever(height_factor(s) * frame.normal, frame.apart) * sums.first;
}

Matrix12d half_space_hessian(const HullSums& sums, const HalfSpaceFrame& frame, double s) {
    const Vector3d n = height_factor(s) * frame.normal, moment = sums.first.head<3>();
    const double total = sums.first[3];
    const Matrix12x4d k = plane_lever(n, frame.apart);
    const Matrix12x4d half = k.lazyProduct(sums.second);
    Matrix12d out = half.lazyProduct(k.transpose());
    const auto add = [&](int row, int column, const Matrix3d& block) {
        out.block<3, 3>(row, column) += block;
        if (row != column) out.block<3, 3>(column, row) += block.transpose();
    };
    add(3, 3, turning(n, moment));
    add(9, 9, turning(n, moment + total * frame.apart));
    add(0, 9, -total * hat(n));
    add(3, 9, -hat(moment) * hat(n));
    add(6, 9, total * hat(n));
    return 0.5 * (out + out.transpose());
}

}  // namespace farfield::contact::polyhedral
