// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_jacobian.hpp"

#include "farfield/base/error.hpp"
#include "farfield/dynamics/step.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Rows n..2n of v_next = difference(q, q_next)/dt from rows 0..n of q_next; `direct`: the columns are q itself.
void set_velocity_rows(const Model& model, double dt, const VectorXd& delta, bool direct, Eigen::Ref<MatrixXd> rows) {
    const int n = model.num_dofs();
    for (const ScalarCoordinate& c : model.scalars()) {
        rows.row(n + c.dof) = rows.row(c.dof) / dt;
        if (direct) rows(n + c.dof, c.dof) -= 1.0 / dt;
    }
    for (const BallCoordinate& c : model.balls()) {
        const Matrix3d J = right_jacobian_inverse(delta.segment<3>(c.dof));  // J_l^-1 = J_r^-T
        rows.middleRows<3>(n + c.dof).noalias() = J * rows.middleRows<3>(c.dof) / dt;
        if (direct) rows.block<3, 3>(n + c.dof, c.dof) -= J.transpose() / dt;
    }
}

}  // namespace

StepJacobian step_jacobian(const Trajectory& t, int step, const Eigen::VectorXi& parameters, ThreadPool* pool) {
    if (!t.model) fail("step_jacobian: empty trajectory");
    require_contact_model(t, "step_jacobian");
    if (step < 0 || step >= t.num_steps())
        fail("step_jacobian: step ", step, ", expected 0 to ", t.num_steps() - 1, " of this trajectory");
    const StepStatus status = t.reports[static_cast<std::size_t>(step)].status;
    if (status != StepStatus::Converged)
        fail("step_jacobian: step ", step, " did not converge (", to_string(status), "); its Jacobian is not defined");
    const Model& model = *t.model;
    const Eigen::Index num_parameters = num_entries(t.parameters);
    for (const int k : parameters) {
        if (k < 0 || k >= num_parameters) fail("step_jacobian: parameter ", k, ", expected 0 to ", num_parameters - 1);
    }

    const Eigen::Index n = model.num_dofs();
    const std::span<const StepCut> cuts = t.cuts_of(step);
    const StepContext context{.model = model,
                              .parameters = t.parameters,
                              .contact = t.contact.potential.get(),
                              .filter = t.contact.filter.get(),
                              .options = t.options,
                              .pool = pool,
                              .law = t.contact.law.get()};
    // v_next of a whole implicit step follows from q_next
    const Eigen::Index rows = context.explicit_steps() || !cuts.empty() ? 2 * n : n;
    const auto count = static_cast<std::size_t>(rows);
    std::vector<StateGradient> units(count, {VectorXd::Zero(n), VectorXd::Zero(n)});
    for (Eigen::Index k = 0; k < rows; ++k) {
        StateGradient& unit = units[static_cast<std::size_t>(k)];
        (k < n ? unit.q : unit.v)[k % n] = 1.0;
    }
    std::vector<StepGradient> found(count);
    std::vector<Parameters> by_parameters(count, zero_parameters(model));
    StepMemory memory = make_memory(context);
    AnyStepScratch scratch;
    const StepInput input{t.controls.row(step).transpose(), t.script.row(step).transpose()};
    const State now = t.state(step), next = t.state(step + 1);
    take_step_vjp(context, now, input, next, cuts, units, memory, scratch, found, by_parameters);

    StepJacobian out{.A = MatrixXd(2 * n, 2 * n),
                     .B = MatrixXd(2 * n, model.num_controls()),
                     .S = MatrixXd(2 * n, 6 * model.num_kinematic()),
                     .C = MatrixXd(2 * n, parameters.size())};
    for (Eigen::Index k = 0; k < rows; ++k) {
        const StepGradient& row = found[static_cast<std::size_t>(k)];
        out.A.row(k) << row.state.q.transpose(), row.state.v.transpose();
        out.B.row(k) = row.control.transpose();
        out.S.row(k) = row.script.transpose();
        if (parameters.size())
            out.C.row(k) = flatten(by_parameters[static_cast<std::size_t>(k)])(parameters).transpose();
    }
    if (rows > n) return out;
    const double dt = t.options.dt;
    VectorXd delta;
    difference(model, now.q, next.q, delta);
    set_velocity_rows(model, dt, delta, true, out.A.leftCols(n));
    set_velocity_rows(model, dt, delta, false, out.A.rightCols(n));
    set_velocity_rows(model, dt, delta, false, out.B);
    set_velocity_rows(model, dt, delta, false, out.S);
    set_velocity_rows(model, dt, delta, false, out.C);
    return out;
}

}  // namespace farfield
