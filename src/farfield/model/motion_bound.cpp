// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/motion_bound.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr std::size_t kElementReserve = 16;

}  // namespace

void RelativeMotion::begin(const Pose& b_in_a) {
    start_ = b_in_a;
    elements_.reserve(kElementReserve);
    elements_.clear();
}

void RelativeMotion::turn(const Vector3d& rotation, const Vector3d& anchor) {
    const double size = rotation.norm();
    if (size == 0.0) return;
    elements_.push_back(Element{.turns = true, .motion = rotation, .anchor = anchor, .size = size});
}

void RelativeMotion::slide(const Vector3d& translation) {
    if (!elements_.empty() && !elements_.back().turns) {  // translations along fixed directions of one frame commute
        elements_.back().motion += translation;
        elements_.back().size = elements_.back().motion.norm();
        if (elements_.back().size == 0.0) elements_.pop_back();
        return;
    }
    const double size = translation.norm();
    if (size == 0.0) return;
    elements_.push_back(Element{.turns = false, .motion = translation, .size = size});
}

void RelativeMotion::finish() {
    Vector3d inner = start_.position;  // next point outwards whose distance from the anchor only slides can change
    double reach = 0.0;
    for (std::size_t k = elements_.size(); k-- > 0;) {
        Element& element = elements_[k];
        if (!element.turns) {
            reach += element.size;
            continue;
        }
        reach += (inner - element.anchor).norm();
        element.reach = reach;
        inner = element.anchor;
    }
    const auto turning = std::count_if(elements_.begin(), elements_.end(), [](const Element& e) { return e.turns; });
    const bool outer_slide = turning > 0 && (!elements_.front().turns || !elements_.back().turns);
    rigid_ = turning <= 2 && !(turning == 2 && outer_slide) && !(turning == 1 && elements_.size() > 2);
    if (rigid_) {
        set_rigid_constants();
    } else {
        isotropic_ = chain_sum([](const Element&, double) { return 1.0; });
    }
}

double RelativeMotion::turning() const {
    double sum = 0.0;
    for (const Element& element : elements_) sum += element.turns ? element.size : 0.0;
    return sum;
}

void RelativeMotion::set_rigid_constants() {
    // Of a single turning motion: before the slide it is that of the frame (-A), after it that of the body.
    Vector3d body_spin = Vector3d::Zero(), velocity = Vector3d::Zero(), lever_start = Vector3d::Zero();
    spin_.setZero();
    origin_offset_ = 0.0;
    const Element* frame = nullptr;
    const Element* body = nullptr;
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        const Element& element = elements_[k];
        if (!element.turns) {
            velocity = element.motion;
        } else if (k + 1 == elements_.size()) {
            body = &element;
        } else {
            frame = &element;
        }
    }
    if (body) {
        body_spin = body->motion;
        origin_offset_ = (start_.position - body->anchor).norm();
    }
    if (frame) {
        spin_ = -frame->motion;
        lever_start = (body ? body->anchor : start_.position) - frame->anchor;
    }
    difference_ = body_spin - spin_;
    cross_ = difference_.cross(spin_);
    const Vector3d first = spin_.cross(lever_start) - 2.0 * velocity,
                   last = spin_.cross(lever_start + velocity) - 2.0 * velocity;
    lever_ = frame ? std::max(first.norm(), last.norm()) : 0.0;
    lever_cross_ = frame ? std::max(spin_.cross(first).norm(), spin_.cross(last).norm()) : 0.0;
    isotropic_.slope = cross_.norm() + difference_.squaredNorm();
    isotropic_.base = lever_cross_ + isotropic_.slope * origin_offset_;
}

CurvatureBound RelativeMotion::rigid_along(const Vector3d& n) const {
    const double turn = n.cross(spin_).norm();  // n turns with the frame by at most this much: |n(t) - n| <= turn
    const double cross = cross_.norm(), spin = difference_.norm();
    const double skew = std::min(cross, n.cross(cross_).norm() + turn * cross);
    const double swing = std::min(spin, n.cross(difference_).norm() + turn * spin) * spin;
    CurvatureBound bound;
    bound.slope = std::min(isotropic_.slope, skew + swing);
    bound.base = std::min(lever_cross_, turn * lever_) + bound.slope * origin_offset_;
    return bound;
}

