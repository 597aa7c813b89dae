// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Points as three columns, so that supports take a few points per instruction.
#include <Eigen/Dense>

namespace farfield {

struct PointColumns {
    const double* x = nullptr;
    const double* y = nullptr;
    const double* z = nullptr;
    int size = 0;

    [[nodiscard]] Eigen::Vector3d point(int i) const { return {x[i], y[i], z[i]}; }
    /// Largest n . p.
    [[nodiscard]] double support(const Eigen::Vector3d& n) const;
    /// The same, naming the first point that attains it. The same bits with any vector length.
    [[nodiscard]] double support(const Eigen::Vector3d& n, int& index) const;
};

}  // namespace farfield
