// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/inverse_dynamics.hpp"

#include "farfield/model/mass_matrix.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// The wrench at a body's origin, about the fixed point of its tree.
Vector6d moved_wrench(const Vector6d& wrench, const Vector3d& arm) {
    Vector6d out = wrench;
    out.tail<3>() += arm.cross(wrench.head<3>());
    return out;
}

PointVectors point_vectors(const Vector6d& wrench, const Vector3d& arm) {
    return {wrench.head<3>(), wrench.head<3>() * arm.transpose() + hat(wrench.tail<3>())};
}

/// F_k of the motion (v, a). Fills what set_motions does.
void set_forces(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches, bool derivatives,
                RigidBodyScratch& s) {
    set_motions(model, parameters, v, a, derivatives, s);
    s.subtree_force.assign(s.velocity.size(), Vector6d::Zero());
    for (std::size_t i = 1; i < s.velocity.size(); ++i) {
        if (!moves(model.bodies()[i])) continue;
        s.subtree_force[i] =
            s.inertia[i] * s.acceleration[i] + cross_force(s.velocity[i], s.inertia[i] * s.velocity[i]);
        if (!wrenches.empty())
            s.subtree_force[i] -= moved_wrench(wrenches[i], kinematics.poses[i].position - s.origin[i]);
    }
    add_to_parents(model, s.subtree_force);
}

/// Own values of every body: momenta of its particles and the wrench on it.
void set_point_vectors(const Model& model, const Kinematics& kinematics, const Wrenches& wrenches,
                       RigidBodyScratch& s) {
    s.subtree_momenta.assign(s.velocity.size(), {});
    s.subtree_wrenches.assign(s.velocity.size(), {});
    for (std::size_t i = 1; i < s.velocity.size(); ++i) {
        if (!moves(model.bodies()[i])) continue;
        s.subtree_momenta[i] = particle_momenta(s.inertia[i], s.velocity[i]);
        if (!wrenches.empty())
            s.subtree_wrenches[i] = point_vectors(wrenches[i], kinematics.poses[i].position - s.origin[i]);
    }
}

/// Rows and columns of degree of freedom k, against itself, its group and everything towards the root.
void set_entries(const Model& model, int k, const RigidBodyScratch& s, InverseDynamicsDerivatives& out) {
    const auto dof = static_cast<std::size_t>(k);
    const auto body = static_cast<std::size_t>(model.dofs()[dof].body);
    const int ball = model.dofs()[dof].ball, group = ball >= 0 ? ball : k;
    const Vector6d &S = s.S[dof], &psi_rate = s.psi_rate[dof];
    const PointVectors& momenta = s.subtree_momenta[body];
    const Vector6d momentum = s.subtree_inertia[body] * S;
    const Vector3d by_turn = 2.0 * momenta.turned_transpose(S),
                   by_applied = s.subtree_wrenches[body].turned_transpose(S);
    const Vector6d force_q = cross_force(S, s.subtree_force[body]) + s.subtree_inertia[body] * s.psi_acceleration[dof] +
                             2.0 * momenta.turned(psi_rate.tail<3>()) + s.subtree_wrenches[body].turned(S.tail<3>());
    const Vector6d force_v = s.subtree_inertia[body] * (psi_rate + s.S_rate[dof]) + 2.0 * momenta.turned(S.tail<3>());
    const auto set_row = [&](int j) {  // k itself is further out, or of the same group
        const auto other = static_cast<std::size_t>(j);
        out.q(k, j) = momentum.dot(s.psi_acceleration[other]) + by_turn.dot(s.psi_rate[other].tail<3>()) +
                      by_applied.dot(s.S[other].tail<3>());
        out.v(k, j) = momentum.dot(s.psi_rate[other] + s.S_rate[other]) + by_turn.dot(s.S[other].tail<3>());
        out.a(k, j) = momentum.dot(s.S[other]);
    };
    for (int j = group; j < group + (ball >= 0 ? 3 : 1); ++j) set_row(j);
    for (int j = model.dofs()[static_cast<std::size_t>(group)].parent; j >= 0;
         j = model.dofs()[static_cast<std::size_t>(j)].parent) {
        const auto other = static_cast<std::size_t>(j);
        set_row(j);
        out.q(j, k) = s.S[other].dot(force_q);
        out.v(j, k) = s.S[other].dot(force_v);
        out.a(j, k) = out.a(k, j);
    }
}

