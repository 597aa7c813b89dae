// SPDX-License-Identifier: Apache-2.0
/// @file  Python face of scene/scene.hpp, TriangleMesh and Moments.
#include "farfield/scene/scene.hpp"

#include <nanobind/stl/string.h>

#include <Eigen/Dense>

#include "bindings.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/enclosing_mesh.hpp"
#include "farfield/geometry/moments.hpp"
#include "farfield/geometry/triangle_mesh.hpp"
#include "fields.hpp"

namespace farfield::python {

using namespace nb::literals;

namespace {

void bind_enums(nb::module_& m) {
    nb::enum_<JointType>(m, "JointType", "How a body moves against its parent.")
        .value("Fixed", JointType::Fixed, "No freedom.")
        .value("Free", JointType::Free,
               "Child of the world: q = (x, y, z, qw, qx, qy, qz), v = (world linear, body angular).")
        .value("Ball", JointType::Ball, "q = (qw, qx, qy, qz), v = body angular velocity.")
        .value("Universal", JointType::Universal, "Hinge about `axis`, then about `axis2`.")
        .value("Hinge", JointType::Hinge, "Rotation about `axis` [rad].")
        .value("Slide", JointType::Slide, "Translation along `axis` [m].");
    nb::enum_<BodyMotion>(m, "BodyMotion", "What moves a body.")
        .value("Dynamic", BodyMotion::Dynamic, "Its joints and the forces on it.")
        .value("Fixed", BodyMotion::Fixed, "Welded to its parent.")
        .value("Kinematic", BodyMotion::Kinematic, "A scripted pose; child of the world.");
    nb::enum_<ShapeType>(m, "ShapeType", "Kinds of shapes; sizes are described at Shape.size.")
        .value("Box", ShapeType::Box)
        .value("Sphere", ShapeType::Sphere)
        .value("Capsule", ShapeType::Capsule)
        .value("Cylinder", ShapeType::Cylinder)
        .value("Ellipsoid", ShapeType::Ellipsoid)
        .value("Mesh", ShapeType::Mesh)
        .value("HalfSpace", ShapeType::HalfSpace);
    nb::enum_<ContactPolicy>(m, "ContactPolicy", "How far two bodies push each other.")
        .value("All", ContactPolicy::All, "As far as the contact model reaches: of long-range contact at any distance.")
        .value("Near", ContactPolicy::Near,
               "Within LongRange.near_range of their size; models of finite range keep their own.")
        .value("None_", ContactPolicy::None, "Never: they may pass through each other.");
    nb::enum_<ActuatorType>(m, "ActuatorType", "Kinds of actuators.")
        .value("Motor", ActuatorType::Motor, "Generalised force gear * u.")
        .value("Pd", ActuatorType::Pd, "Stable proportional-derivative drive.")
        .value("Affine", ActuatorType::Affine,
               "Force gain u + bias - kp l - kd l' on the length l of a hinge, slide or tendon.");
    nb::enum_<ConstraintType>(m, "ConstraintType", "Kinds of exact constraints.")
        .value("Connect", ConstraintType::Connect, "A point of one body is a point of the other.")
        .value("Weld", ConstraintType::Weld, "Also their orientations are fixed against each other.")
        .value("Coupling", ConstraintType::Coupling, "A length is a polynomial of another.");
}

void bind_moments(nb::module_& m) {
    nb::class_<Moments> class_(m, "Moments", "Mass moments of a rigid body up to second order, in its own frame.");
    bind_fields<Moments>(
        class_, "Moments",
        {field("mass", &Moments::mass, "Mass [kg]."), field("first", &Moments::first, "Sum of m x [kg m], shape (3,)."),
         field("second", &Moments::second, "Sum of m x x^T [kg m^2], shape (3, 3).")});
    class_.def_static(
        "from_inertia",
        [](nb::handle mass, nb::handle center, nb::handle inertia) {
            double m_value = 0.0;
            Eigen::Vector3d c_value;
            Eigen::Matrix3d i_value;
            read(mass, "Moments.from_inertia: mass", m_value);
            read(center, "Moments.from_inertia: center", c_value);
            read(inertia, "Moments.from_inertia: inertia", i_value);
            return moments_from_inertia(m_value, c_value, i_value, "Moments.from_inertia");
        },
        nb::kw_only(), "mass"_a, "center"_a, "inertia"_a,
        nb::sig("def from_inertia(*, mass: float, center: numpy.typing.ArrayLike, inertia: numpy.typing.ArrayLike) -> "
                "Moments"),
        "From the mass [kg], the centre of mass [m], shape (3,), and the rotational inertia about it [kg m^2], shape "
        "(3, 3).");
    class_.def_static(
        "from_vector",
        [](nb::handle values) {
            Eigen::VectorXd numbers;
            read(values, "Moments.from_vector", numbers);
            if (numbers.size() != 10) fail("Moments.from_vector: got ", numbers.size(), " numbers, expected 10");
            return from_vector(numbers);
        },
        "values"_a, nb::sig("def from_vector(values: numpy.typing.ArrayLike) -> Moments"),
        "From the ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz.");
    class_.def_prop_ro(
        "vector", [](const Moments& self) { return show(Eigen::VectorXd(to_vector(self))); },
        nb::for_getter(nb::sig("def vector(self) -> numpy.typing.NDArray[numpy.float64]")),
        "The ten numbers m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz.");
    class_.def_prop_ro(
        "center", [](const Moments& self) { return show(self.center()); },
        nb::for_getter(nb::sig("def center(self) -> numpy.typing.NDArray[numpy.float64]")),
        "Centre of mass [m], shape (3,).");
    class_.def_prop_ro(
        "inertia", [](const Moments& self) { return show(self.inertia()); },
        nb::for_getter(nb::sig("def inertia(self) -> numpy.typing.NDArray[numpy.float64]")),
        "Rotational inertia about the centre of mass, body axes [kg m^2], shape (3, 3).");
}

Table<TriangleMesh> bind_mesh(nb::module_& m) {
    nb::class_<TriangleMesh> class_(m, "TriangleMesh", "Triangles as given: never made convex, decimated or moved.");
    auto table =
        bind_fields<TriangleMesh>(class_, "TriangleMesh",
                                  {field("name", &TriangleMesh::name, "Name used in error texts and by Shape lookups."),
                                   field("vertices", &TriangleMesh::vertices, "Vertices [m], shape (n, 3)."),
                                   field("triangles", &TriangleMesh::triangles,
                                         "Vertex indices, shape (t, 3), counter-clockwise seen from outside.")});
    class_.def(
        "validate", [](const TriangleMesh& self) { validate(self); },
        "Raises ValueError for an empty mesh, an index out of range or a degenerate triangle.");
    class_.def_prop_ro(
        "is_watertight", [](const TriangleMesh& self) { return is_watertight(self); },
        "Every edge is shared by exactly two triangles of opposite orientation.");
    class_.def(
        "convex_hull", [](const TriangleMesh& self) { return convex_hull_mesh(self); },
        "The convex hull of the vertices, as a mesh of the same name.");
    class_.def(
        "enclosing",
        [](const TriangleMesh& self, int max_triangles, double max_distance) {
            return enclosing_mesh(self, {max_triangles, max_distance});
        },
        nb::kw_only(), "max_triangles"_a, "max_distance"_a,
        "A coarser mesh around this one, which must be watertight: edges are collapsed outwards, down to max_triangles "
        "or until a vertex would go further than max_distance [m].");
    class_.def(
        "distance_to",
        [](const TriangleMesh& self, const TriangleMesh& other, double tolerance) {
            return surface_distance(self, other, tolerance);
        },
        "other"_a, nb::kw_only(), "tolerance"_a,
        "The largest distance of any point of this surface to the other one [m], never too small and at most "
        "tolerance too large.");
    class_.def(
        "moments", [](const TriangleMesh& self, double density) { return solid_moments(self, density); }, nb::kw_only(),
        "density"_a,
        "Moments of the solid bounded by this mesh, of uniform `density` [kg/m^3]; the mesh must be watertight.");
    return table;
}

Table<Joint> bind_joint(nb::module_& m) {
    nb::class_<Range> range(m, "Range", "Limits of a coordinate [rad or m].");
    bind_fields<Range>(range, "Range",
                       {field("lower", &Range::lower, "Lower end."), field("upper", &Range::upper, "Upper end.")});
    nb::class_<Joint> class_(m, "Joint", "One joint of a body.");
    return bind_fields<Joint>(
        class_, "Joint",
        {field("name", &Joint::name, "Unique in the scene."), field("type", &Joint::type, "A JointType or its name."),
         field("anchor", &Joint::anchor, "A point on the axis, body frame [m], shape (3,)."),
         field("axis", &Joint::axis, "Direction, body frame, shape (3,); normalised when the model is built."),
         field("axis2", &Joint::axis2, "Second axis of a universal joint, shape (3,)."),
         field("reference", &Joint::reference, "Hinge, slide: the coordinate of the described pose [rad or m]."),
         field("range", &Joint::range, "Limits [rad or m]; ball: (0, largest angle)."),
         field("range2", &Joint::range2, "Limits of the second axis of a universal joint [rad]."),
         field("limit_stiffness", &Joint::limit_stiffness, "E = limit_stiffness/6 * excess^3 [N m/rad^2 or N/m^2]."),
         field("damping", &Joint::damping, "[N m s/rad or N s/m]."),
         field("armature", &Joint::armature, "Rotor inertia seen by the joint [kg m^2 or kg]."),
         field("stiffness", &Joint::stiffness, "Spring [N m/rad or N/m]."),
         field("spring_reference", &Joint::spring_reference, "Coordinate at which the spring rests [rad or m]."),
         field("friction", &Joint::friction, "Dry friction of a hinge, slide or universal joint [N m or N]."),
         field("friction_speed", &Joint::friction_speed, "Dry friction is smoothed below this speed [rad/s or m/s].")});
}

Table<Body> bind_body(nb::module_& m) {
    nb::class_<Body> class_(m, "Body", "A rigid body, placed in its parent and moved by its joints in order.");
    return bind_fields<Body>(
        class_, "Body",
        {field("name", &Body::name, "Unique in the scene."),
         field("parent", &Body::parent, "Index of an earlier body; 0 is the world."),
         field("position", &Body::position, "Origin in the parent's frame [m], shape (3,)."),
         field("orientation", &Body::orientation, "Quaternion (w, x, y, z) in the parent's frame, shape (4,)."),
         field("motion", &Body::motion, "A BodyMotion or its name."),
         field("joints", &Body::joints, "Joints in the order in which they act."),
         field("moments", &Body::moments, "Mass moments in the body frame; from the shapes' densities when None."),
         field("gravity_compensation", &Body::gravity_compensation,
               "Part of its weight that something else carries.")});
}

Table<Shape> bind_shape(nb::module_& m) {
    nb::class_<Shape> class_(m, "Shape", "Geometry on a body: drawn, and colliding unless told otherwise.");
    return bind_fields<Shape>(
        class_, "Shape",
        {field("name", &Shape::name, "Name, may be empty."),
         field("body", &Shape::body, "Index of the body that carries it."),
         field("type", &Shape::type, "A ShapeType or its name."),
         field("size", &Shape::size,
               "[m], shape (3,): box half extents; sphere (radius); capsule and cylinder (radius, half length) along "
               "z; ellipsoid "
               "half axes. A half-space is z <= 0 of its own frame."),
         field("position", &Shape::position, "In the body frame [m], shape (3,)."),
         field("orientation", &Shape::orientation, "Quaternion (w, x, y, z) in the body frame, shape (4,)."),
         field("mesh", &Shape::mesh, "Index into Scene.meshes for ShapeType.Mesh, else -1."),
         field("density", &Shape::density, "[kg/m^3]; used only when the body's moments are None."),
         field("friction", &Shape::friction, "Friction coefficient; a pair takes the larger."),
         field("resolution", &Shape::resolution, "Triangulation of a primitive; 0 is the default."),
         field("collides", &Shape::collides, "False: drawn only."),
         field("keep_vertices", &Shape::keep_vertices,
               "Its convex hull keeps every vertex, also those in faces and inside: a design may move each of them."),
         field("group", &Shape::group, "Bit mask; pairs meet when (group_a & with_b) | (group_b & with_a)."),
         field("collides_with", &Shape::collides_with, "Bit mask of the groups it meets."),
         field("color", &Shape::color, "Red, green, blue, opacity in 0..1, shape (4,).")});
}

Table<Actuator> bind_actuator(nb::module_& m) {
    nb::class_<Actuator> class_(m, "Actuator", "A motor or a stable proportional-derivative drive on one joint.");
    return bind_fields<Actuator>(
        class_, "Actuator",
        {field("name", &Actuator::name, "Name, may be empty."),
         field("type", &Actuator::type, "An ActuatorType or its name."),
         field("joint", &Actuator::joint, "Name of the driven joint."),
         field("kp", &Actuator::kp, "Position gain [N m/rad or N/m]."),
         field("kd", &Actuator::kd, "Velocity gain [N m s/rad or N s/m]."),
         field("gear", &Actuator::gear,
               "Empty: one control per degree of freedom. Else one entry per degree of freedom, one control."),
         field("position_input", &Actuator::position_input, "Pd: the position target is a control."),
         field("velocity_input", &Actuator::velocity_input, "Pd: the velocity target is a control."),
         field("control_range", &Actuator::control_range, "Controls saturate here, with rounded corners."),
         field("tendon", &Actuator::tendon, "Name of the driven tendon, in place of a joint."),
         field("body", &Actuator::body,
               "Name of the body a motor pushes, in place of a joint; gear: force and torque."),
         field("position", &Actuator::position, "Where it pushes the body, body frame [m], shape (3,)."),
         field("orientation", &Actuator::orientation, "Frame of that gear in the body, (w, x, y, z)."),
         field("gain", &Actuator::gain, "Affine: force per control."),
         field("bias", &Actuator::bias, "Affine: force without control, at length 0."),
         field("force_range", &Actuator::force_range, "The force saturates here, before the gear [N m or N].")});
}

Table<Tendon> bind_tendon(nb::module_& m) {
    nb::class_<LengthTerm> term(m, "LengthTerm", "One joint's part in a length: coefficient times its coordinate.");
    bind_fields<LengthTerm>(term, "LengthTerm",
                            {field("joint", &LengthTerm::joint, "Name of a hinge or slide."),
                             field("coefficient", &LengthTerm::coefficient, "Factor of its coordinate.")});
    nb::class_<Tendon> class_(m, "Tendon", "A fixed tendon: a length that is linear in coordinates.");
    return bind_fields<Tendon>(
        class_, "Tendon",
        {field("name", &Tendon::name, "Unique among tendons."),
         field("terms", &Tendon::terms, "What its length is made of."),
         field("range", &Tendon::range, "Limits of the length."),
         field("limit_stiffness", &Tendon::limit_stiffness, "E = limit_stiffness/6 * excess^3."),
         field("stiffness", &Tendon::stiffness, "Spring."),
         field("rest", &Tendon::rest, "Lengths at which the spring is slack; None: 0."),
         field("damping", &Tendon::damping, "Force per speed of the length."),
         field("armature", &Tendon::armature, "Inertia of the length."),
         field("friction", &Tendon::friction, "Dry friction."),
         field("friction_speed", &Tendon::friction_speed, "Dry friction is smoothed below this speed.")});
}

Table<Constraint> bind_constraint(nb::module_& m) {
    nb::class_<Constraint> class_(m, "Constraint", "An exact constraint between bodies, or between joints.");
    return bind_fields<Constraint>(
        class_, "Constraint",
        {field("name", &Constraint::name, "Unique among constraints."),
         field("type", &Constraint::type, "A ConstraintType or its name."),
         field("body", &Constraint::body, "Connect, weld: name of a body."),
         field("other", &Constraint::other, "Connect, weld: name of the other body."),
         field("anchor", &Constraint::anchor, "Point of `body`, in its frame [m], shape (3,)."),
         field("other_anchor", &Constraint::other_anchor, "Point of `other`, in its frame [m], shape (3,)."),
         field("orientation", &Constraint::orientation, "Weld: `other` in the frame of `body`, (w, x, y, z)."),
         field("terms", &Constraint::terms, "Coupling: the length that follows."),
         field("source", &Constraint::source, "Coupling: the length that leads."),
         field("reference", &Constraint::reference, "Coupling: taken from the length that follows."),
         field("source_reference", &Constraint::source_reference, "Coupling: taken from the length that leads."),
         field("polynomial", &Constraint::polynomial, "Coupling: coefficients, constant first.")});
}

Table<Tie> bind_tie(nb::module_& m) {
    nb::class_<Tie> class_(m, "Tie", "Exact linear tie between scalar joints: q(joint) = offset + ratio * q(source).");
    return bind_fields<Tie>(class_, "Tie",
                            {field("joint", &Tie::joint, "Name of the joint that follows."),
                             field("source", &Tie::source, "Name of the joint that leads."),
                             field("ratio", &Tie::ratio, "d q(joint) / d q(source)."),
                             field("offset", &Tie::offset, "q(joint) when q(source) = 0 [rad or m].")});
}

Table<PairFriction> bind_pair_friction(nb::module_& m) {
    nb::class_<PairFriction> class_(m, "PairFriction",
                                    "Friction of two bodies, in place of the larger of their own coefficients.");
    return bind_fields<PairFriction>(
        class_, "PairFriction",
        {field("a", &PairFriction::a, "Name of a body."), field("b", &PairFriction::b, "Name of another body."),
         field("friction", &PairFriction::friction, "Coefficient, >= 0.")});
}

Table<PairContact> bind_pair_contact(nb::module_& m) {
    nb::class_<PairContact> class_(m, "PairContact",
                                   "How far two bodies push each other, whatever else holds for them.");
    return bind_fields<PairContact>(
        class_, "PairContact",
        {field("a", &PairContact::a, "Name of a body."), field("b", &PairContact::b, "Name of another body."),
         field("policy", &PairContact::policy, "A ContactPolicy or its name.")});
}

Table<Keyframe> bind_keyframe(nb::module_& m) {
    nb::class_<Keyframe> class_(m, "Keyframe", "A named state; empty arrays mean the defaults.");
    return bind_fields<Keyframe>(
        class_, "Keyframe",
        {field("name", &Keyframe::name, "Name."), field("q", &Keyframe::q, "Coordinates, shape (num_q,) or (0,)."),
         field("v", &Keyframe::v, "Velocities, shape (num_dofs,) or (0,)."),
         field("control", &Keyframe::control, "Controls, shape (num_controls,) or (0,).")});
}

/// The index of an element given by index or by name.
template <class T>
int index_of(const std::vector<T>& elements, nb::handle which, const std::string& place) {
    const int count = static_cast<int>(elements.size());
    if (!nb::isinstance<nb::str>(which)) {
        int index = 0;
        read(which, place, index);
        if (index < 0 || index >= count) fail(place, ": index ", index, ", expected 0 to ", count - 1);
        return index;
    }
    const std::string name = nb::cast<std::string>(which);
    std::string known;
    for (int k = 0; k < count; ++k) {
        if (elements[size_t(k)].name == name) return k;
        if (k < 12) known += (k ? ", '" : "'") + elements[size_t(k)].name + "'";
    }
    fail(place, ": unknown name '", name, "', expected one of ", known, count > 12 ? ", ..." : "");
}

const Joint* find_joint(const Scene& scene, const std::string& name) {
    for (const Body& body : scene.bodies) {
        for (const Joint& joint : body.joints) {
            if (joint.name == name) return &joint;
        }
    }
    return nullptr;
}

void expect_joint(const Scene& scene, const std::string& name, const std::string& place) {
    if (find_joint(scene, name)) return;
    std::string known;
    for (const Body& body : scene.bodies) {
        for (const Joint& joint : body.joints) known += (known.empty() ? "'" : ", '") + joint.name + "'";
    }
    fail(place, ": unknown joint '", name, "', expected one of ", known.empty() ? "(none)" : known);
}

template <class T>
void expect_new_name(const std::vector<T>& elements, const std::string& name, const std::string& place) {
    for (size_t k = 0; k < elements.size(); ++k) {
        if (elements[k].name == name)
            fail(place, ": name '", name, "' is taken by element ", k, ", expected a new name");
    }
}

/// Names in `fields[key]` become indices.
template <class T>
void resolve(nb::dict fields, const char* key, const std::vector<T>& elements, const std::string& place) {
    if (fields.contains(key) && nb::isinstance<nb::str>(fields[key])) {
        fields[key] = index_of(elements, fields[key], place + ": " + key);
    }
}

template <class T>
int append(std::vector<T>& elements, T value) {
    elements.push_back(std::move(value));
    return static_cast<int>(elements.size()) - 1;
}

struct SceneTables {
    Table<Body> body;
    Table<Joint> joint;
    Table<Shape> shape;
    Table<TriangleMesh> mesh;
    Table<Tendon> tendon;
    Table<Actuator> actuator;
    Table<Tie> tie;
    Table<Constraint> constraint;
    Table<Keyframe> keyframe;
};

/// "name: str = '', parent: int = 0" with the field `key` spelled "int | str".
std::string by_name_too(std::string parameters, const std::string& key) {
    const std::string typed = key + ": int";
    const size_t at = parameters.find(typed);
    return at == std::string::npos ? parameters : parameters.insert(at + typed.size(), " | str");
}

void bind_tree_builders(nb::class_<Scene>& class_, const SceneTables& tables) {
    class_.def(
        "add_body",
        [table = tables.body](Scene& self, nb::kwargs fields) {
            resolve(fields, "parent", self.bodies, "Scene.add_body");
            Body body;
            table->assign(body, fields);
            if (body.name.empty()) body.name = "body" + std::to_string(self.bodies.size());
            expect_new_name(self.bodies, body.name, "Scene.add_body");
            if (body.parent < 0 || body.parent >= static_cast<int>(self.bodies.size())) {
                fail("Scene.add_body: Body '", body.name, "': parent ", body.parent,
                     ", expected an earlier body, 0 to ", self.bodies.size() - 1);
            }
            return append(self.bodies, std::move(body));
        },
        nb::sig(("def add_body(self, *, " + by_name_too(tables.body->parameters(), "parent") + ") -> int").c_str()),
        "Appends a Body and returns its index; `parent` is an index or a name.");
    class_.def(
        "add_joint",
        [table = tables.joint](Scene& self, nb::handle body, nb::kwargs fields) {
            Body& owner = self.bodies[size_t(index_of(self.bodies, body, "Scene.add_joint: body"))];
            Joint joint;
            table->assign(joint, fields);
            if (joint.name.empty()) joint.name = owner.name + "_joint" + std::to_string(owner.joints.size());
            if (find_joint(self, joint.name)) {
                fail("Scene.add_joint: name '", joint.name, "' is taken, expected a new name");
            }
            return append(owner.joints, std::move(joint));
        },
        "body"_a, "fields"_a,
        nb::sig(("def add_joint(self, body: int | str, *, " + tables.joint->parameters() + ") -> int").c_str()),
        "Appends a Joint to the body and returns its place among the body's joints.");
    class_.def(
        "add_shape",
        [table = tables.shape](Scene& self, nb::handle body, nb::kwargs fields) {
            Shape shape;
            shape.body = index_of(self.bodies, body, "Scene.add_shape: body");
            resolve(fields, "mesh", self.meshes, "Scene.add_shape");
            table->assign(shape, fields);
            if (shape.type == ShapeType::Mesh &&
                (shape.mesh < 0 || shape.mesh >= static_cast<int>(self.meshes.size()))) {
                fail("Scene.add_shape: Shape '", shape.name, "': mesh ", shape.mesh,
                     ", expected the index of one of the ", self.meshes.size(), " meshes");
            }
            return append(self.shapes, std::move(shape));
        },
        "body"_a, "fields"_a,
        nb::sig(("def add_shape(self, body: int | str, *, " + by_name_too(tables.shape->parameters("body"), "mesh") +
                 ") -> int")
                    .c_str()),
        "Appends a Shape to the body and returns its index; `mesh` is an index or a name.");
    class_.def(
        "add_mesh",
        [table = tables.mesh](Scene& self, nb::kwargs fields) {
            TriangleMesh mesh;
            table->assign(mesh, fields);
            if (mesh.name.empty()) mesh.name = "mesh" + std::to_string(self.meshes.size());
            expect_new_name(self.meshes, mesh.name, "Scene.add_mesh");
            return append(self.meshes, std::move(mesh));
        },
        nb::sig(("def add_mesh(self, *, " + tables.mesh->parameters() + ") -> int").c_str()),
        "Appends a TriangleMesh and returns its index.");
}

void bind_other_builders(nb::class_<Scene>& class_, const SceneTables& tables) {
    class_.def(
        "add_actuator",
        [table = tables.actuator](Scene& self, nb::kwargs fields) {
            Actuator actuator;
            table->assign(actuator, fields);
            if (actuator.tendon.empty() && actuator.body.empty())
                expect_joint(self, actuator.joint, "Scene.add_actuator: Actuator '" + actuator.name + "': joint");
            return append(self.actuators, std::move(actuator));
        },
        nb::sig(("def add_actuator(self, *, " + tables.actuator->parameters() + ") -> int").c_str()),
        "Appends an Actuator on an existing joint, tendon or body and returns its index.");
    class_.def(
        "add_tendon",
        [table = tables.tendon](Scene& self, nb::kwargs fields) {
            Tendon tendon;
            table->assign(tendon, fields);
            for (const LengthTerm& term : tendon.terms) expect_joint(self, term.joint, "Scene.add_tendon: terms");
            return append(self.tendons, std::move(tendon));
        },
        nb::sig(("def add_tendon(self, *, " + tables.tendon->parameters() + ") -> int").c_str()),
        "Appends a Tendon over existing joints and returns its index.");
    class_.def(
        "add_constraint",
        [table = tables.constraint](Scene& self, nb::kwargs fields) {
            Constraint constraint;
            table->assign(constraint, fields);
            if (constraint.name.empty()) constraint.name = "constraint" + std::to_string(self.constraints.size());
            return append(self.constraints, std::move(constraint));
        },
        nb::sig(("def add_constraint(self, *, " + tables.constraint->parameters() + ") -> int").c_str()),
        "Appends a Constraint and returns its index.");
    class_.def(
        "add_tie",
        [table = tables.tie](Scene& self, nb::kwargs fields) {
            Tie tie;
            table->assign(tie, fields);
            expect_joint(self, tie.joint, "Scene.add_tie: joint");
            expect_joint(self, tie.source, "Scene.add_tie: source");
            return append(self.ties, std::move(tie));
        },
        nb::sig(("def add_tie(self, *, " + tables.tie->parameters() + ") -> int").c_str()),
        "Appends a Tie between existing joints and returns its index.");
    class_.def(
        "add_keyframe",
        [table = tables.keyframe](Scene& self, nb::kwargs fields) {
            Keyframe keyframe;
            table->assign(keyframe, fields);
            return append(self.keyframes, std::move(keyframe));
        },
        nb::sig(("def add_keyframe(self, *, " + tables.keyframe->parameters() + ") -> int").c_str()),
        "Appends a Keyframe and returns its index.");
    const auto def_pairing = [&class_](const char* name, std::vector<NamePair> Scene::*list, const char* doc) {
        const std::string place = std::string("Scene.") + name;
        class_.def(
            name,
            [list, place](Scene& self, nb::handle a, nb::handle b) {
                const int first = index_of(self.bodies, a, place + ": a"),
                          second = index_of(self.bodies, b, place + ": b");
                (self.*list).emplace_back(self.bodies[size_t(first)].name, self.bodies[size_t(second)].name);
            },
            "a"_a, "b"_a, nb::sig((std::string("def ") + name + "(self, a: int | str, b: int | str) -> None").c_str()),
            doc);
    };
    def_pairing("exclude", &Scene::exclude_contacts, "The two bodies (indices or names) never touch.");
    class_.def(
        "set_pair_friction",
        [](Scene& self, nb::handle a, nb::handle b, double friction) {
            const int first = index_of(self.bodies, a, "Scene.set_pair_friction: a"),
                      second = index_of(self.bodies, b, "Scene.set_pair_friction: b");
            self.pair_friction.push_back({self.bodies[size_t(first)].name, self.bodies[size_t(second)].name, friction});
        },
        "a"_a, "b"_a, "friction"_a,
        nb::sig("def set_pair_friction(self, a: int | str, b: int | str, friction: float) -> None"),
        "Friction of two bodies (indices or names), in place of the larger of their own coefficients. No parameter: it "
        "has no gradient.");
    class_.def(
        "set_pair_contact",
        [](Scene& self, nb::handle a, nb::handle b, nb::handle policy) {
            const int first = index_of(self.bodies, a, "Scene.set_pair_contact: a"),
                      second = index_of(self.bodies, b, "Scene.set_pair_contact: b");
            PairContact pair{self.bodies[size_t(first)].name, self.bodies[size_t(second)].name};
            read(policy, "Scene.set_pair_contact: policy", pair.policy);
            self.pair_contact.push_back(std::move(pair));
        },
        "a"_a, "b"_a, "policy"_a,
        nb::sig("def set_pair_contact(self, a: int | str, b: int | str, policy: ContactPolicy | str) -> None"),
        "How far two bodies (indices or names) push each other: 'all', 'near' or 'none'.");
    def_pairing("include", &Scene::include_contacts,
                "The two bodies (indices or names) may touch whatever other rules say.");
}

/// replace_body("torso", position=...): writes a changed element back into the scene.
template <class T>
void bind_replace(nb::class_<Scene>& class_, const std::string& name, std::vector<T> Scene::*list,
                  const Table<T>& table) {
    class_.def(
        name.c_str(),
        [list, table, place = "Scene." + name](Scene& self, nb::handle which, nb::kwargs changes) {
            std::vector<T>& elements = self.*list;
            table->assign(elements[size_t(index_of(elements, which, place))], changes);
        },
        "which"_a, "changes"_a,
        nb::sig(("def " + name + "(self, which: int | str, *, " + table->parameters() + ") -> None").c_str()),
        "Changes fields of the element with this index or name.");
}

void bind_lookups(nb::class_<Scene>& class_, const SceneTables& tables) {
    bind_replace(class_, "replace_body", &Scene::bodies, tables.body);
    bind_replace(class_, "replace_shape", &Scene::shapes, tables.shape);
    bind_replace(class_, "replace_actuator", &Scene::actuators, tables.actuator);
    bind_replace(class_, "replace_tendon", &Scene::tendons, tables.tendon);
    bind_replace(class_, "replace_constraint", &Scene::constraints, tables.constraint);
    class_.def(
        "replace_joint",
        [table = tables.joint](Scene& self, const std::string& name, nb::kwargs changes) {
            expect_joint(self, name, "Scene.replace_joint");
            table->assign(const_cast<Joint&>(*find_joint(self, name)), changes);
        },
        "name"_a, "changes"_a,
        nb::sig(("def replace_joint(self, joint: str, *, " + tables.joint->parameters() + ") -> None").c_str()),
        "Changes fields of the joint with this name.");
    class_.def(
        "body_index",
        [](const Scene& self, nb::handle body) { return index_of(self.bodies, body, "Scene.body_index"); }, "body"_a,
        nb::sig("def body_index(self, body: int | str) -> int"), "Index of the body with this name.");
    class_.def_prop_ro(
        "joints",
        [](const Scene& self) {
            std::vector<Joint> joints;
            for (const Body& body : self.bodies) joints.insert(joints.end(), body.joints.begin(), body.joints.end());
            return show(joints);
        },
        nb::for_getter(nb::sig("def joints(self) -> tuple[Joint, ...]")),
        "All joints, body by body: the order of the coordinates q and v.");
}

}  // namespace

void bind_scene(nb::module_& m) {
    bind_enums(m);
    bind_moments(m);
    SceneTables tables;
    tables.mesh = bind_mesh(m);
    tables.joint = bind_joint(m);
    tables.body = bind_body(m);
    tables.shape = bind_shape(m);
    tables.tendon = bind_tendon(m);
    tables.actuator = bind_actuator(m);
    tables.tie = bind_tie(m);
    tables.constraint = bind_constraint(m);
    tables.keyframe = bind_keyframe(m);
    static_cast<void>(bind_pair_friction(m));
    static_cast<void>(bind_pair_contact(m));
    nb::class_<Scene> class_(
        m, "Scene",
        "The plain description of a world. SI units; quaternions are (w, x, y, z); body 0 is the world.\n\n"
        "Its lists are read as tuples of copies; change them by add_..., replace_..., or by assigning a "
        "whole new list.");
    const Table<Scene> table = bind_fields<Scene>(
        class_, "Scene",
        {field("name", &Scene::name, "Name of the scene."), field("gravity", &Scene::gravity, "[m/s^2], shape (3,)."),
         field("dt", &Scene::dt, "Time step the description asks for [s]; rollouts that name none take it."),
         field("bodies", &Scene::bodies, "Bodies; the first is the world."),
         field("meshes", &Scene::meshes, "Meshes that shapes refer to by index."),
         field("shapes", &Scene::shapes, "Shapes on bodies."), field("tendons", &Scene::tendons, "Fixed tendons."),
         field("actuators", &Scene::actuators, "Actuators; their controls follow in this order."),
         field("ties", &Scene::ties, "Linear ties between joints."),
         field("constraints", &Scene::constraints, "Exact constraints that close loops."),
         field("exclude_contacts", &Scene::exclude_contacts, "Pairs of body names that never touch."),
         field("include_contacts", &Scene::include_contacts, "Pairs of body names that may touch."),
         field("pair_friction", &Scene::pair_friction, "Pairs of bodies with a friction of their own."),
         field("self_contact", &Scene::self_contact,
               "A ContactPolicy or its name: how far the bodies of one tree push each other."),
         field("pair_contact", &Scene::pair_contact, "Pairs of bodies with a policy of their own."),
         field("keyframes", &Scene::keyframes, "Named states."),
         field("warnings", &Scene::warnings, "What an importer could not carry over.")});
    bind_setters(class_, table);
    bind_tree_builders(class_, tables);
    bind_other_builders(class_, tables);
    bind_lookups(class_, tables);
}

}  // namespace farfield::python
