// SPDX-License-Identifier: Apache-2.0
/// @file  The module farfield._core. Bindings hold no algorithms.
#include <nanobind/nanobind.h>

#include "bindings.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
    m.doc() = "C++ core of farfield.";
    m.attr("__version__") = FARFIELD_VERSION;
    farfield::python::bind_scene(m);
    farfield::python::bind_model(m);
    farfield::python::bind_rigid_body_dynamics(m);
    farfield::python::bind_contact(m);
    farfield::python::bind_contact_ipc(m);
    farfield::python::bind_contact_polyhedral(m);
    farfield::python::bind_contact_softmin(m);
    farfield::python::bind_trajectory(m);
    farfield::python::bind_dynamics(m);
    farfield::python::bind_simulation(m);
    farfield::python::bind_settle(m);
    farfield::python::bind_io(m);
    farfield::python::bind_grains(m);
    farfield::python::bind_grain_networks(m);
    farfield::python::bind_benchmarks(m);
    m.def(
        "_call_init",
        [](const nb::type_object& type) { reinterpret_cast<PyTypeObject*>(type.ptr())->tp_vectorcall = nullptr; },
        nb::arg("type"),
        "Makes instances through __init__ as Python sees it, so that farfield.messages can stand around it.");
}
