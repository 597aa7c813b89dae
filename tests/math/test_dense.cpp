// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/dense.hpp"

#include <doctest/doctest.h>

#include "farfield/base/random.hpp"

using namespace farfield;
using Eigen::MatrixXd;

TEST_CASE("dense: eigenvalues ascend, from the lower triangle alone") {
    Random random(2);
    const auto check = []<int N>(const Eigen::Matrix<double, N, N>& a) {
        Eigen::Matrix<double, N, N> lower = a.template triangularView<Eigen::Lower>();
        const auto [values, vectors] = symmetric_eigen<N>(lower);
        for (Eigen::Index k = 0; k + 1 < values.size(); ++k) CHECK(values[k] <= values[k + 1]);
        CHECK((vectors * values.asDiagonal() * vectors.transpose() - a).norm() < 1e-13 * a.norm());
        CHECK((vectors.transpose() * vectors).isIdentity(1e-13));
    };
    for (int trial = 0; trial < 10; ++trial) {
        const Eigen::VectorXd numbers = normal_vector(random, 81);
        const MatrixXd square = MatrixXd::Map(numbers.data(), 9, 9), a = square + square.transpose();
        check(a);
        check(Eigen::Matrix<double, 9, 9>(a));
        check(Eigen::Matrix3d(a.topLeftCorner<3, 3>()));
    }
}

TEST_CASE("dense: Cholesky, pseudo-inverse and products") {
    Random random(3);
    for (int trial = 0; trial < 10; ++trial) {
        const Eigen::VectorXd numbers = normal_vector(random, 35);
        const MatrixXd thin = MatrixXd::Map(numbers.data(), 7, 5);
        const MatrixXd positive = thin.transpose() * thin, singular = thin * thin.transpose();  // rank 5 of 7
        const MatrixXd right = MatrixXd::Map(numbers.data(), 5, 3);
        const DenseCholesky factor(positive);
        REQUIRE(factor.positive());
        CHECK((positive * factor.solve(right) - right).norm() < 1e-9 * right.norm());
        CHECK_FALSE(DenseCholesky(-positive).positive());
        CHECK_FALSE(DenseCholesky(singular - 1e-6 * MatrixXd::Identity(7, 7)).positive());
        const MatrixXd inverse = pseudo_inverse(singular, 1e-10);
        CHECK((singular * inverse * singular - singular).norm() < 1e-10 * singular.norm());
        CHECK((inverse * singular * inverse - inverse).norm() < 1e-9 * inverse.norm());
        CHECK((product(thin, right) - thin * right).norm() == 0.0);
        CHECK((congruence(thin, singular) - thin.transpose() * singular * thin).norm() < 1e-12 * singular.norm());
    }
}

TEST_CASE("ldlt: solutions of small symmetric systems, indefinite ones included") {
    Random random(1);
    for (int trial = 0; trial < 20; ++trial) {
        const Eigen::VectorXd numbers = normal_vector(random, 16);
        const Eigen::Matrix4d square = Eigen::Map<const Eigen::Matrix4d>(numbers.data());
        const Eigen::Matrix4d a = square + square.transpose();
        const Eigen::Vector4d b = normal_vector(random, 4);
        const Eigen::Matrix3d a3 = a.topLeftCorner<3, 3>();
        Eigen::Matrix<double, 3, 12> many;
        for (int j = 0; j < 12; ++j) many.col(j) = normal_vector(random, 3);
        const auto check = [](const auto& matrix, const auto& solution, const auto& right) {
            CHECK((matrix * solution - right).norm() < 1e-13 * matrix.norm() * solution.norm());
        };
        check(a, solve_ldlt(a, b), b);
        check(a3, solve_ldlt(a3, Eigen::Vector3d(b.head<3>())), Eigen::Vector3d(b.head<3>()));
        check(a3, solve_ldlt(a3, many), many);
    }
}
