// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/joint_terms.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/math/rotation.hpp"
#include "farfield/model/drive.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d rotation_at(const Eigen::VectorXd& q, int index) {
    return Eigen::Quaterniond(q[index], q[index + 1], q[index + 2], q[index + 3]).toRotationMatrix();
}

/// Value, slope and curvature of a function of one number.
struct Taylor {
    double value = 0.0, slope = 0.0, curvature = 0.0;
    void add_square(double weight, double deviation,
                    double scale = 1.0) {  // weight/2 (scale x + ...)^2 with that deviation
        value += 0.5 * weight * deviation * deviation;
        slope += weight * deviation * scale;
        curvature += weight * scale * scale;
    }
};

/// Gains of one Pd actuator in the standard convention.
struct Gains {
    double kp = 0.0, kd = 0.0;    ///< effective
    double dkp = 0.0, dkd = 0.0;  ///< effective per nominal
};
Gains gains(const JointStep& step, Eigen::Index actuator) {
    const GainFactors factors = gain_factors(step.options);
    return {factors.kp * step.parameters.kp[actuator], factors.kd * step.parameters.kd[actuator], factors.kp,
            factors.kd};
}

bool acts(const Model& model, int dof) { return !model.dofs()[static_cast<std::size_t>(dof)].prescribed; }

Taylor scalar_stored(const Parameters& parameters, const ScalarCoordinate& c, double q) {
    Taylor t;
    t.add_square(parameters.stiffness[c.dof], q - c.spring_reference);
    const double x = excess(c.range, q);
    t.value += c.limit_stiffness / 6.0 * std::abs(x * x * x);
    t.slope += 0.5 * c.limit_stiffness * x * std::abs(x);
    t.curvature += c.limit_stiffness * std::abs(x);
    return t;
}

Taylor scalar_passive(const JointStep& step, const ScalarCoordinate& c, double q) {
    const double dt = step.options.dt, d = q - step.now.q[c.q];
    Taylor t = scalar_stored(step.parameters, c, q);
    t.add_square(step.parameters.damping[c.dof] / dt, d);
    t.add_square(step.parameters.armature[c.dof], d / dt - step.now.v[c.dof], 1.0 / dt);
    return t;
}

void add_scalar_actuator(const JointStep& step, Eigen::Index actuator, const ScalarCoordinate& c, double q, Taylor& t) {
    const Drive by = drive_of(step.model, step.model.actuators()[static_cast<std::size_t>(actuator)], c.dof);
    const double dt = step.options.dt, d = q - step.now.q[c.q];
    if (by.force >= 0) {
        t.value -= step.control[by.force] * by.gear * d;
        t.slope -= step.control[by.force] * by.gear;
        return;
    }
    const Gains k = gains(step, actuator);
    t.add_square(k.kp, by.gear * q - input_of(step.control, by.position), by.gear);
    t.add_square(k.kd * dt, by.gear * d / dt - input_of(step.control, by.velocity), by.gear / dt);
}

/// f(e) of a ball coordinate: value, y = df/de, K = d2f/de2.
struct BallTaylor {
    double value = 0.0;
    Vector3d y = Vector3d::Zero();
    Matrix3d K = Matrix3d::Zero();
    void add_square(const Vector3d& weight, const Vector3d& deviation, double scale = 1.0) {
        value += 0.5 * weight.dot(deviation.cwiseAbs2());
        y += scale * weight.cwiseProduct(deviation);
        K.diagonal() += scale * scale * weight;
    }
};

/// log of the rotation from `base` to `to`, with what its derivatives need.
struct BallError {
    Vector3d e;
    Matrix3d Jr_inv, Jl_inv;
    BallError(const Matrix3d& base, const Matrix3d& to)
        : e(log_rotation(base.transpose() * to)), Jr_inv(right_jacobian_inverse(e)), Jl_inv(Jr_inv.transpose()) {}
    [[nodiscard]] Vector3d gradient(const BallTaylor& f) const { return Jl_inv * f.y; }  // J_r^-T = J_l^-1
    [[nodiscard]] Matrix3d slope(const BallTaylor& f) const {                            // d(gradient)/de
        return right_jacobian_inverse_transpose_derivative(e, f.y) + Jl_inv * f.K;
    }
    [[nodiscard]] Matrix3d hessian(const BallTaylor& f) const {
        const Matrix3d h = slope(f) * Jr_inv;
        return 0.5 * (h + h.transpose());
    }
    /// Gradient of lambda . gradient(f) by a tangent step of `base`: e changes by -J_l^-1.
    [[nodiscard]] Vector3d base_bar(const BallTaylor& f, const Vector3d& lambda) const {
        return -Jl_inv.transpose() * (slope(f).transpose() * lambda);
    }
};

