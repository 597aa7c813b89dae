// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Motion of all bodies about fixed points, shared by the mass matrix, inverse and forward dynamics.
///
/// Paper:     [Featherstone2008, Secs. 5.3, 6.2]; names of the rates as in [Singh2022]
/// Symbols:   S_k motion of degree of freedom k;  V_i, A_i velocity and acceleration of body i, gravity as A_0 = -g
///            A group is one degree of freedom, or the three of a ball; V, A without index: of what carries the group.
///            dS_k/dq_j = S_j x S_k for j towards the root of k or in its group (tangent of `retract`)
///            Psi'_k = V x S_k,   Psi''_k = A x S_k + V x Psi'_k,   S'_k = V_i x S_k
///            dV_i/dq_j = S_j x V_i + Psi'_j,   dA_i/dq_j = S_j x A_i + Psi'_j x V_i + Psi''_j
///            dV_i/dv_j = S_j,                  dA_i/dv_j = S_j x V_i + Psi'_j + S'_j
/// Deviation: one fixed point per tree (where its root is now) instead of link frames: nothing is transformed on the way, and a robot
///            far from the origin loses no digits.
///
/// All functions of this family take Kinematics of the q in question, fill a scratch whose storage is reused, and check no sizes: their
/// vectors have num_dofs entries (wrenches num_bodies).
#include <Eigen/Dense>
#include <vector>

#include "farfield/model/kinematics.hpp"
#include "farfield/model/spatial_algebra.hpp"

namespace farfield {

/// Forces on the bodies from outside, each (force; torque) [N, N m] in world axes at the body's origin, as in pose.hpp. Empty: none.
using Wrenches = std::vector<Vector6d>;

struct RigidBodyScratch {
    // per body, about the fixed point of its tree
    std::vector<Eigen::Vector3d> origin;  ///< the fixed point [m]
    std::vector<SpatialInertia> inertia, subtree_inertia;
    std::vector<Vector6d> velocity, acceleration;
    std::vector<Vector6d> subtree_force;  ///< needed to accelerate the subtree so, less the wrenches on it
    std::vector<PointVectors> subtree_momenta, subtree_wrenches;
    std::vector<Vector6d> direction, subtree_momentum;           ///< of the tangent vector of a vjp
    std::vector<Eigen::Vector3d> subtree_turn, subtree_applied;  ///< of a vjp
    // per degree of freedom
    std::vector<Vector6d> S, S_rate, psi_rate, psi_acceleration;
};

/// Fills origin, S and inertia.
void set_rigid_bodies(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      RigidBodyScratch& scratch);

/// Fills velocity, acceleration and psi_rate; for derivatives S_rate and psi_acceleration as well.
/// @pre set_rigid_bodies.
void set_motions(const Model& model, const Parameters& parameters, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                 bool derivatives, RigidBodyScratch& scratch);

/// Calls use(first, count) for every group of degrees of freedom of a body, outwards.
template <class Use>
void for_each_group(const Model& model, const ModelBody& body, Use&& use) {
    for (int k = body.first_dof; k < body.first_dof + body.num_dofs;) {
        const int count = model.dofs()[static_cast<std::size_t>(k)].ball >= 0 ? 3 : 1;
        use(k, count);
        k += count;
    }
}

/// Whether anything moves the body.
[[nodiscard]] inline bool moves(const ModelBody& body) { return body.last_dof >= 0; }

/// Adds what `sums` holds for every moving body to its parent, leaves first: subtree sums.
template <class Sum>
void add_to_parents(const Model& model, std::vector<Sum>& sums) {
    for (std::size_t i = sums.size() - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        if (moves(body)) sums[static_cast<std::size_t>(body.parent)] += sums[i];
    }
}

/// Velocity of a point fixed to a body, by the velocities v: (linear; angular) in world axes, (6, num_dofs).
/// `point` in the body's frame [m].
void body_jacobian(const Model& model, const Kinematics& kinematics, int body, const Eigen::Vector3d& point,
                   Eigen::MatrixXd& out);

}  // namespace farfield
