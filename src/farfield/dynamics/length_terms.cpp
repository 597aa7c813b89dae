// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/length_terms.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/model/saturation.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;

/// A length now and at the end of the step.
struct Motion {
    double now = 0.0, next = 0.0, speed = 0.0;  ///< speed: at the start
    double d = 0.0;

    Motion(const JointStep& step, std::span<const LengthPart> length, const VectorXd& q) {
        for (const LengthPart& part : length) {
            now += part.coefficient * step.now.q[part.q];
            next += part.coefficient * q[part.q];
            speed += part.coefficient * step.now.v[part.dof];
            d += part.coefficient * (q[part.q] - step.now.q[part.q]);
        }
    }
};

/// Energy, slope and curvature by l+, and how the slope changes with l and l'.
struct Term {
    double value = 0.0, slope = 0.0, curvature = 0.0, slope_by_now = 0.0, slope_by_speed = 0.0;
};

double beyond(const Range& range, double x) {  // signed: negative below
    return x < range.lower ? x - range.lower : x > range.upper ? x - range.upper : 0.0;
}

void add_stored(const ModelTendon& tendon, double l, Term& t) {
    const double x = beyond(tendon.rest, l);
    t.value += 0.5 * tendon.stiffness * x * x;
    t.slope += tendon.stiffness * x;
    t.curvature += x != 0.0 || tendon.rest.lower == tendon.rest.upper ? tendon.stiffness : 0.0;
    if (!tendon.range) return;
    const double e = beyond(*tendon.range, l);
    t.value += tendon.limit_stiffness / 6.0 * std::abs(e * e * e);
    t.slope += 0.5 * tendon.limit_stiffness * e * std::abs(e);
    t.curvature += tendon.limit_stiffness * std::abs(e);
}

/// Dry friction per unit of force: h(|speed|), times dt.
Term dry(double smoothing, double dt, double d) {
    const double speed = d / dt, y = std::abs(speed) / smoothing;
    Term t;
    if (y < 1.0) {
        t.value = dt * smoothing * (y * y - y * y * y / 3.0);
        t.slope = std::copysign(2.0 * y - y * y, d);
        t.curvature = (2.0 - 2.0 * y) / (smoothing * dt);
    } else {
        t.value = dt * smoothing * (y - 1.0 / 3.0);
        t.slope = std::copysign(1.0, d);
    }
    t.slope_by_now = -t.curvature;
    return t;
}

Term tendon_term(const JointStep& step, const ModelTendon& tendon, const Motion& m) {
    const double dt = step.options.dt;
    Term t;
    add_stored(tendon, m.next, t);
    t.value += 0.5 * tendon.damping / dt * m.d * m.d;
    t.slope += tendon.damping / dt * m.d;
    t.curvature += tendon.damping / dt;
    t.slope_by_now -= tendon.damping / dt;
    const double gain = m.d / dt - m.speed;
    t.value += 0.5 * tendon.armature * gain * gain;
    t.slope += tendon.armature * gain / dt;
    t.curvature += tendon.armature / (dt * dt);
    t.slope_by_now -= tendon.armature / (dt * dt);
    t.slope_by_speed -= tendon.armature / dt;
    const Term friction = dry(tendon.friction_speed, dt, m.d);
    t.value += tendon.friction * friction.value;
    t.slope += tendon.friction * friction.slope;
    t.curvature += tendon.friction * friction.curvature;
    t.slope_by_now += tendon.friction * friction.slope_by_now;
    return t;
}

/// The force of a drive: affine in l+, then saturated.
struct DriveForce {
    double kp = 0.0, kd = 0.0, dkp = 1.0, dkd = 1.0;        ///< effective gains, and those per nominal one
    double position = 0.0, velocity = 0.0;                  ///< targets
    int by_position = -1, by_velocity = -1, by_force = -1;  ///< controls
    double force = 0.0, at_start = 0.0;
    Saturated out;

    DriveForce(const JointStep& step, const ModelActuator& a, Eigen::Index index, const Motion& m) {
        const double dt = step.options.dt;
        const bool paper = step.options.pd_convention == PdConvention::Paper && a.type == ActuatorType::Pd;
        dkp = paper ? 2.0 : 1.0;
        dkd = paper ? 2.0 / dt : 1.0;
        kp = dkp * step.parameters.kp[index];
        kd = dkd * step.parameters.kd[index];
        double offset = 0.0;
        if (a.type == ActuatorType::Pd) {
            if (a.position_input) by_position = a.control;
            if (a.velocity_input) by_velocity = a.control + (a.position_input ? 1 : 0);
            position = by_position < 0 ? 0.0 : step.control[by_position];
            velocity = by_velocity < 0 ? 0.0 : step.control[by_velocity];
        } else {
            by_force = a.control;
            offset = a.gain * step.control[a.control] + a.bias;
            if (a.type == ActuatorType::Motor) kp = kd = dkp = dkd = 0.0;
        }
        at_start = offset + kp * (position - m.now) + kd * velocity;
        force = offset + kp * (position - m.next) + kd * (velocity - m.d / dt);
        out = a.force_range ? saturate(*a.force_range, force) : Saturated{force, 1.0};
    }
};

