// SPDX-License-Identifier: Apache-2.0
/// @file  The convex-polyhedron contact model, and mass by hull vertices, in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/model/hull_mass.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::polyhedral::Polyhedral;
using contact::polyhedral::PolyhedralOptions;

namespace {

std::shared_ptr<const Polyhedral> built(PolyhedralModel& contact, const std::shared_ptr<Model>& model) {
    return std::static_pointer_cast<const Polyhedral>(contact.setup(model).potential);
}

HullMass hull_mass(const std::string& name, const char* place) {
    if (name == "lumped") return HullMass::Lumped;
    if (name == "exact") return HullMass::Exact;
    if (name == "fixed") return HullMass::Fixed;
    fail(place, ": mass '", name, "', expected 'exact', 'lumped' or 'fixed'");
}

MassTotal mass_total(const std::string& name, const char* place) {
    if (name == "constant") return MassTotal::Constant;
    if (name == "density") return MassTotal::Density;
    fail(place, ": mass_total '", name, "', expected 'constant' or 'density'");
}

void bind_hull_mass(nb::module_& m) {
    m.def(
        "hull_moments",
        [](const Model& model, const Parameters& parameters, const std::string& mass, const std::string& total) {
            return hull_moments(model, parameters, hull_mass(mass, "hull_moments"), mass_total(total, "hull_moments"));
        },
        "model"_a, "parameters"_a, nb::kw_only(), "mass"_a = "exact", "mass_total"_a = "constant",
        "Parameters.moments that follow from Parameters.hull_vertices, shape (num_bodies, 10).\n\n"
        "mass: 'exact' (uniform density inside the current hulls), 'lumped' (in the vertices) or 'fixed' (those of the "
        "parameters).\n"
        "mass_total: 'constant' (each body keeps its mass) or 'density' (each body keeps its density).");
    m.def(
        "hull_moments_vjp",
        [](const Model& model, const Parameters& parameters, const MomentRows& dL_dmoments, const std::string& mass,
           const std::string& total) {
            return hull_moments_vjp(model, parameters, hull_mass(mass, "hull_moments_vjp"),
                                    mass_total(total, "hull_moments_vjp"), dL_dmoments);
        },
        "model"_a, "parameters"_a, "dL_dmoments"_a, nb::kw_only(), "mass"_a = "exact", "mass_total"_a = "constant",
        "Gradient by hull vertices through hull_moments, shape (n, 3): add it to that of rollout_vjp.");
}

}  // namespace

void bind_contact_polyhedral(nb::module_& m) {
    bind_hull_mass(m);
    nb::class_<PolyhedralModel, ContactModel>(
        m, "Polyhedral",
        "Convex-polyhedron contact: bodies are unions of convex hulls that repel below a range, smoothly, and never "
        "touch.\n\n"
        "Hulls are those of the colliding shapes, one each; their vertices are Parameters.hull_vertices. A "
        "pair's energy is\n"
        "weighted by Parameters.contact_stiffness times pair_weights.")
        .def(
            "__init__",
            [](PolyhedralModel* self, double stiffness, std::optional<double> weight_in_joules,
               std::optional<double> range, double margin, std::optional<double> slip_speed,
               const std::string& friction_form) {
                const PolyhedralOptions options{
                    .stiffness = stiffness,
                    .weight_in_joules = weight_in_joules,
                    .range = range,
                    .margin = margin,
                    .slip_speed = slip_speed,
                    .friction = python::friction_form<contact::polyhedral::FrictionForm>(friction_form, "Polyhedral")};
                validate(options);
                new (self) PolyhedralModel(options);
            },
            nb::kw_only(), "stiffness"_a = 1.0, "weight_in_joules"_a.none() = nb::none(), "range"_a.none() = nb::none(),
            "margin"_a = PolyhedralOptions{}.margin, "slip_speed"_a.none() = nb::none(),
            "friction_form"_a = "projected",
            "stiffness: factor of the automatic weights, which follow from the lighter body's weight. "
            "weight_in_joules: "
            "kappa [J] of every pair instead.\n"
            "range: distance below which hulls repel [m]; None = two hundredths of the smaller body of a pair, less "
            "where "
            "they are nearer in the reference pose. margin: dimensionless margin of the barrier.\n"
            "slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body. "
            "friction_form: 'projected' (momentum balances) or 'paper'.")
        .def(
            "pair_ranges",
            [](PolyhedralModel& self, const std::shared_ptr<Model>& model) {
                const auto contact = built(self, model);
                const auto name = [&](int body) { return model->bodies()[static_cast<std::size_t>(body)].name; };
                nb::list out;
                for (std::size_t k = 0; k < contact->pairs().size(); ++k)
                    out.append(
                        nb::make_tuple(name(contact->pairs()[k].a), name(contact->pairs()[k].b), contact->ranges()[k]));
                return out;
            },
            "model"_a, "(name of a, name of b, range [m]) of every contact pair.")
        .def(
            "excluded_pairs",
            [](PolyhedralModel& self, const std::shared_ptr<Model>& model) {
                return built(self, model)->excluded_pairs();
            },
            "model"_a, "Body pairs left out because their hulls overlap in the reference pose, with the reason.");
}

}  // namespace farfield::python
