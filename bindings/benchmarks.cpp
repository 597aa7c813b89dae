// SPDX-License-Identifier: Apache-2.0
/// @file  What `farfield bench` measures below Python, and how this module was compiled. Not part of the public interface.
#include <hwy/targets.h>
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <time.h>

#include <chrono>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/base/thread_pool.hpp"
#include "farfield/dynamics/contact_terms.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/step_problem.hpp"

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
    StepMemory memory = make_memory(context);
    StepProblem problem;
    problem.begin(context, state, input, memory);
    Eigen::VectorXd here = state.q, there;  // taking turns, so that the kinematics are computed every time
    retract(model, state.q, 0.01 * state.v, there);
    const double started = thread_seconds();
    for (int k = 0; k < repeats; ++k) {
        problem.linearize(there);
        here.swap(there);
    }
    const double seconds = (thread_seconds() - started) / repeats;
    const double value = problem.linearize(state.q);
    const StepLinearization& at = problem.linearization();
    return {seconds, value + at.gradient.sum() + at.hessian.to_dense().sum()};
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Coordinates `q` and, along `delta`, coordinates nearby, with the poses of both.
struct TwoPlaces {
    Kinematics here, there;

    TwoPlaces(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, const Eigen::VectorXd& delta,
              const char* name) {
        validate(model, State{q, delta}, name);
        validate(model, parameters, name);
        Eigen::VectorXd moved;
        retract(model, q, delta, moved);
        forward_kinematics(model, parameters, q, here);
        forward_kinematics(model, parameters, moved, there);
    }
};

/// Seconds of one evaluation of energy, wrenches and Hessian blocks made positive semi-definite, and a number that depends on all.
/// Cold: every evaluation starts without memory. Warm: evaluations take turns between q and retract(q, delta).
std::tuple<double, double> time_contact(ContactModel& contact, const std::shared_ptr<Model>& model,
                                        const Parameters& parameters, const Eigen::VectorXd& q,
                                        const Eigen::VectorXd& delta, bool cold, bool wall, int repeats) {
    if (repeats < 1) fail("_benchmark_contact: repeats ", repeats, ", expected >= 1");
    const TwoPlaces places(*model, parameters, q, delta, "_benchmark_contact: q");
    const ContactSetup setup = contact.setup(model);
    nb::gil_scoped_release release;
    auto memory = setup.potential->make_memory();
    contact::ContactLinearization out;
    const auto evaluate = [&](const Kinematics& at) {
        setup.potential->begin_step(at.poses, 0.01, parameters, *memory, contact::StepMode::Frictionless)
            .linearize(at.poses, out);
        project_blocks(out);
    };
    if (!cold) {
        evaluate(places.here);
        evaluate(places.there);
    }
    const auto now = [wall] { return wall ? wall_seconds() : thread_seconds(); };
    const double started = now();
    for (int k = 0; k < repeats; ++k) {
        if (cold) memory = setup.potential->make_memory();
        evaluate(k % 2 == 0 ? places.here : places.there);
    }
    const double seconds = (now() - started) / repeats;
    double sum = out.energy;
    for (const Vector6d& wrench : out.wrench) sum += wrench.sum();
    for (const contact::PairBlock& block : out.blocks) sum += block.hessian.sum();
    return {seconds, sum};
}

/// CPU seconds of the collision filter for each row of `motions`, the best of `repeats` calls, and the certified fractions. The
/// gaps are those of the contact evaluation at q, as in a step.
std::tuple<std::vector<double>, std::vector<double>> time_filter(ContactModel& contact,
                                                                 const std::shared_ptr<Model>& model,
                                                                 const Parameters& parameters, const Eigen::VectorXd& q,
                                                                 const RowMatrix& motions, bool cold, int repeats) {
    if (repeats < 1) fail("_benchmark_filter: repeats ", repeats, ", expected >= 1");
    if (motions.cols() != model->num_dofs())
        fail("_benchmark_filter: motions have ", motions.cols(), " columns, expected ", model->num_dofs());
    const TwoPlaces places(*model, parameters, q, Eigen::VectorXd::Zero(model->num_dofs()), "_benchmark_filter: q");
    const ContactSetup setup = contact.setup(model);
    nb::gil_scoped_release release;
    const auto memory = setup.potential->make_memory();
    contact::ContactLinearization derivatives;
    setup.potential->begin_step(places.here.poses, 0.01, parameters, *memory, contact::StepMode::Frictionless)
        .linearize(places.here.poses, derivatives);
    std::vector<double> times, fractions;
    FilterMemory directions;
    for (Eigen::Index row = 0; row < motions.rows(); ++row) {
        const Eigen::VectorXd delta = motions.row(row).transpose();
        double best = std::numeric_limits<double>::infinity(), fraction = 0.0;
        for (int repeat = 0; repeat < repeats; ++repeat) {
            if (cold) directions.forget();
            const double started = thread_seconds();
            fraction = setup.filter->max_step(places.here, delta, derivatives.gaps, directions).alpha;
            best = std::min(best, thread_seconds() - started);
        }
        times.push_back(best);
        fractions.push_back(fraction);
    }
    return {times, fractions};
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

/// Lets Highway use nothing wider than this; false where the machine lacks it.
bool limit_simd(const std::string& name) {
#if HWY_ARCH_X86
    static const std::map<std::string, std::int64_t> known = {
        {"sse4", HWY_SSE4}, {"avx2", HWY_AVX2}, {"avx512", HWY_AVX3}};  // better targets have lower bits
    const auto found = known.find(name);
    if (found == known.end() || (hwy::SupportedTargets() & found->second) == 0) return false;
    hwy::DisableTargets(found->second - 1);
    return true;
#else
    (void)name;
    return false;
#endif
}

}  // namespace

void bind_benchmarks(nb::module_& m) {
    m.def("_benchmark_assembly", &time_assembly, "model"_a, "parameters"_a, "state"_a, nb::kw_only(), "dt"_a,
          "repeats"_a,
          "CPU seconds [s] of one assembly of gradient and Hessian, mean of `repeats`, and a checksum of the result.");
    m.def("_benchmark_contact", &time_contact, "contact"_a, "model"_a, "parameters"_a, "q"_a, nb::kw_only(), "delta"_a,
          "cold"_a, "wall"_a = false, "repeats"_a,
          "Seconds [s] of one evaluation of contact energy, wrenches and Hessian blocks made positive semi-definite, "
          "mean "
          "of `repeats`, and a checksum. Cold: without memory each time; else in turns at q and retract(q, delta).");
    m.def("_benchmark_filter", &time_filter, "contact"_a, "model"_a, "parameters"_a, "q"_a, "motions"_a, nb::kw_only(),
          "cold"_a, "repeats"_a,
          "CPU seconds [s] of the collision filter per row of motions, the best of `repeats`, and the certified "
          "fractions.");
    m.def("_benchmark_spin", &spin, nb::kw_only(), "rounds"_a, "threads"_a,
          "Sixteen independent integer loops on threads; their checksum.");
    m.def("_limit_simd", &limit_simd, "name"_a,
          "Lets the core use no wider instructions than 'sse4', 'avx2' or 'avx512'; False where there are none such.");
    m.def("_build_info", &build_info,
          "How this module was compiled: compiler, flags, and the SIMD target it dispatches to on this machine.");
}

}  // namespace farfield::python
