// SPDX-License-Identifier: Apache-2.0
#include "farfield/base/random.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace farfield;

TEST_CASE("the same numbers on every platform") {
    Random random(12345);
    CHECK(random() ==
          6597103971274460346ULL);  // fixed by the standard; the rest from its definition in extended precision
    CHECK(uniform(random) == 0.40044261704406114);
    CHECK(normal(random) == doctest::Approx(-1.4227288787842617).epsilon(1e-15));
}

TEST_CASE("moments of the distributions") {
    Random random(2);
    const int n = 200000;
    double mean = 0, variance = 0, fourth = 0;
    Eigen::Vector3d direction = Eigen::Vector3d::Zero();
    Eigen::Matrix3d spread = Eigen::Matrix3d::Zero(), rotation = Eigen::Matrix3d::Zero();
    double squared_trace = 0;
    std::vector<int> counts(7, 0);
    for (int i = 0; i < n; ++i) {
        const double x = normal(random);
        mean += x / n, variance += x * x / n, fourth += x * x * x * x / n;
        const Eigen::Vector3d u = unit_vector(random);
        direction += u / n, spread += u * u.transpose() / n;
        const Eigen::Matrix3d r = random_rotation(random);
        rotation += r / n, squared_trace += r.trace() * r.trace() / n;
        ++counts[static_cast<std::size_t>(uniform_index(random, 7))];
    }
    // Five standard errors.
    CHECK(std::abs(mean) < 5 / std::sqrt(n));
    CHECK(std::abs(variance - 1.0) < 5 * std::sqrt(2.0 / n));
    CHECK(std::abs(fourth - 3.0) < 5 * std::sqrt(96.0 / n));
    CHECK(direction.cwiseAbs().maxCoeff() < 5 / std::sqrt(3.0 * n));
    CHECK((spread - Eigen::Matrix3d::Identity() / 3.0).cwiseAbs().maxCoeff() < 5 * std::sqrt(0.09 / n));
    CHECK(rotation.cwiseAbs().maxCoeff() < 5 / std::sqrt(3.0 * n));
    CHECK(std::abs(squared_trace - 1.0) < 5 * std::sqrt(3.0 / n));  // uniform rotations: E tr^2 = 1, E tr^4 = 3
    for (const int count : counts) CHECK(std::abs(count - n / 7.0) < 5 * std::sqrt(n / 7.0));
}

TEST_CASE("values stay in range, directions and rotations are unit") {
    Random random(3);
    for (int i = 0; i < 10000; ++i) {
        const double u = uniform(random), v = uniform(random, -3.0, -2.0);
        CHECK((u >= 0.0 && u < 1.0));
        CHECK((v >= -3.0 && v < -2.0));
        CHECK(std::abs(unit_vector(random).norm() - 1.0) < 1e-15 * 4);
        const Eigen::Matrix3d r = random_rotation(random);
        CHECK((r * r.transpose() - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff() < 3e-15);
        CHECK(r.determinant() > 0.0);
    }
    CHECK(normal_vector(random, 5).size() == 5);
    Random again(7), same(7);
    CHECK(normal_vector(again, 5) == normal_vector(same, 5));
}
