// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/stable_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/joint_terms.hpp"
#include "farfield/math/dense.hpp"
#include "farfield/model/drive.hpp"
#include "farfield/model/length_force.hpp"
#include "farfield/model/mass_matrix.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRealLimit = 2.785;  // of Runge-Kutta's region of stability
constexpr double kDiskLimit = 2.61;   // of a half disk inside it

bool is_scripted(const Model& model, int dof) { return model.dofs()[static_cast<std::size_t>(dof)].prescribed; }

/// At the default state; scripted degrees of freedom have the mass one and nothing else.
MatrixXd default_mass(const Model& model, const Parameters& parameters, const Kinematics& kinematics) {
    RigidBodyScratch bodies;
    MatrixXd mass;
    mass_matrix(model, parameters, kinematics, bodies, mass);
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (!is_scripted(model, k)) continue;
        mass.row(k).setZero();
        mass.col(k).setZero();
        mass(k, k) = 1.0;
    }
    return mass;
}

Kinematics default_kinematics(const Model& model, const Parameters& parameters) {
    Kinematics out;
    forward_kinematics(model, parameters, model.default_state().q, out);
    return out;
}

/// M, D and K of the joints, in unknowns.
struct JointMatrices {
    MatrixXd mass, damping, stiffness;

    JointMatrices(const Model& model, const Parameters& parameters, const GainFactors& factors) {
        VectorXd d = parameters.damping, k = parameters.stiffness;
        const auto add = [&](int dof, double gear, Eigen::Index a) {
            d[dof] += gear * gear * factors.kd * parameters.kd[a];
            k[dof] += gear * gear * factors.kp * parameters.kp[a];
        };
        for_each_drive(
            model,
            [&](const ScalarCoordinate& c, Eigen::Index a) {
                const Drive by = drive_of(model, model.actuators()[static_cast<std::size_t>(a)], c.dof);
                if (by.force < 0) add(c.dof, by.gear, a);
            },
            [&](const BallCoordinate& c, Eigen::Index a) {
                if (model.actuators()[static_cast<std::size_t>(a)].type == ActuatorType::Motor) return;
                for (int i = 0; i < 3; ++i) add(c.dof + i, 1.0, a);
            });
        mass = default_mass(model, parameters, default_kinematics(model, parameters));
        damping = d.asDiagonal();
        stiffness = k.asDiagonal();
        add_length_stiffness(model, parameters, factors, stiffness, damping);
        for (int dof = 0; dof < model.num_dofs(); ++dof) {
            if (!is_scripted(model, dof)) continue;
            for (MatrixXd* matrix : {&damping, &stiffness}) {
                matrix->row(dof).setZero();
                matrix->col(dof).setZero();
            }
        }
        if (model.reduction().identity) return;
        const MatrixXd& E = model.reduction().E;
        mass = congruence(E, mass);
        damping = congruence(E, damping);
        stiffness = congruence(E, stiffness);
    }

    [[nodiscard]] static bool positive(const MatrixXd& matrix) { return DenseCholesky(matrix).positive(); }

    /// Massless joints have no stable step; forward_dynamics refuses them by name.
    [[nodiscard]] bool stable(double dt, bool rk4) const {
        if (!rk4) return positive(4.0 * mass - 2.0 * dt * damping - dt * dt * stiffness);
        const double s = kDiskLimit / dt;
        return positive(s * s * mass - s * damping + stiffness) && positive(2.0 * s * mass - damping) &&
               positive(s * s * mass - stiffness);
    }

    /// The shortest over coordinates alone: no step can be longer.
    [[nodiscard]] double upper_bound() const {
        double least = std::numeric_limits<double>::infinity();
        for (Eigen::Index i = 0; i < mass.rows(); ++i) {
            const double m = mass(i, i), d = damping(i, i), k = stiffness(i, i);
            if (d > 0.0) least = std::min(least, 2.0 * kRealLimit * m / d);
            if (k > 0.0) least = std::min(least, kRealLimit * std::sqrt(m / k));
        }
        return least;
    }
};

}  // namespace