/// lambda . f_i is sum of m (acceleration - g) . displacement over the particles x~ = (x, 1) of the body: with both linear in x~, the
/// gradient by the moments S = sum m x~ x~^T is D^T K.
void add_moments_gradient(const Pose& pose, const Vector3d& arm, const Vector6d& velocity, const Vector6d& acceleration,
                          const Vector6d& direction, Eigen::Ref<Eigen::RowVectorXd> row) {
    const Vector3d w = velocity.tail<3>(), alpha = acceleration.tail<3>(), turn = direction.tail<3>();
    const Vector3d speed = velocity.head<3>() + w.cross(arm);
    const Matrix3d D = hat(turn) * pose.rotation, K = (hat(alpha) + hat(w) * hat(w)) * pose.rotation;
    const Vector3d d = direction.head<3>() + turn.cross(arm);
    const Vector3d k = acceleration.head<3>() + alpha.cross(arm) + w.cross(speed);
    const Matrix3d S = D.transpose() * K;
    row[0] += d.dot(k);
    row.segment<3>(1) += (D.transpose() * k + K.transpose() * d).transpose();
    row.segment<3>(4) += S.diagonal().transpose();
    row[7] += S(0, 1) + S(1, 0);
    row[8] += S(0, 2) + S(2, 0);
    row[9] += S(1, 2) + S(2, 1);
}

/// Motions of all bodies for the tangent vector lambda, and the subtree sums that its vjp needs.
void set_direction(const Model& model, const Eigen::VectorXd& lambda, RigidBodyScratch& s) {
    const std::size_t n = s.velocity.size();
    s.direction.resize(n);
    s.direction[0].setZero();
    s.subtree_momentum.assign(n, Vector6d::Zero());
    s.subtree_turn.assign(n, Vector3d::Zero());
    s.subtree_applied.assign(n, Vector3d::Zero());
    for (std::size_t i = 1; i < n; ++i) {
        const ModelBody& body = model.bodies()[i];
        s.direction[i] = s.direction[static_cast<std::size_t>(body.parent)];
        for (int k = body.first_dof; k < body.first_dof + body.num_dofs; ++k)
            s.direction[i] += lambda[k] * s.S[static_cast<std::size_t>(k)];
        if (!moves(body)) continue;
        s.subtree_momentum[i] = s.inertia[i] * s.direction[i];
        s.subtree_turn[i] = 2.0 * s.subtree_momenta[i].turned_transpose(s.direction[i]);
        s.subtree_applied[i] = s.subtree_wrenches[i].turned_transpose(s.direction[i]);
    }
    add_to_parents(model, s.subtree_momentum);
    add_to_parents(model, s.subtree_turn);
    add_to_parents(model, s.subtree_applied);
}

/// Gradient by the place of body i in its parent: moving it is a slide along any axis e of the world, carried by the parent,
/// with Psi' = (w x e, 0) and Psi'' = (alpha x e + w x (w x e), 0).
Vector3d attachment_gradient(std::size_t i, std::size_t parent, const RigidBodyScratch& s) {
    const Vector3d w = s.velocity[parent].tail<3>(), alpha = s.acceleration[parent].tail<3>();
    const Vector3d momentum = s.subtree_momentum[i].head<3>(), turn = s.direction[parent].tail<3>();
    return momentum.cross(alpha) + w.cross(w.cross(momentum)) + Vector3d(s.subtree_force[i].head<3>()).cross(turn);
}

}  // namespace

