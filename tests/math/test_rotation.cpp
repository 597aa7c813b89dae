// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/rotation.hpp"

#include <doctest/doctest.h>

#include <numbers>
#include <vector>

#include "farfield/base/random.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

constexpr double kPi = std::numbers::pi;

/// exp by its power series in long double: independent of the closed forms under test.
Matrix3d exp_by_series(const Vector3d& w) {
    using Matrix = Eigen::Matrix<long double, 3, 3>;
    const Matrix x = hat(w).cast<long double>();
    Matrix sum = Matrix::Identity(), term = Matrix::Identity();
    for (int k = 1; k < 60; ++k) {
        term = (term * x / static_cast<long double>(k)).eval();
        sum += term;
    }
    return sum.cast<double>();
}

/// J_l = sum of [w]^k / (k + 1)!.
Matrix3d left_jacobian_by_series(const Vector3d& w) {
    using Matrix = Eigen::Matrix<long double, 3, 3>;
    const Matrix x = hat(w).cast<long double>();
    Matrix sum = Matrix::Identity(), term = Matrix::Identity();
    for (int k = 1; k < 60; ++k) {
        term = (term * x / static_cast<long double>(k + 1)).eval();
        sum += term;
    }
    return sum.cast<double>();
}

/// Angles over all scales, both sides of every switch (1 rad; sqrt(10) rad), up to pi.
const std::vector<double> kAngles = {0.0,  1e-300, 1e-160, 1e-12, 1e-9,       1e-8,       1e-6,       1e-4,
                                     1e-3, 1e-2,   0.1,    0.5,   1.0 - 1e-9, 1.0,        1.0 + 1e-9, 2.0,
                                     2.5,  3.0,    3.1,    3.14,  3.1415,     kPi - 1e-6, kPi - 1e-9, kPi - 1e-12};
const std::vector<double> kBeyondPi = {kPi + 1e-9, 3.16, std::sqrt(10.0) - 1e-9, std::sqrt(10.0) + 1e-9, 4.0, 5.0, 6.0};

}  // namespace

TEST_CASE("hat and axial are the cross product and its dual") {
    Random random(1);
    for (int i = 0; i < 50; ++i) {
        const Vector3d v = normal_vector(random, 3), u = normal_vector(random, 3);
        Matrix3d m;
        for (double& value : m.reshaped()) value = normal(random);
        CHECK((hat(v) * u - v.cross(u)).norm() < 1e-15 * (1.0 + v.norm() * u.norm()));
        CHECK(axial(hat(v)) == 2.0 * v);
        CHECK((hat(v).transpose() * m).trace() == doctest::Approx(v.dot(axial(m))).epsilon(1e-13));
        CHECK(axial(m) == Vector3d(m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)));
    }
}

TEST_CASE("exp is the matrix exponential, to rounding, from 0 to beyond pi") {
    Random random(2);
    for (const std::vector<double>* angles : {&kAngles, &kBeyondPi}) {
        for (const double angle : *angles) {
            for (int i = 0; i < 20; ++i) {
                const Vector3d w = angle * unit_vector(random);
                const Matrix3d r = exp_rotation(w);
                CAPTURE(angle);
                CHECK((r - exp_by_series(w)).cwiseAbs().maxCoeff() < 2e-15);
                CHECK((r * r.transpose() - Matrix3d::Identity()).cwiseAbs().maxCoeff() < 3e-15);
                CHECK((exp_rotation(-w) - r.transpose()).cwiseAbs().maxCoeff() == 0.0);
            }
        }
    }
}

TEST_CASE("log undoes exp at every scale, near pi included") {
    Random random(3);
    for (const double angle : kAngles) {
        for (int i = 0; i < 50; ++i) {
            const Vector3d w = angle * unit_vector(random);
            const Vector3d back = log_rotation(exp_rotation(w));
            CAPTURE(angle);
            CHECK((back - w).norm() <= 4e-15 * angle);  // relative, also at 1e-12
        }
    }
    // At pi the sign of the axis is free, but the rotation must be the same; along the axes entries vanish exactly.
    for (const Vector3d& axis :
         {Vector3d(1, 0, 0), Vector3d(0, 1, 0), Vector3d(0, 0, 1), Vector3d(0.6, 0.8, 0), Vector3d(0, -0.6, 0.8),
          Vector3d(1, 1, 1).normalized(), Vector3d(-1, 2, -3).normalized()}) {
        const Matrix3d half_turn = 2.0 * axis * axis.transpose() - Matrix3d::Identity();
        const Vector3d w = log_rotation(half_turn);
        CHECK(w.norm() == doctest::Approx(kPi).epsilon(1e-15));
        CHECK(std::abs(w.normalized().dot(axis)) == doctest::Approx(1.0).epsilon(1e-15));
        CHECK((exp_rotation(w) - half_turn).cwiseAbs().maxCoeff() < 4e-15);
    }
    CHECK(log_rotation(Matrix3d::Identity()) == Vector3d::Zero());
    // Beyond pi: the shorter way round.
    const Vector3d axis = unit_vector(random);
    CHECK((log_rotation(exp_rotation(4.0 * axis)) - (4.0 - 2.0 * kPi) * axis).norm() < 1e-14);
}

