// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_lanes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "contact/longrange/precise_pair.hpp"
#include "contact/longrange/random_pairs.hpp"
#include "support/simd_targets.hpp"

using namespace farfield;
using namespace farfield::contact::longrange;
using namespace farfield::contact::longrange::testing;
using farfield::testing::on_every_target;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr double kPlacing = 2e-15;  ///< rounding of the generator's vertices, whose bodies are about a metre away

struct Scale {
    double radius, squares;  ///< max|x|, sum 1/s^2
};
Scale scale_of(const TrianglePair& x, const Plane& plane) {
    Scale scale{std::sqrt(x.colwise().squaredNorm().maxCoeff()), 0.0};
    for (int k = 0; k < 6; ++k) scale.squares += std::pow(plane.normal.dot(x.col(k)) + plane.offset, -2);
    return scale;
}

/// What solving a family of random pairs, cold and then warm, showed.
struct FamilyReport {
    int failures = 0;       ///< not finite, not converged, infeasible, gap above the true one, or a residual left
    int disagreements = 0;  ///< lanes against scalar beyond rounding
    int most_cold = 0, most_warm = 0;
    double residual = 0.0;    ///< lambda^2 / (1e-16 L + rounding), worst
    double difference = 0.0;  ///< |lanes - scalar| / (1e-14 L + rounding), worst
};

void check_solution(const RandomPair& pair, const PairBatch& batch, size_t i, FamilyReport& report) {
    const TrianglePair& x = pair.x;
    const Plane plane = local_plane(x, batch.plane(i));
    const Scale scale = scale_of(x, plane);
    const double value = batch.value(i), rounding = 4e-16 * scale.radius * scale.squares;
    const double residual = newton_decrement(x, plane) / (1e-16 * value + rounding);
    report.residual = std::max(report.residual, residual);
    const bool good = std::isfinite(value) && batch.iterations(i) < kMaxPairIterations &&
                      std::isfinite(plane_energy(x, plane)) && batch.gap(i) > 0.0 &&
                      batch.gap(i) <= pair.gap + 1e-14 * scale.radius + kPlacing && residual <= 1.0;
    if (!good) ++report.failures;
}

void check_against_scalar(const TrianglePair& x, const PairSolution& scalar, double value, FamilyReport& report) {
    const Scale scale = scale_of(x, scalar.plane);
    const double difference =
        std::abs(value - scalar.value) / (1e-14 * scalar.value + 4e-16 * scale.radius * scale.squares);
    report.difference = std::max(report.difference, difference);
    if (!(difference <= 1.0) || scalar.iterations >= kMaxPairIterations) ++report.disagreements;
}

FamilyReport run_family(Family family, int count) {
    PairGenerator generator(100 + static_cast<uint64_t>(family));
    FamilyReport report;
    std::vector<RandomPair> pairs;
    PairBatch batch, moved;
    for (int done = 0; done < count; done += 1000) {
        pairs.clear(), batch.clear(), moved.clear();
        for (int i = 0; i < 1000; ++i) {
            pairs.push_back(generator.draw(family));
            batch.add(pairs.back().x);
        }
        solve_pairs(batch, 1e-12);
        for (size_t i = 0; i < pairs.size(); ++i) {
            check_solution(pairs[i], batch, i, report);
            check_against_scalar(pairs[i].x, solve_pair(pairs[i].x, nullptr, 1e-12), batch.value(i), report);
            report.most_cold = std::max(report.most_cold, batch.iterations(i));
            // A moves by 1 % of the gap; the plane moves with it.
            pairs[i].x.leftCols<3>().colwise() += 0.01 * pairs[i].gap * generator.rotation().col(0);
            pairs[i].gap *= 1.01;
            moved.add(pairs[i].x, batch.plane(i));
        }
        solve_pairs(moved, 1e-12);
        for (size_t i = 0; i < pairs.size(); ++i) {
            check_solution(pairs[i], moved, i, report);
            const Plane warm = local_plane(pairs[i].x, batch.plane(i));
            const PairSolution scalar = solve_pair(pairs[i].x, &warm, 1e-12);
            if (scalar.cold) ++report.failures;
            check_against_scalar(pairs[i].x, scalar, moved.value(i), report);
            report.most_warm = std::max(report.most_warm, moved.iterations(i));
        }
    }
    return report;
}

