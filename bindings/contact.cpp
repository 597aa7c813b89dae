// SPDX-License-Identifier: Apache-2.0
/// @file  Contact models in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <map>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/pairwise/far_forces.hpp"
#include "farfield/model/closest_points.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using contact::longrange::FrictionForm;
using contact::longrange::LeafWeights;
using contact::longrange::LongRangeOptions;

namespace {

/// Poses of all bodies from coordinates.
Poses poses_at(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q, const char* place) {
    validate(model, State{q, Eigen::VectorXd::Zero(model.num_dofs())}, place);
    validate(model, parameters, place);
    Kinematics kinematics;
    forward_kinematics(model, parameters, q, kinematics);
    return kinematics.poses;
}

/// The pairs a potential has weights and gaps for.
const std::vector<ContactPair>& pairs_of(const ContactSetup& setup, const Model& model) {
    return (setup.filter->surfaces() ? *setup.filter->surfaces() : model.collision()).pairs;
}

void require_potential(const ContactSetup& setup, const char* place) {
    if (!setup.potential) fail(place, ": a force law, expected a contact model with an energy; see Softmin.forces");
}

/// One block per contact pair: zero for those that do not interact.
void list_all_pairs(contact::ContactLinearization& d, const std::vector<ContactPair>& pairs) {
    std::vector<contact::PairBlock> all;
    std::size_t next = 0;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        const bool listed = next < d.blocks.size() && d.blocks[next].a == pairs[k].a && d.blocks[next].b == pairs[k].b;
        all.push_back(listed ? d.blocks[next++]
                             : contact::PairBlock{.a = pairs[k].a, .b = pairs[k].b, .gap = d.gaps[k]});
    }
    d.blocks.swap(all);
}

LeafWeights leaf_weights_named(const std::string& name) {
    if (name == "paper") return LeafWeights::Paper;
    if (name != "parallel") fail("LongRange: leaf_weights '", name, "', expected 'parallel' or 'paper'");
    return LeafWeights::Parallel;
}

nb::list pair_weights(ContactModel& contact, const std::shared_ptr<Model>& model) {
    const ContactSetup setup = contact.setup(model);
    require_potential(setup, "pair_weights");
    const std::vector<ContactPair>& pairs = pairs_of(setup, *model);
    const auto name = [&](int body) { return model->bodies()[static_cast<std::size_t>(body)].name; };
    nb::list out;
    for (std::size_t k = 0; k < pairs.size(); ++k)
        out.append(nb::make_tuple(name(pairs[k].a), name(pairs[k].b), setup.potential->pair_weights()[k]));
    return out;
}

contact::ContactLinearization evaluate(ContactModel& contact, const std::shared_ptr<Model>& model,
                                       const Parameters& parameters, const Eigen::VectorXd& q,
                                       const std::optional<Eigen::VectorXd>& previous_q, double dt) {
    const Poses poses = poses_at(*model, parameters, q, "evaluate: q");
    const ContactSetup setup = contact.setup(model);
    require_potential(setup, "evaluate");
    const auto memory = setup.potential->make_memory();
    contact::ContactLinearization out;
    if (previous_q) {
        const Poses previous = poses_at(*model, parameters, *previous_q, "evaluate: previous_q");
        setup.potential->begin_step(previous, dt, parameters, *memory).linearize(poses, out);
    } else {
        setup.potential->begin_step(poses, dt, parameters, *memory, contact::StepMode::Frictionless)
            .linearize(poses, out);
    }
    if (std::isfinite(out.energy)) list_all_pairs(out, pairs_of(setup, *model));
    return out;
}

Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> far_forces_at(ContactModel& contact,
                                                                        const std::shared_ptr<Model>& model,
                                                                        const Parameters& parameters,
                                                                        const Eigen::VectorXd& q) {
    const Poses poses = poses_at(*model, parameters, q, "far_forces: q");
    const auto forces = contact::far_forces(*model, *contact.setup(model).potential, parameters, poses);
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> out(static_cast<Eigen::Index>(forces.size()), 3);
    for (std::size_t i = 0; i < forces.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = forces[i].transpose();
    return out;
}

nb::list all_closest_points(const std::shared_ptr<Model>& model, const Parameters& parameters,
                            const Eigen::VectorXd& q) {
    const Poses poses = poses_at(*model, parameters, q, "closest_points: q");
    const std::shared_ptr<const CollisionGeometry> round = round_geometry(model->collision());
    nb::list out;
    for (const ContactPair& pair : model->collision().pairs)
        out.append(closest_points(round ? *round : model->collision(), pair, poses));
    return out;
}

/// What contact_named has made. It keeps models of Python alive, so it is emptied before Python ends.
std::map<std::string, ContactPtr>& named_contacts() {
    static std::map<std::string, ContactPtr> kept;
    return kept;
}

}  // namespace

