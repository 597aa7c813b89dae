// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/principal_axes.hpp"

#include <doctest/doctest.h>

#include <Eigen/SVD>

#include "farfield/base/random.hpp"

using namespace farfield;
using Eigen::Matrix3Xd;
using Eigen::Vector3d;

namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// Random points in a turned box of the given sizes, away from the origin.
Points box_points(Random& random, const Vector3d& size) {
    const Eigen::Matrix3d turn = random_rotation(random);
    const Vector3d centre = 0.3 * unit_vector(random);
    Points points(40, 3);
    for (Eigen::Index i = 0; i < points.rows(); ++i)
        points.row(i) = (turn * size.cwiseProduct(normal_vector(random, 3)) + centre).transpose();
    return points;
}

}  // namespace

TEST_CASE("principal axes: spread is that of a singular value decomposition, however thin the set") {
    Random random(1);
    for (const double thickness : {1.0, 0.3, 1e-3, 1e-6, 1e-9}) {
        for (int trial = 0; trial < 5; ++trial) {
            CAPTURE(thickness);
            const Points points = box_points(random, {1.0, 0.5, thickness});
            const Points centred = points.rowwise() - points.colwise().mean();
            const Vector3d expected = Eigen::JacobiSVD<Eigen::MatrixXd>(centred).singularValues().reverse();
            const Vector3d spread = principal_spread(points);
            CHECK((spread - expected).cwiseAbs().maxCoeff() < 1e-14 * expected[2]);
        }
    }
}

TEST_CASE("principal axes: rows are orthogonal, and a rotation of the points about their mean") {
    Random random(2);
    const Points points = box_points(random, {1.0, 0.5, 0.02});
    const Matrix3Xd turned = principal_coordinates(points);
    CHECK(turned.rowwise().mean().cwiseAbs().maxCoeff() < 1e-15);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < i; ++j) {
            const double product = turned.row(i).norm() * turned.row(j).norm();
            CHECK(std::abs(turned.row(i).dot(turned.row(j))) < 1e-12 * product);
        }
    }
    for (Eigen::Index i = 1; i < points.rows(); ++i) {
        const double distance = (points.row(i) - points.row(0)).norm();
        CHECK((turned.col(i) - turned.col(0)).norm() == doctest::Approx(distance).epsilon(1e-14));
    }
}

TEST_CASE("principal axes: flat below 1e-9 of the spread") {
    Random random(3);
    CHECK_FALSE(is_flat(box_points(random, {1.0, 1.0, 1e-8})));
    CHECK(is_flat(box_points(random, {1.0, 1.0, 1e-10})));
    CHECK(is_flat(box_points(random, {1.0, 0.0, 0.0})));
    Points square(4, 3);
    square << 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1;
    CHECK(is_flat(square));
    CHECK(is_flat(Points::Ones(1, 3)));
}
