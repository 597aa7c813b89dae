// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/implicit_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/dynamics/length_terms.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kEvaluations = 2;                        // per iteration, on average, before a step is given up
constexpr int kPatience = 20;                          // iterations that do not bring it closer, before it is
constexpr int kForceRounds = 8;                        // of better constraint forces
constexpr double kStifferContact[] = {1e3, 1e2, 1e1};  // times the weight of contact, one after the other
constexpr int kStage = 10;                             // iterations with each of them
constexpr double kRough = 1e-3;                        // the tolerance there

/// One step on the way to its solution.
struct StepSolve {
    const StepContext& context;
    const State& now;
    const StepInput& input;
    StepMemory& memory;
    StepProblem& problem;
    NewtonIterate& x;
    StepReport report{};
};

/// Moves the start of Newton's method from where the step starts to where the velocity v leads, when the way there is free. True if so:
/// then the derivatives there are known.
bool start_from(StepSolve& solve, const VectorXd& v) {
    NewtonIterate& x = solve.x;
    solve.problem.ahead(v, x.step);
    const CollisionFilter::Result way =
        solve.context.filter->max_step(solve.problem.kinematics_now(), x.step, {}, solve.memory.filter);
    if (way.alpha < 1.0) return false;
    solve.problem.move(solve.now.q, x.step, x.trial);
    x.value = solve.problem.linearize(x.trial);
    if (!std::isfinite(x.value)) return false;
    x.q.swap(x.trial);
    x.evaluated = true;
    solve.report.min_gap = way.certified_gap;
    return true;
}

/// Where Newton's method starts: from a guess, else from where inertia leads, else from where the step starts. From there friction looks
/// as if nothing slid, and its stiffness turns the first direction of a sliding body towards what it slides on.
void choose_start(StepSolve& solve) {
    NewtonIterate& x = solve.x;
    const VectorXd& guess = solve.input.guess;
    x.set(solve.now.q);
    if (!solve.context.contact) {  // nothing to run into; smooth motion changes its velocity as it did before
        const VectorXd& change = solve.memory.velocity_change;
        x.scaled = guess.size() ? guess : solve.now.v;
        if (!guess.size() && change.size()) x.scaled += change;
        solve.problem.ahead(x.scaled, x.step);
        solve.problem.move(solve.now.q, x.step, x.q);
    } else if (solve.context.filter && !solve.problem.scripted()) {
        if (!guess.size() || !start_from(solve, guess)) start_from(solve, solve.now.v);
    }
}

/// Newton's method with what is left of the budget of a step.
void minimise(StepSolve& solve, int most_iterations) {
    const StepOptions& options = solve.context.options;
    const ContactCounts counts = solve.problem.contact_counts();
    newton(solve.problem,
           {std::min(most_iterations, options.max_iterations),
            kEvaluations * options.max_iterations - counts.linearizations - counts.energies, kPatience,
            solve.context.trace},
           solve.x, solve.report);
}

/// A barrier that is weak beside the forces it will have to bear lets bodies come so near, and from so far, that they block each other
/// long before it acts. Approaches the minimum through those of stiffer contact, as interior-point methods do, friction left as it is.
void press_gradually(StepSolve& solve) {
    const StepContext& context = solve.context;
    solve.report.min_gap = std::numeric_limits<double>::infinity();  // it starts again
    choose_start(solve);
    Parameters stiffer = context.parameters;
    StepContext stage{context.model,   stiffer,      context.contact, context.filter,
                      context.options, context.pool, context.trace,   context.law};
    stage.options.tolerance = kRough;
    for (const double factor : kStifferContact) {
        stiffer.contact_stiffness = factor * context.parameters.contact_stiffness;
        for (const ContactPair& pair : context.model.collision().pairs) {
            if (pair.friction) continue;  // of the pair itself; a coefficient that no pair asks for may not change
            for (const int body : {pair.a, pair.b}) stiffer.friction[body] = context.parameters.friction[body] / factor;
        }
        solve.problem.begin(stage, solve.now, solve.input, solve.memory);
        solve.x.evaluated = false;
        minimise(solve, solve.report.iterations + kStage);
    }
    solve.problem.begin(context, solve.now, solve.input, solve.memory);
    solve.x.evaluated = false;
    minimise(solve, context.options.max_iterations);
}

/// Did a body go around another within the step? Only one that was in the way makes it possible.
bool went_around(StepSolve& solve) {
    const StepReport& report = solve.report;
    if (!solve.context.filter || report.status != StepStatus::Converged || report.shortest_step == 1.0) return false;
    const Poses &from = solve.problem.kinematics_now().poses, &to = solve.problem.place(solve.x.q).poses;
    return solve.context.filter->find_detour(from, to, solve.memory.filter).has_value();
}

