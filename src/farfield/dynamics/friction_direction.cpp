// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/friction_direction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using contact::PairBlock;
using Eigen::VectorXd;

constexpr int kFrictionIterations = 6, kFrictionHalvings = 6;
constexpr double kFrictionArmijo = 1e-4;
constexpr double kFrictionToWall = 0.9;  // of the way to t = 1
constexpr double kParabolic =
    1e-2;  // of the fall that is promised: friction that differs less from its parabola is left alone
constexpr double kFrictionFallLeft = 1e-3;  // fall that is left, of what was promised

}  // namespace

double FrictionDirection::value(const Scene& scene, const VectorXd& step, double& bent) {
    body_twists(scene.model, scene.kinematics, step, twists_);
    scene.at.apply(step, product_);
    double sum = scene.at.gradient.dot(step) + 0.5 * step.dot(product_);
    t_.resize(scene.barriers.size());
    for (std::size_t i = 0; i < t_.size(); ++i) {
        const BarrierDirection::Barrier& barrier = scene.barriers[i];
        t_[i] = barrier.closing(twists_);
        if (!(t_[i] < 1.0)) return std::numeric_limits<double>::infinity();
        sum += barrier.excess(t_[i]);
    }
    poses_ = scene.kinematics.poses;
    for (std::size_t i = 1; i < poses_.size(); ++i) {
        poses_[i].position += twists_[i].head<3>();
        poses_[i].rotation = exp_rotation(twists_[i].tail<3>()) * poses_[i].rotation;
    }
    scene.contact.linearize_friction(poses_, friction_);
    FARFIELD_ASSERT(friction_.size() == with_friction_.size());
    bent = 0.0;
    for (std::size_t k = 0; k < with_friction_.size(); ++k) {
        const PairBlock &start = *with_friction_[k].start, &now = friction_[k];
        PairBlock::Vector12d& twist = with_friction_[k].twist;
        twist << twists_[at(start.a)], twists_[at(start.b)];
        const double parabola = start.friction_energy + start.friction_gradient.dot(twist) +
                                0.5 * twist.dot(start.friction_hessian * twist);
        sum += now.friction_energy - parabola;
        bent += std::abs(now.friction_energy - parabola);
    }
    return sum;
}

void FrictionDirection::differentiate(const Scene& scene) {
    correction_.wrench.assign(twists_.size(), Vector6d::Zero());
    correction_.blocks.resize(with_friction_.size() + scene.barriers.size());
    const auto add = [&](PairBlock& block) {
        correction_.wrench[at(block.a)] += block.gradient.head<6>();
        correction_.wrench[at(block.b)] += block.gradient.tail<6>();
    };
    for (std::size_t k = 0; k < with_friction_.size(); ++k) {
        const PairBlock &start = *with_friction_[k].start, &now = friction_[k];
        PairBlock& block = correction_.blocks[k];
        block.a = start.a, block.b = start.b;
        block.gradient =
            now.friction_gradient - start.friction_gradient - start.friction_hessian * with_friction_[k].twist;
        for (const Eigen::Index w : {3, 9}) {  // the chart at the end of a turn is another than at its start
            const Eigen::Vector3d torque = now.friction_gradient.segment<3>(w);
            block.gradient.segment<3>(w) +=
                left_jacobian(with_friction_[k].twist.segment<3>(w)).transpose() * torque - torque;
        }
        block.hessian = now.friction_hessian - start.friction_hessian;
        add(block);
    }
    for (std::size_t i = 0; i < scene.barriers.size(); ++i) {
        const BarrierDirection::Barrier& barrier = scene.barriers[i];
        PairBlock& block = correction_.blocks[with_friction_.size() + i];
        block.a = barrier.a, block.b = barrier.b;
        block.gradient = barrier.slope(t_[i]) * barrier.gradient;
        block.hessian = barrier.curvature(t_[i]) * barrier.gradient * barrier.gradient.transpose();
        add(block);
    }
    system_.gradient = scene.at.gradient + product_;
    system_.hessian.copy_entries(scene.at.hessian);
    add_contact_derivatives(scene.model, scene.kinematics, correction_, scratch_, system_.gradient, system_.hessian);
}

double FrictionDirection::room(const Scene& scene, const VectorXd& way) {
    body_twists(scene.model, scene.kinematics, way, twists_);
    double most = 1.0;
    for (std::size_t i = 0; i < t_.size(); ++i) {
        const BarrierDirection::Barrier& barrier = scene.barriers[i];
        const double along = barrier.closing(twists_);
        if (along > 0.0) most = std::min(most, kFrictionToWall * (1.0 - t_[i]) / along);
    }
    return most;
}

double FrictionDirection::follow(const Model& model, const Kinematics& kinematics, contact::ContactStep& contact,
                                 StepLinearization& linearization,
                                 const std::vector<BarrierDirection::Barrier>& barriers, double slope, VectorXd& step) {
    with_friction_.clear();
    for (const PairBlock& pair : linearization.contact.blocks) {
        if (pair.has_friction) with_friction_.push_back({.start = &pair});
    }
    if (with_friction_.empty() || !(slope < 0.0)) return slope;
    const Scene scene{model, kinematics, contact, linearization, barriers};
    here_.setZero(step.size());
    way_ = step;
    double best = 0.0, along = slope, beta = 1.0;
    for (int iteration = 0; iteration < kFrictionIterations; ++iteration) {
        bool found = false;
        double bent = 0.0;
        contact.accept();
        for (int halving = 0; halving < kFrictionHalvings && !found; ++halving, beta *= 0.5) {
            trial_ = here_ + beta * way_;
            const double there = value(scene, trial_, bent);
            found = there <= best + kFrictionArmijo * beta * along;
            if (found) best = there;
        }
        if (!found) break;
        if (iteration == 0 && bent <= -kParabolic * slope) return slope;
        here_ = trial_;
        differentiate(scene);
        system_.reduce(model.reduction(), nullptr);
        if (!system_.factor()) break;
        along = system_.newton_step(way_);
        if (along >= kFrictionFallLeft * slope) break;
        beta = room(scene, way_);
    }
    const double followed = linearization.gradient.dot(here_);
    if (!(followed < 0.0) || !here_.allFinite()) return slope;
    step = here_;
    return followed;
}

}  // namespace farfield
