// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/kinematics.hpp"

#include <cmath>

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Eigen::Quaterniond quaternion_at(const Eigen::VectorXd& q, int index) {
    return Eigen::Quaterniond(q[index], q[index + 1], q[index + 2], q[index + 3]);
}

Eigen::Quaterniond exp_quaternion(const Vector3d& w) {
    const double angle = w.norm();
    const double scale = angle > 1e-8 ? std::sin(0.5 * angle) / angle : 0.5 - angle * angle / 48.0;
    const Vector3d vec = scale * w;
    return Eigen::Quaterniond(std::cos(0.5 * angle), vec.x(), vec.y(), vec.z());
}

Vector3d log_quaternion(const Eigen::Quaterniond& rotation) {
    const double sign = rotation.w() < 0.0 ? -1.0 : 1.0;
    const Vector3d vec = sign * rotation.vec();
    const double sine = vec.norm(), cosine = sign * rotation.w();
    // angle / sin(angle/2); the series holds to 1e-16 below 1e-5
    const double scale = sine > 1e-5 ? 2.0 * std::atan2(sine, cosine) / sine
                                     : 2.0 / cosine * (1.0 - sine * sine / (3.0 * cosine * cosine));
    return scale * vec;
}

/// Turns the pose about a point of its own frame and returns that point in the world. Most anchors are the origin.
Vector3d rotate_about(const Vector3d& anchor, const Matrix3d& rotation, Pose& pose) {
    Vector3d world_anchor = pose.position;
    if (!anchor.isZero(0.0)) {
        world_anchor = pose * anchor;
        pose.position += pose.rotation * (anchor - rotation * anchor);
    }
    pose.rotation = pose.rotation * rotation;
    return world_anchor;
}

void apply_hinge(const Vector3d& anchor, const Vector3d& axis, double angle, Pose& pose, Vector3d& world_axis,
                 Vector3d& world_anchor) {
    world_axis = pose.rotation * axis;
    world_anchor = rotate_about(anchor, exp_rotation(axis * angle), pose);
}

void apply_ball(const Vector3d& anchor, const Matrix3d& rotation, int dof, Pose& pose, Kinematics& out) {
    const Vector3d world_anchor = rotate_about(anchor, rotation, pose);
    for (int k = 0; k < 3; ++k) {  // tangent axes are those of the rotated frame: R exp(delta)
        out.axis[static_cast<std::size_t>(dof + k)] = pose.rotation.col(k);
        out.anchor[static_cast<std::size_t>(dof + k)] = world_anchor;
    }
}

void apply_joint(const ModelJoint& joint, const Eigen::VectorXd& q, Pose& pose, Kinematics& out) {
    const auto dof = static_cast<std::size_t>(joint.dof);
    switch (joint.type) {
        case JointType::Fixed:
            break;
        case JointType::Hinge:
            apply_hinge(joint.anchor, joint.axis, q[joint.q] - joint.reference, pose, out.axis[dof], out.anchor[dof]);
            break;
        case JointType::Slide:
            out.axis[dof] = pose.rotation * joint.axis;
            out.anchor[dof] = pose.position;
            pose.position += out.axis[dof] * (q[joint.q] - joint.reference);
            break;
        case JointType::Universal:
            apply_hinge(joint.anchor, joint.axis, q[joint.q], pose, out.axis[dof], out.anchor[dof]);
            apply_hinge(joint.anchor, joint.axis2, q[joint.q + 1], pose, out.axis[dof + 1], out.anchor[dof + 1]);
            break;
        case JointType::Ball:
            apply_ball(joint.anchor, quaternion_at(q, joint.q).toRotationMatrix(), joint.dof, pose, out);
            break;
        case JointType::Free:
            pose.position = q.segment<3>(joint.q);
            pose.rotation.setIdentity();
            for (std::size_t k = 0; k < 3; ++k) {
                out.axis[dof + k] = Vector3d::Unit(static_cast<Eigen::Index>(k));
                out.anchor[dof + k] = pose.position;
            }
            apply_ball(Vector3d::Zero(), quaternion_at(q, joint.q + 3).toRotationMatrix(), joint.dof + 3, pose, out);
            break;
    }
}

}  // namespace

