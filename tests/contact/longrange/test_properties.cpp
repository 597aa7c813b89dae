// SPDX-License-Identifier: Apache-2.0
// The four properties of the potential, and claims about it that do and do not hold.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/longrange/long_range.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::longrange::LeafWeights;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;
using Eigen::Vector3d;

namespace {}  // namespace

TEST_CASE("long range: equals brute force when all nodes are inside d1") {
    // Two thin plates of two triangles each, much closer than the triangles are large.
    TriangleMesh plate;
    plate.vertices.resize(4, 3);
    plate.vertices << -0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.5, 0.5, 0.0, -0.5, 0.5, 0.0;
    plate.triangles.resize(2, 3);
    plate.triangles << 0, 1, 2, 0, 2, 3;
    const CollisionGeometry geometry = make_geometry({plate, plate}, false);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    Poses poses(3);
    poses[2] = {exp_rotation({0.01, -0.02, 0.3}), {0.01, 0.02, 0.05}};
    for (const LeafWeights leaf_weights : {LeafWeights::Parallel, LeafWeights::Paper}) {
        LongRangeOptions options;
        options.leaf_weights = leaf_weights;
        const ContactLinearization tree = evaluate(LongRange(geometry, options), poses, parameters);
        LongRangeOptions all = options;
        all.brute_force = true;
        const ContactLinearization brute = evaluate(LongRange(geometry, all), poses, parameters);
        CHECK(tree.energy == brute.energy);
        CHECK(tree.wrench[1] == brute.wrench[1]);
        CHECK(tree.blocks[0].hessian == brute.blocks[0].hessian);
        // further away the two differ
        poses[2].position.z() = 3.0;
        CHECK(evaluate(LongRange(geometry, options), poses, parameters).energy !=
              evaluate(LongRange(geometry, all), poses, parameters).energy);
        poses[2].position.z() = 0.05;
    }
}

TEST_CASE("long range: barrier, energy times gap stays bounded and touching is infinite") {
    const CollisionGeometry geometry = make_geometry({make_box({0.1, 0.1, 0.1}), make_box({0.1, 0.1, 0.1})}, false);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    const LongRange model(geometry, {});
    const auto memory = model.make_memory();
    // a corner pointing down over the middle of a face
    Poses poses(3);
    poses[2].rotation = rotation_from_quaternion(
        {std::cos(0.4776583), std::sin(0.4776583) / std::sqrt(2.0), -std::sin(0.4776583) / std::sqrt(2.0), 0.0});
    double lowest = std::numeric_limits<double>::infinity();
    for (const double x : {-0.1, 0.1}) {
        for (const double y : {-0.1, 0.1}) {
            for (const double z : {-0.1, 0.1}) lowest = std::min(lowest, (poses[2].rotation * Vector3d(x, y, z)).z());
        }
    }
    const double share = 1.0 / 48.0;  // of two leaves: each a twelfth of its box that counts half, in parallel
    double previous = 0.0;
    for (const double gap : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
        poses[2].position = {0.013, 0.021, 0.1 + gap - lowest};
        const ContactLinearization d = evaluate(model, poses, parameters);
        const double product = d.energy * gap;
        CHECK(product > 10.0 * share);
        CHECK(product < 100.0 * share);
        if (previous > 0.0 && gap < 1e-5) CHECK(product == doctest::Approx(previous).epsilon(0.05));
        previous = product;
        CHECK(d.blocks[0].gap <= gap * (1.0 + 1e-6));
        CHECK(d.blocks[0].gap > 0.2 * gap);
    }
    poses[2].position.z() = 0.1 - 1e-9 - lowest;
    CHECK(frictionless(model, poses, parameters, *memory).energy(poses) == std::numeric_limits<double>::infinity());
    poses[2].position.z() = 0.05 - lowest;
    CHECK(frictionless(model, poses, parameters, *memory).energy(poses) == std::numeric_limits<double>::infinity());
}

