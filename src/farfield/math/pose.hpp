// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Rigid placement in the world, and the 6-vectors that go with it.
///
/// A Vector6 is always (linear; angular) in world axes, taken at the body's origin: as a twist (v, w) it moves a point
/// by x -> p + v + exp(w)(x - p); as a wrench (F, tau) it is the derivative of an energy by that twist.
#include <Eigen/Dense>
#include <vector>

namespace farfield {

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

struct Pose {
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
    Eigen::Vector3d position = Eigen::Vector3d::Zero();

    [[nodiscard]] Eigen::Vector3d operator*(const Eigen::Vector3d& local) const { return rotation * local + position; }
    [[nodiscard]] Pose operator*(const Pose& child) const {
        return {rotation * child.rotation, rotation * child.position + position};
    }
    [[nodiscard]] Pose inverse() const { return {rotation.transpose(), -(rotation.transpose() * position)}; }
};

using Poses = std::vector<Pose>;  ///< one per body, body 0 = world

}  // namespace farfield
