// SPDX-License-Identifier: Apache-2.0
/// @file  What `farfield bench` measures below Python, and how this module was compiled. Not part of the public interface.
#include <hwy/targets.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <time.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/base/thread_pool.hpp"
#include "farfield/dynamics/incremental_potential.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// CPU seconds of one assembly of energy, gradient and Hessian, and a number that depends on every entry.
std::tuple<double, double> time_assembly(const Model& model, const Parameters& parameters, const State& state,
                                         double dt, int repeats) {
    if (repeats < 1) fail("_benchmark_assembly: repeats ", repeats, ", expected >= 1");
    const StepOptions options{.dt = dt};
    validate(options);
    validate(model, state, "_benchmark_assembly: state");
    nb::gil_scoped_release release;
    const StepContext context{.model = model, .parameters = parameters, .options = options};
    const StepInput input{model.default_control(), Eigen::VectorXd::Zero(7 * model.num_kinematic())};
    IncrementalPotential objective;
    objective.begin(context, state, input, nullptr);
    Eigen::VectorXd here = state.q, there;  // taking turns, so that the kinematics are computed every time
    retract(model, state.q, 0.01 * state.v, there);
    const double started = thread_seconds();
    for (int k = 0; k < repeats; ++k) {
        objective.derivatives(there);
        here.swap(there);
    }
    const double seconds = (thread_seconds() - started) / repeats;
    objective.derivatives(state.q);
    return {seconds, objective.value() + objective.gradient().sum() + objective.hessian().sum()};
}

/// Pure integer work on every thread, no memory: what the machine gives to two threads at best.
std::uint64_t spin(int rounds, int threads) {
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    constexpr int kChunks = 16;
    std::vector<std::uint64_t> sums(kChunks, 0);
    pool.run(kChunks, [&](int chunk) {
        auto x = static_cast<std::uint64_t>(chunk) + 1;
        for (int k = 0; k < rounds; ++k) {  // xorshift64
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        sums[static_cast<std::size_t>(chunk)] = x;
    });
    std::uint64_t sum = 0;
    for (const std::uint64_t x : sums) sum += x;
    return sum;
}

std::map<std::string, std::string> build_info() {
    const auto target = hwy::SupportedTargets() & HWY_TARGETS;
    return {{"compiler", FARFIELD_COMPILER}, {"flags", FARFIELD_FLAGS}, {"simd", hwy::TargetName(target & -target)}};
}

}  // namespace

void bind_benchmarks(nb::module_& m) {
    m.def("_benchmark_assembly", &time_assembly, "model"_a, "parameters"_a, "state"_a, nb::kw_only(), "dt"_a,
          "repeats"_a,
          "CPU seconds [s] of one assembly of gradient and Hessian, mean of `repeats`, and a checksum of the result.");
    m.def("_benchmark_spin", &spin, nb::kw_only(), "rounds"_a, "threads"_a,
          "Sixteen independent integer loops on threads; their checksum.");
    m.def("_build_info", &build_info,
          "How this module was compiled: compiler, flags, and the SIMD target it dispatches to on this machine.");
}

}  // namespace farfield::python
