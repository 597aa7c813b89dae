// SPDX-License-Identifier: Apache-2.0
/// @file  The IPC contact models in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <sstream>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/contact/ipc/automatic.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::ipc::Form;
using contact::ipc::IpcOptions;

namespace {

class IpcModel : public ContactModel {
 public:
    IpcModel(IpcOptions options, std::optional<double> range) : options_(std::move(options)), range_(range) {}

    [[nodiscard]] std::string description() const override {
        std::ostringstream text;
        text.precision(17);
        text << "{\"model\": \"ipc\", \"range\": ";
        if (range_) {
            text << *range_;
        } else {
            text << "null";
        }
        text << ", \"scale\": [";
        for (std::size_t i = 0; i < options_.scale.size(); ++i) text << (i ? ", " : "") << options_.scale[i];
        text << "], \"slip_speed\": " << options_.slip_speed << "}";
        return text.str();
    }

 protected:
    [[nodiscard]] std::shared_ptr<const contact::ContactPotential> build(const Model& model) const override {
        IpcOptions options = options_;
        Kinematics kinematics;
        forward_kinematics(model, model.default_parameters(), model.default_state().q, kinematics);
        options.range = range_ ? *range_ : contact::ipc::automatic_range(model.collision(), kinematics.poses);
        if (options.scale.empty())
            options.scale = contact::ipc::automatic_scale(model.collision(), model.default_parameters(), options.range);
        return std::make_shared<const contact::ipc::Ipc>(model.collision(), options);
    }

 private:
    IpcOptions options_;
    std::optional<double> range_;
};

class IpcGlobalModel : public ContactModel {
 public:
    explicit IpcGlobalModel(IpcOptions options) : options_(std::move(options)) {}

    [[nodiscard]] std::string description() const override {
        std::ostringstream text;
        text.precision(17);
        text << "{\"model\": \"ipc-global\", \"length_scale\": " << options_.length_scale
             << ", \"slip_speed\": " << options_.slip_speed << "}";
        return text.str();
    }

 protected:
    [[nodiscard]] std::shared_ptr<const contact::ContactPotential> build(const Model& model) const override {
        return std::make_shared<const contact::ipc::Ipc>(model.collision(), options_);
    }

 private:
    IpcOptions options_;
};

}  // namespace

void bind_contact_ipc(nb::module_& m) {
    register_contact("ipc", std::make_shared<IpcModel>(IpcOptions{}, std::nullopt));
    register_contact("ipc-global", std::make_shared<IpcGlobalModel>(IpcOptions{.form = Form::Global}));
    nb::class_<IpcModel, ContactModel>(
        m, "Ipc",
        "Incremental potential contact: a barrier between vertices and triangles, and between edges, nearer than a "
        "range.\n\n"
        "Its weight [J] and friction coefficients are in Parameters, to be differentiated by.")
        .def(
            "__init__",
            [](IpcModel* self, std::optional<double> range, std::vector<double> scale, double slip_speed) {
                IpcOptions options{.range = range.value_or(1.0), .scale = std::move(scale), .slip_speed = slip_speed};
                validate(options, static_cast<int>(options.scale.size()));
                new (self) IpcModel(std::move(options), range);
            },
            nb::kw_only(), "range"_a.none() = nb::none(), "scale"_a = std::vector<double>{}, "slip_speed"_a = 1e-3,
            "range [m]: where contact begins; None = a hundredth of the scene's size. scale: factor of the weight, per "
            "contact pair or\n"
            "one for all; empty = at the default weight four terms at half the range carry the lighter body of a "
            "pair.\n"
            "slip_speed: smoothing of friction [m/s].");
    nb::class_<IpcGlobalModel, ContactModel>(
        m, "IpcGlobal",
        "The pairs of features of Ipc with 12 (1 + d^-1/2)^2 - 12 instead of the clamped barrier: never zero, but not "
        "smooth.\n\n"
        "Brute force over all pairs; refused above 2,000 triangles.")
        .def(
            "__init__",
            [](IpcGlobalModel* self, double length_scale, double slip_speed) {
                IpcOptions options{.form = Form::Global, .length_scale = length_scale, .slip_speed = slip_speed};
                validate(options, 0);
                new (self) IpcGlobalModel(std::move(options));
            },
            nb::kw_only(), "length_scale"_a = 1.0, "slip_speed"_a = 1e-3,
            "length_scale [m]: the unit of d. slip_speed: smoothing of friction [m/s].");
}

}  // namespace farfield::python
