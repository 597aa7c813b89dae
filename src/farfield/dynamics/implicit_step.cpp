// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/implicit_step.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kArmijo = 1e-4;
constexpr int kMaxHalvings = 60;
constexpr double kEigenvalueFloor = 1e-8;            // relative to the largest
constexpr int kPatience = 25;                        // iterations before a step starts over along the central path
constexpr double kCentralPath[] = {1e5, 1e3, 30.0};  // weights on the way, relative to the model's
constexpr int kPathIterations = 12;                  // for each of them
constexpr double kPathTolerance = 1.0;               // [N]
constexpr int kLoads = 6;  // parts in which a body is pressed against another, each four times the last

/// E^T H E, H = s.full_hessian.
void reduce_hessian(const Reduction& reduction, StepScratch& s) {
    s.product.noalias() = reduction.E.transpose() * s.full_hessian;
    s.reduced_hessian.noalias() = s.product * reduction.E;
}

/// E^T H E and E^T (g + H r), r = what scripted coordinates still have to go.
void reduce(const Model& model, StepScratch& s, bool scripted) {
    const Reduction& reduction = model.reduction();
    const VectorXd& g = s.objective.gradient();
    if (reduction.identity) {
        s.reduced_hessian = s.objective.hessian();
        s.reduced_gradient = g;
        return;
    }
    s.full_hessian = s.objective.hessian().selfadjointView<Eigen::Lower>();
    s.reduced_gradient.noalias() = reduction.E.transpose() * g;
    if (scripted) {
        s.difference.noalias() = s.full_hessian * s.remaining;
        s.reduced_gradient.noalias() += reduction.E.transpose() * s.difference;
    }
    reduce_hessian(reduction, s);
}

/// How much the gradient changes when coordinates change in their last digits.
double coordinate_rounding(const StepScratch& s) {
    return 16.0 * std::numeric_limits<double>::epsilon() * std::max(1.0, s.q.lpNorm<Eigen::Infinity>()) *
           s.objective.hessian().diagonal().cwiseAbs().maxCoeff();
}

/// Newton direction: exact Hessian first, then contact projected per body pair, then |eigenvalues|.
void solve_direction(const Model& model, StepScratch& s, bool scripted, StepReport& report) {
    bool positive = s.cholesky.compute(s.reduced_hessian);
    if (!positive) {
        s.objective.project_contact();
        reduce(model, s, scripted);
        positive = s.cholesky.compute(s.reduced_hessian);
    }
    if (positive) {
        report.conditioning = s.cholesky.pivot_ratio();
        s.reduced_step = -s.reduced_gradient;
        s.cholesky.solve_in_place(s.reduced_step);
    } else {
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(s.reduced_hessian.selfadjointView<Eigen::Lower>());
        const VectorXd size = eigen.eigenvalues().cwiseAbs();
        report.conditioning = eigen.eigenvalues().minCoeff() / size.maxCoeff();
        const VectorXd floored = size.cwiseMax(kEigenvalueFloor * size.maxCoeff());
        s.reduced_step = -(eigen.eigenvectors() * floored.cwiseInverse().asDiagonal() *
                           (eigen.eigenvectors().transpose() * s.reduced_gradient));
    }
    if (model.reduction().identity) {
        s.step = s.reduced_step;
    } else {
        s.step.noalias() = model.reduction().E * s.reduced_step;
        if (scripted) s.step += s.remaining;
    }
}

/// Tangent from the scripted coordinates in q to their targets; zero elsewhere.
void remaining_script(const Model& model, const VectorXd& q, const VectorXd& script, StepScratch& s) {
    s.remaining.setZero(model.num_dofs());
    s.target = q;
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[k])];
        const int index = model.joints()[static_cast<std::size_t>(body.first_joint)].q;
        s.target.segment<7>(index) = script.segment<7>(static_cast<Eigen::Index>(7 * k));
    }
    difference(model, q, s.target, s.difference);
    for (int k = 0; k < model.num_dofs(); ++k) {
        if (model.dofs()[static_cast<std::size_t>(k)].prescribed) s.remaining[k] = s.difference[k];
    }
}

