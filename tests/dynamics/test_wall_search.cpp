// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/wall_search.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/random.hpp"
#include "farfield/geometry/distance.hpp"
#include "support/contact_rollouts.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

/// Two boxes 2 cm apart, one above the other, over a plane 10 cm below the lower one.
struct Stack {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    VectorXd q;
    Kinematics kinematics;
    contact::ContactLinearization contact;
    std::vector<double> weights;
    FilterMemory memory;
    WallSearch search;

    Stack() {
        Scene scene;
        testing::add_free_box(scene, "lower", {0.1, 0.1, 0.1}, 1.0, {0.0, 0.0, 0.2});
        testing::add_free_box(scene, "upper", {0.05, 0.05, 0.05}, 1.0, {0.0, 0.0, 0.37});
        testing::add_ground(scene);
        model = build_model(scene);
        parameters = model->default_parameters();
        q = model->default_state().q;
        forward_kinematics(*model, parameters, q, kinematics);
        weights.assign(model->collision().pairs.size(), 3e-3);
    }
    std::vector<BarrierDirection::Barrier> walls(const CollisionFilter& filter, const VectorXd& step,
                                                 std::vector<double>& fractions) {
        fractions.assign(weights.size(), 1.0);
        static_cast<void>(filter.max_step(kinematics, step, {}, memory, fractions));
        return search.find({*model, parameters, q, kinematics, contact, weights}, filter, step, fractions, 1.0);
    }
};

TEST_CASE("collision filter: nearest points lie on both surfaces, as far apart as these") {
    Random random(12);
    Stack stack;
    const CollisionFilter filter(*stack.model);
    for (int round = 0; round < 30; ++round) {
        const VectorXd step = 0.02 * normal_vector(random, 12);
        VectorXd q;
        retract(*stack.model, stack.q, step, q);
        Kinematics placed;
        forward_kinematics(*stack.model, stack.parameters, q, placed);
        for (std::size_t p = 0; p < filter.pairs().size(); ++p) {
            const int pair = static_cast<int>(p);
            const double gap = filter.gap_lower_bound(pair, placed.poses);
            if (!(gap > 0.0)) continue;
            const SweptDistance near = filter.nearest(pair, placed.poses);
            CHECK((near.on_b - near.on_a).norm() == doctest::Approx(near.distance));
            CHECK(near.distance >= gap);
            CHECK(near.distance <= gap / 0.9 * (1.0 + 1e-9));
            for (const auto& [body, point] :
                 {std::pair{filter.pairs()[p].a, near.on_a}, std::pair{filter.pairs()[p].b, near.on_b}}) {
                const Vector3d local = placed.poses[static_cast<std::size_t>(body)].inverse() * point;
                const double off = body == 0   ? local[2]
                                   : body == 1 ? local.cwiseAbs().maxCoeff() - 0.1
                                               : local.cwiseAbs().maxCoeff() - 0.05;
                CHECK(std::abs(off) < 1e-12);
            }
        }
    }
}

TEST_CASE("wall search: a wall lets close in by what the filter has let pass") {
    Stack stack;
    const CollisionFilter filter(*stack.model);
    std::vector<double> fractions;
    VectorXd step = VectorXd::Zero(12);
    step[8] = -0.2;  // the upper box falls onto the lower one
    step[6] = 1e-3;
    const auto walls = stack.walls(filter, step, fractions);
    REQUIRE(walls.size() == 1);
    const BarrierDirection::Barrier& wall = walls[0];
    CHECK(wall.a == 1);
    CHECK(wall.b == 2);
    std::size_t pair = 0;
    while (filter.pairs()[pair].a != 1) ++pair;
    CHECK(fractions[pair] == doctest::Approx(0.09).epsilon(0.1));  // nine tenths of 2 cm
    std::vector<Vector6d> twists;
    body_twists(*stack.model, stack.kinematics, fractions[pair] * step, twists);
    CHECK(wall.closing(twists) == doctest::Approx(1.0));
    CHECK(wall.energy > 0.0);
    CHECK(wall.energy < stack.parameters.contact_stiffness * 3e-3);
    const Vector3d push = wall.gradient.head<3>();
    CHECK((push.normalized() - Vector3d::UnitZ()).norm() < 1e-6);
    CHECK((wall.gradient.segment<3>(6) + push).norm() < 1e-12 * push.norm());

    // Away from each other, and both together, there is none.
    step[8] = 0.2;
    CHECK(stack.walls(filter, step, fractions).empty());
    step.setZero();
    step[2] = step[8] = -0.05;
    CHECK(stack.walls(filter, step, fractions).empty());
    step[2] = step[8] = -0.15;  // the plane is in the way of the lower one alone
    const auto ground = stack.walls(filter, step, fractions);
    REQUIRE(ground.size() == 1);
    CHECK(ground[0].a == 0);
    CHECK(ground[0].b == 1);
}

TEST_CASE("wall search: a pair that carries force lends its own to the wall") {
    Stack stack;
    const CollisionFilter filter(*stack.model);
    std::vector<double> fractions;
    VectorXd step = VectorXd::Zero(12);
    step[8] = -0.2;
    const double before = stack.walls(filter, step, fractions).at(0).energy;
    contact::PairBlock block;
    block.a = 1, block.b = 2;
    block.gap = 0.02;
    block.gradient[2] = 50.0, block.gradient[8] = -50.0;
    stack.contact.blocks.push_back(block);
    const double after = stack.walls(filter, step, fractions).at(0).energy;
    CHECK(after / before == doctest::Approx(50.0 * 0.02 / (stack.parameters.contact_stiffness * 3e-3)));
}

}  // namespace
}  // namespace farfield