BallTaylor ball_spring(const Parameters& parameters, const BallCoordinate& c, const Vector3d& e) {
    BallTaylor f;
    f.add_square(parameters.stiffness.segment<3>(c.dof), e);
    const double angle = e.norm();
    if (c.max_angle && angle > *c.max_angle && angle > 0.0) {
        const double x = angle - *c.max_angle;
        const Vector3d u = e / angle;
        f.value += c.limit_stiffness / 6.0 * x * x * x;
        f.y += 0.5 * c.limit_stiffness * x * x * u;
        f.K += c.limit_stiffness *
               (x * u * u.transpose() + 0.5 * x * x / angle * (Matrix3d::Identity() - u * u.transpose()));
    }
    return f;
}

BallTaylor ball_increment(const JointStep& step, const BallCoordinate& c, const Vector3d& e) {
    const double dt = step.options.dt;
    BallTaylor f;
    f.add_square(step.parameters.damping.segment<3>(c.dof) / dt, e);
    f.add_square(step.parameters.armature.segment<3>(c.dof), e / dt - step.now.v.segment<3>(c.dof), 1.0 / dt);
    return f;
}

BallTaylor ball_pd_velocity(const JointStep& step, const Gains& k, const BallDrive& by, const Vector3d& e) {
    const double dt = step.options.dt;
    BallTaylor f;
    f.add_square(Vector3d::Constant(k.kd * dt), e / dt - by.velocity, 1.0 / dt);
    return f;
}

BallTaylor square(double weight, const Vector3d& e) {
    BallTaylor f;
    f.add_square(Vector3d::Constant(weight), e);
    return f;
}

/// Everything a ball coordinate contributes besides actuators: calls use(error, taylor) for each base rotation.
template <class Use>
void for_each_ball_passive(const JointStep& step, const BallCoordinate& c, const Matrix3d& R, Use&& use) {
    const bool stored = c.max_angle || !step.parameters.stiffness.segment<3>(c.dof).isZero(0.0);
    const bool moving = !step.parameters.damping.segment<3>(c.dof).isZero(0.0) ||
                        !step.parameters.armature.segment<3>(c.dof).isZero(0.0);
    if (stored) {
        const BallError error(Matrix3d::Identity(), R);
        use(error, ball_spring(step.parameters, c, error.e));
    }
    if (moving) {
        const BallError error(rotation_at(step.now.q, c.q), R);
        use(error, ball_increment(step, c, error.e));
    }
}

/// The actuator's contribution on a ball: use(error, taylor) for each base rotation.
template <class Use>
void for_each_ball_drive(const JointStep& step, const BallCoordinate& c, Eigen::Index a, const Matrix3d& R, Use&& use) {
    const BallDrive by(step.model, step.model.actuators()[static_cast<std::size_t>(a)], c, step.control);
    const BallError increment(rotation_at(step.now.q, c.q), R);
    if (by.motor) {
        BallTaylor f;
        f.value = -by.force.dot(increment.e);
        f.y = -by.force;
        use(increment, f);
        return;
    }
    const Gains k = gains(step, a);
    const BallError error(exp_rotation(by.position), R);
    use(error, square(k.kp, error.e));
    use(increment, ball_pd_velocity(step, k, by, increment.e));
}

}  // namespace

GainFactors gain_factors(const StepOptions& options) {
    const bool paper = options.pd_convention == PdConvention::Paper;
    return {paper ? 2.0 : 1.0, paper ? 2.0 / options.dt : 1.0};
}

double joint_energy(const JointStep& step, const Eigen::VectorXd& q) {
    double energy = 0.0;
    const auto add = [&](const BallError&, const BallTaylor& f) { energy += f.value; };
    for (const ScalarCoordinate& c : step.model.scalars()) {
        if (acts(step.model, c.dof)) energy += scalar_passive(step, c, q[c.q]).value;
    }
    for (const BallCoordinate& c : step.model.balls()) {
        if (acts(step.model, c.dof)) for_each_ball_passive(step, c, rotation_at(q, c.q), add);
    }
    for_each_drive(
        step.model,
        [&](const ScalarCoordinate& c, Eigen::Index a) {
            Taylor t;
            add_scalar_actuator(step, a, c, q[c.q], t);
            energy += t.value;
        },
        [&](const BallCoordinate& c, Eigen::Index a) { for_each_ball_drive(step, c, a, rotation_at(q, c.q), add); });
    return energy;
}

