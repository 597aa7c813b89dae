// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/drive_force.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

bool scripted(const Model& model, int dof) { return model.dofs()[static_cast<std::size_t>(dof)].prescribed; }

double excess(const std::optional<Range>& range, double q) {  // signed: negative below the range
    if (!range) return 0.0;
    return q < range->lower ? q - range->lower : q > range->upper ? q - range->upper : 0.0;
}

Matrix3d rotation_of(const Eigen::VectorXd& q, const BallCoordinate& c) {
    return rotation_from_quaternion(q.segment<4>(c.q));
}

/// Which controls drive one degree of freedom; -1: none, its target is 0.
struct Drive {
    double gear = 1.0;
    int force = -1, position = -1, velocity = -1;
};
Drive drive_of(const Model& model, const ModelActuator& actuator, int dof) {
    const ModelJoint& joint = model.joints()[static_cast<std::size_t>(actuator.joint)];
    const bool geared = !actuator.gear.empty();
    const int local = dof - joint.dof, slot = geared ? 0 : local, width = geared ? 1 : joint.num_dofs;
    Drive out{.gear = geared ? actuator.gear[static_cast<std::size_t>(local)] : 1.0};
    if (actuator.type == ActuatorType::Motor) {
        out.force = actuator.control + slot;
    } else {
        if (actuator.position_input) out.position = actuator.control + slot;
        if (actuator.velocity_input) out.velocity = actuator.control + slot + (actuator.position_input ? width : 0);
    }
    return out;
}
double input(const Eigen::VectorXd& control, int index) { return index < 0 ? 0.0 : control[index]; }

/// Calls on_scalar(coordinate, actuator) and on_ball(coordinate, actuator) for every actuated coordinate.
template <class OnScalar, class OnBall>
void for_each_drive(const Model& model, OnScalar&& on_scalar, OnBall&& on_ball) {
    const auto each = [&](const auto& coordinates, std::size_t a, auto&& use) {
        const int joint = model.actuators()[a].joint;
        auto c = std::lower_bound(coordinates.begin(), coordinates.end(), joint,
                                  [](const auto& item, int index) { return item.joint < index; });
        for (; c != coordinates.end() && c->joint == joint; ++c) {
            if (!scripted(model, c->dof)) use(*c, static_cast<Eigen::Index>(a));
        }
    };
    for (std::size_t a = 0; a < model.actuators().size(); ++a) {
        if (model.actuators()[a].joint < 0 || !model.actuators()[a].length.empty()) continue;
        each(model.scalars(), a, on_scalar);
        each(model.balls(), a, on_ball);
    }
}

struct BallDrive {
    bool motor = false;
    Drive of[3];
    Vector3d force, position, velocity;

    BallDrive(const Model& model, const ModelActuator& actuator, const BallCoordinate& c,
              const Eigen::VectorXd& control)
        : motor(actuator.type == ActuatorType::Motor) {
        for (int k = 0; k < 3; ++k) {
            of[k] = drive_of(model, actuator, c.dof + k);
            force[k] = of[k].gear * input(control, of[k].force);
            position[k] = input(control, of[k].position);
            velocity[k] = input(control, of[k].velocity);
        }
    }
};

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
        if (!scripted(model, c.dof)) tau[c.dof] -= 0.5 * c.limit_stiffness * x * std::abs(x);
    }
    for (const BallCoordinate& c : model.balls()) {
        const BallExcess over(c, q);
        if (over.x > 0.0 && !scripted(model, c.dof))
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
                by.gear * (factors.kp * parameters.kp[a] * (input(control, by.position) - by.gear * q[c.q]) +
                           factors.kd * parameters.kd[a] * (input(control, by.velocity) - by.gear * v[c.dof]));
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
        if (!scripted(model, c.dof))
            q_bar[c.dof] -= lambda[c.dof] * c.limit_stiffness * std::abs(excess(c.range, q[c.q]));
    }
    for (const BallCoordinate& c : model.balls()) {
        const BallExcess over(c, q);
        if (!(over.x > 0.0) || scripted(model, c.dof)) continue;
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
            gradient.kp[a] += l * factors.kp * (input(control, by.position) - by.gear * q[c.q]);
            gradient.kd[a] += l * factors.kd * (input(control, by.velocity) - by.gear * v[c.dof]);
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
