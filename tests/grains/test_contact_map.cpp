// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/contact_map.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/geometry/polygon_obstacle.hpp"
#include "farfield/grains/angle_lanes.hpp"
#include "farfield/grains/grid_label.hpp"
#include "farfield/grains/map_audit.hpp"
#include "farfield/grains/table_map.hpp"
#include "support/error_text.hpp"
#include "support/simd_targets.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::contains;
using farfield::testing::error_of;
using farfield::testing::on_every_target;

namespace {

constexpr double kPi = std::numbers::pi;

Relative random_pose(Random& random, double reach) {
    const double angle = uniform(random, -kPi, kPi), distance = reach * std::sqrt(uniform(random));
    return {uniform(random, -kPi, kPi), distance * std::cos(angle), distance * std::sin(angle)};
}

/// Catmull-Rom interpolation of d in double precision, for shapes of circumradius 1.
double interpolate(const Table& t, const Relative& pose) {
    const auto weights = [](double f) {
        return std::array{-0.5 * f * (1 - f) * (1 - f), 1 + f * f * (1.5 * f - 2.5), f * (0.5 + f * (2 - 1.5 * f)),
                          -0.5 * f * f * (1 - f)};
    };
    const double per_space = (t.num_space - 1) / (2.0 * t.half_width), turns = (pose.theta - t.first_theta) / t.period;
    const double u = (pose.x + t.half_width) * per_space, v = (pose.y + t.half_width) * per_space;
    const double w = t.num_theta * (turns - std::floor(turns));
    const auto i = static_cast<std::size_t>(u), j = static_cast<std::size_t>(v), k = static_cast<std::size_t>(w);
    const auto wu = weights(u - static_cast<double>(i)), wv = weights(v - static_cast<double>(j)),
               ww = weights(w - static_cast<double>(k));
    const auto n = static_cast<std::size_t>(t.num_space);
    double sum = 0.0;
    for (std::size_t c = 0; c < 4; ++c) {
        for (std::size_t a = 0; a < 4; ++a) {
            for (std::size_t b = 0; b < 4; ++b)
                sum += ww[c] * wu[a] * wv[b] *
                       static_cast<double>(t.distance[((k + c) * n + (i + a - 1)) * n + (j + b - 1)]);
        }
    }
    return sum;
}

}  // namespace

