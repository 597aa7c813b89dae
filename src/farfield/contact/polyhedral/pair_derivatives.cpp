// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/pair_derivatives.hpp"

#include "farfield/contact/polyhedral/cholesky4.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix6x4d = Eigen::Matrix<double, 6, 4>;

HullSums rotated(const Matrix3d& rotation, const HullSums& sums) {
    HullSums out = sums;
    out.first.head<3>() = rotation * sums.first.head<3>();
    out.second.topLeftCorner<3, 3>() = rotation * sums.second.topLeftCorner<3, 3>() * rotation.transpose();
    out.second.topRightCorner<3, 1>() = rotation * sums.second.topRightCorner<3, 1>();
    out.second.bottomLeftCorner<1, 3>() = out.second.topRightCorner<3, 1>().transpose();
    return out;
}

/// How a vertex counted from the centre moves along n with the body's twist: K x~.
Matrix6x4d point_lever(const Vector3d& n, const Vector3d& from) {
    Matrix6x4d k;
    k << Matrix3d::Zero(), n, -hat(n), from.cross(n);
    return k;
}

/// b = sigma sum P' (x - body origin)
Vector3d moment(const HullSums& sums, double side, const Vector3d& from) {
    return side * (sums.first.head<3>() + sums.first[3] * from);
}

Eigen::Matrix<double, 4, 6> coupling(const HullSums& sums, double side, const Vector3d& n, const Vector3d& from) {
    Eigen::Matrix<double, 4, 6> out = sums.second * point_lever(n, from).transpose();
    out.topLeftCorner<3, 3>().diagonal().array() += side * sums.first[3];
    out.topRightCorner<3, 3>() -= hat(moment(sums, side, from));
    return out;
}

Matrix6d own_block(const HullSums& sums, double side, const Vector3d& n, const Vector3d& from) {
    const Matrix6x4d k = point_lever(n, from);
    const Vector3d b = moment(sums, side, from);
    Matrix6d out = k * sums.second * k.transpose();
    out.bottomRightCorner<3, 3>() += 0.5 * (n * b.transpose() + b * n.transpose()) - n.dot(b) * Matrix3d::Identity();
    return out;
}

}  // namespace

WorldPair in_world(const HullPairSolution& solution, const Pose& pose_a, const Pose& pose_b) {
    const Matrix3d& r = pose_a.rotation;
    const Vector3d from_a = r * solution.centre;
    return {{r * solution.plane.normal, solution.plane.offset},
            rotated(r, solution.a),
            rotated(r, solution.b),
            rotated(r, {.second = solution.hessian}).second,
            from_a,
            from_a + (pose_a.position - pose_b.position)};
}

Vector12d pair_gradient(const WorldPair& pair) {
    Vector12d out;
    out << -(point_lever(pair.plane.normal, pair.from_a) * pair.a.first),
        point_lever(pair.plane.normal, pair.from_b) * pair.b.first;
    return out;
}

Matrix4x12d plane_coupling(const WorldPair& pair) {
    Matrix4x12d out;
    out << coupling(pair.a, -1.0, pair.plane.normal, pair.from_a),
        coupling(pair.b, 1.0, pair.plane.normal, pair.from_b);
    return out;
}

Matrix12d pair_hessian(const WorldPair& pair) {
    Matrix4x12d mixed = plane_coupling(pair);
    Cholesky4(pair.hessian, 0.0).forward(mixed);
    const Eigen::Matrix<double, 12, 4> left = -mixed.transpose();
    Matrix12d out = left.lazyProduct(mixed);
    out.topLeftCorner<6, 6>() += own_block(pair.a, -1.0, pair.plane.normal, pair.from_a);
    out.bottomRightCorner<6, 6>() += own_block(pair.b, 1.0, pair.plane.normal, pair.from_b);
    return 0.5 * (out + out.transpose());
}

Vector12d unscaled_gradient(const Vector12d& scaled, double factor, double length) {
    Vector12d out = factor * scaled;
    out.segment<3>(0) /= length;
    out.segment<3>(6) /= length;
    return out;
}

Matrix12d unscaled_hessian(const Matrix12d& scaled, double factor, double length) {
    Matrix12d out = factor * scaled;
    for (const int linear : {0, 6}) {
        out.middleRows<3>(linear) /= length;
        out.middleCols<3>(linear) /= length;
    }
    return out;
}

Vector12d scaled_twists(const Vector6d& a, const Vector6d& b, double length) {
    Vector12d out;
    out << a.head<3>() / length, a.tail<3>(), b.head<3>() / length, b.tail<3>();
    return out;
}

}  // namespace farfield::contact::polyhedral
