// SPDX-License-Identifier: Apache-2.0
/// @file  Mass matrix, inverse and forward dynamics, passive forces and their derivatives in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cmath>
#include <optional>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/model/forward_dynamics.hpp"
#include "farfield/model/mass_matrix.hpp"
#include "farfield/model/passive_force.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

using WrenchRows = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor>;
using RowMajorXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using OptionalWrenches = std::optional<WrenchRows>;
using OptionalVector = std::optional<VectorXd>;

template <class Array>
void check(const Array& values, Eigen::Index rows, const char* place, const char* what) {
    if (values.rows() != rows) fail(place, ": ", what, " has ", values.rows(), " rows, expected ", rows);
    if (!values.allFinite()) fail(place, ": ", what, " has entries that are not finite numbers");
}

/// Where the bodies are, with everything checked that is common to all functions.
Kinematics kinematics_of(const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v,
                         const char* place) {
    validate(model, parameters, place);
    validate(model, State{q, v}, place);
    Kinematics out;
    forward_kinematics(model, parameters, q, out);
    return out;
}

Wrenches wrenches_of(const Model& model, const OptionalWrenches& rows, const char* place) {
    Wrenches out;
    if (!rows) return out;
    check(*rows, model.num_bodies(), place, "wrenches");
    for (Eigen::Index i = 0; i < rows->rows(); ++i) out.emplace_back(rows->row(i).transpose());
    return out;
}

