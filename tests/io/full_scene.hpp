// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A scene that uses every feature there is, and comparisons bit by bit, written without the code under test.
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include "farfield/geometry/primitives.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Numbers without a short decimal form, so that a lossy writer is caught.
inline std::vector<Body> full_bodies() {
    const Eigen::Quaterniond tilted(Eigen::AngleAxisd(1.0 / 3.0, Eigen::Vector3d(0.1, -0.7, 0.3).normalized()));
    const Moments moments{.mass = 1.0 / 3.0,
                          .first = {0.01 / 3.0, -0.02 / 7.0, 0.0},
                          .second = Eigen::Vector3d(0.1 / 3.0, 0.2 / 3.0, 0.3 / 7.0).asDiagonal()};
    std::vector<Body> bodies{Body{.name = "world", .motion = BodyMotion::Fixed}};
    bodies.push_back({.name = "Rümpf 胴体",
                      .position = {0.1, -1.0 / 7.0, 3.0},
                      .orientation = tilted,
                      .joints = {{.name = "frei", .type = JointType::Free, .damping = 1e-3 / 3.0}},
                      .moments = moments});
    bodies.push_back(
        {.name = "arm \"quoted\" \\ \n",
         .parent = 1,
         .position = {0.5, 0.0, -0.0},
         .joints = {{.name = "épaule",
                     .type = JointType::Hinge,
                     .anchor = {1e-300, 0.1 / 3.0, 0.0},
                     .axis = {0.3, 0.4, 0.5},
                     .reference = 0.1,
                     .range = Range{-1.0 / 3.0, kInfinity},
                     .limit_stiffness = 1e3 / 7.0,
                     .damping = 0.1,
                     .armature = 0.01 / 3.0,
                     .stiffness = 2.0 / 3.0,
                     .spring_reference = -0.2,
                     .friction = 0.1 / 7.0,
                     .friction_speed = 0.02 / 3.0},
                    {.name = "slide", .type = JointType::Slide, .axis = {1.0, 0.0, 0.0}, .range = Range{-0.1, 0.2}}},
         .moments = moments});
    bodies.push_back({.name = "universal",
                      .parent = 2,
                      .position = {0.5, 0.0, 0.0},
                      .joints = {{.name = "u",
                                  .type = JointType::Universal,
                                  .axis = {1.0, 0.0, 0.0},
                                  .axis2 = {0.0, 0.6, 0.8},
                                  .range = Range{-0.5, 0.5},
                                  .range2 = Range{-0.25, 1.0 / 3.0}}}});
    bodies.push_back({.name = "ball",
                      .parent = 3,
                      .position = {0.7, 0.0, 0.0},
                      .joints = {{.name = "b", .type = JointType::Ball, .range = Range{0.0, 2.0}, .damping = 0.5}}});
    bodies.push_back({.name = "tied",
                      .parent = 1,
                      .position = {-0.6, 0.0, 0.0},
                      .joints = {{.name = "t", .type = JointType::Hinge, .axis = {0.0, 1.0, 0.0}}}});
    bodies.push_back({.name = "held",
                      .parent = 5,
                      .position = {-0.5, 0.0, 0.0},
                      .joints = {{.name = "f", .type = JointType::Fixed}}});
    bodies.push_back({.name = "welded", .parent = 5, .position = {-0.5, 0.4, 0.0}, .motion = BodyMotion::Fixed});
    bodies.back().gravity_compensation = 1.0 / 3.0;
    bodies.push_back({.name = "scripted",
                      .position = {2.0, 2.0 / 3.0, 1.0},
                      .orientation = tilted,
                      .motion = BodyMotion::Kinematic});
    return bodies;
}

