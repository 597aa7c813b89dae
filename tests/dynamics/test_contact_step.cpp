// SPDX-License-Identifier: Apache-2.0
/// @file  Whole steps under long-range contact: nothing passes through anything, rest is not disturbed, friction and momentum are right.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "farfield/dynamics/implicit_step.hpp"
#include "support/contact_rollouts.hpp"
#include "support/error_text.hpp"
#include "support/motion.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kRounds = 10;

/// Bodies that must not pass each other. `kept`: a property of the poses that only passing through can change, so it also tells what
/// happened between two states.
struct HardCase {
    std::string name;
    Scene scene;
    double dt = 0.01;
    int steps = 5;
    double distance = 0.0, angle = 0.0;  // jitter
    std::function<void(Random&, State&)> throw_bodies;
    std::function<bool(const Poses&)> kept;
};

Scene floating(const TriangleMesh& a, const Vector3d& at_a, const TriangleMesh& b, const Vector3d& at_b) {
    Scene scene;
    scene.gravity.setZero();
    add_free_mesh(scene, "first", a, at_a);
    add_free_mesh(scene, "second", b, at_b);
    return scene;
}

/// The same, so heavy in rotation that the bodies cannot turn out of each other's way, which a long step does rather than stop.
Scene floating_straight(const TriangleMesh& a, const Vector3d& at_a, const TriangleMesh& b, const Vector3d& at_b) {
    Scene scene = floating(a, at_a, b, at_b);
    for (std::size_t i : {1, 2}) scene.bodies[i].moments->second = 1e4 * Eigen::Matrix3d::Identity();
    return scene;
}

/// How often the circle of b (radius 1/2 about its z axis) passes through the disc of a; odd means linked.
bool linked(const Poses& poses) {
    constexpr int kSides = 48;
    int through = 0;
    const auto point = [&](int k) {
        const double u = 2.0 * std::numbers::pi * k / kSides;
        return poses[1].inverse() * (poses[2] * Vector3d(0.5 * std::cos(u), 0.5 * std::sin(u), 0.0));
    };
    for (int k = 0; k < kSides; ++k) {
        const Vector3d p = point(k), q = point(k + 1);
        if ((p.z() > 0.0) == (q.z() > 0.0)) continue;
        const Vector3d x = p + (q - p) * (p.z() / (p.z() - q.z()));
        if (x.head<2>().norm() < 0.5) ++through;
    }
    return through % 2 == 1;
}

const TriangleMesh& thin_plate() {
    static const TriangleMesh plate = make_box({0.5, 0.4, 5e-4});
    return plate;
}

Scene light_plates() {
    Scene scene = floating(thin_plate(), Vector3d::Zero(), thin_plate(), {0.0, 0.0, 0.4});
    for (std::size_t i : {1, 2}) scene.bodies[i].moments = box_moments({0.5, 0.4, 5e-4}, 1250.0);
    return scene;
}

void throw_at_each_other(Random&, State& s) { s.v[2] = 30.0, s.v[8] = -30.0; }

bool above(const Poses& p) { return (p[1].inverse() * p[2].position).z() > 0.0; }
/// Plates that have bounced slide off each other: beyond the edge of the first the centre of the second may sink.
bool above_or_beyond_the_edge(const Poses& p) {
    const Vector3d x = p[1].inverse() * p[2].position;
    return x.z() > 0.0 || std::abs(x.x()) > 0.5 || std::abs(x.y()) > 0.4;
}

