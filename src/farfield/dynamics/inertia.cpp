// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/inertia.hpp"

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;

Matrix34d placement(const Pose& pose, const Vector3d& origin) {
    Matrix34d T;
    T << pose.rotation, pose.position - origin;
    return T;
}

MomentVector moments_of(const Parameters& parameters, std::size_t body) {
    return parameters.moments.row(static_cast<Eigen::Index>(body)).transpose();
}

Matrix3d second_moment(const MomentVector& m) {
    Matrix3d s;
    s << m[4], m[7], m[8], m[7], m[5], m[9], m[8], m[9], m[6];
    return s;
}

/// K S for a 3x4 matrix K.
EIGEN_ALWAYS_INLINE Matrix34d times_moments(const Matrix34d& K, const MomentVector& m) {
    const Vector3d h = m.segment<3>(1);
    Matrix34d out;
    out.leftCols<3>() = K.leftCols<3>() * second_moment(m) + K.col(3) * h.transpose();
    out.col(3) = K.leftCols<3>() * h + K.col(3) * m[0];
    return out;
}

/// Mass times the position of the centre of mass: the last column of T S.
Vector3d first_moment(const Matrix34d& T, const MomentVector& m) {
    return T.leftCols<3>() * m.segment<3>(1) + T.col(3) * m[0];
}

/// What pulls on a body: gravity, less what is compensated.
Vector3d gravity_on(const Model& model, const Parameters& parameters, std::size_t body) {
    return model.bodies()[body].weight_share * parameters.gravity;
}

/// (T - Y)/dt^2 - g e4^T
Matrix34d acceleration(const Matrix34d& T, const Matrix34d& Y, double dt, const Vector3d& gravity) {
    Matrix34d K = (T - Y) / (dt * dt);
    K.col(3) -= gravity;
    return K;
}

/// Wrench at the body origin of the derivative `D` (3x4) by T = [R | p]: force D4, torque axial(D33 R^T).
Vector6d wrench_of(const Matrix34d& D, const Matrix3d& rotation) {
    Vector6d out;
    out << D.col(3), axial(D.leftCols<3>() * rotation.transpose());
    return out;
}

}  // namespace

void set_inertia_target(const Model& model, const Parameters& parameters, const Kinematics& now,
                        const Kinematics& previous, InertiaTarget& out) {
    const auto n = static_cast<std::size_t>(model.num_bodies());
    out.origin.resize(n);
    out.Y.resize(n);
    out.YS.resize(n);
    out.origin[0].setZero();
    for (std::size_t i = 1; i < n; ++i) {
        out.origin[i] = now.poses[static_cast<std::size_t>(model.bodies()[i].root)].position;
        out.Y[i] = 2.0 * placement(now.poses[i], out.origin[i]) - placement(previous.poses[i], out.origin[i]);
        out.YS[i] = times_moments(out.Y[i], moments_of(parameters, i));
    }
}

double inertia_energy(const Model& model, const Parameters& parameters, double dt, const InertiaTarget& target,
                      const Poses& poses) {
    double energy = 0.0;
    for (std::size_t i = 1; i < poses.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const MomentVector m = moments_of(parameters, i);
        const Matrix34d T = placement(poses[i], target.origin[i]);
        const Matrix34d D = T - target.Y[i];
        energy += 0.5 / (dt * dt) * times_moments(D, m).cwiseProduct(D).sum() -
                  gravity_on(model, parameters, i).dot(first_moment(T, m));
    }
    return energy;
}

