// SPDX-License-Identifier: Apache-2.0
/// @file  Contact models in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/long_range.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::longrange::FrictionForm;
using contact::longrange::LongRangeOptions;

namespace {

class LongRangeModel : public ContactModel {
 public:
    explicit LongRangeModel(LongRangeOptions options, bool brute_force) : options_(std::move(options)), brute_force_(brute_force) {}

    [[nodiscard]] std::string description() const override {
        std::ostringstream text;
        text.precision(17);
        text << std::boolalpha << "{\"model\": \"longrange\", \"blend\": [";
        for (std::size_t i = 0; i < options_.blend.size(); ++i) text << (i ? ", " : "") << options_.blend[i];
        text << "], \"zero_offset\": " << options_.zero_offset << ", \"area_weights\": " << options_.area_weights
             << ", \"length_scale\": " << options_.length_scale << ", \"slip_speed\": " << options_.slip_speed
             << ", \"energy_tolerance\": " << options_.energy_tolerance << ", \"derivative_tolerance\": " << options_.derivative_tolerance
             << ", \"friction_form\": \"" << (options_.friction == FrictionForm::Paper ? "paper" : "projected") << "\", \"threads\": " << options_.threads
             << ", \"brute_force\": " << brute_force_ << "}";
        return text.str();
    }

 protected:
    [[nodiscard]] std::shared_ptr<const contact::ContactPotential> build(const Model& model) const override {
        if (brute_force_) return std::make_shared<const contact::longrange::BruteForce>(model.collision(), options_);
        return std::make_shared<const contact::longrange::LongRange>(model.collision(), options_);
    }

 private:
    LongRangeOptions options_;
    bool brute_force_ = false;
};

}  // namespace

void bind_contact(nb::module_& m) {
    nb::class_<ContactModel>(m, "ContactModel", "A contact model: the `contact` argument of a rollout.")
        .def("__repr__", [](const ContactModel& x) { return "ContactModel(" + x.description() + ")"; })
        .def_prop_ro("description", &ContactModel::description, "Name and options as JSON.");
    nb::class_<LongRangeModel, ContactModel>(m, "LongRange",
        "Long-range contact: every pair of bodies repels at every distance, smoothly, and never touches.\n\n"
        "Its weight [J] and friction coefficients are in Parameters, to be differentiated by.")
        .def("__init__", [](LongRangeModel* self, std::vector<double> blend, bool zero_offset, bool area_weights, double length_scale, double slip_speed,
                            double energy_tolerance, double derivative_tolerance, const std::string& friction_form, int threads, bool brute_force) {
            LongRangeOptions options{.blend = std::move(blend), .zero_offset = zero_offset, .area_weights = area_weights, .length_scale = length_scale,
                                     .slip_speed = slip_speed, .energy_tolerance = energy_tolerance, .derivative_tolerance = derivative_tolerance,
                                     .threads = threads};
            if (friction_form == "paper") {
                options.friction = FrictionForm::Paper;
            } else if (friction_form != "projected") {
                fail("LongRange: friction_form '", friction_form, "', expected 'projected' or 'paper'");
            }
            if (options.blend.size() <= 1) validate(options, 1);
            new (self) LongRangeModel(std::move(options), brute_force);
        }, nb::kw_only(), "blend"_a = std::vector<double>{}, "zero_offset"_a = true, "area_weights"_a = false, "length_scale"_a = 1.0,
            "slip_speed"_a = 1e-3, "energy_tolerance"_a = 1e-9, "derivative_tolerance"_a = 1e-12, "friction_form"_a = "projected", "threads"_a = 1,
            "brute_force"_a = false,
            "blend: blending margin per body, or one for all; empty = by shape. zero_offset: the potential tends to 0 far away.\n"
            "area_weights: independent of the mesh's fineness. length_scale [m]. slip_speed: smoothing of friction [m/s].\n"
            "friction_form: 'projected' (momentum balances) or 'paper'. threads: body pairs in parallel, same bits for any number.\n"
            "brute_force: all pairs of triangles, no hierarchy.");
}

}  // namespace farfield::python
