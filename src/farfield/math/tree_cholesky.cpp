// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/tree_cholesky.hpp"

namespace farfield {

bool TreeCholesky::compute(const Eigen::MatrixXd& lower) {
    const Eigen::Index n = lower.rows();
    rows_.resize(n, n);
    pivots_.resize(n);
    for (Eigen::Index j = 0; j < n; ++j) {
        for (Eigen::Index i = j; i < n; ++i) rows_(i, j) = lower(i, j);
    }
    for (Eigen::Index k = n - 1; k >= 0; --k) {
        double* const row = rows_.data() + k * n;
        const double pivot = row[k];
        if (!(pivot > 0.0)) return false;  // also when it is NaN
        pivots_[k] = pivot;
        const double inverse = 1.0 / pivot;
        for (Eigen::Index i = 0; i < k; ++i) {
            if (row[i] == 0.0) continue;  // another branch
            const double factor = row[i] * inverse;
            double* const target = rows_.data() + i * n;
            for (Eigen::Index j = 0; j <= i; ++j) target[j] -= factor * row[j];
        }
        for (Eigen::Index j = 0; j < k; ++j) row[j] *= inverse;
    }
    return true;
}

void TreeCholesky::solve_in_place(Eigen::VectorXd& x) const { solve_column(x.data()); }

void TreeCholesky::solve_column(double* x) const {
    const Eigen::Index n = pivots_.size();
    for (Eigen::Index k = n - 1; k >= 0; --k) {  // L^T y = x
        const double* const row = rows_.data() + k * n;
        for (Eigen::Index j = 0; j < k; ++j) x[j] -= row[j] * x[k];
    }
    for (Eigen::Index k = 0; k < n; ++k) {  // L z = D^-1 y
        const double* const row = rows_.data() + k * n;
        double sum = x[k] / pivots_[k];
        for (Eigen::Index j = 0; j < k; ++j) sum -= row[j] * x[j];
        x[k] = sum;
    }
}

void TreeCholesky::solve_in_place(RightHandSides& x) const {
    const Eigen::Index n = pivots_.size(), columns = x.cols();
    if (columns == 1) return solve_column(x.data());
    const auto subtract = [columns](double factor, const double* from, double* to) {
        for (Eigen::Index c = 0; c < columns; ++c) to[c] -= factor * from[c];
    };
    for (Eigen::Index k = n - 1; k >= 0; --k) {
        const double* const row = rows_.data() + k * n;
        const double* const from = x.data() + k * columns;
        for (Eigen::Index j = 0; j < k; ++j) {
            if (row[j] != 0.0) subtract(row[j], from, x.data() + j * columns);
        }
    }
    for (Eigen::Index k = 0; k < n; ++k) {
        const double* const row = rows_.data() + k * n;
        double* const to = x.data() + k * columns;
        for (Eigen::Index c = 0; c < columns; ++c) to[c] /= pivots_[k];
        for (Eigen::Index j = 0; j < k; ++j) {
            if (row[j] != 0.0) subtract(row[j], x.data() + j * columns, to);
        }
    }
}

}  // namespace farfield
