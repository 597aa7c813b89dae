// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Scene: the plain description of a world. It knows nothing of solvers.
///
/// SI units. Quaternions are (w, x, y, z) in files and Python, Eigen::Quaterniond here. Body 0 is the world.
/// A body's frame is placed in its parent by `position` and `orientation`, then moved by its joints, in order:
///   T_body = T_parent * Attach(position, orientation) * Joint_1(q) * Joint_2(q) * ...
///   hinge   Joint(q) = Translate(anchor) Rotate(axis, q - reference) Translate(-anchor)
///   slide   Joint(q) = Translate(axis (q - reference))
///   ball    Joint(q) = Translate(anchor) Rotate(quaternion) Translate(-anchor)
///   universal = hinge about `axis`, then hinge about `axis2`, same anchor
///   free    only on a child of the world; its coordinates are the body's world position and orientation themselves,
///           and the body's position and orientation are their initial values.
#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "farfield/geometry/moments.hpp"
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

enum class JointType { Fixed, Free, Ball, Universal, Hinge, Slide };

/// Limits of a coordinate [rad or m]; for a ball joint `upper` bounds the rotation angle and `lower` must be 0.
struct Range {
    double lower = 0.0, upper = 0.0;
};

struct Joint {
    std::string name;
    JointType type = JointType::Hinge;
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero();  ///< body frame [m]
    Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();   ///< body frame; normalised when the model is built
    Eigen::Vector3d axis2 = Eigen::Vector3d::UnitY();  ///< universal only
    double reference = 0.0;                            ///< hinge, slide: the coordinate of the described pose
    std::optional<Range> range, range2;                ///< range2: second axis of a universal joint
    double limit_stiffness = 1e4;                      ///< E = limit_stiffness/6 * excess^3 [N m/rad^2 or N/m^2]
    double damping = 0.0;                              ///< [N m s/rad or N s/m]
    double armature = 0.0;                             ///< [kg m^2 or kg]
    double stiffness = 0.0;                            ///< [N m/rad or N/m]
    double spring_reference = 0.0;  ///< coordinate at which the spring rests (hinge, slide, universal)
    double friction = 0.0;          ///< dry friction of hinge, slide, universal [N m or N]
    double friction_speed = 0.01;   ///< below this speed dry friction is smoothed [rad/s or m/s]
};

enum class BodyMotion { Dynamic, Fixed, Kinematic };

struct Body {
    std::string name;
    int parent = 0;  ///< index of an earlier body
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
    BodyMotion motion =
        BodyMotion::Dynamic;  ///< Fixed: welded to the parent; Kinematic: child of the world, scripted pose
    std::vector<Joint> joints{};
    std::optional<Moments> moments{};   ///< in the body frame; from the shapes' densities when absent
    double gravity_compensation = 0.0;  ///< part of its weight that something else carries
};

enum class ShapeType { Box, Sphere, Capsule, Cylinder, Ellipsoid, Mesh, HalfSpace };

/// Sizes: box half extents; sphere (radius); capsule and cylinder (radius, half length) along z; ellipsoid half axes.
/// A half-space is the region z <= 0 of its own frame and belongs to the world or a fixed or kinematic body.
struct Shape {
    std::string name;
    int body = 0;
    ShapeType type = ShapeType::Box;
    Eigen::Vector3d size = Eigen::Vector3d::Zero();
    Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< in the body frame [m]
    Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
    int mesh = -1;            ///< index into Scene::meshes for ShapeType::Mesh
    double density = 1000.0;  ///< [kg/m^3]; used only when the body's moments are absent
    double friction = 0.5;
    int resolution = 0;          ///< primitives: 0 = the default of make_primitive
    bool collides = true;        ///< false: drawn only
    bool keep_vertices = false;  ///< its convex hull keeps every vertex, also flat and inner ones: for designs
    unsigned group = 1, collides_with = 1;  ///< pairs meet when (group_a & with_b) | (group_b & with_a)
    Eigen::Vector4d color{0.7, 0.7, 0.7, 1.0};
};

/// One joint's part in a length: coefficient times its coordinate. Hinges and slides only.
struct LengthTerm {
    std::string joint;
    double coefficient = 1.0;
};

/// A fixed tendon: the length l = sum of coefficient * q(joint), with a spring that is slack inside `rest`, damping, dry friction,
/// inertia of its own and limits.
struct Tendon {
    std::string name;
    std::vector<LengthTerm> terms;
    std::optional<Range> range;    ///< limits of the length
    double limit_stiffness = 1e4;  ///< E = limit_stiffness/6 * excess^3
    double stiffness = 0.0;
    std::optional<Range> rest;  ///< lengths without spring force; absent: 0
    double damping = 0.0, armature = 0.0;
    double friction = 0.0, friction_speed = 0.01;  ///< as of Joint
};

