// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/length_force.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/model/drive.hpp"
#include "farfield/model/saturation.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;

/// Gains of an actuator on a length; a motor has none.
struct LengthGains {
    double by_kp = 0.0, by_kd = 0.0;  ///< effective gains per nominal one
    double kp = 0.0, kd = 0.0;

    LengthGains(const Parameters& parameters, const GainFactors& factors, const ModelActuator& a, Eigen::Index index) {
        if (a.type == ActuatorType::Motor) return;
        by_kp = a.type == ActuatorType::Pd ? factors.kp : 1.0;
        by_kd = a.type == ActuatorType::Pd ? factors.kd : 1.0;
        kp = by_kp * parameters.kp[index];
        kd = by_kd * parameters.kd[index];
    }
};

/// The force of an actuator on its length, and what it is made of.
struct LengthDrive {
    LengthGains gains;
    int by_position = -1, by_velocity = -1, by_force = -1;  ///< controls
    double short_by = 0.0, slow_by = 0.0;                   ///< of the targets
    Saturated force;

    LengthDrive(const Parameters& parameters, const GainFactors& factors, const ModelActuator& a, Eigen::Index index,
                const VectorXd& q, const VectorXd& v, const VectorXd& control)
        : gains(parameters, factors, a, index) {
        double offset = 0.0;
        if (a.type == ActuatorType::Pd) {
            if (a.position_input) by_position = a.control;
            if (a.velocity_input) by_velocity = a.control + (a.position_input ? 1 : 0);
        } else {
            by_force = a.control;
            offset = a.gain * control[a.control] + a.bias;
        }
        short_by = input_of(control, by_position);
        slow_by = input_of(control, by_velocity);
        for (const LengthPart& part : a.length) {
            short_by -= part.coefficient * q[part.q];
            slow_by -= part.coefficient * v[part.dof];
        }
        const double wanted = offset + gains.kp * short_by + gains.kd * slow_by;
        force = a.force_range ? saturate(*a.force_range, wanted) : Saturated{wanted, 1.0};
    }
};

/// Calls use(actuator, index) for all that act on a length.
template <class Use>
void for_each_length_drive(const Model& model, Use&& use) {
    for (std::size_t a = 0; a < model.actuators().size(); ++a) {
        const ModelActuator& actuator = model.actuators()[a];
        if (!actuator.length.empty()) use(actuator, static_cast<Eigen::Index>(a));
    }
}

bool has_dry_friction(const Model& model, const ScalarCoordinate& c) {
    return !model.dofs()[static_cast<std::size_t>(c.dof)].prescribed;
}

/// Per unit of friction: its resistance, and how that grows with the speed.
struct DryFriction {
    double value, slope;
};
DryFriction dry_friction(double smoothing, double speed) {
    const double y = std::min(std::abs(speed) / smoothing, 1.0);
    return {std::copysign(2.0 * y - y * y, speed), (2.0 - 2.0 * y) / smoothing};
}

}  // namespace

void add_length_force(const Model& model, const Parameters& parameters, const GainFactors& factors, const VectorXd& q,
                      const VectorXd& v, const VectorXd& control, VectorXd& tau) {
    for_each_length_drive(model, [&](const ModelActuator& a, Eigen::Index index) {
        const LengthDrive drive(parameters, factors, a, index, q, v, control);
        for (const LengthPart& part : a.length) tau[part.dof] += part.coefficient * drive.force.value;
    });
    for (const ScalarCoordinate& c : model.scalars()) {
        const double friction = parameters.joint_friction[c.dof];
        if (friction != 0.0 && has_dry_friction(model, c))
            tau[c.dof] -= friction * dry_friction(c.friction_speed, v[c.dof]).value;
    }
}

void add_length_force_vjp(const Model& model, const Parameters& parameters, const GainFactors& factors,
                          const VectorXd& q, const VectorXd& v, const VectorXd& control, const VectorXd& lambda,
                          VectorXd& q_bar, VectorXd& v_bar, VectorXd& control_bar, Parameters& gradient) {
    for_each_length_drive(model, [&](const ModelActuator& a, Eigen::Index index) {
        const LengthDrive drive(parameters, factors, a, index, q, v, control);
        double bar = 0.0;
        for (const LengthPart& part : a.length) bar += part.coefficient * lambda[part.dof];
        bar *= drive.force.slope;
        for (const LengthPart& part : a.length) {
            q_bar[part.dof] -= bar * drive.gains.kp * part.coefficient;
            v_bar[part.dof] -= bar * drive.gains.kd * part.coefficient;
        }
        if (drive.by_position >= 0) control_bar[drive.by_position] += bar * drive.gains.kp;
        if (drive.by_velocity >= 0) control_bar[drive.by_velocity] += bar * drive.gains.kd;
        if (drive.by_force >= 0) control_bar[drive.by_force] += bar * a.gain;
        gradient.kp[index] += bar * drive.gains.by_kp * drive.short_by;
        gradient.kd[index] += bar * drive.gains.by_kd * drive.slow_by;
    });
    for (const ScalarCoordinate& c : model.scalars()) {
        if (!has_dry_friction(model, c)) continue;
        const DryFriction dry = dry_friction(c.friction_speed, v[c.dof]);
        v_bar[c.dof] -= lambda[c.dof] * parameters.joint_friction[c.dof] * dry.slope;
        gradient.joint_friction[c.dof] -= lambda[c.dof] * dry.value;  // also where there is none yet
    }
}

void add_length_stiffness(const Model& model, const Parameters& parameters, const GainFactors& factors,
                          Eigen::MatrixXd& stiffness, Eigen::MatrixXd& damping) {
    for_each_length_drive(model, [&](const ModelActuator& a, Eigen::Index index) {
        const LengthGains gains(parameters, factors, a, index);
        for (const LengthPart& r : a.length) {
            for (const LengthPart& c : a.length) {
                stiffness(r.dof, c.dof) += gains.kp * r.coefficient * c.coefficient;
                damping(r.dof, c.dof) += gains.kd * r.coefficient * c.coefficient;
            }
        }
    });
    for (const ScalarCoordinate& c : model.scalars()) {
        if (has_dry_friction(model, c))
            damping(c.dof, c.dof) += parameters.joint_friction[c.dof] * dry_friction(c.friction_speed, 0.0).slope;
    }
}

}  // namespace farfield
