// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/contact_terms.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

using Block = Eigen::Matrix<double, 12, 12>;

/// In the coordinates (v, arm w) in which the norms of the diagonal blocks of both kinds are equal.
Block nearest_positive(const Block& matrix, double& smallest) {
    const auto size = [&](int row) { return matrix.block<3, 3>(row, row).norm(); };
    const double arm = std::sqrt((size(3) + size(9)) / (size(0) + size(6)));
    Eigen::Matrix<double, 12, 1> units = Eigen::Matrix<double, 12, 1>::Ones();
    units.segment<3>(3).setConstant(arm);
    units.tail<3>().setConstant(arm);
    const Eigen::SelfAdjointEigenSolver<Block> solver(units.cwiseInverse().asDiagonal() * matrix *
                                                      units.cwiseInverse().asDiagonal());
    smallest = solver.eigenvalues()[0] / solver.eigenvalues().cwiseAbs().maxCoeff();
    return units.asDiagonal() * solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
           solver.eigenvectors().transpose() * units.asDiagonal();
}

}  // namespace

TEST_CASE("contact terms: blocks become the nearest positive semi-definite matrix") {
    Random random(31);
    double worst = 0.0;
    int indefinite = 0, of_the_world = 0;
    for (int round = 0; round < 60; ++round) {
        const auto scene = random_scene(random, round % 2 == 0, 0.3);
        const contact::longrange::LongRange model(scene.geometry, {});
        Parameters parameters;
        parameters.contact_stiffness = 1e-3;
        parameters.friction = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(scene.poses.size()), 0.5);
        const auto memory = model.make_memory();
        contact::ContactLinearization d;
        model.begin_step(scene.poses, 0.01, parameters, *memory)
            .linearize(moved(scene.poses, 1e-4 * normal_vector(random, 6 * parameters.friction.size())), d);
        contact::ContactLinearization projected = d;
        project_blocks(projected);
        for (std::size_t k = 0; k < d.blocks.size(); ++k) {
            const auto &before = d.blocks[k].hessian, &after = projected.blocks[k].hessian;
            double smallest = 0.0;
            worst = std::max(worst, (after - nearest_positive(before, smallest)).norm() / before.norm());
            of_the_world += d.blocks[k].a == 0;
            indefinite += smallest < -1e-9;
            CHECK((after - after.transpose()).norm() <= 1e-15 * before.norm());
        }
    }
    CHECK(worst < 1e-11);
    CHECK(indefinite > 20);
    CHECK(of_the_world > 10);
    MESSAGE("worst error " << worst << " of " << indefinite << " indefinite blocks");
}