/// The fraction of the step whose whole path is certified free of collisions.
double certified_fraction(const StepContext& context, StepMemory& memory, StepScratch& s, StepReport& report) {
    s.gaps = s.objective.contact().gaps;
    if (!context.filter) {
        for (const double gap : s.gaps) report.min_gap = std::min(report.min_gap, gap);
        return 1.0;
    }
    const CollisionFilter::Result result =
        context.filter->max_step(s.objective.kinematics(), s.step, s.gaps, memory.filter);
    report.min_gap = std::min(report.min_gap, result.certified_gap);
    report.shortest_step = std::min(report.shortest_step, result.alpha);
    return result.alpha;
}

/// Halves the step, starting from `alpha`, until the objective falls enough. Where the stopping test has passed, any feasible point will
/// do, and every certified one is feasible. The first trial mostly fits, so its derivatives are computed at once unless the last search
/// has taught otherwise (`first_fits`): `evaluated` tells that they are those at s.q.
bool line_search(const StepContext& context, StepScratch& s, double alpha, bool any_feasible, bool& first_fits,
                 bool& evaluated) {
    evaluated = false;
    if (!(alpha > 0.0)) return false;
    const double value = s.objective.value(), noise = s.objective.energy_noise();
    const double slope = s.reduced_gradient.dot(s.reduced_step);
    const bool certain = any_feasible && (!context.contact || context.filter);
    for (int halving = 0; halving < kMaxHalvings; ++halving, alpha *= 0.5) {
        VectorXd& scaled = s.difference;
        scaled = alpha * s.step;
        retract(context.model, s.q, scaled, s.trial);
        const bool at_once = !certain && halving == 0 && first_fits;
        if (at_once) s.objective.derivatives(s.trial);
        const double trial = certain ? value : at_once ? s.objective.value() : s.objective.energy(s.trial);
        if (!std::isfinite(trial)) continue;
        if (any_feasible || trial <= value + kArmijo * alpha * slope + noise) {
            s.q.swap(s.trial);
            evaluated = at_once;
            first_fits = halving == 0;
            return true;
        }
    }
    return false;
}

/// Moves the start of Newton's method from where the step starts to where the velocity v leads, when the way there is free. True if so:
/// then the derivatives there are known.
bool start_from(const StepContext& context, const State& now, const VectorXd& v, StepMemory& memory, StepScratch& s,
                StepReport& report) {
    s.step = context.options.dt * v;
    s.objective.place(s.q);
    const CollisionFilter::Result way = context.filter->max_step(s.objective.kinematics(), s.step, {}, memory.filter);
    if (way.alpha < 1.0) return false;
    retract(context.model, now.q, s.step, s.trial);
    s.objective.derivatives(s.trial);
    if (!std::isfinite(s.objective.value())) return false;
    s.q.swap(s.trial);
    report.min_gap = way.certified_gap;
    return true;
}

/// From a guess, else from where inertia leads. From where the step starts friction looks as if nothing slid, and its stiffness turns
/// the first direction of a sliding body towards what it slides on.
bool start_ahead(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                 StepScratch& s, StepReport& report) {
    return (input.guess.size() && start_from(context, now, input.guess, memory, s, report)) ||
           start_from(context, now, now.v, memory, s, report);
}

void set_end(const StepContext& context, const State& now, StepScratch& s, State& next, StepReport& report) {
    const Model& model = context.model;
    next.q = s.q;
    difference(model, now.q, next.q, next.v);
    next.v /= context.options.dt;
    s.objective.place(next.q);
    const Poses& poses = s.objective.kinematics().poses;
    report.kinetic =
        kinetic_energy(model, context.parameters, context.options.dt, s.objective.kinematics_now().poses, poses);
    report.potential =
        gravity_energy(model, context.parameters, poses) + stored_joint_energy(model, context.parameters, next.q);
    if (context.contact) report.contact = s.objective.contact().energy;
}

