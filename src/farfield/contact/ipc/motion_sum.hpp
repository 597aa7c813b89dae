// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Sum of terms seen from body A alone, and its way to the charts of both bodies.
///
/// A moves by a twist (v, w) about a point o while B is held. Moving both alike changes nothing, so to first order the two twists u_a, u_b
/// about the bodies' origins o + s_a, o + s_b act as the twist W (u_a, u_b) of A alone,
///     W = [T_a, -T_b],   T = [[1, [s]x], [0, 1]],   (v', w) = T u,
/// and to second order, with the gradient (F, tau), the energy also has
///     F.(w_b x (v_b' - v_a')) + tau.(w_a x w_b)/2 + F.(w_b x (w_b x s_b) - w_a x (w_a x s_a))/2
#include <Eigen/Dense>

#include "farfield/contact/contact_potential.hpp"

namespace farfield::contact::ipc {

struct MotionSum {
    double value = 0.0;
    Vector6d gradient = Vector6d::Zero();  ///< (F, tau)
    Matrix6d hessian = Matrix6d::Zero();

    /// To other axes.
    void turn(const Eigen::Matrix3d& rotation);
};

using Vector12d = Eigen::Matrix<double, 12, 1>;
using Matrix12d = Eigen::Matrix<double, 12, 12>;

/// Adds weight times the sum to what belongs to a pair of bodies. s_a, s_b: origins of A and B relative to o.
/// `a_first`: A is the first body of the pair.
void add_to_pair(const MotionSum& sum, const Eigen::Vector3d& s_a, const Eigen::Vector3d& s_b, bool a_first,
                 double weight, Vector12d& gradient, Matrix12d& hessian);

}  // namespace farfield::contact::ipc
