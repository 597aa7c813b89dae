// SPDX-License-Identifier: Apache-2.0
/// @file  Model, State, Parameters and kinematics in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/io/model_file.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/model/model.hpp"
#include "farfield/scene/shape_surface.hpp"
#include "poses.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using Eigen::VectorXd;

namespace {

using ModelPtr = std::shared_ptr<Model>;

/// A surface to draw.
struct Drawable {
    std::string name;
    int body = 0;
    TriangleMesh mesh;
    Eigen::Vector4d color;
};

std::vector<Drawable> drawables(const Model& model) {
    std::vector<Drawable> out;
    for (const Shape& shape : model.scene().shapes) {
        if (shape.type == ShapeType::HalfSpace) continue;
        out.push_back({shape.name, shape.body, shape_surface(shape, model.scene()), shape.color});
    }
    return out;
}

template <class Items>
std::vector<std::string> names(const Items& items) {
    std::vector<std::string> out;
    for (const auto& item : items) out.push_back(item.name);
    return out;
}

nb::dict keyframes(const Model& model) {
    nb::dict out;
    for (const Keyframe& key : model.scene().keyframes) {
        State state = model.default_state();
        if (key.q.size()) state.q = key.q;
        if (key.v.size()) state.v = key.v;
        out[nb::str(key.name.c_str())] =
            nb::make_tuple(state, key.control.size() ? key.control : model.default_control());
    }
    return out;
}

nb::list half_spaces(const Model& model) {
    nb::list out;
    for (std::size_t i = 0; i < model.collision().bodies.size(); ++i) {
        for (const HalfSpace& half : model.collision().bodies[i].half_spaces)
            out.append(nb::make_tuple(i, half.normal, half.offset));
    }
    return out;
}

nb::list contact_pairs(const Model& model) {
    nb::list out;
    for (const ContactPair& pair : model.collision().pairs) {
        out.append(nb::make_tuple(model.bodies()[static_cast<std::size_t>(pair.a)].name,
                                  model.bodies()[static_cast<std::size_t>(pair.b)].name));
    }
    return out;
}

int index_of(const std::optional<int>& found, const char* kind, const std::string& name) {
    if (!found) fail("no ", kind, " '", name, "' in the model");
    return *found;
}

void bind_state(nb::module_& m) {
    nb::class_<State>(m, "State", "Coordinates and velocities of a model: exactly what a trajectory stores.")
        .def(
            "__init__",
            [](State* self, VectorXd q, VectorXd v) {
                new (self) State{std::move(q), std::move(v)};
            },
            nb::kw_only(), "q"_a, "v"_a, "q: coordinates, shape (num_q,). v: velocities, shape (num_dofs,).")
        .def_rw("q", &State::q, "Coordinates, shape (num_q,): angles [rad], positions [m], quaternions (w, x, y, z).")
        .def_rw("v", &State::v,
                "Velocities, shape (num_dofs,) [rad/s, m/s]; free joints: linear in world axes, angular in body axes.")
        .def(
            "copy", [](const State& self) { return State(self); }, "An independent copy.")
        .def("__repr__",
             [](const State& s) {
                 return "State(num_q=" + std::to_string(s.q.size()) + ", num_dofs=" + std::to_string(s.v.size()) + ")";
             })
        .def("__getstate__", [](const State& s) { return std::pair(s.q, s.v); })
        .def("__setstate__", [](State& s, const std::pair<VectorXd, VectorXd>& values) {
            new (&s) State{values.first, values.second};
        });
}

void bind_parameters(nb::module_& m) {
    using Fields =
        std::tuple<decltype(Parameters::moments), decltype(Parameters::attachment), VectorXd, VectorXd, VectorXd,
                   VectorXd, VectorXd, Eigen::Vector3d, VectorXd, double, decltype(Parameters::hull_vertices)>;
    nb::class_<Parameters>(
        m, "Parameters",
        "What a rollout can be differentiated by besides its state and controls. Arrays are views: write into them.")
        .def_rw("moments", &Parameters::moments,
                "Mass moments per body, shape (num_bodies, 10): m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz [kg, kg m, "
                "kg m^2], "
                "h = sum m x, S = sum m x x^T in the body frame.")
        .def_rw("attachment", &Parameters::attachment,
                "Position of each body in its parent, shape (num_bodies, 3) [m]; unused for free bodies.")
        .def_rw("kp", &Parameters::kp, "Position gains, shape (num_actuators,) [N m/rad or N/m].")
        .def_rw("kd", &Parameters::kd, "Velocity gains, shape (num_actuators,) [N m s/rad or N s/m].")
        .def_rw("damping", &Parameters::damping, "Joint damping, shape (num_dofs,) [N m s/rad or N s/m].")
        .def_rw("armature", &Parameters::armature, "Rotor inertia, shape (num_dofs,) [kg m^2 or kg].")
        .def_rw("stiffness", &Parameters::stiffness, "Joint springs, shape (num_dofs,) [N m/rad or N/m].")
        .def_rw("gravity", &Parameters::gravity, "Shape (3,) [m/s^2].")
        .def_rw("friction", &Parameters::friction,
                "Coulomb coefficient per body, shape (num_bodies,); a pair uses the larger one.")
        .def_rw("contact_stiffness", &Parameters::contact_stiffness,
                "Factor of the weights [J] of all contact pairs, see ContactModel.pair_weights.")
        .def_rw("hull_vertices", &Parameters::hull_vertices,
                "Local vertices of convex hulls, stacked, shape (n, 3) [m].")
        .def(
            "copy", [](const Parameters& self) { return Parameters(self); }, "An independent copy.")
        .def("__repr__",
             [](const Parameters& p) {
                 return "Parameters(num_bodies=" + std::to_string(p.moments.rows()) +
                        ", num_dofs=" + std::to_string(p.damping.size()) + ")";
             })
        .def("__getstate__",
             [](const Parameters& p) {
                 return Fields(p.moments, p.attachment, p.kp, p.kd, p.damping, p.armature, p.stiffness, p.gravity,
                               p.friction, p.contact_stiffness, p.hull_vertices);
             })
        .def("__setstate__", [](Parameters& self, const Fields& f) {
            new (&self) Parameters{std::get<0>(f), std::get<1>(f), std::get<2>(f), std::get<3>(f),
                                   std::get<4>(f), std::get<5>(f), std::get<6>(f), std::get<7>(f),
                                   std::get<8>(f), std::get<9>(f), std::get<10>(f)};
        });
}

}  // namespace

