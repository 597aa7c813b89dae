// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/pair_lanes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "farfield/base/random.hpp"
#include "support/simd_targets.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::on_every_target;

namespace {

/// The contact law of one pair in plain arithmetic.
PairForce plain_force(const Body& a, const Body& b, const Relative& pose, const MapValue& v, const ContactLaw& law,
                      double dt, Spring& spring) {
    const double wx = a.cos * v.g_x - a.sin * v.g_y, wy = a.sin * v.g_x + a.cos * v.g_y;
    const double turn_a = -v.g_theta - (pose.x * v.g_y - pose.y * v.g_x);
    const double dvx = b.vx - a.vx, dvy = b.vy - a.vy;
    const double rate = wx * dvx + wy * dvy + v.g_theta * b.omega + turn_a * a.omega;
    const double normal = std::max(0.0, -law.normal_stiffness * v.distance - law.normal_damping * rate);
    const double length = std::hypot(wx, wy), nx = wx / length, ny = wy / length;
    const double arm_a = -v.arm, arm_b = v.arm - (pose.x * v.g_x + pose.y * v.g_y) / length;
    const double slip = nx * dvy - ny * dvx + arm_a * a.omega + arm_b * b.omega;
    const double tangent = friction_force(law, law.friction, normal, slip, dt, nx, ny, spring);
    return {normal * wx - tangent * ny, normal * wy + tangent * nx, normal * turn_a + tangent * arm_a,
            normal * v.g_theta + tangent * arm_b};
}

/// Random grains and pairs; every pair touches. Springs: new, turned by more than 30 degrees, or of the last step.
struct Contacts {
    std::vector<Body> bodies;
    std::vector<ListPair> pairs;
    std::vector<std::int32_t> index;
    std::vector<Relative> poses;
    std::vector<MapValue> values;
    std::vector<Spring> springs;
    std::vector<PairForce> forces;

    Contacts(Random& random, std::size_t count) : bodies(2 * count), pairs(count), values(count), springs(count) {
        for (Body& body : bodies) {
            body.x = uniform(random, -1.0, 1.0);
            body.y = uniform(random, -1.0, 1.0);
            body.set_angle(uniform(random, -9.0, 9.0));
            const double speed = std::pow(10.0, uniform(random, -4.0, 1.0));
            body.vx = uniform(random, -speed, speed);
            body.vy = uniform(random, -speed, speed);
            body.omega = uniform(random, -speed, speed);
        }
        std::vector<std::int32_t> order(2 * count);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t k = 0; k < count; ++k) {
            pairs[k] = {order[2 * k], order[2 * k + 1]};
            const Body& a = bodies[static_cast<std::size_t>(pairs[k].a)];
            const double angle = uniform(random, -3.0, 3.0), length = uniform(random, 0.3, 1.2);
            values[k] = {-std::pow(10.0, uniform(random, -5.0, -1.0)), uniform(random, -1.0, 1.0),
                         length * std::cos(angle), length * std::sin(angle), uniform(random, -1.0, 1.0)};
            const double turned = k % 3 == 0 ? 0.6 : 0.4, world = angle + a.theta + turned;
            if (k % 3 != 2) springs[k] = {1e-3 * uniform(random, -1.0, 1.0), std::cos(world), std::sin(world)};
        }
        poses.resize(count);
        forces.resize(count);
        index.resize(count);
        std::iota(index.begin(), index.end(), 0);
    }
};

}  // namespace

