// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/rotation.hpp"

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

/// A multiple of the quaternion of `m`, built around its largest component (at least half of its length), so that no
/// component is a difference of nearly equal numbers. [Shepperd1978]
Eigen::Vector4d scaled_quaternion(const Eigen::Matrix3d& m) {
    const double trace = m.trace();
    int largest = 0;
    if (trace < m.diagonal().maxCoeff(&largest)) {
        const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
        Eigen::Vector4d q;  // 4 x_i q
        q(0) = m(k, j) - m(j, k);
        q(1 + i) = 1.0 + m(i, i) - m(j, j) - m(k, k);
        q(1 + j) = m(i, j) + m(j, i);
        q(1 + k) = m(i, k) + m(k, i);
        return q(0) < 0.0 ? Eigen::Vector4d(-q) : q;
    }
    const Eigen::Vector3d v = axial(m);
    return {1.0 + trace, v.x(), v.y(), v.z()};  // 4 w q
}

}  // namespace

Eigen::Matrix3d right_jacobian_inverse_transpose_derivative(const Eigen::Vector3d& e, const Eigen::Vector3d& y) {
    const InverseJacobianCoefficients k = inverse_jacobian_coefficients(e.squaredNorm());
    const double ey = e.dot(y);
    const Eigen::Vector3d eey = ey * e - e.squaredNorm() * y;  // e x (e x y)
    Eigen::Matrix3d m = (2.0 * k.beta_slope * eey - 2.0 * k.beta * y) * e.transpose() + k.beta * e * y.transpose();
    m.diagonal().array() += k.beta * ey;
    return m + 0.5 * hat(y);
}

Eigen::Vector3d log_rotation(const Eigen::Matrix3d& rotation) {
    const Eigen::Vector4d q = scaled_quaternion(rotation);
    const Eigen::Vector3d v = q.tail<3>();
    const double length = v.stableNorm();
    if (length == 0.0) return Eigen::Vector3d::Zero();
    // atan2 does not care for the scale of q, and is accurate at both ends: tan(theta/2) = |v|/w.
    return v * (2.0 * std::atan2(length, q(0)) / length);
}

Eigen::Matrix3d turn_between(const Eigen::Vector3d& from, const Eigen::Vector3d& to) {
    const double cosine = from.dot(to);
    // 1 + [w] + [w]^2 / (1 + cosine) with w = from x to; away from `to`, half a turn about an axis across goes first.
    if (cosine >= 0.0) return rotation_polynomial(from.cross(to), 1.0, 1.0 / (1.0 + cosine));
    const Eigen::Vector3d across = from.unitOrthogonal();
    const Eigen::Matrix3d half_turn = 2.0 * across * across.transpose() - Eigen::Matrix3d::Identity();
    return turn_between(-from, to) * half_turn;
}

Eigen::Matrix3d rotation_from_quaternion(const Eigen::Vector4d& wxyz) {
    const double length = wxyz.stableNorm();
    FARFIELD_ASSERT(length > 0.0);
    const Eigen::Vector4d q = wxyz / length;
    const Eigen::Vector3d v = q.tail<3>();
    // 1 + 2 w [v] + 2 [v]^2
    return rotation_polynomial(v, 2.0 * q(0), 2.0);
}

Eigen::Vector4d quaternion_from_rotation(const Eigen::Matrix3d& rotation) {
    return scaled_quaternion(rotation).normalized();
}

}  // namespace farfield
