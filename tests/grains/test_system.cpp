// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/system.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "farfield/base/random.hpp"
#include "farfield/grains/table_map.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::contains;
using farfield::testing::error_of;

namespace {

using Maps = std::vector<std::vector<std::shared_ptr<const ContactMap>>>;

std::shared_ptr<const ContactMap> table_of(const GrainShape& a, const GrainShape& b) {
    ThreadPool pool(1);
    return make_table_map(std::make_shared<const Table>(build_table(a, b, {.theta = 64, .space = 64}, pool)), a, b);
}

/// L grains with a shared table, made once.
const std::shared_ptr<const ContactMap>& l_map() {
    static const std::shared_ptr<const ContactMap> map = table_of(library_shape("L"), library_shape("L"));
    return map;
}

System l_system(const SystemOptions& options) { return System({library_shape("L")}, Maps{{l_map()}}, options); }

/// A box of loose L grains above a floor, between two walls.
System pile(int columns, int rows, int threads) {
    const GrainShape l = library_shape("L");
    SystemOptions options;
    options.law = default_law({.mass = l.area, .layers = static_cast<double>(rows), .friction = 0.4, .depth = 0.02});
    options.threads = threads;
    System system = l_system(options);
    const double width = 2.2 * columns;
    system.add_wall({.normal = {0.0, 1.0}, .offset = 0.0});
    system.add_wall({.normal = {1.0, 0.0}, .offset = 0.0});
    system.add_wall({.normal = {-1.0, 0.0}, .offset = -width});
    Random random(7);
    for (int row = 0; row < rows; ++row) {
        for (int column = 0; column < columns; ++column) {
            system.add_grain({.x = 1.1 + 2.2 * column,
                              .y = 1.1 + 2.2 * row,
                              .theta = uniform(random, -3.0, 3.0),
                              .vx = uniform(random, -1.0, 1.0),
                              .vy = -4.0});
        }
    }
    return system;
}

}  // namespace

