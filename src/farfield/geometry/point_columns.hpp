// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Points, or balls about them, as columns, so that supports take a few per instruction.
#include <Eigen/Dense>

namespace farfield {

struct PointColumns {
    const double* x = nullptr;
    const double* y = nullptr;
    const double* z = nullptr;
    int size = 0;
    const double* radius = nullptr;  ///< of the balls; null: points

    [[nodiscard]] Eigen::Vector3d point(int i) const { return {x[i], y[i], z[i]}; }
    [[nodiscard]] double radius_of(int i) const { return radius ? radius[i] : 0.0; }
    /// The point of ball i that is farthest along the unit vector n.
    [[nodiscard]] Eigen::Vector3d extreme(int i, const Eigen::Vector3d& n) const {
        return radius ? Eigen::Vector3d(point(i) + radius[i] * n) : point(i);
    }
    /// Largest n . p + radius, n a unit vector where there are radii.
    [[nodiscard]] double support(const Eigen::Vector3d& n) const;
    /// The same, naming the first point that attains it. The same bits with any vector length.
    [[nodiscard]] double support(const Eigen::Vector3d& n, int& index) const;
};

}  // namespace farfield
