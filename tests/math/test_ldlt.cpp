// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/ldlt.hpp"

#include <doctest/doctest.h>

#include "farfield/base/random.hpp"

using namespace farfield;

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
