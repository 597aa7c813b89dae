// SPDX-License-Identifier: Apache-2.0
/// @file  One simulation to hold, and contact forces, in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/dynamics/simulation.hpp"
#include "farfield/io/simulation_file.hpp"
#include "fields.hpp"
#include "step_arguments.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

using ModelPtr = std::shared_ptr<Model>;

std::shared_ptr<ThreadPool> pool_of(int threads) {
    return threads == 1 ? nullptr : std::make_shared<ThreadPool>(threads);
}

void make(Simulation* self, const ModelPtr& model, const std::optional<Parameters>& parameters,
          const ContactArgument& contact, std::optional<double> dt, std::optional<double> tolerance,
          std::optional<int> max_iterations, const std::optional<std::string>& pd_convention, int threads,
          const std::optional<StepOptions>& options, const std::optional<FilterOptions>& filter,
          const std::optional<State>& state) {
    new (self) Simulation(model, parameters.value_or(model->default_parameters()),
                          setup_of(contact_for(*model, contact), model, filter),
                          step_options(model, options, dt, tolerance, max_iterations, pd_convention), pool_of(threads));
    if (state) self->reset(*state);
}

/// An array as it is, anything else as NumPy reads it.
VectorXd numbers(nb::handle value, const char* place) {
    nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu> array;
    if (nb::try_cast(value, array, false))
        return Eigen::Map<const VectorXd>(array.data(), static_cast<Eigen::Index>(array.size()));
    VectorXd out;
    read(value, place, out);
    return out;
}

StepReport take_step(Simulation& self, nb::handle control, nb::handle script) {
    StepInput input{
        .control = control.is_none() ? self.model()->default_control() : numbers(control, "Simulation.step: control"),
        .script = script.is_none() ? VectorXd() : numbers(script, "Simulation.step: script")};
    nb::gil_scoped_release release;
    return self.step(input);
}

int body_index(const ContactForce& c, int body) {
    if (body != c.a && body != c.b) fail("ContactForce: body ", body, ", expected ", c.a, " or ", c.b);
    return body;
}

void bind_contact_force(nb::module_& m) {
    nb::class_<ContactForce>(m, "ContactForce", "What contact did to one pair of bodies in a step.")
        .def_ro("a", &ContactForce::a, "Body index.")
        .def_ro("b", &ContactForce::b, "Body index, above a.")
        .def_ro("gap", &ContactForce::gap, "Distance of the surfaces [m].")
        .def_ro("point", &ContactForce::point, "Centre of pressure, half-way between the surfaces, world [m].")
        .def_ro("normal", &ContactForce::normal, "Unit vector in which a is pushed; b is pushed the other way.")
        .def_ro("normal_force", &ContactForce::normal_force, "How hard the bodies repel each other, >= 0 [N].")
        .def(
            "force_on",
            [](const ContactForce& c, int body) -> Vector3d { return body_index(c, body) == c.a ? c.force : -c.force; },
            "body"_a, "Force on one of the two bodies, friction included, world axes [N].")
        .def(
            "friction_on",
            [](const ContactForce& c, int body) -> Vector3d {
                return body_index(c, body) == c.a ? c.friction : -c.friction;
            },
            "body"_a, "The part of force_on that is friction [N].")
        .def(
            "torque_on",
            [](const ContactForce& c, int body) -> Vector3d {
                return body_index(c, body) == c.a ? c.torque_a : c.torque_b;
            },
            "body"_a, "Torque on one of the two bodies about its origin, world axes [N m].")
        .def("__repr__", [](const ContactForce& c) {
            return "ContactForce(a=" + std::to_string(c.a) + ", b=" + std::to_string(c.b) +
                   ", gap=" + std::to_string(c.gap) + ", normal_force=" + std::to_string(c.normal_force) + ")";
        });
}

void bind_step_iteration(nb::module_& m) {
    nb::class_<StepIteration>(m, "StepIteration", "One iteration of Newton's method.")
        .def_ro("begin", &StepIteration::begin, "Where the piece that was tried begins, as a fraction of the step.")
        .def_ro("length", &StepIteration::length, "How long it is, as a fraction of the step.")
        .def_ro("residual", &StepIteration::residual, "Norm of the gradient [N, N m].")
        .def_ro("excess", &StepIteration::excess, "Of the gradient over what is allowed; at most 1 at the end.")
        .def_ro("slope", &StepIteration::slope, "Of the potential along the direction [J].")
        .def_ro("noise", &StepIteration::noise, "Rounding in differences of the potential [J].")
        .def_ro("way", &StepIteration::way, "Fraction of the direction that was free of collisions.")
        .def_ro("alpha", &StepIteration::alpha, "Fraction that was taken; 0 when none fitted.")
        .def_prop_ro(
            "limiting",
            [](const StepIteration& i) -> nb::object {
                if (i.limiting_a < 0) return nb::none();
                return nb::make_tuple(i.limiting_a, i.limiting_b);
            },
            "(a, b), the bodies in the way, or None.");
}

