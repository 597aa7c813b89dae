// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What a constraint asks of two bodies or of coordinates, to second order.
///
///     connect    c = x_a - x_b,                       x = p + R anchor
///     weld       c = (x_a - x_b, 1/2 sum_k a_k x b_k), a_k, b_k the axes of R_a Q and R_b: zero where they agree, |.| = sin(angle)
///     coupling   c = l(terms) - reference - p(l(source) - source_reference)
/// Derivatives of the first two are by the body twists (v_a, w_a, v_b, w_b) of x -> o + v + exp(w)(x - o), o the body origin.
#include <Eigen/Dense>

#include "farfield/model/kinematics.hpp"

namespace farfield {

inline constexpr int kMostRows = 6;
using ConstraintValue = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostRows, 1>;
using ConstraintJacobian = Eigen::Matrix<double, Eigen::Dynamic, 12, 0, kMostRows, 12>;

[[nodiscard]] ConstraintValue constraint_value(const ModelConstraint& constraint, const Poses& poses,
                                               const Eigen::VectorXd& q);

/// Of a connect or weld, by the twists of a and b.
[[nodiscard]] ConstraintJacobian constraint_jacobian(const ModelConstraint& constraint, const Poses& poses);
/// The second derivative of f . c by the same.
[[nodiscard]] Eigen::Matrix<double, 12, 12> constraint_curvature(const ModelConstraint& constraint, const Poses& poses,
                                                                 const ConstraintValue& f);

/// A coupling's polynomial: value, slope and curvature at x.
struct Polynomial {
    double value = 0.0, slope = 0.0, curvature = 0.0;
};
[[nodiscard]] Polynomial coupling_polynomial(const ModelConstraint& constraint, double source_length);
[[nodiscard]] double length_at(const Length& length, const Eigen::VectorXd& q);

/// All rows at once: c and dc/dq (num_constraint_rows, num_dofs), by the tangent of q.
struct ConstraintRows {
    Eigen::VectorXd value;
    Eigen::MatrixXd jacobian;
    Eigen::MatrixXd jacobian_a, jacobian_b;  ///< scratch
};
void set_constraint_values(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& q,
                           Eigen::VectorXd& out);
void set_constraint_rows(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& q,
                         ConstraintRows& out);

}  // namespace farfield
