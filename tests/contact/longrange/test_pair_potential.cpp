// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_potential.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>

#include "contact/longrange/random_pairs.hpp"
#include "farfield/math/rotation.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::contact::longrange;
using namespace farfield::contact::longrange::testing;
using farfield::testing::check_gradient;
using farfield::testing::check_jacobian;
using farfield::testing::DerivativeReport;

namespace {

using Vector18 = Eigen::Matrix<double, 18, 1>;

TrianglePair unpacked(const Eigen::VectorXd& v) { return Eigen::Map<const TrianglePair>(v.data()); }
Eigen::VectorXd packed(const TrianglePair& x) { return Eigen::Map<const Eigen::VectorXd>(x.data(), 18); }

double value_of(const TrianglePair& x) { return solve_pair(x, nullptr, 1e-13).value; }

/// General, vertex-face, edge-edge, parallel and coplanar pairs with gaps of 1e-3 to 10 and sizes of 0.1 to 1.
RandomPair moderate_pair(PairGenerator& generator, int i) {
    for (;;) {
        const RandomPair pair = generator.draw(kFamilies[static_cast<size_t>(i) % 5]);
        if (pair.gap > 1e-3 && pair.gap < 10.0 && pair.size > 0.1 && pair.size < 1.0) return pair;
    }
}

}  // namespace

TEST_CASE("pair potential: momentum balances and the Hessian follows rigid motions") {
    PairGenerator generator(11);
    for (int i = 0; i < 500; ++i) {
        const TrianglePair x = moderate_pair(generator, i).x;
        const Plane plane = solve_pair(x, nullptr, 1e-13).plane;
        const Vector18 g = pair_gradient(x, plane);
        const Eigen::MatrixXd h = pair_hessian(x, plane);
        REQUIRE(g.norm() > 0.0);
        Eigen::Vector3d force = Eigen::Vector3d::Zero(), torque = Eigen::Vector3d::Zero();
        double lever = 0.0;
        for (int k = 0; k < 6; ++k) {
            force += g.segment<3>(3 * k);
            torque += Eigen::Vector3d(x.col(k)).cross(g.segment<3>(3 * k));
            lever = std::max(lever, x.col(k).norm() * g.segment<3>(3 * k).norm());
        }
        CHECK(force.norm() < 1e-9 * g.norm());
        CHECK(torque.norm() < 1e-9 * lever);
        // P is unchanged by x + v + w x x: H (v + w x x) = w x g.
        const Eigen::Vector3d v = generator.rotation().col(0), w = generator.rotation().col(0);
        Vector18 motion, expected;
        for (int k = 0; k < 6; ++k) {
            motion.segment<3>(3 * k) = v + w.cross(Eigen::Vector3d(x.col(k)));
            expected.segment<3>(3 * k) = w.cross(Eigen::Vector3d(g.segment<3>(3 * k)));
        }
        CHECK((h * motion - expected).norm() < 1e-7 * (h.norm() * motion.norm()));
    }
}

TEST_CASE("pair potential: the normal is alpha (a - b) with (1 - N)^2; the first power is off by N/(1 - N)") {
    PairGenerator generator(12);
    double worst = 0.0, worst_first_power = 0.0;
    for (int i = 0; i < 500; ++i) {
        const TrianglePair x = moderate_pair(generator, i).x;
        const Plane plane = solve_pair(x, nullptr, 1e-13).plane;
        const double length = plane.normal.norm();
        Eigen::Vector3d a = Eigen::Vector3d::Zero(), b = Eigen::Vector3d::Zero();
        double sum_a = 0.0, sum_b = 0.0;
        for (int k = 0; k < 6; ++k) {
            const double s = plane.normal.dot(x.col(k)) + plane.offset, weight = 1.0 / (s * s);
            k < 3 ? a += weight * x.col(k), sum_a += weight : (b += weight * x.col(k), sum_b += weight);
        }
        const Eigen::Vector3d difference = a / sum_a - b / sum_b;
        const double base = length / 12.0 * sum_a, rest = 1.0 - length;
        const auto error = [&](double alpha) { return (alpha * difference - plane.normal).norm() / length; };
        worst = std::max(worst, error(base * rest * rest));
        worst_first_power = std::max(worst_first_power, error(base * rest));
        CHECK(error(base * rest) == doctest::Approx(length / rest).epsilon(1e-6));
    }
    CHECK(worst < 1e-9);
    CHECK(worst_first_power > 1.5);
}

TEST_CASE("pair potential: far apart it is 12 (1 + r^-1/2)^2 of the sum of six vertices") {
    PairGenerator generator(13);
    for (const double r : {1e3, 1e6, 1e9}) {
        TrianglePair x = generator.draw(Family::General).x / 1e3;
        x.leftCols<3>().colwise() += Eigen::Vector3d(0.0, 0.0, 0.5 * r);
        x.rightCols<3>().colwise() -= Eigen::Vector3d(0.0, 0.0, 0.5 * r);
        // Q = 6 vertices at r/2: P = (sqrt 12 + sqrt(12/r))^2.
        CHECK(value_of(x) == doctest::Approx(12.0 * std::pow(1.0 + 1.0 / std::sqrt(r), 2)).epsilon(2.0 / r));
        CHECK(pair_gradient(x, solve_pair(x, nullptr, 1e-13).plane).norm() > 0.0);
    }
}

