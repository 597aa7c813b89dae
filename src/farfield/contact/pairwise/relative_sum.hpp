// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Derivatives of an energy that depends on the relative pose of two bodies, in 28 numbers, and their way to 12 x 12.
///
/// Body A moves in the chart about a common point o, x - o -> v + exp(w)(x - o), body B is frozen. Since a joint rigid motion
/// leaves the energy alone, E_A(v, w) = E_B(-exp(-w) v, -w), and everything else follows from (F, tau) and H = H_AA:
///     g_B  = -g_A
///     H_BB = H + [[0, [F]x], [[F]x^T, 0]]
///     H_AB = -H - [[0, [F]x], [0, [tau]x / 2]]
/// The chart about a body origin p = o + s has v_o = v + s - exp(w) s, hence with T = [[1, [s]x], [0, 1]]
///     g_p = T^T g,   H_p = T^T H T + diag(0, (F.s) 1 - (F s^T + s F^T)/2)   (the last term only for the body's own block).
#include <Eigen/Dense>

#include "farfield/contact/pairwise/pair_vectors.hpp"

namespace farfield::contact {

struct RelativeSum {
    double value = 0.0;
    Vector6d gradient = Vector6d::Zero();  ///< (F, tau) on A about o
    Matrix6d hessian = Matrix6d::Zero();   ///< only the lower triangle is read

    void clear() { *this = RelativeSum{}; }
    /// To other axes.
    void turn(const Eigen::Matrix3d& rotation);
};

/// hessian += factor u u^T, lower triangle.
void add_rank_one(const Vector6d& u, double factor, Matrix6d& hessian);

/// hessian += factor (u w^T + w u^T), lower triangle.
void add_symmetric_product(const Vector6d& u, const Vector6d& w, double factor, Matrix6d& hessian);

/// What the curvature of exp(w) adds for a force (an energy derivative) at an arm from o: sym(f arm^T) - (f.arm) 1 in the ww block.
void add_rotation_terms(const Eigen::Vector3d& force, const Eigen::Vector3d& arm, Matrix6d& hessian);

/// The derivatives in the charts of both bodies. s_a, s_b: body origins relative to o.
struct PairDerivatives {
    Vector12d gradient;
    Matrix12d hessian;
};
[[nodiscard]] PairDerivatives to_body_charts(const RelativeSum& sum, const Eigen::Vector3d& s_a,
                                             const Eigen::Vector3d& s_b);

}  // namespace farfield::contact
