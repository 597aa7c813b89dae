// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "farfield/base/random.hpp"
#include "farfield/grains/system.hpp"

using namespace farfield;
using namespace farfield::grains;

namespace {

/// Displacement down an incline of 16 degrees after 4 s, and the speed then. Gravity is turned instead of the plane.
std::array<double, 2> slide(double mu, double smoothing) {
    const GrainShape block = block_shape(1.0, 0.5);
    const double slope = 16.0 * std::numbers::pi / 180.0;
    SystemOptions options;
    options.gravity = 9.81 * Eigen::Vector2d(std::sin(slope), -std::cos(slope));
    options.density = 1.0 / block.area;
    options.dt = 1e-3;
    options.smoothing = smoothing;
    options.law = {.normal_stiffness = 1e5,
                   .normal_damping = 2.0 * 0.35 * std::sqrt(1e5),
                   .tangent_stiffness = 2e5 / 7.0,
                   .tangent_damping = 0.35 * std::sqrt(1e5),
                   .friction = mu};
    System system({block}, {{make_exact_map(block, block)}}, options);
    system.add_wall({.normal = {0.0, 1.0}, .friction = mu});
    system.add_grain({.y = 0.25});
    (void)system.run(4000);
    const SystemState state = system.state();
    return {state.poses(0, 0), std::hypot(state.velocities(0, 0), state.velocities(0, 1))};
}

}  // namespace

TEST_SUITE("grains") {
    TEST_CASE("grains wall: gradients by differences, inside and outside") {
        Random random(2);
        const GrainShape star = library_shape("star"), link = library_shape("link");
        const std::array<Wall, 3> walls{Wall{.normal = {0.6, 0.8}, .offset = -0.4},
                                        Wall{.kind = WallKind::Disc, .centre = {0.3, 0.2}, .radius = 0.7},
                                        Wall{.kind = WallKind::Container, .centre = {0.1, -0.1}, .radius = 1.6}};
        for (const Wall& wall : walls) {
            int checked = 0;
            for (int k = 0; k < 300; ++k) {
                const GrainShape& shape = k % 2 == 0 ? star : link;
                Body body;
                body.x = uniform(random, -1.2, 1.2);
                body.y = uniform(random, -1.2, 1.2);
                body.set_angle(uniform(random, -3.0, 3.0));
                const WallContact here = wall_contact(wall, shape, body, 0.01);
                CHECK(circle_distance(wall, body.x, body.y, shape.radius) <= here.distance + 8.0 * 0.01);
                if (here.distance >= -1e-3) continue;
                const auto slope = [&](double dx, double dy, double dt) {
                    const auto at = [&](double h) {
                        Body moved = body;
                        moved.x += h * dx;
                        moved.y += h * dy;
                        moved.set_angle(body.theta + h * dt);
                        return wall_contact(wall, shape, moved, 0.01).distance;
                    };
                    return (at(1e-6) - at(-1e-6)) / 2e-6;
                };
                const double x = slope(1, 0, 0), y = slope(0, 1, 0), t = slope(0, 0, 1);
                if (wall.kind == WallKind::Disc && std::abs(std::hypot(x, y) - 1.0) > 1e-4) continue;  // across a kink
                CHECK(here.g_x == doctest::Approx(x).epsilon(1e-5));
                CHECK(here.g_y == doctest::Approx(y).epsilon(1e-5));
                CHECK(here.g_theta == doctest::Approx(t).epsilon(1e-4));
                ++checked;
            }
            CHECK(checked > 40);
        }
    }

    TEST_CASE("grains wall: a block on an incline slides below tan 16 degrees and holds above") {
        const auto [ran, speed] = slide(0.28, 1e-3);
        const double angle = 16.0 * std::numbers::pi / 180.0;
        CHECK(ran == doctest::Approx(0.5 * 9.81 * (std::sin(angle) - 0.28 * std::cos(angle)) * 16.0).epsilon(0.15));
        for (const double mu : {0.30, 0.32}) {
            const auto [crept, late] = slide(mu, 1e-3);
            CHECK(crept < 0.005);
            CHECK(late < 1e-6);
            // The plain minimum over corners creeps: this is what the smoothing is for.
            CHECK(slide(mu, 0.0)[0] > 0.02);
        }
    }
}
