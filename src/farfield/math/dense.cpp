// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/dense.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace farfield {

using Eigen::MatrixXd;

Eigen::Vector3d solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Vector3d& right) {
    return symmetric.ldlt().solve(right);
}

Eigen::Vector4d solve_ldlt(const Eigen::Matrix4d& symmetric, const Eigen::Vector4d& right) {
    return symmetric.ldlt().solve(right);
}

Eigen::Matrix<double, 3, 12> solve_ldlt(const Eigen::Matrix3d& symmetric, const Eigen::Matrix<double, 3, 12>& right) {
    return symmetric.ldlt().solve(right);
}

template <int N>
SymmetricEigen<N> symmetric_eigen(const Eigen::Matrix<double, N, N>& symmetric) {
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, N, N>> solver(symmetric);
    return {solver.eigenvalues(), solver.eigenvectors()};
}
template SymmetricEigen<3> symmetric_eigen(const Eigen::Matrix3d&);
template SymmetricEigen<9> symmetric_eigen(const Eigen::Matrix<double, 9, 9>&);
template SymmetricEigen<Eigen::Dynamic> symmetric_eigen(const MatrixXd&);

MatrixXd pseudo_inverse(const MatrixXd& symmetric, double floor) {
    const auto [values, vectors] = symmetric_eigen<Eigen::Dynamic>(0.5 * (symmetric + symmetric.transpose()));
    const double least = floor * values.cwiseAbs().maxCoeff();
    const Eigen::VectorXd inverse = values.unaryExpr([&](double x) { return x > least ? 1.0 / x : 0.0; });
    return vectors * inverse.asDiagonal() * vectors.transpose();
}

DenseCholesky::DenseCholesky(const MatrixXd& symmetric) {
    const Eigen::LLT<MatrixXd> factor(symmetric);
    positive_ = factor.info() == Eigen::Success;
    lower_ = factor.matrixL();
}

MatrixXd DenseCholesky::solve(const MatrixXd& right) const {
    MatrixXd x = lower_.triangularView<Eigen::Lower>().solve(right);
    lower_.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
    return x;
}

MatrixXd product(const MatrixXd& a, const MatrixXd& b) { return a * b; }

MatrixXd congruence(const MatrixXd& E, const MatrixXd& M) { return E.transpose() * M * E; }

}  // namespace farfield
