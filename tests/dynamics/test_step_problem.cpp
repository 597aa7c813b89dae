// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_problem.hpp"

#include <doctest/doctest.h>

#include "support/derivative_check.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::check_gradient;
using testing::check_jacobian;

struct Example {
    std::shared_ptr<const Model> model;
    StepOptions options;
    State now;
    StepInput input;
    VectorXd q;
    Example(std::uint64_t seed, PdConvention convention) : model(build_model(testing::zoo(seed))) {
        Random random(seed);
        options.dt = 0.02;
        options.pd_convention = convention;
        now = testing::random_state(*model, random);
        input.control = 0.5 * normal_vector(random, model->num_controls());
        const VectorXd away = 0.2 * normal_vector(random, model->num_dofs());
        retract(*model, now.q, away, q);
    }
};

TEST_CASE("step problem: gradient and Hessian against differences, every joint and actuator") {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        for (const PdConvention convention : {PdConvention::Standard, PdConvention::Paper}) {
            const Example p(seed, convention);
            const StepContext context{*p.model, p.model->default_parameters(), nullptr, nullptr, p.options};
            StepMemory memory = make_memory(context);
            StepProblem problem;
            problem.begin(context, p.now, p.input, memory);
            const int n = p.model->num_dofs();
            const auto at = [&](const VectorXd& delta) {
                VectorXd q;
                retract(*p.model, p.q, delta, q);
                return q;
            };
            const double value = problem.linearize(p.q);
            const VectorXd gradient = problem.linearization().gradient;
            const MatrixXd hessian = problem.linearization().hessian.to_dense();
            CHECK(problem.energy(p.q) == doctest::Approx(value).epsilon(1e-12));
            Random random(seed + 77);
            const auto energy = [&](const VectorXd& delta) { return problem.energy(at(delta)); };
            const auto along = check_gradient(energy, VectorXd::Zero(n), gradient, {}, random);
            CHECK_MESSAGE(along.passes(), along);
            // Second directional derivatives along q -> retract(q, h s) are s^T H s, whatever the connection.
            for (int k = 0; k < 4; ++k) {
                const VectorXd s = testing::random_direction(random, n);
                const auto slope = [&](const VectorXd& h) {
                    StepProblem moved;
                    moved.begin(context, p.now, p.input, memory);
                    moved.linearize(at(h[0] * s));
                    // along R exp(h w) the tangent of the path is w at every h
                    return VectorXd(VectorXd::Constant(1, moved.linearization().gradient.dot(s)));
                };
                const MatrixXd curvature = MatrixXd::Constant(1, 1, s.dot(hessian * s));
                const auto report = check_jacobian(slope, VectorXd::Zero(1), curvature, {}, random);
                CHECK_MESSAGE(report.passes(), report);
            }
        }
    }
}

TEST_CASE("step problem: far from the origin nothing is lost") {
    // A robot at 1e4 m has the same forces as one at the origin, to rounding of its coordinates.
    Scene scene = testing::zoo(3);
    scene.actuators.clear();
    const auto model = build_model(scene);
    Random random(5);
    State now = testing::random_state(*model, random);
    const StepInput input;
    const StepContext context{*model, model->default_parameters(), nullptr, nullptr, StepOptions{}};
    VectorXd q;
    retract(*model, now.q, 0.01 * now.v, q);
    StepMemory memory = make_memory(context);
    StepProblem problem;
    problem.begin(context, now, input, memory);
    problem.linearize(q);
    const VectorXd near = problem.linearization().gradient;
    const Eigen::Vector3d offset(1e4, -2e4, 3e4);
    now.q.head<3>() += offset;
    q.head<3>() += offset;
    problem.begin(context, now, input, memory);
    problem.linearize(q);
    // springs on the free joint's translation see the offset; leave those three rows out
    CHECK((problem.linearization().gradient - near).tail(near.size() - 3).norm() < 1e-5 * near.norm());
}

}  // namespace
}  // namespace farfield