std::vector<HardCase> hard_cases() {
    std::vector<HardCase> cases;
    const TriangleMesh& plate = thin_plate();
    cases.push_back({.name = "plates that turn easily",
                     .scene = light_plates(),
                     .distance = 0.03,
                     .angle = 0.05,
                     .throw_bodies = throw_at_each_other,
                     .kept = above});
    for (const double dt : {0.01, 0.04}) {
        cases.push_back({.name = "plates at 60 m/s, dt " + std::to_string(dt),
                         .scene = floating_straight(plate, Vector3d::Zero(), plate, {0.0, 0.0, 0.4}),
                         .dt = dt,
                         .steps = 4,
                         .distance = 0.03,
                         .angle = 0.05,
                         .throw_bodies = throw_at_each_other,
                         .kept = above_or_beyond_the_edge});
    }
    cases.push_back({.name = "a bead too large for a ring",
                     .scene = floating_straight(test::make_torus(0.5, 0.1, 8, 4), Vector3d::Zero(),
                                                make_sphere(0.45, 1), {0.0, 0.0, 0.7}),
                     .dt = 0.02,
                     .steps = 3,
                     .distance = 0.02,
                     .angle = 0.3,
                     .throw_bodies = [](Random&, State& s) { s.v[8] = -40.0; },
                     .kept =
                         [](const Poses& p) {
                             const Vector3d x = p[1].inverse() * p[2].position;
                             return x.z() > 0.0 || x.head<2>().norm() > 0.5;
                         }});
    cases.push_back(
        {.name = "a bead through a ring",
         .scene = floating(test::make_torus(0.5, 0.1, 8, 4), Vector3d::Zero(), make_sphere(0.3, 0), {0.0, 0.0, 0.7}),
         .dt = 0.01,
         .steps = 5,
         .distance = 0.04,
         .angle = 0.2,
         .throw_bodies = [](Random&, State& s) { s.v[8] = -30.0; },
         .kept = [](const Poses&) { return true; }});
    cases.push_back({.name = "linked rings",
                     .scene = floating(test::make_torus(0.5, 0.08, 8, 4), Vector3d::Zero(),
                                       test::make_torus(0.5, 0.08, 8, 4), {0.5, 0.0, 0.0}),
                     .dt = 0.02,
                     .steps = 4,
                     .distance = 0.02,
                     .angle = 0.1,
                     .throw_bodies =
                         [](Random& random, State& s) {
                             s.q.segment<4>(10) =
                                 quaternion_from_rotation(exp_rotation({0.5 * std::numbers::pi, 0.0, 0.0}) *
                                                          rotation_from_quaternion(s.q.segment<4>(10)));
                             s.v.segment<3>(6) = 40.0 * unit_vector(random);
                         },
                     .kept = linked});
    cases.push_back(
        {.name = "nested shells",
         .scene = floating(make_hollow_ball(0.5, 0.4, 0), Vector3d::Zero(), make_sphere(0.2, 0), Vector3d::Zero()),
         .dt = 0.02,
         .steps = 4,
         .distance = 0.02,
         .angle = 1.0,
         .throw_bodies = [](Random& random, State& s) { s.v.segment<3>(6) = 60.0 * unit_vector(random); },
         .kept = [](const Poses& p) { return (p[1].position - p[2].position).norm() < 0.4; }});
    // The right wall of the first stands in the slot of the second, upside down, whose left wall stands in the slot of the first.
    cases.push_back({.name = "interlocked channels",
                     .scene = floating_straight(test::make_channel(0.3, 0.4, 0.05, 0.3), Vector3d::Zero(),
                                                test::make_channel(0.3, 0.4, 0.05, 0.3), {0.3, 0.0, 0.5}),
                     .dt = 0.02,
                     .steps = 3,
                     .distance = 0.01,
                     .angle = 0.02,
                     .throw_bodies =
                         [](Random&, State& s) {
                             s.q.segment<4>(10) =
                                 quaternion_from_rotation(exp_rotation({0.0, std::numbers::pi, 0.0}) *
                                                          rotation_from_quaternion(s.q.segment<4>(10)));
                             s.v[0] = -20.0, s.v[6] = 20.0;
                         },
                     .kept = [](const Poses& p) {  // the tip of the wall stays in the slot it is in
                         const Vector3d tip = p[1].inverse() * (p[2] * Vector3d(0.275, 0.0, 0.4));
                         return std::abs(tip.x()) < 0.3 || tip.z() > 0.4;
                     }});
    return cases;
}

