// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Cholesky factor of a symmetric positive definite 4x4 matrix: that of a plane's four numbers.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace farfield::contact::polyhedral {

class Cholesky4 {
 public:
    /// Of h + shift trace(h). Pivots that rounding makes negative count as zero before the shift.
    Cholesky4(const Eigen::Matrix4d& h, double shift) {
        const double added = shift * h.trace();
        for (int j = 0; j < 4; ++j) {
            double pivot = h(j, j);
            for (int k = 0; k < j; ++k) pivot -= l_[j][k] * l_[j][k];
            inverse_[j] = 1.0 / std::sqrt(std::max(pivot, 0.0) + added);
            for (int i = j + 1; i < 4; ++i) {
                double sum = h(i, j);
                for (int k = 0; k < j; ++k) sum -= l_[i][k] * l_[j][k];
                l_[i][j] = sum * inverse_[j];
            }
        }
    }

    /// L^-1 x for every column.
    template <int Columns>
    void forward(Eigen::Matrix<double, 4, Columns>& x) const {
        for (int i = 0; i < 4; ++i) {
            for (int k = 0; k < i; ++k) x.row(i) -= l_[i][k] * x.row(k);
            x.row(i) *= inverse_[i];
        }
    }

    [[nodiscard]] Eigen::Vector4d solve(const Eigen::Vector4d& right) const {
        Eigen::Vector4d x = right;
        forward<1>(x);
        for (int i = 3; i >= 0; --i) {
            for (int k = i + 1; k < 4; ++k) x[i] -= l_[k][i] * x[k];
            x[i] *= inverse_[i];
        }
        return x;
    }

 private:
    double l_[4][4] = {};
    double inverse_[4] = {};
};

}  // namespace farfield::contact::polyhedral
