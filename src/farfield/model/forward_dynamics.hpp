// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Accelerations under given forces, and their exact derivatives.
///
/// Paper:     [Featherstone2008, Secs. 6.2, 6.5]
///            a = a_s + E z,   E^T (M a + bias - tau - sum over bodies of J^T wrench) = 0
///            with X = E (E^T M E)^-1 E^T and r the bracket: da = -X dr at fixed a, lambda = X a_bar
/// Symbols:   E the model's reduction (ties hold exactly, E = 1 without), a_s accelerations of scripted degrees of freedom
///
/// The mass matrix is assembled and factored rather than swept away by articulated bodies: the derivatives need its inverse anyway,
/// and for robots of tens of degrees of freedom the factor is the smaller part of the cost.
#include <Eigen/Dense>

#include "farfield/math/tree_cholesky.hpp"
#include "farfield/model/inverse_dynamics.hpp"

namespace farfield {

struct ForwardDynamicsInput {
    const Eigen::VectorXd& v;
    const Eigen::VectorXd& tau;  ///< generalised forces [N m or N]; those of scripted degrees of freedom are not read
    const Wrenches* wrenches = nullptr;  ///< on the bodies
    const Eigen::VectorXd* scripted =
        nullptr;  ///< (num_dofs) accelerations of scripted degrees of freedom, others not read; absent: 0
};

struct ForwardDynamicsScratch {
    RigidBodyScratch bodies;
    Eigen::MatrixXd mass, reduced_mass, product;  ///< M, E^T M E, M E
    TreeCholesky factor;
    Eigen::VectorXd residual, reduced, column;
    InverseDynamicsDerivatives residual_derivatives;
    InverseDynamicsGradient residual_gradient;
    Eigen::MatrixXd jacobian;
};

/// Accelerations (num_dofs): joint springs, damping and actuators only as far as they are in tau.
/// Throws std::invalid_argument when the mass matrix is not positive definite.
void forward_dynamics(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      const ForwardDynamicsInput& input, ForwardDynamicsScratch& scratch, Eigen::VectorXd& a);

/// Rows: a. By the tangent of q, by v, tau (all (num_dofs, num_dofs)) and the wrenches on all bodies (num_dofs, 6 num_bodies).
struct ForwardDynamicsDerivatives {
    Eigen::VectorXd a;  ///< the accelerations themselves
    Eigen::MatrixXd q, v, tau, wrenches;
};
void forward_dynamics_derivatives(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                                  const ForwardDynamicsInput& input, ForwardDynamicsScratch& scratch,
                                  ForwardDynamicsDerivatives& out);

/// Gradient of a_bar . a by the tangent of q, v, tau, wrenches (num_bodies) and scripted accelerations, overwritten.
struct ForwardDynamicsGradient {
    Eigen::VectorXd q, v, tau, scripted;
    Wrenches wrenches;
};
/// One solve and O(bodies). Moments, attachment, gravity and armature are added to `gradient`.
/// @pre `scratch` is as forward_dynamics left it, of the same input, which gave `a`.
void forward_dynamics_vjp(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                          const ForwardDynamicsInput& input, const Eigen::VectorXd& a, const Eigen::VectorXd& a_bar,
                          ForwardDynamicsScratch& scratch, ForwardDynamicsGradient& out, Parameters& gradient);

}  // namespace farfield
