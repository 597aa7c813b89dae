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

constexpr double kAllowedKept =
    1e-6;                         // a kept factor must leave this much of what is allowed, having fallen as it does
constexpr int kBlindSteps = 2;    // in a row, before a gradient that has stopped falling ends the search
constexpr double kStalled = 0.5;  // and a factor by which it still falls

/// Halves the step, starting from the free way, until the function falls enough. Where `any_feasible`, every point where it is finite will
/// do. Returns the fraction taken, 0 when none fits. The first trial mostly does, so its derivatives are computed at once; where it does not,
/// they have still told how friction turns.
double line_search(NewtonProblem& problem, const NewtonDirection& direction, const FreeWay& way, bool any_feasible,
                   bool keep_factor, int& evaluations, NewtonIterate& x) {
    const double value = x.value;
    const auto derivatives = [&] { return keep_factor ? problem.differentiate(x.trial) : problem.linearize(x.trial); };
    x.evaluated = false;
    if (!(way.alpha > 0.0)) return 0.0;
    const bool certain = any_feasible && way.certified;
    for (int halving = 0; halving < kMaxHalvings; ++halving) {
        const double alpha = std::ldexp(way.alpha, -halving);
        x.scaled = alpha * x.step;
        problem.move(x.q, x.scaled, x.trial);
        const bool at_once = !certain && halving == 0;
        const double trial = certain ? value : at_once ? derivatives() : problem.energy(x.trial);
        evaluations += !certain;
        if (!std::isfinite(trial)) continue;
        if (any_feasible || trial <= value + kArmijo * alpha * direction.slope + direction.noise) {
            x.q.swap(x.trial);
            x.evaluated = at_once;
            x.value = trial;
            return alpha;
        }
    }
    return 0.0;
}

}  // namespace

void newton(NewtonProblem& problem, const NewtonLimits& limits, NewtonIterate& x, StepReport& report) {
    report.status = StepStatus::MaxIterations;
    bool kept = false;
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double last_excess = kNone;
    double least_fall = kNone;
    int evaluations = 0, blind_steps = 0, waited = 0;
    while (report.iterations < limits.max_iterations && evaluations < limits.max_evaluations &&
           waited < limits.patience) {
        ++report.iterations;
        if (!x.evaluated) {
            x.value = problem.linearize(x.q);
            ++evaluations;
            kept = false;
        }
        NewtonDirection direction = problem.direction(x.q, x.step, report);
        if (kept && direction.excess > std::max(1.0, kFastKept * last_excess)) {  // it does differ
            x.value = problem.linearize(x.q);
            ++evaluations;
            kept = false;
            direction = problem.direction(x.q, x.step, report);
        }
        if (direction.failure) {
            report.status = *direction.failure;
            break;
        }
        const double fall = -direction.slope;
        ++waited;
        if (fall < 0.5 * least_fall) least_fall = fall, waited = 0;
        const bool blind = direction.arrived && fall <= direction.noise;
        blind_steps = blind ? blind_steps + 1 : 0;
        const bool stalled = blind_steps >= kBlindSteps && direction.excess > kStalled * last_excess;
        const bool keep = problem.keeps_factor() && direction.excess <= kFast * last_excess && last_excess < kNone;
        const double allowed = kept ? kAllowedKept * last_excess / direction.excess : 1.0;
        last_excess = direction.excess;
        const bool passed = direction.arrived && (direction.excess <= std::min(allowed, 1.0) || stalled);
        problem.accept();
        const FreeWay way = problem.free_way(x.step, direction, report);
        const double alpha =
            line_search(problem, direction, way, passed || blind || !direction.arrived, keep, evaluations, x);
        if (limits.trace) {
            limits.trace->push_back({.residual = report.residual,
                                     .excess = direction.excess,
                                     .slope = direction.slope,
                                     .noise = direction.noise,
                                     .way = way.alpha,
                                     .alpha = alpha,
                                     .limiting_a = way.limiting_a,
                                     .limiting_b = way.limiting_b});
        }
        if (!(alpha > 0.0)) {
            report.status = StepStatus::LineSearchFailed;
            break;
        }
        kept = keep && x.evaluated;
        if (passed && way.whole) {
            report.status = StepStatus::Converged;
            break;
        }
    }
}

}  // namespace farfield
