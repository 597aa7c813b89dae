// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/drive_force.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/math/rotation.hpp"
#include "farfield/model/drive.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d rotation_of(const Eigen::VectorXd& q, const BallCoordinate& c) {
    return rotation_from_quaternion(q.segment<4>(c.q));
}

/// How far a ball is beyond its limit, and its rotation vector.
struct BallExcess {
    Vector3d e = Vector3d::Zero();
    double angle = 0.0, x = 0.0;

    BallExcess(const BallCoordinate& c, const Eigen::VectorXd& q) {
        if (!c.max_angle) return;
        e = log_rotation(rotation_of(q, c));
        angle = e.norm();
        x = std::max(angle - *c.max_angle, 0.0);
    }
};

}  // namespace

void add_drive_force(const Model& model, const Parameters& parameters, const GainFactors& factors,
                     const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                     Eigen::VectorXd& tau) {
    for (const ScalarCoordinate& c : model.scalars()) {
        const double x = excess(c.range, q[c.q]);
        if (!model.scripted(c.dof)) tau[c.dof] -= 0.5 * c.limit_stiffness * x * std::abs(x);
    }
    for (const BallCoordinate& c : model.balls()) {
        const BallExcess over(c, q);
        if (over.x > 0.0 && !model.scripted(c.dof))
            tau.segment<3>(c.dof) -= 0.5 * c.limit_stiffness * over.x * over.x / over.angle * over.e;
    }
    for_each_drive(
        model,
        [&](const ScalarCoordinate& c, Eigen::Index a) {
            const Drive by = drive_of(model, model.actuators()[static_cast<std::size_t>(a)], c.dof);
            if (by.force >= 0) {
                tau[c.dof] += by.gear * control[by.force];
                return;
            }
            tau[c.dof] +=
                by.gear * (factors.kp * parameters.kp[a] * (input_of(control, by.position) - by.gear * q[c.q]) +
                           factors.kd * parameters.kd[a] * (input_of(control, by.velocity) - by.gear * v[c.dof]));
        },
        [&](const BallCoordinate& c, Eigen::Index a) {
            const BallDrive by(model, model.actuators()[static_cast<std::size_t>(a)], c, control);
            if (by.motor) {
                tau.segment<3>(c.dof) += by.force;
                return;
            }
            const Vector3d e = log_rotation(exp_rotation(by.position).transpose() * rotation_of(q, c));
            tau.segment<3>(c.dof) += -factors.kp * parameters.kp[a] * e +
                                     factors.kd * parameters.kd[a] * (by.velocity - v.segment<3>(c.dof));
        });
}

void add_drive_force_vjp(const Model& model, const Parameters& parameters, const GainFactors& factors,
                         const Eigen::VectorXd& q, const Eigen::VectorXd& v, const Eigen::VectorXd& control,
                         const Eigen::VectorXd& lambda, Eigen::VectorXd& q_bar, Eigen::VectorXd& v_bar,
                         Eigen::VectorXd& control_bar, Parameters& gradient) {
    for (const ScalarCoordinate& c : model.scalars()) {
        if (!model.scripted(c.dof))
            q_bar[c.dof] -= lambda[c.dof] * c.limit_stiffness * std::abs(excess(c.range, q[c.q]));
    }
    for (const BallCoordinate& c : model.balls()) {
        const BallExcess over(c, q);
        if (!(over.x > 0.0) || model.scripted(c.dof)) continue;
        const Vector3d u = over.e / over.angle, l = lambda.segment<3>(c.dof);
        const Vector3d by_e =
            c.limit_stiffness * over.x * (u.dot(l) * u + 0.5 * over.x / over.angle * (l - u.dot(l) * u));
        q_bar.segment<3>(c.dof) -= right_jacobian_inverse(over.e).transpose() * by_e;
    }
    for_each_drive(
        model,
        [&](const ScalarCoordinate& c, Eigen::Index a) {
            const Drive by = drive_of(model, model.actuators()[static_cast<std::size_t>(a)], c.dof);
            const double l = lambda[c.dof] * by.gear;
            if (by.force >= 0) {
                control_bar[by.force] += l;
                return;
            }
            const double kp = factors.kp * parameters.kp[a], kd = factors.kd * parameters.kd[a];
            if (by.position >= 0) control_bar[by.position] += l * kp;
            if (by.velocity >= 0) control_bar[by.velocity] += l * kd;
            q_bar[c.dof] -= l * kp * by.gear;
            v_bar[c.dof] -= l * kd * by.gear;
            gradient.kp[a] += l * factors.kp * (input_of(control, by.position) - by.gear * q[c.q]);
            gradient.kd[a] += l * factors.kd * (input_of(control, by.velocity) - by.gear * v[c.dof]);
        },
        [&](const BallCoordinate& c, Eigen::Index a) {
            const BallDrive by(model, model.actuators()[static_cast<std::size_t>(a)], c, control);
            const Vector3d l = lambda.segment<3>(c.dof);
            if (by.motor) {
                for (int k = 0; k < 3; ++k) control_bar[by.of[k].force] += by.of[k].gear * l[k];
                return;
            }
            const double kp = factors.kp * parameters.kp[a], kd = factors.kd * parameters.kd[a];
            const Vector3d e = log_rotation(exp_rotation(by.position).transpose() * rotation_of(q, c));
            const Matrix3d Jr_inv = right_jacobian_inverse(e);
            q_bar.segment<3>(c.dof) -= kp * Jr_inv.transpose() * l;
            v_bar.segment<3>(c.dof) -= kd * l;
            // the target turns the other end: de = -J_l^-1(e) J_r(target), J_l^-1 = J_r^-T
            const Vector3d target = kp * right_jacobian(by.position).transpose() * (Jr_inv * l);
            for (int k = 0; k < 3; ++k) {
                if (by.of[k].position >= 0) control_bar[by.of[k].position] += target[k];
                if (by.of[k].velocity >= 0) control_bar[by.of[k].velocity] += kd * l[k];
            }
            gradient.kp[a] -= factors.kp * e.dot(l);
            gradient.kd[a] += factors.kd * (by.velocity - v.segment<3>(c.dof)).dot(l);
        });
}

}  // namespace farfield