namespace {

/// Twists of all degrees of freedom about their tree's origin.
void set_twists(const Model& model, const InertiaTarget& target, const Kinematics& kinematics, InertiaScratch& s) {
    const auto num_dofs = static_cast<std::size_t>(model.num_dofs());
    s.v.resize(num_dofs);
    s.a.resize(num_dofs);
    for (std::size_t k = 0; k < num_dofs; ++k) {
        const Dof& dof = model.dofs()[k];
        const Vector3d& origin = target.origin[static_cast<std::size_t>(dof.body)];
        if (dof.rotates) {
            s.a[k] = kinematics.axis[k];
            s.v[k] = (kinematics.anchor[k] - origin).cross(kinematics.axis[k]);
        } else {
            s.a[k].setZero();
            s.v[k] = kinematics.axis[k];
        }
    }
}

/// Gradient entries of the degrees of freedom of body i, whose subtree sums are complete.
void add_gradient(const Model& model, std::size_t i, const InertiaScratch& s, Eigen::VectorXd& gradient) {
    const ModelBody& body = model.bodies()[i];
    const Matrix3d W33 = s.W[i].leftCols<3>();
    const Vector3d W4 = s.W[i].col(3), torque = axial(W33);
    for (int k = body.first_dof; k < body.first_dof + body.num_dofs; ++k) {
        const auto dof = static_cast<std::size_t>(k);
        gradient[k] += s.a[dof].dot(torque) + s.v[dof].dot(W4);
    }
}

/// The same of the Hessian.
void add_hessian(const Model& model, std::size_t i, const InertiaScratch& s, BlockMatrix& hessian) {
    const ModelBody& body = model.bodies()[i];
    const BlockMatrix::Block block = hessian.block(body.root, body.root);
    const Matrix3d W33 = s.W[i].leftCols<3>();
    const Vector3d W4 = s.W[i].col(3);
    const Matrix3d angular = (s.M33[i].trace() - W33.trace()) * Matrix3d::Identity() - s.M33[i] + W33.transpose();
    for (int k = body.first_dof; k < body.first_dof + body.num_dofs; ++k) {
        const auto dof = static_cast<std::size_t>(k);
        const Vector3d b_w = angular * s.a[dof] + (s.M4[i] - W4).cross(s.v[dof]);
        const Vector3d b_v = s.a[dof].cross(s.M4[i]) + s.mass[i] * s.v[dof];
        const int ball = model.dofs()[dof].ball;
        for (int j = k; j >= 0; j = model.dofs()[static_cast<std::size_t>(j)].parent) {
            const auto other = static_cast<std::size_t>(j);
            const double value = s.a[other].dot(b_w) + s.v[other].dot(b_v);
            const bool same_ball = ball >= 0 && j >= ball && j != k;  // symmetrise inside a ball: average both orders
            block(k, j) += same_ball ? 0.5 * value : value;
        }
        if (ball < 0) continue;
        for (int j = k + 1; j < ball + 3; ++j) {
            const auto other = static_cast<std::size_t>(j);
            block(j, k) += 0.5 * (s.a[other].dot(b_w) + s.v[other].dot(b_v));
        }
    }
}

}  // namespace

double add_inertia_derivatives(const Model& model, const Parameters& parameters, double dt, const InertiaTarget& target,
                               const Kinematics& kinematics, InertiaScratch& s, Eigen::VectorXd& gradient,
                               BlockMatrix* hessian) {
    const auto n = static_cast<std::size_t>(model.num_bodies());
    s.W.assign(n, Matrix34d::Zero());
    if (hessian) {
        s.M33.assign(n, Matrix3d::Zero());
        s.M4.assign(n, Vector3d::Zero());
        s.mass.assign(n, 0.0);
    }
    set_twists(model, target, kinematics, s);
    const double scale = 1.0 / (dt * dt);
    double energy = 0.0;
    for (std::size_t i = n - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        if (body.last_dof < 0) continue;
        const MomentVector m = moments_of(parameters, i);
        const Vector3d gravity = gravity_on(model, parameters, i);
        const Matrix34d T = placement(kinematics.poses[i], target.origin[i]);
        const Matrix3d R = T.leftCols<3>();
        const Vector3d p = T.col(3);
        const Matrix34d D = T - target.Y[i];
        const Matrix34d TS = times_moments(T, m);
        Matrix34d KS = scale * (TS - target.YS[i]);
        KS.leftCols<3>() -= gravity * m.segment<3>(1).transpose();
        KS.col(3) -= gravity * m[0];
        energy += 0.5 * (KS.cwiseProduct(D).sum() + gravity.dot(first_moment(D, m))) - gravity.dot(TS.col(3));
        s.W[i].leftCols<3>() += KS.leftCols<3>() * R.transpose() + KS.col(3) * p.transpose();
        s.W[i].col(3) += KS.col(3);
        const auto parent = static_cast<std::size_t>(body.parent);
        if (parent > 0) s.W[parent] += s.W[i];
        if (body.num_dofs > 0) add_gradient(model, i, s, gradient);
        if (!hessian) continue;
        s.M33[i] += scale * (TS.leftCols<3>() * R.transpose() + TS.col(3) * p.transpose());
        s.M4[i] += scale * TS.col(3);
        s.mass[i] += scale * m[0];
        if (parent > 0) {
            s.M33[parent] += s.M33[i];
            s.M4[parent] += s.M4[i];
            s.mass[parent] += s.mass[i];
        }
        if (body.num_dofs > 0) add_hessian(model, i, s, *hessian);
    }
    return energy;
}