TEST_SUITE("grains") {
    TEST_CASE("grains system: a free collision keeps momentum and never gains energy") {
        for (const bool exact : {false, true}) {
            CAPTURE(exact);
            const GrainShape l = library_shape("L");
            SystemOptions options;
            options.gravity.setZero();
            options.law =
                default_law({.mass = l.area, .layers = 0.0, .speed = 2.0, .restitution = 0.5, .friction = 0.5});
            System system({l}, Maps{{exact ? make_exact_map(l, l) : l_map()}}, options);
            system.add_grain({.x = -1.2, .y = 0.1, .theta = 0.3, .vx = 1.0, .vy = 0.1, .omega = 0.5});
            system.add_grain({.x = 1.2, .y = -0.2, .theta = 2.1, .vx = -1.0, .vy = 0.2, .omega = -0.7});
            const Audit before = system.audit();
            double energy = before.kinetic + before.elastic, most = 0.0;
            int contacts = 0;
            for (int k = 0; k < 400; ++k) {
                REQUIRE(system.run(static_cast<int>(0.005 / system.dt())) == RunStatus::Done);
                const Audit now = system.audit();
                contacts += now.contacts;
                most = std::max(most, (now.kinetic + now.elastic) / energy - 1.0);
                energy = now.kinetic + now.elastic;
                CHECK(std::abs(now.momentum_x - before.momentum_x) < 1e-12);
                CHECK(std::abs(now.momentum_y - before.momentum_y) < 1e-12);
                CHECK(std::abs(now.angular_momentum - before.angular_momentum) < 1e-12);
            }
            const Audit after = system.audit();
            CHECK(contacts > 2);
            CHECK(after.contacts == 0);
            CHECK(after.kinetic < 0.99 * before.kinetic);
            CHECK(after.kinetic > 0.05 * before.kinetic);
            MESSAGE("largest relative energy gain between audits: " << most);
            CHECK(most < 1e-6);
        }
    }

    TEST_CASE("grains system: kinetic plus elastic energy of a collision rises in no step") {
        const GrainShape l = library_shape("L");
        for (const bool exact : {false, true}) {
            for (const double friction : {0.0, 0.5}) {
                CAPTURE(exact);
                CAPTURE(friction);
                SystemOptions options;
                options.gravity.setZero();
                options.law = default_law(
                    {.mass = l.area, .layers = 0.0, .speed = 2.0, .restitution = 0.5, .friction = friction});
                System system({l}, Maps{{exact ? make_exact_map(l, l) : l_map()}}, options);
                system.add_grain({.x = -0.75, .y = 0.1, .theta = 0.3, .vx = 1.0, .vy = 0.1, .omega = 0.5});
                system.add_grain({.x = 0.75, .y = -0.2, .theta = 2.1, .vx = -1.0, .vy = 0.2, .omega = -0.7});
                const Audit start = system.audit();
                const double first = start.kinetic + start.elastic;
                double lowest = first, rise = 0.0;
                int contacts = 0;
                for (int k = 0; k < static_cast<int>(0.6 / system.dt()); ++k) {
                    REQUIRE(system.run(1) == RunStatus::Done);
                    const Audit now = system.audit();
                    const double energy = now.kinetic + now.elastic;
                    rise = std::max(rise, (energy - lowest) / first);
                    lowest = std::min(lowest, energy);
                    contacts += now.contacts;
                }
                MESSAGE("largest rise above the lowest energy so far " << rise << ", left " << lowest / first);
                CHECK(contacts > 50);
                CHECK(system.audit().contacts == 0);
                CHECK(rise < 1e-6);
                CHECK(lowest < 0.95 * first);
            }
        }
    }

    TEST_CASE("grains system: an audit changes nothing, and a throw keeps its energy") {
        System watched = pile(4, 4, 1), alone = pile(4, 4, 1);
        for (int k = 0; k < 800; ++k) {
            REQUIRE(watched.run(1) == RunStatus::Done);
            (void)watched.audit();
        }
        REQUIRE(alone.run(800) == RunStatus::Done);
        CHECK(watched.state().springs.rows() > 5);
        CHECK(watched.state().poses == alone.state().poses);
        CHECK(watched.state().springs == alone.state().springs);
        CHECK(watched.state().wall_springs == alone.state().wall_springs);
        System thrown = l_system({});
        thrown.add_grain({.vx = 3.0, .vy = 4.0, .omega = 5.0});
        const Audit before = thrown.audit();
        REQUIRE(thrown.run(static_cast<int>(0.5 / thrown.dt())) == RunStatus::Done);
        const Audit after = thrown.audit();
        CHECK(after.gravitational > before.gravitational + 1.0);
        CHECK(after.kinetic + after.gravitational ==
              doctest::Approx(before.kinetic + before.gravitational).epsilon(1e-11));
    }

    TEST_CASE("grains system: an undamped frictionless hit conserves energy") {
        const GrainShape l = library_shape("L");
        SystemOptions options;
        options.gravity.setZero();
        options.law = {.normal_stiffness = 1e4, .friction = 0.0};
        options.dt = 2e-5;
        System system = l_system(options);
        system.add_grain({.x = -1.2, .theta = 0.3, .vx = 1.0, .omega = 0.5});
        system.add_grain({.x = 1.2, .y = -0.2, .theta = 2.1, .vx = -1.0});
        const double before = system.audit().kinetic;
        double least = before;
        for (int k = 0; k < 40; ++k) {
            REQUIRE(system.run(2500) == RunStatus::Done);
            least = std::min(least, system.audit().kinetic);
        }
        CHECK(system.audit().contacts == 0);
        CHECK(system.audit().kinetic == doctest::Approx(before).epsilon(1e-4));
        // It did collide: velocities changed.
        CHECK(std::abs(system.state().velocities(0, 0) - 1.0) > 0.1);
    }

    TEST_CASE("grains system: same bits for one and two threads, and for a resumed run [threads]") {
        System one = pile(8, 8, 1), two = pile(8, 8, 2);
        REQUIRE(one.run(1500) == RunStatus::Done);
        const SystemState middle = one.state();
        REQUIRE(one.run(1500) == RunStatus::Done);
        REQUIRE(two.run(3000) == RunStatus::Done);
        const SystemState a = one.state(), b = two.state();
        CHECK(a.springs.rows() > 40);
        CHECK(a.poses == b.poses);
        CHECK(a.velocities == b.velocities);
        CHECK(a.springs == b.springs);
        CHECK(a.wall_springs == b.wall_springs);
        System resumed = pile(8, 8, 2);
        resumed.set_state(middle);
        REQUIRE(resumed.run(1500) == RunStatus::Done);
        const SystemState c = resumed.state();
        CHECK(c.steps == a.steps);
        CHECK(c.poses == a.poses);
        CHECK(c.velocities == a.velocities);
        CHECK(c.contacts == a.contacts);
    }

    TEST_CASE("grains system: a driven grain carries others and reports its load") {
        const GrainShape block = block_shape(2.0, 1.0);
        SystemOptions options;
        options.law = default_law({.mass = block.area, .radius = block.radius, .layers = 5.0, .friction = 0.8});
        System system({block_shape(8.0, 1.0), block},
                      Maps{{make_exact_map(block, block), make_exact_map(block_shape(8.0, 1.0), block)},
                           {nullptr, make_exact_map(block, block)}},
                      options);
        const int belt = system.add_motion({});
        system.add_grain({.shape = 0, .motion = belt});
        system.add_grain({.shape = 1, .x = 0.0, .y = 1.0});
        REQUIRE(system.run(static_cast<int>(2.0 / system.dt())) == RunStatus::Done);
        Wrench load = system.reaction(belt);
        CHECK(load.fy == doctest::Approx(-9.81 * block.area).epsilon(0.02));
        system.set_motion(belt, {.velocity = {0.3, 0.0}});
        REQUIRE(system.run(static_cast<int>(2.0 / system.dt())) == RunStatus::Done);
        CHECK(system.state().velocities(1, 0) == doctest::Approx(0.3).epsilon(0.05));
        CHECK(system.motion(belt).pivot.x() == doctest::Approx(0.6).epsilon(1e-3));
    }

    TEST_CASE("grains system: walls that move, appear or are left behind are met in time") {
        System system = l_system({.gravity = {0.0, 0.0}});
        const int piston = system.add_wall({.normal = {1.0, 0.0}, .offset = -6.0, .velocity = {2.0, 0.0}});
        Wall stop{.normal = {-1.0, 0.0}, .offset = -4.0, .enabled = false};
        const int gate = system.add_wall(stop);
        system.add_grain({});
        const auto seconds = [&](double time) { return system.run(static_cast<int>(time / system.dt())); };
        REQUIRE(seconds(2.0) == RunStatus::Done);
        CHECK(system.state().poses(0, 0) == 0.0);  // not yet
        REQUIRE(seconds(1.2) == RunStatus::Done);  // the piston has hit
        CHECK(system.state().velocities(0, 0) > 1.0);
        Wall still = system.wall(piston);
        still.velocity.setZero();
        system.set_wall(piston, still);
        stop.enabled = true;
        system.set_wall(gate, stop);
        double farthest = 0.0;
        for (int k = 0; k < 300; ++k) {
            REQUIRE(seconds(0.01) == RunStatus::Done);
            farthest = std::max(farthest, system.state().poses(0, 0));
        }
        CHECK(farthest > 2.0);
        CHECK(farthest < 4.0);
        CHECK(system.state().velocities(0, 0) < 0.0);  // the gate turned it back
    }

    TEST_CASE("grains system: a grain that is taken out touches nothing") {
        System system = l_system({});
        system.add_grain({.x = 0.0, .y = 0.0, .vx = 1.0});
        system.add_grain({.x = 0.0, .y = 2.2});
        system.set_driver(0, kRemoved);
        REQUIRE(system.run(static_cast<int>(1.0 / system.dt())) == RunStatus::Done);
        const SystemState state = system.state();
        CHECK(state.poses.row(0).norm() == 0.0);
        CHECK(state.velocities.row(0).norm() == 0.0);
        CHECK(state.velocities(1, 1) == doctest::Approx(-9.81).epsilon(1e-3));  // fell through it
        CHECK(system.audit().contacts == 0);
        system.set_driver(0, kFree);
        REQUIRE(system.run(10) == RunStatus::Done);
        CHECK(system.state().velocities(0, 1) < 0.0);
    }

    TEST_CASE("grains system: a pile of 1000 grains comes to rest [long]") {
        System system = pile(20, 50, 2);
        REQUIRE(system.run(static_cast<int>(25.0 / system.dt())) == RunStatus::Done);
        const Audit audit = system.audit();
        MESSAGE("kinetic energy per grain " << audit.kinetic / 1000.0 << ", deepest " << audit.deepest);
        CHECK(audit.kinetic / 1000.0 < 1e-3);
        CHECK(audit.contacts > 1000);
        CHECK(audit.deepest < 0.05);
    }

    TEST_CASE("grains system: bad starts and options are named") {
        const GrainShape l = library_shape("L");
        const auto said = [&](const SystemOptions& options) { return error_of([&] { (void)l_system(options); }); };
        CHECK(contains(said({.dt = 1.0}), "dt 1 is unstable, expected below"));
        CHECK(contains(said({.dt = -1.0}), "dt -1, expected > 0"));
        CHECK(contains(said({.law = {.normal_stiffness = -5.0}}), "normal_stiffness -5"));
        CHECK(contains(said({.law = {.friction = std::numeric_limits<double>::quiet_NaN()}}), "friction nan"));
        CHECK(contains(said({.density = 0.0}), "density 0"));
        const double nan = std::numeric_limits<double>::quiet_NaN();
        CHECK(contains(said({.gravity = {0.0, nan}}), "gravity is not finite"));
        CHECK(contains(said({.dt = nan}), "dt nan"));
        CHECK(contains(said({.density = nan}), "density nan"));
        CHECK(contains(said({.skin = std::numeric_limits<double>::infinity()}), "skin inf"));
        CHECK(contains(said({.start_depth = nan}), "start_depth nan"));
        // A run that blows up says so instead of going on with coordinates that are not finite.
        System blown = l_system({});
        blown.add_grain({.vx = 1.7e308, .omega = 1.7e308});
        CHECK(blown.run(1000000) == RunStatus::NonFinite);

        System overlapping = l_system({});
        overlapping.add_grain({});
        overlapping.add_grain({.x = 5.0});
        overlapping.add_grain({.x = 5.3, .theta = 1.0});
        CHECK(contains(error_of([&] { overlapping.run(1); }), "grains 1 ('L') and 2 ('L') overlap by 0."));
        System system = l_system({});
        CHECK(contains(error_of([&] { system.add_grain({.x = std::numeric_limits<double>::quiet_NaN()}); }),
                       "grain 0: pose or velocity is not finite"));
        CHECK(contains(error_of([&] { system.add_grain({.shape = 1}); }), "shape 1, expected 0 to 0"));
        CHECK(contains(error_of([&] { system.add_wall({.normal = {1.0, 1.0}}); }), "expected a unit vector"));
        System mapless({l, library_shape("U")}, Maps{{l_map(), nullptr}, {nullptr, nullptr}}, {});
        mapless.add_grain({.shape = 0});
        mapless.add_grain({.shape = 1, .x = 4.0});
        CHECK(contains(error_of([&] { mapless.run(1); }), "no contact map for shapes 'L' and 'U'"));
        // Two shapes that are never free need no map, until one is set free.
        System driven({l, library_shape("U")}, Maps{{l_map(), nullptr}, {nullptr, nullptr}}, {});
        const int still = driven.add_motion({});
        driven.add_grain({.shape = 0, .motion = still});
        driven.add_grain({.shape = 1, .x = 4.0, .motion = still});
        CHECK(driven.run(1) == RunStatus::Done);
        driven.set_driver(1, kFree);
        CHECK(contains(error_of([&] { driven.run(1); }), "no contact map for shapes 'L' and 'U'"));
        system.add_grain({});
        SystemState state = system.state();
        state.poses(0, 0) = std::numeric_limits<double>::infinity();
        CHECK(contains(error_of([&] { system.set_state(state); }), "not finite"));
        state = system.state();
        state.poses.resize(3, 3);
        CHECK(contains(error_of([&] { system.set_state(state); }), "3 rows of poses, expected 1"));
    }
}
