// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/explicit_step.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/inertia.hpp"
#include "farfield/dynamics/joint_terms.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/drive_force.hpp"
#include "farfield/model/length_force.hpp"
#include "farfield/model/passive_force.hpp"
#include "farfield/model/saturation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kHalf[4] = {0.0, 0.5, 0.5, 1.0};                           // of the stage before, in a stage
constexpr double kOverflow = 1e200;                                         // squares of coordinates and speeds
constexpr double kShare[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};  // of a stage, in the step

const VectorXd& saturated(const Model& model, const VectorXd& control, VectorXd& scratch) {
    saturate_controls(model, control, scratch);
    return scratch;
}

/// One step, forward: all stages, and where they lead.
class ExplicitProblem {
 public:
    ExplicitProblem(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                    ExplicitScratch& scratch)
        : model_(context.model),
          parameters_(context.parameters),
          factors_(gain_factors(context.options)),
          dt_(context.options.dt),
          now_(now),
          control_(saturated(context.model, input.control, scratch.control)),
          input_(input),
          s_(scratch),
          rk4_(context.options.integrator == Integrator::Rk4) {
        if (context.law) law_ = &context.law->begin_step(context.parameters, *memory.contact);
        set_script();
    }

    [[nodiscard]] int num_stages() const { return rk4_ ? 4 : 1; }
    [[nodiscard]] contact::ForceStep* law() const { return law_; }

    /// False when numbers overflow: `next` then is where that was.
    [[nodiscard]] bool run(bool derivatives, State* next = nullptr) {
        for (int i = 0; i < num_stages(); ++i) {
            ExplicitStage& stage = s_.stages[static_cast<std::size_t>(i)];
            stage.v = now_.v;
            if (i == 0) {
                stage.theta.setZero(model_.num_dofs());
                stage.q = now_.q;
            } else {
                const ExplicitStage& before = s_.stages[static_cast<std::size_t>(i - 1)];
                stage.v += kHalf[i] * dt_ * before.a;
                stage.theta = kHalf[i] * dt_ * before.rate;
                retract(model_, now_.q, stage.theta, stage.q);
            }
            for (int k = 0; k < model_.num_dofs(); ++k) {
                if (model_.scripted(k)) stage.v[k] = s_.script_speed[k];
            }
            if (!(stage.q.squaredNorm() + stage.v.squaredNorm() < kOverflow)) {
                if (next) *next = {stage.q, stage.v};
                return false;
            }
            accelerate(stage, derivatives ? i : -1);
            if (law_) stored_ = std::max(stored_, law_->report().stored);
            if (rk4_) set_rate(stage);
        }
        return true;
    }

    /// Velocity at the end, and the tangent s_.theta that leads there.
    void set_end(VectorXd& v) const {
        v = now_.v;
        if (rk4_) {
            s_.theta.setZero(model_.num_dofs());
            for (std::size_t i = 0; i < 4; ++i) {
                v += kShare[i] * dt_ * s_.stages[i].a;
                s_.theta += kShare[i] * dt_ * s_.stages[i].rate;
            }
        } else {
            v += dt_ * s_.stages[0].a;
        }
        for (int k = 0; k < model_.num_dofs(); ++k) {
            if (model_.scripted(k)) v[k] = s_.script_speed[k];
        }
        if (!rk4_) s_.theta = dt_ * v;
    }

    void finish(State& next) const {
        set_end(next.v);
        retract(model_, now_.q, s_.theta, next.q);
        for_each_script(
            [&](int q, int script, int size, int) { next.q.segment(q, size) = input_.script.segment(script, size); });
    }

    /// A contact of stiffness k that is x deep gives a step of dt < 2/w, w^2 = k/m, no more than k x v dt + (k x dt)^2/m, which is at
    /// most T + 12 U, T = m v^2/2 and U = k x^2/2. More than that, besides the work of drives and gravity, is out of nothing.
    [[nodiscard]] bool gains_too_much(const State& next, double& kinetic) const {
        const Eigen::MatrixXd& mass = s_.dynamics.mass;
        const ExplicitStage& stage = s_.stages[0];
        const double before = 0.5 * stage.v.dot(mass.lazyProduct(stage.v));
        kinetic = 0.5 * next.v.dot(mass.lazyProduct(next.v));
        double work = dt_ * 0.5 * std::abs(stage.tau.dot(stage.v) + stage.tau.dot(next.v));
        const double gravity = parameters_.gravity.norm();
        for (std::size_t i = 1; i < stage.kinematics.poses.size(); ++i) {
            work += dt_ * parameters_.moments(static_cast<Eigen::Index>(i), 0) * gravity *
                    (stage.twists[i].norm() + gravity * dt_);
        }
        return (1.0 - 1e-9) * kinetic - before > before + 12.0 * stored_ + work;  // less rounding
    }

