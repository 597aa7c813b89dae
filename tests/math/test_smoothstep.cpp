// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/smoothstep.hpp"

#include <doctest/doctest.h>

#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;

TEST_CASE("smoothstep: values, symmetry, range") {
    CHECK(smoothstep(0.0).value == 0.0);
    CHECK(smoothstep(1.0).value == 1.0);
    CHECK(smoothstep(0.5).value == 0.5);
    CHECK(smoothstep(0.25).value == doctest::Approx(6.0 / 1024 - 15.0 / 256 + 10.0 / 64).epsilon(1e-15));
    for (const double u : {-1e300, -1.0, -1e-300}) {
        CHECK(smoothstep(u).value == 0.0);
        CHECK(smoothstep(u).first == 0.0);
        CHECK(smoothstep(u).second == 0.0);
        CHECK(smoothstep(1.0 - u).value == 1.0);
        CHECK(smoothstep(1.0 - u).first == 0.0);
        CHECK(smoothstep(1.0 - u).second == 0.0);
    }
    double previous = 0.0;
    for (int i = 0; i <= 100000; ++i) {
        const double u = i / 100000.0;
        const SmoothstepTaylor at = smoothstep(u), mirror = smoothstep(1.0 - u);
        const bool sound = at.value >= previous && at.value <= 1.0 && at.first >= 0.0 &&
                           std::abs(at.value + mirror.value - 1.0) < 1e-15 &&
                           std::abs(at.second + mirror.second) < 1e-11;
        CHECK_MESSAGE(sound, "u = ", u);
        previous = at.value;
    }
}

TEST_CASE("smoothstep: derivatives, inside, and just inside and outside both ends") {
    Random random(1);
    const auto value = [](const Eigen::VectorXd& u) { return smoothstep(u(0)).value; };
    const auto first = [](const Eigen::VectorXd& u) { return smoothstep(u(0)).first; };
    const auto one = [](double x) { return Eigen::VectorXd::Constant(1, x); };
    for (const double u : {1e-3, 0.01, 0.1, 0.3, 0.499, 0.501, 0.7, 0.9, 0.99}) {
        const LadderOptions options{.scale = std::min(u, 1.0 - u)};
        DerivativeReport report = check_gradient(value, one(u), one(smoothstep(u).first), options, random);
        CHECK_MESSAGE(report.passes(u > 0.9 ? 1e-6 : 1e-7), report);  // near 1 the value has lost its small part
        report = check_gradient(first, one(u), one(smoothstep(u).second), options, random);
        CHECK_MESSAGE(report.passes(), report);
    }
    // Across the ends value, slope and curvature are continuous.
    for (const double h : {1e-4, 1e-6, 1e-8}) {
        CHECK(smoothstep(h).value <= 10.0 * h * h * h);
        CHECK(smoothstep(h).first <= 30.0 * h * h);
        CHECK(smoothstep(h).second <= 60.0 * h);
        CHECK(smoothstep(1.0 - h).first <= 30.1 * h * h);
        CHECK(smoothstep(1.0 - h).second >= -60.1 * h);
    }
}
