// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/body_drive.hpp"

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// One motor: force and torque per control in the world, and where it attacks at the end of the step.
struct Thrust {
    int body;
    double control;
    Vector3d force, torque;
    Vector3d arm;           ///< at the end
    const Matrix3d &a, &b;  ///< axes at the start and at the end

    Thrust(const BodyDriveStep& step, const ModelActuator& actuator, const Poses& poses)
        : body(actuator.body),
          control(step.control[actuator.control]),
          a(step.now[static_cast<std::size_t>(body)].rotation),
          b(poses[static_cast<std::size_t>(body)].rotation) {
        force = a * actuator.wrench.head<3>();
        torque = a * actuator.wrench.tail<3>();
        arm = b * actuator.point;
    }
};

template <class Use>
void for_each_thrust(const BodyDriveStep& step, const Poses& poses, Use&& use) {
    for (const ModelActuator& actuator : step.model.actuators()) {
        if (actuator.body >= 0) use(Thrust(step, actuator, poses), actuator);
    }
}

double energy_of(const Thrust& t, const BodyDriveStep& step, const ModelActuator& actuator, const Poses& poses) {
    const auto i = static_cast<std::size_t>(t.body);
    Vector3d turn = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) turn += 0.5 * t.a.col(k).cross(t.b.col(k));
    const Vector3d way = (poses[i].position - step.now[i].position) + (t.b - t.a) * actuator.point;
    return -t.control * (t.force.dot(way) + t.torque.dot(turn));
}

Matrix3d turning(const Vector3d& h, const Vector3d& r) {
    return 0.5 * (h * r.transpose() + r * h.transpose()) - h.dot(r) * Matrix3d::Identity();
}

}  // namespace

double body_drive_energy(const BodyDriveStep& step, const Poses& poses) {
    double energy = 0.0;
    for_each_thrust(step, poses,
                    [&](const Thrust& t, const ModelActuator& a) { energy += energy_of(t, step, a, poses); });
    return energy;
}

double add_body_drives(const BodyDriveStep& step, const Poses& poses, contact::ContactLinearization& out) {
    double energy = 0.0;
    for_each_thrust(step, poses, [&](const Thrust& t, const ModelActuator& actuator) {
        energy += energy_of(t, step, actuator, poses);
        Vector3d torque = t.arm.cross(t.force);
        Matrix3d bend = turning(t.force, t.arm);
        for (int k = 0; k < 3; ++k) {
            const Vector3d h = 0.5 * t.torque.cross(t.a.col(k)), b = t.b.col(k);
            torque += b.cross(h);
            bend += turning(h, b);
        }
        Vector6d& wrench = out.wrench[static_cast<std::size_t>(t.body)];
        wrench.head<3>() -= t.control * t.force;
        wrench.tail<3>() -= t.control * torque;
        contact::PairBlock& block = out.blocks.emplace_back();
        block.b = t.body;
        block.hessian.block<3, 3>(9, 9) = -t.control * bend;
    });
    return energy;
}

void body_drive_vjp(const BodyDriveStep& step, const Poses& poses, const std::vector<Vector6d>& twists,
                    std::vector<Vector6d>& now, Eigen::VectorXd& control) {
    for_each_thrust(step, poses, [&](const Thrust& t, const ModelActuator& actuator) {
        const auto i = static_cast<std::size_t>(t.body);
        const Vector3d v = twists[i].head<3>(), w = twists[i].tail<3>();
        const Vector3d way = v + w.cross(t.arm);
        // 1/2 sum_k a_k x (w x b_k) = 1/2 (tr(Q) - Q) w,  Q = R+ R^T
        const Matrix3d Q = t.b * t.a.transpose();
        const Vector3d turn = 0.5 * (Q.trace() * w - Q * w);
        control[actuator.control] += t.force.dot(way) + t.torque.dot(turn);
        const Vector3d by_turn = t.force.cross(way) + t.torque.cross(turn) +
                                 0.5 * (t.torque.dot(w) * axial(Q) + w.cross(Q.transpose() * t.torque));
        now[i].tail<3>() += t.control * by_turn;
    });
}

}  // namespace farfield