void inverse_dynamics(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                      const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches, RigidBodyScratch& s,
                      Eigen::VectorXd& tau) {
    set_rigid_bodies(model, parameters, kinematics, s);
    set_forces(model, parameters, kinematics, v, a, wrenches, false, s);
    tau.resize(model.num_dofs());
    for (int k = 0; k < model.num_dofs(); ++k) {
        const auto dof = static_cast<std::size_t>(k);
        tau[k] = s.S[dof].dot(s.subtree_force[static_cast<std::size_t>(model.dofs()[dof].body)]) +
                 parameters.armature[k] * a[k];
    }
}

void inverse_dynamics_derivatives(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                                  const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches,
                                  RigidBodyScratch& s, InverseDynamicsDerivatives& out) {
    set_rigid_bodies(model, parameters, kinematics, s);
    set_forces(model, parameters, kinematics, v, a, wrenches, true, s);
    set_subtree_inertia(model, s);
    set_point_vectors(model, kinematics, wrenches, s);
    add_to_parents(model, s.subtree_momenta);
    add_to_parents(model, s.subtree_wrenches);
    const int n = model.num_dofs();
    out.q.setZero(n, n);
    out.v.setZero(n, n);
    out.a.setZero(n, n);
    for (int k = 0; k < n; ++k) set_entries(model, k, s, out);
    out.a.diagonal() += parameters.armature;
}

void inverse_dynamics_vjp(const Model& model, const Parameters& parameters, const Kinematics& kinematics,
                          const Eigen::VectorXd& v, const Eigen::VectorXd& a, const Wrenches& wrenches,
                          const Eigen::VectorXd& lambda, RigidBodyScratch& s, InverseDynamicsGradient& out,
                          Parameters& gradient) {
    set_forces(model, parameters, kinematics, v, a, wrenches, true, s);
    set_point_vectors(model, kinematics, wrenches, s);
    set_direction(model, lambda, s);
    const int n = model.num_dofs();
    out.q.resize(n);
    out.v.resize(n);
    out.a.resize(n);
    out.wrenches.assign(s.velocity.size(), Vector6d::Zero());
    for (std::size_t i = 1; i < s.velocity.size(); ++i) {
        const ModelBody& body = model.bodies()[i];
        const auto row = static_cast<Eigen::Index>(i);
        const auto parent = static_cast<std::size_t>(body.parent);
        if (!moves(body)) continue;
        const Vector3d arm = kinematics.poses[i].position - s.origin[i];
        const Vector6d &direction = s.direction[i], &momentum = s.subtree_momentum[i];
        out.wrenches[i] << -direction.head<3>() - Vector3d(direction.tail<3>()).cross(arm), -direction.tail<3>();
        add_moments_gradient(kinematics.poses[i], arm, s.velocity[i], s.acceleration[i], direction,
                             gradient.moments.row(row));
        if (!has_free_joint(model, body)) {
            gradient.attachment.row(row) +=
                (kinematics.poses[parent].rotation.transpose() * attachment_gradient(i, parent, s)).transpose();
        }
        if (body.parent == 0 || !moves(model.bodies()[parent])) gradient.gravity -= momentum.head<3>();
        Vector6d carrier = s.direction[parent];
        for_each_group(model, body, [&](int first, int count) {
            Vector6d after = carrier;
            for (int k = first; k < first + count; ++k) {
                const auto dof = static_cast<std::size_t>(k);
                const Vector6d& S = s.S[dof];
                out.q[k] = s.psi_acceleration[dof].dot(momentum) + s.psi_rate[dof].tail<3>().dot(s.subtree_turn[i]) +
                           S.tail<3>().dot(s.subtree_applied[i]) + carrier.dot(cross_force(S, s.subtree_force[i]));
                out.v[k] = (s.psi_rate[dof] + s.S_rate[dof]).dot(momentum) + S.tail<3>().dot(s.subtree_turn[i]);
                out.a[k] = S.dot(momentum) + parameters.armature[k] * lambda[k];
                after += lambda[k] * S;
            }
            carrier = after;
        });
    }
    gradient.armature += lambda.cwiseProduct(a);
}

}  // namespace farfield
