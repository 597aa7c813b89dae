// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/model_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "farfield/base/error.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/facet_fans.hpp"
#include "farfield/geometry/hull_integral.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/geometry/principal_axes.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/build_checks.hpp"
#include "farfield/model/constraint_projection.hpp"
#include "farfield/model/contact_pairs.hpp"
#include "farfield/scene/shape_surface.hpp"

namespace farfield {
namespace {

using namespace build;

void check_joint(const Joint& joint, const std::string& place) {
    require_finite(joint.anchor, place, "anchor");
    require_finite(joint.axis, place, "axis");
    require_finite(joint.axis2, place, "axis2");
    require_finite(Eigen::Vector2d(joint.reference, joint.spring_reference), place, "reference, spring_reference");
    require_at_least(joint.damping, 0.0, place, "damping");
    require_at_least(joint.armature, 0.0, place, "armature");
    require_at_least(joint.stiffness, 0.0, place, "stiffness");
    require_at_least(joint.limit_stiffness, 0.0, place, "limit_stiffness");
    require_at_least(joint.friction, 0.0, place, "friction");
    if (!(joint.friction_speed > 0.0))
        fail(kPlace, ": ", place, ": friction_speed = ", joint.friction_speed, ", expected > 0");
    if (joint.friction > 0.0 && (joint.type == JointType::Ball || joint.type == JointType::Free))
        fail(kPlace, ": ", place, ": dry friction ", joint.friction,
             " on a ball or free joint, expected a hinge, slide or universal");
    check_range(joint.range, place, "range");
    check_range(joint.range2, place, "range2");
    const bool has_axis =
        joint.type == JointType::Hinge || joint.type == JointType::Slide || joint.type == JointType::Universal;
    if (has_axis && joint.axis.norm() < 1e-12) fail(kPlace, ": ", place, ": axis is zero, expected a direction");
    if (joint.type == JointType::Universal && joint.axis.normalized().cross(joint.axis2).norm() < 1e-6) {
        fail(kPlace, ": ", place, ": axis2 is zero or parallel to axis, expected two different directions");
    }
    if (joint.type == JointType::Ball && joint.range && joint.range->lower != 0.0) {
        fail(kPlace, ": ", place, ": range lower = ", joint.range->lower,
             ", expected 0 (a ball joint's range bounds its angle)");
    }
}

std::pair<int, int> sizes(JointType type) {  // (coordinates, degrees of freedom)
    switch (type) {
        case JointType::Fixed:
            return {0, 0};
        case JointType::Free:
            return {7, 6};
        case JointType::Ball:
            return {4, 3};
        case JointType::Universal:
            return {2, 2};
        case JointType::Hinge:
        case JointType::Slide:
            return {1, 1};
    }
    return {0, 0};
}

}  // namespace

ModelBuilder::ModelBuilder(const Scene& scene) : scene_(scene), model_(new Model()) {
    model_->scene_ = std::make_shared<const Scene>(scene);
    model_->warnings_ = scene.warnings;
}

std::shared_ptr<const Model> ModelBuilder::build() {
    check_numbers();
    add_bodies();
    add_tendons();
    add_actuators();
    add_constraints();
    add_reduction();
    set_default_state();
    check_keyframes();
    set_parameters();
    check_masses();
    add_collision_geometry();
    add_hulls();
    add_contact_pairs();
    close_loops();
    return model_;
}

void ModelBuilder::check_numbers() const {
    require_finite(scene_.gravity, quoted("scene", scene_.name), "gravity");
    if (scene_.dt && !(*scene_.dt > 0.0 && std::isfinite(*scene_.dt)))
        fail(kPlace, ": ", quoted("scene", scene_.name), ": dt = ", *scene_.dt, ", expected > 0 [s] and finite");
    if (scene_.bodies.empty()) fail(kPlace, ": no bodies, expected at least the world as body 0");
    std::set<std::string> body_names, joint_names;
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) {
        const Body& body = scene_.bodies[i];
        const std::string place = quoted("body", body.name);
        if (body.name.empty()) fail(kPlace, ": body ", i, ": empty name, expected a unique one");
        if (!body_names.insert(body.name).second)
            fail(kPlace, ": ", place, ": name used twice, expected unique names of bodies");
        require_finite(body.position, place, "position");
        require_finite(body.orientation.coeffs(), place, "orientation");
        if (body.orientation.norm() < 1e-12)
            fail(kPlace, ": ", place, ": orientation quaternion is zero, expected a rotation");
        require_finite(Eigen::Matrix<double, 1, 1>(body.gravity_compensation), place, "gravity_compensation");
        if (body.moments) validate(*body.moments, std::string(kPlace) + ": " + place);
        for (const Joint& joint : body.joints) {
            if (joint.name.empty()) fail(kPlace, ": ", place, ": a joint has an empty name, expected a unique one");
            if (!joint_names.insert(joint.name).second)
                fail(kPlace, ": ", quoted("joint", joint.name), ": name used twice, expected unique names of joints");
            check_joint(joint, quoted("joint", joint.name));
        }
    }
    for (const TriangleMesh& mesh : scene_.meshes) validate(mesh);
    for (const Shape& shape : scene_.shapes) check_shape(shape, scene_);
}

