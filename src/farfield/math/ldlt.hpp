// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Small symmetric systems by a pivoted LDL^T. In one file, because the decomposition takes seconds to compile.
#include <Eigen/Core>

namespace farfield {

[[nodiscard]] Eigen::Vector3d solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Vector3d& right);
[[nodiscard]] Eigen::Vector4d solve_ldlt(const Eigen::Matrix4d& symmetric, const Eigen::Vector4d& right);
[[nodiscard]] Eigen::Matrix<double, 3, 12> solve_ldlt(const Eigen::Matrix3d& symmetric,
                                                      const Eigen::Matrix<double, 3, 12>& right);

}  // namespace farfield