inline std::vector<Shape> full_shapes() {
    const Eigen::Quaterniond turned(Eigen::AngleAxisd(0.3, Eigen::Vector3d::UnitX()));
    return {{.name = "ground", .body = 0, .type = ShapeType::HalfSpace, .position = {0.0, 0.0, -1.0}, .friction = 0.9},
            {.name = "b", .body = 1, .type = ShapeType::Box, .size = {0.1 / 3.0, 0.2, 0.3}, .density = 700.0 / 3.0},
            {.name = "m",
             .body = 2,
             .type = ShapeType::Mesh,
             .position = {0.0, 0.1, 0.0},
             .orientation = turned,
             .mesh = 1},
            {.name = "c",
             .body = 3,
             .type = ShapeType::Capsule,
             .size = {0.05, 0.1 / 3.0, 0.0},
             .density = 500.0,
             .resolution = 5},
            {.name = "y",
             .body = 4,
             .type = ShapeType::Cylinder,
             .size = {0.05, 0.1, 0.0},
             .keep_vertices = true,
             .group = 4,
             .collides_with = 0xfffffff5},
            {.name = "s",
             .body = 5,
             .type = ShapeType::Sphere,
             .size = {0.05, 0.0, 0.0},
             .color = {0.1, 0.2, 1.0 / 3.0, 0.5}},
            {.name = "e", .body = 6, .type = ShapeType::Ellipsoid, .size = {0.05, 0.06, 0.07}, .density = 0.1},
            {.name = "drawn", .body = 7, .type = ShapeType::Mesh, .mesh = 0, .collides = false},
            {.name = "k", .body = 8, .type = ShapeType::Box, .size = {0.1, 0.1, 0.1}}};
}

inline std::vector<Actuator> full_actuators() {
    return {{.name = "motor", .type = ActuatorType::Motor, .joint = "b"},
            {.name = "geared motor",
             .type = ActuatorType::Motor,
             .joint = "frei",
             .gear = {0.0, 0.0, 1.0 / 3.0, 0.0, 0.5, 0.0}},
            {.name = "pd",
             .type = ActuatorType::Pd,
             .joint = "u",
             .kp = 10.0 / 3.0,
             .kd = 0.1 / 7.0,
             .control_range = Range{-kInfinity, 3.0}},
            {.name = "geared pd",
             .type = ActuatorType::Pd,
             .joint = "slide",
             .kp = 5.0,
             .gear = {-2.0 / 3.0},
             .velocity_input = false},
            {.name = "damper", .type = ActuatorType::Pd, .joint = "épaule", .kd = 1.0, .position_input = false},
            {.name = "affine",
             .type = ActuatorType::Affine,
             .kp = 0.5,
             .tendon = "sehne",
             .gain = 1.0 / 3.0,
             .bias = -0.2,
             .force_range = Range{-2.0 / 3.0, 1.0}},
            {.name = "thruster",
             .type = ActuatorType::Motor,
             .gear = {0.0, 0.0, 1.0, 0.0, 0.1, 0.0},
             .body = "tied",
             .position = {0.1, 0.2 / 3.0, 0.0},
             .orientation = Eigen::Quaterniond(Eigen::AngleAxisd(0.2, Eigen::Vector3d::UnitY()))}};
}

inline std::vector<Tendon> full_tendons() {
    return {{.name = "sehne",
             .terms = {{"épaule", 1.0 / 3.0}, {"slide", -2.0}},
             .range = Range{-3.0, 3.0},
             .limit_stiffness = 100.0 / 3.0,
             .stiffness = 0.3,
             .rest = Range{-0.1, 0.2},
             .damping = 0.1 / 3.0,
             .armature = 0.01,
             .friction = 0.02,
             .friction_speed = 0.03}};
}

inline std::vector<Constraint> full_constraints() {
    return {{.name = "coupled",
             .type = ConstraintType::Coupling,
             .terms = {{"slide", 1.0}},
             .source = {{"épaule", 1.0 / 7.0}},
             .reference = 0.1 / 7.0,
             .source_reference = 0.1 / 7.0,
             .polynomial = {-0.1 / 7.0, 0.0, 1.0 / 3.0}}};
}

inline Scene full_scene() {
    Scene scene;
    scene.name = "alles / 全部";
    scene.gravity = {0.1, 0.0, -29.43 / 3.0};
    scene.dt = 0.01 / 3.0;
    scene.bodies = full_bodies();
    scene.meshes = {make_sphere(0.2, 0), make_box({0.05, 0.06, 0.1 / 3.0})};
    scene.meshes[0].name = "kugel ●";
    scene.meshes[1].name = "box";
    scene.shapes = full_shapes();
    scene.tendons = full_tendons();
    scene.actuators = full_actuators();
    scene.constraints = full_constraints();
    scene.ties = {{.joint = "t", .source = "épaule", .ratio = -1.0 / 3.0, .offset = 0.1 / 7.0}};
    scene.exclude_contacts = {{"tied", "ball"}};
    scene.include_contacts = {{"held", "world"}, {"scripted", "Rümpf 胴体"}};
    scene.pair_friction = {{"held", "world", 1.0 / 7.0}};
    scene.self_contact = ContactPolicy::All;
    scene.pair_contact = {{"held", "world", ContactPolicy::Near}, {"tied", "ball", ContactPolicy::None}};
    scene.warnings = {"nicht übernommen: \"x\""};
    const auto model = build_model(scene);
    scene.keyframes = {{.name = "home",
                        .q = model->default_state().q,
                        .v = Eigen::VectorXd::Constant(model->num_dofs(), 1.0 / 3.0),
                        .control = Eigen::VectorXd::LinSpaced(model->num_controls(), -1.0, 2.0)},
                       {.name = "empty"}};
    return scene;
}