WrenchRows rows_of(const Wrenches& wrenches) {
    WrenchRows out(static_cast<Eigen::Index>(wrenches.size()), 6);
    for (std::size_t i = 0; i < wrenches.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = wrenches[i].transpose();
    return out;
}

/// What a call of inverse dynamics is made of, checked.
struct InverseCall {
    Kinematics kinematics;
    Wrenches wrenches;
    RigidBodyScratch scratch;
    InverseCall(const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v,
                const VectorXd& a, const OptionalWrenches& rows, const char* place)
        : kinematics(kinematics_of(model, parameters, q, v, place)), wrenches(wrenches_of(model, rows, place)) {
        check(a, model.num_dofs(), place, "a");
    }
};

/// The same for forward dynamics.
struct ForwardCall {
    Kinematics kinematics;
    Wrenches wrenches;
    ForwardDynamicsInput input;
    ForwardDynamicsScratch scratch;
    ForwardCall(const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v,
                const VectorXd& tau, const OptionalWrenches& rows, const OptionalVector& scripted, const char* place)
        : kinematics(kinematics_of(model, parameters, q, v, place)),
          wrenches(wrenches_of(model, rows, place)),
          input{v, tau, &wrenches, scripted ? &*scripted : nullptr} {
        check(tau, model.num_dofs(), place, "tau");
        if (scripted) check(*scripted, model.num_dofs(), place, "scripted_acceleration");
    }
};

/// Gradients as Python sees them: with the parameters in one object.
struct InverseGradient : InverseDynamicsGradient {
    Parameters parameters;
};
struct ForwardGradient : ForwardDynamicsGradient {
    Parameters parameters;
};
struct PassiveGradient {
    VectorXd q, v;
    Parameters parameters;
};
struct PassiveDerivatives {
    MatrixXd q, v;
};

void bind_inverse_dynamics(nb::module_& m) {
    nb::class_<InverseDynamicsDerivatives>(m, "InverseDynamicsDerivatives",
                                           "Jacobians of tau, shape (num_dofs, num_dofs) each, rows: tau.")
        .def_ro("q", &InverseDynamicsDerivatives::q, "By the tangent of q (see retract).")
        .def_ro("v", &InverseDynamicsDerivatives::v, "By v.")
        .def_ro("a", &InverseDynamicsDerivatives::a, "By a: the mass matrix.");
    nb::class_<InverseGradient>(m, "InverseDynamicsGradient", "Gradient of tau_bar . tau.")
        .def_ro("q", &InverseGradient::q, "By the tangent of q, shape (num_dofs,).")
        .def_ro("v", &InverseGradient::v, "By v, shape (num_dofs,).")
        .def_ro("a", &InverseGradient::a, "By a, shape (num_dofs,).")
        .def_prop_ro(
            "wrenches", [](const InverseGradient& g) { return rows_of(g.wrenches); },
            "By the wrenches on the bodies, shape (num_bodies, 6).")
        .def_ro("parameters", &InverseGradient::parameters,
                "By moments, attachment, gravity and armature; the rest 0.");
    m.def(
        "bias_force",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v) {
            const VectorXd zero = VectorXd::Zero(model.num_dofs());
            InverseCall call(model, parameters, q, v, zero, {}, "bias_force");
            VectorXd out;
            inverse_dynamics(model, parameters, call.kinematics, v, zero, call.wrenches, call.scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a,
        "Coriolis, centrifugal, gyroscopic and gravity forces c(q, v), shape (num_dofs,) [N m or N]: M a + c = tau.");
    m.def(
        "inverse_dynamics",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& a,
           const OptionalWrenches& wrenches) {
            InverseCall call(model, parameters, q, v, a, wrenches, "inverse_dynamics");
            VectorXd out;
            inverse_dynamics(model, parameters, call.kinematics, v, a, call.wrenches, call.scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "a"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "Generalised forces tau, shape (num_dofs,) [N m or N], under which the model accelerates by a [rad/s^2, "
        "m/s^2]: "
        "tau = M a + c - sum of J^T wrench. Springs, damping, ties and actuators are not in it. wrenches: forces on "
        "the "
        "bodies from outside, shape (num_bodies, 6): force [N] and torque [N m] in world axes at each body's origin.");
    m.def(
        "inverse_dynamics_derivatives",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& a,
           const OptionalWrenches& wrenches) {
            InverseCall call(model, parameters, q, v, a, wrenches, "inverse_dynamics_derivatives");
            InverseDynamicsDerivatives out;
            inverse_dynamics_derivatives(model, parameters, call.kinematics, v, a, call.wrenches, call.scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "a"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "Exact Jacobians of inverse_dynamics. By the wrench on a body: -body_jacobian(...).T.");
    m.def(
        "inverse_dynamics_vjp",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& a,
           const VectorXd& tau_bar, const OptionalWrenches& wrenches) {
            InverseCall call(model, parameters, q, v, a, wrenches, "inverse_dynamics_vjp");
            check(tau_bar, model.num_dofs(), "inverse_dynamics_vjp", "tau_bar");
            InverseGradient out{{}, zero_parameters(model)};
            set_rigid_bodies(model, parameters, call.kinematics, call.scratch);
            inverse_dynamics_vjp(model, parameters, call.kinematics, v, a, call.wrenches, tau_bar, call.scratch, out,
                                 out.parameters);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "a"_a, "tau_bar"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "Gradient of tau_bar . inverse_dynamics(...), at the cost of a few of its evaluations.");
}

void bind_forward_dynamics(nb::module_& m) {
    nb::class_<ForwardDynamicsDerivatives>(m, "ForwardDynamicsDerivatives", "Jacobians of a, rows: a.")
        .def_ro("acceleration", &ForwardDynamicsDerivatives::a, "The accelerations themselves, shape (num_dofs,).")
        .def_ro("q", &ForwardDynamicsDerivatives::q, "By the tangent of q, shape (num_dofs, num_dofs).")
        .def_ro("v", &ForwardDynamicsDerivatives::v, "By v, shape (num_dofs, num_dofs).")
        .def_ro("tau", &ForwardDynamicsDerivatives::tau,
                "By tau, shape (num_dofs, num_dofs): the inverse mass matrix, with ties E (E^T M E)^-1 E^T.")
        .def_prop_ro(
            "wrenches", [](const ForwardDynamicsDerivatives& d) { return RowMajorXd(d.wrenches); },
            "By the wrenches, shape (num_dofs, 6 num_bodies): columns 6 i to 6 i + 6 belong to body i.");
    nb::class_<ForwardGradient>(m, "ForwardDynamicsGradient", "Gradient of a_bar . a.")
        .def_ro("q", &ForwardGradient::q, "By the tangent of q, shape (num_dofs,).")
        .def_ro("v", &ForwardGradient::v, "By v, shape (num_dofs,).")
        .def_ro("tau", &ForwardGradient::tau, "By tau, shape (num_dofs,).")
        .def_ro("scripted_acceleration", &ForwardGradient::scripted, "By scripted_acceleration, shape (num_dofs,).")
        .def_prop_ro(
            "wrenches", [](const ForwardGradient& g) { return rows_of(g.wrenches); },
            "By the wrenches on the bodies, shape (num_bodies, 6).")
        .def_ro("parameters", &ForwardGradient::parameters,
                "By moments, attachment, gravity and armature; the rest 0.");
    m.def(
        "forward_dynamics",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& tau,
           const OptionalWrenches& wrenches, const OptionalVector& scripted) {
            ForwardCall call(model, parameters, q, v, tau, wrenches, scripted, "forward_dynamics");
            VectorXd out;
            forward_dynamics(model, parameters, call.kinematics, call.input, call.scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "tau"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "scripted_acceleration"_a = nb::none(),
        "Accelerations, shape (num_dofs,) [rad/s^2, m/s^2], under the generalised forces tau, shape (num_dofs,) [N m "
        "or N]. "
        "Contact, springs, damping and actuators act only as far as they are in tau and wrenches; ties hold exactly. "
        "wrenches: as in inverse_dynamics. scripted_acceleration: shape (num_dofs,), read only where a body is "
        "scripted; "
        "absent: 0.");
    m.def(
        "forward_dynamics_derivatives",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& tau,
           const OptionalWrenches& wrenches, const OptionalVector& scripted) {
            ForwardCall call(model, parameters, q, v, tau, wrenches, scripted, "forward_dynamics_derivatives");
            ForwardDynamicsDerivatives out;
            forward_dynamics_derivatives(model, parameters, call.kinematics, call.input, call.scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "tau"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "scripted_acceleration"_a = nb::none(), "Exact Jacobians of forward_dynamics.");
    m.def(
        "forward_dynamics_vjp",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v, const VectorXd& tau,
           const VectorXd& a_bar, const OptionalWrenches& wrenches, const OptionalVector& scripted) {
            ForwardCall call(model, parameters, q, v, tau, wrenches, scripted, "forward_dynamics_vjp");
            check(a_bar, model.num_dofs(), "forward_dynamics_vjp", "a_bar");
            ForwardGradient out{{}, zero_parameters(model)};
            VectorXd a;
            forward_dynamics(model, parameters, call.kinematics, call.input, call.scratch, a);
            forward_dynamics_vjp(model, parameters, call.kinematics, call.input, a, a_bar, call.scratch, out,
                                 out.parameters);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "tau"_a, "a_bar"_a, nb::kw_only(), "wrenches"_a = nb::none(),
        "scripted_acceleration"_a = nb::none(),
        "Gradient of a_bar . forward_dynamics(...), at the cost of a few of its evaluations.");
}

void bind_passive_force(nb::module_& m) {
    nb::class_<PassiveDerivatives>(m, "PassiveForceDerivatives", "Jacobians of passive_force, (num_dofs, num_dofs).")
        .def_ro("q", &PassiveDerivatives::q, "By the tangent of q.")
        .def_ro("v", &PassiveDerivatives::v, "By v: -damping on the diagonal.");
    nb::class_<PassiveGradient>(m, "PassiveForceGradient", "Gradient of tau_bar . passive_force(...).")
        .def_ro("q", &PassiveGradient::q, "By the tangent of q, shape (num_dofs,).")
        .def_ro("v", &PassiveGradient::v, "By v, shape (num_dofs,).")
        .def_ro("parameters", &PassiveGradient::parameters, "By stiffness and damping; the rest 0.");
    m.def(
        "passive_force",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v) {
            (void)kinematics_of(model, parameters, q, v, "passive_force");
            VectorXd out;
            passive_force(model, parameters, q, v, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a,
        "Generalised forces of the joints' springs and dampers, shape (num_dofs,) [N m or N]; limits are not in it.");
    m.def(
        "passive_force_derivatives",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v) {
            (void)kinematics_of(model, parameters, q, v, "passive_force_derivatives");
            PassiveDerivatives out;
            passive_force_derivatives(model, parameters, q, out.q, out.v);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "Exact Jacobians of passive_force.");
    m.def(
        "passive_force_vjp",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, const VectorXd& v,
           const VectorXd& tau_bar) {
            (void)kinematics_of(model, parameters, q, v, "passive_force_vjp");
            check(tau_bar, model.num_dofs(), "passive_force_vjp", "tau_bar");
            const VectorXd zero = VectorXd::Zero(model.num_dofs());
            PassiveGradient out{zero, zero, zero_parameters(model)};
            add_passive_force_vjp(model, parameters, q, v, tau_bar, out.q, out.v, out.parameters);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "v"_a, "tau_bar"_a, "Gradient of tau_bar . passive_force(...).");
}

}  // namespace

void bind_rigid_body_dynamics(nb::module_& m) {
    m.def(
        "mass_matrix",
        [](const Model& model, const Parameters& parameters, const VectorXd& q) {
            const Kinematics kinematics =
                kinematics_of(model, parameters, q, VectorXd::Zero(model.num_dofs()), "mass_matrix");
            RigidBodyScratch scratch;
            MatrixXd out;
            mass_matrix(model, parameters, kinematics, scratch, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a,
        "Mass matrix in joint coordinates with armature, shape (num_dofs, num_dofs) [kg m^2, kg m, kg]: kinetic energy "
        "is 1/2 v . M v.");
    m.def(
        "body_jacobian",
        [](const Model& model, const Parameters& parameters, const VectorXd& q, int body,
           const std::optional<Eigen::Vector3d>& point) {
            const Kinematics kinematics =
                kinematics_of(model, parameters, q, VectorXd::Zero(model.num_dofs()), "body_jacobian");
            if (body < 0 || body >= model.num_bodies())
                fail("body_jacobian: body ", body, ", expected 0 to ", model.num_bodies() - 1);
            const Eigen::Vector3d x = point.value_or(Eigen::Vector3d::Zero());
            check(x, 3, "body_jacobian", "point");
            MatrixXd out;
            body_jacobian(model, kinematics, body, x, out);
            return out;
        },
        "model"_a, "parameters"_a, "q"_a, "body"_a, "point"_a = nb::none(),
        "Velocity by v of a point fixed to a body, shape (6, num_dofs): linear, then angular, in world axes. point: in "
        "the "
        "frame of the body, shape (3,) [m]; absent: its origin.");
    bind_inverse_dynamics(m);
    bind_forward_dynamics(m);
    bind_passive_force(m);
}

}  // namespace farfield::python
