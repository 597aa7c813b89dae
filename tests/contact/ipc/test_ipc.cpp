// SPDX-License-Identifier: Apache-2.0
/// @file  The IPC model at its switches: range, nearest feature, parallel edges, sticking and sliding; and its broad phase.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/ipc/automatic.hpp"
#include "farfield/contact/ipc/closest.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/geometry/distance.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactGradient;
using contact::ContactLinearization;
using contact::ipc::Barrier;
using contact::ipc::BarrierTaylor;
using contact::ipc::Closest;
using contact::ipc::Form;
using contact::ipc::Ipc;
using contact::ipc::IpcOptions;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

TriangleMesh triangle(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
    TriangleMesh mesh;
    mesh.vertices.resize(3, 3);
    mesh.vertices << a.transpose(), b.transpose(), c.transpose();
    mesh.triangles.resize(1, 3);
    mesh.triangles << 0, 1, 2;
    return mesh;
}

/// A small triangle with one corner that points down, and a large flat one below it.
CollisionGeometry tip_above_floor() {
    return make_geometry({triangle({0.0, 0.0, 0.0}, {0.02, 0.01, 0.11}, {-0.03, 0.02, 0.1}),
                          triangle({-1.0, -0.8, 0.0}, {1.1, -0.7, 0.0}, {0.1, 1.2, 0.0})},
                         false);
}

struct Worst {
    double gradient = 0.0, hessian = 0.0, previous = 0.0;
};

/// Gradient, Hessian and vjp, with and without friction, where no step of the ladder is longer than `scale`.
void check_all(const Ipc& model, const Poses& poses, double scale, Random& random, Worst& worst) {
    const auto bodies = static_cast<Eigen::Index>(poses.size());
    Parameters parameters;
    parameters.contact_stiffness = 1e-3;
    parameters.friction = VectorXd::Constant(bodies, 0.4);
    const auto memory = model.make_memory();
    const LadderOptions ladder{.scale = scale, .floor = 1e-14};
    const double dt = 0.01;
    for (const double slip : {0.0, 0.2, 5.0}) {  // none, sticking, sliding; in slip_speed
        CAPTURE(slip);
        const Poses start = moved(poses, 5e-4 * slip * random_direction(random, 6 * bodies));
        contact::ContactStep& step = model.begin_step(
            start, dt, parameters, *memory, slip > 0.0 ? contact::StepMode::Backward : contact::StepMode::Frictionless);
        ContactLinearization d;
        step.linearize(poses, d);
        REQUIRE(std::isfinite(d.energy));
        REQUIRE(d.energy > 0.0);
        const DerivativeReport gradient = check_tangent_gradient(
            [&](const VectorXd& twist) { return step.energy(moved(poses, twist)); }, stacked(d.wrench), ladder, random);
        CHECK_MESSAGE(gradient.passes(1e-6), gradient);
        const DerivativeReport hessian = check_jacobian(
            [&](const VectorXd& twist) {
                ContactLinearization there;
                step.linearize(moved(poses, twist), there);
                return stacked(there.wrench);
            },
            VectorXd::Zero(6 * bodies), wrench_jacobian(d), ladder, random);
        CHECK_MESSAGE(hessian.passes(1e-6), hessian);
        worst.gradient = std::max(worst.gradient, gradient.error);
        worst.hessian = std::max(worst.hessian, hessian.error);
        if (slip == 0.0) continue;
        contact::Twists twists(poses.size());
        for (Vector6d& twist : twists) twist = normal_vector(random, 6);
        ContactGradient back;
        step.linearize(poses, d);
        step.vjp({&twists, 1}, {&back, 1});
        const DerivativeReport previous = check_tangent_gradient(
            [&](const VectorXd& twist) {
                ContactLinearization there;
                model.begin_step(moved(start, twist), dt, parameters, *memory).linearize(poses, there);
                double sum = 0.0;
                for (std::size_t body = 0; body < twists.size(); ++body) sum += twists[body].dot(there.wrench[body]);
                return sum;
            },
            stacked(back.previous_wrench), ladder, random);
        const bool apart = back.friction.isZero(0.0);  // nothing rubs outside the range
        CHECK_MESSAGE((apart ? previous.numeric == 0.0 : previous.passes(5e-6)), previous);
        worst.previous = std::max(worst.previous, previous.error);
    }
}

}  // namespace