Term drive_term(const JointStep& step, const ModelActuator& a, Eigen::Index index, const Motion& m) {
    const DriveForce f(step, a, index, m);
    const double steep = f.kp + f.kd / step.options.dt;
    const double mean =
        a.force_range ? mean_saturated(*a.force_range, f.at_start, f.force) : 0.5 * (f.at_start + f.force);
    return {.value = -mean * m.d,
            .slope = -f.out.value,
            .curvature = f.out.slope * steep,
            .slope_by_now = -f.out.slope * f.kd / step.options.dt};
}

/// Calls use(length, term, which) for every length there is; `which` says what the vjp by parameters needs.
enum class Source { Tendon, Drive, Friction };
template <class Use>
void for_each_length(const JointStep& step, const VectorXd& q, Use&& use) {
    const Model& model = step.model;
    for (const ModelTendon& tendon : model.tendons()) {
        const Motion m(step, tendon.length, q);
        use(std::span<const LengthPart>(tendon.length), tendon_term(step, tendon, m), Source::Tendon, Eigen::Index{0});
    }
    for (std::size_t a = 0; a < model.actuators().size(); ++a) {
        const ModelActuator& actuator = model.actuators()[a];
        if (actuator.length.empty()) continue;
        const Motion m(step, actuator.length, q);
        const auto index = static_cast<Eigen::Index>(a);
        use(std::span<const LengthPart>(actuator.length), drive_term(step, actuator, index, m), Source::Drive, index);
    }
    for (const ScalarCoordinate& c : model.scalars()) {
        if (step.parameters.joint_friction[c.dof] == 0.0 || model.dofs()[static_cast<std::size_t>(c.dof)].prescribed)
            continue;
        const LengthPart part{.q = c.q, .dof = c.dof};
        Term t = dry(c.friction_speed, step.options.dt, q[c.q] - step.now.q[c.q]);
        const double f = step.parameters.joint_friction[c.dof];
        t = {f * t.value, f * t.slope, f * t.curvature, f * t.slope_by_now, 0.0};
        use(std::span(&part, 1), t, Source::Friction, Eigen::Index{c.dof});
    }
}

}  // namespace

double length_energy(const JointStep& step, const VectorXd& q) {
    double energy = 0.0;
    for_each_length(step, q, [&](auto, const Term& t, Source, Eigen::Index) { energy += t.value; });
    return energy;
}

double add_length_derivatives(const JointStep& step, const VectorXd& q, VectorXd& gradient, BlockMatrix* hessian) {
    double energy = 0.0;
    for_each_length(step, q, [&](std::span<const LengthPart> length, const Term& t, Source, Eigen::Index) {
        energy += t.value;
        for (const LengthPart& part : length) gradient[part.dof] += part.coefficient * t.slope;
        if (!hessian) return;
        for (const LengthPart& r : length) {
            for (const LengthPart& c : length) {
                if (r.dof < c.dof) continue;
                hessian->block(tree_of(step.model, r.dof), tree_of(step.model, c.dof))(r.dof, c.dof) +=
                    t.curvature * r.coefficient * c.coefficient;
            }
        }
    });
    return energy;
}

void length_vjp(const JointStep& step, const VectorXd& q, std::span<const VectorXd> lambdas,
                std::span<StepProducts> products, std::span<Parameters> gradients) {
    for_each_length(step, q, [&](std::span<const LengthPart> length, const Term& t, Source source, Eigen::Index index) {
        for (std::size_t k = 0; k < lambdas.size(); ++k) {
            double l = 0.0;
            for (const LengthPart& part : length) l += part.coefficient * lambdas[k][part.dof];
            for (const LengthPart& part : length) {
                products[k].q_now[part.dof] -= l * part.coefficient * t.slope_by_now;
                products[k].v_now[part.dof] -= l * part.coefficient * t.slope_by_speed;
            }
            if (source != Source::Drive) continue;
            const ModelActuator& a = step.model.actuators()[static_cast<std::size_t>(index)];
            const Motion m(step, length, q);
            const DriveForce f(step, a, index, m);
            const double force_bar = l * f.out.slope;  // of minus the slope
            if (f.by_position >= 0) products[k].control[f.by_position] += force_bar * f.kp;
            if (f.by_velocity >= 0) products[k].control[f.by_velocity] += force_bar * f.kd;
            if (f.by_force >= 0) products[k].control[f.by_force] += force_bar * a.gain;
            gradients[k].kp[index] += force_bar * f.dkp * (f.position - m.next);
            gradients[k].kd[index] += force_bar * f.dkd * (f.velocity - m.d / step.options.dt);
        }
    });
    for (const ScalarCoordinate& c : step.model.scalars()) {  // also where there is no friction yet
        if (step.model.dofs()[static_cast<std::size_t>(c.dof)].prescribed) continue;
        const Term t = dry(c.friction_speed, step.options.dt, q[c.q] - step.now.q[c.q]);
        for (std::size_t k = 0; k < lambdas.size(); ++k)
            gradients[k].joint_friction[c.dof] -= lambdas[k][c.dof] * t.slope;
    }
}

double stored_length_energy(const Model& model, const VectorXd& q) {
    double energy = 0.0;
    for (const ModelTendon& tendon : model.tendons()) {
        double l = 0.0;
        for (const LengthPart& part : tendon.length) l += part.coefficient * q[part.q];
        Term t;
        add_stored(tendon, l, t);
        energy += t.value;
    }
    return energy;
}

}  // namespace farfield