TEST_CASE("Jacobians agree with their series, with each other and with their inverses") {
    Random random(4);
    for (const std::vector<double>* angles : {&kAngles, &kBeyondPi}) {
        for (const double angle : *angles) {
            for (int i = 0; i < 20; ++i) {
                const Vector3d w = angle * unit_vector(random);
                CAPTURE(angle);
                CHECK((left_jacobian(w) - left_jacobian_by_series(w)).cwiseAbs().maxCoeff() < 3e-15);
                CHECK(right_jacobian(w) == left_jacobian(w).transpose());
                CHECK((exp_rotation(w) * right_jacobian(w) - left_jacobian(w)).cwiseAbs().maxCoeff() < 4e-15);
                const double growth = right_jacobian_inverse(w).norm();
                CHECK((right_jacobian_inverse(w) * right_jacobian(w) - Matrix3d::Identity()).norm() < 4e-15 * growth);
            }
        }
    }
}

TEST_CASE("Jacobians are the derivatives of exp and log") {
    Random random(5);
    for (const double angle : {0.0, 1e-12, 1e-8, 1e-4, 1e-3, 0.1, 0.99, 1.01, 2.0, 3.0, 3.1}) {
        for (int i = 0; i < 10; ++i) {
            const Vector3d w = angle * unit_vector(random);
            const Matrix3d r = exp_rotation(w);
            CAPTURE(angle);
            const auto left = [&](const Eigen::VectorXd& x) { return log_rotation(exp_rotation(x) * r.transpose()); };
            const auto right = [&](const Eigen::VectorXd& x) { return log_rotation(r.transpose() * exp_rotation(x)); };
            DerivativeReport report = check_jacobian(left, w, left_jacobian(w), {}, random);
            CHECK_MESSAGE(report.passes(1e-8), report);
            report = check_jacobian(right, w, right_jacobian(w), {}, random);
            CHECK_MESSAGE(report.passes(1e-8), report);
            const auto log_right = [&](const Eigen::VectorXd& d) { return log_rotation(r * exp_rotation(d)); };
            const Vector3d zero = Vector3d::Zero();
            report = check_jacobian(log_right, zero, right_jacobian_inverse(w), {}, random);
            CHECK_MESSAGE(report.passes(1e-8), report);
        }
    }
}

TEST_CASE("beta and its slope: identities at both sides of the switch, and finite differences") {
    Random random(6);
    const InverseJacobianCoefficients at_zero = inverse_jacobian_coefficients(0.0);
    CHECK(at_zero.beta == doctest::Approx(1.0 / 12.0).epsilon(1e-15));
    CHECK(at_zero.beta_slope == doctest::Approx(1.0 / 720.0).epsilon(1e-14));
    const double pi2 = kPi * kPi;  // theta = pi: cot = 0, sin = 1
    CHECK(inverse_jacobian_coefficients(pi2).beta == doctest::Approx(1.0 / pi2).epsilon(1e-15));
    CHECK(inverse_jacobian_coefficients(pi2).beta_slope == doctest::Approx((0.125 - 1.0 / pi2) / pi2).epsilon(1e-13));
    const InverseJacobianCoefficients below = inverse_jacobian_coefficients(std::nextafter(10.0, 0.0));
    const InverseJacobianCoefficients above = inverse_jacobian_coefficients(10.0);
    CHECK(below.beta == doctest::Approx(above.beta).epsilon(1e-15));
    CHECK(below.beta_slope == doctest::Approx(above.beta_slope).epsilon(1e-13));
    for (const double s : {0.0, 1e-6, 0.3, 1.0, 4.0, 9.0, 9.99, 10.01, 16.0, 30.0}) {
        const auto beta = [](const Eigen::VectorXd& x) { return inverse_jacobian_coefficients(x(0)).beta; };
        const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, s);
        const Eigen::VectorXd slope = Eigen::VectorXd::Constant(1, inverse_jacobian_coefficients(s).beta_slope);
        const DerivativeReport report = check_gradient(beta, at, slope, {.scale = 1.0}, random);
        CHECK_MESSAGE(report.passes(1e-8), "s = ", s, ": ", report);
    }
}

