// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/ldlt.hpp"

#include <Eigen/Cholesky>

namespace farfield {

Eigen::Vector3d solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Vector3d& right) {
    return symmetric.ldlt().solve(right);
}

Eigen::Vector4d solve_ldlt(const Eigen::Matrix4d& symmetric, const Eigen::Vector4d& right) {
    return symmetric.ldlt().solve(right);
}

Eigen::Matrix<double, 3, 12> solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Matrix<double, 3, 12>& right) {
    return symmetric.ldlt().solve(right);
}

}  // namespace farfield
