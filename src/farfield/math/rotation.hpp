// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Rotations as matrices, rotation vectors and quaternions, and the Jacobians between them.
///
/// With [w] = hat(w), theta = |w|:
///   exp(w)  = 1 + a [w] + b [w]^2           a = sin(theta)/theta, b = (1 - cos(theta))/theta^2
///   J_l(w)  = 1 + b [w] + c [w]^2           c = (theta - sin(theta))/theta^3
///   J_r^-1  = 1 + 1/2 [w] + beta [w]^2      beta = (1 - (theta/2) cot(theta/2))/theta^2
///   J_r(w)  = J_l(w)^T = J_l(-w)
/// so that exp(w + d) = exp(J_l d) exp(w) = exp(w) exp(J_r d) to first order in d. All coefficients are analytic in
/// theta^2, and are evaluated as such: nothing is special about w = 0.
#include <Eigen/Dense>
#include <cmath>

namespace farfield {

/// The matrix of v x: hat(v) u = v x u.
[[nodiscard]] inline Eigen::Matrix3d hat(const Eigen::Vector3d& v) {
    Eigen::Matrix3d m;
    m << 0.0, -v.z(), v.y(), v.z(), 0.0, -v.x(), -v.y(), v.x(), 0.0;
    return m;
}

/// (M32 - M23, M13 - M31, M21 - M12): axial(hat(v)) = 2 v, and tr(hat(v)^T M) = v . axial(M).
[[nodiscard]] inline Eigen::Vector3d axial(const Eigen::Matrix3d& m) {
    return {m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)};
}

/// The coefficients a, b, c above.
struct RotationCoefficients {
    double a = 1.0, b = 0.5, c = 1.0 / 6.0;
};
[[nodiscard]] inline RotationCoefficients rotation_coefficients(double squared_angle) {
    const double s = squared_angle;
    // Below 1 rad, Taylor series in s = theta^2: sqrt(s) is not smooth at 0 and 1 - cos, theta - sin cancel.
    if (s < 1.0) {
        // c = 1/3! - s/5! + ...;  b = 1/2! - s/4! + ...;  a = 1 - s c. Truncated below 2^-55.
        constexpr double odd[8] = {
            1.0 / 6.0,        -1.0 / 120.0,        1.0 / 5040.0,          -1.0 / 362880.0,
            1.0 / 39916800.0, -1.0 / 6227020800.0, 1.0 / 1307674368000.0, -1.0 / 355687428096000.0};
        constexpr double even[9] = {1.0 / 2.0,
                                    -1.0 / 24.0,
                                    1.0 / 720.0,
                                    -1.0 / 40320.0,
                                    1.0 / 3628800.0,
                                    -1.0 / 479001600.0,
                                    1.0 / 87178291200.0,
                                    -1.0 / 20922789888000.0,
                                    1.0 / 6402373705728000.0};
        double b = even[8], c = odd[7];
        for (int k = 7; k >= 0; --k) b = b * s + even[k];
        for (int k = 6; k >= 0; --k) c = c * s + odd[k];
        const double a = 1.0 - s * c;
        return {a, b, c};
    }
    const double theta = std::sqrt(s);
    const double a = std::sin(theta) / theta;
    const double half = std::sin(0.5 * theta);
    return {a, 2.0 * half * half / s, (1.0 - a) / s};
}

