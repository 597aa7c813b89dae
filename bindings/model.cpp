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
#include "farfield/model/constraint.hpp"
#include "farfield/model/constraint_projection.hpp"
#include "farfield/model/hull_mass.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/model/model.hpp"
#include "farfield/model/parameter_names.hpp"
#include "farfield/scene/shape_surface.hpp"
#include "fields.hpp"
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

/// One convex hull as Python sees it.
struct HullInfo {
    std::string shape;
    int body = 0, first = 0, count = 0;
    CurrentHull now;
};

std::vector<HullInfo> hull_infos(const Model& model, const VertexRows& vertices) {
    std::vector<CurrentHull> now = current_hulls(model, vertices);
    std::vector<HullInfo> out;
    for (std::size_t k = 0; k < now.size(); ++k) {
        const ModelHull& hull = model.hulls()[k];
        const std::string& name = model.scene().shapes[static_cast<std::size_t>(hull.shape)].name;
        out.push_back({name, hull.body, hull.first_vertex, hull.num_vertices, std::move(now[k])});
    }
    return out;
}

void bind_hull(nb::module_& m) {
    nb::class_<HullInfo>(m, "Hull",
                         "The convex hull of one colliding shape; its vertices are rows of Parameters.hull_vertices.")
        .def_ro("shape", &HullInfo::shape, "Name of the shape.")
        .def_ro("body", &HullInfo::body, "Body index.")
        .def_prop_ro(
            "rows", [](const HullInfo& h) { return nb::slice(h.first, h.first + h.count, 1); },
            "Slice of its vertices in Parameters.hull_vertices.")
        .def_prop_ro(
            "triangles", [](const HullInfo& h) { return h.now.triangles; },
            "Corners of its surface, counted from its first row, outward, shape (m, 3).")
        .def_prop_ro(
            "volume", [](const HullInfo& h) { return h.now.volume; }, "[m^3]")
        .def_prop_ro(
            "clamped", [](const HullInfo& h) { return h.now.clamped; },
            "Squeezed flat: a millionth of its described volume counts instead.")
        .def_prop_ro(
            "inverted", [](const HullInfo& h) { return h.now.inverted; },
            "Its vertices are turned inside out against the description; the hull of the points counts.")
        .def_prop_ro(
            "interior", [](const HullInfo& h) { return h.now.interior; },
            "Vertices strictly inside, counted from its first row: contact does not feel them.")
        .def("__repr__",
             [](const HullInfo& h) { return "Hull('" + h.shape + "', vertices=" + std::to_string(h.count) + ")"; });
    m.def(
        "current_hulls",
        [](const Model& model, const Parameters& parameters) { return hull_infos(model, parameters.hull_vertices); },
        "model"_a, "parameters"_a,
        "The model's hulls as Parameters.hull_vertices span them, in the order of model.hulls.");
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
        state = project_onto_constraints(model, model.default_parameters(), state).state;
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

std::vector<std::string> contact_policies(const Model& model) {
    std::vector<std::string> out;
    for (const ContactPair& pair : model.collision().pairs) out.emplace_back(pair.near ? "near" : "all");
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
            [](State* self, nb::handle q, nb::handle v) {
                State state;
                read(q, "State: q", state.q);
                read(v, "State: v", state.v);
                new (self) State(std::move(state));
            },
            nb::kw_only(), "q"_a, "v"_a,
            nb::sig("def __init__(self, *, q: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike) -> None"),
            "q: coordinates, shape (num_q,). v: velocities, shape (num_dofs,).")
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

const char* row_kind(RowOf rows) {
    switch (rows) {
        case RowOf::Scene:
            return "scene";
        case RowOf::Body:
            return "body";
        case RowOf::Actuator:
            return "actuator";
        case RowOf::Dof:
            return "dof";
        case RowOf::HullVertex:
            return "hull vertex";
    }
    return "";
}

/// A field of Parameters as Python sees it.
struct FieldInfo {
    std::string name, unit, rows, description;
    std::vector<Eigen::Index> shape;
    Eigen::Index start = 0, size = 0;
};

std::vector<FieldInfo> field_infos(const Parameters& parameters) {
    std::vector<FieldInfo> out;
    Eigen::Index start = 0;
    visit_fields(parameters, [&]<class Value>(const auto& field, const Value& value) {
        FieldInfo info{
            .name = field.name, .unit = field.unit, .rows = row_kind(field.rows), .description = field.description};
        if constexpr (!std::is_same_v<Value, double>) {
            info.shape.push_back(value.rows());
            if (value.cols() > 1) info.shape.push_back(value.cols());
        }
        info.start = start;
        info.size = entries(value).size();
        start += info.size;
        out.push_back(std::move(info));
    });
    return out;
}

nb::dict parameters_state(const Parameters& parameters) {
    nb::dict state;
    visit_fields(parameters, [&](const auto& field, const auto& value) {
        state[field.name] = nb::cast(value, nb::rv_policy::copy);
    });
    return state;
}

Parameters parameters_from_state(const nb::dict& state) {
    Parameters parameters;
    visit_fields(parameters,
                 [&]<class Value>(const auto& field, Value& value) { value = nb::cast<Value>(state[field.name]); });
    return parameters;
}

void bind_parameters(nb::module_& m) {
    nb::class_<FieldInfo>(m, "ParameterField",
                          "A field of Parameters: what it is and where it stands in the flat vector.")
        .def_ro("name", &FieldInfo::name, "Name of the attribute.")
        .def_ro("unit", &FieldInfo::unit, "SI unit; of each kind of entry where they differ.")
        .def_ro("rows", &FieldInfo::rows,
                "What a row belongs to: 'body', 'actuator', 'dof', 'hull vertex' or 'scene' (a single one).")
        .def_ro("description", &FieldInfo::description, "What it is.")
        .def_prop_ro(
            "shape", [](const FieldInfo& f) { return nb::tuple(nb::cast(f.shape)); },
            nb::for_getter(nb::sig("def shape(self) -> tuple[int, ...]")), "Shape of the attribute; () for a number.")
        .def_prop_ro(
            "entries", [](const FieldInfo& f) { return nb::slice(f.start, f.start + f.size, Eigen::Index(1)); },
            "Slice of its entries in the flat vector.")
        .def("__repr__", [](const FieldInfo& f) { return "ParameterField('" + f.name + "', [" + f.unit + "])"; });

    nb::class_<Parameters> class_(
        m, "Parameters",
        "What a rollout can be differentiated by besides its state and controls. Arrays are views: write into them.\n\n"
        "A vector with names: flatten, from_flat, + - * and dot; a gradient by parameters is a Parameters too.");
    std::apply([&](const auto&... field) { (class_.def_rw(field.name, field.member, field.description), ...); },
               kParameterFields);
    class_
        .def(
            "copy", [](const Parameters& self) { return Parameters(self); }, "An independent copy.")
        .def("fields", &field_infos, "Every field with its unit, shape and place in the flat vector, in order.")
        .def("flatten", &flatten, "All fields behind each other, row by row; see fields and parameter_names.")
        .def_static(
            "from_flat",
            [](const Model& model, const VectorXd& flat) { return unflatten(model.default_parameters(), flat); },
            "model"_a, "flat"_a, "The inverse of flatten, shape (model.num_parameters,).")
        .def("unflatten", &unflatten, "flat"_a, "Parameters of these sizes with the entries of a flat vector.")
        .def("set_mass", &set_mass, "body"_a, "mass"_a,
             "Gives the body with this index (model.body(name)) a mass [kg]; first and second moments are scaled with "
             "it, so its "
             "centre and its shape of inertia stay.")
        .def("dot", &dot, "other"_a, "Sum of the products of all entries.")
        .def(
            "__add__", [](const Parameters& a, const Parameters& b) { return a + b; }, nb::is_operator())
        .def(
            "__sub__", [](const Parameters& a, const Parameters& b) { return a - b; }, nb::is_operator())
        .def(
            "__mul__", [](const Parameters& p, double factor) { return factor * p; }, nb::is_operator())
        .def(
            "__rmul__", [](const Parameters& p, double factor) { return factor * p; }, nb::is_operator())
        .def("__repr__",
             [](const Parameters& p) {
                 return "Parameters(num_bodies=" + std::to_string(p.moments.rows()) +
                        ", num_dofs=" + std::to_string(p.damping.size()) + ")";
             })
        .def("__getstate__", &parameters_state)
        .def("__setstate__",
             [](Parameters& self, const nb::dict& state) { new (&self) Parameters(parameters_from_state(state)); });
    m.def("zero_parameters", &zero_parameters, "model"_a, "Parameters of the model's sizes, all zero.");
    m.def("parameter_names", &parameter_names, "model"_a,
          "Names of the entries of the flat vector: 'friction[box]', 'moments[box].mass', 'gravity.z', "
          "'contact_stiffness'.");
    m.def(
        "parameter_mask", &parameter_mask, "model"_a, "selection"_a,
        "Indices into the flat vector of fields ('friction'), rows ('moments[box]') or entries ('moments[box].mass').");
}

}  // namespace

