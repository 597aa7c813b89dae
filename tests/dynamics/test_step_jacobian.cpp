// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_jacobian.hpp"

#include <doctest/doctest.h>

#include "farfield/model/parameter_names.hpp"
#include "support/contact_rollouts.hpp"
#include "support/derivative_check.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::DerivativeReport;

/// One step, and everything it depends on moved along tangent vectors.
struct OneStep {
    std::shared_ptr<const Model> model;
    ContactSetup contact;
    StepOptions options{.dt = 0.01, .tolerance = 1e-14};
    Parameters parameters;
    State start;
    VectorXd control, script;

    explicit OneStep(const Scene& scene) : model(build_model(scene)), parameters(model->default_parameters()) {
        start = model->default_state();
        control = model->default_control();
    }
    [[nodiscard]] Trajectory run(const State& from, const VectorXd& u, const VectorXd& s, const Parameters& p) const {
        RolloutInput input{.state0 = from, .controls = u.transpose()};
        if (s.size()) input.script = s.transpose();
        if (!u.size()) input.controls = RowMatrix::Zero(1, 0);
        Trajectory t = rollout(model, p, input, options, contact);
        REQUIRE(t.converged());
        return t;
    }
    [[nodiscard]] Trajectory run() const { return run(start, control, script, parameters); }
    /// Tangent from the next state of `from` to that of `to`.
    [[nodiscard]] VectorXd between(const Trajectory& from, const Trajectory& to) const {
        VectorXd dq, out(2 * model->num_dofs());
        difference(*model, from.q.row(1).transpose(), to.q.row(1).transpose(), dq);
        out << dq, (to.v.row(1) - from.v.row(1)).transpose();
        return out;
    }
    [[nodiscard]] State moved(const VectorXd& s) const {
        const int n = model->num_dofs();
        State out;
        retract(*model, start.q, s.head(n), out.q);
        out.v = start.v + s.tail(n);
        return out;
    }
    [[nodiscard]] VectorXd script_moved(const VectorXd& s) const {
        VectorXd q = start.q, delta = VectorXd::Zero(model->num_dofs()), to;
        const ModelBody& body = model->bodies()[static_cast<std::size_t>(model->kinematic_bodies()[0])];
        const int index = model->joints()[static_cast<std::size_t>(body.first_joint)].q;
        q.segment<7>(index) = script;
        delta.segment<6>(body.first_dof) = s;
        retract(*model, q, delta, to);
        return to.segment<7>(index);
    }
};

/// The change of the next state along a direction, by differences, against `expected`.
template <class Step>
DerivativeReport along(const OneStep& one, const VectorXd& expected, Step&& step) {
    const Trajectory here = one.run();
    const auto plus_minus = [&](double h) {
        return std::pair(one.between(here, step(h)), one.between(here, step(-h)));
    };
    return testing::check_ladder(plus_minus, expected, {.first = 1e-3, .last = 1e-8});
}

