// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The parts of the Python module `farfield._core`; bindings/module.cpp calls them in order.
#include <nanobind/nanobind.h>

namespace farfield::python {

void bind_scene(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_rigid_body_dynamics(nanobind::module_& m);
void bind_contact(nanobind::module_& m);
void bind_contact_ipc(nanobind::module_& m);
void bind_contact_polyhedral(nanobind::module_& m);
void bind_contact_softmin(nanobind::module_& m);
void bind_trajectory(nanobind::module_& m);
void bind_dynamics(nanobind::module_& m);
void bind_simulation(nanobind::module_& m);
void bind_settle(nanobind::module_& m);
void bind_io(nanobind::module_& m);
void bind_grains(nanobind::module_& m);
void bind_grain_networks(nanobind::module_& m);
void bind_benchmarks(nanobind::module_& m);

}  // namespace farfield::python