/// Triangles that touch (to rounding) or cross.
std::vector<TrianglePair> touching_pairs() {
    TrianglePair vertex, face, edges, coplanar, pierced, same;
    vertex << 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0, -1, -1;
    face << 0.2, 1, 0, 0, 1, 0, 0.3, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0;
    edges << -1, 1, 0, 0, 0, 0, 0, 0, 0, -1, 1, 0, 0, 0, 1, 0, 0, -1;
    coplanar << 0, 1, 0, 0.2, 1.2, 0.2, 0, 0, 1, 0.2, 0.2, 1.2, 0, 0, 0, 0, 0, 0;
    pierced << 0.2, 0.3, 0.2, 0, 1, 0, 0.2, 0.2, 0.3, 0, 0, 1, -1, 1, 1, 0, 0, 0;
    same << 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0;
    return {vertex, face, edges, coplanar, pierced, same};
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

bool same_solution(const PairBatch& a, size_t i, const PairBatch& b, size_t j) {
    bool same =
        same_bits(a.value(i), b.value(j)) && same_bits(a.gap(i), b.gap(j)) && a.iterations(i) == b.iterations(j);
    for (int c = 0; c < 3; ++c) same = same && same_bits(a.plane(i).normal[c], b.plane(j).normal[c]);
    return same && same_bits(a.plane(i).slack, b.plane(j).slack);
}

/// Pairs of all families, some warm, some cold, some with a useless plane, some touching.
struct Mixture {
    std::vector<TrianglePair> x;
    std::vector<SlackPlane> warm;
};
Mixture make_mixture(size_t count) {
    PairGenerator generator(77);
    Mixture mixture;
    const std::vector<TrianglePair> touching = touching_pairs();
    for (size_t i = 0; i < count; ++i) {
        TrianglePair x = generator.draw(kFamilies[i % kFamilies.size()]).x;
        SlackPlane warm;
        if (i % 5 == 3) x = touching[i % touching.size()];
        if (i % 3 == 0) {
            const Plane plane = solve_pair(x, nullptr, 1e-9).plane;
            warm = slack_plane(x, plane);
        }
        if (i % 11 == 0) warm.slack = -1.0;
        mixture.x.push_back(x);
        mixture.warm.push_back(warm);
    }
    return mixture;
}

}  // namespace

// The full count takes a few seconds when optimised; without optimisation or under a sanitizer a part of it must do.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr int kPairsPerFamily = 100000;
#else
constexpr int kPairsPerFamily = 2000;
#endif

TEST_CASE("pair lanes: no failure in any family, and agreement with the scalar solver") {
    for (const Family family : kFamilies) {
        const FamilyReport report = run_family(family, kPairsPerFamily);
        INFO(std::string(name_of(family)), ": residual ", report.residual, ", difference ", report.difference,
             ", iterations ", report.most_cold, " cold, ", report.most_warm, " warm");
        CHECK(report.failures == 0);
        CHECK(report.disagreements == 0);
        CHECK(report.most_cold < kMaxPairIterations);
        CHECK(report.most_warm <= 10);
    }
}