    /// Gradient of bars . (q+, v+). @pre run(true).
    void pull_back(const StateGradient& bar, StepGradient& out, Parameters& gradient);

 private:
    /// Calls use(coordinate, entry of the script, count, degree of freedom) for all scripted coordinates.
    template <class Use>
    void for_each_script(Use&& use) const {
        for (int k = 0; k < model_.num_kinematic(); ++k) {
            const int body = model_.kinematic_bodies()[static_cast<std::size_t>(k)];
            const ModelJoint& joint =
                model_.joints()[static_cast<std::size_t>(model_.bodies()[static_cast<std::size_t>(body)].first_joint)];
            use(joint.q, 7 * k, 7, joint.dof);
        }
    }

    void set_script() {
        const int n = model_.num_dofs();
        s_.script_speed.setZero(n);
        s_.script_acceleration.setZero(n);
        if (model_.num_kinematic() == 0) return;
        s_.target = now_.q;
        for_each_script([&](int q, int script, int size, int) {
            s_.target.segment(q, size) = input_.script.segment(script, size);
        });
        difference(model_, now_.q, s_.target, s_.difference);
        for (int k = 0; k < n; ++k) {
            if (!model_.scripted(k)) continue;
            s_.script_speed[k] = s_.difference[k] / dt_;
            s_.script_acceleration[k] = (s_.script_speed[k] - now_.v[k]) / dt_;
        }
    }

    /// `kept`: number of the stage when it is gone back through, -1 otherwise.
    void accelerate(ExplicitStage& stage, int kept) {
        forward_kinematics(model_, parameters_, stage.q, stage.kinematics);
        if (law_) {
            body_twists(model_, stage.kinematics, stage.v, stage.twists);
            law_->wrench(stage.kinematics.poses, stage.twists, stage.wrenches, kept);
        }
        passive_force(model_, parameters_, stage.q, stage.v, stage.tau);
        add_drive_force(model_, parameters_, factors_, stage.q, stage.v, control_, stage.tau);
        add_length_force(model_, parameters_, factors_, stage.q, stage.v, control_, stage.tau);
        forward_dynamics(model_, parameters_, stage.kinematics, dynamics_input(stage), s_.dynamics, stage.a);
        last_stage_ = kept;
    }

    [[nodiscard]] ForwardDynamicsInput dynamics_input(const ExplicitStage& stage) const {
        return {stage.v, stage.tau, law_ ? &stage.wrenches : nullptr, &s_.script_acceleration};
    }

    void set_rate(ExplicitStage& stage) const {
        stage.rate = stage.v;
        for (const BallCoordinate& c : model_.balls())
            stage.rate.segment<3>(c.dof) =
                right_jacobian_inverse(stage.theta.segment<3>(c.dof)) * stage.v.segment<3>(c.dof);
    }

    /// bar of retract(q, theta), tangent at its end, on to q and theta, both added to.
    void retract_vjp(const VectorXd& theta, const VectorXd& bar, VectorXd& q_bar, VectorXd& theta_bar) const {
        for (const ScalarCoordinate& c : model_.scalars()) {
            q_bar[c.dof] += bar[c.dof];
            theta_bar[c.dof] += bar[c.dof];
        }
        for (const BallCoordinate& c : model_.balls()) {
            const Vector3d t = theta.segment<3>(c.dof), b = bar.segment<3>(c.dof);
            q_bar.segment<3>(c.dof) += exp_rotation(t) * b;
            theta_bar.segment<3>(c.dof) += right_jacobian(t).transpose() * b;
        }
    }

    void acceleration_vjp(int kept, const VectorXd& a_bar, StepGradient& out, Parameters& gradient);