template <class Factor>
CurvatureBound RelativeMotion::chain_sum(Factor&& factor) const {
    CurvatureBound bound;
    double outer = 0.0;   // sum over turning j < k of f_j |w_j|
    double turned = 0.0;  // sum over turning j < k of |w_j|
    for (const Element& element : elements_) {
        if (!element.turns) {
            bound.base += 2.0 * outer * element.size;
            continue;
        }
        const double own = factor(element, turned) * element.size;
        const double weight = (2.0 * outer + own) * element.size;
        bound.base += weight * element.reach;
        bound.slope += weight;
        outer += own;
        turned += element.size;
    }
    return bound;
}

CurvatureBound RelativeMotion::along(const Vector3d& n) const {
    if (rigid_) return rigid_along(n);
    return chain_sum([&](const Element& element, double turned) {
        return std::min(1.0, n.cross(element.motion).norm() / element.size + turned);
    });
}

Pose RelativeMotion::at(double t) const {
    Pose pose = start_;
    for (std::size_t k = elements_.size(); k-- > 0;) {
        const Element& element = elements_[k];
        if (!element.turns) {
            pose.position += t * element.motion;
            continue;
        }
        const Eigen::Matrix3d rotation = exp_rotation(t * element.motion);
        pose.position = element.anchor + rotation * (pose.position - element.anchor);
        pose.rotation = rotation * pose.rotation;
    }
    return pose;
}

MotionPaths::MotionPaths(const Model& model) : steps_(static_cast<std::size_t>(model.num_bodies())) {
    for (std::size_t i = 1; i < steps_.size(); ++i) {
        const ModelBody& body = model.bodies()[i];
        steps_[i] = steps_[static_cast<std::size_t>(body.parent)];
        for (int k = 0; k < body.num_joints; ++k) {
            const ModelJoint& joint = model.joints()[static_cast<std::size_t>(body.first_joint + k)];
            if (joint.num_dofs > 0) steps_[i].push_back(Step{.type = joint.type, .dof = joint.dof});
        }
    }
}

void MotionPaths::append(const Kinematics& start, const Eigen::VectorXd& delta, const Step& step, double sign,
                         const Pose& frame, RelativeMotion& out) const {
    const auto local = [&](const Vector3d& world) -> Vector3d { return sign * (frame.rotation.transpose() * world); };
    const auto anchor = [&](int dof) -> Vector3d {
        return frame.rotation.transpose() * (start.anchor[static_cast<std::size_t>(dof)] - frame.position);
    };
    const auto sum_of_axes = [&](int dof, int count) {
        Vector3d sum = Vector3d::Zero();
        for (int k = dof; k < dof + count; ++k) sum += delta[k] * start.axis[static_cast<std::size_t>(k)];
        return local(sum);
    };
    const int dof = step.dof;
    switch (step.type) {
        case JointType::Fixed:
            break;
        case JointType::Hinge:
            out.turn(sum_of_axes(dof, 1), anchor(dof));
            break;
        case JointType::Slide:
            out.slide(sum_of_axes(dof, 1));
            break;
        case JointType::Ball:
            out.turn(sum_of_axes(dof, 3), anchor(dof));
            break;
        case JointType::Universal: {
            const int first = sign > 0.0 ? dof : dof + 1, second = sign > 0.0 ? dof + 1 : dof;
            out.turn(sum_of_axes(first, 1), anchor(first));
            out.turn(sum_of_axes(second, 1), anchor(second));
            break;
        }
        case JointType::Free:
            if (sign > 0.0) out.slide(sum_of_axes(dof, 3));
            out.turn(sum_of_axes(dof + 3, 3), anchor(dof + 3));
            if (sign < 0.0) out.slide(sum_of_axes(dof, 3));
            break;
    }
}

void MotionPaths::relative(const Kinematics& start, const Eigen::VectorXd& delta, int a, int b, const Pose& frame_a,
                           const Pose& frame_b, RelativeMotion& out) const {
    const auto& path_a = steps_[static_cast<std::size_t>(a)];
    const auto& path_b = steps_[static_cast<std::size_t>(b)];
    std::size_t common = 0;
    while (common < path_a.size() && common < path_b.size() && path_a[common].dof == path_b[common].dof) ++common;
    Pose b_in_a;
    b_in_a.rotation = frame_a.rotation.transpose() * frame_b.rotation;
    b_in_a.position = frame_a.rotation.transpose() * (frame_b.position - frame_a.position);
    out.begin(b_in_a);
    for (std::size_t k = path_a.size(); k-- > common;) append(start, delta, path_a[k], -1.0, frame_a, out);
    for (std::size_t k = common; k < path_b.size(); ++k) append(start, delta, path_b[k], 1.0, frame_a, out);
    out.finish();
}

}  // namespace farfield
