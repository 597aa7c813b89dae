// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/passive_force.hpp"

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d rotation_vector(const Eigen::VectorXd& q, const BallCoordinate& c) {
    return log_rotation(rotation_from_quaternion(q.segment<4>(c.q)));
}

/// Derivative of -J_r(e)^-T (k e) by the tangent.
Matrix3d ball_derivative(const Vector3d& e, const Vector3d& stiffness) {
    const Matrix3d Jr_inv = right_jacobian_inverse(e);
    const Matrix3d by_e = right_jacobian_inverse_transpose_derivative(e, stiffness.cwiseProduct(e)) +
                          Jr_inv.transpose() * stiffness.asDiagonal();
    return -by_e * Jr_inv;
}

}  // namespace

void passive_force(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                   Eigen::VectorXd& tau) {
    tau = -parameters.damping.cwiseProduct(v);
    for (const ScalarCoordinate& c : model.scalars())
        tau[c.dof] -= parameters.stiffness[c.dof] * (q[c.q] - c.spring_reference);
    for (const BallCoordinate& c : model.balls()) {
        const Vector3d e = rotation_vector(q, c);
        tau.segment<3>(c.dof) -=
            right_jacobian_inverse(e).transpose() * parameters.stiffness.segment<3>(c.dof).cwiseProduct(e);
    }
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (model.scripted(k)) tau[k] = 0.0;
    }
}

void passive_force_derivatives(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q,
                               Eigen::MatrixXd& dtau_dq, Eigen::MatrixXd& dtau_dv) {
    dtau_dq.setZero(model.num_dofs(), model.num_dofs());
    dtau_dv.setZero(model.num_dofs(), model.num_dofs());
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (!model.scripted(k)) dtau_dv(k, k) = -parameters.damping[k];
    }
    for (const ScalarCoordinate& c : model.scalars()) {
        if (!model.scripted(c.dof)) dtau_dq(c.dof, c.dof) = -parameters.stiffness[c.dof];
    }
    for (const BallCoordinate& c : model.balls()) {
        if (model.scripted(c.dof)) continue;
        dtau_dq.block<3, 3>(c.dof, c.dof) =
            ball_derivative(rotation_vector(q, c), parameters.stiffness.segment<3>(c.dof));
    }
}

void add_passive_force_vjp(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q,
                           const Eigen::VectorXd& v, const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar,
                           Eigen::VectorXd& v_bar, Parameters& gradient) {
    for (const ScalarCoordinate& c : model.scalars()) {
        if (model.scripted(c.dof)) continue;
        q_bar[c.dof] -= lambda[c.dof] * parameters.stiffness[c.dof];
        gradient.stiffness[c.dof] -= lambda[c.dof] * (q[c.q] - c.spring_reference);
    }
    for (const BallCoordinate& c : model.balls()) {
        if (model.scripted(c.dof)) continue;
        const Vector3d e = rotation_vector(q, c), l = lambda.segment<3>(c.dof);
        q_bar.segment<3>(c.dof) += ball_derivative(e, parameters.stiffness.segment<3>(c.dof)).transpose() * l;
        gradient.stiffness.segment<3>(c.dof) -= e.cwiseProduct(right_jacobian_inverse(e) * l);
    }
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (model.scripted(k)) continue;
        v_bar[k] -= lambda[k] * parameters.damping[k];
        gradient.damping[k] -= lambda[k] * v[k];
    }
}

}  // namespace farfield
