// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/block_matrix.hpp"

#include <cmath>

#include "farfield/math/dense.hpp"

namespace farfield {

using Eigen::VectorXd;

void BlockMatrix::set_zero(std::span<const int> groups) {
    groups_.assign(groups.begin(), groups.end());
    const auto n = static_cast<Eigen::Index>(groups.size());
    lower_.setZero(n, n);
    complete_ = false;
    factor_ = Factor::None;
}

void BlockMatrix::copy_entries(const BlockMatrix& other) {
    groups_ = other.groups_;
    lower_ = other.lower_;
    complete_ = false;
    factor_ = Factor::None;
}

bool BlockMatrix::connects(int a, int b, Eigen::Index row, Eigen::Index column) const {
    const int r = groups_[static_cast<std::size_t>(row)], c = groups_[static_cast<std::size_t>(column)];
    return (r == a && c == b) || (r == b && c == a);
}

const Eigen::MatrixXd& BlockMatrix::complete() {
    if (!complete_) full_ = lower_.selfadjointView<Eigen::Lower>();
    complete_ = true;
    return full_;
}

void BlockMatrix::apply(const VectorXd& x, VectorXd& out) { out.noalias() = complete() * x; }

void BlockMatrix::apply_sizes(const VectorXd& x, VectorXd& out) const {
    out = lower_.diagonal().cwiseAbs().cwiseProduct(x);
    for (Eigen::Index c = 0; c < size(); ++c) {
        for (Eigen::Index r = c + 1; r < size(); ++r) {
            const double entry = std::abs(lower_(r, c));
            out[r] += entry * x[c];
            out[c] += entry * x[r];
        }
    }
}

void BlockMatrix::congruence(const Eigen::MatrixXd& E, BlockMatrix& out) {
    product_.noalias() = E.transpose() * complete();
    out.groups_.assign(static_cast<std::size_t>(E.cols()), 0);
    out.lower_.noalias() = product_ * E;
    out.complete_ = false;
    out.factor_ = Factor::None;
}

bool BlockMatrix::factor() {
    const bool positive = cholesky_.compute(lower_);
    factor_ = positive ? Factor::Cholesky : Factor::None;
    if (positive) conditioning_ = cholesky_.pivot_ratio();
    return positive;
}

void BlockMatrix::factor_indefinite() {
    lu_.compute(complete());
    factor_ = Factor::Lu;
}

void BlockMatrix::factor_absolute(double floor, const VectorXd& scales) {
    const VectorXd shrink =
        (scales / scales[0]).cwiseSqrt().cwiseInverse();  // of ratios: the root of 2 has no exact value
    const auto [values, vectors] =
        symmetric_eigen<Eigen::Dynamic>(shrink.asDiagonal() * complete() * shrink.asDiagonal());
    const VectorXd size = values.cwiseAbs();
    conditioning_ = values.minCoeff() / size.maxCoeff();
    inverse_ = size.cwiseMax(floor * size.maxCoeff()).cwiseInverse();
    vectors_.noalias() = shrink.asDiagonal() * vectors;
    factor_ = Factor::Absolute;
}

void BlockMatrix::solve(VectorXd& x) const {
    FARFIELD_ASSERT(factor_ != Factor::None);
    if (factor_ == Factor::Cholesky) {
        cholesky_.solve_in_place(x);
    } else if (factor_ == Factor::Lu) {
        x = lu_.solve(x).eval();
    } else {
        x = (vectors_ * inverse_.asDiagonal() * (vectors_.transpose() * x)).eval();
    }
}

void BlockMatrix::solve(RightHandSides& x) const {
    FARFIELD_ASSERT(factor_ != Factor::None);
    if (factor_ == Factor::Cholesky) {
        cholesky_.solve_in_place(x);
        return;
    }
    VectorXd column;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
        column = x.col(c);
        solve(column);
        x.col(c) = column;
    }
}

}  // namespace farfield