void ModelBuilder::add_bodies() {
    const int count = static_cast<int>(scene_.bodies.size());
    for (int i = 0; i < count; ++i) {
        const Body& source = scene_.bodies[static_cast<std::size_t>(i)];
        const std::string place = quoted("body", source.name);
        ModelBody body{.name = source.name, .parent = source.parent, .motion = source.motion};
        body.orientation = source.orientation.normalized().toRotationMatrix();
        body.turned = !body.orientation.isIdentity(0.0);
        body.weight_share = 1.0 - source.gravity_compensation;
        if (i == 0) {
            if (!source.joints.empty())
                fail(kPlace, ": ", place, ": the world has ", source.joints.size(), " joints, expected none");
            body.motion = BodyMotion::Fixed;
            model_->bodies_.push_back(body);
            continue;
        }
        if (source.parent < 0 || source.parent >= count) {
            fail(kPlace, ": ", place, ": parent index ", source.parent, ", expected 0 to ", count - 1);
        }
        if (source.parent >= i) {
            int ancestor = source.parent;  // does the chain of parents come back to i?
            for (int steps = 0; steps < count && ancestor != i && ancestor > 0 && ancestor < count; ++steps) {
                ancestor = scene_.bodies[static_cast<std::size_t>(ancestor)].parent;
            }
            const std::string& parent = scene_.bodies[static_cast<std::size_t>(source.parent)].name;
            if (ancestor == i) fail(kPlace, ": ", place, ": parent '", parent, "' makes a cycle, expected a tree");
            fail(kPlace, ": ", place, ": parent '", parent, "' comes later, expected parents before children");
        }
        const ModelBody& parent = model_->bodies_[static_cast<std::size_t>(source.parent)];
        body.root = source.parent == 0 ? i : parent.root;
        body.first_joint = static_cast<int>(joints_.size());
        body.first_dof = static_cast<int>(model_->dofs_.size());
        body.last_dof = parent.last_dof;
        if (source.motion != BodyMotion::Dynamic && !source.joints.empty()) {
            fail(kPlace, ": ", place, ": fixed or kinematic, but has joint '", source.joints[0].name,
                 "', expected no joints");
        }
        if (source.motion == BodyMotion::Kinematic) {
            if (source.parent != 0)
                fail(kPlace, ": ", place, ": kinematic with parent '", parent.name, "', expected the world");
            body.kinematic = model_->num_kinematic();
            model_->kinematic_bodies_.push_back(i);
        }
        model_->bodies_.push_back(body);
        for (const Joint& joint : source.joints) add_joint(i, joint, false);
        if (body.kinematic >= 0)
            add_joint(i, Joint{.name = source.name + " (scripted)", .type = JointType::Free}, true);
        ModelBody& added = model_->bodies_.back();
        added.num_joints = static_cast<int>(joints_.size()) - added.first_joint;
        added.num_dofs = static_cast<int>(model_->dofs_.size()) - added.first_dof;
        if (added.num_dofs > 0) added.last_dof = static_cast<int>(model_->dofs_.size()) - 1;
    }
}

