// SPDX-License-Identifier: Apache-2.0
/// @file  Leaves swept by a ball: spheres and capsules.
#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "contact/longrange/random_pairs.hpp"
#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/model/closest_points.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::contact::longrange;
namespace longrange = farfield::contact::longrange;
using namespace farfield::contact::longrange::testing;
using farfield::contact::ContactLinearization;
using farfield::testing::bounding_radius;
using farfield::testing::check_gradient;
using farfield::testing::check_jacobian;
using farfield::testing::DerivativeReport;
using farfield::testing::evaluate;
using farfield::testing::frictionless;
using farfield::testing::make_geometry;
using farfield::testing::make_parameters;
using farfield::testing::random_round_scene;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct SweptPair {
    TrianglePair x;
    double sweep = 0.0, gap = 0.0;  ///< gap: what is left of it
};

/// Sharp and swept triangles, points and segments, with gaps of 1e-3 to 1 and radii up to 20 times the gap.
SweptPair swept_pair(PairGenerator& generator, int i) {
    for (;;) {
        const RandomPair sharp = generator.draw(kFamilies[static_cast<size_t>(i) % 5]);
        if (!(sharp.gap > 2e-3 && sharp.gap < 1.0 && sharp.size > 0.1 && sharp.size < 1.0)) continue;
        SweptPair pair{.x = sharp.x};
        if (i % 3 != 0) pair.x.col(1) = pair.x.col(2) = pair.x.col(0);
        if (i % 4 == 0) pair.x.col(4) = 0.5 * (pair.x.col(3) + pair.x.col(5));
        if (i % 4 == 1) pair.x.col(4) = pair.x.col(5) = pair.x.col(3);
        const auto corners = [&](int first) {
            return Triangle{pair.x.col(first), pair.x.col(first + 1), pair.x.col(first + 2)};
        };
        // both count as swept: no family makes triangles that cross
        const double cores = std::sqrt(core_distance(corners(0), 1.0, corners(3), 1.0).squared_distance);
        pair.gap = cores / generator.uniform(1.5, 20.0);
        if (pair.gap < 1e-3) continue;
        pair.sweep = cores - pair.gap;
        return pair;
    }
}

}  // namespace

TEST_CASE("round leaves: gradient and Hessian of a pair agree with differences, and the plane is a minimum") {
    PairGenerator generator(61);
    Random random(61);
    double lowest = kInf;
    for (int i = 0; i < 120; ++i) {
        CAPTURE(i);
        const SweptPair pair = swept_pair(generator, i);
        const auto solve = [&](const Eigen::VectorXd& v) {
            const TrianglePair x = Eigen::Map<const TrianglePair>(v.data());
            return std::pair(x, solve_pair(x, nullptr, 1e-14, pair.sweep));
        };
        const Eigen::VectorXd at = Eigen::Map<const Eigen::VectorXd>(pair.x.data(), 18);
        const PairSolution solution = solve(at).second;
        REQUIRE(std::isfinite(solution.value));
        REQUIRE(solution.iterations < kMaxPairIterations);
        CHECK(plane_gap(pair.x, solution.plane, pair.sweep) <= pair.gap * (1.0 + 1e-9));
        const DerivativeReport gradient =
            check_gradient([&](const Eigen::VectorXd& v) { return solve(v).second.value; }, at,
                           pair_gradient(pair.x, solution.plane, pair.sweep), {.scale = pair.gap}, random);
        CHECK_MESSAGE(gradient.passes(1e-6), gradient);  // slacks are differences of lengths up to 20 times as large
        const DerivativeReport hessian = check_jacobian(
            [&](const Eigen::VectorXd& v) -> Eigen::VectorXd {
                const auto [x, there] = solve(v);
                return pair_gradient(x, there.plane, pair.sweep);
            },
            at, pair_hessian(pair.x, solution.plane, pair.sweep), {.scale = pair.gap}, random);
        CHECK_MESSAGE(hessian.passes(1e-6), hessian);
        const Eigen::Matrix4d h = plane_derivatives(pair.x, solution.plane, pair.sweep).hessian;
        lowest = std::min(lowest, Eigen::SelfAdjointEigenSolver<Eigen::Matrix4d>(h).eigenvalues()[0]);
        // the reference and the derivatives by a rigid motion
        const LeafDerivatives leaf = leaf_derivatives(pair.x, pair.x, solution.plane, pair.sweep);
        CHECK(leaf.value == doctest::Approx(solution.value).epsilon(1e-12));
    }
    CHECK(lowest > 0.0);
}

TEST_CASE("round leaves: lanes agree with the reference") {
    PairGenerator generator(62);
    PairBatch batch;
    std::vector<SweptPair> pairs;
    for (int i = 0; i < 300; ++i) {
        pairs.push_back(swept_pair(generator, i));
        if (i % 7 == 0) pairs.back().sweep = 0.0;
        const double share = generator.uniform(0.0, 1.0);
        batch.add(pairs.back().x, {}, {share * pairs.back().sweep, (1.0 - share) * pairs.back().sweep});
    }
    for (int warm = 0; warm < 2; ++warm) {  // the second time from the planes of the first
        solve_pairs(batch, 1e-14);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            CAPTURE(i);
            const SweptPair& pair = pairs[i];
            const PairSolution scalar = solve_pair(pair.x, nullptr, 1e-14, pair.sweep);
            CHECK(batch.value(i) == doctest::Approx(scalar.value).epsilon(1e-11));
            CHECK(batch.iterations(i) < kMaxPairIterations);
            CHECK(batch.gap(i) == doctest::Approx(plane_gap(pair.x, scalar.plane, pair.sweep)).epsilon(1e-6));
            PairSums sums;
            const double one = 1.0;
            accumulate_pairs(batch, i, i + 1, &one, sums);
            const LeafDerivatives leaf = leaf_derivatives(pair.x, pair.x, scalar.plane, pair.sweep);
            CHECK((batch.gradient(i) - leaf.gradient).norm() < 1e-6 * leaf.gradient.norm());
            CHECK((sums.material - leaf.material).norm() < 1e-5 * leaf.material.norm());
            CHECK((sums.moment_b - leaf.moment_b).norm() < 1e-6 * (leaf.moment_b.norm() + leaf.force.norm()));
        }
    }
}