TEST_CASE("ipc: barriers and their derivatives, to the switch and far away") {
    for (const Form form : {Form::Clamped, Form::Global}) {
        const Barrier barrier(form, 0.3);
        for (const double x : {1e-8, 1e-3, 0.2, 0.49, 0.51, 0.9, 0.999, 0.999999}) {
            const double s = x * 0.09;
            const BarrierTaylor t = barrier.taylor(s);
            CHECK(barrier.value(s) == t.value);
            CHECK(t.value > 0.0);
            CHECK(t.first < 0.0);
            CHECK(t.second > 0.0);
            const double h = 1e-5 * (form == Form::Clamped ? std::min(s, 0.09 - s) : s);  // only one has a switch
            const BarrierTaylor plus = barrier.taylor(s + h), minus = barrier.taylor(s - h);
            CHECK((plus.value - minus.value) / (2.0 * h) == doctest::Approx(t.first).epsilon(1e-6));
            CHECK((plus.first - minus.first) / (2.0 * h) == doctest::Approx(t.second).epsilon(1e-6));
        }
    }
    // distance 4 in units of the length scale: 12 (1 + 1/2)^2 - 12 = 15
    CHECK(Barrier(Form::Global, 0.5).value(4.0) == doctest::Approx(15.0));
    CHECK(Barrier(Form::Clamped, 1.0).value(std::exp(-1.0)) == doctest::Approx(std::pow(1.0 - std::exp(-1.0), 2)));
}

TEST_CASE("ipc: closest points agree with the robust ones of geometry") {
    Random random(70);
    double worst = 0.0;
    for (int round = 0; round < 3000; ++round) {
        Vector3d x[4];
        for (Vector3d& p : x) p = normal_vector(random, 3);
        if (round % 3 == 0) x[3] = x[2] + x[1] - x[0] + 1e-3 * normal_vector(random, 3);  // nearly parallel
        Closest closest;
        contact::ipc::vertex_face(x[3], x[0], x[1], x[2], closest);
        const double face = point_triangle_distance(x[3], {x[0], x[1], x[2]}).squared_distance;
        worst = std::max(worst, std::abs(closest.squared - face) / (face + 1e-12));
        contact::ipc::edge_edge(x[0], x[1], x[2], x[3], closest);
        const double edges = segment_segment_distance(x[0], x[1], x[2], x[3]).squared_distance;
        worst = std::max(worst, std::abs(closest.squared - edges) / (edges + 1e-12));
    }
    CHECK(worst < 1e-9);
}

TEST_CASE("ipc: derivatives just inside the range, and nothing outside") {
    Random random(71);
    Worst worst;
    const double range = 0.05;
    const Ipc model(tip_above_floor(), {.range = range, .slip_speed = 0.05});
    for (const double share : {0.001, 0.3, 0.9, 0.99}) {
        Poses poses(3);
        poses[1].position = {0.05, 0.02, share * range};
        check_all(model, poses, std::min(share, 1.0 - share) * range, random, worst);
    }
    Poses poses(3);
    poses[1].position = {0.05, 0.02, 1.0001 * range};
    const CollisionGeometry geometry = tip_above_floor();
    const Parameters parameters = make_parameters(geometry, 1.0, 0.4);
    const ContactLinearization d = evaluate(model, poses, parameters);
    CHECK(d.energy == 0.0);
    CHECK(stacked(d.wrench).norm() == 0.0);
    CHECK(assembled(d).norm() == 0.0);
    CHECK(d.blocks[0].gap == doctest::Approx(range).epsilon(1e-12));
    MESSAGE("worst errors: gradient " << worst.gradient << ", Hessian " << worst.hessian << ", previous "
                                      << worst.previous);
}

TEST_CASE("ipc: derivatives on both sides of every change of the nearest feature") {
    Random random(72);
    Worst worst;
    const Ipc model(tip_above_floor(), {.range = 0.2, .slip_speed = 0.05});
    const Vector3d a(-1.0, -0.8, 0.0), b(1.1, -0.7, 0.0);
    const Vector3d along = (b - a).normalized(), out = Vector3d(along.y(), -along.x(), 0.0);
    for (const double side : {-1e-3, 1e-3}) {
        Poses poses(3);
        poses[1].position = 0.5 * (a + b) + side * out + Vector3d(0.0, 0.0, 0.03);  // face, edge
        check_all(model, poses, 1e-4, random, worst);
        poses[1].position = a + side * along + 0.02 * out + Vector3d(0.0, 0.0, 0.03);  // corner, edge
        check_all(model, poses, 1e-4, random, worst);
    }
    MESSAGE("worst errors: gradient " << worst.gradient << ", Hessian " << worst.hessian << ", previous "
                                      << worst.previous);
}