void ModelBuilder::add_joint(int body, const Joint& joint, bool prescribed) {
    Model& model = *model_;
    const auto [num_q, num_dofs] = sizes(joint.type);
    const std::string place = quoted("joint", joint.name);
    if (joint.type == JointType::Free) {
        const Body& owner = scene_.bodies[static_cast<std::size_t>(body)];
        if (owner.parent != 0)
            fail(kPlace, ": ", place, ": free joint on a child of '",
                 scene_.bodies[static_cast<std::size_t>(owner.parent)].name, "', expected a child of the world");
        if (owner.joints.size() > 1)
            fail(kPlace, ": ", place, ": a free joint beside others on body '", owner.name, "', expected it alone");
    }
    const int index = static_cast<int>(joints_.size());
    const int dof = model.num_dofs();
    model.joints_.push_back(ModelJoint{.name = joint.name,
                                       .type = joint.type,
                                       .body = body,
                                       .q = model.num_q_,
                                       .dof = dof,
                                       .num_q = num_q,
                                       .num_dofs = num_dofs,
                                       .anchor = joint.anchor,
                                       .axis = joint.axis.normalized(),
                                       .axis2 = joint.axis2.normalized(),
                                       .reference = joint.reference});
    joints_.push_back(joint);
    const int ball = joint.type == JointType::Free ? dof + 3 : joint.type == JointType::Ball ? dof : -1;
    const int outer = dof > model.bodies_.back().first_dof
                          ? dof - 1
                          : model.bodies_[static_cast<std::size_t>(model.bodies_.back().parent)].last_dof;
    for (int k = 0; k < num_dofs; ++k) {
        const bool in_ball = ball >= 0 && dof + k >= ball;
        const bool rotates = in_ball || joint.type == JointType::Hinge || joint.type == JointType::Universal;
        model.dofs_.push_back(Dof{.body = body,
                                  .joint = index,
                                  .parent = k == 0 ? outer : dof + k - 1,
                                  .ball = in_ball ? ball : -1,
                                  .rotates = rotates,
                                  .prescribed = prescribed});
    }
    const auto scalar = [&](int k, const std::optional<Range>& range) {
        model.scalars_.push_back(ScalarCoordinate{.q = model.num_q_ + k,
                                                  .dof = dof + k,
                                                  .joint = index,
                                                  .range = range,
                                                  .limit_stiffness = joint.limit_stiffness,
                                                  .spring_reference = joint.spring_reference,
                                                  .friction_speed = joint.friction_speed});
    };
    switch (joint.type) {
        case JointType::Fixed:
            break;
        case JointType::Free:
            for (int k = 0; k < 3; ++k) scalar(k, std::nullopt);
            model.balls_.push_back(
                BallCoordinate{.q = model.num_q_ + 3, .dof = dof + 3, .joint = index, .max_angle = {}});
            break;
        case JointType::Ball:
            model.balls_.push_back(
                BallCoordinate{.q = model.num_q_,
                               .dof = dof,
                               .joint = index,
                               .max_angle = joint.range ? std::optional(joint.range->upper) : std::nullopt,
                               .limit_stiffness = joint.limit_stiffness});
            break;
        case JointType::Universal:
            scalar(0, joint.range);
            scalar(1, joint.range2);
            break;
        case JointType::Hinge:
        case JointType::Slide:
            scalar(0, joint.range);
            break;
    }
    model.num_q_ += num_q;
}

int ModelBuilder::body_index(const std::string& name, const std::string& place) const {
    if (const auto found = model_->find_body(name)) return *found;
    fail(kPlace, ": ", place, ": unknown body '", name, "', expected the name of a body of the scene");
}

int ModelBuilder::joint_index(const std::string& name, const std::string& place) const {
    if (const auto found = model_->find_joint(name)) return *found;
    fail(kPlace, ": ", place, ": unknown joint '", name, "', expected the name of a joint of the scene");
}

