// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/globalization.hpp"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

using Eigen::VectorXd;

constexpr int kPatience = 25;                        // iterations before a step starts over along the central path
constexpr double kCentralPath[] = {1e5, 1e3, 30.0};  // weights on the way, relative to the model's
constexpr int kPathIterations = 12;                  // for each of them
constexpr double kPathTolerance = 1.0;               // [N]
constexpr int kLoads = 6;  // parts in which a body is pressed against another, each four times the last

/// Strategies are for contact, and only a certified way tells what a step has met.
bool may_start_over(const StepContext& context) { return context.contact && context.filter; }

/// A point on the way: a rough solution of the problem begun last.
void solve_roughly(StepSolve& solve) {
    const int last = std::min(solve.report.iterations + kPathIterations, solve.context.options.max_iterations);
    newton(solve.problem, {kPathTolerance, last}, solve.x, solve.report);
}

/// The end of the way: the step's own problem.
void solve_whole(StepSolve& solve) {
    solve.problem.begin(solve.context, solve.now, solve.input, solve.memory);
    solve.x.evaluated = false;
    const StepOptions& options = solve.context.options;
    newton(solve.problem, {options.tolerance, options.max_iterations}, solve.x, solve.report);
}

bool stopped_early(StepSolve& solve) {
    return solve.report.status != StepStatus::Converged &&
           solve.report.iterations < solve.context.options.max_iterations;
}

/// A body driven into a narrow place at high speed is held by the filter, since contact of little weight pushes only when it nearly touches.
/// Starting over with much weight, then less and less, stays away from the walls on the way, as interior-point methods do.
void follow_central_path(StepSolve& solve) {
    const StepContext& context = solve.context;
    Parameters heavy = context.parameters;
    const StepContext path{context.model, heavy, context.contact, context.filter, context.options, context.pool};
    solve.x.q = solve.now.q;
    for (const double factor : kCentralPath) {
        heavy.weight = factor * context.parameters.weight;
        solve.problem.begin(path, solve.now, solve.input, solve.memory);
        solve.x.evaluated = false;
        solve_roughly(solve);
    }
    solve_whole(solve);
}

/// Did a body go around another within the step? Only one that was in the way makes it possible.
bool went_around(StepSolve& solve) {
    if (solve.report.status != StepStatus::Converged || solve.report.shortest_step == 1.0) return false;
    const Poses &from = solve.problem.kinematics_now().poses, &to = solve.problem.place(solve.x.q).poses;
    return solve.context.filter->find_detour(from, to, solve.memory.filter).has_value();
}

/// The first part of the way to the scripted coordinates.
VectorXd part_of_script(const StepSolve& solve, const VectorXd& way, double fraction) {
    const Model& model = solve.context.model;
    VectorXd q, script(7 * model.num_kinematic());
    retract(model, solve.now.q, fraction * way, q);
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[k])];
        const int index = model.joints()[static_cast<std::size_t>(body.first_joint)].q;
        script.segment<7>(static_cast<Eigen::Index>(7 * k)) = q.segment<7>(index);
    }
    return script;
}

/// Contact of little weight pushes only when it nearly touches, and by then Newton's method has a whole step of inertia to get rid of: it
/// may turn a body aside and past the other. Starting over with a part of the motion, just enough to touch, then four times as much
/// beyond that and so on, follows the state in which one presses against the other.
void press_gradually(StepSolve& solve) {
    const StepContext& context = solve.context;
    VectorXd way;
    solve.problem.ahead(solve.now.v, way);
    const double free = context.filter->max_step(solve.problem.kinematics_now(), way, {}, solve.memory.filter).alpha;
    State slower = solve.now;
    StepInput partial = solve.input;
    solve.x.q = solve.now.q;
    for (int load = kLoads; load > 0; --load) {
        const double fraction = free + (1.0 - free) * std::pow(0.25, load);
        slower.v = fraction * solve.now.v;
        if (context.model.num_kinematic() > 0) partial.script = part_of_script(solve, way, fraction);
        solve.problem.begin(context, slower, partial, solve.memory);
        solve.x.evaluated = false;
        solve_roughly(solve);
    }
    solve_whole(solve);
}

/// Keeps what was found when pressing gradually does not end, or ends beyond the other body as well.
void avoid_detour(StepSolve& solve) {
    const VectorXd around = solve.x.q;
    StepReport found = solve.report;
    solve.report.iterations = 0;
    press_gradually(solve);
    const int iterations = found.iterations + solve.report.iterations;
    if (solve.report.status != StepStatus::Converged || went_around(solve)) {
        solve.x.set(around);
        solve.problem.begin(solve.context, solve.now, solve.input, solve.memory);
        solve.problem.linearize(solve.x.q);
        solve.report = found;
        solve.report.detour = true;
    }
    solve.report.iterations = iterations;
}

constexpr Strategy kStrategies[] = {{"central path", stopped_early, follow_central_path},
                                    {"gradual loading", went_around, avoid_detour}};

}  // namespace

std::span<const Strategy> strategies(const StepContext& context) {
    return may_start_over(context) ? std::span<const Strategy>(kStrategies) : std::span<const Strategy>();
}

int first_attempt(const StepContext& context) {
    const int most = context.options.max_iterations;
    return may_start_over(context) && context.model.num_kinematic() == 0 ? std::min(kPatience, most) : most;
}

}  // namespace farfield