TEST_CASE("ipc: derivatives on both sides of the limit of parallel edges, and near parallel") {
    Random random(73);
    Worst worst;
    // two edges along x, everything else out of range
    const CollisionGeometry geometry = make_geometry({triangle({-0.5, 0.0, 0.0}, {0.5, 0.0, 0.0}, {0.0, 0.1, 0.9}),
                                                      triangle({-0.6, 0.0, 0.0}, {0.4, 0.0, 0.0}, {0.0, -0.1, -0.9})},
                                                     false);
    const Ipc model(geometry, {.range = 0.1, .slip_speed = 0.05});
    const double limit = std::asin(std::sqrt(1e-3));
    for (const double angle : {0.99 * limit, 1.01 * limit, 0.5 * limit, 0.1 * limit, 1.5 * limit}) {
        CAPTURE(angle);
        Poses poses(3);
        poses[1].position = {0.02, 0.01, 0.04};
        poses[1].rotation = exp_rotation(Vector3d(0.0, 0.0, angle));
        check_all(model, poses, 1e-4, random, worst);
    }
    // exactly parallel: finite, and the pair of edges is gone
    Poses poses(3);
    poses[1].position = {0.0, 0.0, 0.04};
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    const ContactLinearization d = evaluate(model, poses, parameters);
    CHECK(std::isfinite(d.energy));
    CHECK(stacked(d.wrench).allFinite());
    CHECK(assembled(d).allFinite());
    MESSAGE("worst errors: gradient " << worst.gradient << ", Hessian " << worst.hessian << ", previous "
                                      << worst.previous);
}

TEST_CASE("ipc: derivatives on both sides of sticking and sliding") {
    Random random(74);
    const CollisionGeometry geometry = tip_above_floor();
    const Ipc model(geometry, {.range = 0.05, .slip_speed = 0.05});
    const Parameters parameters = make_parameters(geometry, 1e-3, 0.5);
    const auto memory = model.make_memory();
    Poses start(3);
    start[1].position = {0.05, 0.02, 0.02};
    for (const double share : {0.999, 1.001}) {
        contact::ContactStep& step = model.begin_step(start, 0.01, parameters, *memory);
        Poses poses = start;
        poses[1].position.x() += share * 0.05 * 0.01;
        ContactLinearization d;
        step.linearize(poses, d);
        REQUIRE(d.friction_energy > 0.0);
        const DerivativeReport hessian = check_jacobian(
            [&](const VectorXd& twist) {
                ContactLinearization there;
                step.linearize(moved(poses, twist), there);
                return stacked(there.wrench);
            },
            VectorXd::Zero(18), wrench_jacobian(d), {.scale = 5e-7, .floor = 1e-14}, random);
        CHECK_MESSAGE(hessian.passes(1e-6), hessian);
    }
    // Coulomb: beyond the switch the force is coefficient times load, below it less
    const auto force_at = [&](double slip) {
        Poses poses = start;
        poses[1].position.x() += slip;
        ContactLinearization rough, smooth;
        model.begin_step(start, 0.01, parameters, *memory).linearize(poses, rough);
        frictionless(model, start, parameters, *memory).linearize(poses, smooth);
        return std::pair((rough.wrench[1] - smooth.wrench[1]).x(), smooth.wrench[1].z());
    };
    const auto [sliding, load] = force_at(1e-3);
    CHECK(sliding == doctest::Approx(-0.5 * load).epsilon(1e-9));
    CHECK(force_at(1e-4).first < 0.5 * sliding);
}

TEST_CASE("ipc: the list of candidates changes no bit, wherever it was made") {
    Random random(75);
    int in_contact = 0;
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = random_scene(random, false, 0.1);
        const Ipc model(scene.geometry, {.range = 0.15});
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        const auto warm = model.make_memory();
        Poses poses = scene.poses;
        for (int step = 0; step < 15; ++step) {
            poses = moved(poses, 4e-3 * normal_vector(random, 18));
            ContactLinearization one;
            frictionless(model, poses, parameters, *warm).linearize(poses, one);
            const ContactLinearization two = evaluate(model, poses, parameters);
            if (!std::isfinite(two.energy)) {
                CHECK(one.energy == two.energy);
                break;
            }
            in_contact += two.energy > 0.0;
            CHECK(one.energy == two.energy);
            CHECK(stacked(one.wrench) == stacked(two.wrench));
            CHECK(assembled(one) == assembled(two));
            CHECK(one.gaps == two.gaps);
        }
    }
    CHECK(in_contact > 50);
}

