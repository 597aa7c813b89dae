// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/friction_ramp.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "contact/contact_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::longrange::FrictionRamp;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

constexpr double kWeight = 4e-7;  // [J]: leaves of the boxes below fade at gaps of about their size
constexpr double kDt = 0.01;

/// A box beside another, or above the ground, with a gap between them.
struct Beside {
    CollisionGeometry geometry;
    bool ground;

    explicit Beside(bool on_ground) : ground(on_ground) {
        const TriangleMesh box = make_box({0.1, 0.12, 0.08});
        geometry = on_ground ? make_geometry({box}, true) : make_geometry({box, box}, false);
    }
    [[nodiscard]] Poses at(double gap, Random& random) const {
        Poses poses(geometry.bodies.size());
        poses.back().rotation = exp_rotation(0.01 * normal_vector(random, 3));
        poses.back().position = ((ground ? 0.085 : 0.165) + gap) * Vector3d::UnitZ();
        return poses;
    }
    /// Of the same energy whichever is asked, but for the ramp: thresholds belong to the weight of the model.
    [[nodiscard]] LongRange faded() const {
        return LongRange(geometry, {.weight_in_joules = kWeight, .slip_speed = 1e-3, .brute_force = ground});
    }
    [[nodiscard]] LongRange full() const {
        return LongRange(geometry, {.weight_in_joules = 1.0, .slip_speed = 1e-3, .brute_force = ground});
    }
    [[nodiscard]] Parameters parameters(bool of_full) const {
        return make_parameters(geometry, of_full ? kWeight : 1.0, 0.5);
    }
};

double friction_energy(const LongRange& model, const Parameters& parameters, const Poses& previous, const Poses& now) {
    const auto memory = model.make_memory();
    ContactLinearization d;
    model.begin_step(previous, kDt, parameters, *memory).linearize(now, d);
    return d.friction_energy;
}

}  // namespace

TEST_CASE("friction ramp: from nothing to all, twice differentiable, in any units") {
    const FrictionRamp ramp =
        contact::longrange::make_ramp({.length = 0.1, .mass = 2.0, .acceleration = 10.0}, 1e-6, 1.0);
    CHECK(ramp.at(ramp.low).value == 0.0);
    CHECK(ramp.at(0.5 * ramp.low).value == 0.0);
    CHECK(ramp.at(ramp.high).value == 1.0);
    CHECK(ramp.at(2.0 * ramp.high).slope == 0.0);
    const auto slope = [&](double p, double h) {
        return (ramp.at(p * std::exp(h)).value - ramp.at(p * std::exp(-h)).value) / (2.0 * h);
    };
    const auto curvature = [&](double p, double h) {
        return (ramp.at(p * std::exp(h)).slope - ramp.at(p * std::exp(-h)).slope) / (2.0 * h);
    };
    double last = 0.0;
    for (int k = 1; k < 40; ++k) {
        const double p = ramp.low * std::pow(FrictionRamp::kWidth, k / 40.0);
        CHECK(ramp.at(p).value > last);
        CHECK(ramp.at(p).slope == doctest::Approx(slope(p, 1e-5)).epsilon(1e-8));
        last = ramp.at(p).value;
    }
    for (const double end : {ramp.low, ramp.high}) {
        CHECK(std::abs(slope(end, 1e-4)) < 1e-6);
        CHECK(std::abs(curvature(end, 1e-4)) < 1e-2);
    }
    const FrictionRamp scaled =
        contact::longrange::make_ramp({.length = 0.4, .mass = 16.0, .acceleration = 40.0}, 1e-6 * 8.0 * 4.0 * 4.0, 4.0);
    CHECK(scaled.low == ramp.low);
    CHECK(scaled.high == ramp.high);
}

TEST_CASE("friction ramp: the vjp of the lagged start is exact above, inside and below the ramp") {
    for (const bool ground : {false, true}) {
        CAPTURE(ground);
        const Beside scene(ground);
        const LongRange model = scene.faded(), full = scene.full();
        const Parameters parameters = scene.parameters(false);
        Random random(271);
        int above = 0, inside = 0, below = 0;
        for (int round = 0; round < 28; ++round) {
            const double gap = 0.001 * std::pow(1.35, round);
            CAPTURE(gap);
            const Poses previous = scene.at(gap, random);
            const auto size = 6 * static_cast<Eigen::Index>(previous.size());
            const Poses now = moved(previous, 1e-4 * normal_vector(random, size));
            contact::Twists twists(previous.size());
            for (Vector6d& twist : twists) twist = normal_vector(random, 6);
            const auto memory = model.make_memory();
            ContactLinearization d;
            contact::ContactGradient gradient;
            contact::ContactStep& step =
                model.begin_step(previous, kDt, parameters, *memory, contact::StepMode::Backward);
            step.linearize(now, d);
            step.vjp({&twists, 1}, {&gradient, 1});
            const double all = friction_energy(full, scene.parameters(true), previous, now);
            if (d.friction_energy == 0.0) {
                ++below;
                CHECK(stacked(gradient.previous_wrench).isZero(0.0));
                continue;
            }
            CHECK(d.friction_energy <= (1.0 + 1e-12) * all);
            ++(d.friction_energy < 0.99 * all ? inside : above);
            const auto other = model.make_memory();
            const auto phi = [&](const VectorXd& twist) {  // friction alone: the rest does not depend on the start
                ContactLinearization there;
                model.begin_step(moved(previous, twist), kDt, parameters, *other).linearize(now, there);
                const contact::PairBlock& block = there.blocks[0];
                if (!block.has_friction) return 0.0;
                return twists[static_cast<std::size_t>(block.a)].dot(block.friction_gradient.head<6>()) +
                       twists[static_cast<std::size_t>(block.b)].dot(block.friction_gradient.tail<6>());
            };
            const DerivativeReport report = check_tangent_gradient(
                phi, stacked(gradient.previous_wrench), {.scale = 0.1 * std::min(gap, 0.05), .floor = 1e-16}, random);
            CHECK_MESSAGE(report.passes(2e-6), report);
        }
        CHECK(above >= 3);
        CHECK(inside >= 5);
        CHECK(below >= 1);
    }
}

TEST_CASE("friction ramp: a body swept through it feels no jump") {
    const Beside scene(false);
    const LongRange model = scene.faded();
    const Parameters parameters = scene.parameters(false);
    const auto force = [&](double gap) {
        Random random(272);
        const Poses previous = scene.at(gap, random), now = moved(previous, 1e-4 * normal_vector(random, 18));
        const auto memory = model.make_memory();
        ContactLinearization d;
        model.begin_step(previous, kDt, parameters, *memory).linearize(now, d);
        return d.blocks[0].has_friction ? d.blocks[0].friction_gradient : contact::PairBlock::Vector12d::Zero().eval();
    };
    const auto largest_change = [&](int samples) {  // over the whole sweep, in steps of equal ratio
        double most = 0.0;
        const double ratio = std::pow(100.0, 1.0 / samples);
        contact::PairBlock::Vector12d last = force(0.02);
        const double scale = last.norm();
        for (double gap = 0.02 * ratio; gap < 2.0; gap *= ratio) {
            const contact::PairBlock::Vector12d next = force(gap);
            most = std::max(most, (next - last).norm() / scale);
            last = next;
        }
        CHECK(last.norm() == 0.0);
        return most;
    };
    const double coarse = largest_change(200), fine = largest_change(1600);
    CHECK(coarse > 0.0);
    CHECK(fine < 0.2 * coarse);  // a jump would stay as large as it is
}