void ModelBuilder::add_reduction() {
    const int n = model_->num_dofs();
    Eigen::MatrixXd full = Eigen::MatrixXd::Identity(n, n);
    std::vector<bool> eliminated(static_cast<std::size_t>(n), false);
    for (int k = 0; k < n; ++k)
        eliminated[static_cast<std::size_t>(k)] = model_->dofs_[static_cast<std::size_t>(k)].prescribed;
    const auto scalar_dof = [&](const std::string& name, const std::string& place) {
        const ModelJoint& joint = model_->joints_[static_cast<std::size_t>(joint_index(name, place))];
        if (joint.type != JointType::Hinge && joint.type != JointType::Slide) {
            fail(kPlace, ": ", place, ": joint '", name, "' has ", joint.num_dofs,
                 " degrees of freedom, expected a hinge or slide");
        }
        return joint.dof;
    };
    for (const Tie& tie : scene_.ties) {
        const std::string place = "tie of joint '" + tie.joint + "' to '" + tie.source + "'";
        require_finite(Eigen::Vector2d(tie.ratio, tie.offset), place, "ratio, offset");
        const int joint = scalar_dof(tie.joint, place), source = scalar_dof(tie.source, place);
        if (eliminated[static_cast<std::size_t>(joint)])
            fail(kPlace, ": ", place, ": the joint is tied twice, expected one tie per joint");
        if (full(source, joint) != 0.0 || joint == source)
            fail(kPlace, ": ", place, ": makes a cycle of ties, expected a source that does not follow the joint");
        eliminated[static_cast<std::size_t>(joint)] = true;
        for (int row = 0; row < n; ++row) {  // whoever follows `joint` now follows `source`
            if (full(row, joint) != 0.0) {
                const double share = full(row, joint);
                full.row(row) += share * tie.ratio * full.row(source);
                full(row, joint) = 0.0;
            }
        }
    }
    std::vector<int> kept;
    for (int k = 0; k < n; ++k) {
        if (!eliminated[static_cast<std::size_t>(k)]) kept.push_back(k);
    }
    model_->num_unknowns_ = static_cast<int>(kept.size());
    model_->reduction_.identity = static_cast<int>(kept.size()) == n;
    model_->reduction_.E.resize(n, model_->num_unknowns_);
    for (int column = 0; column < model_->num_unknowns_; ++column) {
        const int k = kept[static_cast<std::size_t>(column)];
        model_->reduction_.E.col(column) = full.col(k);
    }
    for (int k = 0; k < n; ++k) {
        if (model_->dofs_[static_cast<std::size_t>(k)].prescribed) model_->reduction_.E.row(k).setZero();
    }
}

void ModelBuilder::set_default_state() {
    Model& model = *model_;
    model.default_state_.q = Eigen::VectorXd::Zero(model.num_q_);
    model.default_state_.v = Eigen::VectorXd::Zero(model.num_dofs());
    Eigen::VectorXd& q = model.default_state_.q;
    for (const ModelJoint& joint : model.joints_) {
        const Body& body = scene_.bodies[static_cast<std::size_t>(joint.body)];
        const Eigen::Quaterniond orientation = body.orientation.normalized();
        switch (joint.type) {
            case JointType::Free:
                q.segment<3>(joint.q) = body.position;
                q.segment<4>(joint.q + 3) << orientation.w(), orientation.vec();
                break;
            case JointType::Ball:
                q[joint.q] = 1.0;
                break;
            case JointType::Hinge:
            case JointType::Slide:
                q[joint.q] = joint.reference;
                break;
            case JointType::Universal:
            case JointType::Fixed:
                break;
        }
    }
    for (std::size_t pass = 0; pass < scene_.ties.size(); ++pass) {  // chains of ties settle after as many passes
        for (const Tie& tie : scene_.ties) {
            q[model.joints_[static_cast<std::size_t>(*model.find_joint(tie.joint))].q] =
                tie.offset + tie.ratio * q[model.joints_[static_cast<std::size_t>(*model.find_joint(tie.source))].q];
        }
    }
    for (const ScalarCoordinate& c : model.scalars_) {
        if (c.range && (q[c.q] < c.range->lower || q[c.q] > c.range->upper)) {
            std::ostringstream text;
            text << "joint '" << model.joints_[static_cast<std::size_t>(c.joint)].name << "' starts at " << q[c.q]
                 << ", outside its range [" << c.range->lower << ", " << c.range->upper << "]";
            model.warnings_.push_back(text.str());
        }
    }
    model.default_control_ = Eigen::VectorXd::Zero(model.num_controls_);
    for (const ModelActuator& actuator : model.actuators_) set_default_control(actuator);
}

/// Position targets that hold the default state.
void ModelBuilder::set_default_control(const ModelActuator& actuator) {
    Model& model = *model_;
    const Eigen::VectorXd& q = model.default_state_.q;
    if (!actuator.length.empty()) {
        double length = 0.0;
        for (const LengthPart& part : actuator.length) length += part.coefficient * q[part.q];
        if (actuator.type == ActuatorType::Pd && actuator.position_input)
            model.default_control_[actuator.control] = length;
        return;
    }
    if (actuator.type != ActuatorType::Pd || !actuator.position_input) return;
    const ModelJoint& joint = model.joints_[static_cast<std::size_t>(actuator.joint)];
    for (const ScalarCoordinate& c : model.scalars_) {
        if (c.joint != actuator.joint) continue;
        const double gear = actuator.gear.empty() ? 1.0 : actuator.gear[0];
        model.default_control_[actuator.control + c.dof - joint.dof] = gear * q[c.q];
    }
    for (const BallCoordinate& c : model.balls_) {
        if (c.joint != actuator.joint) continue;
        const Eigen::Quaterniond rotation(q[c.q], q[c.q + 1], q[c.q + 2], q[c.q + 3]);
        model.default_control_.segment<3>(actuator.control + c.dof - joint.dof) =
            log_rotation(rotation.toRotationMatrix());
    }
}