double stable_joint_step(const Model& model, const Parameters& parameters, const GainFactors& factors,
                         Integrator integrator) {
    const JointMatrices joints(model, parameters, factors);
    const bool rk4 = integrator == Integrator::Rk4;
    double high = joints.upper_bound(), low = 0.0;
    if (!std::isfinite(high) || joints.stable(high, rk4) || !JointMatrices::positive(joints.mass)) return high;
    while (high - low > 1e-9 * high) {
        const double middle = 0.5 * (low + high);
        (joints.stable(middle, rk4) ? low : high) = middle;
    }
    return low;
}

double stable_contact_step(const Model& model, const Parameters& parameters, const contact::ForceLaw& law,
                           Integrator integrator) {
    const bool rk4 = integrator == Integrator::Rk4;
    const Kinematics kinematics = default_kinematics(model, parameters);
    const MatrixXd mass = default_mass(model, parameters, kinematics);
    MatrixXd jacobian;
    const DenseCholesky factor(mass);
    const auto inverse_mass = [&](int body) {  // largest over directions
        const auto row = parameters.moments.row(body);
        const Eigen::Vector3d centre =
            row[0] > 0.0 ? Eigen::Vector3d(row.segment<3>(1).transpose() / row[0]) : Eigen::Vector3d::Zero();
        body_jacobian(model, kinematics, body, centre, jacobian);
        for (int k = 0; k < model.num_dofs(); ++k) {
            if (is_scripted(model, k)) jacobian.col(k).setZero();
        }
        const MatrixXd linear = jacobian.topRows(3);
        const Eigen::Matrix3d mobility = linear * factor.solve(linear.transpose());
        return symmetric_eigen<3>(mobility).values[2];
    };
    double limit = std::numeric_limits<double>::infinity();
    const double gravity = parameters.gravity.norm();
    for (const contact::PairStiffness& pair : law.pair_stiffness(parameters)) {
        const double mobility = inverse_mass(pair.a) + inverse_mass(pair.b);
        if (!(mobility > 0.0)) continue;
        const double w = std::sqrt(pair.stiffness * mobility + gravity / pair.sharing);
        const double z = gravity / (2.0 * pair.damping_speed * w);
        limit = std::min(limit, (rk4 ? kRealLimit : 2.0 * (std::sqrt(1.0 + z * z) - z)) / w);
        const double drag = pair.friction * gravity / pair.slip_speed;
        if (drag > 0.0) limit = std::min(limit, (rk4 ? kRealLimit : 2.0) / drag);
    }
    return limit;
}

namespace {

/// Explicit steps know forces of joints and contact alone.
void require_known_forces(const Model& model) {
    const auto refuse = [](const std::string& what) {
        fail("step options: ", what, " in an explicit step, expected the integrator 'implicit' for this model");
    };
    if (!model.constraints().empty()) refuse("constraint '" + model.constraints()[0].name + "'");
    if (!model.tendons().empty()) refuse("tendon '" + model.tendons()[0].name + "'");
    for (const ModelActuator& actuator : model.actuators()) {
        if (actuator.joint < 0) refuse("actuator '" + actuator.name + "'");
    }
    for (const ModelBody& body : model.bodies()) {
        if (body.weight_share != 1.0) refuse("gravity compensation of body '" + body.name + "'");
    }
}

}  // namespace

void require_stable_step(const StepContext& context) {
    if (!context.explicit_steps()) return;
    require_known_forces(context.model);
    const StepOptions& options = context.options;
    const auto require = [&](double limit, const char* under, const char* softer) {
        if (options.dt > limit)
            fail("step options: dt ", options.dt, " s is unstable under ", under, ", expected at most ", limit, " s; ",
                 softer, " or another integrator allows longer steps");
    };
    if (context.law) {
        require(stable_contact_step(context.model, context.parameters, *context.law, options.integrator),
                "this contact law", "a softer contact");
    }
    const GainFactors factors = gain_factors(options);
    const bool rk4 = options.integrator == Integrator::Rk4;
    if (JointMatrices(context.model, context.parameters, factors).stable(options.dt, rk4)) return;
    require(stable_joint_step(context.model, context.parameters, factors, options.integrator),
            "joint springs, damping and drives", "less of them, armature");
}

}  // namespace farfield