TEST_CASE("ipc: the broad phase misses nothing") {
    Random random(76);
    int terms = 0;
    for (int round = 0; round < 20; ++round) {
        const testing::Scene scene = random_scene(random, false, 0.1);
        const double range = 0.2;
        const Ipc model(scene.geometry, {.range = range});
        const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
        const auto memory = model.make_memory();
        // all vertex-triangle and edge-edge pairs with the robust distances of geometry
        const auto& a = scene.geometry.bodies[1].mesh;
        const auto& b = scene.geometry.bodies[2].mesh;
        const auto at = [&](const TriangleMesh& mesh, int body, Eigen::Index v) -> Vector3d {
            return scene.poses[static_cast<std::size_t>(body)] * mesh.vertices.row(v).transpose();
        };
        const Barrier barrier(Form::Clamped, range);
        double energy = 0.0;
        const auto add = [&](double squared, double factor) {
            if (squared >= barrier.limit()) return;
            energy += factor * barrier.value(squared);
            ++terms;
        };
        for (int turn = 0; turn < 2; ++turn) {
            const auto &points = turn ? b : a, &faces = turn ? a : b;
            for (Eigen::Index v = 0; v < points.vertices.rows(); ++v) {
                for (Eigen::Index t = 0; t < faces.triangles.rows(); ++t) {
                    const auto corner = [&](int k) { return at(faces, turn ? 1 : 2, faces.triangles(t, k)); };
                    add(point_triangle_distance(at(points, turn ? 2 : 1, v), {corner(0), corner(1), corner(2)})
                            .squared_distance,
                        1.0);
                }
            }
        }
        const auto edges = [](const TriangleMesh& mesh) {
            std::vector<Eigen::Vector2i> found;
            for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
                for (int k = 0; k < 3; ++k) {  // closed surfaces: each edge once in each direction
                    const int i = mesh.triangles(t, k), j = mesh.triangles(t, (k + 1) % 3);
                    if (i < j) found.emplace_back(i, j);
                }
            }
            return found;
        };
        for (const Eigen::Vector2i& e : edges(a)) {
            for (const Eigen::Vector2i& f : edges(b)) {
                const Vector3d x0 = at(a, 1, e[0]), x1 = at(a, 1, e[1]), y0 = at(b, 2, f[0]), y1 = at(b, 2, f[1]);
                const double c = (x1 - x0).cross(y1 - y0).squaredNorm(),
                             limit = 1e-3 * (x1 - x0).squaredNorm() * (y1 - y0).squaredNorm();
                add(segment_segment_distance(x0, x1, y0, y1).squared_distance,
                    c < limit ? c / limit * (2.0 - c / limit) : 1.0);
            }
        }
        CHECK(frictionless(model, scene.poses, parameters, *memory).energy(scene.poses) ==
              doctest::Approx(energy).epsilon(1e-11));
    }
    CHECK(terms > 1000);
}

TEST_CASE("ipc: four corners at 0.85 of the automatic range carry the lighter body") {
    const CollisionGeometry geometry = make_geometry({make_box({0.5, 0.5, 0.5})}, true);
    const contact::PairUnits units{.length = 1.0, .mass = 2.0, .acceleration = 9.81};
    const double range = contact::ipc::automatic_range(units);
    const Ipc model(geometry,
                    {.weight_in_joules = contact::ipc::automatic_weight(units, Form::Clamped, range), .range = range});
    Poses poses(2);
    poses[1].position = {0.0, 0.0, 0.5 + 0.85 * range};
    const ContactLinearization d = evaluate(model, poses, make_parameters(geometry, 1.0, 0.0));
    CHECK(d.wrench[1].z() == doctest::Approx(-2.0 * 9.81));
}

TEST_CASE("ipc: the global form refuses more than 2,000 triangles, and bad options are named") {
    const CollisionGeometry geometry = make_geometry({make_sphere(0.1, 3), make_sphere(0.1, 3)}, false);
    CHECK_THROWS_WITH_AS(Ipc(geometry, {.form = Form::Global}), doctest::Contains("expected at most 2000"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(Ipc(geometry, {.weight_in_joules = 0.0, .range = 1.0}), doctest::Contains("weight_in_joules"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(Ipc(geometry, {.range = -1.0}), doctest::Contains("range"), std::invalid_argument);
}