void ModelBuilder::check_keyframes() const {
    std::set<std::string> names;
    for (const Keyframe& key : scene_.keyframes) {
        const std::string place = quoted("keyframe", key.name);
        if (!names.insert(key.name).second)
            fail(kPlace, ": ", place, ": name used twice, expected unique names of keyframes");
        const auto check = [&](const Eigen::VectorXd& values, Eigen::Index expected, const char* what) {
            if (values.size() != 0 && values.size() != expected) {
                fail(kPlace, ": ", place, ": ", what, " has ", values.size(), " entries, expected ", expected);
            }
            require_finite(values, place, what);
        };
        check(key.q, model_->num_q_, "q");
        check(key.v, model_->num_dofs(), "v");
        check(key.control, model_->num_controls_, "control");
    }
}

void ModelBuilder::set_parameters() {
    Model& model = *model_;
    Parameters& p = model.default_parameters_;
    p = zero_parameters(model);
    p.gravity = scene_.gravity;
    p.contact_stiffness = 1.0;
    p.friction.setZero();
    for (int i = 1; i < model.num_bodies(); ++i) {
        const Body& body = scene_.bodies[static_cast<std::size_t>(i)];
        const bool free = has_free_joint(model, model.bodies_[static_cast<std::size_t>(i)]);
        p.attachment.row(i) = free ? Eigen::RowVector3d::Zero() : Eigen::RowVector3d(body.position.transpose());
        if (body.motion == BodyMotion::Kinematic) continue;
        if (body.moments) {
            p.moments.row(i) = to_vector(*body.moments).transpose();
            continue;
        }
        Moments sum;
        for (const Shape& shape : scene_.shapes) {
            if (shape.body == i && shape.density > 0.0) sum += shape_moments(shape, scene_);
        }
        p.moments.row(i) = to_vector(sum).transpose();
    }
    for (const Shape& shape : scene_.shapes) {
        if (shape.collides) p.friction[shape.body] = std::max(p.friction[shape.body], shape.friction);
    }
    for (int k = 0; k < model.num_dofs(); ++k) {
        const Joint& joint = joints_[static_cast<std::size_t>(model.dofs_[static_cast<std::size_t>(k)].joint)];
        p.damping[k] = joint.damping;
        p.armature[k] = joint.armature;
        p.stiffness[k] = joint.stiffness;
        p.joint_friction[k] = joint.friction;
    }
    for (std::size_t a = 0; a < scene_.actuators.size(); ++a) {
        p.kp[static_cast<Eigen::Index>(a)] = scene_.actuators[a].kp;
        p.kd[static_cast<Eigen::Index>(a)] = scene_.actuators[a].kd;
    }
}

void ModelBuilder::check_masses() const {
    const Model& model = *model_;
    std::vector<double> carried(model.bodies_.size(), 0.0);  // own mass plus that of bodies welded below
    for (int i = model.num_bodies() - 1; i > 0; --i) {
        const ModelBody& body = model.bodies_[static_cast<std::size_t>(i)];
        carried[static_cast<std::size_t>(i)] += model.default_parameters_.moments(i, 0);
        if (body.num_dofs == 0) carried[static_cast<std::size_t>(body.parent)] += carried[static_cast<std::size_t>(i)];
        const bool moves = body.num_dofs > 0 && body.kinematic < 0;
        if (!moves || carried[static_cast<std::size_t>(i)] > 0.0) continue;
        const auto armature = model.default_parameters_.armature.segment(body.first_dof, body.num_dofs);
        if (armature.minCoeff() <= 0.0) {
            fail(kPlace, ": ", quoted("body", body.name),
                 ": mass 0, expected > 0 [kg] (it has joints: give it moments or shapes with density)");
        }
    }
}

