// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Mass matrix in joint coordinates, by composite bodies.
///
/// Paper:     [Featherstone2008, Sec. 6.2]
///            M_jk = S_j . I_k S_k + [j = k] armature_k, I_k inertia of all that k moves, j towards the root of k, else 0
#include <Eigen/Dense>

#include "farfield/model/rigid_body_dynamics.hpp"

namespace farfield {

/// Fills subtree_inertia.
/// @pre set_rigid_bodies.
void set_subtree_inertia(const Model& model, RigidBodyScratch& scratch);

/// (num_dofs, num_dofs), both triangles. Kinetic energy is 1/2 v . M v. Entries between branches are exactly zero.
void mass_matrix(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                 RigidBodyScratch& scratch, Eigen::MatrixXd& out);
/// The same. @pre set_rigid_bodies.
void mass_matrix(const Model& model, const Parameters& parameters, RigidBodyScratch& scratch, Eigen::MatrixXd& out);

}  // namespace farfield
