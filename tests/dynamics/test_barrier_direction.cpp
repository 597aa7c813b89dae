// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/barrier_direction.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/random.hpp"
#include "support/contact_rollouts.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;
using Vector12d = Eigen::Matrix<double, 12, 1>;

/// Free bodies and a linearisation made by hand.
struct Bodies {
    std::shared_ptr<const Model> model;
    Kinematics kinematics;
    StepLinearization at;
    Eigen::MatrixXd hessian;
    BarrierDirection barriers;

    explicit Bodies(int count) {
        Scene scene;
        for (int k = 0; k < count; ++k)
            testing::add_free_box(scene, "box " + std::to_string(k), {0.1, 0.1, 0.1}, 1.0, {0.0, 0.5 * k, 1.0});
        model = build_model(scene);
        forward_kinematics(*model, model->default_parameters(), model->default_state().q, kinematics);
    }
    [[nodiscard]] Eigen::Index size() const { return model->num_dofs(); }

    /// A pair with the barrier e/(1 - t), t = G.D/e, at t = 0.
    void add_barrier(int a, int b, const Vector12d& gradient, double energy, double gap) {
        contact::PairBlock pair;
        pair.a = a;
        pair.b = b;
        pair.gradient = gradient;
        pair.hessian = 2.0 / energy * gradient * gradient.transpose();
        pair.gap = gap;
        at.contact.blocks.push_back(pair);
    }
    /// G in joint coordinates.
    [[nodiscard]] VectorXd along(const contact::PairBlock& pair) const {
        std::vector<Vector6d> wrenches(kinematics.poses.size(), Vector6d::Zero()), subtree;
        wrenches[static_cast<std::size_t>(pair.a)] = pair.gradient.head<6>();
        wrenches[static_cast<std::size_t>(pair.b)] = pair.gradient.tail<6>();
        VectorXd out = VectorXd::Zero(size());
        add_pull_back(*model, kinematics, wrenches, subtree, out);
        return out;
    }
    /// Of the function with this gradient and this Hessian without barriers; returns the slope.
    double step(const VectorXd& gradient, const Eigen::MatrixXd& smooth, double& newton_slope, VectorXd& out) {
        hessian = smooth;
        for (const contact::PairBlock& pair : at.contact.blocks) {
            const double energy = 2.0 * pair.gradient.squaredNorm() * pair.gradient.squaredNorm() /
                                  pair.gradient.dot(pair.hessian * pair.gradient);
            hessian += 2.0 / energy * along(pair) * along(pair).transpose();
        }
        const std::vector<int> groups(static_cast<std::size_t>(size()), 0);
        at.hessian.set_zero(groups);
        for (Eigen::Index i = 0; i < size(); ++i) {
            for (Eigen::Index j = 0; j <= i; ++j) at.hessian.block(0, 0)(i, j) = hessian(i, j);
        }
        at.gradient = gradient;
        at.reduce(model->reduction(), nullptr);
        REQUIRE(at.factor());
        newton_slope = at.newton_step(out);
        return barriers.bend(*model, kinematics, at, newton_slope, out);
    }
};

TEST_CASE("barrier direction: one step ends at the minimum of a weight on a barrier 1/distance") {
    const double weight = 1e-4, mass = 3e4;  // [J m], [N/m]
    for (const double start : {1e-3, 3e-3, 0.02}) {
        for (const double target : {-0.01, -1e-3, 5e-3}) {
            CAPTURE(start);
            CAPTURE(target);
            Bodies bodies(1);
            Vector12d gradient = Vector12d::Zero();
            gradient[2] = weight / (start * start), gradient[8] = -weight / (start * start);
            bodies.add_barrier(0, 1, gradient, weight / start, start);
            VectorXd g = VectorXd::Zero(6), step;
            g[2] = mass * (start - target) - weight / (start * start);
            double newton_slope = 0.0;
            const double slope = bodies.step(g, mass * Eigen::MatrixXd::Identity(6, 6), newton_slope, step);
            const double there = start + step[2];
            REQUIRE(there > 0.0);
            const double force = weight / (there * there);
            CHECK(mass * (there - target) == doctest::Approx(force).epsilon(1e-3));
            CHECK(slope == doctest::Approx(g.dot(step)).epsilon(1e-9));
            CHECK(slope < 0.0);
        }
    }
}

