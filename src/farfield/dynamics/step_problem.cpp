// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/length_terms.hpp"
#include "farfield/model/saturation.hpp"

namespace farfield {

using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kUnitRounding = std::numeric_limits<double>::epsilon();
constexpr double kEigenvalueFloor = 1e-8;          // relative to the largest
constexpr double kArrived = 64.0 * kUnitRounding;  // of the place of a scripted body, and of a radian
constexpr double kShortened =
    0.8;  // of the way that the filter leaves: at its end a pair would be at its closest, and push the hardest
constexpr double kFar = 1.0;       // excess of the gradient above which friction is followed along a direction
constexpr double kHeld = 0.5;      // a pair that leaves less than this of a step is slowed down alone
constexpr int kSlowerRounds = 10;  // of slowing down
constexpr double kFree = 0.8;      // of a direction: with this much of it free nothing is done about what is in the way
constexpr int kWallRounds = 8;     // of looking for walls

/// dt times the error of 1/(2 dt^2) |T - Y|^2_S by the rounding of T, at energies up to `energy`: |T - Y|_S |eps T|_S / dt^2, with
/// |T - Y|_S <= dt sqrt(2 energy). It matters without gravity, where the energy itself is close to zero.
double placement_noise(const Model& model, const Parameters& parameters, const Poses& poses, double energy) {
    double squared_size = parameters.armature.sum();
    for (std::size_t i = 1; i < poses.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        const auto m = parameters.moments.row(static_cast<Eigen::Index>(i));
        squared_size += m[0] * poses[i].position.squaredNorm() + m[4] + m[5] + m[6];
    }
    return 4.0 * kUnitRounding * std::sqrt(2.0 * energy * std::max(squared_size, 0.0));
}

}  // namespace

JointStep StepProblem::joint_step() const {
    return JointStep{context_->model, context_->parameters, context_->options, now_, input_.control};
}

void StepProblem::begin(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                        contact::StepMode mode) {
    context_ = &context;
    memory_ = &memory;
    now_ = now;
    input_ = input;
    control_ = input.control;
    backward_ = mode != contact::StepMode::Forward;
    placed_ = false;
    const Model& model = context.model;
    saturate_controls(model, control_, input_.control);
    drives_bodies_ = std::any_of(model.actuators().begin(), model.actuators().end(),
                                 [](const ModelActuator& actuator) { return actuator.body >= 0; });
    constraints_.begin(model);
    trees_.resize(static_cast<std::size_t>(model.num_dofs()));
    for (std::size_t k = 0; k < trees_.size(); ++k) trees_[k] = tree_of(model, static_cast<int>(k));
    step_ = -context.options.dt * now.v;
    retract(model, now.q, step_, q_previous_);
    forward_kinematics(model, context.parameters, now.q, kinematics_now_);
    forward_kinematics(model, context.parameters, q_previous_, kinematics_previous_);
    set_inertia_target(model, context.parameters, kinematics_now_, kinematics_previous_, target_);
    contact_ = context.contact ? &context.contact->begin_step(kinematics_now_.poses, context.options.dt,
                                                              context.parameters, *memory.contact, mode)
                               : nullptr;
    if (mode != contact::StepMode::Forward) return;  // going backward nothing is compared with anything
    scales_.set(model, context.parameters, kinematics_now_, now.q, step_);
    set_gravity_scale();
}

void StepProblem::set_gravity_scale() {
    gravity_scale_ = 0.0;
    for (std::size_t i = 1; i < kinematics_now_.poses.size(); ++i) {
        if (context_->model.bodies()[i].last_dof < 0) continue;
        const auto m = context_->parameters.moments.row(static_cast<Eigen::Index>(i));
        const double reach = (kinematics_now_.poses[i].position - target_.origin[i]).norm();
        gravity_scale_ += context_->parameters.gravity.norm() * (m[0] * reach + m.segment<3>(1).norm());
    }
}

const Kinematics& StepProblem::place(const VectorXd& q) {
    if (placed_ && placed_q_ == q) return kinematics_;  // Newton returns to the point its line search has just accepted
    forward_kinematics(context_->model, context_->parameters, q, kinematics_);
    placed_q_ = q;
    placed_ = true;
    return kinematics_;
}

double StepProblem::energy(const VectorXd& q) {
    place(q);
    double value =
        inertia_energy(context_->model, context_->parameters, context_->options.dt, target_, kinematics_.poses) +
        joint_energy(joint_step(), q) + length_energy(joint_step(), q);
    if (drives_bodies_) value += body_drive_energy(drive_step(), kinematics_.poses);
    if (constrained()) value += constraints_.energy(kinematics_, q);
    if (!contact_) return value;
    ++counts_.energies;
    return value + contact_->energy(kinematics_.poses);
}

