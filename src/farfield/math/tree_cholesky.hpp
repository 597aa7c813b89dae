// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Cholesky factor of a small symmetric matrix whose sparsity is that of a tree, found as it goes.
///
/// H = L^T D L with L unit lower triangular, eliminated from the last row to the first. With degrees of freedom numbered from the
/// root outwards this order makes no fill: entries of different branches stay exactly zero and are skipped, so a robot
/// without contact costs O(sum over dofs of depth^2). A full matrix costs what a dense factorisation costs.
#include <Eigen/Dense>

namespace farfield {

/// One right-hand side per column, those of one row side by side.
using RightHandSides = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class TreeCholesky {
 public:
    /// Factors the matrix whose lower triangle is given. False, and the factor is unusable, unless it is positive definite.
    [[nodiscard]] bool compute(const Eigen::MatrixXd& lower);
    /// x becomes H^-1 x. A column has the same bits alone and among others.
    void solve_in_place(Eigen::VectorXd& x) const;
    void solve_in_place(RightHandSides& x) const;
    /// Smallest over largest pivot; 1 for the empty matrix.
    [[nodiscard]] double pivot_ratio() const { return pivots_.size() ? pivots_.minCoeff() / pivots_.maxCoeff() : 1.0; }

 private:
    void solve_column(double* x) const;

    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows_;  // strict lower triangle: L
    Eigen::VectorXd pivots_;                                                       // D
};

}  // namespace farfield