double add_joint_derivatives(const JointStep& step, const Eigen::VectorXd& q, Eigen::VectorXd& gradient,
                             BlockMatrix* hessian) {
    double energy = 0.0;
    const auto add_scalar = [&](const ScalarCoordinate& c, const Taylor& t) {
        energy += t.value;
        gradient[c.dof] += t.slope;
        if (!hessian) return;
        const int tree = tree_of(step.model, c.dof);
        hessian->block(tree, tree)(c.dof, c.dof) += t.curvature;
    };
    int dof = 0;
    const auto add_ball = [&](const BallError& error, const BallTaylor& f) {
        energy += f.value;
        gradient.segment<3>(dof) += error.gradient(f);
        if (!hessian) return;
        const int tree = tree_of(step.model, dof);
        const BlockMatrix::Block block = hessian->block(tree, tree);
        const Matrix3d h = error.hessian(f);
        for (int c = 0; c < 3; ++c) {
            for (int r = c; r < 3; ++r) block(dof + r, dof + c) += h(r, c);
        }
    };
    for (const ScalarCoordinate& c : step.model.scalars()) {
        if (acts(step.model, c.dof)) add_scalar(c, scalar_passive(step, c, q[c.q]));
    }
    for (const BallCoordinate& c : step.model.balls()) {
        dof = c.dof;
        if (acts(step.model, c.dof)) for_each_ball_passive(step, c, rotation_at(q, c.q), add_ball);
    }
    for_each_drive(
        step.model,
        [&](const ScalarCoordinate& c, Eigen::Index a) {
            Taylor t;
            add_scalar_actuator(step, a, c, q[c.q], t);
            add_scalar(c, t);
        },
        [&](const BallCoordinate& c, Eigen::Index a) {
            dof = c.dof;
            for_each_ball_drive(step, c, a, rotation_at(q, c.q), add_ball);
        });
    return energy;
}

namespace {

/// What joint_vjp is asked for: phi = lambda . dE/dq+ for each of these directions.
struct JointAdjoint {
    const JointStep& step;
    const Eigen::VectorXd& q;
    std::span<const Eigen::VectorXd> lambdas;
    std::span<StepProducts> products;
    std::span<Parameters> gradients;

    void passive(const ScalarCoordinate& c) const;
    void passive(const BallCoordinate& c) const;
    void drive_by(const ScalarCoordinate& c, Eigen::Index a) const;
    void drive_by(const BallCoordinate& c, Eigen::Index a) const;
};

void JointAdjoint::passive(const ScalarCoordinate& c) const {
    const double dt = step.options.dt, d = q[c.q] - step.now.q[c.q];
    const Parameters& p = step.parameters;
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
        const double l = lambdas[k][c.dof];
        products[k].q_now[c.dof] += l * (p.damping[c.dof] / dt + p.armature[c.dof] / (dt * dt));
        products[k].v_now[c.dof] += l * p.armature[c.dof] / dt;
        gradients[k].stiffness[c.dof] -= l * (q[c.q] - c.spring_reference);
        gradients[k].damping[c.dof] -= l * d / dt;
        gradients[k].armature[c.dof] -= l * (d / dt - step.now.v[c.dof]) / dt;
    }
}

void JointAdjoint::passive(const BallCoordinate& c) const {
    const double dt = step.options.dt;
    const Parameters& p = step.parameters;
    const Matrix3d R = rotation_at(q, c.q);
    const BallError absolute(Matrix3d::Identity(), R), increment(rotation_at(step.now.q, c.q), R);
    const BallTaylor f = ball_increment(step, c, increment.e);
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
        const Vector3d l = lambdas[k].segment<3>(c.dof);
        const Vector3d y_abs = absolute.Jr_inv * l, y_inc = increment.Jr_inv * l;  // d(lambda . gradient)/dy
        products[k].q_now.segment<3>(c.dof) -= increment.base_bar(f, l);
        products[k].v_now.segment<3>(c.dof) += p.armature.segment<3>(c.dof).cwiseProduct(y_inc) / dt;
        gradients[k].stiffness.segment<3>(c.dof) -= absolute.e.cwiseProduct(y_abs);
        gradients[k].damping.segment<3>(c.dof) -= increment.e.cwiseProduct(y_inc) / dt;
        gradients[k].armature.segment<3>(c.dof) -=
            (increment.e / dt - step.now.v.segment<3>(c.dof)).cwiseProduct(y_inc) / dt;
    }
}

