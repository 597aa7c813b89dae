// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Soft signed distance from a point cloud: value, gradient and Hessian, with a certified bound of what truncation left out.
///
/// Paper:     [SCM2025, Eqs. (8), (9)]
///            phi(p) = sum w_i n_i . (p - p_i),   w_i ~ exp(-|p - p_i|^2/eps);  with q_i = p_i - p, <.> the mean by w:
///            grad = <n> + (2/eps) Cov(phi_i, q_i)
///            Hess = (2/eps) (C + C^T) + (2/eps)^2 <(phi_i - phi)(q_i - <q>)(q_i - <q>)^T>,   C = Cov(n_i, q_i)
/// Points with |q_i|^2 beyond the nearest one's plus eps log(points/tolerance) are left out. Their weights sum to less than the tolerance
/// (that of the nearest point is 1), and each phi_i lies within +-|q_i|, so that value is off by at most
///     tolerance/(sum of kept weights) (farthest distance + |value|).
/// Queries are sorted into groups of eight that lie together, one in each lane.
#include <Eigen/Dense>

#include "farfield/geometry/point_cloud.hpp"

namespace farfield {

struct SoftDistanceAt {
    double value = 0.0;  ///< [m], negative inside
    Eigen::Vector3d gradient = Eigen::Vector3d::Zero();
    Eigen::Matrix3d hessian = Eigen::Matrix3d::Zero();  ///< [1/m]
    double error = 0.0;                                 ///< certified bound of what `value` lacks [m]
};

/// One row per query; what was not asked for is empty.
struct SoftDistances {
    Eigen::VectorXd value, error;
    PointRows gradient;
    Eigen::Matrix<double, Eigen::Dynamic, 9, Eigen::RowMajor> hessian;  ///< rows of the symmetric matrices
};

class SoftDistance {
 public:
    /// Throws when the cloud is not valid or the tolerance not in (0, 1).
    explicit SoftDistance(PointCloud cloud, double tolerance = 1e-12);

    /// `order`: 0 values, 1 gradients as well, 2 Hessians as well. Throws when a point is not finite.
    [[nodiscard]] SoftDistances evaluate(const PointRows& points, int order) const;

    [[nodiscard]] SoftDistanceAt value(const Eigen::Vector3d& p) const { return at(p, 0); }
    [[nodiscard]] SoftDistanceAt gradient(const Eigen::Vector3d& p) const { return at(p, 1); }
    [[nodiscard]] SoftDistanceAt hessian(const Eigen::Vector3d& p) const { return at(p, 2); }
    [[nodiscard]] const PointCloud& cloud() const { return cloud_; }

 private:
    [[nodiscard]] SoftDistanceAt at(const Eigen::Vector3d& p, int order) const;

    PointCloud cloud_;
    PointTree tree_;
    double tolerance_ = 0.0, reach_ = 0.0;  ///< reach [m^2]
};

}  // namespace farfield
