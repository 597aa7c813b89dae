// SPDX-License-Identifier: Apache-2.0
// Pairs that push only when near: what is the same as at long range, and what is not.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/model/closest_points.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;
using Eigen::Vector3d;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

CollisionGeometry near_geometry(const std::vector<TriangleMesh>& meshes, bool ground) {
    CollisionGeometry geometry = make_geometry(meshes, ground);
    for (ContactPair& pair : geometry.pairs) pair.near = true;
    return geometry;
}

TriangleMesh plate() {
    TriangleMesh mesh;
    mesh.vertices.resize(4, 3);
    mesh.vertices << -0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.5, 0.5, 0.0, -0.5, 0.5, 0.0;
    mesh.triangles.resize(2, 3);
    mesh.triangles << 0, 1, 2, 0, 2, 3;
    return mesh;
}

}  // namespace

TEST_CASE("near pairs: close together they have the bits of long range") {
    const CollisionGeometry far = make_geometry({plate(), plate()}, false),
                            near = near_geometry({plate(), plate()}, false);
    const Parameters parameters = make_parameters(far, 1.0, 0.0);
    Poses poses(3);
    poses[2] = {exp_rotation({0.01, -0.02, 0.3}), {0.01, 0.02, 0.05}};
    const ContactLinearization x = evaluate(LongRange(far, {}), poses, parameters),
                               y = evaluate(LongRange(near, {}), poses, parameters);
    CHECK(x.energy == y.energy);
    CHECK(x.wrench[1] == y.wrench[1]);
    CHECK(x.blocks[0].hessian == y.blocks[0].hessian);
    poses[2].position.z() = 3.0;
    CHECK(evaluate(LongRange(far, {}), poses, parameters).energy > 0.0);
    CHECK(evaluate(LongRange(near, {}), poses, parameters).energy == 0.0);
}

TEST_CASE("near pairs: beyond the range there is nothing, and the gap is still a lower bound") {
    Random random(61);
    int silent = 0, pushing = 0;
    for (int round = 0; round < 80; ++round) {
        testing::Scene scene = random_scene(random, round % 2 == 0);
        for (ContactPair& pair : scene.geometry.pairs) pair.near = true;
        const LongRangeOptions options{.near_range = 0.3, .brute_force = round % 5 == 4};
        const ContactLinearization d =
            evaluate(LongRange(scene.geometry, options), scene.poses, make_parameters(scene.geometry, 1.0, 0.0));
        for (std::size_t k = 0; k < scene.geometry.pairs.size(); ++k) {
            const double distance = closest_points(scene.geometry, scene.geometry.pairs[k], scene.poses).distance;
            CHECK(d.gaps[k] > 0.0);
            CHECK(d.gaps[k] <= distance * (1.0 + 1e-9));
        }
        silent += d.blocks.size() < scene.geometry.pairs.size() ? 1 : 0;
        pushing += d.energy > 0.0 ? 1 : 0;
    }
    CHECK(silent >= 20);
    CHECK(pushing >= 20);
}

TEST_CASE("near pairs: a barrier, with and without the ground") {
    const double half = 0.1;
    for (const bool ground : {false, true}) {
        const TriangleMesh box = make_box({half, half, half});
        const CollisionGeometry geometry = ground ? near_geometry({box}, true) : near_geometry({box, box}, false);
        const LongRange model(geometry, {});
        const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
        const std::size_t upper = ground ? 1 : 2;
        Poses poses(geometry.bodies.size());
        const double top = ground ? 0.0 : half;
        double previous = 0.0;
        for (const double gap : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
            poses[upper].position = {0.0, 0.0, top + half + gap};
            const double energy = evaluate(model, poses, parameters).energy;
            CHECK(energy > 2.0 * previous);
            previous = energy;
        }
        poses[upper].position.z() = top + half - 1e-9;
        const auto memory = model.make_memory();
        CHECK(frictionless(model, poses, parameters, *memory).energy(poses) == kInfinity);
    }
}

