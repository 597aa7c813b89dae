// SPDX-License-Identifier: Apache-2.0
/// @file  Time of one assembly of energy, gradient and Hessian against the number of links of a hinge chain.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>
#include <string>

#include "farfield/dynamics/step_problem.hpp"

namespace {

using namespace farfield;

std::shared_ptr<const Model> chain(int links) {
    Scene scene;
    scene.name = "chain";
    const Eigen::Matrix3d inertia = Eigen::Vector3d(4e-3, 4e-3, 1e-3).asDiagonal();
    for (int k = 0; k < links; ++k) {
        Body link{.name = "link " + std::to_string(k), .parent = k};
        link.position = Eigen::Vector3d(0.0, 0.0, k > 0 ? -0.2 : 0.0);
        link.moments = moments_from_inertia(1.0, Eigen::Vector3d(0.0, 0.0, -0.1), inertia, link.name);
        Joint hinge{.name = "joint " + std::to_string(k), .type = JointType::Hinge};
        hinge.axis = k % 2 ? Eigen::Vector3d::UnitX() : Eigen::Vector3d::UnitY();
        link.joints.push_back(hinge);
        scene.bodies.push_back(link);
    }
    return build_model(scene);
}

void assemble(benchmark::State& timer) {
    const std::shared_ptr<const Model> model = chain(static_cast<int>(timer.range(0)));
    State state = model->default_state();
    for (Eigen::Index k = 0; k < state.v.size(); ++k) {
        state.v[k] = std::sin(1.0 + static_cast<double>(k) * std::sqrt(2.0));
        state.q[k] += 0.2 * state.v[k];
    }
    const Parameters parameters = model->default_parameters();
    const StepContext context{.model = *model, .parameters = parameters};
    const StepInput input;
    StepMemory memory = make_memory(context);
    StepProblem problem;
    problem.begin(context, state, input, memory);
    Eigen::VectorXd here = 1.01 * state.q,
                    there = state.q;  // taking turns, so that the kinematics are computed every time
    for (auto _ : timer) {
        benchmark::DoNotOptimize(problem.linearize(here));
        here.swap(there);
    }
    const double value = problem.linearize(state.q);
    const StepLinearization& at = problem.linearization();
    timer.counters["checksum"] = value + at.gradient.sum() + at.hessian.to_dense().sum();
    timer.SetComplexityN(timer.range(0));
}
BENCHMARK(assemble)->Arg(7)->Arg(14)->Arg(28)->Arg(56)->Complexity();

}  // namespace

BENCHMARK_MAIN();
