// SPDX-License-Identifier: Apache-2.0
/// @file  One pair of hulls, warm and cold, and its derivatives, in units of one plain pass over the vertices of both; all from the same run.
///
/// Convex bodies: points on two spheres (few vertices within the range). Plates: points on two parallel discs (all of them).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/contact/polyhedral/pair_derivatives.hpp"
#include "farfield/geometry/gjk.hpp"
#include "farfield/math/rotation.hpp"

namespace {

using namespace farfield;
using namespace farfield::contact::polyhedral;

constexpr double kMargin = 0.1;
constexpr double kRange = 2.0 * kMargin / (1.0 - kMargin);

struct Points {
    std::vector<double> x, y, z;
    [[nodiscard]] HullColumns columns() const { return {{x.data(), y.data(), z.data(), static_cast<int>(x.size())}}; }
};

/// Spread evenly by the golden angle. Lengths in units in which the range is 0.22: a body of 4 spans 18 ranges.
Points make_points(int count, bool plate) {
    Points points;
    for (int k = 0; k < count; ++k) {
        const double share = (k + 0.5) / count, angle = 2.399963229728653 * k;
        const double height = plate ? 0.0 : 1.0 - 2.0 * share,
                     radius = plate ? std::sqrt(share) : std::sqrt(1.0 - height * height);
        points.x.push_back(2.0 * radius * std::cos(angle));
        points.y.push_back(2.0 * radius * std::sin(angle));
        points.z.push_back(2.0 * height);
    }
    return points;
}

struct Pair {
    Points a, b;
    Pose pose;