/// Rounds in which `kept` was lost or a state intersects.
struct Outcome {
    int lost = 0, intersecting = 0, stopped = 0, touched = 0;
    std::string why{};
};

Outcome run(const HardCase& hard, bool with_filter) {
    const auto model = build_model(hard.scene);
    ContactSetup contact = long_range(*model);
    const auto filter = contact.filter;
    if (!with_filter) contact.filter = nullptr;
    Parameters parameters = model->default_parameters();
    parameters.friction.setZero();
    Outcome outcome;
    for (int round = 0; round < kRounds; ++round) {
        Random random(static_cast<std::uint64_t>(100 + round));
        State start = model->default_state();
        jitter(random, hard.distance, hard.angle, start);
        hard.throw_bodies(random, start);
        const Trajectory t = rollout(model, parameters, {.state0 = start, .controls = RowMatrix::Zero(hard.steps, 0)},
                                     {.dt = hard.dt, .tolerance = 1e-6}, contact);
        bool lost = false, intersecting = false;
        for (int step = 0; step <= t.num_steps(); ++step) {
            const Poses poses = poses_of(t, step);
            lost = lost || !hard.kept(poses);
            intersecting = intersecting || filter->find_intersection(poses).has_value();
        }
        for (const StepReport& report : t.reports) {
            if (with_filter) CHECK(report.min_gap > 0.0);
            CHECK(std::isfinite(report.residual));
        }
        outcome.lost += lost;
        outcome.intersecting += intersecting;
        if (!t.converged()) {
            ++outcome.stopped;
            outcome.why += std::string(" ") + to_string(t.reports.back().status);
        }
        outcome.touched += (t.v.bottomRows(1) - t.v.topRows(1)).norm() > 1.0;
    }
    return outcome;
}

TEST_CASE("contact step: a body that would go around another within a step takes it in pieces") {
    // In a step of 2.4 m plates of 1 m that press against each other are no minimum of the incremental potential any more.
    const auto model = build_model(light_plates());
    const ContactSetup contact = long_range(*model);
    const Parameters parameters = model->default_parameters();
    for (const double dt : {0.02, 0.03, 0.04}) {
        const StepContext context{*model, parameters, contact.potential.get(), contact.filter.get(), {.dt = dt}};
        int kept = 0, around = 0, cut = 0;
        for (int round = 0; round < kRounds; ++round) {
            Random random(static_cast<std::uint64_t>(100 + round));
            State start = model->default_state();
            jitter(random, 0.03, 0.05, start);
            throw_at_each_other(random, start);
            const Trajectory t =
                rollout(model, model->default_parameters(), {.state0 = start, .controls = RowMatrix::Zero(1, 0)},
                        {.dt = dt, .tolerance = 1e-6}, contact);
            REQUIRE(t.converged());
            kept += above(poses_of(t, 1)) && !t.reports[0].detour;
            cut += t.reports[0].pieces > 1;
            StepMemory memory = make_memory(context);
            StepScratch scratch;
            State next;
            const StepReport whole = implicit_step(context, start, {}, memory, scratch, next);
            around += whole.status == StepStatus::Converged && whole.detour;
        }
        MESSAGE("dt " << dt << ": " << kept << " stay apart, " << cut << " in pieces, " << around
                      << " whole steps lead around, of " << kRounds);
        CHECK(kept == kRounds);
        CHECK(cut >= around);
        if (dt > 0.02) CHECK(around > 0);
    }
}

TEST_CASE("contact step: a detour is avoided in scenes with a scripted body, too") {
    Scene scene = light_plates();
    add_free_mesh(scene, "bystander", make_sphere(0.1, 0), {5.0, 0.0, 0.0});
    scene.bodies.back().motion = BodyMotion::Kinematic;
    scene.bodies.back().joints.clear();
    const auto model = build_model(scene);
    const ContactSetup contact = long_range(*model);
    int cut = 0;
    for (int round = 0; round < kRounds; ++round) {
        Random random(static_cast<std::uint64_t>(100 + round));
        State start = model->default_state();
        jitter(random, 0.03, 0.05, start);
        throw_at_each_other(random, start);
        const Trajectory t =
            rollout(model, model->default_parameters(), {.state0 = start, .controls = RowMatrix::Zero(1, 0)},
                    {.dt = 0.03, .tolerance = 1e-6}, contact);
        REQUIRE(t.converged());
        CHECK(above(poses_of(t, 1)));
        CHECK_FALSE(t.reports[0].detour);
        cut += t.reports[0].pieces > 1;
    }
    CHECK(cut > 0);
}