/// Parameters of the model with every entry moved a little from its default, each by its own number.
inline Parameters full_parameters(const Model& model) {
    Parameters p = model.default_parameters();
    double change = 1e-3;
    visit_fields(p, [&](const auto& field, auto& value) {
        change *= 0.97;
        if (std::string_view(field.name) == "moments") {
            entries(value) *= 1.1 / 3.0;  // all together, so that they stay those of a body
        } else {
            entries(value).array() += change;
        }
    });
    return p;
}

// ---- comparisons: doubles by their bits, so that -0 differs from 0 and NaN equals itself ------------------------------

inline bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }
inline bool same(int a, int b) { return a == b; }
inline bool same(unsigned a, unsigned b) { return a == b; }
inline bool same(bool a, bool b) { return a == b; }
inline bool same(const std::string& a, const std::string& b) { return a == b; }

template <class Enum>
requires std::is_enum_v<Enum>
bool same(Enum a, Enum b) { return a == b; }

template <class A>
bool same(const Eigen::DenseBase<A>& a, const Eigen::DenseBase<A>& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
    for (Eigen::Index r = 0; r < a.rows(); ++r) {
        for (Eigen::Index c = 0; c < a.cols(); ++c) {
            if (!same(typename A::Scalar(a(r, c)), typename A::Scalar(b(r, c)))) return false;
        }
    }
    return true;
}

inline bool same(const Eigen::Quaterniond& a, const Eigen::Quaterniond& b) { return same(a.coeffs(), b.coeffs()); }
inline bool same(const Range& a, const Range& b) { return same(a.lower, b.lower) && same(a.upper, b.upper); }
inline bool same(const Moments& a, const Moments& b) {
    return same(a.mass, b.mass) && same(a.first, b.first) && same(a.second, b.second);
}

// Declared before the templates, which would not find them otherwise.
inline bool same(const std::pair<std::string, std::string>& a, const std::pair<std::string, std::string>& b) {
    return a == b;
}
bool same(const Joint& a, const Joint& b);
bool same(const Body& a, const Body& b);
bool same(const TriangleMesh& a, const TriangleMesh& b);
bool same(const Shape& a, const Shape& b);
bool same(const Actuator& a, const Actuator& b);
bool same(const Tie& a, const Tie& b);
bool same(const LengthTerm& a, const LengthTerm& b);
bool same(const Tendon& a, const Tendon& b);
bool same(const Constraint& a, const Constraint& b);
bool same(const PairFriction& a, const PairFriction& b);
bool same(const PairContact& a, const PairContact& b);
bool same(const Keyframe& a, const Keyframe& b);

template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!same(a[i], b[i])) return false;
    }
    return true;
}

inline bool same(const Joint& a, const Joint& b) {
    return same(a.name, b.name) && same(a.type, b.type) && same(a.anchor, b.anchor) && same(a.axis, b.axis) &&
           same(a.axis2, b.axis2) && same(a.reference, b.reference) && same(a.range, b.range) &&
           same(a.range2, b.range2) && same(a.limit_stiffness, b.limit_stiffness) && same(a.damping, b.damping) &&
           same(a.armature, b.armature) && same(a.stiffness, b.stiffness) &&
           same(a.spring_reference, b.spring_reference) && same(a.friction, b.friction) &&
           same(a.friction_speed, b.friction_speed);
}

inline bool same(const Body& a, const Body& b) {
    return same(a.name, b.name) && same(a.parent, b.parent) && same(a.position, b.position) &&
           same(a.orientation, b.orientation) && same(a.motion, b.motion) && same(a.joints, b.joints) &&
           same(a.moments, b.moments) && same(a.gravity_compensation, b.gravity_compensation);
}

