// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Model: a scene compiled into flat arrays. Immutable once built, shared freely between threads.
///
/// Coordinates q, in joint order: hinge, slide 1 number, universal 2, ball quaternion (w, x, y, z), free position (world)
/// then quaternion. A kinematic body has a free joint whose motion is scripted. Velocities v and tangent steps have one number per
/// degree of freedom: free = linear (world axes) then angular (body axes), ball = angular (body axes). This is MuJoCo's layout.
#include <Eigen/Dense>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "farfield/geometry/hull_triangles.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"
#include "farfield/model/parameters.hpp"
#include "farfield/scene/scene.hpp"

namespace farfield {

struct State {
    Eigen::VectorXd q;  ///< coordinates
    Eigen::VectorXd v;  ///< velocities
};

/// One elementary motion: rotation about, or translation along, an axis.
struct Dof {
    int body = 0;
    int joint = 0;
    int parent = -1;  ///< the next elementary motion towards the root, -1 at the root
    int ball = -1;    ///< first degree of freedom of its ball group, -1 when it belongs to none
    bool rotates = false;
    bool prescribed = false;  ///< moved by a script, not solved for
};

/// One coordinate's part in a length that is linear in scalar coordinates.
struct LengthPart {
    int q = 0, dof = 0;
    double coefficient = 1.0;
};
using Length = std::vector<LengthPart>;

/// A coordinate that is a plain number (hinge, slide, one axis of a universal joint, translation of a free joint).
struct ScalarCoordinate {
    int q = 0, dof = 0, joint = 0;
    std::optional<Range> range;
    double limit_stiffness = 0.0, spring_reference = 0.0;
    double friction_speed = 0.01;
};

/// A coordinate that is a quaternion (ball, rotation of a free joint); `dof` is the first of three.
struct BallCoordinate {
    int q = 0, dof = 0, joint = 0;
    std::optional<double> max_angle;
    double limit_stiffness = 0.0;
};

struct ModelJoint {
    std::string name;
    JointType type = JointType::Hinge;
    int body = 0, q = 0, dof = 0, num_q = 0, num_dofs = 0;
    Eigen::Vector3d anchor, axis, axis2;
    double reference = 0.0;
};

struct ModelBody {
    std::string name;
    int parent = 0;
    int root = 0;  ///< the body of its tree that hangs on the world
    int first_joint = 0, num_joints = 0;
    int first_dof = 0, num_dofs = 0;
    int last_dof = -1;   ///< innermost degree of freedom on the path to the root, -1 if it cannot move
    int kinematic = -1;  ///< index among the kinematic bodies
    BodyMotion motion = BodyMotion::Dynamic;
    Eigen::Matrix3d orientation = Eigen::Matrix3d::Identity();  ///< in the parent; the position is in Parameters
    bool turned = false;                                        ///< orientation is not the identity
    double weight_share = 1.0;                                  ///< of its weight that is not compensated
};

struct ModelTendon {
    std::string name;
    Length length;
    std::optional<Range> range;
    double limit_stiffness = 0.0, stiffness = 0.0;
    Range rest;
    double damping = 0.0, armature = 0.0, friction = 0.0, friction_speed = 0.01;
};

struct ModelConstraint {
    std::string name;
    ConstraintType type = ConstraintType::Connect;
    int a = 0, b = 0;                    ///< bodies
    Eigen::Vector3d anchor_a, anchor_b;  ///< in their frames
    Eigen::Matrix3d orientation;         ///< of b in a, weld
    Length terms, source;                ///< coupling
    double reference = 0.0, source_reference = 0.0;
    std::vector<double> polynomial;
    int row = 0, num_rows = 0;  ///< among those of all constraints
};

struct ModelActuator {
    std::string name;
    ActuatorType type = ActuatorType::Pd;
    int joint = -1;   ///< -1: it drives a tendon or a body
    Length length{};  ///< not empty: it acts on this length, which has the gear in it (dynamics/length_terms)
    int body = -1;    ///< of a motor whose force turns with a body
    Vector6d wrench = Vector6d::Zero();  ///< per control, in the body's frame: force at `point`, torque
    Eigen::Vector3d point = Eigen::Vector3d::Zero();
    double gain = 1.0, bias = 0.0;
    std::optional<Range> force_range{};
    int control = 0, num_controls = 0;
    bool position_input = true, velocity_input = true;
    std::vector<double> gear{};
    std::optional<Range> control_range{};
};

/// Convex hull of one colliding shape; its vertices are rows of Parameters::hull_vertices, in the body frame.
struct ModelHull {
    int shape = 0, body = 0, first_vertex = 0, num_vertices = 0;
    HullTriangles triangles;  ///< outward, counted from first_vertex; of the described shape
    double volume = 0.0;      ///< of the described shape [m^3]
};

/// Exact linear reduction: a tangent step is E z. Rows of scripted degrees of freedom are zero.
struct Reduction {
    bool identity = true;
    Eigen::MatrixXd E;  ///< (num_dofs, num_unknowns)
};

class Model {
 public:
    [[nodiscard]] const std::vector<ModelBody>& bodies() const { return bodies_; }
    [[nodiscard]] const std::vector<ModelJoint>& joints() const { return joints_; }
    [[nodiscard]] const std::vector<Dof>& dofs() const { return dofs_; }
    [[nodiscard]] bool scripted(int dof) const { return dofs_[static_cast<std::size_t>(dof)].prescribed; }
    [[nodiscard]] const std::vector<ScalarCoordinate>& scalars() const { return scalars_; }
    [[nodiscard]] const std::vector<BallCoordinate>& balls() const { return balls_; }
    [[nodiscard]] const std::vector<ModelActuator>& actuators() const { return actuators_; }
    [[nodiscard]] const std::vector<ModelTendon>& tendons() const { return tendons_; }
    [[nodiscard]] const std::vector<ModelConstraint>& constraints() const { return constraints_; }
    /// Rows of all constraints together.
    [[nodiscard]] int num_constraint_rows() const {
        return constraints_.empty() ? 0 : constraints_.back().row + constraints_.back().num_rows;
    }
    /// Where each control saturates (num_controls).
    [[nodiscard]] const std::vector<std::optional<Range>>& control_limits() const { return control_limits_; }
    [[nodiscard]] const std::vector<int>& kinematic_bodies() const { return kinematic_bodies_; }
    [[nodiscard]] const Reduction& reduction() const { return reduction_; }
    [[nodiscard]] const CollisionGeometry& collision() const { return collision_; }
    [[nodiscard]] const std::vector<ModelHull>& hulls() const { return hulls_; }
    /// Pairs with a moving body that are left out of contact, as "a, b: reason"; see find_contact_pairs.
    [[nodiscard]] const std::vector<std::string>& excluded_pairs() const { return excluded_pairs_; }
    /// What the user should know (for instance joints that start outside their range).
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    [[nodiscard]] const Scene& scene() const { return *scene_; }