TEST_CASE("pair potential: the order of the triangles and of their vertices does not matter") {
    PairGenerator generator(14);
    for (int i = 0; i < 200; ++i) {
        const TrianglePair x = moderate_pair(generator, i).x;
        TrianglePair swapped, turned;
        swapped << x.rightCols<3>(), x.leftCols<3>();
        turned << x.col(1), x.col(2), x.col(0), x.col(5), x.col(4), x.col(3);
        CHECK(value_of(swapped) == doctest::Approx(value_of(x)).epsilon(1e-11));
        CHECK(value_of(turned) == doctest::Approx(value_of(x)).epsilon(1e-11));
    }
}

TEST_CASE("pair potential: gradient against differences") {
    PairGenerator generator(15);
    Random random(15);
    double worst = 0.0;
    for (int i = 0; i < 200; ++i) {
        const RandomPair pair = moderate_pair(generator, i);
        const Eigen::VectorXd g = pair_gradient(pair.x, solve_pair(pair.x, nullptr, 1e-13).plane);
        const auto f = [](const Eigen::VectorXd& v) { return value_of(unpacked(v)); };
        const DerivativeReport report = check_gradient(f, packed(pair.x), g, {.scale = pair.gap}, random);
        CHECK_MESSAGE(report.passes(), report);
        worst = std::max(worst, report.error);
    }
    MESSAGE("worst relative error ", worst);
}

TEST_CASE("pair potential: Hessian against differences; at most two negative eigenvalues") {
    PairGenerator generator(16);
    Random random(16);
    double worst = 0.0;
    int negative = 0;
    for (int i = 0; i < 200; ++i) {
        const RandomPair pair = moderate_pair(generator, i);
        const auto f = [](const Eigen::VectorXd& v) -> Eigen::VectorXd {
            const TrianglePair x = unpacked(v);
            return pair_gradient(x, solve_pair(x, nullptr, 1e-14).plane);
        };
        const Eigen::MatrixXd h = pair_hessian(pair.x, solve_pair(pair.x, nullptr, 1e-14).plane);
        const DerivativeReport report = check_jacobian(f, packed(pair.x), h, {.scale = pair.gap}, random);
        CHECK_MESSAGE(report.passes(), report);
        worst = std::max(worst, report.error);
        const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(h).eigenvalues();
        const auto count = (eigenvalues.array() < -1e-10 * eigenvalues.cwiseAbs().maxCoeff()).count();
        CHECK(count <= 2);
        negative += static_cast<int>(count);
    }
    CHECK(negative > 0);
    MESSAGE("worst relative error ", worst, ", negative eigenvalues on average ", negative / 200.0);
}

TEST_CASE("pair potential: the 6-D leaf derivatives are the 18-D ones seen by a rigid motion of A") {
    PairGenerator generator(17);
    for (int i = 0; i < 300; ++i) {
        const TrianglePair x = moderate_pair(generator, i).x;
        const Eigen::Vector3d lever = 3.0 * generator.rotation().col(0);
        const TrianglePair arms = x.colwise() + lever;
        const Plane plane = solve_pair(x, nullptr, 1e-13).plane;
        const LeafDerivatives leaf = leaf_derivatives(x, arms, plane);
        const Vector18 g = pair_gradient(x, plane);
        const Eigen::MatrixXd h = pair_hessian(x, plane);
        Eigen::MatrixXd motion(9, 6);  // dx_k = v + w x arm
        for (int k = 0; k < 3; ++k) motion.middleRows<3>(3 * k) << Eigen::Matrix3d::Identity(), -hat(arms.col(k));
        Eigen::Matrix3d moment_a = Eigen::Matrix3d::Zero(), moment_b = Eigen::Matrix3d::Zero();
        for (int k = 0; k < 6; ++k) (k < 3 ? moment_a : moment_b) += g.segment<3>(3 * k) * arms.col(k).transpose();
        CHECK(leaf.value == doctest::Approx(value_of(x)).epsilon(1e-11));
        CHECK((leaf.gradient - motion.transpose() * g.head<9>()).norm() < 1e-12 * leaf.gradient.norm());
        CHECK((leaf.force - leaf.gradient.head<3>()).norm() == 0.0);
        CHECK((leaf.moment_a - moment_a).norm() < 1e-12 * moment_a.norm());
        CHECK((leaf.moment_b - moment_b).norm() < 1e-12 * moment_b.norm());
        const Eigen::MatrixXd material = motion.transpose() * h.topLeftCorner(9, 9) * motion;
        CHECK((leaf.material - material).norm() < 1e-9 * h.norm() * motion.squaredNorm());
        CHECK((leaf.material - leaf.material.transpose()).norm() == 0.0);
    }
}

TEST_CASE("pair potential: gap is certified, and tight for a vertex over a face") {
    PairGenerator generator(18);
    for (int i = 0; i < 500; ++i) {
        const RandomPair pair = generator.draw(Family::VertexFace);
        const PairSolution solution = solve_pair(pair.x, nullptr, 1e-12);
        const double rounding = 1e-14 * pair.x.norm();
        CHECK(plane_gap(pair.x, solution.plane) > 0.0);
        CHECK(plane_gap(pair.x, solution.plane) <= pair.gap + rounding);
        if (pair.gap < 1e-3 * pair.size) CHECK(plane_gap(pair.x, solution.plane) > 0.5 * pair.gap - rounding);
    }
}