/// Adds the pull-back of v_next = difference(q, q_next)/dt to both ends.
/// `delta` = difference(from, to).
void add_difference_vjp(const Model& model, const VectorXd& delta, const VectorXd& bar, VectorXd& from_bar,
                        VectorXd& to_bar) {
    for (const ScalarCoordinate& c : model.scalars()) {
        from_bar[c.dof] -= bar[c.dof];
        to_bar[c.dof] += bar[c.dof];
    }
    for (const BallCoordinate& c : model.balls()) {
        const Matrix3d J = right_jacobian_inverse(delta.segment<3>(c.dof));  // J_l^-1 = J_r^-T
        to_bar.segment<3>(c.dof) += J.transpose() * bar.segment<3>(c.dof);
        from_bar.segment<3>(c.dof) -= J * bar.segment<3>(c.dof);
    }
}

/// lambda = E (E^T H E)^-1 E^T bar, bar = s.q_next_bar, with the exact Hessian H = s.full_hessian.
void solve_adjoint(const Reduction& reduction, StepScratch& s) {
    if (reduction.identity) {
        s.reduced_bar = s.q_next_bar;
    } else {
        s.full_hessian = s.objective.hessian().selfadjointView<Eigen::Lower>();
        reduce_hessian(reduction, s);
        s.reduced_bar.noalias() = reduction.E.transpose() * s.q_next_bar;
    }
    const Eigen::MatrixXd& lower = reduction.identity ? s.objective.hessian() : s.reduced_hessian;
    if (s.cholesky.compute(lower)) {
        s.cholesky.solve_in_place(s.reduced_bar);
    } else {
        s.product = lower.selfadjointView<Eigen::Lower>();
        s.lu.compute(s.product);
        s.direct = s.reduced_bar;
        s.reduced_bar = s.lu.solve(s.direct);
    }
    if (reduction.identity) {
        s.lambda = s.reduced_bar;
    } else {
        s.lambda.noalias() = reduction.E * s.reduced_bar;
    }
}

/// Pull-back of q_previous = retract(q, -dt v) to q and v.
void add_previous_vjp(const Model& model, double dt, const VectorXd& v, const VectorXd& previous_bar, VectorXd& q_bar,
                      VectorXd& v_bar) {
    for (const ScalarCoordinate& c : model.scalars()) {
        q_bar[c.dof] += previous_bar[c.dof];
        v_bar[c.dof] -= dt * previous_bar[c.dof];
    }
    for (const BallCoordinate& c : model.balls()) {
        const Vector3d w = dt * v.segment<3>(c.dof), bar = previous_bar.segment<3>(c.dof);
        q_bar.segment<3>(c.dof) += exp_rotation(w).transpose() * bar;
        v_bar.segment<3>(c.dof) -= dt * (left_jacobian(w).transpose() * bar);
    }
}

/// Newton's method from s.q, until the gradient is below `tolerance` or this step has taken `last` iterations. `evaluated`: the
/// derivatives at s.q are known.
void iterate(const StepContext& context, const StepInput& input, double tolerance, int last, bool evaluated,
             StepMemory& memory, StepScratch& s, StepReport& report) {
    const Model& model = context.model;
    const bool scripted = model.num_kinematic() > 0;
    report.status = StepStatus::MaxIterations;
    tolerance = std::max(tolerance, s.objective.gradient_noise());
    bool first_fits = true;
    double last_residual = std::numeric_limits<double>::infinity();
    while (report.iterations < last) {
        ++report.iterations;
        if (!evaluated) s.objective.derivatives(s.q);
        if (!std::isfinite(s.objective.value()) || !s.objective.gradient().allFinite()) {
            report.status =
                s.objective.value() > 0.0 && context.contact ? StepStatus::Intersecting : StepStatus::NonFinite;
            break;
        }
        if (scripted) remaining_script(model, s.q, input.script, s);
        const bool arrived = !scripted || s.remaining.isZero(1e-14);
        reduce(model, s, scripted);
        report.residual = s.reduced_gradient.size() ? s.reduced_gradient.lpNorm<Eigen::Infinity>() : 0.0;
        solve_direction(model, s, scripted, report);
        if (!s.step.allFinite()) {
            report.status = StepStatus::NonFinite;
            break;
        }
        // Near contact the Hessian magnifies the rounding of coordinates: a residual that has stopped falling there is as good as it gets.
        const bool at_rounding = report.residual > 0.25 * last_residual && report.residual <= coordinate_rounding(s);
        last_residual = report.residual;
        const bool passed = arrived && (report.residual <= tolerance || at_rounding);
        const double alpha = context.contact ? certified_fraction(context, memory, s, report) : 1.0;
        if (!line_search(context, s, alpha, passed || !arrived, first_fits, evaluated)) {
            report.status = StepStatus::LineSearchFailed;
            break;
        }
        if (passed && alpha == 1.0) {
            report.status = StepStatus::Converged;
            break;
        }
    }
}