void JointAdjoint::drive_by(const ScalarCoordinate& c, Eigen::Index a) const {
    const Drive by = drive_of(step.model, step.model.actuators()[static_cast<std::size_t>(a)], c.dof);
    const Gains gain = by.force >= 0 ? Gains{} : gains(step, a);
    const double dt = step.options.dt, d = q[c.q] - step.now.q[c.q];
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
        const double l = lambdas[k][c.dof] * by.gear;
        Eigen::VectorXd& control_bar = products[k].control;
        if (by.force >= 0) {
            control_bar[by.force] += l;
            continue;
        }
        if (by.position >= 0) control_bar[by.position] += l * gain.kp;
        if (by.velocity >= 0) control_bar[by.velocity] += l * gain.kd;
        products[k].q_now[c.dof] += l * gain.kd * by.gear / dt;
        gradients[k].kp[a] -= l * gain.dkp * (by.gear * q[c.q] - input_of(step.control, by.position));
        gradients[k].kd[a] -= l * gain.dkd * (by.gear * d / dt - input_of(step.control, by.velocity));
    }
}

void JointAdjoint::drive_by(const BallCoordinate& c, Eigen::Index a) const {
    const ModelActuator& actuator = step.model.actuators()[static_cast<std::size_t>(a)];
    const BallDrive by(step.model, actuator, c, step.control);
    const Gains gain = by.motor ? Gains{} : gains(step, a);
    const double dt = step.options.dt;
    const Matrix3d R = rotation_at(q, c.q);
    const BallError increment(rotation_at(step.now.q, c.q), R), error(exp_rotation(by.position), R);
    BallTaylor motor;
    motor.y = -by.force;
    const BallTaylor f = by.motor ? motor : ball_pd_velocity(step, gain, by, increment.e);
    const BallTaylor spring = square(gain.kp, error.e);
    const Matrix3d target_jacobian = right_jacobian(by.position);
    for (std::size_t k = 0; k < lambdas.size(); ++k) {
        const Vector3d l = lambdas[k].segment<3>(c.dof), y_inc = increment.Jr_inv * l;
        Eigen::VectorXd& control_bar = products[k].control;
        products[k].q_now.segment<3>(c.dof) -= increment.base_bar(f, l);
        if (by.motor) {
            for (int i = 0; i < 3; ++i) control_bar[by.of[i].force] += by.of[i].gear * y_inc[i];
            continue;
        }
        const Vector3d target_bar = target_jacobian.transpose() * error.base_bar(spring, l);
        for (int i = 0; i < 3; ++i) {
            if (by.of[i].position >= 0) control_bar[by.of[i].position] -= target_bar[i];
            if (by.of[i].velocity >= 0) control_bar[by.of[i].velocity] += gain.kd * y_inc[i];
        }
        gradients[k].kp[a] -= gain.dkp * error.e.dot(error.Jr_inv * l);
        gradients[k].kd[a] -= gain.dkd * (increment.e / dt - by.velocity).dot(y_inc);
    }
}

}  // namespace

void joint_vjp(const JointStep& step, const Eigen::VectorXd& q, std::span<const Eigen::VectorXd> lambdas,
               std::span<StepProducts> products, std::span<Parameters> gradients) {
    const JointAdjoint adjoint{step, q, lambdas, products, gradients};
    for (const ScalarCoordinate& c : step.model.scalars()) {
        if (acts(step.model, c.dof)) adjoint.passive(c);
    }
    for (const BallCoordinate& c : step.model.balls()) {
        if (acts(step.model, c.dof)) adjoint.passive(c);
    }
    for_each_drive(
        step.model, [&](const ScalarCoordinate& c, Eigen::Index a) { adjoint.drive_by(c, a); },
        [&](const BallCoordinate& c, Eigen::Index a) { adjoint.drive_by(c, a); });
}

double stored_joint_energy(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q) {
    double energy = 0.0;
    for (const ScalarCoordinate& c : model.scalars()) {
        if (acts(model, c.dof)) energy += scalar_stored(parameters, c, q[c.q]).value;
    }
    for (const BallCoordinate& c : model.balls()) {
        if (acts(model, c.dof)) energy += ball_spring(parameters, c, log_rotation(rotation_at(q, c.q))).value;
    }
    return energy;
}

}  // namespace farfield
