// SPDX-License-Identifier: Apache-2.0
/// @file  Motions, their steps' options and reports, in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/dynamics/trajectory.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/io/trajectory_file.hpp"
#include "poses.hpp"
#include "step_arguments.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using ModelPtr = std::shared_ptr<Model>;

nb::object poses_of(const Trajectory& t) {
    const auto states = static_cast<std::size_t>(t.q.rows()), bodies = static_cast<std::size_t>(t.model->num_bodies());
    auto* data = new double[states * bodies * 7];
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    Kinematics kinematics;
    for (std::size_t s = 0; s < states; ++s) {
        forward_kinematics(*t.model, t.parameters, t.q.row(static_cast<Eigen::Index>(s)).transpose(), kinematics);
        Eigen::Map<PoseRows>(data + 7 * bodies * s, static_cast<Eigen::Index>(bodies), 7) = pose_rows(kinematics.poses);
    }
    return nb::cast(nb::ndarray<nb::numpy, double>(data, {states, bodies, 7}, owner));
}

Trajectory from_states(const ModelPtr& model, const Parameters& parameters, const RowMatrix& q, const RowMatrix& v,
                       const RowMatrix& controls, std::optional<double> dt, const std::optional<StepOptions>& options,
                       const std::string& contact, const std::vector<StepReport>& reports,
                       const std::vector<StepCut>& cuts, bool converged, double min_gap) {
    ContactSetup setup{.description = contact};
    if (!contact.empty()) {
        const auto found = contact_from_json(contact, "Trajectory.from_states: contact");
        if (found) setup = contact_with(*found)->setup(model);
    }
    return trajectory_of(model, parameters, setup, step_options(model, options, dt, {}, {}, {}),
                         {q, v, controls, reports, cuts, !converged, min_gap});
}