TEST_CASE("near pairs: C2 at both ends of the band, and zero at the range") {
    TriangleMesh triangle;
    triangle.vertices.resize(3, 3);
    triangle.vertices << 0.1, 0.0, 0.0, -0.05, 0.08, 0.0, -0.05, -0.09, 0.01;
    triangle.triangles.resize(1, 3);
    triangle.triangles << 0, 1, 2;
    const CollisionGeometry geometry = near_geometry({triangle, triangle}, false);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    const LongRange model(geometry, {.near_range = 0.5});
    const double range = 0.5 * std::sqrt(surface_area(triangle) / 6.0), d1 = 2.0 * model.shape(1).tree.radius[0];
    Random random(62);
    Poses poses(3);
    poses[2].rotation = random_rotation(random);
    const Vector3d direction = unit_vector(random);
    const Vector3d base = poses[1] * model.shape(1).tree.center[0] - poses[2].rotation * model.shape(2).tree.center[0];
    const auto hessian_at = [&](double gap) {
        poses[2].position = base + (d1 + gap) * direction;
        return assembled(evaluate(model, poses, parameters));
    };
    const double size = hessian_at(0.5 * range).norm();
    for (const double switch_at : {0.5 * range, range}) {
        double previous = 0.0;
        for (const double h : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7}) {
            const double jump = (hessian_at(switch_at + h * range) - hessian_at(switch_at - h * range)).norm() / size;
            if (previous > 0.0) CHECK(jump < 0.2 * previous);
            previous = jump;
        }
        CHECK(previous < 1e-2);
    }
    CHECK(hessian_at(0.99 * range).norm() > 0.0);
    CHECK(hessian_at(1.001 * range).norm() == 0.0);
}

TEST_CASE("near pairs: blending never attracts") {
    Random random(63);
    int bands = 0, fading = 0;
    for (int round = 0; round < 60; ++round) {
        const testing::Scene scene = random_scene(random, false, 0.5);
        contact::longrange::PotentialForm form;
        form.parallel_areas = round % 3 != 0;
        form.scale = std::pow(10.0, uniform(random, -1.0, 1.0));
        form.far_value = round % 2 == 0 ? 0.0 : 12.0;
        form.range = form.scale * scene.scale * std::pow(10.0, uniform(random, -0.5, 1.0));
        const double eps = std::pow(10.0, uniform(random, -1.0, 0.3));
        const auto a = contact::longrange::make_shape(scene.geometry.bodies[1].mesh, eps);
        const auto b = contact::longrange::make_shape(scene.geometry.bodies[2].mesh, eps);
        contact::longrange::RotatedShape rotated_a, rotated_b;
        rotated_a.update(a, scene.poses[1].rotation);
        rotated_b.update(b, scene.poses[2].rotation);
        const auto frame = make_frame(rotated_a, rotated_b, form.scale * scene.poses[1].position,
                                      form.scale * scene.poses[2].position, form.scale);
        contact::longrange::PairWork work;
        contact::longrange::PlaneTable table;
        contact::RelativeSum sum;
        traverse(a, rotated_a, b, rotated_b, frame, form, contact::longrange::Wanted::Derivatives, work);
        REQUIRE(solve_leaves(a, rotated_a, b, rotated_b, frame, form, 1e-12, table, work));
        sum_derivatives(form, work, sum);
        for (std::size_t k = 0; k < work.bands.size(); ++k) {
            const contact::longrange::BandNode band = work.bands[k];
            CHECK(band.sum[6] >= band.centred * (1.0 - 1e-12));  // so phi' (C - S) <= 0
            ++bands;
            fading += band.centred == 0.0 ? 1 : 0;
        }
    }
    CHECK(bands > 500);
    CHECK(fading > 100);
}

TEST_CASE("near pairs: friction lagged at the start acts while the pair leaves the range") {
    const TriangleMesh box = make_box({0.1, 0.1, 0.1});
    const CollisionGeometry geometry = near_geometry({box}, true);
    const LongRange model(geometry, {.slip_speed = 0.05, .near_range = 0.1});
    const Parameters parameters = make_parameters(geometry, 1.0, 0.5);
    const double range = 0.1 * std::sqrt(surface_area(box) / 6.0);
    const auto memory = model.make_memory();
    Poses start(2), now(2);
    start[1].position = {0.0, 0.0, 0.1 + 0.8 * range};
    contact::ContactStep& step = model.begin_step(start, 0.01, parameters, *memory);
    const auto friction_at = [&](double height) {
        now[1].position = {0.001, 0.0, 0.1 + height};
        ContactLinearization d;
        step.linearize(now, d);
        return d.friction_energy;
    };
    const double inside = friction_at(0.999 * range), outside = friction_at(1.001 * range);
    CHECK(inside > 0.0);
    CHECK(outside == doctest::Approx(inside).epsilon(1e-9));
    // the next step begins out of range: nothing is lagged any more
    start[1].position.z() = 0.5;
    ContactLinearization d;
    model.begin_step(start, 0.01, parameters, *memory).linearize(start, d);
    CHECK(d.energy == 0.0);
    CHECK(d.blocks.empty());
}