TEST_CASE("contact step: a scripted body that moves far pushes what it meets before it") {
    Scene scene = light_plates();
    scene.bodies[1].motion = BodyMotion::Kinematic;
    scene.bodies[1].joints.clear();
    const auto model = build_model(scene);
    const ContactSetup contact = long_range(*model);
    int arrived = 0;
    for (int round = 0; round < kRounds; ++round) {
        Random random(static_cast<std::uint64_t>(100 + round));
        State start = model->default_state();
        jitter(random, 0.03, 0.05, start);
        RowMatrix script = start.q.head<7>().transpose();
        script(0, 2) += 1.5;
        const Trajectory t = rollout(model, model->default_parameters(),
                                     {.state0 = start, .controls = RowMatrix::Zero(1, 0), .script = script},
                                     {.dt = 0.04, .tolerance = 1e-6}, contact);
        if (!t.converged()) continue;
        ++arrived;
        CHECK((t.q.row(1).head<7>() - script).norm() < 1e-12);
        CHECK((above(poses_of(t, 1)) || t.reports[0].detour));
    }
    CHECK(arrived >= kRounds - 1);
}

TEST_CASE("contact step: after a step its problem is that of the step") {
    Scene scene = light_plates();
    for (std::size_t i : {1, 2}) scene.bodies[i].joints[0].damping = 1e-3;  // energies depend on the start
    const auto model = build_model(scene);
    const ContactSetup contact = long_range(*model);
    const Parameters parameters = model->default_parameters();
    const StepContext context{
        *model, parameters, contact.potential.get(), contact.filter.get(), {.dt = 0.02, .tolerance = 1e-6}};
    for (int round = 0; round < kRounds; ++round) {
        Random random(static_cast<std::uint64_t>(100 + round));
        State now = model->default_state(), next;
        jitter(random, 0.03, 0.05, now);
        throw_at_each_other(random, now);
        StepMemory memory = make_memory(context), fresh = make_memory(context);
        StepScratch scratch;
        (void)implicit_step(context, now, {}, memory, scratch, next);
        StepProblem problem;
        problem.begin(context, now, {}, fresh);
        CHECK(scratch.problem.energy(next.q) == doctest::Approx(problem.energy(next.q)).epsilon(1e-9));
    }
}

TEST_CASE("contact step: nothing passes through anything") {
    for (const HardCase& hard : hard_cases()) {
        CAPTURE(hard.name);
        const Outcome outcome = run(hard, true);
        CHECK(outcome.lost == 0);
        CHECK(outcome.intersecting == 0);
        if (outcome.stopped) MESSAGE(hard.name, ": ", outcome.stopped, " of ", kRounds, " stopped:", outcome.why);
        CHECK(outcome.stopped <= 1);  // 0 here; where the last digits of a scene differ, one may need more iterations
        CHECK(outcome.touched > 0);   // else the case would not test anything
    }
}

TEST_CASE("contact step: without the filter fast plates do pass each other") {
    const Outcome outcome = run(hard_cases()[1], false);
    CHECK(outcome.lost + outcome.intersecting + outcome.stopped > 0);
}