TEST_CASE("pair lanes: touching and crossing triangles give infinity, cold and warm, scalar and lanes") {
    PairGenerator generator(21);
    PairBatch batch;
    for (int i = 0; i < 200; ++i) {
        const Eigen::Matrix3d turn = generator.rotation();
        const double size = std::pow(10.0, generator.uniform(-3.0, 3.0));
        for (const TrianglePair& x : touching_pairs()) {
            const TrianglePair y = size * turn * x;
            CHECK(solve_pair(y, nullptr, 1e-9).value == kInf);
            const Plane wrong{Eigen::Vector3d(0.3, 0.2, 0.1), 0.1 * size};
            CHECK(solve_pair(y, &wrong, 1e-9).value == kInf);
            batch.add(y);
            batch.add(y, slack_plane(y, wrong));
        }
    }
    solve_pairs(batch, 1e-9);
    for (size_t i = 0; i < batch.size(); ++i) {
        REQUIRE(batch.value(i) == kInf);
        REQUIRE(batch.gap(i) == 0.0);
        REQUIRE(batch.plane(i).normal.norm() == 0.0);
    }
    // A hair apart they are finite again.
    TrianglePair x = touching_pairs()[1];
    x.row(2).head<3>().array() += 1e-9;
    CHECK(solve_pair(x, nullptr, 1e-9).value > 1e8);
    CHECK(solve_pair(x, nullptr, 1e-9).value < 1e11);
}

TEST_CASE("pair lanes: a plane kept from triangles that all but touched does not hide that they are apart") {
    on_every_target([] {
        PairGenerator generator(22);
        PairBatch cold, kept;
        for (int i = 0; i < 2000; ++i) {
            const TrianglePair x = generator.draw(kFamilies[static_cast<size_t>(i) % kFamilies.size()]).x;
            cold.add(x);
            const Plane plane = solve_pair(x, nullptr, 1e-12).plane;
            SlackPlane tight = slack_plane(x, plane);
            const double length = plane.normal.norm(), room = std::pow(10.0, -generator.uniform(13.0, 16.0));
            tight.normal *= (1.0 - room) / length;
            tight.slack *= (1.0 - room) / length;
            kept.add(x, tight);
        }
        solve_pairs(cold, 1e-12);
        solve_pairs(kept, 1e-12);
        for (size_t i = 0; i < cold.size(); ++i) {
            REQUIRE(std::isfinite(kept.value(i)));
            REQUIRE(kept.value(i) == doctest::Approx(cold.value(i)).epsilon(1e-6));
        }
    });
}

TEST_CASE("pair lanes: a pair's bits do not depend on its neighbours, its place or the size of the batch") {
    on_every_target([] {
        const Mixture mixture = make_mixture(203);
        const size_t count = mixture.x.size();
        PairBatch together;
        for (size_t i = 0; i < count; ++i) together.add(mixture.x[i], mixture.warm[i]);
        solve_pairs(together, 1e-12);
        std::vector<size_t> order(count);
        std::iota(order.begin(), order.end(), size_t{0});
        Random random(5);
        for (size_t i = count - 1; i > 0; --i)
            std::swap(order[i], order[static_cast<size_t>(uniform_index(random, static_cast<int>(i + 1)))]);
        PairBatch shuffled;
        for (const size_t i : order) shuffled.add(mixture.x[i], mixture.warm[i]);
        solve_pairs(shuffled, 1e-12);
        for (size_t j = 0; j < count; ++j) REQUIRE(same_solution(shuffled, j, together, order[j]));
        PairBatch alone;
        for (size_t i = 0; i < count; ++i) {
            alone.clear();
            alone.add(mixture.x[i], mixture.warm[i]);
            solve_pairs(alone, 1e-12);
            REQUIRE(same_solution(alone, 0, together, i));
        }
        int finite = 0, infinite = 0;
        for (size_t i = 0; i < count; ++i) ++(together.value(i) == kInf ? infinite : finite);
        CHECK(finite > 100);
        CHECK(infinite > 20);
    });
}