/// beta above, and its derivative by theta^2.
struct InverseJacobianCoefficients {
    double beta = 1.0 / 12.0, beta_slope = 1.0 / 720.0;
};
[[nodiscard]] inline InverseJacobianCoefficients inverse_jacobian_coefficients(double squared_angle) {
    const double s = squared_angle;
    // beta(s) = sum over n >= 1 of 2/(4 pi^2 n^2 - s). Up to s = 10 (theta just above pi) the first two terms are taken
    // as they are; the others form the power series sum over k of r_k s^(k-1), r_k = 2 (zeta(2k) - 1 - 4^-k)/(2 pi)^(2k),
    // which falls by 36 per term. No branch at 0, no trigonometry, no cancellation.
    if (s < 10.0) {
        constexpr double r[11] = {0.020007593556872226181,   0.00002543812068862562158, 5.5845683904944151311e-8,
                                  1.4088241574761046862e-10, 3.7567162002157978115e-13, 1.0280125375360461078e-15,
                                  2.8500221292137912383e-18, 7.9555754107198449836e-21, 2.2289326645537011567e-23,
                                  6.2574711508057722392e-26, 1.7586730492909679891e-28};
        double value = r[10], slope = 0.0;
        for (int k = 9; k >= 0; --k) {
            slope = slope * s + value;
            value = value * s + r[k];
        }
        const double p1 = 1.0 / (39.478417604357434475 - s), p2 = 1.0 / (157.91367041742973790 - s);
        return {2.0 * (p1 + p2) + value, 2.0 * (p1 * p1 + p2 * p2) + slope};
    }
    const double x = 0.5 * std::sqrt(s);
    const double sine = std::sin(x), x_cot = x * std::cos(x) / sine;
    const double beta = (1.0 - x_cot) / s;
    return {beta, (0.5 * (x * x / (sine * sine) - x_cot) / s - beta) / s};
}

/// 1 + linear [w] + quadratic [w]^2, the shape that exp and all Jacobians share.
[[nodiscard]] inline Eigen::Matrix3d rotation_polynomial(const Eigen::Vector3d& w, double linear, double quadratic) {
    const double x = w.x(), y = w.y(), z = w.z();
    const double xx = quadratic * (x * x), yy = quadratic * (y * y), zz = quadratic * (z * z);
    const double xy = quadratic * (x * y), xz = quadratic * (x * z), yz = quadratic * (y * z);
    const double lx = linear * x, ly = linear * y, lz = linear * z;
    Eigen::Matrix3d m;  // [w]^2 = w w^T - |w|^2 1
    m << 1.0 - (yy + zz), xy - lz, xz + ly, xy + lz, 1.0 - (xx + zz), yz - lx, xz - ly, yz + lx, 1.0 - (xx + yy);
    return m;
}

/// Rotation by |w| about w.
[[nodiscard]] inline Eigen::Matrix3d exp_rotation(const Eigen::Vector3d& w) {
    const RotationCoefficients k = rotation_coefficients(w.squaredNorm());
    return rotation_polynomial(w, k.a, k.b);
}

/// The shortest w with exp(w) = `rotation`, |w| <= pi; accurate to rounding from 0 to pi.
[[nodiscard]] Eigen::Vector3d log_rotation(const Eigen::Matrix3d& rotation);

[[nodiscard]] inline Eigen::Matrix3d left_jacobian(const Eigen::Vector3d& w) {
    const RotationCoefficients k = rotation_coefficients(w.squaredNorm());
    return rotation_polynomial(w, k.b, k.c);
}
[[nodiscard]] inline Eigen::Matrix3d right_jacobian(const Eigen::Vector3d& w) {
    const RotationCoefficients k = rotation_coefficients(w.squaredNorm());
    return rotation_polynomial(w, -k.b, k.c);
}

/// Exists for |w| < 2 pi, and grows without bound towards it.
[[nodiscard]] inline Eigen::Matrix3d right_jacobian_inverse(const Eigen::Vector3d& w) {
    return rotation_polynomial(w, 0.5, inverse_jacobian_coefficients(w.squaredNorm()).beta);
}

/// d/de of J_r(e)^-T y = y - 1/2 e x y + beta e x (e x y), y held fixed.
[[nodiscard]] Eigen::Matrix3d right_jacobian_inverse_transpose_derivative(const Eigen::Vector3d& e,
                                                                          const Eigen::Vector3d& y);

/// A rotation R with R from = to, both unit vectors. It is the shortest where they are less than a right angle apart.
[[nodiscard]] Eigen::Matrix3d turn_between(const Eigen::Vector3d& from, const Eigen::Vector3d& to);

/// Quaternions are (w, x, y, z) everywhere. Any non-zero length is accepted: the rotation is that of q/|q|.
[[nodiscard]] Eigen::Matrix3d rotation_from_quaternion(const Eigen::Vector4d& wxyz);
/// Unit, with w >= 0.
[[nodiscard]] Eigen::Vector4d quaternion_from_rotation(const Eigen::Matrix3d& rotation);

}  // namespace farfield