    [[nodiscard]] int num_bodies() const { return static_cast<int>(bodies_.size()); }
    [[nodiscard]] int num_q() const { return num_q_; }
    [[nodiscard]] int num_dofs() const { return static_cast<int>(dofs_.size()); }
    [[nodiscard]] int num_unknowns() const { return num_unknowns_; }
    [[nodiscard]] int num_controls() const { return num_controls_; }
    [[nodiscard]] int num_kinematic() const { return static_cast<int>(kinematic_bodies_.size()); }

    [[nodiscard]] const Parameters& default_parameters() const { return default_parameters_; }
    [[nodiscard]] const State& default_state() const { return default_state_; }
    /// Position targets at the default state, everything else zero.
    [[nodiscard]] const Eigen::VectorXd& default_control() const { return default_control_; }

    /// Time step for rollouts that name none [s].
    [[nodiscard]] double default_dt() const { return scene_->dt.value_or(kDefaultTimeStep); }

    [[nodiscard]] std::optional<int> find_body(const std::string& name) const;
    [[nodiscard]] std::optional<int> find_joint(const std::string& name) const;

 private:
    friend class ModelBuilder;
    Model() = default;

    std::vector<ModelBody> bodies_;
    std::vector<ModelJoint> joints_;
    std::vector<Dof> dofs_;
    std::vector<ScalarCoordinate> scalars_;
    std::vector<BallCoordinate> balls_;
    std::vector<ModelTendon> tendons_;
    std::vector<ModelActuator> actuators_;
    std::vector<ModelConstraint> constraints_;
    std::vector<std::optional<Range>> control_limits_;
    std::vector<int> kinematic_bodies_;
    Reduction reduction_;
    CollisionGeometry collision_;
    std::vector<ModelHull> hulls_;
    std::vector<std::string> excluded_pairs_, warnings_;
    std::shared_ptr<const Scene> scene_;
    int num_q_ = 0, num_unknowns_ = 0, num_controls_ = 0;
    Parameters default_parameters_;
    State default_state_;
    Eigen::VectorXd default_control_;
};

/// Placed by its own coordinates rather than by an attachment to its parent.
[[nodiscard]] bool has_free_joint(const Model& model, const ModelBody& body);

/// The only way to make a Model. Throws std::invalid_argument naming element, value and expectation.
[[nodiscard]] std::shared_ptr<const Model> build_model(const Scene& scene);

/// Throw unless the sizes fit the model and all entries are finite (and masses positive, quaternions normalisable).
void validate(const Model& model, const State& state, const char* place);
void validate(const Model& model, const Parameters& parameters, const char* place);

/// A Parameters value with the model's sizes and all entries zero: the start of every gradient.
[[nodiscard]] Parameters zero_parameters(const Model& model);

}  // namespace farfield
