// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/incremental_potential.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"

namespace farfield {

using Eigen::Vector3d;

namespace {

/// dt times the error of 1/(2 dt^2) |T - Y|^2_S by the rounding of T, at energies up to `energy`: |T - Y|_S |eps T|_S / dt^2, with
/// |T - Y|_S <= dt sqrt(2 energy). It matters without gravity, where the energy itself is close to zero.
double placement_noise(const Model& model, const Parameters& parameters, const Poses& poses, double energy) {
    double squared_size = parameters.armature.sum();
    for (std::size_t i = 1; i < poses.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const auto m = parameters.moments.row(static_cast<Eigen::Index>(i));
        squared_size += m[0] * poses[i].position.squaredNorm() + m[4] + m[5] + m[6];
    }
    return 4.0 * std::numeric_limits<double>::epsilon() * std::sqrt(2.0 * energy * std::max(squared_size, 0.0));
}

}  // namespace

JointStep IncrementalPotential::joint_step() const {
    return JointStep{context_->model, context_->parameters, context_->options, *now_, input_->control};
}

void IncrementalPotential::begin(const StepContext& context, const State& now, const StepInput& input,
                                 contact::ContactMemory* memory, contact::StepMode mode) {
    context_ = &context;
    now_ = &now;
    input_ = &input;
    const Model& model = context.model;
    const double dt = context.options.dt;
    placed_ = false;
    step_ = -dt * now.v;
    retract(model, now.q, step_, q_previous_);
    forward_kinematics(model, context.parameters, now.q, kinematics_now_);
    forward_kinematics(model, context.parameters, q_previous_, kinematics_previous_);
    set_inertia_target(model, context.parameters, kinematics_now_, kinematics_previous_, target_);
    contact_step_ = context.contact
                        ? &context.contact->begin_step(kinematics_now_.poses, dt, context.parameters, *memory, mode)
                        : nullptr;
    gradient_noise_ = gravity_scale_ = 0.0;
    tree_noise_.assign(kinematics_now_.poses.size(), 0.0);
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    for (std::size_t i = 1; i < kinematics_now_.poses.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const auto m = context.parameters.moments.row(static_cast<Eigen::Index>(i));
        const double reach = (kinematics_now_.poses[i].position - target_.origin[i]).norm();
        gravity_scale_ += context.parameters.gravity.norm() * (m[0] * reach + m.segment<3>(1).norm());
        const double moment =
            std::max(m[0] * reach + m.segment<3>(1).norm(), m[0] * reach * reach + m[4] + m[5] + m[6]);
        gradient_noise_ = std::max(gradient_noise_, 64.0 * epsilon * moment / (dt * dt));
        // World positions are rounded, so no coordinates bring the inertial forces m x/dt^2 of a tree closer to zero than this.
        double& tree = tree_noise_[static_cast<std::size_t>(model.bodies()[i].root)];
        tree += 4.0 * epsilon * m[0] * kinematics_now_.poses[i].position.norm() * std::max(1.0, reach) / (dt * dt);
        gradient_noise_ = std::max(gradient_noise_, tree);
    }
}

void IncrementalPotential::place(const Eigen::VectorXd& q) {
    if (placed_ && placed_q_ == q) return;  // Newton returns to the point its line search has just accepted
    forward_kinematics(context_->model, context_->parameters, q, kinematics_);
    placed_q_ = q;
    placed_ = true;
}

double IncrementalPotential::energy(const Eigen::VectorXd& q) {
    place(q);
    double value =
        inertia_energy(context_->model, context_->parameters, context_->options.dt, target_, kinematics_.poses) +
        joint_energy(joint_step(), q);
    if (contact_step_) value += contact_step_->energy(kinematics_.poses);
    return value;
}

void IncrementalPotential::derivatives(const Eigen::VectorXd& q) {
    const Model& model = context_->model;
    const int n = model.num_dofs();
    place(q);
    gradient_.setZero(n);
    hessian_.setZero(n, n);
    value_ = add_inertia_derivatives(model, context_->parameters, context_->options.dt, target_, kinematics_, inertia_,
                                     gradient_, hessian_);
    const double joints = add_joint_derivatives(joint_step(), q, gradient_, hessian_);
    const double scale = std::abs(value_) + std::abs(joints) + gravity_scale_;
    energy_noise_ =
        1e-13 * scale + placement_noise(model, context_->parameters, kinematics_.poses, scale) / context_->options.dt;
    value_ += joints;
    if (!contact_step_) return;
    hessian_without_contact_ = hessian_;
    contact_step_->linearize(kinematics_.poses, contact_);
    value_ += contact_.energy;
    energy_noise_ += 1e-13 * std::abs(contact_.energy);
    if (std::isfinite(contact_.energy))
        add_contact_derivatives(model, kinematics_, contact_, contact_scratch_, gradient_, hessian_);
}

void IncrementalPotential::project_contact() {
    if (!contact_step_) return;
    project_blocks(contact_);
    hessian_ = hessian_without_contact_;
    unused_gradient_.setZero(gradient_.size());
    add_contact_derivatives(context_->model, kinematics_, contact_, contact_scratch_, unused_gradient_, hessian_);
}

void IncrementalPotential::vjp(const Eigen::VectorXd& q, const Eigen::VectorXd& lambda, Bars& bars,
                               Parameters& gradient) {
    const Model& model = context_->model;
    const double dt = context_->options.dt;
    const auto num_bodies = static_cast<std::size_t>(model.num_bodies());
    body_twists(model, kinematics_, lambda, twists_);
    joint_vjp(joint_step(), q, lambda, bars.q_now, bars.v_now, bars.control, gradient);
    inertia_vjp(model, context_->parameters, dt, target_, kinematics_.poses, kinematics_now_.poses,
                kinematics_previous_.poses, twists_, inertia_vjp_, gradient);
    if (contact_step_) {
        contact_step_->vjp({&twists_, 1}, {&contact_gradient_, 1});
        apply_blocks(contact_, twists_, applied_);
        for (std::size_t i = 1; i < num_bodies; ++i) {
            inertia_vjp_.now[i] -= contact_gradient_.previous_wrench[i];
            inertia_vjp_.force[i] += contact_.wrench[i].head<3>();
            inertia_vjp_.lambda_force[i] += applied_[i].head<3>();
        }
        gradient.friction -= contact_gradient_.friction;
        gradient.contact_stiffness -= contact_gradient_.contact_stiffness;
        if (contact_gradient_.hull_vertices.size() > 0) gradient.hull_vertices -= contact_gradient_.hull_vertices;
    }
    add_pull_back(model, kinematics_now_, inertia_vjp_.now, subtree_, bars.q_now);
    add_attachment_pull_back(model, kinematics_now_, subtree_, gradient);
    add_pull_back(model, kinematics_previous_, inertia_vjp_.previous, subtree_, bars.q_previous);
    add_attachment_pull_back(model, kinematics_previous_, subtree_, gradient);
    // Attachments also act at t+1: a shift `a` of a subtree changes phi by a . (sum lambda_force + sum force x w_parent).
    for (std::size_t i = num_bodies - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        const auto parent = static_cast<std::size_t>(body.parent);
        const Vector3d shift = inertia_vjp_.lambda_force[i] + inertia_vjp_.force[i].cross(twists_[parent].tail<3>());
        if (!has_free_joint(model, body)) {
            gradient.attachment.row(static_cast<Eigen::Index>(i)) -=
                (kinematics_.poses[parent].rotation.transpose() * shift).transpose();
        }
        inertia_vjp_.lambda_force[parent] += inertia_vjp_.lambda_force[i];
        inertia_vjp_.force[parent] += inertia_vjp_.force[i];
    }
}

}  // namespace farfield
