// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/pairwise/relative_sum.hpp"

#include "farfield/math/rotation.hpp"

namespace farfield::contact {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void add_rank_one(const Vector6d& u, double factor, Matrix6d& hessian) {
    for (int j = 0; j < 6; ++j) {
        const double scaled = factor * u[j];
        for (int i = j; i < 6; ++i) hessian(i, j) += scaled * u[i];
    }
}

void add_symmetric_product(const Vector6d& u, const Vector6d& w, double factor, Matrix6d& hessian) {
    for (int j = 0; j < 6; ++j) {
        for (int i = j; i < 6; ++i) hessian(i, j) += factor * (u[i] * w[j] + w[i] * u[j]);
    }
}

void add_rotation_terms(const Vector3d& force, const Vector3d& arm, Matrix6d& hessian) {
    const double trace = force.dot(arm);
    for (int j = 0; j < 3; ++j) {
        hessian(3 + j, 3 + j) -= trace;
        for (int i = j; i < 3; ++i) hessian(3 + i, 3 + j) += 0.5 * (force[i] * arm[j] + arm[i] * force[j]);
    }
}

void RelativeSum::turn(const Matrix3d& rotation) {
    Matrix6d both = Matrix6d::Zero();
    both.topLeftCorner<3, 3>() = both.bottomRightCorner<3, 3>() = rotation;
    gradient = (both * gradient).eval();
    hessian = (both * Matrix6d(hessian.selfadjointView<Eigen::Lower>()) * both.transpose()).eval();
}

PairDerivatives to_body_charts(const RelativeSum& sum, const Vector3d& s_a, const Vector3d& s_b) {
    const Vector3d force = sum.gradient.head<3>(), torque = sum.gradient.tail<3>();
    const Matrix6d h = sum.hessian.selfadjointView<Eigen::Lower>();
    Matrix6d t_a = Matrix6d::Identity(), t_b = Matrix6d::Identity();
    t_a.topRightCorner<3, 3>() = hat(s_a);
    t_b.topRightCorner<3, 3>() = hat(s_b);
    Matrix6d h_bb = h, h_ab = -h;
    h_bb.topRightCorner<3, 3>() += hat(force);
    h_bb.bottomLeftCorner<3, 3>() -= hat(force);
    h_ab.topRightCorner<3, 3>() -= hat(force);
    h_ab.bottomRightCorner<3, 3>() -= 0.5 * hat(torque);

    const auto origin_term = [](const Vector3d& f, const Vector3d& s) -> Matrix3d {
        return f.dot(s) * Matrix3d::Identity() - 0.5 * (f * s.transpose() + s * f.transpose());
    };
    PairDerivatives out;
    out.gradient.head<6>() = t_a.transpose() * sum.gradient;
    out.gradient.tail<6>() = -t_b.transpose() * sum.gradient;
    out.hessian.topLeftCorner<6, 6>() = t_a.transpose() * h * t_a;
    out.hessian.block<3, 3>(3, 3) += origin_term(force, s_a);
    out.hessian.bottomRightCorner<6, 6>() = t_b.transpose() * h_bb * t_b;
    out.hessian.block<3, 3>(9, 9) += origin_term(-force, s_b);
    out.hessian.topRightCorner<6, 6>() = t_a.transpose() * h_ab * t_b;
    out.hessian.bottomLeftCorner<6, 6>() = out.hessian.topRightCorner<6, 6>().transpose();
    return out;
}

}  // namespace farfield::contact