TEST_CASE("contact step: a start that intersects is refused, naming both bodies and the place") {
    const auto refused = [](const Scene& scene) {
        const auto model = build_model(scene);
        return error_of([&] {
            (void)rollout(model, model->default_parameters(),
                          {.state0 = model->default_state(), .controls = RowMatrix::Zero(1, 0)}, {},
                          long_range(*model));
        });
    };
    const TriangleMesh box = make_box(Vector3d::Constant(0.1));
    const std::string crossing = refused(floating(box, {3.0, 0.0, 0.0}, box, {3.15, 0.02, 0.01}));
    CAPTURE(crossing);
    CHECK(contains(crossing, "'first' and 'second' intersect at (3."));
    // surfaces meet surfaces: a closed shell inside another is a legal start
    CHECK(refused(floating(make_sphere(0.5), {0.0, 2.0, 0.0}, make_sphere(0.2), {0.0, 2.1, 0.0})).empty());
    CHECK(refused(floating(box, {3.0, 0.0, 0.0}, box, {3.21, 0.02, 0.01})).empty());
}

/// Of 50 steps of boxes on the ground and on each other, those of which every Newton step kept its full length.
int full_steps(double speed, double friction) {
    Scene scene;
    add_ground(scene);
    add_free_box(scene, "below", {0.1, 0.1, 0.05}, 1.0, {0.0, 0.0, 0.051});
    add_free_box(scene, "above", {0.08, 0.08, 0.05}, 0.7, {0.01, 0.0, 0.153});
    add_free_box(scene, "beside", {0.05, 0.1, 0.05}, 0.5, {0.4, 0.02, 0.051});
    const auto model = build_model(scene);
    const ContactSetup contact = long_range(*model);
    Parameters parameters = model->default_parameters();
    parameters.friction.setConstant(friction);
    const auto roll = [&](const State& start, int steps) {
        const Trajectory t = rollout(model, parameters, {.state0 = start, .controls = RowMatrix::Zero(steps, 0)},
                                     {.tolerance = 1e-6}, contact);
        REQUIRE(t.converged());
        return t;
    };
    State start = roll(model->default_state(), 25).state(25);
    start.v[0] = start.v[6] = speed, start.v[13] = -speed;
    const Trajectory t = roll(start, 50);
    int full = 0;
    for (const StepReport& report : t.reports) full += report.shortest_step == 1.0;
    MESSAGE("full steps at ", speed, " m/s, friction ", friction, ": ", full, " of 50");
    if (speed > 0.0) CHECK(t.v.row(50).norm() > 0.5 * speed);  // still sliding
    return full;
}

TEST_CASE("contact step: resting boxes keep their full steps") { CHECK(full_steps(0.0, 0.5) == 50); }

TEST_CASE("contact step: sliding boxes keep their full steps") { CHECK(full_steps(1.0, 0.05) == 50); }

/// Speed down an incline of slope `tan` after `seconds`, of a 1 kg box that starts at rest; on a half-space or a square mesh.
double incline_speed(double tan, double seconds, bool mesh) {
    Scene scene;
    const Eigen::Quaterniond tilt(Eigen::AngleAxisd(std::atan(tan), Vector3d::UnitY()));
    if (mesh) {
        scene.meshes.push_back(test::make_sheet(2.0, 2.0));
        scene.shapes.push_back(Shape{
            .name = "incline", .body = 0, .type = ShapeType::Mesh, .orientation = tilt, .mesh = 0, .density = 0.0});
    } else {
        add_ground(scene, tilt);
    }
    add_free_box(scene, "box", {0.1, 0.1, 0.05}, 1.0, tilt * Vector3d(0.0, 0.0, 0.0503));
    scene.bodies.back().orientation = tilt;
    const auto model = build_model(scene);
    // Far forces carry a little of the weight without friction: less of it the smaller the stiffness.
    const ContactSetup contact = long_range(*model, {.stiffness = 0.05, .slip_speed = 1e-3});
    const auto roll = [&](const State& start, int steps, double friction) {
        Parameters parameters = model->default_parameters();
        parameters.friction.setConstant(friction);
        const Trajectory t = rollout(model, parameters, {.state0 = start, .controls = RowMatrix::Zero(steps, 0)},
                                     {.tolerance = 1e-7}, contact);
        REQUIRE(t.converged());
        return t.state(steps);
    };
    State settled = roll(model->default_state(), 30, 10.0);
    settled.v.setZero();
    return roll(settled, static_cast<int>(std::lround(seconds / 0.01)), 0.5).v.head<3>().dot(tilt * Vector3d::UnitX());
}