enum class ActuatorType { Motor, Pd, Affine };

/// What it drives: a joint, a tendon (by its length), or, for motors, a body through a frame on it (`position`, `orientation`): then
/// `gear` is a force and a torque in that frame, which turns with the body.
/// Motor: generalised force `gear * u` on the joint. Pd: stable proportional-derivative drive. Affine: force gain u + bias - kp l - kd l',
/// with l = gear * length, on a hinge, a slide or a tendon.
/// Without `gear` there is one control per degree of freedom of the joint (Pd: positions first, then velocities);
/// ball targets are rotation vectors relative to the identity. With `gear` (one entry per degree of freedom) there is one control
/// per input acting on the length gear . q (Pd: scalar joints only).
struct Actuator {
    std::string name;
    ActuatorType type = ActuatorType::Pd;
    std::string joint;
    double kp = 0.0, kd = 0.0;  ///< Pd gains
    std::vector<double> gear;
    bool position_input = true, velocity_input = true;  ///< Pd: which targets are controls; the other is 0
    std::optional<Range> control_range;                 ///< controls saturate here; see model/saturation.hpp
    std::string tendon, body;                           ///< in place of `joint`
    Eigen::Vector3d position = Eigen::Vector3d::Zero();
    Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
    double gain = 1.0, bias = 0.0;     ///< Affine
    std::optional<Range> force_range;  ///< the force saturates here, before `gear`
};

/// Exact linear tie between scalar joints: q(joint) = offset + ratio * q(source).
struct Tie {
    std::string joint, source;
    double ratio = 1.0, offset = 0.0;
};

enum class ConstraintType { Connect, Weld, Coupling };

/// An exact constraint, held by a force of its own in every step.
///   connect    the points `anchor` of `body` and `other_anchor` of `other` are one
///   weld       also `other` is turned by `orientation` against `body`
///   coupling   l(terms) - reference = p0 + p1 x + p2 x^2 + ...,   x = l(source) - source_reference
struct Constraint {
    std::string name;
    ConstraintType type = ConstraintType::Connect;
    std::string body, other = "world";
    Eigen::Vector3d anchor = Eigen::Vector3d::Zero(),
                    other_anchor = Eigen::Vector3d::Zero();  ///< in the body frames [m]
    Eigen::Quaterniond orientation = Eigen::Quaterniond::Identity();
    std::vector<LengthTerm> terms, source;
    double reference = 0.0, source_reference = 0.0;
    std::vector<double> polynomial;
};

struct Keyframe {
    std::string name;
    Eigen::VectorXd q, v, control;  ///< empty = defaults
};

/// Of a scene that states none [s].
inline constexpr double kDefaultTimeStep = 0.01;

/// Friction of two bodies, by name, in place of the larger of their own coefficients.
struct PairFriction {
    std::string a, b;
    double friction = 0.5;
};

/// How far two bodies push each other. Barrier and certificate are the same for All and Near.
enum class ContactPolicy {
    All,   ///< as far as the contact model reaches: of long-range contact at every distance
    Near,  ///< only within a small part of their size, see longrange/options.hpp; models of finite range keep their own
    None,  ///< never: they may pass through each other
};

/// Of two bodies, by name, whatever else holds for them.
struct PairContact {
    std::string a, b;
    ContactPolicy policy = ContactPolicy::All;
};

struct Scene {
    std::string name = "scene";
    Eigen::Vector3d gravity{0.0, 0.0, -9.81};
    std::optional<double> dt{};  ///< time step the description asks for [s]; rollouts may choose another
    std::vector<Body> bodies{Body{.name = "world", .motion = BodyMotion::Fixed}};
    std::vector<TriangleMesh> meshes;
    std::vector<Shape> shapes;
    std::vector<Tendon> tendons;
    std::vector<Actuator> actuators;
    std::vector<Tie> ties;
    std::vector<Constraint> constraints;
    std::vector<std::pair<std::string, std::string>> exclude_contacts, include_contacts;  ///< body names
    std::vector<PairFriction> pair_friction;
    ContactPolicy self_contact = ContactPolicy::Near;  ///< between the bodies of one tree
    std::vector<PairContact> pair_contact;
    std::vector<Keyframe> keyframes;
    std::vector<std::string> warnings;  ///< what an importer could not carry over; shown by the model
};

}  // namespace farfield
