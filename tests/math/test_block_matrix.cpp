// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/block_matrix.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "farfield/base/random.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows of three groups that do not lie together; the last two are not connected.
const std::vector<int> kGroups = {0, 1, 0, 2, 1, 2, 0};

/// A random matrix of these blocks, its eigenvalues moved by `shift`.
BlockMatrix random_matrix(Random& random, double shift) {
    BlockMatrix matrix;
    matrix.set_zero(kGroups);
    for (int row = 0; row < 7; ++row) {
        for (int column = 0; column <= row; ++column) {
            const int a = kGroups[static_cast<std::size_t>(row)], b = kGroups[static_cast<std::size_t>(column)];
            if (a + b != 3) matrix.block(a, b)(row, column) += normal(random) + (row == column ? shift : 0.0);
        }
    }
    return matrix;
}

RightHandSides random_sides(Random& random, Eigen::Index columns) {
    return RightHandSides::NullaryExpr(7, columns, [&] { return normal(random); });
}

TEST_CASE("block matrix: factors of every kind solve, apply multiplies") {
    Random random(3);
    for (const double shift : {8.0, 0.0}) {
        BlockMatrix matrix = random_matrix(random, shift);
        const MatrixXd H = matrix.to_dense();
        CHECK(H == H.transpose());
        CHECK(H(3, 1) == 0.0);
        const RightHandSides b = random_sides(random, 4);
        const bool positive = matrix.factor();
        CHECK(positive == (shift > 0.0));
        if (!positive) matrix.factor_indefinite();
        RightHandSides x = b;
        matrix.solve(x);
        CHECK((H * x - b).norm() < 1e-11 * H.norm() * x.norm());
        VectorXd column = x.col(2), product;
        matrix.apply(column, product);
        CHECK((product - b.col(2)).norm() < 1e-11 * H.norm() * column.norm());
        const VectorXd places = column.cwiseAbs();
        matrix.apply_sizes(places, product);
        CHECK((product - H.cwiseAbs() * places).norm() < 1e-14 * H.norm() * places.norm());
        CHECK(matrix.diagonal() == H.diagonal());
    }
}

TEST_CASE("block matrix: a right-hand side has the same bits alone and among others") {
    Random random(4);
    for (const double shift : {8.0, 0.0}) {
        BlockMatrix matrix = random_matrix(random, shift);
        if (!matrix.factor()) matrix.factor_indefinite();
        const RightHandSides b = random_sides(random, 5);
        RightHandSides all = b;
        matrix.solve(all);
        for (Eigen::Index c = 0; c < b.cols(); ++c) {
            VectorXd one = b.col(c);
            matrix.solve(one);
            CHECK(one == VectorXd(all.col(c)));
        }
    }
}

TEST_CASE("block matrix: the factor of sizes descends where the matrix does not") {
    Random random(5);
    BlockMatrix matrix = random_matrix(random, 0.0);
    const VectorXd scales = VectorXd::LinSpaced(7, 0.3, 4.0);
    matrix.factor_absolute(1e-8, scales);
    CHECK(matrix.conditioning() < 0.0);
    for (int round = 0; round < 20; ++round) {
        const VectorXd g = normal_vector(random, 7);
        VectorXd x = g;
        matrix.solve(x);
        CHECK(g.dot(x) > 0.0);
    }
    BlockMatrix positive = random_matrix(random, 8.0);
    VectorXd x = normal_vector(random, 7), y = x;
    positive.factor_absolute(1e-8, scales);
    positive.solve(x);
    REQUIRE(positive.factor());
    positive.solve(y);
    CHECK((x - y).norm() < 1e-12 * y.norm());
}

TEST_CASE("block matrix: the factor of sizes is the same in other units") {
    Random random(8);
    const BlockMatrix matrix = random_matrix(random, 0.0);
    const VectorXd units =
        VectorXd::NullaryExpr(7, [](Eigen::Index k) { return std::exp2(2.0 * static_cast<double>(k) - 6.0); });
    const std::vector<int> groups(7, 0);
    BlockMatrix ours, theirs;
    ours.set_zero(groups);
    theirs.set_zero(groups);
    const MatrixXd H = matrix.to_dense();
    for (Eigen::Index r = 0; r < 7; ++r) {
        for (Eigen::Index c = 0; c <= r; ++c) {
            ours.block(0, 0)(r, c) = H(r, c);
            theirs.block(0, 0)(r, c) = H(r, c) * units[r] * units[c];
        }
    }
    const VectorXd scales = VectorXd::LinSpaced(7, 1.0, 4.0);
    ours.factor_absolute(1e-8, scales);
    theirs.factor_absolute(1e-8, scales.cwiseProduct(units).cwiseProduct(units));
    VectorXd x = normal_vector(random, 7), y = x.cwiseProduct(units);
    ours.solve(x);
    theirs.solve(y);
    CHECK(x == y.cwiseProduct(units));
}

TEST_CASE("block matrix: congruence and copies") {
    Random random(6);
    BlockMatrix matrix = random_matrix(random, 8.0), reduced, copy;
    const MatrixXd H = matrix.to_dense();
    const MatrixXd E = MatrixXd::NullaryExpr(7, 4, [&] { return normal(random); });
    matrix.congruence(E, reduced);
    CHECK((reduced.to_dense() - E.transpose() * H * E).norm() < 1e-12 * H.norm() * E.squaredNorm());
    copy.copy_entries(matrix);
    matrix.block(0, 0)(2, 0) += 1.0;
    CHECK(copy.to_dense() == H);
    VectorXd x = normal_vector(random, 7), product;
    matrix.apply(x, product);  // sees the change
    CHECK((product - H * x).norm() > 1e-3);
}

}  // namespace
}  // namespace farfield