/// A step whose script cannot be followed names the body that is left no room: of the bodies that are not scripted, the one
/// whose second nearest neighbour is nearest.
void name_squeezed(StepSolve& solve) {
    const CollisionFilter* filter = solve.context.filter;
    if (!filter || solve.report.status == StepStatus::Converged || !solve.problem.scripted()) return;
    (void)solve.problem.remaining_script(solve.x.q);
    if (solve.problem.script_done()) return;
    const Poses& poses = solve.problem.place(solve.x.q).poses;
    struct Neighbours {
        double first = std::numeric_limits<double>::infinity(), second = std::numeric_limits<double>::infinity();
        int a = -1, b = -1;
    };
    std::vector<Neighbours> near(poses.size());
    const auto meet = [&](int body, int other, double gap) {
        Neighbours& nearest = near[static_cast<std::size_t>(body)];
        const ModelBody& moves = solve.context.model.bodies()[static_cast<std::size_t>(body)];
        if (moves.kinematic >= 0 || moves.last_dof < 0 || gap >= nearest.second) return;
        if (gap < nearest.first) {
            nearest = {gap, nearest.first, other, nearest.a};
        } else {
            nearest.second = gap, nearest.b = other;
        }
    };
    for (std::size_t p = 0; p < filter->pairs().size(); ++p) {
        const ContactPair& pair = filter->pairs()[p];
        const double gap = filter->gap_lower_bound(static_cast<int>(p), poses);
        meet(pair.a, pair.b, gap);
        meet(pair.b, pair.a, gap);
    }
    const auto held = std::min_element(near.begin(), near.end(),
                                       [](const Neighbours& x, const Neighbours& y) { return x.second < y.second; });
    if (held == near.end() || held->b < 0) return;
    solve.report.status = StepStatus::Squeezed;
    solve.report.squeezed = static_cast<int>(held - near.begin());
    solve.report.between_a = std::min(held->a, held->b);
    solve.report.between_b = std::max(held->a, held->b);
}

/// The minimum again with better constraint forces until constraints hold.
void hold_constraints(StepSolve& solve) {
    for (int round = 0; solve.problem.constrained(); ++round) {
        solve.report.constraint_residual = solve.problem.violation(solve.x.q);
        if (solve.report.status != StepStatus::Converged) return;
        if (solve.report.constraint_residual <= solve.problem.allowed_violation()) return;
        if (round == kForceRounds) {
            solve.report.status = StepStatus::MaxIterations;
            return;
        }
        solve.problem.update_multipliers();
        solve.x.evaluated = false;
        minimise(solve, solve.context.options.max_iterations);
    }
}

/// Adds the pull-back of v_next = difference(q, q_next)/dt to both ends of every direction. `delta` = difference(q, q_next).
void add_velocity_vjp(const Model& model, double dt, const VectorXd& delta, std::span<const StateGradient> next_bars,
                      StepScratch& s) {
    const std::size_t count = next_bars.size();
    for (std::size_t d = 0; d < count; ++d) {
        s.next_bars[d].q = next_bars[d].q;
        s.next_bars[d].v = next_bars[d].v / dt;
        for (const ScalarCoordinate& c : model.scalars()) {
            s.products[d].q_now[c.dof] -= s.next_bars[d].v[c.dof];
            s.next_bars[d].q[c.dof] += s.next_bars[d].v[c.dof];
        }
    }
    for (const BallCoordinate& c : model.balls()) {
        const Matrix3d J = right_jacobian_inverse(delta.segment<3>(c.dof));  // J_l^-1 = J_r^-T
        for (std::size_t d = 0; d < count; ++d) {
            const Vector3d bar = s.next_bars[d].v.segment<3>(c.dof);
            s.next_bars[d].q.segment<3>(c.dof) += J.transpose() * bar;
            s.products[d].q_now.segment<3>(c.dof) -= J * bar;
        }
    }
}

/// Adds the pull-back of q_previous = retract(q, -dt v) to q and v.
void add_previous_vjp(const Model& model, double dt, const VectorXd& v, std::span<const StepProducts> products,
                      std::span<StepGradient> gradients) {
    for (std::size_t d = 0; d < gradients.size(); ++d) {
        for (const ScalarCoordinate& c : model.scalars()) {
            gradients[d].state.q[c.dof] += products[d].q_previous[c.dof];
            gradients[d].state.v[c.dof] -= dt * products[d].q_previous[c.dof];
        }
    }
    for (const BallCoordinate& c : model.balls()) {
        const Vector3d w = dt * v.segment<3>(c.dof);
        const Matrix3d turn = exp_rotation(w), J = left_jacobian(w);
        for (std::size_t d = 0; d < gradients.size(); ++d) {
            const Vector3d bar = products[d].q_previous.segment<3>(c.dof);
            gradients[d].state.q.segment<3>(c.dof) += turn.transpose() * bar;
            gradients[d].state.v.segment<3>(c.dof) -= dt * (J.transpose() * bar);
        }
    }
}