void bind_steps(nb::module_& m) {
    nb::class_<StepOptions>(m, "StepOptions", "How a step is taken.")
        .def(
            "__init__",
            [](StepOptions* self, double dt, double tolerance, int max_iterations, const std::string& pd_convention,
               const std::string& integrator) {
                const StepOptions options{dt, tolerance, max_iterations, pd_convention_of(pd_convention),
                                          integrator_of(integrator)};
                validate(options);
                new (self) StepOptions(options);
            },
            nb::kw_only(), "dt"_a = StepOptions{}.dt, "tolerance"_a = StepOptions{}.tolerance,
            "max_iterations"_a = StepOptions{}.max_iterations, "pd_convention"_a = name_of(StepOptions{}.pd_convention),
            "integrator"_a = name_of(StepOptions{}.integrator))
        .def_ro("dt", &StepOptions::dt, "Time step [s].")
        .def_ro("tolerance", &StepOptions::tolerance,
                "Newton stop: how far off a coordinate may still be, relative to the size of what it moves; the step "
                "computed "
                "there is still taken.")
        .def_ro("max_iterations", &StepOptions::max_iterations,
                "Newton iterations of one piece; a step that needs more is cut.")
        .def_prop_ro(
            "integrator", [](const StepOptions& o) { return name_of(o.integrator); },
            "'automatic': 'euler' under a force law, else 'implicit'; 'euler' (semi-implicit) and 'rk4' are explicit.")
        .def_prop_ro(
            "pd_convention", [](const StepOptions& o) { return name_of(o.pd_convention); },
            "'standard': 1/2 kp |q* - q|^2 + 1/2 kd dt |v* - v|^2; 'paper': the same without the halves and the dt.");

    nb::class_<FilterOptions>(m, "FilterOptions", "How the collision filter certifies a step.")
        .def(
            "__init__",
            [](FilterOptions* self, double keep, double tolerance, double curvature_scale) {
                const FilterOptions options{.keep = keep, .tolerance = tolerance, .curvature_scale = curvature_scale};
                validate(options);
                new (self) FilterOptions(options);
            },
            nb::kw_only(), "keep"_a = FilterOptions{}.keep, "tolerance"_a = FilterOptions{}.tolerance,
            "curvature_scale"_a = FilterOptions{}.curvature_scale)
        .def_ro("keep", &FilterOptions::keep,
                "Fraction of the gap at the start that is kept everywhere on the certified path, in (0, 1).")
        .def_ro("tolerance", &FilterOptions::tolerance,
                "Of the remaining gap: where the search for the largest step may stop, in (0, 1).")
        .def_ro("curvature_scale", &FilterOptions::curvature_scale,
                "Multiplies the bounds of bending; anything below 1 gives up the certificate.");

    nb::class_<StepReport>(m, "StepReport", "The certificate of one step.")
        .def_prop_ro(
            "status", [](const StepReport& r) { return to_string(r.status); },
            "'converged', 'max_iterations', 'line_search_failed', 'non_finite', 'intersecting' or 'squeezed'.")
        .def_ro("iterations", &StepReport::iterations, "Newton iterations, in all pieces and attempts.")
        .def_ro("pieces", &StepReport::pieces, "In how many pieces the step was taken; 1 unless it had to be cut.")
        .def_prop_ro(
            "squeezed",
            [](const StepReport& r) -> nb::object {
                if (r.squeezed < 0) return nb::none();
                return nb::make_tuple(r.squeezed, r.between_a, r.between_b);
            },
            "(body, a, b) of a step that ended as 'squeezed': scripted bodies leave `body` no room between a and b.")
        .def_ro("residual", &StepReport::residual,
                "Gradient norm where the last full Newton step was computed [N, N m]; that step was still taken.")
        .def_ro("min_gap", &StepReport::min_gap,
                "Certified lower bound of the gap between bodies [m]; inf without contact.")
        .def_ro("shortest_step", &StepReport::shortest_step,
                "Smallest fraction of a Newton step that the collision filter let pass.")
        .def_ro("detour", &StepReport::detour,
                "A body went around another within the step, although no straight way led there, also when it was cut.")
        .def_ro("conditioning", &StepReport::conditioning, "Smallest over largest pivot of the last Hessian.")
        .def_ro("kinetic", &StepReport::kinetic, "Kinetic energy [J].")
        .def_ro("potential", &StepReport::potential, "Gravitational and spring energy [J].")
        .def_ro("contact", &StepReport::contact, "Contact energy [J].")
        .def_ro("constraint_residual", &StepReport::constraint_residual,
                "Largest violation of a constraint at the end of the step [m, or rad where it turns].")
        .def_prop_ro(
            "contact_linearizations", [](const StepReport& r) { return r.contact_counts.linearizations; },
            "Calls of the contact model with derivatives.")
        .def_prop_ro(
            "contact_energies", [](const StepReport& r) { return r.contact_counts.energies; },
            "Calls of the contact model for its energy alone.")
        .def_prop_ro(
            "contact_evaluations",
            [](const StepReport& r) { return r.contact_counts.linearizations + r.contact_counts.energies; },
            "All calls of the contact model.")
        .def("__repr__", [](const StepReport& r) {
            return std::string("StepReport(") + to_string(r.status) + ", iterations=" + std::to_string(r.iterations) +
                   ")";
        });
}

void bind_cuts(nb::module_& m) {
    nb::class_<StepCut>(m, "StepCut", "A state between two pieces of a step that was cut.")
        .def(nb::init<int, double, State>(), nb::kw_only(), "step"_a, "fraction"_a, "state"_a)
        .def_ro("step", &StepCut::step, "The step it belongs to.")
        .def_ro("fraction", &StepCut::fraction, "Of the step's time at which it stands, in (0, 1).")
        .def_ro("state", &StepCut::state, "The end of one piece and the start of the next.")
        .def("__repr__", [](const StepCut& c) {
            return "StepCut(step=" + std::to_string(c.step) + ", fraction=" + std::to_string(c.fraction) + ")";
        });
}

