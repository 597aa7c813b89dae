// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/constraint.hpp"

#include "farfield/math/rotation.hpp"
#include "farfield/model/rigid_body_dynamics.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// The two ends of a connect or weld in the world.
struct Ends {
    Vector3d arm_a, arm_b;  ///< from the body origins
    Vector3d gap;
    Matrix3d axes_a, axes_b;

    Ends(const ModelConstraint& c, const Poses& poses) {
        const Pose &a = poses[static_cast<std::size_t>(c.a)], &b = poses[static_cast<std::size_t>(c.b)];
        arm_a = a.rotation * c.anchor_a;
        arm_b = b.rotation * c.anchor_b;
        gap = (a.position - b.position) + (arm_a - arm_b);
        axes_a = a.rotation * c.orientation;
        axes_b = b.rotation;
    }
};

/// Second derivative of h . exp(w) r by w at 0.
Matrix3d turning(const Vector3d& h, const Vector3d& r) {
    return 0.5 * (h * r.transpose() + r * h.transpose()) - h.dot(r) * Matrix3d::Identity();
}

bool welds(const ModelConstraint& c) { return c.type == ConstraintType::Weld; }

}  // namespace

double length_at(const Length& length, const Eigen::VectorXd& q) {
    double sum = 0.0;
    for (const LengthPart& part : length) sum += part.coefficient * q[part.q];
    return sum;
}

Polynomial coupling_polynomial(const ModelConstraint& c, double source_length) {
    const double x = source_length - c.source_reference;
    Polynomial p;
    for (std::size_t k = c.polynomial.size(); k-- > 0;) {  // Horner, with both derivatives
        p.curvature = p.curvature * x + 2.0 * p.slope;
        p.slope = p.slope * x + p.value;
        p.value = p.value * x + c.polynomial[k];
    }
    return p;
}

ConstraintValue constraint_value(const ModelConstraint& c, const Poses& poses, const Eigen::VectorXd& q) {
    ConstraintValue out(c.num_rows);
    if (c.type == ConstraintType::Coupling) {
        out[0] = length_at(c.terms, q) - c.reference - coupling_polynomial(c, length_at(c.source, q)).value;
        return out;
    }
    const Ends ends(c, poses);
    out.head<3>() = ends.gap;
    if (!welds(c)) return out;
    Vector3d turn = Vector3d::Zero();
    for (int k = 0; k < 3; ++k) turn += 0.5 * ends.axes_a.col(k).cross(ends.axes_b.col(k));
    out.tail<3>() = turn;
    return out;
}

ConstraintJacobian constraint_jacobian(const ModelConstraint& c, const Poses& poses) {
    const Ends ends(c, poses);
    ConstraintJacobian out = ConstraintJacobian::Zero(c.num_rows, 12);
    out.block<3, 3>(0, 0).setIdentity();
    out.block<3, 3>(0, 3) = -hat(ends.arm_a);
    out.block<3, 3>(0, 6) = -Matrix3d::Identity();
    out.block<3, 3>(0, 9) = hat(ends.arm_b);
    if (!welds(c)) return out;
    for (int k = 0; k < 3; ++k) {
        const Matrix3d a = hat(ends.axes_a.col(k)), b = hat(ends.axes_b.col(k));
        out.block<3, 3>(3, 3) += 0.5 * b * a;  // (w x a) x b = b x (a x w)
        out.block<3, 3>(3, 9) -= 0.5 * a * b;  // a x (w x b) = -a x (b x w)
    }
    return out;
}

Eigen::Matrix<double, 12, 12> constraint_curvature(const ModelConstraint& c, const Poses& poses,
                                                   const ConstraintValue& f) {
    const Ends ends(c, poses);
    Eigen::Matrix<double, 12, 12> out = Eigen::Matrix<double, 12, 12>::Zero();
    const Vector3d force = f.head<3>();
    out.block<3, 3>(3, 3) = turning(force, ends.arm_a);
    out.block<3, 3>(9, 9) = -turning(force, ends.arm_b);
    if (!welds(c)) return out;
    const Vector3d torque = f.tail<3>();
    for (int k = 0; k < 3; ++k) {  // 1/2 torque . (a x b) = 1/2 a . (b x torque) = 1/2 b . (torque x a)
        const Vector3d a = ends.axes_a.col(k), b = ends.axes_b.col(k);
        out.block<3, 3>(3, 3) += 0.5 * turning(b.cross(torque), a);
        out.block<3, 3>(9, 9) += 0.5 * turning(torque.cross(a), b);
        const Matrix3d both = 0.5 * hat(a) * hat(torque) * hat(b);
        out.block<3, 3>(3, 9) += both;
        out.block<3, 3>(9, 3) += both.transpose();
    }
    return out;
}

void set_constraint_values(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& q,
                           Eigen::VectorXd& out) {
    out.resize(model.num_constraint_rows());
    for (const ModelConstraint& c : model.constraints())
        out.segment(c.row, c.num_rows) = constraint_value(c, kinematics.poses, q);
}

void set_constraint_rows(const Model& model, const Kinematics& kinematics, const Eigen::VectorXd& q,
                         ConstraintRows& out) {
    set_constraint_values(model, kinematics, q, out.value);
    out.jacobian.setZero(model.num_constraint_rows(), model.num_dofs());
    for (const ModelConstraint& c : model.constraints()) {
        if (c.type == ConstraintType::Coupling) {
            const double slope = coupling_polynomial(c, length_at(c.source, q)).slope;
            for (const LengthPart& part : c.terms) out.jacobian(c.row, part.dof) += part.coefficient;
            for (const LengthPart& part : c.source) out.jacobian(c.row, part.dof) -= slope * part.coefficient;
            continue;
        }
        const ConstraintJacobian by_twists = constraint_jacobian(c, kinematics.poses);
        body_jacobian(model, kinematics, c.a, Vector3d::Zero(), out.jacobian_a);
        body_jacobian(model, kinematics, c.b, Vector3d::Zero(), out.jacobian_b);
        out.jacobian.middleRows(c.row, c.num_rows).noalias() += by_twists.leftCols<6>() * out.jacobian_a;
        out.jacobian.middleRows(c.row, c.num_rows).noalias() += by_twists.rightCols<6>() * out.jacobian_b;
    }
}

}  // namespace farfield