/// A body driven into a narrow place at high speed is held by the filter, since contact of little weight pushes only when it nearly touches.
/// Starting over with much weight, then less and less, stays away from the walls on the way, as interior-point methods do.
void follow_central_path(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                         StepScratch& s, StepReport& report) {
    Parameters heavy = context.parameters;
    s.q = now.q;
    for (const double factor : kCentralPath) {
        heavy.contact_stiffness = factor * context.parameters.contact_stiffness;
        const StepContext path{context.model, heavy, context.contact, context.filter, context.options, context.pool};
        s.objective.begin(path, now, input, memory.contact.get());
        const int last = std::min(report.iterations + kPathIterations, context.options.max_iterations);
        iterate(path, input, kPathTolerance, last, false, memory, s, report);
    }
    s.objective.begin(context, now, input, memory.contact.get());
    iterate(context, input, context.options.tolerance, context.options.max_iterations, false, memory, s, report);
}

/// Did a body go around another within the step? Only one that was in the way makes it possible.
bool went_around(const StepContext& context, StepMemory& memory, StepScratch& s, const StepReport& report) {
    if (report.shortest_step == 1.0) return false;
    s.objective.place(s.q);
    const Poses &from = s.objective.kinematics_now().poses, &to = s.objective.kinematics().poses;
    return context.filter->find_detour(from, to, memory.filter).has_value();
}

/// Contact of little weight pushes only when it nearly touches, and by then Newton's method has a whole step of inertia to get rid of: it
/// may turn a body aside and past the other. Starting over with a part of the velocity, just enough to touch, then four times as much
/// beyond that and so on, follows the state in which one presses against the other.
void press_gradually(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                     StepScratch& s, StepReport& report) {
    s.q = now.q;
    s.step = context.options.dt * now.v;
    s.objective.place(now.q);
    const double free = context.filter->max_step(s.objective.kinematics(), s.step, {}, memory.filter).alpha;
    State slower = now;
    for (int load = kLoads; load >= 0; --load) {
        const bool whole = load == 0;
        slower.v = whole ? now.v : VectorXd((free + (1.0 - free) * std::pow(0.25, load)) * now.v);
        s.objective.begin(context, slower, input, memory.contact.get());
        const int last = whole ? context.options.max_iterations
                               : std::min(report.iterations + kPathIterations, context.options.max_iterations);
        iterate(context, input, whole ? context.options.tolerance : kPathTolerance, last, false, memory, s, report);
    }
}

/// Keeps what was found when pressing gradually does not end, or ends beyond the other body as well.
void avoid_detour(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                  StepScratch& s, StepReport& report) {
    const VectorXd around = s.q;
    StepReport pressed = report;
    pressed.iterations = 0;
    press_gradually(context, now, input, memory, s, pressed);
    const int iterations = report.iterations + pressed.iterations;
    if (pressed.status == StepStatus::Converged && !went_around(context, memory, s, pressed)) {
        report = pressed;
    } else {
        s.q = around;
        s.objective.begin(context, now, input, memory.contact.get());
        s.objective.derivatives(s.q);
        report.detour = true;
    }
    report.iterations = iterations;
}

}  // namespace

void validate(const StepOptions& options) {
    if (!(options.dt > 0.0) || !std::isfinite(options.dt)) fail("step options: dt ", options.dt, ", expected > 0 [s]");
    if (!(options.tolerance > 0.0) || !std::isfinite(options.tolerance))
        fail("step options: tolerance ", options.tolerance, ", expected > 0 [N]");
    if (options.max_iterations < 1) fail("step options: max_iterations ", options.max_iterations, ", expected >= 1");
}

