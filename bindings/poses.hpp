// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Poses as rows of numbers: position, then quaternion (w, x, y, z).
#include "farfield/math/pose.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::python {

using PoseRows = Eigen::Matrix<double, Eigen::Dynamic, 7, Eigen::RowMajor>;

inline PoseRows pose_rows(const Poses& poses) {
    PoseRows out(static_cast<Eigen::Index>(poses.size()), 7);
    for (std::size_t i = 0; i < poses.size(); ++i) {
        out.row(static_cast<Eigen::Index>(i)) << poses[i].position.transpose(),
            quaternion_from_rotation(poses[i].rotation).transpose();
    }
    return out;
}

}  // namespace farfield::python
