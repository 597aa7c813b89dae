// SPDX-License-Identifier: Apache-2.0
/// @file  Starts that intersect are found and named; options are checked.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "farfield/dynamics/collision_filter.hpp"
#include "support/collision_meshes.hpp"

namespace farfield {

using Eigen::VectorXd;
using test::add_free_body;
using test::make_sheet;
using test::make_torus;
using test::two_bodies;

TEST_CASE("an intersecting start is named") {
    Scene scene;
    add_free_body(scene, "ring", make_torus(0.5, 0.1, 12, 6), {0.0, 0.0, 2.0});
    add_free_body(scene, "bar", make_box({0.5, 0.05, 0.05}), {0.0, 0.0, 4.0});
    add_free_body(scene, "case", make_box({0.3, 0.3, 0.3}), {0.0, 5.0, 4.0});
    scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
    const auto model = build_model(scene);
    const CollisionFilter filter(*model);
    Kinematics start;
    VectorXd q = model->default_state().q;
    const auto find = [&] {
        forward_kinematics(*model, model->default_parameters(), q, start);
        return filter.find_intersection(start.poses);
    };
    CHECK_FALSE(find().has_value());

    q.segment<3>(7) << 0.5, 0.0, 2.0;  // the bar across the ring
    auto found = find();
    REQUIRE(found);
    CHECK(found->a == 1);
    CHECK(found->b == 2);
    CHECK_FALSE(found->inside);
    CHECK(std::abs(found->point.head<2>().norm() - 0.5) < 0.12);
    FilterMemory memory;
    const auto refused = filter.max_step(start, VectorXd::Constant(model->num_dofs(), 1e-3), {}, memory);
    CHECK(refused.alpha == 0.0);
    CHECK(refused.certified_gap == 0.0);
    CHECK(refused.limiting_a == 1);
    CHECK(refused.limiting_b == 2);

    q.segment<3>(7) << 0.0, 0.0, 2.0;  // in the hole of the ring: apart
    q[7 + 2] = 2.9;
    CHECK_FALSE(find().has_value());

    q.segment<3>(7) << 0.0, 0.0, 0.04;
    found = find();
    REQUIRE(found);
    CHECK(found->a == 0);
    CHECK(found->b == 2);
    CHECK(found->point.z() == doctest::Approx(-0.01));

    q.segment<3>(7) << 0.0, 0.0, 6.0;
    scene.meshes[1] = make_box({0.05, 0.05, 0.05});
    const auto small = build_model(scene);
    q.segment<3>(7) << 0.0, 5.0, 4.0;  // a small box inside the case
    forward_kinematics(*small, small->default_parameters(), q, start);
    found = CollisionFilter(*small).find_intersection(start.poses);
    REQUIRE(found);
    CHECK(found->a == 2);
    CHECK(found->b == 3);
    CHECK(found->inside);
}

TEST_CASE("filter options are checked") {
    const auto model = two_bodies(make_sheet(1.0, 1.0), make_sheet(1.0, 1.0));
    CHECK_THROWS_AS(CollisionFilter(*model, FilterOptions{.keep = 0.0}), std::invalid_argument);
    CHECK_THROWS_AS(CollisionFilter(*model, FilterOptions{.tolerance = 1.0}), std::invalid_argument);
    CHECK_THROWS_AS(CollisionFilter(*model, FilterOptions{.curvature_scale = -1.0}), std::invalid_argument);
}

}  // namespace farfield
