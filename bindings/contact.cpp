// SPDX-License-Identifier: Apache-2.0
/// @file  Contact models in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <sstream>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/model/closest_points.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::longrange::FrictionForm;
using contact::longrange::LongRangeOptions;

namespace {

class LongRangeModel : public ContactModel {
 public:
    explicit LongRangeModel(LongRangeOptions options, bool brute_force)
        : options_(std::move(options)), brute_force_(brute_force) {}

    [[nodiscard]] std::string description() const override {
        std::ostringstream text;
        text.precision(17);
        text << std::boolalpha << "{\"model\": \"longrange\", \"blend\": [";
        for (std::size_t i = 0; i < options_.blend.size(); ++i) text << (i ? ", " : "") << options_.blend[i];
        text << "], \"zero_offset\": " << options_.zero_offset << ", \"area_weights\": " << options_.area_weights
             << ", \"length_scale\": " << options_.length_scale << ", \"slip_speed\": " << options_.slip_speed
             << ", \"energy_tolerance\": " << options_.energy_tolerance
             << ", \"derivative_tolerance\": " << options_.derivative_tolerance << ", \"friction_form\": \""
             << (options_.friction == FrictionForm::Paper ? "paper" : "projected")
             << "\", \"brute_force\": " << brute_force_ << "}";
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

/// Poses of all bodies from coordinates.
Poses poses_at(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, const char* place) {
    validate(model, State{q, Eigen::VectorXd::Zero(model.num_dofs())}, place);
    validate(model, parameters, place);
    Kinematics kinematics;
    forward_kinematics(model, parameters, q, kinematics);
    return kinematics.poses;
}

/// One block per contact pair: zero for those that do not interact.
void list_all_pairs(contact::ContactLinearization& d, const CollisionGeometry& collision) {
    std::vector<contact::PairBlock> all;
    std::size_t next = 0;
    for (std::size_t k = 0; k < collision.pairs.size(); ++k) {
        const ContactPair& pair = collision.pairs[k];
        const bool listed = next < d.blocks.size() && d.blocks[next].a == pair.a && d.blocks[next].b == pair.b;
        all.push_back(listed ? d.blocks[next++] : contact::PairBlock{.a = pair.a, .b = pair.b, .gap = d.gaps[k]});
    }
    d.blocks.swap(all);
}

contact::ContactLinearization evaluate(ContactModel& contact, const std::shared_ptr<Model>& model,
                                       const Parameters& parameters, const Eigen::VectorXd& q,
                                       const std::optional<Eigen::VectorXd>& previous_q, double dt) {
    const Poses poses = poses_at(*model, parameters, q, "evaluate: q");
    const ContactSetup setup = contact.setup(model);
    const auto memory = setup.potential->make_memory();
    contact::ContactLinearization out;
    if (previous_q) {
        const Poses previous = poses_at(*model, parameters, *previous_q, "evaluate: previous_q");
        setup.potential->begin_step(previous, dt, parameters, *memory).linearize(poses, out);
    } else {
        setup.potential->begin_step(poses, dt, parameters, *memory, contact::StepMode::Frictionless)
            .linearize(poses, out);
    }
    if (!out.gaps.empty())
        list_all_pairs(out, setup.filter->surfaces() ? *setup.filter->surfaces() : model->collision());
    return out;
}

nb::list all_closest_points(const std::shared_ptr<Model>& model, const Parameters& parameters,
                            const Eigen::VectorXd& q) {
    const Poses poses = poses_at(*model, parameters, q, "closest_points: q");
    nb::list out;
    for (const ContactPair& pair : model->collision().pairs)
        out.append(closest_points(model->collision(), pair, poses));
    return out;
}

}  // namespace

namespace {

std::map<std::string, ContactPtr>& registry() {
    static std::map<std::string, ContactPtr> models;
    return models;
}

}  // namespace

void register_contact(const std::string& name, ContactPtr with_defaults) {
    registry()[name] = std::move(with_defaults);
}

ContactPtr contact_of(const ContactArgument& argument) {
    if (!argument) return nullptr;
    if (const auto* model = std::get_if<ContactPtr>(&*argument)) return *model;
    const auto& name = std::get<std::string>(*argument);
    const auto found = registry().find(name);
    if (found != registry().end()) return found->second;
    std::string names;
    for (const auto& [known, model] : registry()) names += (names.empty() ? "" : ", ") + known;
    fail("rollout: contact model '", name, "' is unknown, expected one of: ", names);
}

void bind_contact(nb::module_& m) {
    register_contact("longrange", std::make_shared<LongRangeModel>(LongRangeOptions{}, false));
    nb::class_<contact::PairBlock>(m, "PairBlock", "Second derivatives of one pair of bodies.")
        .def_ro("a", &contact::PairBlock::a, "Body index.")
        .def_ro("b", &contact::PairBlock::b, "Body index, above a.")
        .def_ro("hessian", &contact::PairBlock::hessian,
                "Shape (12, 12): linear and angular motion of a, then of b, world axes.")
        .def_ro("gap", &contact::PairBlock::gap, "Certified lower bound of the distance [m].");
    nb::class_<contact::ContactLinearization>(m, "ContactLinearization",
                                              "Contact energy and its derivatives by body motions.")
        .def_ro("energy", &contact::ContactLinearization::energy, "[J]; inf when bodies touch.")
        .def_ro("friction_energy", &contact::ContactLinearization::friction_energy,
                "The part of energy that is friction [J].")
        .def_prop_ro(
            "wrench",
            [](const contact::ContactLinearization& d) {
                Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor> out(
                    static_cast<Eigen::Index>(d.wrench.size()), 6);
                for (std::size_t i = 0; i < d.wrench.size(); ++i)
                    out.row(static_cast<Eigen::Index>(i)) = d.wrench[i].transpose();
                return out;
            },
            "Derivative of the energy, shape (num_bodies, 6): by the position of each body's origin, then by a "
            "rotation vector. The force is its negative.")
        .def_ro("blocks", &contact::ContactLinearization::blocks, "One PairBlock per contact pair of the model.");
    nb::class_<ClosestPoints>(m, "ClosestPoints", "Closest points of two bodies.")
        .def_ro("a", &ClosestPoints::a, "Body index.")
        .def_ro("b", &ClosestPoints::b, "Body index, above a.")
        .def_ro("distance", &ClosestPoints::distance, "[m]")
        .def_ro("point_a", &ClosestPoints::point_a, "World [m], shape (3,).")
        .def_ro("point_b", &ClosestPoints::point_b, "World [m], shape (3,).");
    m.def("closest_points", &all_closest_points, "model"_a, "parameters"_a, "q"_a,
          "Exact closest points of every contact pair at coordinates q.");
    nb::class_<ContactModel>(m, "ContactModel", "A contact model: the `contact` argument of a rollout.")
        .def("__repr__", [](const ContactModel& x) { return "ContactModel(" + x.description() + ")"; })
        .def_prop_ro("description", &ContactModel::description, "Name and options as JSON.")
        .def("evaluate", &evaluate, "model"_a, "parameters"_a, "q"_a, nb::kw_only(), "previous_q"_a.none() = nb::none(),
             "dt"_a = StepOptions{}.dt,
             "Energy, wrenches and Hessian blocks at coordinates q. With previous_q, friction of a step of dt [s] from "
             "there is included.");
    nb::class_<LongRangeModel, ContactModel>(
        m, "LongRange",
        "Long-range contact: every pair of bodies repels at every distance, smoothly, and never touches.\n\n"
        "Its weight [J] and friction coefficients are in Parameters, to be differentiated by.")
        .def(
            "__init__",
            [](LongRangeModel* self, std::vector<double> blend, bool zero_offset, bool area_weights,
               double length_scale, double slip_speed, double energy_tolerance, double derivative_tolerance,
               const std::string& friction_form, bool brute_force) {
                LongRangeOptions options{.blend = std::move(blend),
                                         .zero_offset = zero_offset,
                                         .area_weights = area_weights,
                                         .length_scale = length_scale,
                                         .slip_speed = slip_speed,
                                         .energy_tolerance = energy_tolerance,
                                         .derivative_tolerance = derivative_tolerance};
                if (friction_form == "paper") {
                    options.friction = FrictionForm::Paper;
                } else if (friction_form != "projected") {
                    fail("LongRange: friction_form '", friction_form, "', expected 'projected' or 'paper'");
                }
                if (options.blend.size() <= 1) validate(options, 1);
                new (self) LongRangeModel(std::move(options), brute_force);
            },
            nb::kw_only(), "blend"_a = std::vector<double>{}, "zero_offset"_a = true, "area_weights"_a = false,
            "length_scale"_a = 1.0, "slip_speed"_a = 1e-3, "energy_tolerance"_a = 1e-9,
            "derivative_tolerance"_a = 1e-12, "friction_form"_a = "projected", "brute_force"_a = false,
            "blend: blending margin per body, or one for all; empty = by shape. zero_offset: the potential tends to 0 "
            "far away.\n"
            "area_weights: independent of the mesh's fineness. length_scale [m]. slip_speed: smoothing of friction "
            "[m/s].\n"
            "friction_form: 'projected' (momentum balances) or 'paper'. brute_force: all pairs of triangles, no "
            "hierarchy.");
}

}  // namespace farfield::python
