// SPDX-License-Identifier: Apache-2.0
/// @file  Python face of dynamics/settle.hpp.
#include "farfield/dynamics/settle.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "step_arguments.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;

void bind_settle(nb::module_& m) {
    nb::class_<SettleMove>(m, "SettleMove", "How a free body, with what hangs on it, was moved by settle.")
        .def_ro("body", &SettleMove::body, "Index of the free body.")
        .def_ro("other", &SettleMove::other, "Index of the body it overlapped with, -1 when it was only too near.")
        .def_ro("overlap", &SettleMove::overlap, "Length of the translation that ended the overlap [m].")
        .def_ro("force", &SettleMove::force,
                "Of contact on it before it was moved to rest, in its own weights; 0 when it was not too near.")
        .def_ro("shift", &SettleMove::shift, "In all, shape (3,) [m].");
    nb::class_<Settled>(m, "Settled", "The outcome of settle.")
        .def_ro("state", &Settled::state, "Where contact can start from.")
        .def_ro("moves", &Settled::moves, "A SettleMove for every free body that moved.");
    m.def(
        "settle",
        [](const std::shared_ptr<Model>& model, const std::optional<Parameters>& parameters,
           const std::optional<State>& state, const ContactArgument& contact, double max_depth) {
            const ContactSetup setup = setup_of(contact_for(*model, contact), model, std::nullopt);
            nb::gil_scoped_release release;
            return settle(*model, parameters.value_or(model->default_parameters()),
                          state.value_or(model->default_state()), setup, {.max_depth = max_depth});
        },
        "model"_a, "parameters"_a.none() = nb::none(), "state"_a.none() = nb::none(),
        "contact"_a.none() = nb::str("automatic"), nb::kw_only(), "max_depth"_a = 0.05,
        "A start that contact can go on from, near the one given: free bodies, with what hangs on them, are translated "
        "the "
        "shortest way out of what they touch or overlap, and those that stand nearer than they would rest are moved "
        "until contact "
        "carries their weight.\n\n"
        "max_depth: deepest overlap that is resolved, in sizes of the smaller of the two. ValueError for deeper ones "
        "and "
        "for bodies that hang on no free joint.");
}

}  // namespace farfield::python
