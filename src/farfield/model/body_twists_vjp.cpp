// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/body_twists_vjp.hpp"

namespace farfield {

using Eigen::Vector3d;

void add_body_twists_vjp(const Model& model, const Kinematics& kinematics, const RigidBodyScratch& bodies,
                         const std::vector<Vector6d>& bars, TwistScratch& s, Eigen::VectorXd& q_bar,
                         Eigen::VectorXd& v_bar, Parameters& gradient) {
    s.bars.assign(bars.size(), Vector6d::Zero());
    s.turns.assign(bars.size(), Vector6d::Zero());
    for (std::size_t i = 1; i < bars.size(); ++i) {
        if (!moves(model.bodies()[i])) continue;
        const Vector3d arm = kinematics.poses[i].position - bodies.origin[i], f = bars[i].head<3>();
        const Vector3d carried = f.cross(bodies.velocity[i].tail<3>());
        s.bars[i] << f, bars[i].tail<3>() + arm.cross(f);
        s.turns[i] << carried, arm.cross(carried);
        s.turns[i] += cross_force(bodies.velocity[i], s.bars[i]);
    }
    add_to_parents(model, s.bars);
    add_to_parents(model, s.turns);
    for (int k = 0; k < model.num_dofs(); ++k) {
        const auto dof = static_cast<std::size_t>(k), body = static_cast<std::size_t>(model.dofs()[dof].body);
        q_bar[k] += bodies.S[dof].dot(s.turns[body]) + bodies.psi_rate[dof].dot(s.bars[body]);
        v_bar[k] += bodies.S[dof].dot(s.bars[body]);
    }
    for (std::size_t i = 1; i < bars.size(); ++i) {
        const ModelBody& body = model.bodies()[i];
        if (!moves(body) || has_free_joint(model, body)) continue;
        const auto parent = static_cast<std::size_t>(body.parent);
        const Vector3d slide =
            s.turns[i].head<3>() + Vector3d(s.bars[i].head<3>()).cross(Vector3d(bodies.velocity[parent].tail<3>()));
        gradient.attachment.row(static_cast<Eigen::Index>(i)) +=
            (kinematics.poses[parent].rotation.transpose() * slide).transpose();
    }
}

}  // namespace farfield