    const Model& model_;
    const Parameters& parameters_;
    GainFactors factors_;
    double dt_;
    const State& now_;
    const Eigen::VectorXd& control_;  ///< inside the ranges
    const StepInput& input_;
    ExplicitScratch& s_;
    bool rk4_;
    contact::ForceStep* law_ = nullptr;
    double stored_ = 0.0;  ///< largest of all stages [J]
    int last_stage_ = -1;  ///< of which s_.dynamics holds the forward dynamics; -1: one that is not gone back through
};

/// Sets s_.q_bar and s_.v_bar of a stage; the control and scripted accelerations are added to.
void ExplicitProblem::acceleration_vjp(int kept, const VectorXd& a_bar, StepGradient& out, Parameters& gradient) {
    ExplicitStage& stage = s_.stages[static_cast<std::size_t>(kept)];
    if (last_stage_ != kept) {
        forward_dynamics(model_, parameters_, stage.kinematics, dynamics_input(stage), s_.dynamics, stage.a);
        last_stage_ = kept;
    }
    forward_dynamics_vjp(model_, parameters_, stage.kinematics, dynamics_input(stage), stage.a, a_bar, s_.dynamics,
                         s_.bars, gradient);
    s_.q_bar = s_.bars.q;
    s_.v_bar = s_.bars.v;
    s_.scripted_bar += s_.bars.scripted;
    add_passive_force_vjp(model_, parameters_, stage.q, stage.v, s_.bars.tau, s_.q_bar, s_.v_bar, gradient);
    add_drive_force_vjp(model_, parameters_, factors_, stage.q, stage.v, control_, s_.bars.tau, s_.q_bar, s_.v_bar,
                        out.control, gradient);
    add_length_force_vjp(model_, parameters_, factors_, stage.q, stage.v, control_, s_.bars.tau, s_.q_bar, s_.v_bar,
                         out.control, gradient);
    if (!law_) return;
    contact::ForceBars& bars = s_.contact_bars;
    law_->vjp(kept, stage.kinematics.poses, stage.twists, s_.bars.wrenches, bars);
    add_pull_back(model_, stage.kinematics, bars.poses, s_.subtree, s_.q_bar);
    add_attachment_pull_back(model_, stage.kinematics, s_.subtree, gradient);
    add_body_twists_vjp(model_, stage.kinematics, s_.dynamics.bodies, bars.twists, s_.twists, s_.q_bar, s_.v_bar,
                        gradient);
    gradient.friction += bars.friction;
    gradient.contact_stiffness += bars.contact_stiffness;
    if (out.contact.size()) law_->add_number_vjp(stage.kinematics.poses, stage.twists, s_.bars.wrenches, out.contact);
}

