// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Soft collision detection: the whole separation field of a pair, and support points of the patch in contact.
///
/// Paper:     [SCM2025, Sec. III-B.3]
#include <Eigen/Dense>

#include "farfield/contact/softmin/softmin.hpp"

namespace farfield::contact::softmin {

/// Every query of both bodies against the surfaces of the other, in the world. Weights sum to one; loads are weights times
/// eps3 softplus(-phi/eps3), what a unit of stiffness presses there [m].
struct Separation {
    double soft = 0.0, least = 0.0;  ///< soft and least separation [m]
    PointRows points, normals;       ///< normals point away from the surface asked
    Eigen::VectorXd phi, weights, loads;
    Eigen::VectorXi body;                                  ///< that each query belongs to
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();      ///< of pressure: mean of points by load [m]
    Eigen::Matrix3d covariance = Eigen::Matrix3d::Zero();  ///< of points by load [m^2]
    double spacing = 0.0;                                  ///< of the finer cloud [m]
};

/// Of the pair at `index` of law.pairs(), nothing left out.
[[nodiscard]] Separation separation(const Softmin& law, std::size_t index, const Poses& poses);

/// `count` points around the patch in contact, (count, 3), without iteration: means of points by load exp(u_k . x/(spacing/4)) over
/// directions u_k in the plane of the patch, between its principal axes.
[[nodiscard]] PointRows support_points(const Separation& field, int count);

}  // namespace farfield::contact::softmin
