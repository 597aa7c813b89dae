// SPDX-License-Identifier: Apache-2.0
/// @file  The IPC contact models in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/contact/ipc/options.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::ipc::Form;
using contact::ipc::IpcOptions;

void bind_contact_ipc(nb::module_& m) {
    nb::class_<IpcModel, ContactModel>(
        m, "Ipc",
        "Incremental potential contact: a barrier between vertices and triangles, and between edges, nearer than a "
        "range.\n\n"
        "Stiffness and friction coefficients are in Parameters, to be differentiated by; a pair's energy is weighted "
        "by "
        "Parameters.contact_stiffness times pair_weights.")
        .def(
            "__init__",
            [](IpcModel* self, double stiffness, std::optional<double> weight_in_joules, std::optional<double> range,
               std::optional<double> slip_speed) {
                const IpcOptions options{.stiffness = stiffness,
                                         .weight_in_joules = weight_in_joules,
                                         .range = range,
                                         .slip_speed = slip_speed};
                validate(options);
                new (self) IpcModel(options);
            },
            nb::kw_only(), "stiffness"_a = 1.0, "weight_in_joules"_a.none() = nb::none(), "range"_a.none() = nb::none(),
            "slip_speed"_a.none() = nb::none(),
            "stiffness: factor of the automatic weights, with which four terms at 0.85 of the range carry the lighter "
            "body of "
            "a pair.\n"
            "weight_in_joules: kappa [J] of every pair instead. range [m]: where contact begins; None = two hundredths "
            "of the smaller body of a pair.\n"
            "slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.");
    nb::class_<IpcGlobalModel, ContactModel>(
        m, "IpcGlobal",
        "The pairs of features of Ipc with 12 (1 + d^-1/2)^2 - 12 instead of the clamped barrier: never zero, but not "
        "smooth.\n\n"
        "Brute force over all pairs; refused above 2,000 triangles.")
        .def(
            "__init__",
            [](IpcGlobalModel* self, double stiffness, std::optional<double> weight_in_joules,
               std::optional<double> length_scale, std::optional<double> slip_speed) {
                const IpcOptions options{.form = Form::Global,
                                         .stiffness = stiffness,
                                         .weight_in_joules = weight_in_joules,
                                         .length_scale = length_scale,
                                         .slip_speed = slip_speed};
                validate(options);
                new (self) IpcGlobalModel(options);
            },
            nb::kw_only(), "stiffness"_a = 1.0, "weight_in_joules"_a.none() = nb::none(),
            "length_scale"_a.none() = nb::none(), "slip_speed"_a.none() = nb::none(),
            "stiffness: factor of the automatic weights. weight_in_joules: of every pair instead [J]. length_scale "
            "[m]: the unit of d; None = 1 beside weight_in_joules, else ten times the smaller body of a pair.\n"
            "slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.");
}

}  // namespace farfield::python