TEST_CASE("long range: the reported gap is a lower bound of the distance") {
    Random random(41);
    for (int round = 0; round < 60; ++round) {
        const testing::Scene scene = random_scene(random, true);
        const ContactLinearization d =
            evaluate(LongRange(scene.geometry, {}), scene.poses, make_parameters(scene.geometry, 1.0, 0.0));
        // vertex samples of both meshes bound the distance from above
        const auto vertices = [&](std::size_t body) {
            std::vector<Vector3d> points;
            const auto& mesh = scene.geometry.bodies[body].mesh;
            for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
                points.emplace_back(scene.poses[body] * Vector3d(mesh.vertices.row(v)));
            }
            return points;
        };
        double distance = std::numeric_limits<double>::infinity(), height[3] = {0.0, distance, distance};
        for (const Vector3d& x : vertices(1)) {
            height[1] = std::min(height[1], x.z());
            for (const Vector3d& y : vertices(2)) distance = std::min(distance, (x - y).norm());
        }
        for (const Vector3d& y : vertices(2)) height[2] = std::min(height[2], y.z());
        for (const contact::PairBlock& block : d.blocks) {
            const double bound = block.a == 0 ? height[block.b] : distance;
            CHECK(block.gap > 0.0);
            CHECK(block.gap <= bound * (1.0 + 1e-12));
        }
    }
}

TEST_CASE("long range: the force never vanishes, |F| -> 12 r^-1.5 up to 1e6 m, times the parallel area") {
    const CollisionGeometry geometry = make_geometry({make_box({0.1, 0.1, 0.1}), make_sphere(0.2)}, false);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    for (const LeafWeights leaf_weights : {LeafWeights::Parallel, LeafWeights::Paper}) {
        const bool parallel = leaf_weights == LeafWeights::Parallel;
        const LongRange model(geometry, {.leaf_weights = leaf_weights});
        const double x = model.shape(1).extents[0].area(), y = model.shape(2).extents[0].area();
        const double share = parallel ? x * y / (x + y) / surface_area(geometry.bodies[1].mesh) : 1.0;
        const double spread = parallel ? model.shape(1).tree.spread[0] + model.shape(2).tree.spread[0] : 0.0;
        for (const double r : {1e2, 1e4, 1e6}) {
            Poses poses(3);
            poses[2].position = {r, 0.0, 0.0};
            const ContactLinearization d = evaluate(model, poses, parameters);
            const double from = r + spread;
            CHECK(d.wrench[1].head<3>().norm() ==
                  doctest::Approx(share * 12.0 * std::pow(from, -1.5) * (1.0 + 1.0 / std::sqrt(from))).epsilon(1e-6));
            CHECK(d.wrench[1].x() > 0.0);  // dE/dx of the left body: moving right costs energy, so the bodies repel
        }
    }
}

TEST_CASE("long range: C2 at every switch, one-sided Hessians differ linearly in the step") {
    // Two bodies of one triangle each: one node pair, exactly one d1 and one d2.
    TriangleMesh triangle;
    triangle.vertices.resize(3, 3);
    triangle.vertices << 0.1, 0.0, 0.0, -0.05, 0.08, 0.0, -0.05, -0.09, 0.01;
    triangle.triangles.resize(1, 3);
    triangle.triangles << 0, 1, 2;
    const CollisionGeometry geometry = make_geometry({triangle, triangle}, false);
    const Parameters parameters = make_parameters(geometry, 1.0, 0.0);
    for (const bool zero_offset : {true, false}) {
        LongRangeOptions options;
        options.zero_offset = zero_offset;
        options.blend = {0.5};
        const LongRange model(geometry, options);
        const double d1 = 2.0 * model.shape(1).tree.radius[0], d2 = 1.5 * d1;
        Random random(42);
        Poses poses(3);
        poses[2].rotation = random_rotation(random);
        const Vector3d direction = unit_vector(random);
        const Vector3d base =
            poses[1] * model.shape(1).tree.center[0] - poses[2].rotation * model.shape(2).tree.center[0];
        const auto hessian_at = [&](double r) {
            poses[2].position = base + r * direction;
            return evaluate(model, poses, parameters);
        };
        for (const double switch_at : {d1, d2}) {
            const double size = hessian_at(switch_at).blocks[0].hessian.norm();
            double previous = 0.0;
            for (const double h : {1e-3, 1e-4, 1e-5, 1e-6}) {
                const ContactLinearization above = hessian_at(switch_at * (1.0 + h)),
                                           below = hessian_at(switch_at * (1.0 - h));
                const double jump = (above.blocks[0].hessian - below.blocks[0].hessian).norm() / size;
                if (previous > 0.0) CHECK(jump < 0.2 * previous);
                previous = jump;
            }
            CHECK(previous < 1e-3);
        }
    }
}

