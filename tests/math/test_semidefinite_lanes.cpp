// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/semidefinite_lanes.hpp"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "farfield/base/random.hpp"

using namespace farfield;

namespace {

using Matrix9d = Eigen::Matrix<double, 9, 9>;
using Vector9d = Eigen::Matrix<double, 9, 1>;

Matrix9d random_matrix(Random& random) {
    Matrix9d m;
    for (double& entry : m.reshaped()) entry = normal(random);
    return m;
}

Matrix9d with_spectrum(Random& random, const Vector9d& values) {
    const Matrix9d axes = Eigen::HouseholderQR<Matrix9d>(random_matrix(random)).householderQ();
    const Matrix9d m = axes * values.asDiagonal() * axes.transpose();
    return 0.5 * (m + m.transpose());
}

void put(const Matrix9d& m, SymmetricChunk& chunk, std::size_t lane) {
    for (int j = 0; j < 9; ++j) {
        for (int i = j; i < 9; ++i) chunk.entry[i][j][lane] = m(i, j);
    }
}

Matrix9d take(const SymmetricChunk& chunk, std::size_t lane) {
    Matrix9d m;
    for (int j = 0; j < 9; ++j) {
        for (int i = j; i < 9; ++i) m(i, j) = m(j, i) = chunk.entry[i][j][lane];
    }
    return m;
}

Matrix9d nearest(const Matrix9d& m) {
    const Eigen::SelfAdjointEigenSolver<Matrix9d> solver(m);
    return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() * solver.eigenvectors().transpose();
}

/// Spectra of every kind: spread over many orders, repeated, clustered, of low rank, definite, and matrices without a rotation to find.
std::vector<Matrix9d> matrices() {
    Random random(5);
    std::vector<Matrix9d> all{Matrix9d::Zero(), Matrix9d::Identity(), -Matrix9d::Identity(), Matrix9d::Constant(-1.0)};
    for (int round = 0; round < 40; ++round) {
        const Matrix9d m = random_matrix(random);
        all.push_back(m + m.transpose());
        Vector9d values;
        for (double& value : values) value = normal(random);
        all.push_back(with_spectrum(random, values.cwiseSign()));
        all.push_back(with_spectrum(random, values.cwiseAbs()));
        all.push_back(with_spectrum(random, (values.array() * (-3.0 * values.array().abs()).exp()).matrix()));
        all.push_back(with_spectrum(random, Vector9d::Constant(-1.0) + 1e-14 * values));
        all.push_back(values * values.transpose() * (round % 2 == 0 ? 1.0 : -1.0));
        all.push_back(Matrix9d(values.asDiagonal()));
        Matrix9d blocks = all[all.size() - 7];
        blocks.bottomLeftCorner<6, 3>().setZero(), blocks.topRightCorner<3, 6>().setZero();
        all.push_back(blocks);
    }
    const std::size_t count = all.size();
    for (std::size_t k = 0; k < count; k += 7) all.push_back(1e-200 * all[k]), all.push_back(1e200 * all[k]);
    return all;
}

}  // namespace

TEST_CASE("semidefinite lanes: the nearest positive semi-definite matrix, whatever the spectrum") {
    double worst = 0.0;
    for (const Matrix9d& m : matrices()) {
        SymmetricChunk chunk{};
        put(m, chunk, 0);
        make_semidefinite(chunk, 1);
        const double size = m.cwiseAbs().maxCoeff();
        if (size == 0.0) {
            CHECK(take(chunk, 0).isZero(0.0));
            continue;
        }
        worst = std::max(worst, ((take(chunk, 0) - nearest(m)) / size).norm());
    }
    CHECK(worst < 2e-14);
    CHECK(worst > 0.0);
}

TEST_CASE(
    "semidefinite lanes: a matrix has the same bits alone and among others, and in units that are powers of two") {
    const std::vector<Matrix9d> all = matrices();
    for (std::size_t first = 0; first + kSemidefiniteLanes <= all.size(); first += kSemidefiniteLanes) {
        SymmetricChunk chunk{};
        for (std::size_t lane = 0; lane < kSemidefiniteLanes; ++lane) put(all[first + lane], chunk, lane);
        make_semidefinite(chunk, kSemidefiniteLanes);
        for (std::size_t lane = 0; lane < kSemidefiniteLanes; ++lane) {
            SymmetricChunk alone{}, other_units{};
            put(all[first + lane], alone, 0);
            put(0x1p-20 * all[first + lane], other_units, 3);
            make_semidefinite(alone, 1);
            make_semidefinite(other_units, 4);
            CHECK(take(alone, 0) == take(chunk, lane));
            CHECK(take(other_units, 3) == 0x1p-20 * take(chunk, lane));
        }
    }
}

TEST_CASE("semidefinite lanes: a positive definite matrix keeps its bits") {
    Random random(8);
    for (int round = 0; round < 20; ++round) {
        Vector9d values;
        for (double& value : values) value = 0.1 + uniform(random);
        const Matrix9d m = with_spectrum(random, values);
        SymmetricChunk chunk{};
        put(m, chunk, 0);
        make_semidefinite(chunk, 1);
        CHECK(take(chunk, 0) == m);
    }
}