void bind_simulation_class(nb::module_& m) {
    nb::class_<Simulation>(m, "Simulation",
                           "A model that moves step by step. It keeps warm starts, so steps cost what those of a "
                           "rollout do, with the same bits.")
        .def("__init__", &make, "model"_a, "parameters"_a.none() = nb::none(), nb::kw_only(),
             "contact"_a.none() = nb::str("automatic"), "dt"_a.none() = nb::none(), "tolerance"_a.none() = nb::none(),
             "max_iterations"_a.none() = nb::none(), "pd_convention"_a.none() = nb::none(), "threads"_a = 1,
             "options"_a.none() = nb::none(), "filter"_a.none() = nb::none(), "state"_a.none() = nb::none(),
             "Starts at `state`, else at the model's default state; parameters: by default those of the model. The "
             "others are as in rollout.")
        .def("step", &take_step, "control"_a.none() = nb::none(), "script"_a.none() = nb::none(),
             nb::sig("def step(self, control: numpy.typing.ArrayLike | None = None, script: numpy.typing.ArrayLike | "
                     "None = None) -> StepReport"),
             "One step of dt; returns its StepReport. control: shape (num_controls,), default "
             "model.default_control(). script: next\n"
             "coordinates of kinematic bodies, shape (7 num_kinematic,); they rest when absent.")
        .def(
            "reset",
            [](Simulation& self, const std::optional<State>& state) { state ? self.reset(*state) : self.reset(); },
            "state"_a.none() = nb::none(), "Back to a state (default: the model's), time 0 and cold warm starts.")
        .def_prop_ro(
            "state", [](const Simulation& self) { return State(self.state()); }, "A copy of where the model is.")
        .def_prop_ro("time", &Simulation::time, "[s]")
        .def_prop_ro("num_steps", &Simulation::num_steps, "Steps since the last reset.")
        .def_prop_ro(
            "dt", [](const Simulation& self) { return self.options().dt; }, "Time step [s].")
        .def_prop_ro("options", &Simulation::options, "How its steps are taken.")
        .def_prop_ro(
            "model", [](const Simulation& self) { return std::const_pointer_cast<Model>(self.model()); },
            "The model that moves.")
        .def_prop_ro(
            "parameters", [](const Simulation& self) { return Parameters(self.parameters()); },
            "A copy of the parameters it moves with.")
        .def_prop_ro(
            "contact", [](const Simulation& self) { return self.contact().description; },
            "The contact model and its options as JSON; empty without contact.")
        .def("contacts", &Simulation::contacts,
             "A ContactForce for every interacting pair: what contact did in the last step.")
        .def(
            "find_intersection",
            [](const Simulation& self) -> nb::object {
                const auto hit = self.find_intersection();
                if (!hit) return nb::none();
                return nb::make_tuple(hit->a, hit->b, hit->point);
            },
            "(a, b, point) of the first two bodies whose surfaces cross, or None.")
        .def_prop_ro(
            "last_cuts", [](const Simulation& self) { return std::vector<StepCut>(self.last_cuts()); },
            "The StepCuts of the last step: states between its pieces.")
        .def("set_trace", &Simulation::set_trace, "on"_a, "Whether steps record their iterations, see last_trace.")
        .def_prop_ro(
            "last_trace", [](const Simulation& self) { return std::vector<StepIteration>(self.last_trace()); },
            "A StepIteration for every iteration of the last step, if set_trace was on.")
        .def_prop_ro(
            "last_report", [](const Simulation& self) { return StepReport(self.last_report()); },
            "The StepReport of the last step.")
        .def(
            "save",
            [](const Simulation& self, const std::filesystem::path& path) {
                const nb::gil_scoped_release unlocked;
                save_simulation(path, self);
            },
            "path"_a, "Writes everything that the next steps depend on. The file is complete or not there at all.")
        .def_static(
            "load",
            [](const std::filesystem::path& path, int threads) {
                const nb::gil_scoped_release unlocked;
                return load_simulation(path, pool_of(threads));
            },
            "path"_a, nb::kw_only(), "threads"_a = 1,
            "What save wrote; goes on bit for bit. Raises FileError when the file is missing, truncated, foreign or "
            "damaged.")
        .def("__getstate__",
             [](const Simulation& self) {
                 const std::string bytes = simulation_to_bytes(self);
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("__setstate__",
             [](Simulation& self, const nb::bytes& bytes) {
                 new (&self) Simulation(simulation_from_bytes(std::string_view(bytes.c_str(), bytes.size())));
             })
        .def("__repr__", [](const Simulation& self) {
            return "Simulation(steps=" + std::to_string(self.num_steps()) + ", time=" + std::to_string(self.time()) +
                   ")";
        });
}

}  // namespace

void bind_simulation(nb::module_& m) {
    bind_contact_force(m);
    bind_step_iteration(m);
    bind_simulation_class(m);
}

}  // namespace farfield::python