TEST_CASE("long range: finer sums never fall below the centred form, so blending never attracts") {
    Random random(43);
    double smallest = std::numeric_limits<double>::infinity();
    int bands = 0;
    for (int round = 0; round < 60; ++round) {
        const testing::Scene scene = random_scene(random, false);
        for (const bool parallel : {false, true}) {
            contact::longrange::PotentialForm form;
            form.parallel_areas = parallel;
            form.scale = std::pow(10.0, uniform(random, -1.0, 1.0));
            form.far_value = round % 2 == 0 ? 0.0 : 12.0;
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
                smallest = std::min(smallest, (band.sum[6] - band.centred) / band.centred);
                ++bands;
            }
        }
    }
    CHECK(bands > 1000);
    CHECK(smallest > 0.0);
    MESSAGE("smallest (S - C)/C over " << bands << " band nodes: " << smallest);
}

TEST_CASE("long range: far from the world's origin nothing changes") {
    Random random(44);
    const testing::Scene scene = random_scene(random, false, 0.01);
    const Parameters parameters = make_parameters(scene.geometry, 1.0, 0.0);
    const LongRange model(scene.geometry, {});
    const double here = evaluate(model, scene.poses, parameters).energy;
    Poses there = scene.poses;
    for (Pose& pose : there) pose.position += Vector3d(1048576.0, 524288.0, -262144.0);
    const double rounding = 1e-10 / scene.scale;  // positions are rounded to 1e-10 m out there
    CHECK(evaluate(model, there, parameters).energy == doctest::Approx(here).epsilon(10.0 * rounding));
}

TEST_CASE("long range: ground of half-space is uniform, an incline holds up to the friction coefficient") {
    // Static balance of one body on an incline of slope t: the creep speed that balances gravity is slip t / sqrt(mu^2 - t^2).
    const CollisionGeometry geometry = make_geometry({make_box({0.1, 0.1, 0.1})}, true);
    const double mu = 0.5, slip = 1e-3, dt = 0.01, weight = 1e-7, mass = 1.0, g = 9.81;
    LongRangeOptions options;
    options.slip_speed = slip;
    const LongRange model(geometry, options);
    const Parameters parameters = make_parameters(geometry, weight, mu);
    // height at which the ground carries the weight, by bisection
    const auto memory = model.make_memory();
    Poses poses(2);
    double low = 1e-7, high = 0.1;
    ContactLinearization d;
    for (int k = 0; k < 100; ++k) {
        const double middle = 0.5 * (low + high);
        poses[1].position.z() = 0.1 + middle;
        frictionless(model, poses, parameters, *memory).linearize(poses, d);
        (-d.wrench[1].z() > mass * g ? low : high) = middle;
    }
    const double normal_force = -d.wrench[1].z();
    CHECK(normal_force == doctest::Approx(mass * g).epsilon(1e-6));
    contact::ContactStep& step = model.begin_step(poses, dt, parameters, *memory);
    for (const double t : {0.3, 0.45, 0.49}) {
        const double speed = slip * t / std::sqrt(mu * mu - t * t);
        Poses next = poses;
        next[1].position.x() += speed * dt;
        step.linearize(next, d);
        CHECK(d.wrench[1].x() == doctest::Approx(t * normal_force).epsilon(0.01));
    }
    Poses next = poses;
    next[1].position.x() += 1.0 * dt;
    step.linearize(next, d);
    CHECK(d.wrench[1].x() == doctest::Approx(mu * normal_force).epsilon(0.01));
}
