// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A symmetric matrix of blocks, and linear systems with it.
///
/// Rows are sorted into groups (the degrees of freedom of one tree); a block holds the entries between two groups. An entry is only ever
/// reached through its block, so that blocks nobody asks for need not exist.
/// Storage:   dense for now, which no caller sees.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/math/tree_cholesky.hpp"

namespace farfield {

class BlockMatrix {
 public:
    /// The entries between two groups, addressed by row and column of the whole matrix, row >= column.
    class Block {
     public:
        double& operator()(Eigen::Index row, Eigen::Index column) const {
            FARFIELD_ASSERT(row >= column && matrix_->connects(a_, b_, row, column));
            return matrix_->lower_(row, column);
        }

     private:
        friend class BlockMatrix;
        Block(BlockMatrix& matrix, int a, int b) : matrix_(&matrix), a_(a), b_(b) {}
        BlockMatrix* matrix_;
        [[maybe_unused]] int a_, b_;
    };

    /// Zero, with one row per entry of `groups`: the group it belongs to.
    void set_zero(std::span<const int> groups);
    /// The entries of another matrix, without its factor.
    void copy_entries(const BlockMatrix& other);
    /// Changing entries makes factors and products of before useless.
    [[nodiscard]] Block block(int a, int b) {
        complete_ = false;
        return {*this, a, b};
    }

    [[nodiscard]] Eigen::Index size() const { return lower_.rows(); }
    [[nodiscard]] auto diagonal() const { return lower_.diagonal(); }
    [[nodiscard]] Eigen::MatrixXd to_dense() const { return lower_.selfadjointView<Eigen::Lower>(); }

    /// out = H x.
    void apply(const Eigen::VectorXd& x, Eigen::VectorXd& out);
    /// out = |H| x, |H| the sizes of the entries.
    void apply_sizes(const Eigen::VectorXd& x, Eigen::VectorXd& out) const;
    /// out = E^T H E, a single group.
    void congruence(const Eigen::MatrixXd& E, BlockMatrix& out);

    /// Cholesky. False, and no system can be solved, unless the matrix is positive definite.
    [[nodiscard]] bool factor();
    /// LU with pivoting, for matrices that are not.
    void factor_indefinite();
    /// Every eigenvalue by its size, at least `floor` times the largest: positive definite, whatever the matrix is. Eigenvalues are those of
    /// S H S, S = diag(scales)^-1/2: the same factor in any units when the scales, all positive, have those of the diagonal.
    void factor_absolute(double floor, const Eigen::VectorXd& scales);
    /// After factor: smallest over largest pivot. After factor_absolute: smallest eigenvalue over the largest size of one.
    [[nodiscard]] double conditioning() const { return conditioning_; }

    /// x becomes H^-1 x for the factor computed last; one right-hand side per column. A column has the same bits alone and among others.
    void solve(Eigen::VectorXd& x) const;
    void solve(RightHandSides& x) const;

 private:
    enum class Factor { None, Cholesky, Lu, Absolute };

    [[nodiscard]] bool connects(int a, int b, Eigen::Index row, Eigen::Index column) const;
    const Eigen::MatrixXd& complete();  ///< both triangles

    std::vector<int> groups_;
    Eigen::MatrixXd lower_;  ///< lower triangle
    Eigen::MatrixXd full_, product_;
    bool complete_ = false;  ///< full_ belongs to lower_
    Factor factor_ = Factor::None;
    double conditioning_ = 1.0;
    TreeCholesky cholesky_;
    Eigen::PartialPivLU<Eigen::MatrixXd> lu_;
    Eigen::MatrixXd vectors_;  ///< S times the eigenvectors
    Eigen::VectorXd inverse_;  ///< of the sizes of the eigenvalues
};

}  // namespace farfield