/// Everything but contact.
void StepProblem::add_smooth_terms(const VectorXd& q, BlockMatrix* hessian) {
    const Model& model = context_->model;
    place(q);
    at_.gradient.setZero(model.num_dofs());
    at_.value = add_inertia_derivatives(model, context_->parameters, context_->options.dt, target_, kinematics_,
                                        inertia_, at_.gradient, hessian);
    const double joints = add_joint_derivatives(joint_step(), q, at_.gradient, hessian) +
                          add_length_derivatives(joint_step(), q, at_.gradient, hessian);
    const double scale = std::abs(at_.value) + std::abs(joints) + gravity_scale_;
    at_.noise =
        1e-13 * scale + placement_noise(model, context_->parameters, kinematics_.poses, scale) / context_->options.dt;
    at_.value += joints;
}

/// Bodies that push each other or are pushed, by something else than contact.
void StepProblem::add_links(const contact::ContactLinearization& links, BlockMatrix* hessian) {
    at_.value += links.energy;
    at_.noise += 1e-13 * std::abs(links.energy);
    if (hessian) {
        add_contact_derivatives(context_->model, kinematics_, links, link_scratch_, at_.gradient, *hessian);
    } else {
        add_pull_back(context_->model, kinematics_, links.wrench, link_scratch_.subtree, at_.gradient);
    }
}

void StepProblem::add_body_drives(BlockMatrix* hessian) {
    if (!drives_bodies_) return;
    drive_links_.wrench.assign(kinematics_.poses.size(), Vector6d::Zero());
    drive_links_.blocks.clear();
    drive_links_.energy = farfield::add_body_drives(drive_step(), kinematics_.poses, drive_links_);
    add_links(drive_links_, hessian);
}

void StepProblem::add_constraints(const VectorXd& q, BlockMatrix* hessian) {
    if (!constrained()) return;
    constraints_.place(kinematics_, q, smooth_diagonal_);
    if (backward_) constraints_.balance(at_.gradient, smooth_diagonal_);
    constraint_links_.wrench.assign(kinematics_.poses.size(), Vector6d::Zero());
    constraint_links_.blocks.clear();
    constraint_links_.energy =
        constraints_.add_derivatives(kinematics_.poses, q, at_.gradient, hessian, constraint_links_);
    add_links(constraint_links_, hessian);
}

double StepProblem::violation(const VectorXd& q) { return constrained() ? constraints_.violation(place(q), q) : 0.0; }

void StepProblem::project(RightHandSides& x) {
    if (constrained()) constraints_.project(at_, x, multipliers_);
}

void StepProblem::add_constraint_forces(std::size_t direction, VectorXd& applied) const {
    if (constrained())
        applied += constraints_.jacobian().transpose() * multipliers_.col(static_cast<Eigen::Index>(direction));
}

double StepProblem::differentiate(const VectorXd& q) {
    kept_ = true;
    add_smooth_terms(q, nullptr);
    add_body_drives(nullptr);
    add_constraints(q, nullptr);
    return at_.value;
}

double StepProblem::linearize(const VectorXd& q) {
    kept_ = false;
    at_.hessian.set_zero(trees_);
    add_smooth_terms(q, &at_.hessian);
    smooth_diagonal_ = at_.hessian.diagonal().cwiseAbs();
    add_body_drives(&at_.hessian);
    if (!backward_) add_constraints(q, &at_.hessian);
    if (contact_) add_contact();
    if (backward_) add_constraints(q, &at_.hessian);
    return at_.value;
}

void StepProblem::add_contact() {
    ++counts_.linearizations;
    hessian_without_contact_.copy_entries(at_.hessian);
    contact_->linearize(kinematics_.poses, at_.contact);
    at_.value += at_.contact.energy;
    if (!std::isfinite(at_.contact.energy)) return;
    at_.noise += 1e-13 * std::abs(at_.contact.energy);
    add_contact_derivatives(context_->model, kinematics_, at_.contact, contact_scratch_, at_.gradient, at_.hessian);
}

void StepProblem::accept() {
    if (contact_) contact_->accept();
}

void StepProblem::project_contact() {
    if (!contact_) return;
    project_blocks(at_.contact);
    at_.hessian.copy_entries(hessian_without_contact_);
    unused_gradient_.setZero(at_.gradient.size());
    add_contact_derivatives(context_->model, kinematics_, at_.contact, contact_scratch_, unused_gradient_, at_.hessian);
}