void bind_model(nb::module_& m) {
    bind_state(m);
    bind_hull(m);
    nb::class_<Drawable>(m, "Drawable", "A surface to draw, in the frame of its body.")
        .def_ro("name", &Drawable::name, "Name of the shape.")
        .def_ro("body", &Drawable::body, "Body index.")
        .def_prop_ro(
            "vertices", [](const Drawable& d) { return d.mesh.vertices; }, "Shape (n, 3) [m].")
        .def_prop_ro(
            "triangles", [](const Drawable& d) { return d.mesh.triangles; }, "Shape (m, 3).")
        .def_ro("color", &Drawable::color, "Red, green, blue, alpha, 0 to 1.");

    nb::class_<Model> model_class(m, "Model",
                                  "A scene compiled into flat arrays; immutable. Made by build_model or load.");
    bind_parameters(m);
    model_class
        .def_prop_ro(
            "name", [](const Model& x) { return x.scene().name; }, "Name of the scene.")
        .def_prop_ro(
            "scene", [](const Model& x) { return Scene(x.scene()); }, "A copy of the scene it was built from.")
        .def_prop_ro("num_bodies", &Model::num_bodies, "Bodies, the world (0) included.")
        .def_prop_ro("num_q", &Model::num_q, "Coordinates.")
        .def_prop_ro("num_dofs", &Model::num_dofs, "Degrees of freedom: size of velocities and tangent vectors.")
        .def_prop_ro("num_unknowns", &Model::num_unknowns, "Degrees of freedom left after ties and scripted bodies.")
        .def_prop_ro("num_controls", &Model::num_controls, "Inputs of all actuators together.")
        .def_prop_ro("num_constraint_rows", &Model::num_constraint_rows, "Equations of all constraints together.")
        .def_prop_ro("num_kinematic", &Model::num_kinematic, "Bodies whose pose is scripted.")
        .def_prop_ro(
            "num_parameters", [](const Model& x) { return num_entries(x.default_parameters()); },
            "Entries of the flat vector of its parameters.")
        .def_prop_ro("default_dt", &Model::default_dt,
                     "Time step of rollouts that name none [s]: the one its file or scene states, else 0.01.")
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
        .def_prop_ro(
            "hulls", [](const Model& x) { return hull_infos(x, x.default_parameters().hull_vertices); },
            "Convex hulls of the colliding shapes as described, in the order of Parameters.hull_vertices.")
        .def_prop_ro("contact_pairs", &contact_pairs, "Pairs of body names that may meet.")
        .def_prop_ro("contact_policies", &contact_policies,
                     "'all' or 'near' for every one of contact_pairs, see Scene.self_contact and set_pair_contact.")
        .def_prop_ro(
            "excluded_pairs", &Model::excluded_pairs,
            "Pairs with a moving body that are left out of contact, as 'a, b: reason'; Scene.include brings one back.")
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
    nb::class_<ProjectedState>(m, "ProjectedState", "A state that keeps all constraints, and how far it was from that.")
        .def_ro("state", &ProjectedState::state, "The state.")
        .def_ro("residual_before", &ProjectedState::residual_before, "Largest violation before [m or rad].")
        .def_ro("residual_after", &ProjectedState::residual_after, "Largest violation that is left [m or rad].")
        .def_ro("moved", &ProjectedState::moved, "Largest change of a coordinate [m or rad].")
        .def_ro("worst", &ProjectedState::worst, "Name of the constraint that was broken most.");
    m.def(
        "project_onto_constraints",
        [](const Model& model, const Parameters& parameters, const State& state) {
            validate(model, parameters, "project_onto_constraints: parameters");
            validate(model, state, "project_onto_constraints");
            return project_onto_constraints(model, parameters, state);
        },
        "model"_a, "parameters"_a, "state"_a,
        "The nearest state, in the metric of the mass matrix, that keeps all constraints of the model.");
    m.def(
        "constraint_values",
        [](const Model& model, const Parameters& parameters, const VectorXd& q) {
            validate(model, State{q, VectorXd::Zero(model.num_dofs())}, "constraint_values");
            Kinematics kinematics;
            forward_kinematics(model, parameters, q, kinematics);
            VectorXd values;
            set_constraint_values(model, kinematics, q, values);
            return values;
        },
        "model"_a, "parameters"_a, "q"_a,
        "What all constraints are broken by, in the order of Scene.constraints: connect 3 rows [m], weld 6 [m, sin of "
        "an angle], coupling 1.");
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