TEST_CASE("round leaves: two spheres have the potential of their gap in closed form") {
    const double a = 0.11, b = 0.07;
    const CollisionGeometry geometry = make_geometry({make_round_sphere(a), make_round_sphere(b)}, false);
    LongRangeOptions options;
    options.leaf_weights = LeafWeights::Paper;
    options.brute_force = true;
    const LongRange model(geometry, options);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    Poses poses(3);
    poses[1].position = {0.3, -0.2, 0.5};
    for (const double gap : {1e-6, 1e-3, 0.1, 1.0, 100.0}) {
        poses[2].position = poses[1].position + (a + b + gap) * Eigen::Vector3d(2.0, 3.0, 6.0) / 7.0;
        const ContactLinearization d = evaluate(model, poses, parameters);
        CHECK(d.energy == doctest::Approx(12.0 * std::pow(1.0 + 1.0 / std::sqrt(gap), 2) - 12.0).epsilon(1e-8));
        CHECK(d.blocks[0].gap == doctest::Approx(gap).epsilon(1e-8));
        CHECK(d.wrench[1].tail<3>().norm() < 1e-9 * d.wrench[1].norm());  // through the centre: it rolls freely
    }
    poses[2].position = poses[1].position + (a + b - 1e-9) * Eigen::Vector3d::UnitX();
    const auto memory = model.make_memory();
    CHECK(frictionless(model, poses, parameters, *memory).energy(poses) == kInf);
}

TEST_CASE("round leaves: the gap told is a bound of the true distance, and the barrier stands where surfaces touch") {
    Random random(63);
    int close = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const farfield::testing::Scene scene = random_round_scene(random, round % 2 == 0, 0.3);
        const LongRange model(scene.geometry, {});
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        const ContactLinearization d = evaluate(model, scene.poses, parameters);
        REQUIRE(std::isfinite(d.energy));
        for (const contact::PairBlock& block : d.blocks) {
            const double gap = closest_points(scene.geometry, {.a = block.a, .b = block.b}, scene.poses).distance;
            CHECK(block.gap > 0.0);
            CHECK(block.gap <= gap * (1.0 + 1e-12));
        }
        // pull the second body onto the first along their closest points
        ClosestPoints nearest = closest_points(scene.geometry, {.a = 1, .b = 2}, scene.poses);
        Poses poses = scene.poses;
        const auto memory = model.make_memory();
        poses[2].position += (1.0 - 1e-4) * (nearest.point_a - nearest.point_b);
        if (!scene.geometry.bodies[0].half_spaces.empty()) continue;  // which may then be in the way
        ++close;
        CHECK(std::isfinite(frictionless(model, poses, parameters, *memory).energy(poses)));
        poses[2].position +=
            0.01 * bounding_radius(scene.geometry.bodies[2].mesh) * (nearest.point_a - nearest.point_b).normalized();
        CHECK(frictionless(model, scene.poses, parameters, *memory).energy(poses) == kInf);
    }
    CHECK(close >= 20);
}

TEST_CASE("round leaves: finer sums never fall below the centred form") {
    Random random(64);
    double smallest = kInf;
    int bands = 0;
    for (int round = 0; round < 120; ++round) {
        const farfield::testing::Scene scene = random_round_scene(random, false);
        PotentialForm form;
        form.parallel_areas = round % 3 != 0;
        form.scale = std::pow(10.0, uniform(random, -1.0, 1.0));
        const double eps = std::pow(10.0, uniform(random, -1.0, 0.3));
        const longrange::Shape a = make_shape(scene.geometry.bodies[1].mesh, eps),
                               b = make_shape(scene.geometry.bodies[2].mesh, eps);
        RotatedShape rotated_a, rotated_b;
        rotated_a.update(a, scene.poses[1].rotation);
        rotated_b.update(b, scene.poses[2].rotation);
        const PairFrame frame = make_frame(rotated_a, rotated_b, form.scale * scene.poses[1].position,
                                           form.scale * scene.poses[2].position, form.scale);
        PairWork work;
        PlaneTable table;
        contact::RelativeSum sum;
        traverse(a, rotated_a, b, rotated_b, frame, form, Wanted::Derivatives, work);
        REQUIRE(solve_leaves(a, rotated_a, b, rotated_b, frame, form, 1e-12, table, work));
        sum_derivatives(form, work, sum);
        for (std::size_t k = 0; k < work.bands.size(); ++k) {
            smallest = std::min(smallest, (work.bands[k].sum[6] - work.bands[k].centred) / work.bands[k].centred);
            ++bands;
        }
    }
    CHECK(bands > 200);
    CHECK(smallest > 0.0);
}
