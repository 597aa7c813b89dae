// SPDX-License-Identifier: Apache-2.0
/// @file  Newton's method on functions that are neither robots nor contact.
#include "farfield/dynamics/newton.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace farfield {
namespace {

using Eigen::Vector2d;
using Eigen::VectorXd;

/// f = 1/2 a (x - 3)^2 + 1/2 y^2 - w ln(1 - x), defined for x < 1; its minimum lies before the wall.
class Wall : public NewtonProblem {
 public:
    double stiffness = 1.0, weight = 1e-3, noise = 0.0;
    double allowed = 1e-10;
    bool certifies = true;
    int energies = 0, linearizations = 0, accepted = 0;

    double energy(const VectorXd& q) override {
        ++energies;
        return value(q);
    }
    double linearize(const VectorXd& q) override {
        ++linearizations;
        linearized_ = q;
        return value(q);
    }
    void accept() override {
        ++accepted;
        CHECK(linearized_ == steps_from_);
    }
    NewtonDirection direction(const VectorXd& q, VectorXd& step, StepReport& report) override {
        steps_from_ = q;
        if (!std::isfinite(value(q))) return {.failure = StepStatus::Intersecting};
        const double room = 1.0 - q[0];
        const Vector2d g(stiffness * (q[0] - 3.0) + weight / room, q[1]);
        step = Vector2d(-g[0] / (stiffness + weight / (room * room)), -g[1]);
        report.residual = g.lpNorm<Eigen::Infinity>();
        return {.excess = report.residual / allowed, .slope = g.dot(step), .noise = noise};
    }
    FreeWay free_way(VectorXd& step, NewtonDirection&, StepReport&) override {
        if (!certifies) return {.certified = false};
        const double alpha = step[0] > 0.0 ? std::min(1.0, 0.9 * room_ / step[0]) : 1.0;
        return {.alpha = alpha, .whole = alpha == 1.0};
    }
    void move(const VectorXd& q, const VectorXd& step, VectorXd& out) const override {
        out = q + step;
        room_ = 1.0 - out[0];
    }

    /// Where the derivative by x vanishes: a (x - 3)(1 - x) + w = 0.
    [[nodiscard]] double minimum() const { return 2.0 - std::sqrt(1.0 + weight / stiffness); }

 private:
    [[nodiscard]] double value(const VectorXd& q) const {
        if (!(q[0] < 1.0)) return std::numeric_limits<double>::infinity();
        return 0.5 * stiffness * (q[0] - 3.0) * (q[0] - 3.0) + 0.5 * q[1] * q[1] - weight * std::log(1.0 - q[0]);
    }
    VectorXd linearized_, steps_from_;
    mutable double room_ = 1.0;  // of the point moved to last, where the way starts
};

TEST_CASE("newton: finds a minimum beside a wall, with and without certificates") {
    for (const bool certifies : {true, false}) {
        Wall wall;
        wall.certifies = certifies;
        NewtonIterate x;
        x.set(Vector2d(0.0, 5.0));
        StepReport report;
        newton(wall, {100}, x, report);
        CHECK(report.status == StepStatus::Converged);
        CHECK(report.residual <= 1e-10);
        CHECK(std::abs(x.q[0] - wall.minimum()) < 1e-12);
        CHECK(std::abs(x.q[1]) < 1e-12);
        CHECK(wall.accepted == report.iterations);
        if (certifies) CHECK(wall.linearizations <= report.iterations + 1);
    }
}

TEST_CASE("newton: the step computed where the test passes is taken, and iterations count in total") {
    Wall wall;
    NewtonIterate x;
    x.set(Vector2d(wall.minimum(), 1e-3));
    StepReport report{.iterations = 7};
    wall.allowed = 1e-2;
    newton(wall, {100}, x, report);
    CHECK(report.status == StepStatus::Converged);
    CHECK(report.iterations == 8);
    CHECK(x.q[1] == 0.0);  // quadratic in y: one step ends there
    newton(wall, {8}, x, report);
    CHECK(report.status == StepStatus::MaxIterations);
    CHECK(report.iterations == 8);
}

/// f = cosh(x - 1) + y^2/2, with a factor that may be kept.
class Bowl final : public NewtonProblem {
 public:
    int linearizations = 0, gradients = 0;

