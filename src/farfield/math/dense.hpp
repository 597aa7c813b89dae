// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Decompositions and products of dense matrices. In one file, because each of them takes seconds to compile.
#include <Eigen/Core>

namespace farfield {

/// A pivoted LDL^T.
[[nodiscard]] Eigen::Vector3d solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Vector3d& right);
[[nodiscard]] Eigen::Vector4d solve_ldlt(const Eigen::Matrix4d& symmetric, const Eigen::Vector4d& right);
[[nodiscard]] Eigen::Matrix<double, 3, 12> solve_ldlt(const Eigen::Matrix3d& symmetric,
                                                      const Eigen::Matrix<double, 3, 12>& right);

/// Values ascending, one column of `vectors` for each. Of the matrix given, the lower triangle is read.
template <int N>
struct SymmetricEigen {
    Eigen::Matrix<double, N, 1> values;
    Eigen::Matrix<double, N, N> vectors;
};
/// N: 3, 9 or Eigen::Dynamic.
template <int N>
[[nodiscard]] SymmetricEigen<N> symmetric_eigen(const Eigen::Matrix<double, N, N>& symmetric);
extern template SymmetricEigen<3> symmetric_eigen(const Eigen::Matrix3d&);
extern template SymmetricEigen<9> symmetric_eigen(const Eigen::Matrix<double, 9, 9>&);
extern template SymmetricEigen<Eigen::Dynamic> symmetric_eigen(const Eigen::MatrixXd&);

/// Of a positive semidefinite matrix; eigenvalues up to `floor` times the largest count as none.
[[nodiscard]] Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& symmetric, double floor);

/// L L^T of a positive definite matrix.
class DenseCholesky {
 public:
    explicit DenseCholesky(const Eigen::MatrixXd& symmetric);
    [[nodiscard]] bool positive() const { return positive_; }
    [[nodiscard]] Eigen::MatrixXd solve(const Eigen::MatrixXd& right) const;

 private:
    Eigen::MatrixXd lower_;
    bool positive_ = false;
};

[[nodiscard]] Eigen::MatrixXd product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// E^T M E.
[[nodiscard]] Eigen::MatrixXd congruence(const Eigen::MatrixXd& E, const Eigen::MatrixXd& M);

}  // namespace farfield
