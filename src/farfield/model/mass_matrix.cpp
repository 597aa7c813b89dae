// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/mass_matrix.hpp"

namespace farfield {

void set_subtree_inertia(const Model& model, RigidBodyScratch& s) {
    s.subtree_inertia = s.inertia;
    add_to_parents(model, s.subtree_inertia);
}

void mass_matrix(const Model& model, const Parameters& parameters, const Kinematics& kinematics, RigidBodyScratch& s,
                 Eigen::MatrixXd& out) {
    set_rigid_bodies(model, parameters, kinematics, s);
    mass_matrix(model, parameters, s, out);
}

void mass_matrix(const Model& model, const Parameters& parameters, RigidBodyScratch& s, Eigen::MatrixXd& out) {
    set_subtree_inertia(model, s);
    const int n = model.num_dofs();
    out.setZero(n, n);
    for (int k = 0; k < n; ++k) {
        const Dof& dof = model.dofs()[static_cast<std::size_t>(k)];
        const Vector6d momentum =
            s.subtree_inertia[static_cast<std::size_t>(dof.body)] * s.S[static_cast<std::size_t>(k)];
        for (int j = k; j >= 0; j = model.dofs()[static_cast<std::size_t>(j)].parent)
            out(k, j) = out(j, k) = s.S[static_cast<std::size_t>(j)].dot(momentum);
        out(k, k) += parameters.armature[k];
    }
}

}  // namespace farfield