void inertia_vjp(const Model& model, const Parameters& parameters, double dt, const InertiaTarget& target,
                 const Poses& poses, const Poses& poses_now, const Poses& poses_previous,
                 std::span<const std::vector<Vector6d>> twists, std::span<InertiaVjp> outs,
                 std::span<Parameters> gradients) {
    const auto n = poses.size();
    for (InertiaVjp& out : outs.first(twists.size())) {
        out.now.assign(n, Vector6d::Zero());
        out.previous.assign(n, Vector6d::Zero());
        out.force.assign(n, Vector3d::Zero());
        out.lambda_force.assign(n, Vector3d::Zero());
    }
    for (std::size_t i = 1; i < n; ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const MomentVector m = moments_of(parameters, i);
        const Matrix34d T = placement(poses[i], target.origin[i]);
        const Matrix34d K = acceleration(T, target.Y[i], dt, gravity_on(model, parameters, i));
        const Vector3d force = first_moment(K, m);
        for (std::size_t d = 0; d < twists.size(); ++d) {
            const Vector3d v = twists[d][i].head<3>(), w = twists[d][i].tail<3>();
            Matrix34d T_lambda;
            T_lambda << hat(w) * poses[i].rotation, v;
            const Matrix34d pulled = times_moments(T_lambda, m) / (dt * dt);  // = -dphi/dY = dphi/dT
            InertiaVjp& out = outs[d];
            out.now[i] = wrench_of(2.0 * pulled, poses_now[i].rotation);
            out.previous[i] = wrench_of(-pulled, poses_previous[i].rotation);
            out.force[i] = force;
            out.lambda_force[i] = pulled.col(3);
            const Eigen::Matrix4d S_bar = T_lambda.transpose() * K;
            auto row = gradients[d].moments.row(static_cast<Eigen::Index>(i));
            row[0] -= S_bar(3, 3);
            for (int c = 0; c < 3; ++c) {
                row[1 + c] -= S_bar(c, 3) + S_bar(3, c);
                row[4 + c] -= S_bar(c, c);
            }
            row[7] -= S_bar(0, 1) + S_bar(1, 0);
            row[8] -= S_bar(0, 2) + S_bar(2, 0);
            row[9] -= S_bar(1, 2) + S_bar(2, 1);
            gradients[d].gravity += model.bodies()[i].weight_share * dt * dt * pulled.col(3);
        }
    }
}

double kinetic_energy(const Model& model, const Parameters& parameters, double dt, const Poses& from, const Poses& to) {
    double energy = 0.0;
    for (std::size_t i = 1; i < to.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const Matrix34d V = (placement(to[i], from[i].position) - placement(from[i], from[i].position)) / dt;
        energy += 0.5 * times_moments(V, moments_of(parameters, i)).cwiseProduct(V).sum();
    }
    return energy;
}

double gravity_energy(const Model& model, const Parameters& parameters, const Poses& poses) {
    double energy = 0.0;
    for (std::size_t i = 1; i < poses.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const Matrix34d T = placement(poses[i], Vector3d::Zero());
        energy -= gravity_on(model, parameters, i).dot(first_moment(T, moments_of(parameters, i)));
    }
    return energy;
}

}  // namespace farfield
