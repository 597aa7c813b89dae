// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield {
namespace {

constexpr double kArmijo = 1e-4;
constexpr int kMaxHalvings = 60;
constexpr double kFast =
    0.1;  // a residual that falls by this factor is close: the next factor would hardly differ from this one
constexpr double kFastKept = 1e-2;  // the same of a residual that has fallen with a factor that was kept

/// Halves the step, starting from the free way, until the function falls enough. Where `any_feasible`, every point where it is finite will
/// do. The first trial mostly fits, so its derivatives are computed at once unless the last search has taught otherwise (`first_fits`).
bool line_search(NewtonProblem& problem, const NewtonDirection& direction, const FreeWay& way, bool any_feasible,
                 bool keep_factor, bool& first_fits, NewtonIterate& x) {
    const double value = x.value;
    const auto derivatives = [&] { return keep_factor ? problem.differentiate(x.trial) : problem.linearize(x.trial); };
    x.evaluated = false;
    if (!(way.alpha > 0.0)) return false;
    const bool certain = any_feasible && way.certified;
    double alpha = way.alpha;
    for (int halving = 0; halving < kMaxHalvings; ++halving, alpha *= 0.5) {
        x.scaled = alpha * x.step;
        problem.move(x.q, x.scaled, x.trial);
        const bool at_once = !certain && halving == 0 && first_fits;
        const double trial = certain ? value : at_once ? derivatives() : problem.energy(x.trial);
        if (!std::isfinite(trial)) continue;
        if (any_feasible || trial <= value + kArmijo * alpha * direction.slope + direction.noise) {
            x.q.swap(x.trial);
            x.evaluated = at_once;
            x.value = trial;
            first_fits = halving == 0;
            return true;
        }
    }
    return false;
}

}  // namespace

void newton(NewtonProblem& problem, const NewtonLimits& limits, NewtonIterate& x, StepReport& report) {
    report.status = StepStatus::MaxIterations;
    const double tolerance = std::max(limits.tolerance, problem.gradient_noise());
    bool first_fits = true, kept = false;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double last_residual = kNone;
    while (report.iterations < limits.max_iterations) {
        ++report.iterations;
        if (!x.evaluated) {
            x.value = problem.linearize(x.q);
            kept = false;
        }
        NewtonDirection direction = problem.direction(x.q, x.step, report);
        if (kept && direction.residual > std::max(tolerance, kFastKept * last_residual)) {  // it does differ
            x.value = problem.linearize(x.q);
            kept = false;
            direction = problem.direction(x.q, x.step, report);
        }
        if (direction.failure) {
            report.status = *direction.failure;
            break;
        }
        // Near contact the Hessian magnifies the rounding of coordinates: a residual that has stopped falling there is as good as it gets.
        const bool at_rounding = direction.residual > 0.25 * last_residual && direction.residual <= direction.rounding;
        const bool keep =
            problem.keeps_factor() && direction.residual <= kFast * last_residual && last_residual < kNone;
        last_residual = direction.residual;
        const bool passed = direction.arrived && (direction.residual <= tolerance || at_rounding);
        problem.accept();
        const FreeWay way = problem.free_way(x.step, report);
        if (!line_search(problem, direction, way, passed || !direction.arrived, keep, first_fits, x)) {
            report.status = StepStatus::LineSearchFailed;
            break;
        }
        kept = keep && x.evaluated;
        if (passed && way.alpha == 1.0) {
            report.status = StepStatus::Converged;
            break;
        }
    }
}

}  // namespace farfield
