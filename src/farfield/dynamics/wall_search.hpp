// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Walls: what a direction runs into, told before any force is felt there.
///
/// The collision filter lets a pair follow a direction D up to a fraction f < 1, where two points of it have nearly met. Brought back to the
/// start with their bodies, they close in along the direction n between them at c = J.D, J a wrench of unit force. A barrier of that pair,
///     e x(t),  t = G.D/e = J.D / (f c),  for t > 0,
/// keeps a direction from getting there: it may close in by as much as the filter has let pass (barrier_direction.hpp). Its energy e is a part
/// of force times gap of the pair or, where it carries no force yet, of its weight.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/barrier_direction.hpp"
#include "farfield/dynamics/collision_filter.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

class WallSearch {
 public:
    /// Where a direction starts.
    struct Start {
        const Model& model;
        const Parameters& parameters;
        const Eigen::VectorXd& q;
        const Kinematics& kinematics;
        const contact::ContactLinearization& contact;
        const std::vector<double>& weights;  ///< per contact pair [J]
    };

    /// A wall for every contact pair that lets pass less than `least` of `step`, if it closes in from the start; in pair order.
    /// `fractions`: from CollisionFilter::max_step.
    const std::vector<BarrierDirection::Barrier>& find(const Start& start, const CollisionFilter& filter,
                                                       const Eigen::VectorXd& step, std::span<const double> fractions,
                                                       double least);

 private:
    std::vector<double> energies_;  ///< per contact pair
    std::vector<BarrierDirection::Barrier> walls_;
    std::vector<Vector6d> twists_;
    Kinematics met_;
    Eigen::VectorXd part_, q_;
};

}  // namespace farfield
