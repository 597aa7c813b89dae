// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/rigid_body_dynamics.hpp"

namespace farfield {

using Eigen::Vector3d;

void set_rigid_bodies(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      RigidBodyScratch& s) {
    const auto num_bodies = static_cast<std::size_t>(model.num_bodies());
    const auto num_dofs = static_cast<std::size_t>(model.num_dofs());
    s.origin.resize(num_bodies);
    s.inertia.resize(num_bodies);
    s.S.resize(num_dofs);
    s.origin[0].setZero();
    for (std::size_t i = 1; i < num_bodies; ++i) {
        const ModelBody& body = model.bodies()[i];
        s.origin[i] = kinematics.poses[static_cast<std::size_t>(body.root)].position;
        if (!moves(body)) continue;
        s.inertia[i] = SpatialInertia(parameters.moments.row(static_cast<Eigen::Index>(i)).transpose(),
                                      kinematics.poses[i].rotation, kinematics.poses[i].position - s.origin[i]);
    }
    for (std::size_t k = 0; k < num_dofs; ++k) {
        const Dof& dof = model.dofs()[k];
        const Vector3d& axis = kinematics.axis[k];
        if (dof.rotates) {
            s.S[k] << (kinematics.anchor[k] - s.origin[static_cast<std::size_t>(dof.body)]).cross(axis), axis;
        } else {
            s.S[k] << axis, Vector3d::Zero();
        }
    }
}

void set_motions(const Model& model, const Parameters& parameters, const Eigen::VectorXd& v, const Eigen::VectorXd& a,
                 bool derivatives, RigidBodyScratch& s) {
    const auto num_bodies = static_cast<std::size_t>(model.num_bodies());
    s.velocity.resize(num_bodies);
    s.acceleration.resize(num_bodies);
    s.S_rate.resize(s.S.size());
    s.psi_rate.resize(s.S.size());
    s.psi_acceleration.resize(s.S.size());
    s.velocity[0].setZero();
    s.acceleration[0] << -parameters.gravity, Vector3d::Zero();
    for (std::size_t i = 1; i < num_bodies; ++i) {
        const ModelBody& body = model.bodies()[i];
        Vector6d& V = s.velocity[i] = s.velocity[static_cast<std::size_t>(body.parent)];
        Vector6d& A = s.acceleration[i] = s.acceleration[static_cast<std::size_t>(body.parent)];
        for_each_group(model, body, [&](int first, int count) {
            Vector6d V_after = V, A_after = A;
            for (int k = first; k < first + count; ++k) {
                const auto dof = static_cast<std::size_t>(k);
                s.psi_rate[dof] = cross_motion(V, s.S[dof]);
                if (derivatives) s.psi_acceleration[dof] = cross_motion(A, s.S[dof]) + cross_motion(V, s.psi_rate[dof]);
                V_after += v[k] * s.S[dof];
                A_after += a[k] * s.S[dof] + v[k] * s.psi_rate[dof];
            }
            V = V_after;
            A = A_after;
            if (!derivatives) return;
            for (int k = first; k < first + count; ++k) {
                const auto dof = static_cast<std::size_t>(k);
                s.S_rate[dof] = count == 1 ? s.psi_rate[dof] : cross_motion(V, s.S[dof]);  // S x S = 0
            }
        });
    }
}

void body_jacobian(const Model& model, const Kinematics& kinematics, int body, const Vector3d& point,
                   Eigen::MatrixXd& out) {
    const Vector3d x = kinematics.poses[static_cast<std::size_t>(body)] * point;
    out.setZero(6, model.num_dofs());
    for (int k = model.bodies()[static_cast<std::size_t>(body)].last_dof; k >= 0;
         k = model.dofs()[static_cast<std::size_t>(k)].parent) {
        const auto dof = static_cast<std::size_t>(k);
        const Vector3d& axis = kinematics.axis[dof];
        if (model.dofs()[dof].rotates) {
            out.col(k) << axis.cross(x - kinematics.anchor[dof]), axis;
        } else {
            out.col(k) << axis, Vector3d::Zero();
        }
    }
}

}  // namespace farfield