/// A scripted coordinate moves q_next directly and through the solved ones: its rows of bar - H lambda.
void set_script_gradient(const Model& model, StepProblem& problem, std::size_t direction, const VectorXd& q_next_bar,
                         const VectorXd& lambda, VectorXd& applied, VectorXd& script) {
    script.setZero(6 * model.num_kinematic());
    if (model.num_kinematic() == 0) return;
    problem.linearization().apply(lambda, applied);
    problem.add_constraint_forces(direction, applied);
    for (int k = 0; k < model.num_kinematic(); ++k) {
        const ModelBody& body =
            model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[static_cast<std::size_t>(k)])];
        script.segment<6>(6 * k) = q_next_bar.segment<6>(body.first_dof) - applied.segment<6>(body.first_dof);
    }
}

void make_room(const Model& model, std::size_t count, StepScratch& s) {
    if (s.products.size() < count) {
        s.products.resize(count);
        s.next_bars.resize(count);
        s.lambdas.resize(count);
    }
    for (StepProducts& products : std::span(s.products).first(count)) {
        products.q_now.setZero(model.num_dofs());
        products.v_now.setZero(model.num_dofs());
        products.q_previous.setZero(model.num_dofs());
        products.control.setZero(model.num_controls());
    }
    s.sides.resize(model.num_dofs(), static_cast<Eigen::Index>(count));
}

/// The state at the end, its energies and what it took.
StepReport finish(StepSolve& solve, State& next) {
    const StepContext& context = solve.context;
    StepReport& report = solve.report;
    next.q = solve.x.q;
    difference(context.model, solve.now.q, next.q, next.v);
    next.v /= context.options.dt;
    if (!context.contact) solve.memory.velocity_change = next.v - solve.now.v;
    const Poses& poses = solve.problem.place(next.q).poses;
    report.kinetic = kinetic_energy(context.model, context.parameters, context.options.dt,
                                    solve.problem.kinematics_now().poses, poses);
    report.potential = gravity_energy(context.model, context.parameters, poses) +
                       stored_joint_energy(context.model, context.parameters, next.q) +
                       stored_length_energy(context.model, next.q);
    if (context.contact) report.contact = solve.problem.linearization().contact.energy;
    report.contact_counts = solve.problem.contact_counts();
    return report;
}

}  // namespace

StepReport implicit_step(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                         StepScratch& s, State& next) {
    StepSolve solve{context, now, input, memory, s.problem, s.x};
    s.problem.reset_counts();
    s.problem.begin(context, now, input, memory);
    choose_start(solve);
    minimise(solve, context.options.max_iterations);
    const bool stuck =
        solve.report.status == StepStatus::MaxIterations || solve.report.status == StepStatus::LineSearchFailed;
    if (context.contact && stuck && solve.report.iterations < context.options.max_iterations) press_gradually(solve);
    hold_constraints(solve);
    solve.report.detour = went_around(solve);
    name_squeezed(solve);
    return finish(solve, next);
}

void implicit_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                       std::span<const StateGradient> next_bars, StepMemory& memory, StepScratch& s,
                       std::span<StepGradient> gradients, std::span<Parameters> parameters) {
    const Model& model = context.model;
    const double dt = context.options.dt;
    const std::size_t count = next_bars.size();
    s.problem.begin(context, now, input, memory, contact::StepMode::Backward);
    s.problem.linearize(next.q);
    StepLinearization& at = s.problem.linearization();
    at.reduce(model.reduction(), nullptr);
    if (!at.factor()) at.factor_indefinite();

    make_room(model, count, s);
    difference(model, now.q, next.q, s.difference);
    add_velocity_vjp(model, dt, s.difference, next_bars, s);
    for (std::size_t d = 0; d < count; ++d) s.sides.col(static_cast<Eigen::Index>(d)) = s.next_bars[d].q;
    at.solve(s.sides);
    s.problem.project(s.sides);
    for (std::size_t d = 0; d < count; ++d) {
        s.lambdas[d] = s.sides.col(static_cast<Eigen::Index>(d));
        set_script_gradient(model, s.problem, d, s.next_bars[d].q, s.lambdas[d], s.applied, gradients[d].script);
    }
    const std::span<StepProducts> products = std::span(s.products).first(count);
    s.problem.vjp(std::span(s.lambdas).first(count), products, parameters);
    for (std::size_t d = 0; d < count; ++d) {
        gradients[d].state.q = products[d].q_now;
        gradients[d].state.v = products[d].v_now;
        gradients[d].control = products[d].control;
    }
    add_previous_vjp(model, dt, now.v, products, gradients);
}

}  // namespace farfield
