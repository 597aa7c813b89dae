// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/plane_friction/plane_lanes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/math/rotation.hpp"

using namespace farfield;
using namespace farfield::contact;
using Eigen::Vector3d;

namespace {

struct RandomPlane {
    Vector3d normal;
    std::array<FrictionPoint, 6> points;
};

/// Like those of triangle pairs: loads of both sides balance in force and moment when both carry them at the same places.
RandomPlane random_plane(Random& random, bool balanced) {
    RandomPlane plane;
    plane.normal = unit_vector(random);
    const auto basis = tangents(plane.normal);
    const double size = std::pow(10.0, uniform(random, -3.0, 0.0)), weight = std::pow(10.0, uniform(random, -8.0, 4.0));
    for (std::size_t m = 0; m < 6; ++m) {
        FrictionPoint& point = plane.points[m];
        point.position = size * basis * normal_vector(random, 2) + 0.3 * plane.normal;
        point.load = weight * std::pow(10.0, uniform(random, -3.0, 0.0));
        if (balanced && m >= 3) point = plane.points[m - 3];
    }
    return plane;
}

BodyMotion random_motion(Random& random, double speed, double dt) {
    const Eigen::VectorXd twist = speed * dt * normal_vector(random, 6);
    return {normal_vector(random, 3), exp_rotation(twist.tail<3>()), twist.head<3>()};
}

PlaneBatch batch_of(const std::vector<RandomPlane>& planes) {
    PlaneBatch batch;
    for (const RandomPlane& plane : planes) batch.add(plane.normal, plane.points);
    prepare_planes(batch);
    return batch;
}

}  // namespace

TEST_CASE("plane lanes: energy, gradient and Hessian are those of the scalar planes, cold and warm") {
    Random random(41);
    double worst_energy = 0.0, worst_gradient = 0.0, worst_hessian = 0.0;
    int most_cold = 0, most_warm = 0;
    for (int round = 0; round < 300; ++round) {
        const double speed = std::pow(10.0, uniform(random, -5.0, 1.0)), dt = 0.01;
        const SlipModel model{dt, 2.5e-7, round % 3 == 0 ? 1e-3 : 0.0};
        std::vector<RandomPlane> planes;
        for (int k = 0; k <= round % 11; ++k) planes.push_back(random_plane(random, round % 2 == 0));
        const BodyMotion a = random_motion(random, speed, dt), b = random_motion(random, speed, dt);
        FrictionSum expected;
        for (const RandomPlane& plane : planes) add_friction({plane.normal, plane.points, 3}, a, b, model, expected);
        PlaneBatch batch = batch_of(planes);
        for (const bool warm : {false, true}) {
            FrictionSum sum;
            sum.energy = solve_planes(batch, a, b, model, kPlaneDerivatives);
            add_planes(batch, a, b, model, sum);
            worst_energy = std::max(worst_energy, std::abs(sum.energy / expected.energy - 1.0));
            worst_gradient =
                std::max(worst_gradient, (sum.gradient - expected.gradient).norm() / expected.gradient.norm());
            worst_hessian = std::max(worst_hessian, (sum.hessian - expected.hessian).norm() / expected.hessian.norm());
            for (std::size_t i = 0; i < batch.size(); ++i) {
                (warm ? most_warm : most_cold) = std::max(warm ? most_warm : most_cold, batch.iterations(i));
            }
        }
    }
    MESSAGE("worst energy " << worst_energy << ", gradient " << worst_gradient << ", Hessian " << worst_hessian
                            << ", most iterations " << most_cold << " cold, " << most_warm << " warm");
    CHECK(worst_energy < 1e-13);
    CHECK(worst_gradient < 1e-9);
    CHECK(worst_hessian < 1e-8);
    CHECK(most_cold < 60);
    CHECK(most_warm <= 2);
}