void forward_kinematics(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, Kinematics& out) {
    const auto num_bodies = static_cast<std::size_t>(model.num_bodies());
    out.poses.resize(num_bodies);
    out.axis.resize(static_cast<std::size_t>(model.num_dofs()));
    out.anchor.resize(static_cast<std::size_t>(model.num_dofs()));
    out.poses[0] = Pose{};
    for (std::size_t i = 1; i < num_bodies; ++i) {
        const ModelBody& body = model.bodies()[i];
        const Pose& parent = out.poses[static_cast<std::size_t>(body.parent)];
        Pose pose;
        pose.rotation = parent.rotation;
        if (body.turned) pose.rotation *= body.orientation;
        pose.position =
            parent.position + parent.rotation * parameters.attachment.row(static_cast<Eigen::Index>(i)).transpose();
        for (int j = 0; j < body.num_joints; ++j) {
            apply_joint(model.joints()[static_cast<std::size_t>(body.first_joint + j)], q, pose, out);
        }
        out.poses[i] = pose;
    }
}

void retract(const Model& model, const Eigen::VectorXd& q, const Eigen::VectorXd& delta, Eigen::VectorXd& out) {
    out.resize(model.num_q());
    for (const ScalarCoordinate& c : model.scalars()) out[c.q] = q[c.q] + delta[c.dof];
    for (const BallCoordinate& c : model.balls()) {
        const Eigen::Quaterniond moved = (quaternion_at(q, c.q) * exp_quaternion(delta.segment<3>(c.dof))).normalized();
        out.segment<4>(c.q) << moved.w(), moved.vec();
    }
}

void difference(const Model& model, const Eigen::VectorXd& from, const Eigen::VectorXd& to, Eigen::VectorXd& out) {
    out.resize(model.num_dofs());
    for (const ScalarCoordinate& c : model.scalars()) out[c.dof] = to[c.q] - from[c.q];
    for (const BallCoordinate& c : model.balls()) {
        out.segment<3>(c.dof) = log_quaternion(quaternion_at(from, c.q).conjugate() * quaternion_at(to, c.q));
    }
}

void body_twists(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& rates,
                 std::vector<Vector6d>& out) {
    const auto num_bodies = static_cast<std::size_t>(model.num_bodies());
    out.resize(num_bodies);
    out[0].setZero();
    for (std::size_t i = 1; i < num_bodies; ++i) {
        const ModelBody& body = model.bodies()[i];
        const auto parent = static_cast<std::size_t>(body.parent);
        const Vector3d& p = kinematics.poses[i].position;
        Vector3d w = out[parent].tail<3>();
        Vector3d v = out[parent].head<3>() + w.cross(p - kinematics.poses[parent].position);
        for (int k = body.first_dof; k < body.first_dof + body.num_dofs; ++k) {
            const auto dof = static_cast<std::size_t>(k);
            if (model.dofs()[dof].rotates) {
                w += rates[k] * kinematics.axis[dof];
                v += rates[k] * kinematics.axis[dof].cross(p - kinematics.anchor[dof]);
            } else {
                v += rates[k] * kinematics.axis[dof];
            }
        }
        out[i] << v, w;
    }
}

void add_pull_back(const Model& model, const Kinematics& kinematics, const std::vector<Vector6d>& wrenches,
                   std::vector<Vector6d>& subtree, Eigen::VectorXd& out) {
    subtree = wrenches;
    for (std::size_t i = static_cast<std::size_t>(model.num_bodies()) - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        const Vector3d force = subtree[i].head<3>(), torque = subtree[i].tail<3>();
        const Vector3d& p = kinematics.poses[i].position;
        for (int k = body.first_dof; k < body.first_dof + body.num_dofs; ++k) {
            const auto dof = static_cast<std::size_t>(k);
            const Vector3d& axis = kinematics.axis[dof];
            out[k] += model.dofs()[dof].rotates ? axis.dot(torque + (p - kinematics.anchor[dof]).cross(force))
                                                : axis.dot(force);
        }
        const auto parent = static_cast<std::size_t>(body.parent);
        subtree[parent].head<3>() += force;
        subtree[parent].tail<3>() += torque + (p - kinematics.poses[parent].position).cross(force);
    }
}

void add_attachment_pull_back(const Model& model, const Kinematics& kinematics, const std::vector<Vector6d>& subtree,
                              Parameters& gradient) {
    for (std::size_t i = 1; i < static_cast<std::size_t>(model.num_bodies()); ++i) {
        const ModelBody& body = model.bodies()[i];
        if (has_free_joint(model, body)) continue;  // placed by its coordinates alone
        const Matrix3d& parent = kinematics.poses[static_cast<std::size_t>(body.parent)].rotation;
        gradient.attachment.row(static_cast<Eigen::Index>(i)) +=
            (parent.transpose() * subtree[i].head<3>()).transpose();
    }
}

}  // namespace farfield
