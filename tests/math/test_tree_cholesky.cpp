// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/tree_cholesky.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "farfield/base/random.hpp"

namespace farfield {
namespace {

Eigen::MatrixXd random_positive(Random& random, Eigen::Index n) {
    Eigen::MatrixXd A(n, n);
    for (Eigen::Index c = 0; c < n; ++c) A.col(c) = normal_vector(random, static_cast<int>(n));
    return A * A.transpose() + 0.1 * Eigen::MatrixXd::Identity(n, n);
}

TEST_CASE("tree Cholesky solves full matrices, reading the lower triangle alone") {
    Random random(7);
    TreeCholesky cholesky;
    for (const Eigen::Index n : {1, 2, 6, 14, 40}) {
        const Eigen::MatrixXd H = random_positive(random, n);
        Eigen::MatrixXd lower = H.triangularView<Eigen::Lower>();
        lower.triangularView<Eigen::StrictlyUpper>().setConstant(1e9);
        REQUIRE(cholesky.compute(lower));
        const Eigen::VectorXd b = normal_vector(random, static_cast<int>(n));
        Eigen::VectorXd x = b;
        cholesky.solve_in_place(x);
        CHECK((H * x - b).norm() < 1e-11 * (1.0 + H.norm() * x.norm()));
        CHECK(cholesky.pivot_ratio() > 0.0);
        CHECK(cholesky.pivot_ratio() <= 1.0);
    }
}

TEST_CASE("tree Cholesky keeps branches apart") {
    Random random(8);
    Eigen::MatrixXd H = random_positive(random, 10);
    H.diagonal().array() += 20.0;
    H.block(6, 2, 4, 4).setZero();  // a trunk of two, and branches 2..5 and 6..9
    H.block(2, 6, 4, 4).setZero();
    TreeCholesky cholesky;
    REQUIRE(cholesky.compute(H));
    const Eigen::VectorXd b = normal_vector(random, 10);
    Eigen::VectorXd x = b;
    cholesky.solve_in_place(x);
    CHECK((H * x - b).norm() < 1e-12 * H.norm() * x.norm());
}

TEST_CASE("tree Cholesky refuses what is not positive definite") {
    Random random(9);
    TreeCholesky cholesky;
    Eigen::MatrixXd H = random_positive(random, 5);
    H(2, 2) = -1.0;
    CHECK_FALSE(cholesky.compute(H));
    H(2, 2) = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(cholesky.compute(H));
    H = Eigen::MatrixXd::Zero(3, 3);
    CHECK_FALSE(cholesky.compute(H));
}

}  // namespace
}  // namespace farfield