TEST_SUITE("grains") {
    TEST_CASE("grains sines and cosines: those of the library, wherever an angle stands") {
        Random random(2);
        std::vector<double> angles{0.0, -0.0, kPi, -kPi, kPi / 2, 3 * kPi / 4, 1e-300, 123456.789, -9.9e5, 3e7};
        for (int k = 0; k < 4001; ++k) angles.push_back(uniform(random, -1.0, 1.0) * std::pow(10.0, k % 6));
        std::vector<double> sines(angles.size()), cosines(angles.size());
        sin_cos(angles.data(), angles.size(), sines.data(), cosines.data());
        for (std::size_t k = 0; k < angles.size(); ++k) {
            CHECK(std::abs(sines[k] - std::sin(angles[k])) < 4e-16);
            CHECK(std::abs(cosines[k] - std::cos(angles[k])) < 4e-16);
            double sine = 0.0, cosine = 0.0;
            sin_cos(&angles[k], 1, &sine, &cosine);
            CHECK(sine == sines[k]);
            CHECK(cosine == cosines[k]);
        }
        double nothing = std::numeric_limits<double>::quiet_NaN(), sine = 0.0, cosine = 0.0;
        sin_cos(&nothing, 1, &sine, &cosine);
        CHECK(std::isnan(sine));
        CHECK(std::isnan(cosine));
    }

    TEST_CASE("grains exact map: hand-made cases") {
        const GrainShape square = block_shape(2.0, 2.0);
        MapValue gap = exact_value(square, square, {0.0, 3.0, 0.1});
        CHECK(gap.distance == doctest::Approx(1.0));
        CHECK(gap.g_x == doctest::Approx(1.0));
        MapValue deep = exact_value(square, square, {1e-9, 1.7, 0.3});
        CHECK(deep.distance == doctest::Approx(-0.3).epsilon(1e-6));
        CHECK(deep.g_x == doctest::Approx(1.0));
        // A corner into a flat side: the depth of the corner.
        MapValue corner = exact_value(square, square, {kPi / 4.0, 1.0 + std::sqrt(2.0) - 0.1, 0.2});
        CHECK(corner.distance == doctest::Approx(-0.1).epsilon(1e-9));
        CHECK(corner.arm == doctest::Approx(1.0 - 0.05).epsilon(1e-9));
        CHECK(corner.g_theta == doctest::Approx(0.0).epsilon(1e-9));
    }

    TEST_CASE("grains exact map: depth is the shortest separating translation, and both algorithms agree") {
        Random random(11);
        for (const char* name : {"L", "#", "star", "U", "O"}) {
            CAPTURE(name);
            const GrainShape a = library_shape(name), b = library_shape(name == std::string("L") ? "star" : name);
            int overlaps = 0;
            for (int k = 0; k < 60; ++k) {
                const Relative pose = random_pose(random, 1.9);
                const Polygon turned = transformed(b.outline, pose.theta, Eigen::Vector2d::Zero());
                const Eigen::Vector2d shift(pose.x, pose.y);
                const bool meet = interiors_meet(a.outline, turned, shift);
                const PolygonDistance one = polygon_distance(a.outline, transformed(turned, 0.0, shift));
                const PolygonDistance two = distance_to_boundary(obstacle_boundary(a.outline, turned), shift, meet);
                CHECK(one.distance == doctest::Approx(two.distance).epsilon(1e-7));
                CHECK((one.distance < 0.0) == meet);
                const Eigen::Vector2d out = shift - one.distance * one.normal;
                bool free =
                    false;  // some way onwards from there is open (at a corner not necessarily along the normal)
                for (int t = 0; t < 32; ++t) {
                    const double angle = kPi * t / 16.0;
                    free |= !interiors_meet(a.outline, turned,
                                            out + 1e-6 * Eigen::Vector2d(std::cos(angle), std::sin(angle)));
                }
                CHECK(free);
                // No shorter translation changes the answer.
                for (int t = 0; t < 40; ++t) {
                    const double angle = uniform(random, -kPi, kPi), length = 0.999 * std::abs(one.distance);
                    const Eigen::Vector2d other(length * std::cos(angle), length * std::sin(angle));
                    CHECK(interiors_meet(a.outline, turned, shift + other) == meet);
                }
                overlaps += meet;
            }
            CHECK(overlaps > 10);
        }
    }

    TEST_CASE("grains exact map: the gradient is that of the distance") {
        Random random(3);
        const GrainShape a = library_shape("L"), b = library_shape("U", 0.8);
        int checked = 0;
        for (int k = 0; k < 200; ++k) {
            const Relative pose = random_pose(random, 1.8);
            const MapValue value = exact_value(a, b, pose);
            if (std::abs(value.distance) < 1e-3) continue;
            const double h = 1e-6;
            const auto slope = [&](double dt, double dx, double dy) {
                return (exact_value(a, b, {pose.theta + h * dt, pose.x + h * dx, pose.y + h * dy}).distance -
                        exact_value(a, b, {pose.theta - h * dt, pose.x - h * dx, pose.y - h * dy}).distance) /
                       (2.0 * h);
            };
            const double t = slope(1, 0, 0), x = slope(0, 1, 0), y = slope(0, 0, 1);
            if (std::abs(std::hypot(x, y) - 1.0) > 1e-4) continue;  // a step across a kink
            CHECK(value.g_x == doctest::Approx(x).epsilon(1e-5));
            CHECK(value.g_y == doctest::Approx(y).epsilon(1e-5));
            CHECK(value.g_theta == doctest::Approx(t).epsilon(1e-4));
            ++checked;
        }
        CHECK(checked > 100);
    }

    TEST_CASE("grains table map: passes its audit; the gradient is that of the interpolant") {
        ThreadPool pool(1);
        Random random(8);
        const GrainShape a = library_shape("L"), b = library_shape("L");
        const auto table = std::make_shared<const Table>(build_table(a, b, {}, pool));
        const auto map = make_table_map(table, a, b);
        const MapAudit audit = audit_map(*map, a, b, 4000, random);
        MESSAGE("L-L rmse " << audit.rmse << " normal " << audit.normal_median << " p90 " << audit.normal_p90);
        CHECK(audit.rmse < 0.005);
        CHECK(audit.rmse > 1e-6);
        CHECK(audit.normal_median < 2.0);
        CHECK(audit.wrap_jump < 1e-6);  // single precision
        int touching = 0;
        for (int k = 0; k < 2000; ++k) {
            const Relative pose = random_pose(random, 1.9);
            const MapValue value = map->at(pose);
            if (value.distance > -0.005) continue;
            ++touching;
            // The map works in single precision: within its rounding (of values up to 1, and 31 nodes per unit in slopes) it
            // agrees with a reference in double precision, whose slopes are the gradient.
            CHECK(std::abs(value.distance - interpolate(*table, pose)) < 1e-6);
            const double h = 1e-6;
            const auto slope = [&](double dt, double dx, double dy) {
                return (interpolate(*table, {pose.theta + h * dt, pose.x + h * dx, pose.y + h * dy}) -
                        interpolate(*table, {pose.theta - h * dt, pose.x - h * dx, pose.y - h * dy})) /
                       (2.0 * h);
            };
            CHECK(std::abs(value.g_theta - slope(1, 0, 0)) < 3e-5);
            CHECK(std::abs(value.g_x - slope(0, 1, 0)) < 3e-5);
            CHECK(std::abs(value.g_y - slope(0, 0, 1)) < 3e-5);
        }
        CHECK(touching > 300);
        // The same table serves the same pair at another size.
        const GrainShape small = scaled(a, 0.25);
        const auto small_map = make_table_map(table, small, small);
        const MapValue large = map->at({0.4, 0.8, 0.5}), little = small_map->at({0.4, 0.2, 0.125});
        CHECK(large.distance < 0.0);
        CHECK(little.distance == doctest::Approx(0.25 * large.distance).epsilon(1e-12));
        CHECK(little.g_theta == doctest::Approx(0.25 * large.g_theta).epsilon(1e-12));
        CHECK(little.g_x == doctest::Approx(large.g_x).epsilon(1e-12));
    }

    TEST_CASE("grains lanes: every SIMD target finds the same table values and sines, within rounding") {
        ThreadPool pool(1);
        const GrainShape l = library_shape("L");
        const auto table = std::make_shared<const Table>(build_table(l, l, {.theta = 48, .space = 64}, pool));
        const auto map = make_table_map(table, l, l);
        on_every_target([&] {
            Random random(9);
            std::vector<Relative> poses;
            for (int k = 0; k < 333; ++k) poses.push_back(random_pose(random, 1.8));
            std::vector<MapValue> values(poses.size());
            map->evaluate(poses, values.data());
            int touching = 0;
            for (std::size_t k = 0; k < poses.size(); ++k) {
                const double wanted = interpolate(*table, poses[k]);
                CHECK((values[k].distance < 0.0) == (wanted < 0.0));
                if (wanted >= 0.0) continue;
                ++touching;
                CHECK(std::abs(values[k].distance - wanted) < 1e-6);
                double sine = 0.0, cosine = 0.0;
                sin_cos(&poses[k].theta, 1, &sine, &cosine);
                CHECK(std::abs(sine - std::sin(poses[k].theta)) < 4e-16);
                CHECK(std::abs(cosine - std::cos(poses[k].theta)) < 4e-16);
            }
            CHECK(touching > 50);
        });
    }

    TEST_CASE("grains table map: never says apart where grains overlap noticeably") {
        ThreadPool pool(1);
        Random random(4);
        const GrainShape a = library_shape("#"), b = library_shape("star", 0.6);
        const auto map =
            make_table_map(std::make_shared<const Table>(build_table(a, b, {.theta = 48, .space = 64}, pool)), a, b);
        int overlaps = 0;
        for (int k = 0; k < 4000; ++k) {
            const Relative pose = random_pose(random, 1.6);
            const double exact = exact_value(a, b, pose).distance;
            if (exact > -0.05) continue;
            ++overlaps;
            CHECK(map->at(pose).distance < 0.0);
        }
        CHECK(overlaps > 500);
    }

    TEST_CASE("grains table map: foreign and damaged tables are refused") {
        ThreadPool pool(1);
        const GrainShape l = library_shape("L"), u = library_shape("U");
        Table table = build_table(l, l, {.theta = 12, .space = 16}, pool);
        const auto said = [](const Table& t, const GrainShape& a, const GrainShape& b) {
            return error_of([&] { (void)make_table_map(std::make_shared<const Table>(t), a, b); });
        };
        CHECK(said(table, l, l).empty());
        CHECK(contains(said(table, l, u), "contact map of 'L' and 'U': built for other outlines"));
        CHECK(contains(said(table, l, library_shape("L", 2.0)), "ratio of radii 1, expected 2"));
        Table broken = table;
        broken.distance[7] = std::numeric_limits<float>::quiet_NaN();
        CHECK(contains(said(broken, l, l), "not finite"));
        broken = table;
        broken.arm.pop_back();
        CHECK(contains(said(broken, l, l), "inconsistent sizes"));
        CHECK(contains(error_of([&] { (void)build_table(l, l, {.theta = 2}, pool); }), "theta 2, expected 8"));
        // A table this coarse does not pass, and the message says what to raise.
        Random random(1);
        const auto map = make_table_map(std::make_shared<const Table>(table), l, l);
        const MapAudit audit = audit_map(*map, l, l, 1000, random);
        CHECK(contains(error_of([&] { require(audit, {}, "L L"); }), "raise the table's space and theta"));
    }

    TEST_CASE("grains grid label: gap when apart, softened at corners when not") {
        const GrainShape square = block_shape(2.0, 2.0);
        const Polygon turned = transformed(square.outline, kPi / 4.0, Eigen::Vector2d::Zero());
        const double root = std::sqrt(2.0);
        CHECK(grid_label(square.outline, turned, {1.0 + root + 0.1, 0.0}) == doctest::Approx(0.1).epsilon(0.15));
        // Largest circle in a right-angled corner of depth h has diameter 2 h sin45/(1 + sin45) = 0.83 h.
        CHECK(grid_label(square.outline, turned, {1.0 + root - 0.3, 0.0}) == doctest::Approx(-0.83 * 0.3).epsilon(0.1));
    }
}
