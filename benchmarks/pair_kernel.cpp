// SPDX-License-Identifier: Apache-2.0
/// @file  Speed of the triangle-pair kernels in units of one plain Newton iteration measured in the same run.
///
/// Usage: pair_kernel [--json] [--pairs N] [--repeats N]
/// Mixture: triangles of size 0.1 m, gaps 1e-4 .. 0.2 m, the other triangle displaced by 1 % of the gap before a warm
/// solve. Times are the minimum over repeats of thread CPU time per pair; each repeat starts from the same saved
/// planes.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/contact/longrange/pair_potential.hpp"

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "../benchmarks/pair_kernel.cpp"  // seen from src/
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

using namespace farfield::HWY_NAMESPACE;  // NOLINT: lanes of the same target
using Group = Real;                       // one vector at a time is the fastest form of this kernel

/// The yardstick: gradient and Hessian by (n, d) from the textbook formulas, L D L^T with d first, full step. Nothing
/// else.
template <class R>
HWY_INLINE void plain_iteration(PairChunk& chunk, size_t lane) {
    const R one = R::set(1.0), zero = R::set(0.0);
    const Lane3<R> n{R::load(&chunk.plane[0][lane]), R::load(&chunk.plane[1][lane]), R::load(&chunk.plane[2][lane])};
    const R d = R::load(&chunk.plane[3][lane]);
    const R length = sqrt(dot(n, n)), w = one / (one - length), a = R::set(12.0) * (w * w) / length;
    const R b = (R::set(24.0) * (w * w * w) - a) / (length * length);
    const Lane3<R> bn = b * n;
    R xx = fma(bn.x, n.x, a), xy = bn.x * n.y, xz = bn.x * n.z, yy = fma(bn.y, n.y, a), yz = bn.y * n.z,
      zz = fma(bn.z, n.z, a);
    Lane3<R> g = a * n, h{zero, zero, zero};
    R gd = zero, hd = zero;
    for (size_t k = 0; k < 6; ++k) {
        const Lane3<R> x{R::load(&chunk.arms[3 * k][lane]), R::load(&chunk.arms[3 * k + 1][lane]),
                         R::load(&chunk.arms[3 * k + 2][lane])};
        const R plus = dot(n, x) + d, s = k < 3 ? plus : zero - plus;
        const R r = one / s, r2 = r * r, r3 = (r + r) * r2, sr2 = k < 3 ? r2 : zero - r2;
        g = fnma(sr2, x, g);
        gd = gd - sr2;
        const Lane3<R> v = r3 * x;
        h = h + v;
        hd = hd + r3;
        xx = fma(v.x, x.x, xx), xy = fma(v.x, x.y, xy), xz = fma(v.x, x.z, xz);
        yy = fma(v.y, x.y, yy), yz = fma(v.y, x.z, yz), zz = fma(v.z, x.z, zz);
    }
    const R id = one / hd;
    const Lane3<R> l = id * h;
    xx = fnma(l.x, h.x, xx), xy = fnma(l.x, h.y, xy), xz = fnma(l.x, h.z, xz);
    yy = fnma(l.y, h.y, yy), yz = fnma(l.y, h.z, yz), zz = fnma(l.z, h.z, zz);
    g = fnma(gd, l, g);
    const R i0 = one / xx, l10 = xy * i0, l20 = xz * i0, i1 = one / fnma(l10, xy, yy), rest = fnma(l20, xy, yz),
            l21 = rest * i1;
    const R i2 = one / fnma(l21, rest, fnma(l20, xz, zz));
    const R v1 = fnma(l10, g.x, g.y), v2 = fnma(l21, v1, fnma(l20, g.x, g.z));
    const R z = v2 * i2, y = fnma(l21, z, v1 * i1), x = fnma(l20, z, fnma(l10, y, g.x * i0));
    (n.x - x).store(&chunk.plane[0][lane]);
    (n.y - y).store(&chunk.plane[1][lane]);
    (n.z - z).store(&chunk.plane[2][lane]);
    (d - fnma(l.z, z, fnma(l.y, y, fnma(l.x, x, gd * id)))).store(&chunk.plane[3][lane]);
}

