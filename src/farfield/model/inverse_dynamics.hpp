// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Forces of a motion, by the recursive Newton-Euler algorithm, and their exact derivatives.
///
/// Paper:     [Featherstone2008, Sec. 5.3]; derivatives as in [Singh2022]
///            tau_k = S_k . F_k + armature_k a_k,   F_k = sum of f_i over the bodies that k moves
///            f_i = I_i A_i + V_i x* I_i V_i - w_i,   w_i the wrench from outside
///            df_i/dq_j = S_j x* f_i + I_i Psi''_j + B_i Psi'_j + E_i S_j,   df_i/dv_j = I_i (Psi'_j + S'_j) + B_i S_j
///            B_i = 2 PointVectors(momenta of the particles).turned,   E_i = PointVectors(w_i).turned, both of angular parts
///            dtau_k/dq_j = S_k . (I_k Psi''_j + B_k Psi'_j + E_k S_j)                  j towards the root of k or in its group
///                        = S_k . (S_j x* F_j + I_j Psi''_j + B_j Psi'_j + E_j S_j)     j beyond the group of k
///            dtau_k/dv_j = S_k . (I_m (Psi'_j + S'_j) + B_m S_j),   m the one of j, k further from the root
/// Deviation: B and E are held as 3 + 9 numbers instead of 36: for a particle of momentum u, I (Psi x V) + Psi x* (I V) +
///            V x* (I Psi) is the force 2 phi x u with phi the angular part of Psi; a wrench that does not turn with its body
///            differs from one that does by phi x force at the same point.
#include <Eigen/Dense>

#include "farfield/model/rigid_body_dynamics.hpp"

namespace farfield {

/// The generalised forces [N m or N], (num_dofs), under which the model accelerates by `a` while `wrenches` act on its bodies:
/// tau = M a + bias - sum over bodies of J^T wrench. Joint springs, damping and actuators are not in it (passive_force).
void inverse_dynamics(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches,
                      RigidBodyScratch& scratch, Eigen::VectorXd& tau);

/// By the tangent of q, by v and by a; (num_dofs, num_dofs) each, rows: tau. By a: the mass matrix. By the wrench on body i: -J_i^T.
struct InverseDynamicsDerivatives {
    Eigen::MatrixXd q, v, a;
};
void inverse_dynamics_derivatives(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                                  const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches,
                                  RigidBodyScratch& scratch, InverseDynamicsDerivatives& out);

/// Gradient of lambda . tau in O(bodies): by the tangent of q, v, a and the wrenches (num_bodies), overwritten.
struct InverseDynamicsGradient {
    Eigen::VectorXd q, v, a;
    Wrenches wrenches;
};
/// Moments, attachment, gravity and armature are added to `gradient`.
/// @pre set_rigid_bodies.
void inverse_dynamics_vjp(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                          const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches,
                          const Eigen::VectorXd& lambda, RigidBodyScratch& scratch, InverseDynamicsGradient& out,
                          Parameters& gradient);

}  // namespace farfield
