// SPDX-License-Identifier: Apache-2.0
/// @file  The convex-polyhedron contact model, and mass by hull vertices, in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/model/hull_mass.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::polyhedral::FrictionForm;
using contact::polyhedral::Polyhedral;
using contact::polyhedral::PolyhedralOptions;

namespace {

class PolyhedralModel : public ContactModel {
 public:
    explicit PolyhedralModel(PolyhedralOptions options) : options_(options) {}

    [[nodiscard]] std::string description() const override {
        std::ostringstream text;
        text.precision(17);
        text << "{\"model\": \"polyhedral\", \"range\": " << options_.range << ", \"margin\": " << options_.margin
             << ", \"slip_speed\": " << options_.slip_speed << ", \"friction_form\": \""
             << (options_.friction == FrictionForm::Paper ? "paper" : "projected") << "\"}";
        return text.str();
    }
    [[nodiscard]] std::shared_ptr<const Polyhedral> potential(const std::shared_ptr<Model>& model) {
        return std::static_pointer_cast<const Polyhedral>(setup(model).potential);
    }

 protected:
    [[nodiscard]] std::shared_ptr<const contact::ContactPotential> build(const Model& model) const override {
        return std::make_shared<const Polyhedral>(model, options_);
    }

 private:
    PolyhedralOptions options_;
};

HullMass hull_mass(const std::string& name, const char* place) {
    if (name == "lumped") return HullMass::Lumped;
    if (name == "solid") return HullMass::Solid;
    if (name == "density") return HullMass::ConstantDensity;
    fail(place, ": mass '", name, "', expected 'solid', 'density' or 'lumped'");
}

void bind_hull_mass(nb::module_& m) {
    m.def(
        "hull_moments",
        [](const Model& model, const Parameters& parameters, const std::string& mass) {
            return hull_moments(model, parameters, hull_mass(mass, "hull_moments"));
        },
        "model"_a, "parameters"_a, nb::kw_only(), "mass"_a = "solid",
        "Parameters.moments that follow from Parameters.hull_vertices, shape (num_bodies, 10).\n\n"
        "mass: 'solid' (uniform density, each body's mass constant), 'density' (uniform, constant density) or 'lumped' "
        "(in the vertices).");
    m.def(
        "hull_moments_vjp",
        [](const Model& model, const Parameters& parameters, const MomentRows& dL_dmoments, const std::string& mass) {
            return hull_moments_vjp(model, parameters, hull_mass(mass, "hull_moments_vjp"), dL_dmoments);
        },
        "model"_a, "parameters"_a, "dL_dmoments"_a, nb::kw_only(), "mass"_a = "solid",
        "Gradient by hull vertices through hull_moments, shape (n, 3): add it to that of rollout_vjp.");
}

}  // namespace

void bind_contact_polyhedral(nb::module_& m) {
    bind_hull_mass(m);
    register_contact("polyhedral", std::make_shared<PolyhedralModel>(PolyhedralOptions{}));
    nb::class_<PolyhedralModel, ContactModel>(
        m, "Polyhedral",
        "Convex-polyhedron contact: bodies are unions of convex hulls that repel below a range, smoothly, and never "
        "touch.\n\n"
        "Hulls are those of the colliding shapes, one each; their vertices are Parameters.hull_vertices. Stiffness "
        "follows from the\n"
        "lighter body's weight; Parameters.weight multiplies it, relative to the model's default.")
        .def(
            "__init__",
            [](PolyhedralModel* self, double range, double margin, double slip_speed,
               const std::string& friction_form) {
                PolyhedralOptions options{.range = range, .margin = margin, .slip_speed = slip_speed};
                if (friction_form == "paper") {
                    options.friction = FrictionForm::Paper;
                } else if (friction_form != "projected") {
                    fail("Polyhedral: friction_form '", friction_form, "', expected 'projected' or 'paper'");
                }
                validate(options);
                new (self) PolyhedralModel(options);
            },
            nb::kw_only(), "range"_a = PolyhedralOptions{}.range, "margin"_a = PolyhedralOptions{}.margin,
            "slip_speed"_a = PolyhedralOptions{}.slip_speed, "friction_form"_a = "projected",
            "range: distance below which hulls repel [m]; 0 = by the scene. margin: dimensionless margin of the "
            "barrier.\n"
            "slip_speed: smoothing of friction [m/s]. friction_form: 'projected' (momentum balances) or 'paper'.")
        .def(
            "range_for",
            [](PolyhedralModel& self, const std::shared_ptr<Model>& model) { return self.potential(model)->range(); },
            "model"_a, "The range in use with this model [m].")
        .def(
            "excluded_pairs",
            [](PolyhedralModel& self, const std::shared_ptr<Model>& model) {
                return self.potential(model)->excluded_pairs();
            },
            "model"_a, "Body pairs left out because their hulls overlap in the reference pose, with the reason.");
}

}  // namespace farfield::python