void ModelBuilder::add_collision_geometry() {
    Model& model = *model_;
    model.collision_.bodies.resize(model.bodies_.size());
    for (int i = 0; i < model.num_bodies(); ++i) {
        CollisionBody& body = model.collision_.bodies[static_cast<std::size_t>(i)];
        body.name = model.bodies_[static_cast<std::size_t>(i)].name;
        body.moves = model.bodies_[static_cast<std::size_t>(i)].last_dof >= 0;
        body.mesh.name = body.round_mesh.name = body.name;
    }
    for (const Shape& shape : scene_.shapes) {
        if (!shape.collides) continue;
        CollisionBody& body = model.collision_.bodies[static_cast<std::size_t>(shape.body)];
        if (shape.type == ShapeType::HalfSpace) {
            const int last = model.bodies_[static_cast<std::size_t>(shape.body)].last_dof;
            if (last >= 0 && !model.dofs_[static_cast<std::size_t>(last)].prescribed) {
                fail(kPlace, ": ", quoted("shape", shape.name), ": half-space on moving body '", body.name,
                     "', expected the world or a fixed or kinematic body");
            }
            const Eigen::Vector3d normal = shape.orientation.normalized() * Eigen::Vector3d::UnitZ();
            body.half_spaces.push_back(HalfSpace{.normal = normal, .offset = normal.dot(shape.position)});
        } else {
            append(shape_surface(shape, scene_), body.mesh);
            append(round_surface(shape, scene_), body.round_mesh);
        }
    }
    for (CollisionBody& body : model.collision_.bodies) {
        if (body.round_mesh.radii.empty()) body.round_mesh = {};
    }
}

void ModelBuilder::add_hulls() {
    Model& model = *model_;
    auto& vertices = model.default_parameters_.hull_vertices;
    for (std::size_t index = 0; index < scene_.shapes.size(); ++index) {
        const Shape& shape = scene_.shapes[index];
        if (!shape.collides || shape.type == ShapeType::HalfSpace) continue;
        const TriangleMesh surface = shape_surface(shape, scene_);
        TriangleMesh part = surface;  // flat: a surface without volume is its own hull
        const bool flat = is_flat(surface.vertices);
        if (!flat && shape.keep_vertices) {
            part.triangles = hull_triangles(surface.vertices);
        } else if (!flat) {
            const ConvexHull hull = convex_hull(surface.vertices, std::string(kPlace) + ": shape '" + shape.name + "'");
            part.vertices = surface.vertices(hull.vertices, Eigen::all);
            part.triangles = hull.triangles;
        }
        const auto first = static_cast<int>(vertices.rows()), count = static_cast<int>(part.vertices.rows());
        vertices.conservativeResize(first + count, 3);
        vertices.bottomRows(count) = part.vertices;
        const double volume = flat ? 0.0 : hull_integral(part.vertices, facet_fans(part.vertices, part.triangles)).mass;
        model.hulls_.push_back(ModelHull{.shape = static_cast<int>(index),
                                         .body = shape.body,
                                         .first_vertex = first,
                                         .num_vertices = count,
                                         .triangles = part.triangles,
                                         .volume = volume});
    }
}

void ModelBuilder::add_contact_pairs() {
    Model& model = *model_;
    for (const auto& [a, b] : scene_.exclude_contacts) {
        (void)body_index(a, "exclude_contacts");
        (void)body_index(b, "exclude_contacts");
    }
    for (const auto& [a, b, friction] : scene_.pair_friction) {
        (void)body_index(a, "pair_friction");
        (void)body_index(b, "pair_friction");
        if (!(friction >= 0.0) || !std::isfinite(friction))
            fail("pair_friction of '", a, "' and '", b, "': ", friction, ", expected >= 0");
    }
    for (const auto& [a, b, policy] : scene_.pair_contact) {
        (void)body_index(a, "pair_contact");
        (void)body_index(b, "pair_contact");
    }
    for (const auto& [a, b] : scene_.include_contacts) {
        (void)body_index(a, "include_contacts");
        (void)body_index(b, "include_contacts");
    }
    ContactPairs result = find_contact_pairs(model);
    model.collision_.pairs = std::move(result.pairs);
    model.excluded_pairs_ = std::move(result.excluded);
    model.warnings_.insert(model.warnings_.end(), result.warnings.begin(), result.warnings.end());
}

std::shared_ptr<const Model> build_model(const Scene& scene) { return ModelBuilder(scene).build(); }

}  // namespace farfield
