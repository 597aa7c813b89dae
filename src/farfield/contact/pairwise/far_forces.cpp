// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/pairwise/far_forces.hpp"

#include <cmath>

#include "farfield/contact/pairwise/pair_units.hpp"

namespace farfield::contact {

std::vector<Eigen::Vector3d> far_forces(const Model& model, const ContactPotential& potential,
                                        const Parameters& parameters, const Poses& poses) {
    const auto memory = potential.make_memory();
    ContactLinearization d;
    potential.begin_step(poses, model.default_dt(), parameters, *memory, StepMode::Frictionless).linearize(poses, d);
    std::vector<Eigen::Vector3d> forces(poses.size(), Eigen::Vector3d::Zero());
    if (!std::isfinite(d.energy)) return forces;
    std::vector<ContactPair> pairs;
    for (const PairBlock& block : d.blocks) pairs.push_back({block.a, block.b});
    const std::vector<PairUnits> units = pair_units(model, pairs);
    for (std::size_t k = 0; k < d.blocks.size(); ++k) {
        const PairBlock& block = d.blocks[k];
        if (block.gap <= kFar * units[k].length) continue;
        forces[static_cast<std::size_t>(block.a)] -= block.gradient.segment<3>(0);
        forces[static_cast<std::size_t>(block.b)] -= block.gradient.segment<3>(6);
    }
    return forces;
}

}  // namespace farfield::contact
