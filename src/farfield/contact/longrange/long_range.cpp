// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/long_range.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "farfield/base/error.hpp"

namespace farfield::contact::longrange {

void validate(const LongRangeOptions& options, int num_bodies) {
    const std::size_t blends = options.blend.size();
    if (blends > 1 && blends != static_cast<std::size_t>(num_bodies)) {
        fail("LongRangeOptions: blend has ", blends, " entries, expected none, one, or ", num_bodies);
    }
    for (const double value : options.blend) {
        if (!(value >= 0.0) || !std::isfinite(value)) fail("LongRangeOptions: blend ", value, ", expected >= 0");
    }
    const auto positive = [](const char* name, double value) {
        if (!(value > 0.0) || !std::isfinite(value)) fail("LongRangeOptions: ", name, " ", value, ", expected > 0");
    };
    positive("stiffness", options.stiffness);
    if (options.weight_in_joules) positive("weight_in_joules", *options.weight_in_joules);
    positive("length_scale", options.length_scale);
    positive("slip_speed", options.slip_speed);
    positive("energy_tolerance", options.energy_tolerance);
    positive("derivative_tolerance", options.derivative_tolerance);
}

std::vector<double> automatic_weights(const CollisionGeometry& geometry) {
    constexpr double kEverydayWeight = 1e-7;  // [J]
    return std::vector<double>(geometry.pairs.size(), kEverydayWeight);
}

LongRange::LongRange(const Model& model, const LongRangeOptions& options)
    : LongRange(model.collision(), options, &model.default_parameters(), automatic_weights(model.collision())) {}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options)
    : LongRange(geometry, options, nullptr, std::vector<double>(geometry.pairs.size(), 1.0)) {}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options, const Parameters* defaults,
                     std::vector<double> weights)
    : PairwisePotential({.name = "LongRange", .geometry = geometry, .pairs = geometry.pairs, .defaults = defaults}),
      options_(options),
      form_{options.zero_offset ? 0.0 : kFarValue, options.area_weights, !options.brute_force} {
    validate(options, static_cast<int>(geometry.bodies.size()));
    set_weights(options.stiffness, options.weight_in_joules, std::move(weights));
    set_length(options.length_scale);
    for (std::size_t body = 0; body < geometry.bodies.size(); ++body) {
        const double blend = options.blend.empty() ? 0.0 : options.blend[options.blend.size() == 1 ? 0 : body];
        shapes_.push_back(make_shape(geometry.bodies[body].mesh, blend, options.length_scale));
    }
}

std::unique_ptr<PairwiseMemory> LongRange::new_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs().size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    memory->active.resize(pairs().size());
    std::iota(memory->active.begin(), memory->active.end(), 0);
    memory->gaps.resize(pairs().size());
    return memory;
}

void LongRange::move_to_start(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    for (std::size_t body = 0; body < shapes_.size(); ++body)
        memory.start[body].update(shapes_[body], poses[body].rotation);
}

void LongRange::move_to_now(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    for (std::size_t body = 0; body < shapes_.size(); ++body)
        memory.now[body].update(shapes_[body], poses[body].rotation);
}

SlipModel LongRange::slip_model(double dt, bool fixed_plane) const {
    const double speed = options_.slip_speed / options_.length_scale;
    // A free plane splits the slip over both its sides, so each side needs half the speed.
    return {dt, fixed_plane ? speed * speed : 0.25 * speed * speed, 0.0};
}

}  // namespace farfield::contact::longrange
