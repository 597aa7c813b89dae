// SPDX-License-Identifier: Apache-2.0
/// @file  The pass over vertices in lanes against a plain loop: every size, every number of active vertices.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/contact/polyhedral/cholesky4.hpp"
#include "farfield/contact/polyhedral/hull_pass.hpp"

using namespace farfield;
using namespace farfield::contact::polyhedral;

namespace {

PassSums plain_pass(const HullColumns& hull, const PassInput& in) {
    PassSums out;
    for (int m = 0; m < hull.size; ++m) {
        const double x[4] = {hull.x[m] - in.centre[0], hull.y[m] - in.centre[1], hull.z[m] - in.centre[2], 1.0};
        const double q = in.normal[0] * x[0] + in.normal[1] * x[1] + in.normal[2] * x[2] + in.offset;
        out.lowest = std::min(out.lowest, q);
        if (!(q < in.margin) || !(q > 0.0)) continue;
        const BarrierTaylor p = barrier(q, in.margin);
        out.value += p.value;
        int next = 0;
        for (int i = 0; i < 4; ++i) {
            out.first[i] += p.first * x[i];
            for (int j = i; j < 4; ++j) out.second[next++] += p.second * x[i] * x[j];
        }
    }
    return out;
}

/// Relative to the largest of the sums of its kind, since sums of signed terms may cancel.
template <std::size_t Size>
double difference(const double (&a)[Size], const double (&b)[Size]) {
    double largest = 0.0, worst = 0.0;
    for (std::size_t k = 0; k < Size; ++k) {
        largest = std::max(largest, std::abs(b[k]));
        worst = std::max(worst, std::abs(a[k] - b[k]));
    }
    return largest > 0.0 ? worst / largest : worst;
}

}  // namespace

TEST_CASE("hull pass: sums in lanes are those of a plain loop") {
    Random random(31);
    int without = 0, with_one = 0, with_several = 0, below = 0;
    for (int size = 1; size <= 40; ++size) {
        for (const double share : {0.0, 0.05, 0.3, 1.0}) {
            // margins first, coordinates across at will: z is the height above the plane
            std::vector<double> x, y, z;
            const bool touching = size % 7 == 0 && share == 1.0;
            for (int m = 0; m < size; ++m) {
                x.push_back(uniform(random, -2.0, 2.0));
                y.push_back(uniform(random, -2.0, 2.0));
                const bool active = uniform(random, 0.0, 1.0) < share;
                z.push_back(active ? uniform(random, 0.01, 0.099) : uniform(random, 0.11, 3.0));
            }
            if (touching) z[static_cast<std::size_t>(uniform_index(random, size))] = -1e-3;
            const HullColumns hull{{x.data(), y.data(), z.data(), size}};
            const PassInput in{{0.0, 0.0, 1.0}, 0.05, {0.3, -0.2, 0.05}, 0.1};
            PassSums lanes;
            pass_over(hull, in, lanes);
            const PassSums plain = plain_pass(hull, in);
            CAPTURE(size);
            CAPTURE(share);
            CHECK(lanes.lowest == doctest::Approx(plain.lowest).epsilon(1e-14));
            const auto active = std::count_if(z.begin(), z.end(), [](double h) { return h < 0.1; });
            ++(active == 0 ? without : active == 1 ? with_one : with_several);
            below += touching;
            if (touching) {
                CHECK(lanes.lowest <= 0.0);
                continue;
            }
            CHECK(std::abs(lanes.value - plain.value) <= 1e-13 * plain.value);
            CHECK(difference(lanes.first, plain.first) <= 1e-13);
            CHECK(difference(lanes.second, plain.second) <= 1e-13);
        }
    }
    CHECK(without > 20);
    CHECK(with_one > 10);
    CHECK(with_several > 50);
    CHECK(below >= 5);
}

TEST_CASE("hull pass: Cholesky of four solves, and its forward part gives the inverse's quadratic form") {
    Random random(32);
    for (int round = 0; round < 20; ++round) {
        Eigen::Matrix4d root;
        for (int j = 0; j < 4; ++j) root.col(j) = normal_vector(random, 4);
        const Eigen::Matrix4d h = root * root.transpose() + 0.1 * Eigen::Matrix4d::Identity();
        const Eigen::Vector4d b = normal_vector(random, 4);
        const Cholesky4 factor(h, 0.0);
        CHECK((h * factor.solve(b) - b).norm() <= 1e-12 * b.norm());
        Eigen::Vector4d half = b;
        factor.forward<1>(half);
        CHECK(half.squaredNorm() == doctest::Approx(b.dot(h.ldlt().solve(b))).epsilon(1e-11));
    }
}
