// SPDX-License-Identifier: Apache-2.0
/// @file  The stages of build_model that concern lengths, actuators and constraints.
#include <algorithm>
#include <set>

#include "farfield/model/build_checks.hpp"
#include "farfield/model/constraint_projection.hpp"
#include "farfield/model/model_builder.hpp"

namespace farfield {

using namespace build;

Length ModelBuilder::length_of(const std::vector<LengthTerm>& terms, const std::string& place) const {
    Length length;
    for (const LengthTerm& term : terms) {
        const ModelJoint& joint = model_->joints_[static_cast<std::size_t>(joint_index(term.joint, place))];
        if (joint.type != JointType::Hinge && joint.type != JointType::Slide) {
            fail(kPlace, ": ", place, ": joint '", term.joint, "' has ", joint.num_dofs,
                 " degrees of freedom, expected a hinge or slide");
        }
        require_finite(Eigen::Matrix<double, 1, 1>(term.coefficient), place, "coefficient");
        if (term.coefficient == 0.0) continue;
        const auto known =
            std::find_if(length.begin(), length.end(), [&](const LengthPart& part) { return part.dof == joint.dof; });
        if (known == length.end()) {
            length.push_back({.q = joint.q, .dof = joint.dof, .coefficient = term.coefficient});
        } else {
            known->coefficient += term.coefficient;
        }
    }
    return length;
}

void ModelBuilder::add_tendons() {
    std::set<std::string> names;
    for (const Tendon& source : scene_.tendons) {
        const std::string place = quoted("tendon", source.name);
        if (!names.insert(source.name).second)
            fail(kPlace, ": ", place, ": name used twice, expected unique names of tendons");
        check_range(source.range, place, "range");
        check_range(source.rest, place, "rest");
        require_at_least(source.limit_stiffness, 0.0, place, "limit_stiffness");
        require_at_least(source.stiffness, 0.0, place, "stiffness");
        require_at_least(source.damping, 0.0, place, "damping");
        require_at_least(source.armature, 0.0, place, "armature");
        require_at_least(source.friction, 0.0, place, "friction");
        if (!(source.friction_speed > 0.0))
            fail(kPlace, ": ", place, ": friction_speed = ", source.friction_speed, ", expected > 0");
        Length length = length_of(source.terms, place);
        if (length.empty()) fail(kPlace, ": ", place, ": no joint in it, expected at least one");
        model_->tendons_.push_back(ModelTendon{.name = source.name,
                                               .length = std::move(length),
                                               .range = source.range,
                                               .limit_stiffness = source.limit_stiffness,
                                               .stiffness = source.stiffness,
                                               .rest = source.rest.value_or(Range{}),
                                               .damping = source.damping,
                                               .armature = source.armature,
                                               .friction = source.friction,
                                               .friction_speed = source.friction_speed});
    }
}

/// What the actuator drives.
void ModelBuilder::aim(const Actuator& source, const std::string& place, ModelActuator& actuator) const {
    const int targets = int(!source.joint.empty()) + int(!source.tendon.empty()) + int(!source.body.empty());
    if (targets != 1) fail(kPlace, ": ", place, ": ", targets, " of joint, tendon and body are given, expected one");
    require_finite(Eigen::Map<const Eigen::VectorXd>(source.gear.data(), static_cast<Eigen::Index>(source.gear.size())),
                   place, "gear");
    const auto expect_gear = [&](int count, const std::string& what) {
        if (!source.gear.empty() && static_cast<int>(source.gear.size()) != count)
            fail(kPlace, ": ", place, ": gear has ", source.gear.size(), " entries, expected ", count, " for ", what);
    };
    if (!source.body.empty()) {
        actuator.body = body_index(source.body, place);
        const ModelBody& body = model_->bodies_[static_cast<std::size_t>(actuator.body)];
        if (body.last_dof < 0 || body.kinematic >= 0)
            fail(kPlace, ": ", place, ": body '", source.body, "' is not moved by forces, expected one that is");
        expect_gear(6, "a force and a torque on a body");
        if (source.type != ActuatorType::Motor || source.gear.empty())
            fail(kPlace, ": ", place, ": drives a body, expected a motor with a gear of 6 entries");
        require_finite(source.position, place, "position");
        const Eigen::Matrix3d turn = source.orientation.normalized().toRotationMatrix();
        actuator.point = source.position;
        actuator.wrench << turn * Eigen::Map<const Eigen::Vector3d>(source.gear.data()),
            turn * Eigen::Map<const Eigen::Vector3d>(source.gear.data() + 3);
        return;
    }
    if (!source.tendon.empty()) {
        const auto found = std::find_if(model_->tendons_.begin(), model_->tendons_.end(),
                                        [&](const ModelTendon& tendon) { return tendon.name == source.tendon; });
        if (found == model_->tendons_.end())
            fail(kPlace, ": ", place, ": unknown tendon '", source.tendon, "', expected one of the scene");
        expect_gear(1, "a tendon");
        actuator.length = found->length;
    } else {
        actuator.joint = joint_index(source.joint, place);
        const ModelJoint& joint = model_->joints_[static_cast<std::size_t>(actuator.joint)];
        if (joint.num_dofs == 0 || model_->dofs_[static_cast<std::size_t>(joint.dof)].prescribed) {
            fail(kPlace, ": ", place, ": joint '", source.joint,
                 "' has no degree of freedom to drive, expected one that moves");
        }
        expect_gear(joint.num_dofs, "joint '" + joint.name + "'");
        if (!source.gear.empty() && source.type == ActuatorType::Pd && joint.num_dofs != 1) {
            fail(kPlace, ": ", place, ": geared Pd on joint '", joint.name, "' with ", joint.num_dofs,
                 " degrees of freedom, expected 1");
        }
        const bool on_length =
            source.type == ActuatorType::Affine || (source.type == ActuatorType::Pd && source.force_range.has_value());
        if (on_length) actuator.length = length_of({{source.joint, 1.0}}, place);
    }
    const double gear = source.gear.empty() ? 1.0 : source.gear[0];
    for (LengthPart& part : actuator.length) part.coefficient *= gear;
}

/// The range of a motor's force is one of its control.
void ModelBuilder::limit_controls(const Actuator& source, const std::string& place, const ModelActuator& actuator) {
    std::optional<Range> limit = source.control_range;
    if (source.type == ActuatorType::Motor && source.force_range) {
        if (!limit) limit = source.force_range;
        limit->lower = std::max(limit->lower, source.force_range->lower);
        limit->upper = std::min(limit->upper, source.force_range->upper);
        check_range(limit, place, "control_range and force_range together");
    }
    for (int k = 0; k < actuator.num_controls; ++k) model_->control_limits_.push_back(limit);
}

void ModelBuilder::add_actuators() {
    std::set<std::string> names;
    for (const Actuator& source : scene_.actuators) {
        const std::string place = quoted("actuator", source.name);
        if (!names.insert(source.name).second)
            fail(kPlace, ": ", place, ": name used twice, expected unique names of actuators");
        ModelActuator actuator{.name = source.name, .type = source.type};
        aim(source, place, actuator);
        require_at_least(source.kp, 0.0, place, "kp");
        require_at_least(source.kd, 0.0, place, "kd");
        require_finite(Eigen::Vector2d(source.gain, source.bias), place, "gain, bias");
        check_range(source.control_range, place, "control_range");
        check_range(source.force_range, place, "force_range");
        if (source.type == ActuatorType::Pd && !source.position_input && !source.velocity_input) {
            fail(kPlace, ": ", place, ": Pd without position and velocity input, expected at least one");
        }
        const int inputs =
            source.type == ActuatorType::Pd ? int(source.position_input) + int(source.velocity_input) : 1;
        const bool one = !source.gear.empty() || actuator.joint < 0 || !actuator.length.empty();
        const int width = one ? 1 : model_->joints_[static_cast<std::size_t>(actuator.joint)].num_dofs;
        actuator.control = model_->num_controls_;
        actuator.num_controls = inputs * width;
        actuator.position_input = source.position_input;
        actuator.velocity_input = source.velocity_input;
        actuator.gear = source.gear;
        actuator.gain = source.gain;
        actuator.bias = source.bias;
        actuator.control_range = source.control_range;
        if (source.type != ActuatorType::Motor) actuator.force_range = source.force_range;
        limit_controls(source, place, actuator);
        model_->num_controls_ += actuator.num_controls;
        model_->actuators_.push_back(std::move(actuator));
    }
}

void ModelBuilder::add_constraints() {
    std::set<std::string> names;
    for (const Constraint& source : scene_.constraints) {
        const std::string place = quoted("constraint", source.name);
        if (source.name.empty() || !names.insert(source.name).second)
            fail(kPlace, ": ", place, ": empty or used twice, expected unique names of constraints");
        ModelConstraint made{.name = source.name, .type = source.type, .row = model_->num_constraint_rows()};
        if (source.type == ConstraintType::Coupling) {
            made.terms = length_of(source.terms, place);
            made.source = length_of(source.source, place);
            if (made.terms.empty()) fail(kPlace, ": ", place, ": no joint in it, expected at least one");
            require_finite(Eigen::Vector2d(source.reference, source.source_reference), place, "reference");
            require_finite(Eigen::Map<const Eigen::VectorXd>(source.polynomial.data(),
                                                             static_cast<Eigen::Index>(source.polynomial.size())),
                           place, "polynomial");
            made.reference = source.reference;
            made.source_reference = source.source_reference;
            made.polynomial = source.polynomial;
            made.num_rows = 1;
        } else {
            made.a = body_index(source.body, place);
            made.b = body_index(source.other, place);
            const auto moves = [&](int i) {
                const int last = model_->bodies_[static_cast<std::size_t>(i)].last_dof;
                return last >= 0 && !model_->dofs_[static_cast<std::size_t>(last)].prescribed;
            };
            if (made.a == made.b || (!moves(made.a) && !moves(made.b)))
                fail(kPlace, ": ", place, ": between '", source.body, "' and '", source.other,
                     "', expected two bodies of which one moves");
            require_finite(source.anchor, place, "anchor");
            require_finite(source.other_anchor, place, "other_anchor");
            require_finite(source.orientation.coeffs(), place, "orientation");
            if (source.orientation.norm() < 1e-12)
                fail(kPlace, ": ", place, ": orientation quaternion is zero, expected a rotation");
            made.anchor_a = source.anchor;
            made.anchor_b = source.other_anchor;
            made.orientation = source.orientation.normalized().toRotationMatrix();
            made.num_rows = source.type == ConstraintType::Weld ? 6 : 3;
        }
        model_->constraints_.push_back(std::move(made));
    }
}

/// The default state is brought onto the constraints.
void ModelBuilder::close_loops() {
    Model& model = *model_;
    if (model.constraints_.empty()) return;
    const ProjectedState found = project_onto_constraints(model, model.default_parameters_, model.default_state_);
    if (found.residual_before > kClosedLoop) {
        std::ostringstream text;
        text << "the default state broke constraint '" << found.worst << "' by " << found.residual_before
             << "; it was moved by at most " << found.moved << " [m or rad], which leaves " << found.residual_after;
        model.warnings_.push_back(text.str());
    }
    model.default_state_ = found.state;
    for (const ModelActuator& actuator : model.actuators_) set_default_control(actuator);
}

}  // namespace farfield
