// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/wall_search.hpp"

#include <algorithm>

#include "farfield/base/index.hpp"
#include "farfield/geometry/distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr double kWallEnergy = 0.05;  // of force times gap of the pair, or of its weight: a wall is felt late

}  // namespace

const std::vector<BarrierDirection::Barrier>& WallSearch::find(const Start& start, const CollisionFilter& filter,
                                                               const Eigen::VectorXd& step,
                                                               std::span<const double> fractions, double least) {
    const std::vector<ContactPair>& pairs = filter.pairs();
    energies_.resize(pairs.size());
    auto block = start.contact.blocks.begin();
    for (std::size_t p = 0; p < pairs.size(); ++p) {  // blocks are in the same order
        energies_[p] = start.parameters.contact_stiffness * start.weights[p];
        if (block == start.contact.blocks.end() || block->a != pairs[p].a || block->b != pairs[p].b) continue;
        const double felt = block->normal_gradient().head<3>().norm() * block->gap;
        if (felt > 0.0) energies_[p] = felt;
        ++block;
    }
    walls_.clear();
    body_twists(start.model, start.kinematics, step, twists_);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const double fraction = fractions[p];
        if (!(fraction > 0.0 && fraction < least && energies_[p] > 0.0)) continue;
        part_ = fraction * step;
        retract(start.model, start.q, part_, q_);
        forward_kinematics(start.model, start.parameters, q_, met_);
        const SweptDistance near = filter.nearest(static_cast<int>(p), met_.poses);
        if (!(near.distance > 0.0)) continue;
        const auto a = at(pairs[p].a), b = at(pairs[p].b);
        const Pose &from_a = start.kinematics.poses[a], &from_b = start.kinematics.poses[b];
        // The direction is fixed in the body that turns less, and touched by the point of the other.
        const bool seen_from_b = twists_[b].tail<3>().squaredNorm() < twists_[a].tail<3>().squaredNorm();
        const Vector3d across = (near.on_b - near.on_a) / near.distance;
        const Vector3d normal = seen_from_b ? Vector3d(from_b.rotation * (met_.poses[b].rotation.transpose() * across))
                                            : Vector3d(from_a.rotation * (met_.poses[a].rotation.transpose() * across));
        const Vector3d point = seen_from_b ? from_a * (met_.poses[a].inverse() * near.on_a)
                                           : from_b * (met_.poses[b].inverse() * near.on_b);
        BarrierDirection::Barrier wall{.a = pairs[p].a, .b = pairs[p].b, .energy = kWallEnergy * energies_[p]};
        wall.gradient << normal, (point - from_a.position).cross(normal), -normal,
            -(point - from_b.position).cross(normal);
        const double closing = wall.energy * wall.closing(twists_);  // J.D
        if (!(closing > 0.0)) continue;
        wall.gradient *= wall.energy / (fraction * closing);
        walls_.push_back(wall);
    }
    return walls_;
}

}  // namespace farfield