void check_all(const OneStep& one, const std::vector<std::string>& selection, double tolerance) {
    Random random(17);
    const Model& model = *one.model;
    const Trajectory t = one.run();
    const Eigen::VectorXi chosen = parameter_mask(model, selection);
    const StepJacobian J = step_jacobian(t, 0, chosen);
    const int n = model.num_dofs();
    REQUIRE(J.A.rows() == 2 * n);
    CHECK(J.A.norm() > 1.0);
    const auto check = [&](const char* what, const DerivativeReport& report) {
        CHECK_MESSAGE(report.passes(tolerance), what, ": ", report);
    };
    VectorXd s(2 * n);
    s << model.reduction().E * testing::random_direction(random, model.num_unknowns()),
        model.reduction().E * testing::random_direction(random, model.num_unknowns());
    check("A", along(one, J.A * s,
                     [&](double h) { return one.run(one.moved(h * s), one.control, one.script, one.parameters); }));
    if (one.control.size()) {
        const VectorXd u = testing::random_direction(random, one.control.size());
        check("B", along(one, J.B * u, [&](double h) {
                  return one.run(one.start, one.control + h * u, one.script, one.parameters);
              }));
    }
    if (one.script.size()) {
        const VectorXd r = testing::random_direction(random, 6);
        check("S", along(one, J.S * r, [&](double h) {
                  return one.run(one.start, one.control, one.script_moved(h * r), one.parameters);
              }));
    }
    const VectorXd flat = flatten(one.parameters);
    VectorXd p = VectorXd::Zero(flat.size());
    for (const int k : chosen) p[k] = normal(random) * (flat[k] != 0.0 ? std::abs(flat[k]) : 0.1);
    check("C", along(one, J.C * p(chosen), [&](double h) {
              return one.run(one.start, one.control, one.script, unflatten(one.parameters, flat + h * p));
          }));
    // Rows against vector-Jacobian products: a^T [A B S C] is what rollout_vjp gives for the partials a.
    const RowMatrix a = RowMatrix::NullaryExpr(1, 2 * n, [&] { return normal(random); });
    RowMatrix dq = RowMatrix::Zero(2, n), dv = RowMatrix::Zero(2, n);
    dq.row(1) = a.leftCols(n);
    dv.row(1) = a.rightCols(n);
    const RolloutGradient g = rollout_vjp(t, {.dL_dq = view(dq), .dL_dv = view(dv)});
    const auto near = [](const RowMatrix& x, const RowMatrix& y) { return (x - y).norm() <= 1e-10 * (1.0 + y.norm()); };
    CHECK(near(a * J.A.leftCols(n), g.q0.transpose()));
    CHECK(near(a * J.A.rightCols(n), g.v0.transpose()));
    CHECK(near(a * J.B, g.controls));
    CHECK(near(a * J.S, g.script));
    CHECK(near(a * J.C, flatten(g.parameters)(chosen).transpose()));
}

TEST_CASE("step jacobian: every joint and actuator, ties and a script, against differences and the vjp") {
    OneStep one(testing::zoo_with_kinematic(4));
    Random random(5);
    one.start = testing::random_state(*one.model, random);
    one.control += 0.3 * normal_vector(random, one.model->num_controls());
    const ModelBody& body = one.model->bodies()[static_cast<std::size_t>(one.model->kinematic_bodies()[0])];
    const int index = one.model->joints()[static_cast<std::size_t>(body.first_joint)].q;
    one.script = one.start.q.segment<7>(index);
    one.script = one.script_moved(0.02 * normal_vector(random, 6));
    check_all(one, {"attachment", "kp", "damping", "gravity"}, 1e-6);
}

TEST_CASE("step jacobian: boxes that rub and roll") {
    Scene scene;
    testing::add_ground(scene);
    testing::add_free_box(scene, "box", {0.2, 0.2, 0.1}, 1.0, {0.0, 0.0, 0.1005});
    testing::add_free_mesh(scene, "ball", make_sphere(0.1), {0.31, 0.02, 0.105});
    OneStep one(scene);
    one.contact = testing::long_range(*one.model);
    one.start.v[0] = 0.8;
    one.start.v[5] = 1.0;
    check_all(one, {"friction", "contact_stiffness", "gravity"}, 1e-5);
}

TEST_CASE("step jacobian: refuses steps that are not there and parameters that are none") {
    const OneStep one(testing::zoo(1));
    const Trajectory t = one.run();
    CHECK_THROWS_WITH_AS((void)step_jacobian(t, 1), doctest::Contains("step 1, expected 0 to 0"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)step_jacobian(t, 0, Eigen::VectorXi::Constant(1, 100000)),
                         doctest::Contains("parameter 100000"), std::invalid_argument);
    CHECK(step_jacobian(t, 0).C.cols() == 0);
}

}  // namespace
}  // namespace farfield