inline bool same(const TriangleMesh& a, const TriangleMesh& b) {
    return same(a.name, b.name) && same(a.vertices, b.vertices) && same(a.triangles, b.triangles);
}

inline bool same(const Shape& a, const Shape& b) {
    return same(a.name, b.name) && same(a.body, b.body) && same(a.type, b.type) && same(a.size, b.size) &&
           same(a.position, b.position) && same(a.orientation, b.orientation) && same(a.mesh, b.mesh) &&
           same(a.density, b.density) && same(a.friction, b.friction) && same(a.resolution, b.resolution) &&
           same(a.collides, b.collides) && same(a.keep_vertices, b.keep_vertices) && same(a.group, b.group) &&
           same(a.collides_with, b.collides_with) && same(a.color, b.color);
}

inline bool same(const Actuator& a, const Actuator& b) {
    return same(a.name, b.name) && same(a.type, b.type) && same(a.joint, b.joint) && same(a.kp, b.kp) &&
           same(a.kd, b.kd) && same(a.gear, b.gear) && same(a.position_input, b.position_input) &&
           same(a.velocity_input, b.velocity_input) && same(a.control_range, b.control_range) &&
           same(a.tendon, b.tendon) && same(a.body, b.body) && same(a.position, b.position) &&
           same(a.orientation, b.orientation) && same(a.gain, b.gain) && same(a.bias, b.bias) &&
           same(a.force_range, b.force_range);
}

inline bool same(const LengthTerm& a, const LengthTerm& b) {
    return same(a.joint, b.joint) && same(a.coefficient, b.coefficient);
}

inline bool same(const Tendon& a, const Tendon& b) {
    return same(a.name, b.name) && same(a.terms, b.terms) && same(a.range, b.range) &&
           same(a.limit_stiffness, b.limit_stiffness) && same(a.stiffness, b.stiffness) && same(a.rest, b.rest) &&
           same(a.damping, b.damping) && same(a.armature, b.armature) && same(a.friction, b.friction) &&
           same(a.friction_speed, b.friction_speed);
}

inline bool same(const Constraint& a, const Constraint& b) {
    return same(a.name, b.name) && same(a.type, b.type) && same(a.body, b.body) && same(a.other, b.other) &&
           same(a.anchor, b.anchor) && same(a.other_anchor, b.other_anchor) && same(a.orientation, b.orientation) &&
           same(a.terms, b.terms) && same(a.source, b.source) && same(a.reference, b.reference) &&
           same(a.source_reference, b.source_reference) && same(a.polynomial, b.polynomial);
}

inline bool same(const Tie& a, const Tie& b) {
    return same(a.joint, b.joint) && same(a.source, b.source) && same(a.ratio, b.ratio) && same(a.offset, b.offset);
}

inline bool same(const Keyframe& a, const Keyframe& b) {
    return same(a.name, b.name) && same(a.q, b.q) && same(a.v, b.v) && same(a.control, b.control);
}

inline bool same(const PairFriction& a, const PairFriction& b) {
    return same(a.a, b.a) && same(a.b, b.b) && same(a.friction, b.friction);
}

inline bool same(const PairContact& a, const PairContact& b) {
    return same(a.a, b.a) && same(a.b, b.b) && same(a.policy, b.policy);
}

inline bool same(const Scene& a, const Scene& b) {
    return same(a.name, b.name) && same(a.gravity, b.gravity) && same(a.dt, b.dt) && same(a.bodies, b.bodies) &&
           same(a.meshes, b.meshes) && same(a.shapes, b.shapes) && same(a.actuators, b.actuators) &&
           same(a.tendons, b.tendons) && same(a.constraints, b.constraints) && same(a.ties, b.ties) &&
           same(a.exclude_contacts, b.exclude_contacts) && same(a.include_contacts, b.include_contacts) &&
           same(a.pair_friction, b.pair_friction) && same(a.self_contact, b.self_contact) &&
           same(a.pair_contact, b.pair_contact) && same(a.keyframes, b.keyframes) && same(a.warnings, b.warnings);
}

inline bool same(const Parameters& a, const Parameters& b) {
    bool equal = true;
    visit_fields(a, [&](const auto& field, const auto& value) { equal = equal && same(value, b.*field.member); });
    return equal;
}

// ---- files ------------------------------------------------------------------------------------------------------------

/// An empty folder of its own, removed at the end.
class TemporaryFolder {
 public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "farfield-test-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    [[nodiscard]] std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
    }

 private:
    std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace farfield::testing