void bind_model(nb::module_& m) {
    bind_state(m);
    bind_parameters(m);
    nb::class_<Drawable>(m, "Drawable", "A surface to draw, in the frame of its body.")
        .def_ro("name", &Drawable::name, "Name of the shape.")
        .def_ro("body", &Drawable::body, "Body index.")
        .def_prop_ro(
            "vertices", [](const Drawable& d) { return d.mesh.vertices; }, "Shape (n, 3) [m].")
        .def_prop_ro(
            "triangles", [](const Drawable& d) { return d.mesh.triangles; }, "Shape (m, 3).")
        .def_ro("color", &Drawable::color, "Red, green, blue, alpha, 0 to 1.");

    nb::class_<Model>(m, "Model", "A scene compiled into flat arrays; immutable. Made by build_model or load.")
        .def_prop_ro(
            "name", [](const Model& x) { return x.scene().name; }, "Name of the scene.")
        .def_prop_ro(
            "scene", [](const Model& x) { return Scene(x.scene()); }, "A copy of the scene it was built from.")
        .def_prop_ro("num_bodies", &Model::num_bodies, "Bodies, the world (0) included.")
        .def_prop_ro("num_q", &Model::num_q, "Coordinates.")
        .def_prop_ro("num_dofs", &Model::num_dofs, "Degrees of freedom: size of velocities and tangent vectors.")
        .def_prop_ro("num_unknowns", &Model::num_unknowns, "Degrees of freedom left after ties and scripted bodies.")
        .def_prop_ro("num_controls", &Model::num_controls, "Inputs of all actuators together.")
        .def_prop_ro("num_kinematic", &Model::num_kinematic, "Bodies whose pose is scripted.")
        .def_prop_ro(
            "body_names", [](const Model& x) { return names(x.bodies()); }, "Names of the bodies, the world first.")
        .def_prop_ro(
            "joint_names", [](const Model& x) { return names(x.joints()); },
            "Names of the joints, in the order of q and v.")
        .def_prop_ro(
            "actuator_names", [](const Model& x) { return names(x.actuators()); },
            "Names of the actuators, in the order of the controls.")
        .def_prop_ro("kinematic_bodies", &Model::kinematic_bodies,
                     "Indices of the scripted bodies, in the order of a script's columns.")
        .def_prop_ro(
            "reduction", [](const Model& x) { return x.reduction().E; },
            "E of the exact reduction: tangent steps are E z, shape (num_dofs, num_unknowns).")
        .def_prop_ro("contact_pairs", &contact_pairs, "Pairs of body names that may meet.")
        .def_prop_ro("excluded_pairs", &Model::excluded_pairs, "Pairs left out of contact, each with the reason.")
        .def_prop_ro("warnings", &Model::warnings, "What the importer could not carry over and what looks unusual.")
        .def_prop_ro("keyframes", &keyframes, "Name -> (State, control).")
        .def("default_state", &Model::default_state, nb::rv_policy::copy, "The reference pose at rest.")
        .def("default_parameters", &Model::default_parameters, nb::rv_policy::copy,
             "The parameters of the scene as described.")
        .def("default_control", &Model::default_control, nb::rv_policy::copy,
             "Position targets at the reference pose, the rest 0; shape (num_controls,).")
        .def(
            "body", [](const Model& x, const std::string& name) { return index_of(x.find_body(name), "body", name); },
            "name"_a, "Index of a body.")
        .def(
            "joint_q",
            [](const Model& x, const std::string& name) {
                const ModelJoint& j = x.joints()[static_cast<std::size_t>(index_of(x.find_joint(name), "joint", name))];
                return nb::slice(j.q, j.q + j.num_q, 1);
            },
            "name"_a, "Slice of a joint's coordinates in q.")
        .def(
            "joint_dofs",
            [](const Model& x, const std::string& name) {
                const ModelJoint& j = x.joints()[static_cast<std::size_t>(index_of(x.find_joint(name), "joint", name))];
                return nb::slice(j.dof, j.dof + j.num_dofs, 1);
            },
            "name"_a, "Slice of a joint's degrees of freedom in v and tangent vectors.")
        .def(
            "actuator_controls",
            [](const Model& x, const std::string& name) {
                for (const ModelActuator& a : x.actuators()) {
                    if (a.name == name) return nb::slice(a.control, a.control + a.num_controls, 1);
                }
                fail("no actuator '", name, "' in the model");
            },
            "name"_a, "Slice of an actuator's inputs in the controls.")
        .def("drawables", &drawables, "Surfaces to draw, half-spaces left out.")
        .def("half_spaces", &half_spaces,
             "(body index, unit normal, offset) per half-space, in the body's frame: normal . x <= offset.")
        .def("__repr__",
             [](const Model& x) {
                 return "Model('" + x.scene().name + "', bodies=" + std::to_string(x.num_bodies()) +
                        ", dofs=" + std::to_string(x.num_dofs()) + ", controls=" + std::to_string(x.num_controls()) +
                        ")";
             })
        .def("__getstate__",
             [](const Model& x) {
                 const std::string bytes = model_to_bytes(x, x.default_parameters());
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("__setstate__", [](Model& self, const nb::bytes& bytes) {
            new (&self) Model(*model_from_bytes(std::string_view(bytes.c_str(), bytes.size())).model);
        });

    m.def(
        "build_model", [](const Scene& scene) { return std::const_pointer_cast<Model>(build_model(scene)); }, "scene"_a,
        "Compiles a Scene. Raises ValueError naming the element, its value and what was expected.");
    m.def("zero_parameters", &zero_parameters, "model"_a, "Parameters of the model's sizes, all zero.");
    m.def(
        "forward_kinematics",
        [](const Model& model, const Parameters& parameters, const VectorXd& q) {
            validate(model, parameters, "forward_kinematics: parameters");
            validate(model, State{q, VectorXd::Zero(model.num_dofs())}, "forward_kinematics");
            Kinematics kinematics;
            forward_kinematics(model, parameters, q, kinematics);
            return pose_rows(kinematics.poses);
        },
        "model"_a, "parameters"_a, "q"_a,
        "World placement of every body, shape (num_bodies, 7): position [m], quaternion (w, x, y, z).");
    m.def(
        "retract",
        [](const Model& model, const VectorXd& q, const VectorXd& delta) {
            validate(model, State{q, VectorXd::Zero(model.num_dofs())}, "retract");
            if (delta.size() != model.num_dofs())
                fail("retract: delta has ", delta.size(), " entries, expected ", model.num_dofs());
            for (Eigen::Index k = 0; k < delta.size(); ++k) {
                if (!std::isfinite(delta[k]))
                    fail("retract: delta[", k, "] = ", delta[k], ", expected a finite number");
            }
            VectorXd out;
            retract(model, q, delta, out);
            return out;
        },
        "model"_a, "q"_a, "delta"_a,
        "q moved along a tangent vector, shape (num_dofs,): numbers add, rotations become R exp(delta).");
    m.def(
        "difference",
        [](const Model& model, const VectorXd& start, const VectorXd& end) {
            validate(model, State{start, VectorXd::Zero(model.num_dofs())}, "difference");
            validate(model, State{end, VectorXd::Zero(model.num_dofs())}, "difference");
            VectorXd out;
            difference(model, start, end, out);
            return out;
        },
        "model"_a, "start"_a, "end"_a,
        "The tangent vector from start to end: retract(start, difference(start, end)) = end.");
}

}  // namespace farfield::python