TEST_SUITE("grains") {
    TEST_CASE("grains pair lanes: poses and forces are those of plain arithmetic, in every branch of friction") {
        Random random(11);
        const ContactLaw law{1e4, 20.0, 3e3, 10.0, 0.4};
        const double dt = 1e-3;
        int slides = 0, yields = 0, holds = 0, released = 0;
        on_every_target([&] {
            for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 7u, 64u, 999u}) {
                CAPTURE(count);
                Contacts c(random, count);
                const std::vector<Spring> before = c.springs;
                relative_poses(c.bodies.data(), c.pairs.data(), count, c.poses.data());
                pair_forces(c.bodies.data(), c.pairs.data(), c.index.data(), count, c.poses.data(), c.values.data(),
                            law, dt, c.springs.data(), c.forces.data());
                for (std::size_t k = 0; k < count; ++k) {
                    CAPTURE(k);
                    const Body &a = c.bodies[static_cast<std::size_t>(c.pairs[k].a)],
                               &b = c.bodies[static_cast<std::size_t>(c.pairs[k].b)];
                    const double dx = b.x - a.x, dy = b.y - a.y;
                    CHECK(c.poses[k].theta == b.theta - a.theta);
                    CHECK(std::abs(c.poses[k].x - (a.cos * dx + a.sin * dy)) < 1e-15);
                    CHECK(std::abs(c.poses[k].y - (a.cos * dy - a.sin * dx)) < 1e-15);
                    Spring spring = before[k];
                    const PairForce wanted = plain_force(a, b, c.poses[k], c.values[k], law, dt, spring);
                    const PairForce& got = c.forces[k];
                    const double size = 1e-12 * (1.0 + std::hypot(wanted.fx, wanted.fy));
                    CHECK(std::abs(got.fx - wanted.fx) < size);
                    CHECK(std::abs(got.fy - wanted.fy) < size);
                    CHECK(std::abs(got.torque_a - wanted.torque_a) < size);
                    CHECK(std::abs(got.torque_b - wanted.torque_b) < size);
                    CHECK(std::abs(c.springs[k].stretch - spring.stretch) < 1e-14);
                    CHECK(std::abs(c.springs[k].normal_x - spring.normal_x) < 1e-14);
                    CHECK(std::abs(c.springs[k].normal_y - spring.normal_y) < 1e-14);
                    const bool pushes = wanted.fx != 0.0 || wanted.fy != 0.0;
                    released += !pushes;
                    slides += pushes && spring.stretch == 0.0;
                    // At the limit of friction the force leaves the normal by atan(mu).
                    const double along = wanted.fx * spring.normal_x + wanted.fy * spring.normal_y,
                                 across = wanted.fy * spring.normal_x - wanted.fx * spring.normal_y;
                    const double length = std::hypot(c.values[k].g_x, c.values[k].g_y);
                    const bool limited = std::abs(std::abs(across) - law.friction * along / length) < 1e-9 * along;
                    yields += pushes && spring.stretch != 0.0 && limited;
                    holds += pushes && !limited;
                }
            }
        });
        MESSAGE("slides " << slides << ", yields " << yields << ", holds " << holds << ", no force " << released);
        CHECK(slides > 50);
        CHECK(yields > 50);
        CHECK(holds > 50);
        CHECK(released > 50);
    }

    TEST_CASE("grains pair lanes: a pair's bits do not depend on its place in the list") {
        Random random(12);
        const ContactLaw law{1e4, 20.0, 3e3, 10.0, 0.4};
        Contacts c(random, 9);
        relative_poses(c.bodies.data(), c.pairs.data(), 9, c.poses.data());
        const std::vector<Spring> before = c.springs;
        pair_forces(c.bodies.data(), c.pairs.data(), c.index.data(), 9, c.poses.data(), c.values.data(), law, 1e-3,
                    c.springs.data(), c.forces.data());
        for (std::size_t k = 0; k < 9; ++k) {
            CAPTURE(k);
            Relative pose;
            relative_poses(c.bodies.data(), c.pairs.data() + k, 1, &pose);
            CHECK(pose.x == c.poses[k].x);
            CHECK(pose.y == c.poses[k].y);
            std::vector<Spring> springs = before;
            std::vector<PairForce> forces(9);
            pair_forces(c.bodies.data(), c.pairs.data(), c.index.data() + k, 1, &pose, &c.values[k], law, 1e-3,
                        springs.data(), forces.data());
            CHECK(forces[k].fx == c.forces[k].fx);
            CHECK(forces[k].fy == c.forces[k].fy);
            CHECK(forces[k].torque_a == c.forces[k].torque_a);
            CHECK(forces[k].torque_b == c.forces[k].torque_b);
            CHECK(springs[k].stretch == c.springs[k].stretch);
            for (std::size_t other = 0; other < 9; ++other) {
                if (other != k) CHECK(springs[other].stretch == before[other].stretch);
            }
        }
    }
}