double StepProblem::follow_friction(const NewtonDirection& direction, double slope, VectorXd& step) {
    if (!positive_ || direction.excess <= kFar) return slope;
    return friction_.follow(context_->model, kinematics_, *contact_, at_, barriers_.barriers(), slope, step);
}

NewtonDirection StepProblem::direction(const VectorXd& q, VectorXd& step, StepReport& report) {
    if (!std::isfinite(at_.value) || !at_.gradient.allFinite()) {
        const bool touching = at_.value > 0.0 && contact_;
        return {.failure = touching ? StepStatus::Intersecting : StepStatus::NonFinite};
    }
    const Reduction& reduction = context_->model.reduction();
    const VectorXd* remaining = scripted() ? &remaining_script(q) : nullptr;
    if (kept_) {
        at_.reduce_gradient(reduction, remaining);
    } else {
        at_.reduce(reduction, remaining);
    }
    if (!kept_) allowed_ = &scales_.allowed_gradient(context_->options.tolerance, smooth_diagonal_, at_.hessian);
    NewtonDirection out{.excess = at_.excess(*allowed_), .noise = at_.noise};
    if (contact_) out.noise += scales_.contact_noise(context_->model, kinematics_.poses, at_.contact.wrench);
    out.arrived = !remaining || script_done();
    report.residual = at_.residual();
    positive_ = kept_ || at_.factor();
    if (!positive_) {
        project_contact();
        at_.reduce(reduction, remaining);
        positive_ = at_.factor();
        if (!positive_) {
            at_.factor_absolute(kEigenvalueFloor,
                                smooth_diagonal_.cwiseMax(kUnitRounding * smooth_diagonal_.maxCoeff()));
        }
    }
    report.conditioning = at_.conditioning();
    out.slope = at_.newton_step(step);
    if (contact_ && out.arrived) {
        out.slope = barriers_.bend(context_->model, kinematics_, at_, out.slope, step);
        out.slope = follow_friction(out, out.slope, step);
    }
    if (!step.allFinite()) out.failure = StepStatus::NonFinite;
    return out;
}

FreeWay StepProblem::free_way(VectorXd& step, NewtonDirection& direction, StepReport& report) {
    if (!contact_) return {};
    gaps_ = at_.contact.gaps;
    if (gaps_.empty()) {
        for (const contact::PairBlock& pair : at_.contact.blocks) gaps_.push_back(pair.gap);
    }
    if (!context_->filter) {
        for (const double gap : gaps_) report.min_gap = std::min(report.min_gap, gap);
        return {.certified = false};
    }
    CollisionFilter::Result way = context_->filter->max_step(kinematics_, step, gaps_, memory_->filter);
    report.shortest_step = std::min(report.shortest_step, way.alpha);
    FreeWay out{.whole = way.alpha == 1.0, .limiting_a = way.limiting_a, .limiting_b = way.limiting_b};
    if (way.alpha < kFree && direction.arrived) avoid_walls(direction, step, way);
    if (way.alpha < kHeld) {
        slow_down_held(direction, step, way);
        direction.slope = at_.gradient.dot(step);
    }
    report.min_gap = std::min(report.min_gap, way.certified_gap);
    out.alpha = way.alpha < 1.0 ? kShortened * way.alpha : 1.0;
    return out;
}

/// Looks for a direction that what stands in the way has become a part of. Kept is the one that promises to fall most on its free way.
void StepProblem::avoid_walls(NewtonDirection& direction, VectorXd& step, CollisionFilter::Result& way) {
    const CollisionFilter& filter = *context_->filter;
    const WallSearch::Start start{context_->model, context_->parameters, placed_q_,
                                  kinematics_,     at_.contact,          context_->contact->pair_weights()};
    around_ = step;
    fractions_.resize(filter.pairs().size());
    for (int round = 0; round < kWallRounds; ++round) {
        (void)filter.max_step(kinematics_, around_, gaps_, memory_->filter, fractions_);
        const std::vector<BarrierDirection::Barrier>& walls = walls_.find(start, filter, around_, fractions_, kFree);
        if (walls.empty()) return;
        const double bent = barriers_.add_walls(context_->model, kinematics_, at_, walls, around_);
        const double slope = follow_friction(direction, bent, around_);
        if (!around_.allFinite()) return;
        const CollisionFilter::Result found = filter.max_step(kinematics_, around_, gaps_, memory_->filter);
        if (slope * found.alpha < direction.slope * way.alpha) {
            step = around_;
            direction.slope = slope;
            way = found;
        }
        if (found.alpha >= kFree) return;
    }
}

