// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A direction that knows how friction turns: friction is followed along the step while everything else keeps its parabola.
///
/// Friction depends on nothing but what was lagged and where bodies are, so it can be looked at again without any geometry. With xi the
/// twists of the bodies along D, phi the friction of a pair, f and F its derivatives at xi = 0 and x, t, e as in barrier_direction.hpp, D
/// minimises
///     m(D) = g.D + D.H.D/2 + sum over barriers of e x(t) + sum over pairs with friction of [phi(xi) - phi(0) - f.xi - xi.F.xi/2]
/// by Newton's method: a body that would be carried over a wall of friction is stopped there within one direction.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/barrier_direction.hpp"
#include "farfield/dynamics/contact_terms.hpp"
#include "farfield/dynamics/step_linearization.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

class FrictionDirection {
 public:
    /// Follows friction from `step`, a descent direction of `slope` at the point of `at` and `kinematics`, where `contact` was linearised
    /// last. Returns the slope along the new one. Moves the multipliers of friction along.
    double follow(const Model& model, const Kinematics& kinematics, contact::ContactStep& contact,
                  StepLinearization& at, const std::vector<BarrierDirection::Barrier>& barriers, double slope,
                  Eigen::VectorXd& step);

 private:
    struct FrictionPair {
        const contact::PairBlock* start = nullptr;                                    ///< at D = 0
        contact::PairBlock::Vector12d twist = contact::PairBlock::Vector12d::Zero();  ///< xi
    };
    struct Scene {
        const Model& model;
        const Kinematics& kinematics;
        contact::ContactStep& contact;
        StepLinearization& at;
        const std::vector<BarrierDirection::Barrier>& barriers;
    };

    /// m at D, and what its derivatives are made of; infinite beyond a wall. `bent`: what friction makes of it that no parabola does.
    double value(const Scene& scene, const Eigen::VectorXd& step, double& bent);
    /// Gradient and Hessian of m where value() was asked last, in system_.
    void differentiate(const Scene& scene);
    /// The largest fraction of `way`, from where value() was asked last, that keeps away from the walls.
    double room(const Scene& scene, const Eigen::VectorXd& way);

    std::vector<Vector6d> twists_;  ///< per body
    Poses poses_;
    std::vector<contact::PairBlock> friction_;
    std::vector<FrictionPair> with_friction_;
    std::vector<double> t_;  ///< per barrier
    Eigen::VectorXd here_, trial_, way_, product_;
    contact::ContactLinearization correction_;
    ContactScratch scratch_;
    StepLinearization system_;
};

}  // namespace farfield
