// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The Jacobian of one step against differences and against vector-Jacobian products.
#include <doctest/doctest.h>

#include "farfield/dynamics/step_jacobian.hpp"
#include "farfield/model/parameter_names.hpp"
#include "support/contact_rollouts.hpp"
#include "support/derivative_check.hpp"
#include "support/test_scenes.hpp"

namespace farfield::testing {

using Eigen::VectorXd;

/// One step, and everything it depends on moved along tangent vectors.
struct OneStep {
    std::shared_ptr<const Model> model;
    ContactSetup contact;
    StepOptions options{.dt = 0.01, .tolerance = 1e-14};
    Parameters parameters;
    State start;
    VectorXd control, script;
    double first = 1e-3;  ///< of the ladder of differences

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
    return check_ladder(plus_minus, expected, {.first = one.first, .last = 1e-5 * one.first});
}

inline void check_all(const OneStep& one, const std::vector<std::string>& selection, double tolerance) {
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
    s << model.reduction().E * random_direction(random, model.num_unknowns()),
        model.reduction().E * random_direction(random, model.num_unknowns());
    check("A", along(one, J.A * s,
                     [&](double h) { return one.run(one.moved(h * s), one.control, one.script, one.parameters); }));
    if (one.control.size()) {
        const VectorXd u = random_direction(random, one.control.size());
        check("B", along(one, J.B * u, [&](double h) {
                  return one.run(one.start, one.control + h * u, one.script, one.parameters);
              }));
    }
    if (one.script.size()) {
        const VectorXd r = random_direction(random, 6);
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

}  // namespace farfield::testing
