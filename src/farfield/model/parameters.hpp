// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Parameters: everything a rollout can be differentiated by, besides its initial state and controls.
///
/// A gradient by Parameters has the same layout, so it is a Parameters value too.
#include <Eigen/Dense>

#include "farfield/geometry/moments.hpp"

namespace farfield {

struct Parameters {
    Eigen::Matrix<double, Eigen::Dynamic, 10, Eigen::RowMajor> moments;       ///< per body, order of MomentVector
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> attachment;     ///< per body: position in the parent [m]
    Eigen::VectorXd kp, kd;                                                   ///< per actuator
    Eigen::VectorXd damping, armature, stiffness;                             ///< per degree of freedom
    Eigen::Vector3d gravity = Eigen::Vector3d::Zero();                        ///< [m/s^2]
    Eigen::VectorXd friction;                                                 ///< per body
    double contact_stiffness = 1.0;                                           ///< factor of all contact weights
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> hull_vertices;  ///< all hulls stacked, body frames [m]
};

}  // namespace farfield