void bind_trajectory_class(nb::module_& m) {
    nb::class_<Trajectory>(
        m, "Trajectory", nb::dynamic_attr(),  // engines keep what their gradients need
        "States, controls and reports of a rollout. Arrays are read-only views: the gradient is computed from them.")
        .def_prop_ro(
            "q", [](const Trajectory& t) { return view(t.q); }, "Coordinates, shape (steps + 1, num_q).")
        .def_prop_ro(
            "v", [](const Trajectory& t) { return view(t.v); }, "Velocities, shape (steps + 1, num_dofs).")
        .def_prop_ro(
            "controls", [](const Trajectory& t) { return view(t.controls); },
            "As applied, shape (steps, num_controls).")
        .def_prop_ro(
            "script", [](const Trajectory& t) { return view(t.script); },
            "Coordinates of scripted bodies after each step, shape (steps, 7 num_kinematic).")
        .def_ro("reports", &Trajectory::reports, "One StepReport per step taken.")
        .def_ro("cuts", &Trajectory::cuts, "A StepCut for every state inside a step that was cut, in order of time.")
        .def_prop_ro(
            "model", [](const Trajectory& t) { return std::const_pointer_cast<Model>(t.model); },
            "The model that moved.")
        .def_prop_ro(
            "parameters", [](const Trajectory& t) { return Parameters(t.parameters); },
            "A copy of the parameters it moved with.")
        .def_prop_ro(
            "contact", [](const Trajectory& t) { return t.contact.description; },
            "The contact model and its options as JSON; empty without contact.")
        .def_prop_ro(
            "dt", [](const Trajectory& t) { return t.options.dt; }, "Time step [s].")
        .def_ro("options", &Trajectory::options, "How its steps were taken.")
        .def_prop_ro("num_steps", &Trajectory::num_steps, "Steps taken.")
        .def_prop_ro("converged", &Trajectory::converged, "Every step asked for was taken and converged.")
        .def_prop_ro(
            "min_gap",
            [](const Trajectory& t) {
                double gap = std::numeric_limits<double>::infinity();
                for (const StepReport& r : t.reports) gap = std::min(gap, r.min_gap);
                return gap;
            },
            "Smallest certified gap of all steps [m]; inf without contact.")
        .def(
            "state",
            [](const Trajectory& t, int step) {
                const int count = static_cast<int>(t.q.rows()), index = step < 0 ? step + count : step;
                if (index < 0 || index >= count)
                    throw nb::index_error(
                        ("state " + std::to_string(step) + " of a trajectory with " + std::to_string(count) + " states")
                            .c_str());
                return t.state(index);
            },
            "step"_a, "State after `step` steps; negative counts from the end.")
        .def("poses", &poses_of,
             "World placement of every body at every state, shape (steps + 1, num_bodies, 7): position [m], quaternion "
             "(w, x, y, z).")
        .def(
            "contact_forces",
            [](const Trajectory& t) {
                std::vector<std::vector<ContactForce>> out;
                for (int step = 0; step < t.num_steps(); ++step) out.push_back(contact_forces(t, step));
                return out;
            },
            "Per step a list with a ContactForce for every interacting pair.")
        .def_static(
            "from_states", &from_states, "model"_a, "parameters"_a, "q"_a, "v"_a, "controls"_a, nb::kw_only(),
            "dt"_a.none() = nb::none(), "options"_a.none() = nb::none(), "contact"_a = "",
            "reports"_a = std::vector<StepReport>(), "cuts"_a = std::vector<StepCut>(), "converged"_a = true,
            "min_gap"_a = std::numeric_limits<double>::infinity(),
            "States that no single rollout made, as a trajectory: steps taken one by one, or by another engine. q: "
            "shape (steps + 1, num_q),\nv: (steps + 1, num_dofs), controls: (steps, num_controls).\n"
            "contact: as Trajectory.contact has it, or engine_description(name), which has no gradient here. "
            "reports: one per step, with the cuts that belong to them, or none; then\nmin_gap [m] is that of all "
            "steps, and converged=False says that "
            "a further step failed: states from the first that is not finite are dropped.")
        .def("__getstate__",
             [](const Trajectory& t) {
                 const std::string bytes = trajectory_to_bytes(t);
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("__setstate__",
             [](Trajectory& self, const nb::bytes& bytes) {
                 new (&self) Trajectory(trajectory_from_bytes(std::string_view(bytes.c_str(), bytes.size())));
             })
        .def("__len__", &Trajectory::num_steps)
        .def("__repr__", [](const Trajectory& t) {
            return "Trajectory(steps=" + std::to_string(t.num_steps()) + ", dt=" + std::to_string(t.options.dt) +
                   (t.converged() ? ", converged)" : ", NOT converged)");
        });
}

}  // namespace

void bind_trajectory(nb::module_& m) {
    bind_steps(m);
    bind_cuts(m);
    bind_trajectory_class(m);
}

}  // namespace farfield::python