/// The same of a point: dv/dt = g cos (tan - friction v / sqrt(v^2 + slip^2)), implicit Euler with the same time step.
double point_speed(double tan, double seconds, double friction, double slip) {
    const double g = 9.81 * std::cos(std::atan(tan)), dt = 0.01;
    double v = 0.0;
    for (int step = 0; step < std::lround(seconds / dt); ++step) {
        const double start = v;
        for (int k = 0; k < 30; ++k) {
            const double psi = std::sqrt(v * v + slip * slip);
            v -= (v - start - dt * g * (tan - friction * v / psi)) /
                 (1.0 + dt * g * friction * slip * slip / (psi * psi * psi));
        }
    }
    return v;
}

TEST_CASE("contact step: Coulomb's threshold on an incline") {
    constexpr double kFriction = 0.5, kSlip = 1e-3;
    const double below = 0.99 * kFriction, above = 1.01 * kFriction;
    const double creep = kSlip * below / std::sqrt(kFriction * kFriction - below * below);
    const double crept = incline_speed(below, 1.0, false), slid = incline_speed(above, 1.0, false),
                 expected = point_speed(above, 1.0, kFriction, kSlip);
    MESSAGE("half-space: creep ", crept, " m/s, expected ", creep, "; slide ", slid, " m/s, expected ", expected);
    CHECK(std::abs(crept / creep - 1.0) < 0.01);
    CHECK(std::abs(slid / expected - 1.0) < 0.01);
    // A square of two triangles pushes unevenly, so the box takes seconds to come to rest on it.
    const double crept_mesh = incline_speed(below, 2.5, true),
                 gained = incline_speed(above, 2.0, true) - incline_speed(above, 1.0, true);
    const double expected_gain = point_speed(above, 2.0, kFriction, kSlip) - expected;
    MESSAGE("mesh: creep ", crept_mesh, " m/s; gain in a second ", gained, " m/s, expected ", expected_gain);
    CHECK(std::abs(crept_mesh / creep - 1.0) < 0.02);
    CHECK(std::abs(gained / expected_gain - 1.0) < 0.2);
    CHECK(std::abs(incline_speed(0.3, 0.5, false) / (kSlip * 0.3 / 0.4) - 1.0) < 0.01);
}

TEST_CASE("contact step: a collision in free space keeps momentum") {
    const auto model =
        build_model(floating(make_tetrahedron(0.2), Vector3d::Zero(), make_tetrahedron(0.2), {0.5, 0.05, 0.03}));
    const Parameters parameters = model->default_parameters();
    const ContactSetup contact = long_range(*model);
    State start = model->default_state();
    start.v << 1.0, 0.2, 0.0, 0.5, -0.3, 0.8, -1.0, 0.0, 0.1, -0.2, 0.6, 0.4;
    const Momenta before = momenta(*model, parameters, start);
    const auto after = [&](double dt) {
        const int steps = static_cast<int>(std::lround(0.4 / dt));
        const Trajectory t = rollout(model, parameters, {.state0 = start, .controls = RowMatrix::Zero(steps, 0)},
                                     {.dt = dt, .tolerance = 1e-11}, contact);
        REQUIRE(t.converged());
        CHECK((t.v.row(steps) - t.v.row(0)).norm() > 0.5);  // they did collide
        return momenta(*model, parameters, t.state(steps));
    };
    double previous = 0.0;
    for (const double dt : {0.005, 0.0025, 0.00125}) {
        const Momenta end = after(dt);
        CHECK((end.linear - before.linear).norm() < 1e-10);
        const double drift = (end.angular - before.angular).norm();
        MESSAGE("angular momentum lost at dt ", dt, ": ", drift);
        if (previous > 0.0) CHECK(drift < 0.65 * previous);
        previous = drift;
    }
    CHECK(previous > 0.0);
}

}  // namespace
}  // namespace farfield
