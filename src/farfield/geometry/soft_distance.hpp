// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Soft signed distance from a point cloud: value, gradient and Hessian, with a certified bound of what truncation left out.
///
/// Paper:     [SCM2025, Eqs. (8), (9)]
///            phi(p) = sum w_i n_i . (p - p_i),   w_i ~ exp(-|p - p_i|^2/eps);  with q_i = p_i - p, <.> the mean by w:
///            grad = <n> + (2/eps) Cov(phi_i, q_i)
///            Hess = (2/eps) (C + C^T) + (2/eps)^2 <(phi_i - phi)(q_i - <q>)(q_i - <q>)^T>,   C = Cov(n_i, q_i)
/// Points with |q_i|^2 beyond the nearest one's plus eps log(points/tolerance) are left out. Their weights sum to less than the share eta
/// that the kept ones certify, and each phi_i lies within +-|q_i|, so that value is off by at most eta times the farthest distance.
#include <Eigen/Dense>
#include <span>

#include "farfield/geometry/point_cloud.hpp"

namespace farfield {

struct SoftDistanceAt {
    double value = 0.0;  ///< [m], negative inside
    Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
    Eigen::Matrix3d hessian = Eigen::Matrix3d::Zero();  ///< [1/m]
    double error = 0.0;                                 ///< certified bound of what `value` lacks [m]
};

class SoftDistance {
 public:
    /// Throws when the cloud is not valid or the tolerance not in (0, 1).
    explicit SoftDistance(PointCloud cloud, double tolerance = 1e-12);

    [[nodiscard]] SoftDistanceAt value(const Eigen::Vector3d& p) const { return evaluate(p, 0); }
    [[nodiscard]] SoftDistanceAt gradient(const Eigen::Vector3d& p) const { return evaluate(p, 1); }
    [[nodiscard]] SoftDistanceAt hessian(const Eigen::Vector3d& p) const { return evaluate(p, 2); }
    [[nodiscard]] const PointCloud& cloud() const { return cloud_; }

 private:
    [[nodiscard]] SoftDistanceAt evaluate(const Eigen::Vector3d& p, int order) const;

    PointCloud cloud_;
    PointTree tree_;
    double reach_ = 0.0;  ///< [m^2]
};

}  // namespace farfield