TEST_CASE("plane lanes: adjoints are those of the scalar planes") {
    Random random(44);
    double worst_load = 0.0, worst_point = 0.0, worst_normal = 0.0, worst_body = 0.0;
    for (int round = 0; round < 300; ++round) {
        // Far above the smoothing speed the plane's motion is hardly determined along the slip.
        const double speed = std::pow(10.0, uniform(random, -5.0, -1.0)), dt = 0.01;
        const SlipModel model{dt, 2.5e-7, round % 3 == 0 ? 1e-3 : 0.0};
        std::vector<RandomPlane> planes;
        for (int k = 0; k <= round % 11; ++k) planes.push_back(random_plane(random, round % 2 == 0));
        const BodyMotion a = random_motion(random, speed, dt), b = random_motion(random, speed, dt);
        const Vector6d twist_a = normal_vector(random, 6), twist_b = normal_vector(random, 6);
        PlaneBatch batch = batch_of(planes);
        static_cast<void>(solve_planes(batch, a, b, model, kPlaneDerivatives));
        std::vector<PlaneAdjointChunk> chunks;
        PlaneAdjointSums sums;
        planes_vjp(batch, a, b, model, twist_a, twist_b, chunks, sums);
        FrictionAdjoint expected;
        for (std::size_t k = 0; k < planes.size(); ++k) {
            std::array<FrictionPoint, 6> points;
            const FrictionAdjoint one =
                friction_vjp({planes[k].normal, planes[k].points, 3}, a, b, model, twist_a, twist_b, points);
            expected.phi += one.phi;
            expected.previous_a += one.previous_a;
            expected.previous_b += one.previous_b;
            const PlaneAdjointChunk& chunk = chunks[k / kChunkPlanes];
            const std::size_t lane = k % kChunkPlanes;
            const auto row3 = [&](const double(*rows)[kChunkPlanes]) {
                return Vector3d(rows[0][lane], rows[1][lane], rows[2][lane]);
            };
            double largest = 0.0, largest_load = 0.0;
            for (const FrictionPoint& point : points) {
                largest = std::max(largest, point.position.norm());
                largest_load = std::max(largest_load, std::abs(point.load));
            }
            for (std::size_t m = 0; m < 6; ++m) {
                const double point = (row3(&chunk.position[3 * m]) - points[m].position).norm() / largest;
                worst_point = std::max(worst_point, point);
                worst_load = std::max(worst_load, std::abs(chunk.load[m][lane] - points[m].load) / largest_load);
            }
            worst_normal = std::max(worst_normal, (row3(chunk.normal) - one.normal).norm() / one.normal.norm());
        }
        worst_body = std::max(worst_body, std::abs(sums.phi / expected.phi - 1.0));
        worst_body = std::max(worst_body, (sums.previous_a - expected.previous_a).norm() / expected.previous_a.norm());
        worst_body = std::max(worst_body, (sums.previous_b - expected.previous_b).norm() / expected.previous_b.norm());
    }
    MESSAGE("worst relative difference: loads " << worst_load << ", points " << worst_point << ", normals "
                                                << worst_normal << ", bodies " << worst_body);
    CHECK(worst_load < 1e-7);
    CHECK(worst_point < 1e-7);
    CHECK(worst_normal < 1e-7);
    CHECK(worst_body < 1e-7);
}

TEST_CASE("plane lanes: a plane's bits do not depend on its neighbours, its place or the size of the batch") {
    Random random(42);
    const SlipModel model{0.01, 2.5e-7, 0.0};
    std::vector<RandomPlane> planes;
    for (int k = 0; k < 29; ++k) planes.push_back(random_plane(random, k % 2 == 0));
    const BodyMotion a = random_motion(random, 0.1, 0.01), b = random_motion(random, 0.1, 0.01);
    const BodyMotion then = random_motion(random, 0.1, 0.01);
    PlaneBatch all = batch_of(planes);
    static_cast<void>(solve_planes(all, then, b, model, {.of_energy = 1e-9}));
    static_cast<void>(solve_planes(all, a, b, model, kPlaneDerivatives));
    for (std::size_t i = 0; i < planes.size(); ++i) {
        std::vector<RandomPlane> some(planes.begin() + static_cast<std::ptrdiff_t>(i), planes.end());
        PlaneBatch fewer = batch_of(i % 2 == 0 ? std::vector{planes[i]} : some);
        static_cast<void>(solve_planes(fewer, then, b, model, {.of_energy = 1e-9}));
        static_cast<void>(solve_planes(fewer, a, b, model, kPlaneDerivatives));
        CHECK(fewer.energy(0) == all.energy(i));
        CHECK(fewer.motion(0).u == all.motion(i).u);
        CHECK(fewer.motion(0).omega == all.motion(i).omega);
    }
}

TEST_CASE("plane lanes: idle planes and planes whose points coincide") {
    Random random(43);
    const SlipModel model{0.01, 2.5e-7, 0.0};
    const BodyMotion a = random_motion(random, 0.1, 0.01), b = random_motion(random, 0.1, 0.01);
    RandomPlane idle = random_plane(random, false), point = random_plane(random, false);
    for (FrictionPoint& p : idle.points) p.load = 0.0;
    for (FrictionPoint& p : point.points) p.position = point.points[0].position;
    const RandomPlane plain = random_plane(random, false);
    PlaneBatch alone = batch_of({plain}), both = batch_of({idle, plain}), coincide = batch_of({point});
    FrictionSum one, two, three;
    one.energy = solve_planes(alone, a, b, model, kPlaneDerivatives);
    two.energy = solve_planes(both, a, b, model, kPlaneDerivatives);
    three.energy = solve_planes(coincide, a, b, model, kPlaneDerivatives);
    add_planes(alone, a, b, model, one);
    add_planes(both, a, b, model, two);
    add_planes(coincide, a, b, model, three);
    CHECK(one.energy == two.energy);
    CHECK(one.gradient == two.gradient);
    CHECK(one.hessian == two.hessian);
    const Vector6d twist_a = normal_vector(random, 6), twist_b = normal_vector(random, 6);
    std::vector<PlaneAdjointChunk> chunks;
    PlaneAdjointSums adjoint_one, adjoint_two;
    planes_vjp(alone, a, b, model, twist_a, twist_b, chunks, adjoint_one);
    planes_vjp(both, a, b, model, twist_a, twist_b, chunks, adjoint_two);
    CHECK(adjoint_one.phi == adjoint_two.phi);
    CHECK(adjoint_one.previous_a == adjoint_two.previous_a);
    for (const auto& row : chunks[0].position) CHECK(row[0] == 0.0);
    for (const auto& row : chunks[0].load) CHECK(row[0] == 0.0);
    CHECK(three.energy ==
          doctest::Approx(friction_energy({point.normal, point.points, 3}, a, b, model)).epsilon(1e-12));
    CHECK(three.hessian.allFinite());
    CHECK(three.gradient.norm() > 0.0);
}
