// SPDX-License-Identifier: Apache-2.0
/// @file  Gradients of many losses at once against one after the other: every step is linearised and factored once for all.
/// `ratio` is the time of k losses at once over k times that of one, measured in turns; the step Jacobian is measured the same way, against
/// the vjp of one loss of one step.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/dynamics/step_jacobian.hpp"

namespace {

using namespace farfield;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double best_of(int repeats, Work&& work) {
    double best = 1e9;
    for (int k = 0; k < repeats; ++k) {
        const double started = cpu_seconds();
        work();
        best = std::min(best, cpu_seconds() - started);
    }
    return best;
}

/// A robot with four legs of two hinges on a free trunk; with contact also a ground below it.
std::shared_ptr<const Model> walker(bool ground) {
    Scene scene;
    scene.name = "walker";
    const Eigen::Matrix3d inertia = Eigen::Vector3d(4e-3, 4e-3, 1e-3).asDiagonal();
    const auto add = [&](const std::string& name, int parent, const Eigen::Vector3d& at, JointType type,
                         const Eigen::Vector3d& axis) {
        Body body{.name = name, .parent = parent, .position = at};
        body.moments = moments_from_inertia(0.5, Eigen::Vector3d(0.0, 0.0, -0.1), inertia, name);
        Joint joint{.name = name, .type = type, .damping = 0.1};
        joint.axis = axis;
        body.joints.push_back(joint);
        scene.bodies.push_back(body);
        const int index = static_cast<int>(scene.bodies.size()) - 1;
        scene.shapes.push_back(
            Shape{.name = name, .body = index, .type = ShapeType::Box, .size = Eigen::Vector3d(0.05, 0.05, 0.08)});
        return index;
    };
    const int trunk = add("trunk", 0, {0.0, 0.0, 0.7}, JointType::Free, Eigen::Vector3d::UnitX());
    for (int leg = 0; leg < 4; ++leg) {
        const double x = leg < 2 ? 0.3 : -0.3, y = leg % 2 ? 0.3 : -0.3;
        const std::string name = "leg " + std::to_string(leg);
        const int hip = add(name, trunk, {x, y, -0.1}, JointType::Hinge, Eigen::Vector3d::UnitX());
        add(name + " shin", hip, {0.0, 0.0, -0.25}, JointType::Hinge, Eigen::Vector3d::UnitY());
    }
    if (ground) scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
    return build_model(scene);
}

void many_losses(benchmark::State& timer) {
    const bool touches = timer.range(0) != 0;
    const auto count = static_cast<std::size_t>(timer.range(1));
    const std::shared_ptr<const Model> model = walker(touches);
    const int steps = touches ? 10 : 50;
    RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Zero(steps, 0)};
    for (Eigen::Index k = 0; k < input.state0.v.size(); ++k)
        input.state0.v[k] = 0.3 * std::sin(1.0 + static_cast<double>(k));
    ContactSetup setup;
    if (touches)
        setup = make_contact_setup(*model,
                                   std::make_shared<const contact::longrange::LongRange>(
                                       model->collision(), contact::longrange::LongRangeOptions{}),
                                   "long range");
    const Trajectory t = rollout(model, model->default_parameters(), input, {}, setup);
    if (!t.converged()) timer.SkipWithError("did not converge");
    std::vector<RowMatrix> partials;
    std::vector<LossPartials> losses;
    for (std::size_t k = 0; k < count; ++k) {
        partials.push_back(RowMatrix::NullaryExpr(t.q.rows(), model->num_dofs(), [&](Eigen::Index r, Eigen::Index c) {
            return std::sin(static_cast<double>(r + 3 * c) + static_cast<double>(k));
        }));
    }
    for (const RowMatrix& rows : partials) losses.push_back({.dL_dq = view(rows)});
    double one = 1e9, all = 1e9;
    for (auto _ : timer) {
        one = std::min(one, best_of(3, [&] { benchmark::DoNotOptimize(rollout_vjp(t, losses[0])); }));
        all = std::min(
            all, best_of(3, [&] { benchmark::DoNotOptimize(rollout_vjp(t, std::span<const LossPartials>(losses))); }));
    }
    const double jacobian = best_of(5, [&] { benchmark::DoNotOptimize(step_jacobian(t, steps / 2)); });
    timer.counters["one_us"] = 1e6 * one / steps;
    timer.counters["all_us"] = 1e6 * all / steps;
    timer.counters["ratio"] = all / (static_cast<double>(count) * one);
    timer.counters["jacobian_us"] = 1e6 * jacobian;
}
BENCHMARK(many_losses)
    ->ArgNames({"contact", "losses"})
    ->ArgsProduct({{0, 1}, {4, 16, 64}})
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
