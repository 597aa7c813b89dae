// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Carries contact derivatives from bodies to joint coordinates.
///
/// With (v_k, w_k) the twist of degree of freedom k at a body's origin and (F, tau) the body's wrench there, j on the root
/// side of or equal to k:  H_jk = J_j^T H J_k + F . (w_j x v_k) + 1/2 tau . (w_j x w_k), symmetrised inside a ball joint.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/math/block_matrix.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

struct ContactScratch {
    std::vector<Eigen::Matrix<double, 6, Eigen::Dynamic>>
        jacobian;                        ///< per body: twists along its path, outermost first
    std::vector<std::vector<int>> path;  ///< per body: degrees of freedom, outermost first
    std::vector<Matrix6d> diagonal;      ///< per body: sum of its diagonal blocks
    std::vector<Vector6d> subtree;
};

/// Adds gradient and lower triangle of the Hessian.
void add_contact_derivatives(const Model& model, const Kinematics& kinematics,
                             const contact::ContactLinearization& contact, ContactScratch& scratch,
                             Eigen::VectorXd& gradient, BlockMatrix& hessian);

/// Replaces every block by its nearest positive semi-definite matrix (negative eigenvalues to zero), with angles measured on an arm
/// that makes turning as stiff as sliding: the same in any units.
void project_blocks(contact::ContactLinearization& contact);

/// Second derivative of the contact energy along the body twists: H xi, one 6-vector per body.
void apply_blocks(const contact::ContactLinearization& contact, const std::vector<Vector6d>& twists,
                  std::vector<Vector6d>& out);

}  // namespace farfield