TEST_CASE("pair lanes: derivatives against long double, every target") {
    on_every_target([] {
        PairGenerator generator(31);
        double worst_gradient = 0.0, worst_material = 0.0;
        for (int i = 0; i < 1000; ++i) {
            const RandomPair pair = generator.draw(kFamilies[static_cast<size_t>(i) % kFamilies.size()]);
            PairBatch batch;
            batch.add(pair.x);
            solve_pairs(batch, 1e-12);
            PairSums sums;
            const double one = 1.0;
            accumulate_pairs(batch, 0, 1, &one, sums);
            const PreciseLeaf leaf = precise_leaf(precise_pair(pair.x, local_plane(pair.x, batch.plane(0))), pair.x);
            const Eigen::Matrix<double, 6, 1> g = leaf.gradient.cast<double>();
            const Eigen::Matrix<double, 6, 6> m = leaf.material.cast<double>();
            const double thin = std::max(1.0, pair.x.norm() / pair.gap);  // rounding grows with size over gap
            const double e_g = (batch.gradient(0) - g).norm() / g.norm() / (1e-10 + 1e-13 * thin);
            const double e_m = (sums.material - m).norm() / m.norm() / (1e-9 + 1e-16 * thin * thin);
            worst_gradient = std::max(worst_gradient, e_g), worst_material = std::max(worst_material, e_m);
        }
        CHECK(worst_gradient < 1.0);
        CHECK(worst_material < 1.0);
        CHECK(worst_gradient > 0.0);
    });
}

TEST_CASE("pair lanes: weighted sums equal those of the scalar leaf derivatives, over any range") {
    on_every_target([] {
        const Mixture mixture = make_mixture(61);
        const Eigen::Vector3d lever(0.3, -0.7, 0.5);
        PairBatch batch;
        std::vector<double> weights;
        for (size_t i = 0; i < mixture.x.size(); ++i) {
            batch.add(mixture.x[i].colwise() + lever, mixture.warm[i]);
            weights.push_back(0.1 + static_cast<double>(i % 7));
        }
        solve_pairs(batch, 1e-12);
        for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, 61}, {3, 4}, {5, 29}, {8, 16}, {17, 17}}) {
            PairSums sums, expected;
            Eigen::Matrix<double, 6, 6> size = Eigen::Matrix<double, 6, 6>::Zero();
            accumulate_pairs(batch, begin, end, weights.data() + begin, sums);
            for (size_t i = begin; i < end; ++i) {
                if (batch.value(i) == kInf) {
                    CHECK(batch.gradient(i).norm() == 0.0);
                    continue;
                }
                const TrianglePair arms = batch.arms(i), x = arms.colwise() - pair_origin(arms);
                const LeafDerivatives leaf = leaf_derivatives(x, arms, local_plane(x, batch.plane(i)));
                const double w = weights[i];
                expected.force += w * leaf.force;
                expected.moment_a += w * leaf.moment_a;
                expected.moment_b += w * leaf.moment_b;
                expected.material += w * leaf.material;
                size += w * leaf.material.cwiseAbs();
                CHECK((batch.gradient(i) - leaf.gradient).norm() < 1e-7 * leaf.gradient.norm());
            }
            CHECK((sums.force - expected.force).norm() <= 1e-7 * expected.force.norm());
            CHECK((sums.moment_a - expected.moment_a).norm() <= 1e-7 * expected.moment_a.norm());
            CHECK((sums.moment_b - expected.moment_b).norm() <= 1e-7 * expected.moment_b.norm());
            CHECK((sums.material - expected.material).norm() <= 1e-6 * size.norm());
        }
    });
}

TEST_CASE("pair lanes: storage is reused") {
    const Mixture mixture = make_mixture(100);
    PairBatch batch;
    batch.reserve(100);
    const PairChunk* storage = batch.chunks();
    for (int round = 0; round < 3; ++round) {
        batch.clear();
        for (size_t i = 0; i < 100; ++i) batch.add(mixture.x[i], mixture.warm[i]);
        solve_pairs(batch, 1e-9);
        CHECK(batch.chunks() == storage);
        CHECK(batch.size() == 100);
    }
    batch.clear();
    solve_pairs(batch, 1e-9);  // nothing to do
    CHECK(batch.size() == 0);
}