    /// Half the range apart.
    Pair(int count, bool plate) : a(make_points(count, plate)), b(make_points(count, plate)) {
        pose.rotation = plate ? exp_rotation({0.0, 0.0, 0.7}) : exp_rotation({0.3, 0.9, 0.7});
        pose.position = {0.0, 0.0, plate ? 0.5 * kRange : 6.0};
        for (int k = 0; !plate && k < 100; ++k) {
            Eigen::Matrix3Xd at(3, count), bt(3, count);
            for (int m = 0; m < count; ++m) {
                at.col(m) = a.columns().point(m);
                bt.col(m) = pose * b.columns().point(m);
            }
            pose.position.z() -= gjk_distance(at, bt, {}).lower - 0.5 * kRange;
        }
    }
};

/// What everything is measured in: margins, barriers and their fifteen sums as a plain loop.
double plain_pass(const HullColumns& hull, double side, const Plane& plane, const Eigen::Vector3d& centre,
                  double (&sums)[15]) {
    const double nx = side * plane.normal.x(), ny = side * plane.normal.y(), nz = side * plane.normal.z();
    double lowest = 1e300;
    for (int m = 0; m < hull.size; ++m) {
        const double x = hull.x[m] - centre.x(), y = hull.y[m] - centre.y(), z = hull.z[m] - centre.z();
        const double q = nx * x + ny * y + nz * z + side * plane.offset;
        lowest = std::min(lowest, q);
        if (!(q < kMargin)) continue;
        const BarrierTaylor p = barrier(q, kMargin);
        const double sx = p.second * x, sy = p.second * y, sz = p.second * z;
        const double terms[15] = {p.value, p.first * x, p.first * y, p.first * z, p.first, sx * x, sx * y,  sx * z,
                                  sx,      sy * y,      sy * z,      sy,          sz * z,  sz,     p.second};
        for (int k = 0; k < 15; ++k) sums[k] += terms[k];
    }
    return lowest;
}

template <class Pass>
void time_pass(benchmark::State& timer, Pass&& pass) {
    const Pair pair(static_cast<int>(timer.range(0)), timer.range(1) != 0);
    WarmPlane warm;
    (void)solve_hull_pair(pair.a.columns(), pair.b.columns(), pair.pose, kMargin, 1e-18, warm);
    const Plane seen{pair.pose.rotation.transpose() * warm.plane.normal, warm.plane.offset};
    const Eigen::Vector3d centre = pair.pose.rotation.transpose() * (warm.centre - pair.pose.position);
    for (auto _ : timer) {
        pass(pair.a.columns(), -1.0, warm.plane, warm.centre);
        pass(pair.b.columns(), 1.0, seen, centre);
    }
}

void plain_pass_time(benchmark::State& timer) {
    time_pass(timer, [](const HullColumns& hull, double side, const Plane& plane, const Eigen::Vector3d& centre) {
        double sums[15] = {};
        benchmark::DoNotOptimize(plain_pass(hull, side, plane, centre, sums));
        benchmark::DoNotOptimize(sums);
    });
}

void one_pass(benchmark::State& timer) {
    time_pass(timer, [](const HullColumns& hull, double side, const Plane& plane, const Eigen::Vector3d& centre) {
        HullSums sums;
        benchmark::DoNotOptimize(add_hull(hull, side, plane, centre, kMargin, sums));
        benchmark::DoNotOptimize(sums);
    });
}

void warm_solve(benchmark::State& timer) {
    Pair pair(static_cast<int>(timer.range(0)), timer.range(1) != 0);
    WarmPlane warm;
    double sign = 1e-4, iterations = 0.0;
    for (auto _ : timer) {
        pair.pose.position.x() += sign;
        pair.pose.position.z() += sign;
        sign = -sign;
        const HullPairSolution solution =
            solve_hull_pair(pair.a.columns(), pair.b.columns(), pair.pose, kMargin, 1e-18, warm);
        iterations += solution.iterations;
        benchmark::DoNotOptimize(solution.value);
    }
    timer.counters["iterations"] = iterations / static_cast<double>(timer.iterations());
}

void cold_solve(benchmark::State& timer) {
    const Pair pair(static_cast<int>(timer.range(0)), timer.range(1) != 0);
    double iterations = 0.0;
    for (auto _ : timer) {
        WarmPlane warm;
        const HullPairSolution solution =
            solve_hull_pair(pair.a.columns(), pair.b.columns(), pair.pose, kMargin, 1e-18, warm);
        iterations += solution.iterations;
        benchmark::DoNotOptimize(solution.value);
    }
    timer.counters["iterations"] = iterations / static_cast<double>(timer.iterations());
}

/// The part of a cold solve that is GJK.
void gjk_search(benchmark::State& timer) {
    const Pair pair(static_cast<int>(timer.range(0)), timer.range(1) != 0);
    const HullColumns a = pair.a.columns(), b = pair.b.columns();
    for (auto _ : timer) {
        Gjk gjk(Eigen::Vector3d(pair.pose.position));
        GjkStatus status = GjkStatus::Searching;
        while (status == GjkStatus::Searching && gjk.lower() < kRange) {
            const Eigen::Vector3d n = gjk.direction();
            int i = 0, j = 0;
            (void)a.support(n, i);
            (void)b.support(-(pair.pose.rotation.transpose() * n), j);
            status = gjk.add(a.point(i), pair.pose * b.point(j));
        }
        benchmark::DoNotOptimize(gjk.lower());
    }
}

void derivatives(benchmark::State& timer) {
    const Pair pair(static_cast<int>(timer.range(0)), timer.range(1) != 0);
    WarmPlane warm;
    const HullPairSolution solution =
        solve_hull_pair(pair.a.columns(), pair.b.columns(), pair.pose, kMargin, 1e-18, warm);
    for (auto _ : timer) {
        const WorldPair world = in_world(solution, {}, pair.pose);
        benchmark::DoNotOptimize(pair_gradient(world));
        benchmark::DoNotOptimize(pair_hessian(world));
    }
}

void sizes(benchmark::internal::Benchmark* benchmark) {
    for (const int plate : {0, 1}) {
        for (const int count : {8, 32, 96, 384}) benchmark->Args({count, plate});
    }
}
BENCHMARK(plain_pass_time)->Apply(sizes);
BENCHMARK(one_pass)->Apply(sizes);
BENCHMARK(warm_solve)->Apply(sizes);
BENCHMARK(cold_solve)->Apply(sizes);
BENCHMARK(gjk_search)->Apply(sizes);
BENCHMARK(derivatives)->Args({8, 0});

}  // namespace

BENCHMARK_MAIN();
