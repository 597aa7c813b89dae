// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/principal_axes.hpp"

#include <algorithm>
#include <cmath>

namespace farfield {

namespace {

constexpr int kMaxSweeps = 30;         // convergence is quadratic; a handful is usual
constexpr double kOrthogonal = 1e-12;  // of the product of two rows' norms

/// Turns rows i and j against each other until they are orthogonal; returns whether they were not.
bool make_orthogonal(Eigen::Matrix3Xd& rows, int i, int j) {
    const double ii = rows.row(i).squaredNorm(), jj = rows.row(j).squaredNorm(), ij = rows.row(i).dot(rows.row(j));
    if (!(std::abs(ij) > kOrthogonal * std::sqrt(ii * jj))) return false;
    // tan of the rotation is the smaller root of t^2 + 2 z t - 1 = 0, z = (jj - ii) / (2 ij)
    const double z = 0.5 * (jj - ii) / ij, t = std::copysign(1.0, z) / (std::abs(z) + std::hypot(1.0, z));
    const double c = 1.0 / std::hypot(1.0, t), s = c * t;
    for (Eigen::Index k = 0; k < rows.cols(); ++k) {
        const double x = rows(i, k), y = rows(j, k);
        rows(i, k) = c * x - s * y;
        rows(j, k) = s * x + c * y;
    }
    return true;
}

}  // namespace

Eigen::Matrix3Xd principal_coordinates(const PointRowsRef& points) {
    const Eigen::RowVector3d mean = points.colwise().mean();
    Eigen::Matrix3Xd rows = (points.rowwise() - mean).transpose();
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        const bool first = make_orthogonal(rows, 0, 1), second = make_orthogonal(rows, 0, 2);
        if (const bool third = make_orthogonal(rows, 1, 2); !first && !second && !third) break;
    }
    return rows;
}

Eigen::Vector3d principal_spread(const PointRowsRef& points) {
    Eigen::Vector3d spread = principal_coordinates(points).rowwise().norm();
    std::sort(spread.data(), spread.data() + 3);
    return spread;
}

bool is_flat(const PointRowsRef& points) {
    const Eigen::Vector3d spread = principal_spread(points);
    return !(spread[0] > 1e-9 * spread[2]);
}

}  // namespace farfield