ContactSetup make_contact_setup(const Model& model, std::shared_ptr<const contact::ContactPotential> potential,
                                std::string description, const FilterOptions& filter) {
    auto surfaces = potential->surfaces(model.default_parameters());
    return {std::move(potential), std::make_shared<const CollisionFilter>(model, std::move(surfaces), filter),
            std::move(description)};
}

StepMemory make_memory(const StepContext& context) {
    return StepMemory{context.contact ? context.contact->make_memory(context.pool) : nullptr, {}};
}

const char* to_string(StepStatus status) {
    switch (status) {
        case StepStatus::Converged:
            return "converged";
        case StepStatus::MaxIterations:
            return "max_iterations";
        case StepStatus::LineSearchFailed:
            return "line_search_failed";
        case StepStatus::NonFinite:
            return "non_finite";
        case StepStatus::Intersecting:
            return "intersecting";
    }
    return "unknown";
}

StepReport implicit_step(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                         StepScratch& s, State& next) {
    const Model& model = context.model;
    const StepOptions& options = context.options;
    StepReport report;
    bool evaluated = false;
    s.objective.begin(context, now, input, memory.contact.get());
    s.q = now.q;
    const bool scripted = model.num_kinematic() > 0;
    if (scripted) remaining_script(model, s.q, input.script, s);
    if (!context.contact) {  // nothing to run into: start from where inertia leads
        s.step = options.dt * (input.guess.size() ? input.guess : now.v);
        for (int k = 0; scripted && k < model.num_dofs(); ++k) {
            if (model.dofs()[static_cast<std::size_t>(k)].prescribed) s.step[k] = s.remaining[k];
        }
        retract(model, now.q, s.step, s.trial);
        s.q.swap(s.trial);
    } else if (context.filter && !scripted) {
        evaluated = start_ahead(context, now, input, memory, s, report);
    }
    const bool may_start_over = context.contact && context.filter && !scripted;
    iterate(context, input, options.tolerance,
            may_start_over ? std::min(kPatience, options.max_iterations) : options.max_iterations, evaluated, memory, s,
            report);
    if (may_start_over && report.status != StepStatus::Converged && report.iterations < options.max_iterations)
        follow_central_path(context, now, input, memory, s, report);
    if (may_start_over && report.status == StepStatus::Converged && went_around(context, memory, s, report))
        avoid_detour(context, now, input, memory, s, report);
    set_end(context, now, s, next, report);
    return report;
}

void implicit_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                       const VectorXd& q_next_bar, const VectorXd& v_next_bar, StepMemory& memory, StepScratch& s,
                       StepBars& bars, Parameters& gradient) {
    const Model& model = context.model;
    const double dt = context.options.dt;
    const int n = model.num_dofs();
    s.objective.begin(context, now, input, memory.contact.get(), contact::StepMode::Backward);
    s.objective.derivatives(next.q);

    s.products.q_now.setZero(n);
    s.products.v_now.setZero(n);
    s.products.q_previous.setZero(n);
    s.products.control.setZero(model.num_controls());
    s.q_next_bar = q_next_bar;
    s.v_next_bar = v_next_bar / dt;
    difference(model, now.q, next.q, s.difference);
    add_difference_vjp(model, s.difference, s.v_next_bar, s.products.q_now, s.q_next_bar);
    solve_adjoint(model.reduction(), s);

    bars.script.setZero(6 * model.num_kinematic());
    if (model.num_kinematic() > 0) {  // a scripted coordinate moves q_next directly and through the solved ones
        s.direct = s.q_next_bar;
        s.direct.noalias() -= s.full_hessian * s.lambda;
        for (int k = 0; k < model.num_kinematic(); ++k) {
            const ModelBody& body =
                model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[static_cast<std::size_t>(k)])];
            bars.script.segment<6>(6 * k) = s.direct.segment<6>(body.first_dof);
        }
    }
    s.objective.vjp(next.q, s.lambda, s.products, gradient);
    bars.q = s.products.q_now;
    bars.v = s.products.v_now;
    bars.control = s.products.control;
    add_previous_vjp(model, dt, now.v, s.products.q_previous, bars.q, bars.v);
}

}  // namespace farfield