/// Trees that ties hold together cannot be slowed down alone.
void StepProblem::set_held_groups() {
    const Model& model = context_->model;
    held_groups_.resize(model.bodies().size());
    for (std::size_t i = 0; i < held_groups_.size(); ++i) held_groups_[i] = model.bodies()[i].root;
    for (const ModelConstraint& c : model.constraints()) {
        const int a = held_groups_[static_cast<std::size_t>(c.a)], b = held_groups_[static_cast<std::size_t>(c.b)];
        if (a != 0 && b != 0 && a != b) std::replace(held_groups_.begin(), held_groups_.end(), b, a);
    }
    if (model.reduction().identity) return;
    const Eigen::MatrixXd& E = model.reduction().E;
    for (Eigen::Index c = 0; c < E.cols(); ++c) {
        int group = -1;
        for (Eigen::Index k = 0; k < E.rows(); ++k) {
            if (E(k, c) == 0.0) continue;
            const int other = held_groups_[static_cast<std::size_t>(model.dofs()[static_cast<std::size_t>(k)].body)];
            if (group < 0) group = other;
            if (other != group) std::replace(held_groups_.begin(), held_groups_.end(), other, group);
        }
    }
}

/// Takes from the step of bodies that are in each other's way, and leaves that of others, when the potential falls more that way.
void StepProblem::slow_down_held(const NewtonDirection& direction, VectorXd& step, CollisionFilter::Result& way) {
    const Model& model = context_->model;
    const auto& pairs = context_->filter->pairs();
    set_held_groups();
    const auto group = [&](int body) { return static_cast<std::size_t>(held_groups_[static_cast<std::size_t>(body)]); };
    slowed_ = step;
    CollisionFilter::Result part;
    for (int round = 0; round < kSlowerRounds; ++round) {
        fractions_.resize(pairs.size());
        part = context_->filter->max_step(kinematics_, slowed_, gaps_, memory_->filter, fractions_);
        if (part.alpha >= kHeld) break;
        speeds_.assign(held_groups_.size(), 1.0);
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if (fractions_[p] >= kHeld) continue;
            for (const int body : {pairs[p].a, pairs[p].b})
                speeds_[group(body)] = std::min(speeds_[group(body)], kShortened * fractions_[p]);
        }
        for (int k = 0; k < model.num_dofs(); ++k)
            slowed_[k] *= speeds_[group(model.dofs()[static_cast<std::size_t>(k)].body)];
    }
    const double gained = at_.gradient.dot(slowed_) * part.alpha, before = at_.gradient.dot(step) * way.alpha;
    if (!(part.alpha > way.alpha) || (direction.arrived && !(gained < before))) return;
    step.swap(slowed_);
    way = part;
}

void StepProblem::move(const VectorXd& q, const VectorXd& step, VectorXd& out) const {
    retract(context_->model, q, step, out);
}

const VectorXd& StepProblem::remaining_script(const VectorXd& q) {
    const Model& model = context_->model;
    remaining_.setZero(model.num_dofs());
    target_q_ = q;
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[k])];
        const int index = model.joints()[static_cast<std::size_t>(body.first_joint)].q;
        target_q_.segment<7>(index) = input_.script.segment<7>(static_cast<Eigen::Index>(7 * k));
    }
    difference(model, q, target_q_, difference_);
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (model.dofs()[static_cast<std::size_t>(k)].prescribed) remaining_[k] = difference_[k];
    }
    return remaining_;
}

bool StepProblem::script_done() const {
    const Model& model = context_->model;
    for (const int kinematic : model.kinematic_bodies()) {
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(kinematic)];
        const int index = model.joints()[static_cast<std::size_t>(body.first_joint)].q;
        const double place = target_q_.segment<3>(index).norm();
        if (!(remaining_.segment<3>(body.first_dof).norm() <= kArrived * place)) return false;
        if (!(remaining_.segment<3>(body.first_dof + 3).norm() <= kArrived)) return false;
    }
    return true;
}

void StepProblem::ahead(const VectorXd& v, VectorXd& step) {
    step = context_->options.dt * v;
    if (!scripted()) return;
    const VectorXd& remaining = remaining_script(now_.q);
    for (int k = 0; k < context_->model.num_dofs(); ++k) {
        if (context_->model.dofs()[static_cast<std::size_t>(k)].prescribed) step[k] = remaining[k];
    }
}