TEST_CASE("barrier direction: the model is stationary at its end, for many pairs, and small steps stay Newton's") {
    Random random(81);
    int bent = 0;
    for (int round = 0; round < 60; ++round) {
        Bodies bodies(4);
        const Eigen::Index n = bodies.size();
        const int pairs = round % 3 == 0 ? 45 : 1 + round % 7;  // also more than are bent at once
        for (int k = 0; k < pairs; ++k) {
            const int a = uniform_index(random, 4);
            const int b = a + 1 + uniform_index(random, 4 - a);
            Vector12d gradient = normal_vector(random, 12);
            gradient.segment<3>(6) = -gradient.segment<3>(0);
            bodies.add_barrier(a, b, gradient, std::pow(10.0, uniform(random, -2.0, 1.0)), 1e-6);
        }
        Eigen::MatrixXd smooth = Eigen::MatrixXd::Identity(n, n);
        const Eigen::MatrixXd root = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return uniform(random, -1.0, 1.0); });
        smooth += root * root.transpose() / static_cast<double>(n);
        const VectorXd g = normal_vector(random, n);
        double newton_slope = 0.0;
        VectorXd step;
        const double slope = bodies.step(g, smooth, newton_slope, step);
        CHECK(slope == doctest::Approx(g.dot(step)).epsilon(1e-8));
        CHECK(slope < 0.0);
        const VectorXd newton = -bodies.hessian.llt().solve(g);
        VectorXd rest = g + bodies.hessian * step;
        for (const contact::PairBlock& pair : bodies.at.contact.blocks) {
            const VectorXd along = bodies.along(pair);
            const double energy =
                2.0 * std::pow(pair.gradient.squaredNorm(), 2) / pair.gradient.dot(pair.hessian * pair.gradient);
            const double t = along.dot(step) / energy;
            if (pairs < 10) CHECK(t < 1.0);
            if (std::abs(along.dot(newton)) > 0.1 * energy)
                rest += (1.0 / ((1.0 - t) * (1.0 - t)) - 1.0 - 2.0 * t) * along;
        }
        if (pairs < 10) CHECK(rest.norm() < 1e-2 * g.norm());
        if ((step - newton).norm() > 1e-3 * newton.norm()) ++bent;
        const double small = 1e-9;
        static_cast<void>(bodies.step(small * g, smooth, newton_slope, step));
        CHECK((step - small * newton).norm() < 1e-12 * newton.norm() * small);
    }
    CHECK(bent > 30);
}

TEST_CASE("barrier direction: a wall stops what runs into it, and nothing else") {
    const double mass = 3e4, room = 2e-3;
    Bodies bodies(2);
    VectorXd g = VectorXd::Zero(12), step;
    g[2] = mass * 0.05, g[6] = -mass * 0.01;  // the first box falls by 0.05, the second slides by 0.01
    double newton_slope = 0.0;
    CHECK(bodies.step(g, mass * Eigen::MatrixXd::Identity(12, 12), newton_slope, step) == newton_slope);
    CHECK(step[2] == doctest::Approx(-0.05));
    const VectorXd free = step;
    const auto wall = [&](double height, double energy) {  // body 1 may move down by this much, up by any
        BarrierDirection::Barrier one{.a = 0, .b = 1, .energy = energy};
        one.gradient.setZero();
        one.gradient[2] = energy / height, one.gradient[8] = -energy / height;
        return one;
    };
    double last = 1.0;
    for (const double energy : {1e-1, 1e-2, 1e-3}) {
        CAPTURE(energy);
        static_cast<void>(bodies.step(g, mass * Eigen::MatrixXd::Identity(12, 12), newton_slope, step));
        const double slope =
            bodies.barriers.add_walls(*bodies.model, bodies.kinematics, bodies.at, {wall(room, energy)}, step);
        CHECK(slope == doctest::Approx(g.dot(step)).epsilon(1e-9));
        CHECK(slope < 0.0);
        const double t = -step[2] / room;
        REQUIRE(t > 0.0);
        REQUIRE(t < 1.0);
        CHECK(1.0 - t < last);  // the less energy, the nearer
        last = 1.0 - t;
        CHECK(mass * (0.05 + step[2]) == doctest::Approx(energy / room * barrier::excess_slope(t)).epsilon(1e-3));
        CHECK(step[6] == doctest::Approx(free[6]).epsilon(1e-3));
        // A second wall, nearer, joins the first.
        static_cast<void>(
            bodies.barriers.add_walls(*bodies.model, bodies.kinematics, bodies.at, {wall(0.1 * room, energy)}, step));
        CHECK(bodies.barriers.barriers().size() == 2);
        CHECK(-step[2] > 0.0);
        CHECK(-step[2] < 0.1 * room);
    }
    // Away from a wall there is none.
    static_cast<void>(bodies.step(-g, mass * Eigen::MatrixXd::Identity(12, 12), newton_slope, step));
    static_cast<void>(bodies.barriers.add_walls(*bodies.model, bodies.kinematics, bodies.at, {wall(room, 1e-2)}, step));
    CHECK((step + free).norm() < 1e-12 * free.norm());
}

}  // namespace
}  // namespace farfield