void plain_iterations(PairChunk* chunks, size_t count) {
    for (size_t c = 0; c < count; ++c) {
        for (size_t lane = 0; lane < kChunkPairs; lane += Group::kWidth) plain_iteration<Group>(chunks[c], lane);
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace {

using namespace farfield::contact::longrange;

double cpu_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

struct Workload {
    std::vector<TrianglePair> before, after;  // after: displaced by 1 % of the gap
    std::vector<PairSolution> solved;         // of `before`
};

Workload make_workload(size_t pairs) {
    std::mt19937 rng(20240607);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Workload work;
    while (work.before.size() < pairs) {
        const double gap = std::pow(10.0, -4.0 + 3.3 * 0.5 * (1.0 + uniform(rng)));
        TrianglePair x = 0.1 * TrianglePair::NullaryExpr([&] { return uniform(rng); });
        x.row(2) = x.row(2).cwiseAbs();
        x(2, 0) = x(2, 3) = 0.0;
        x.block<2, 1>(0, 0) = 0.2 * x.block<2, 1>(0, 3);
        x.block<1, 3>(2, 0).array() += 0.5 * gap;
        x.block<1, 3>(2, 3) = -x.block<1, 3>(2, 3).array() - 0.5 * gap;
        x.colwise() -= pair_origin(x);
        const PairSolution solution = solve_pair(x, nullptr, 1e-12);
        if (!std::isfinite(solution.value)) continue;
        const Eigen::Vector3d shift =
            0.01 * gap * Eigen::Vector3d(uniform(rng), uniform(rng), uniform(rng)).normalized();
        work.before.push_back(x);
        work.solved.push_back(solution);
        x.rightCols<3>().colwise() += shift;
        work.after.push_back(x);
    }
    return work;
}

template <class Prepare, class Run>
double fastest(int repeats, size_t pairs, Prepare&& prepare, Run&& run) {
    double best = 1e300;
    for (int i = 0; i < repeats + 2; ++i) {  // two to warm up
        prepare();
        const double start = cpu_nanoseconds();
        run();
        const double time = cpu_nanoseconds() - start;
        if (i >= 2) best = std::min(best, time);
    }
    return best / static_cast<double>(pairs);
}

uint64_t hash_of(const PairBatch& batch) {
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < batch.size(); ++i) {
        const double value = batch.value(i);
        uint64_t word = 0;
        std::memcpy(&word, &value, sizeof(word));
        hash = (hash ^ word) * 1099511628211ull;
    }
    return hash;
}

struct Timings {
    double iteration, cold, warm9, warm12, derivatives, scalar_cold, scalar_warm, scalar_derivatives;
    double iterations_warm;
    uint64_t hash;
};

HWY_EXPORT(plain_iterations);

Timings measure(const Workload& work, int repeats) {
    const size_t pairs = work.after.size();
    PairBatch cold, warm, plain, batch;
    for (size_t i = 0; i < pairs; ++i) {
        cold.add(work.after[i]);
        warm.add(work.after[i], slack_plane(work.before[i], work.solved[i].plane));
        plain.add(work.before[i], {work.solved[i].plane.normal, work.solved[i].plane.offset});
    }
    PairSums sums;
    const std::vector<double> weights(pairs, 1.0);
    Timings t{};
    const auto nothing = [] {};
    t.iteration = fastest(
        repeats, pairs, [&] { batch = plain; },
        [&] {
            HWY_DYNAMIC_DISPATCH(plain_iterations)
            (batch.chunks(), batch.num_chunks());
        });
    t.cold = fastest(
        repeats, pairs, [&] { batch = cold; }, [&] { solve_pairs(batch, 1e-9); });
    t.warm9 = fastest(
        repeats, pairs, [&] { batch = warm; }, [&] { solve_pairs(batch, 1e-9); });
    t.warm12 = fastest(
        repeats, pairs, [&] { batch = warm; }, [&] { solve_pairs(batch, 1e-12); });
    t.derivatives = fastest(repeats, pairs, nothing, [&] { accumulate_pairs(batch, 0, pairs, weights.data(), sums); });
    t.hash = hash_of(batch);
    for (size_t i = 0; i < pairs; ++i) t.iterations_warm += batch.iterations(i) / static_cast<double>(pairs);

    std::vector<PairSolution> out(pairs);
    double sink = sums.force.sum();
    t.scalar_cold = fastest(repeats / 4, pairs, nothing, [&] {
        for (size_t i = 0; i < pairs; ++i) out[i] = solve_pair(work.after[i], nullptr, 1e-9);
    });
    t.scalar_warm = fastest(repeats / 4, pairs, nothing, [&] {
        for (size_t i = 0; i < pairs; ++i) out[i] = solve_pair(work.after[i], &work.solved[i].plane, 1e-12);
    });
    t.scalar_derivatives = fastest(repeats / 4, pairs, nothing, [&] {
        for (size_t i = 0; i < pairs; ++i)
            sink += leaf_derivatives(work.after[i], work.after[i], out[i].plane).material(0, 0);
    });
    if (!std::isfinite(sink)) std::fprintf(stderr, "pair_kernel: a result is not finite\n");
    return t;
}

void print_json(const Timings& t, size_t pairs) {
    const double both = t.warm12 + t.derivatives, scalar_both = t.scalar_warm + t.scalar_derivatives;
    std::printf(
        "{\"target\": \"%s\", \"threads\": 1, \"pairs\": %zu, \"hash\": \"%016llx\", \"warm_iterations\": %.3f,\n"
        " \"ns\": {\"iteration\": %.2f, \"cold_1e-9\": %.2f, \"warm_1e-9\": %.2f, \"warm_1e-12\": %.2f, "
        "\"derivatives\": %.2f,\n"
        "        \"scalar_cold_1e-9\": %.2f, \"scalar_warm_1e-12\": %.2f, \"scalar_derivatives\": %.2f},\n"
        " \"iterations_worth\": {\"cold_solve\": %.3f, \"warm_solve\": %.3f, \"value_gradient_hessian\": %.3f},\n"
        " \"simd_over_scalar\": {\"cold\": %.3f, \"warm\": %.3f, \"derivatives\": %.3f, \"value_gradient_hessian\": "
        "%.3f}}\n",
        lanes_target().c_str(), pairs, static_cast<unsigned long long>(t.hash), t.iterations_warm, t.iteration, t.cold,
        t.warm9, t.warm12, t.derivatives, t.scalar_cold, t.scalar_warm, t.scalar_derivatives, t.cold / t.iteration,
        t.warm12 / t.iteration, both / t.iteration, t.scalar_cold / t.cold, t.scalar_warm / t.warm12,
        t.scalar_derivatives / t.derivatives, scalar_both / both);
}

void print_table(const Timings& t, size_t pairs) {
    const double both = t.warm12 + t.derivatives, scalar_both = t.scalar_warm + t.scalar_derivatives;
    std::printf("%s, 1 thread, %zu pairs, %.2f warm iterations, hash %016llx\n\n", lanes_target().c_str(), pairs,
                t.iterations_warm, static_cast<unsigned long long>(t.hash));
    std::printf("%-36s %8s %12s %12s %s\n", "per pair", "ns", "iterations", "over scalar", "goal (minimum)");
    const auto row = [&](const char* name, double ns, double scalar, const char* goal) {
        std::printf("%-36s %8.1f %12.2f ", name, ns, ns / t.iteration);
        scalar > 0.0 ? std::printf("%12.2f %s\n", scalar / ns, goal) : std::printf("%12s %s\n", "", goal);
    };
    row("plain Newton iteration", t.iteration, 0.0, "");
    row("cold solve, 1e-9", t.cold, t.scalar_cold, "");
    row("warm solve, 1e-9", t.warm9, 0.0, "");
    row("warm solve, 1e-12", t.warm12, t.scalar_warm, "5 (9) iterations");
    row("gradient + Hessian", t.derivatives, t.scalar_derivatives, "");
    row("value + gradient + Hessian", both, scalar_both, "9 (18) iterations, 5 (4) over scalar");
}

}  // namespace

int main(int argc, char** argv) {
    bool json = false;
    size_t pairs = 1024;
    int repeats = 400;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--json") {
            json = true;
        } else if (argument == "--pairs" && i + 1 < argc) {
            pairs = static_cast<size_t>(std::max(8, std::atoi(argv[++i])));
        } else if (argument == "--repeats" && i + 1 < argc) {
            repeats = std::max(4, std::atoi(argv[++i]));
        } else {
            std::fprintf(stderr, "usage: pair_kernel [--json] [--pairs N] [--repeats N]\n");
            return 2;
        }
    }
    const Timings timings = measure(make_workload(pairs), repeats);
    json ? print_json(timings, pairs) : print_table(timings, pairs);
    return 0;
}
#endif  // HWY_ONCE