    double energy(const VectorXd& q) override { return std::cosh(q[0] - 1.0) + 0.5 * q[1] * q[1]; }
    double linearize(const VectorXd& q) override {
        ++linearizations;
        curvature_ = std::cosh(q[0] - 1.0);
        return energy(q);
    }
    bool keeps_factor() const override { return true; }
    double differentiate(const VectorXd& q) override {
        ++gradients;
        return energy(q);
    }
    NewtonDirection direction(const VectorXd& q, VectorXd& step, StepReport&) override {
        const Vector2d g(std::sinh(q[0] - 1.0), q[1]);
        step = Vector2d(-g[0] / curvature_, -g[1]);
        return {.excess = g.lpNorm<Eigen::Infinity>() / 1e-12, .slope = g.dot(step)};
    }
    FreeWay free_way(VectorXd&, NewtonDirection&, StepReport&) override { return {}; }
    void move(const VectorXd& q, const VectorXd& step, VectorXd& out) const override { out = q + step; }

 private:
    double curvature_ = 1.0;  // at the point of the last linearize()
};

TEST_CASE("newton: close to the end the factor is kept, and computed anew where it does not serve") {
    for (const double start : {1.5, 4.0}) {
        Bowl bowl;
        NewtonIterate x;
        x.set(Vector2d(start, 0.3));
        StepReport report;
        newton(bowl, {100}, x, report);
        CHECK(report.status == StepStatus::Converged);
        CHECK(std::abs(x.q[0] - 1.0) < 1e-14);
        CHECK(bowl.gradients > 0);
        CHECK(bowl.linearizations < report.iterations);
    }
}

TEST_CASE("newton: a start outside and a way without room are told apart") {
    Wall wall;
    NewtonIterate x;
    x.set(Vector2d(1.5, 0.0));
    StepReport outside;
    newton(wall, {100}, x, outside);
    CHECK(outside.status == StepStatus::Intersecting);

    class Stuck final : public Wall {
        FreeWay free_way(VectorXd&, NewtonDirection&, StepReport&) override { return {.alpha = 0.0, .whole = false}; }
    } stuck;
    x.set(Vector2d(0.0, 5.0));
    StepReport report;
    newton(stuck, {100}, x, report);
    CHECK(report.status == StepStatus::LineSearchFailed);
    CHECK(x.q == Vector2d(0.0, 5.0));
}

TEST_CASE("newton: where values are lost in rounding it goes on until the gradient has stopped falling") {
    Wall wall;
    wall.allowed = 1e-300;  // nothing will do
    wall.noise = 1.0;
    NewtonIterate x;
    x.set(Vector2d(wall.minimum() - 1e-6, 1e-6));
    StepReport report;
    newton(wall, {100}, x, report);
    CHECK(report.status == StepStatus::Converged);
    CHECK(report.iterations < 10);
    CHECK(std::abs(x.q[0] - wall.minimum()) < 1e-14);
    CHECK(wall.energies == 0);  // nothing is learned from them
}

TEST_CASE("newton: evaluations are counted and bounded") {
    Wall wall;
    wall.certifies = false;
    wall.weight = 1e-9;  // most of a step leads behind the wall
    NewtonIterate x;
    x.set(Vector2d(0.0, 5.0));
    StepReport report;
    newton(wall, {.max_iterations = 100, .max_evaluations = 20}, x, report);
    CHECK(report.status == StepStatus::MaxIterations);
    CHECK(wall.energies + wall.linearizations >= 20);
    CHECK(wall.energies + wall.linearizations < 20 + 61);
}

}  // namespace
}  // namespace farfield