TEST_CASE("derivative of J_r^-T y") {
    Random random(7);
    for (const double angle : {0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 1.0, 2.0, 3.0, 3.14, 3.15, 3.17, 4.0, 5.0}) {
        for (int i = 0; i < 10; ++i) {
            const Vector3d e = angle * unit_vector(random), y = normal_vector(random, 3);
            const auto f = [&](const Eigen::VectorXd& x) -> Eigen::VectorXd {
                return right_jacobian_inverse(x).transpose() * y;
            };
            const DerivativeReport report =
                check_jacobian(f, e, right_jacobian_inverse_transpose_derivative(e, y), {.scale = 1.0}, random);
            CHECK_MESSAGE(report.passes(1e-8), "angle = ", angle, ": ", report);
        }
    }
    const Vector3d y(1, 2, 3);
    CHECK((right_jacobian_inverse_transpose_derivative(Vector3d::Zero(), y) - 0.5 * hat(y)).norm() == 0.0);
}

TEST_CASE("quaternions are wxyz and agree with exp") {
    Random random(8);
    CHECK(quaternion_from_rotation(Matrix3d::Identity()) == Eigen::Vector4d(1, 0, 0, 0));
    // A quarter turn about z sends x to y.
    const double h = std::sqrt(0.5);
    CHECK((rotation_from_quaternion({h, 0, 0, h}) * Vector3d::UnitX() - Vector3d::UnitY()).norm() < 1e-15);
    for (const double angle : kAngles) {
        for (int i = 0; i < 20; ++i) {
            const Vector3d axis = unit_vector(random);
            const Matrix3d r = exp_rotation(angle * axis);
            Eigen::Vector4d expected;
            expected << std::cos(0.5 * angle), std::sin(0.5 * angle) * axis;
            const Eigen::Vector4d q = quaternion_from_rotation(r);
            CAPTURE(angle);
            CHECK(q(0) >= 0.0);
            CHECK((q - expected).norm() < 2e-15);
            CHECK((q.tail<3>() - expected.tail<3>()).norm() <= 2e-15 * angle);
            CHECK((rotation_from_quaternion(q) - r).cwiseAbs().maxCoeff() < 3e-15);
            CHECK((rotation_from_quaternion(-7.0 * q) - r).cwiseAbs().maxCoeff() < 3e-15);
        }
    }
}

TEST_CASE("the derivative check itself notices wrong gradients") {
    Random random(9);
    const auto f = [](const Eigen::VectorXd& x) { return 1.0 / x(0) + std::sin(x(1)); };
    for (int i = 0; i < 200; ++i) {
        const Eigen::Vector2d x(1e-3 * uniform(random, 0.5, 1.0), uniform(random, -1.0, 1.0));
        const Eigen::Vector2d right(-1.0 / (x(0) * x(0)), std::cos(x(1)));
        CHECK(check_gradient(f, x, right, {.scale = x(0)}, random).passes(2e-7));
        CHECK_FALSE(check_gradient(f, x, (1.0 + 2e-6) * right, {.scale = x(0)}, random).passes(2e-7));
        CHECK_FALSE(check_gradient(f, x, Eigen::Vector2d::Zero(), {.scale = x(0)}, random).passes());
    }
    const auto constant = [](const Eigen::VectorXd&) { return 1.0; };
    CHECK(check_gradient(constant, Eigen::Vector2d(1, 2), Eigen::Vector2d::Zero(), {}, random).bit_equal);
    CHECK_FALSE(check_gradient(constant, Eigen::Vector2d(1, 2), Eigen::Vector2d::Zero(), {}, random).passes());
    const auto broken = [](const Eigen::VectorXd&) { return std::numeric_limits<double>::quiet_NaN(); };
    CHECK_FALSE(check_gradient(broken, Eigen::Vector2d(1, 2), Eigen::Vector2d(1, 1), {}, random).passes());
}

TEST_CASE("rotation: a turn between two directions, opposite ones included") {
    Random random(7);
    for (int trial = 0; trial < 40; ++trial) {
        const Vector3d from = unit_vector(random);
        const Vector3d near = (from + std::pow(10.0, -trial / 2.0) * unit_vector(random)).normalized();
        for (const Vector3d& to : {near, Vector3d(-near), Vector3d(-from), unit_vector(random)}) {
            const Matrix3d turn = turn_between(from, to);
            CHECK((turn * from - to).norm() < 1e-14);
            CHECK((turn * turn.transpose() - Matrix3d::Identity()).norm() < 1e-14);
            CHECK(turn.determinant() > 0.0);
            if (from.dot(to) > 0.0)
                CHECK(std::abs(log_rotation(turn).norm() - std::atan2(from.cross(to).norm(), from.dot(to))) < 1e-14);
        }
        CHECK(turn_between(from, from).isIdentity(1e-15));
    }
}
