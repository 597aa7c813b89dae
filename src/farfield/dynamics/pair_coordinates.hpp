// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The nine coordinates of a pair of bodies in which its energy is not flat, all of them lengths.
///
/// A pair's energy does not change when both bodies move along together, so (v_a + v_b) / sqrt 2 is in the null space of its Hessian and
/// ((v_a - v_b) / sqrt 2, arm w_a, arm w_b) hold the rest of the spectrum. The arm makes angles comparable to lengths.
#include <Eigen/Dense>
#include <cmath>
#include <numbers>

namespace farfield {

struct PairCoordinates {
    using Vector9d = Eigen::Matrix<double, 9, 1>;
    using Matrix9d = Eigen::Matrix<double, 9, 9>;
    double arm = 1.0;

    explicit PairCoordinates(const Eigen::Matrix<double, 12, 12>& h) {
        const double turning = h.block<3, 3>(3, 3).norm() + h.block<3, 3>(9, 9).norm();
        const double sliding = h.topLeftCorner<3, 3>().norm() + h.block<3, 3>(6, 6).norm();
        if (turning > 0.0 && sliding > 0.0) arm = std::sqrt(turning / sliding);
    }

    [[nodiscard]] Vector9d gradient(const Eigen::Matrix<double, 12, 1>& g) const {
        Vector9d out;
        out << std::numbers::sqrt2 * g.head<3>(), g.segment<3>(3) / arm, g.tail<3>() / arm;
        return out;
    }
    [[nodiscard]] Matrix9d hessian(const Eigen::Matrix<double, 12, 12>& h) const {
        Matrix9d m;
        m.topLeftCorner<3, 3>() = 2.0 * h.topLeftCorner<3, 3>();
        m.block<3, 3>(3, 0) = std::numbers::sqrt2 * h.block<3, 3>(3, 0) / arm;
        m.block<3, 3>(6, 0) = std::numbers::sqrt2 * h.block<3, 3>(9, 0) / arm;
        m.block<3, 3>(3, 3) = h.block<3, 3>(3, 3) / (arm * arm);
        m.block<3, 3>(6, 3) = h.block<3, 3>(9, 3) / (arm * arm);
        m.block<3, 3>(6, 6) = h.block<3, 3>(9, 9) / (arm * arm);
        m.topRightCorner<3, 6>() = m.bottomLeftCorner<6, 3>().transpose();
        m.block<3, 3>(3, 6) = m.block<3, 3>(6, 3).transpose();
        return m;
    }
};

}  // namespace farfield
