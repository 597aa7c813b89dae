// SPDX-License-Identifier: Apache-2.0
/// @file  Which length, mass and acceleration a pair of bodies is measured by.
#include <doctest/doctest.h>

#include "farfield/contact/pairwise/pair_units.hpp"
#include "farfield/geometry/primitives.hpp"

using namespace farfield;
using contact::PairUnits;

namespace {

/// World: a slab and a half-space. An arm of 3 kg and 2 kg with a finger of 0.25 kg welded to its end, a free box of 1 kg, a scripted lid.
Scene workshop() {
    Scene scene;
    const auto body = [&](const char* name, int parent, std::vector<Joint> joints, double half, double mass) {
        Moments moments = ellipsoid_moments(Eigen::Vector3d::Constant(half), 1.0);
        moments.second *= mass / moments.mass;
        moments.mass = mass;
        scene.bodies.push_back(Body{.name = name,
                                    .parent = parent,
                                    .position = {0.0, 0.0, 1.0 + static_cast<double>(scene.bodies.size())},
                                    .joints = std::move(joints),
                                    .moments = moments});
        scene.shapes.push_back(Shape{.name = name,
                                     .body = static_cast<int>(scene.bodies.size()) - 1,
                                     .type = ShapeType::Box,
                                     .size = Eigen::Vector3d::Constant(half)});
    };
    body("upper", 0, {Joint{.name = "shoulder", .type = JointType::Hinge}}, 0.1, 3.0);
    body("lower", 1, {Joint{.name = "elbow", .type = JointType::Hinge}}, 0.1, 2.0);
    body("finger", 2, {}, 0.01, 0.25);
    scene.bodies.back().motion = BodyMotion::Fixed;
    body("box", 0, {Joint{.name = "box", .type = JointType::Free}}, 0.05, 1.0);
    body("lid", 0, {}, 0.2, 0.001);
    scene.bodies.back().motion = BodyMotion::Kinematic;
    scene.shapes.push_back(Shape{.name = "slab", .body = 0, .type = ShapeType::Box, .size = {5.0, 5.0, 0.1}});
    return scene;
}

PairUnits units_of(const Scene& scene, int a, int b) {
    return contact::pair_units(*build_model(scene), {{a, b}}).front();
}

enum Bodies { kWorld, kUpper, kLower, kFinger, kBox, kLid };

}  // namespace

TEST_CASE("pair units: the length is that of the smaller surface, whoever moves") {
    const Scene scene = workshop();
    CHECK(units_of(scene, kWorld, kBox).length == doctest::Approx(0.1));  // a cube's edge
    CHECK(units_of(scene, kFinger, kBox).length == doctest::Approx(0.02));
    CHECK(units_of(scene, kBox, kLid).length == doctest::Approx(0.1));
    CHECK(units_of(scene, kBox, kLid).area() == doctest::Approx(6.0 * 0.01));
    Scene ground;
    ground.bodies = {scene.bodies[0], scene.bodies[kBox]};
    ground.shapes = {Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace},
                     Shape{.name = "box", .body = 1, .type = ShapeType::Box, .size = Eigen::Vector3d::Constant(0.05)}};
    CHECK(units_of(ground, 0, 1).length == doctest::Approx(0.1));
}

TEST_CASE(
    "pair units: the mass is that of the lighter link with what hangs on it; scripted bodies and the world have no "
    "say") {
    const Scene scene = workshop();
    CHECK(units_of(scene, kWorld, kUpper).mass == doctest::Approx(5.25));
    CHECK(units_of(scene, kWorld, kLower).mass == doctest::Approx(2.25));
    CHECK(units_of(scene, kWorld, kFinger).mass == doctest::Approx(2.25));  // welded: it is the end of the lower arm
    CHECK(units_of(scene, kFinger, kBox).mass == doctest::Approx(1.0));
    CHECK(units_of(scene, kUpper, kBox).mass == doctest::Approx(1.0));
    CHECK(units_of(scene, kBox, kLid).mass == doctest::Approx(1.0));  // not a gram
    CHECK(units_of(scene, kWorld, kLid).mass > 0.0);                  // nothing here answers to a force
}

TEST_CASE("pair units: gravity, or the pair's length in ten time steps of the scene") {
    Scene scene = workshop();
    CHECK(units_of(scene, kWorld, kBox).acceleration == doctest::Approx(9.81));
    scene.gravity.setZero();
    CHECK(units_of(scene, kWorld, kBox).acceleration == doctest::Approx(0.1 / (0.1 * 0.1)));
    scene.dt = 0.002;
    const PairUnits units = units_of(scene, kWorld, kBox);
    CHECK(units.acceleration == doctest::Approx(0.1 / (0.02 * 0.02)));
    CHECK(units.energy() == doctest::Approx(units.force() * units.length));
    CHECK(contact::automatic_slip_speed(units) == doctest::Approx(1e-3 * 0.1 / 0.02));
}