void StepProblem::vjp(std::span<const VectorXd> lambdas, std::span<StepProducts> products,
                      std::span<Parameters> gradients) {
    const Model& model = context_->model;
    const std::size_t count = lambdas.size();
    if (twists_.size() < count) twists_.resize(count);
    if (inertia_vjp_.size() < count) inertia_vjp_.resize(count);
    if (contact_gradients_.size() < count) contact_gradients_.resize(count);
    for (std::size_t d = 0; d < count; ++d) body_twists(model, kinematics_, lambdas[d], twists_[d]);
    joint_vjp(joint_step(), placed_q_, lambdas, products, gradients);
    length_vjp(joint_step(), placed_q_, lambdas, products, gradients);
    inertia_vjp(model, context_->parameters, context_->options.dt, target_, kinematics_.poses, kinematics_now_.poses,
                kinematics_previous_.poses, {twists_.data(), count}, inertia_vjp_, gradients);
    if (contact_) add_contact_vjp(gradients);
    for (std::size_t d = 0; d < count; ++d) {
        add_links_vjp(d, products[d]);
        pull_back(d, products[d], gradients[d]);
        saturate_controls_vjp(model, control_, products[d].control);
    }
}

void StepProblem::add_links_vjp(std::size_t direction, StepProducts& products) {
    InertiaVjp& wrenches = inertia_vjp_[direction];
    const auto add_forces = [&](const contact::ContactLinearization& links) {
        apply_blocks(links, twists_[direction], applied_);
        for (std::size_t i = 1; i < kinematics_.poses.size(); ++i) {
            wrenches.force[i] += links.wrench[i].head<3>();
            wrenches.lambda_force[i] += applied_[i].head<3>();
        }
    };
    if (drives_bodies_) {
        add_forces(drive_links_);
        body_drive_vjp(drive_step(), kinematics_.poses, twists_[direction], wrenches.now, products.control);
    }
    if (constrained()) {
        add_forces(constraint_links_);
        constraints_.add_forces(kinematics_.poses, multipliers_.col(static_cast<Eigen::Index>(direction)),
                                wrenches.lambda_force);
    }
}

void StepProblem::add_contact_vjp(std::span<Parameters> gradients) {
    contact_->vjp(std::span(twists_).first(gradients.size()), std::span(contact_gradients_).first(gradients.size()));
    for (std::size_t d = 0; d < gradients.size(); ++d) {
        const contact::ContactGradient& found = contact_gradients_[d];
        InertiaVjp& wrenches = inertia_vjp_[d];
        apply_blocks(at_.contact, twists_[d], applied_);
        for (std::size_t i = 1; i < kinematics_.poses.size(); ++i) {
            wrenches.now[i] -= found.previous_wrench[i];
            wrenches.force[i] += at_.contact.wrench[i].head<3>();
            wrenches.lambda_force[i] += applied_[i].head<3>();
        }
        gradients[d].friction -= found.friction;
        gradients[d].contact_stiffness -= found.contact_stiffness;
        if (found.hull_vertices.size() > 0) gradients[d].hull_vertices -= found.hull_vertices;
    }
}

/// Carries what acts on the bodies of one direction to coordinates and attachments.
void StepProblem::pull_back(std::size_t direction, StepProducts& products, Parameters& gradient) {
    const Model& model = context_->model;
    InertiaVjp& wrenches = inertia_vjp_[direction];
    add_pull_back(model, kinematics_now_, wrenches.now, subtree_, products.q_now);
    add_attachment_pull_back(model, kinematics_now_, subtree_, gradient);
    add_pull_back(model, kinematics_previous_, wrenches.previous, subtree_, products.q_previous);
    add_attachment_pull_back(model, kinematics_previous_, subtree_, gradient);
    // Attachments also act at t+1: a shift `a` of a subtree changes phi by a . (sum lambda_force + sum force x w_parent).
    for (std::size_t i = kinematics_.poses.size() - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        const auto parent = static_cast<std::size_t>(body.parent);
        const Vector3d shift = wrenches.lambda_force[i] + wrenches.force[i].cross(twists_[direction][parent].tail<3>());
        if (!has_free_joint(model, body)) {
            gradient.attachment.row(static_cast<Eigen::Index>(i)) -=
                (kinematics_.poses[parent].rotation.transpose() * shift).transpose();
        }
        wrenches.lambda_force[parent] += wrenches.lambda_force[i];
        wrenches.force[parent] += wrenches.force[i];
    }
}

}  // namespace farfield