void ExplicitProblem::pull_back(const StateGradient& bar, StepGradient& out, Parameters& gradient) {
    const int n = model_.num_dofs();
    out.control.setZero(model_.num_controls());
    out.script.setZero(6 * model_.num_kinematic());
    out.state.q.setZero(n);
    out.state.v.setZero(n);
    s_.scripted_bar.setZero(n);
    VectorXd& speed_bar = s_.speed_bar;  // of scripted speeds
    speed_bar.setZero(n);
    const auto to_script = [&](VectorXd& v_bar) {
        for (int k = 0; k < n; ++k) {
            if (!model_.scripted(k)) continue;
            speed_bar[k] += v_bar[k];
            v_bar[k] = 0.0;
        }
    };
    // q+: scripted coordinates are their targets, whatever led there
    VectorXd &end_bar = s_.end_bar, &v_bar = s_.end_v_bar, &theta_bar = s_.end_theta_bar;
    end_bar = bar.q;
    v_bar = bar.v;
    theta_bar.setZero(n);
    for_each_script([&](int, int script, int, int dof) {
        out.script.segment<6>(script / 7 * 6) += end_bar.segment<6>(dof);
        end_bar.segment<6>(dof).setZero();
    });
    set_end(s_.end_v);
    retract_vjp(s_.theta, end_bar, out.state.q, theta_bar);
    if (!rk4_) {
        v_bar += dt_ * theta_bar;
        to_script(v_bar);
        s_.acceleration_bar = dt_ * v_bar;
        acceleration_vjp(0, s_.acceleration_bar, out, gradient);
        out.state.q += s_.q_bar;
        to_script(s_.v_bar);
        out.state.v += v_bar + s_.v_bar;
    } else {
        to_script(v_bar);
        out.state.v += v_bar;
        for (std::size_t i = 0; i < 4; ++i) {
            s_.rate_bar[i] = kShare[i] * dt_ * theta_bar;
            s_.a_bar[i] = kShare[i] * dt_ * v_bar;
        }
        for (int i = 3; i >= 0; --i) {
            const auto k = static_cast<std::size_t>(i);
            ExplicitStage& stage = s_.stages[k];
            acceleration_vjp(i, s_.a_bar[k], out, gradient);
            s_.start_bar.setZero(n);  // of the stage's theta
            retract_vjp(stage.theta, s_.q_bar, out.state.q, s_.start_bar);
            s_.v_bar += s_.rate_bar[k];
            for (const BallCoordinate& c : model_.balls()) {
                const Vector3d t = stage.theta.segment<3>(c.dof), b = s_.rate_bar[k].segment<3>(c.dof);
                s_.v_bar.segment<3>(c.dof) += right_jacobian_inverse(t).transpose() * b - b;
                // J_r^-1(t) = J_r^-T(-t)
                s_.start_bar.segment<3>(c.dof) -=
                    right_jacobian_inverse_transpose_derivative(-t, stage.v.segment<3>(c.dof)).transpose() * b;
            }
            to_script(s_.v_bar);
            out.state.v += s_.v_bar;
            if (i > 0) {
                s_.rate_bar[k - 1] += kHalf[i] * dt_ * s_.start_bar;
                s_.a_bar[k - 1] += kHalf[i] * dt_ * s_.v_bar;
            }
        }
    }
    saturate_controls_vjp(model_, input_.control, out.control);
    if (model_.num_kinematic() == 0) return;
    for (int k = 0; k < n; ++k) {
        if (!model_.scripted(k)) continue;
        speed_bar[k] += s_.scripted_bar[k] / dt_;
        out.state.v[k] -= s_.scripted_bar[k] / dt_;
    }
    for_each_script([&](int, int script, int, int dof) {
        const Matrix3d J = right_jacobian_inverse(s_.difference.segment<3>(dof + 3));
        const int first = script / 7 * 6;
        out.script.segment<3>(first) += speed_bar.segment<3>(dof) / dt_;
        out.state.q.segment<3>(dof) -= speed_bar.segment<3>(dof) / dt_;
        out.script.segment<3>(first + 3) += J.transpose() * speed_bar.segment<3>(dof + 3) / dt_;
        out.state.q.segment<3>(dof + 3) -= J * speed_bar.segment<3>(dof + 3) / dt_;  // J_l^-T = J_r^-1
    });
}

}  // namespace

StepReport explicit_step(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                         ExplicitScratch& s, State& next) {
    ExplicitProblem problem(context, now, input, memory, s);
    StepReport report{.iterations = 0};
    const bool finite = problem.run(false, &next);
    if (finite) problem.finish(next);
    report.contact_counts.energies = context.law ? problem.num_stages() : 0;
    if (!finite || !next.q.allFinite() || !next.v.allFinite()) {
        report.status = StepStatus::NonFinite;
        return report;
    }
    if (context.law) {
        const contact::ForceReport& contact = problem.law()->report();
        report.min_gap = contact.least;
        if (contact.deep_a >= 0) report.status = StepStatus::Penetrating;
        if (problem.gains_too_much(next, report.kinetic)) report.status = StepStatus::Unstable;
    }
    forward_kinematics(context.model, context.parameters, next.q, s.end);
    report.potential = gravity_energy(context.model, context.parameters, s.end.poses) +
                       stored_joint_energy(context.model, context.parameters, next.q);
    return report;
}

void explicit_step_vjp(const StepContext& context, const State& now, const StepInput& input,
                       std::span<const StateGradient> next_bars, StepMemory& memory, ExplicitScratch& s,
                       std::span<StepGradient> gradients, std::span<Parameters> parameters) {
    ExplicitProblem problem(context, now, input, memory, s);
    if (!problem.run(true)) fail("explicit step: the state overflows, expected one of a step that converged");
    for (std::size_t d = 0; d < next_bars.size(); ++d) problem.pull_back(next_bars[d], gradients[d], parameters[d]);
}

}  // namespace farfield