ContactPtr contact_with(const contact::ContactOptions& options) {
    const std::string name = contact::name_of(options);
    if (name == "longrange") return std::make_shared<LongRangeModel>(options);
    if (name == "polyhedral") return std::make_shared<PolyhedralModel>(options);
    if (name == "ipc") return std::make_shared<IpcModel>(options);
    if (name == "softmin") return std::make_shared<SoftminModel>(options);
    return std::make_shared<IpcGlobalModel>(options);
}

ContactPtr contact_named(const std::string& name) {
    ContactPtr& contact = named_contacts()[name];
    if (!contact) contact = contact_with(contact::default_options(name));
    return contact;
}

ContactPtr contact_of(const ContactArgument& argument) {
    if (!argument) return nullptr;
    if (const auto* model = std::get_if<ContactPtr>(&*argument)) return *model;
    return contact_named(std::get<std::string>(*argument));
}

void bind_contact(nb::module_& m) {
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { named_contacts().clear(); }));
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
        .def("pair_weights", &pair_weights, "model"_a,
             "(name of a, name of b, weight [J]) of every contact pair, at Parameters.contact_stiffness 1.")
        .def("evaluate", &evaluate, "model"_a, "parameters"_a, "q"_a, nb::kw_only(), "previous_q"_a.none() = nb::none(),
             "dt"_a = StepOptions{}.dt,
             "Energy, wrenches and Hessian blocks at coordinates q. With previous_q, friction of a step of dt [s] from "
             "there is included.")
        .def("far_forces", &far_forces_at, "model"_a, "parameters"_a, "q"_a,
             "Force [N] on every body from pairs further apart than a tenth of the smaller body's size, shape "
             "(num_bodies, 3).");
    m.def(
        "contact_from_description",
        [](const std::string& text) -> ContactPtr {
            const auto options = text.empty() ? std::nullopt : contact_from_json(text, "contact model");
            return options ? contact_with(*options) : nullptr;
        },
        "text"_a,
        "The contact model that ContactModel.description or Trajectory.contact describes; None for an empty text and "
        "for the contact of another engine.");
    nb::class_<LongRangeModel, ContactModel>(
        m, "LongRange",
        "Long-range contact: every pair of bodies repels at every distance, smoothly, and never touches.\n\n"
        "Stiffness and friction coefficients are in Parameters, to be differentiated by; a pair's energy is weighted "
        "by "
        "Parameters.contact_stiffness times pair_weights.")
        .def(
            "__init__",
            [](LongRangeModel* self, double stiffness, std::optional<double> weight_in_joules,
               const std::string& leaf_weights, std::vector<double> blend, bool zero_offset,
               std::optional<double> length_scale, std::optional<double> slip_speed, double near_range,
               double energy_tolerance, double derivative_tolerance, const std::string& friction_form,
               bool round_shapes, bool brute_force) {
                LongRangeOptions options{.stiffness = stiffness,
                                         .weight_in_joules = weight_in_joules,
                                         .leaf_weights = leaf_weights_named(leaf_weights),
                                         .blend = std::move(blend),
                                         .zero_offset = zero_offset,
                                         .length_scale = length_scale,
                                         .slip_speed = slip_speed,
                                         .near_range = near_range,
                                         .energy_tolerance = energy_tolerance,
                                         .derivative_tolerance = derivative_tolerance,
                                         .friction = python::friction_form<FrictionForm>(friction_form, "LongRange"),
                                         .round_shapes = round_shapes,
                                         .brute_force = brute_force};
                validate(options, static_cast<int>(options.blend.size()));
                new (self) LongRangeModel(std::move(options));
            },
            nb::kw_only(), "stiffness"_a = 1.0, "weight_in_joules"_a.none() = nb::none(), "leaf_weights"_a = "parallel",
            "blend"_a = std::vector<double>{}, "zero_offset"_a = true, "length_scale"_a.none() = nb::none(),
            "slip_speed"_a.none() = nb::none(), "near_range"_a = 0.05, "energy_tolerance"_a = 1e-9,
            "derivative_tolerance"_a = 1e-12, "friction_form"_a = "projected", "round_shapes"_a = true,
            "brute_force"_a = false,
            "stiffness: factor of the automatic weights, at which boxes rest at about a hundredth of their size.\n"
            "weight_in_joules: mu [J] of every pair instead of the automatic one. leaf_weights: 'parallel' (forces do "
            "not depend on how finely bodies are cut) or 'paper'.\n"
            "blend: blending margin per body, or one for all; empty = by shape. zero_offset: the potential tends to 0 "
            "far away.\n"
            "length_scale [m]: None = 1 beside weight_in_joules, else ten times the smaller body of a pair. "
            "slip_speed: smoothing of friction [m/s]; None = 1e-3 sqrt(g L), L the size of the smaller body.\n"
            "near_range: reach of pairs with the policy 'near' (Scene.self_contact, Scene.set_pair_contact), in sizes "
            "L of "
            "the smaller body; they fade from half of it on.\n"
            "friction_form: 'projected' (momentum balances) or 'paper'. round_shapes: spheres and capsules are round, "
            "instead "
            "of the triangles that other models see. brute_force: all pairs of triangles, no "
            "hierarchy.");
}

}  // namespace farfield::python
