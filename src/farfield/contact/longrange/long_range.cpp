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
    if (options.length_scale) positive("length_scale", *options.length_scale);
    if (options.slip_speed) positive("slip_speed", *options.slip_speed);
    positive("energy_tolerance", options.energy_tolerance);
    positive("derivative_tolerance", options.derivative_tolerance);
}

double automatic_length(const PairUnits& units) { return 10.0 * units.length; }

double automatic_weight(const PairUnits& units, LeafWeights leaf_weights) {
    return (leaf_weights == LeafWeights::Parallel ? 2e-6 : 1e-7) * units.energy();
}

LongRange::LongRange(const Model& model, const LongRangeOptions& options)
    : LongRange(model.collision(), options, &model) {}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options)
    : LongRange(geometry, options, nullptr) {}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options, const Model* model)
    : PairwisePotential({.name = "LongRange", .geometry = geometry, .pairs = geometry.pairs, .model = model}),
      options_(options) {
    validate(options, static_cast<int>(geometry.bodies.size()));
    const bool automatic = model != nullptr;
    std::vector<double> weights, lengths;
    for (int index = 0; index < num_pairs(); ++index) {
        weights.push_back(automatic ? automatic_weight(units(index), options.leaf_weights) : 1.0);
        const bool by_pair = automatic && !options.weight_in_joules;
        lengths.push_back(options.length_scale.value_or(by_pair ? automatic_length(units(index)) : 1.0));
        forms_.push_back({.far_value = options.zero_offset ? 0.0 : kFarValue,
                          .hierarchy = !options.brute_force,
                          .scale = 1.0 / lengths.back(),
                          .parallel_areas = options.leaf_weights == LeafWeights::Parallel,
                          .inverse_area = 1.0 / units(index).area()});
    }
    set_weights(options.stiffness, options.weight_in_joules, std::move(weights));
    set_lengths(std::move(lengths));
    set_slip_speeds(options.slip_speed);
    for (int index = 0; index < num_pairs(); ++index) {
        ramps_.push_back(options.leaf_weights == LeafWeights::Parallel
                             ? make_ramp(units(index), pair_weights()[static_cast<std::size_t>(index)], length(index))
                             : FrictionRamp{});
    }
    for (std::size_t body = 0; body < geometry.bodies.size(); ++body) {
        const double blend = options.blend.empty() ? 0.0 : options.blend[options.blend.size() == 1 ? 0 : body];
        shapes_.push_back(make_shape(geometry.bodies[body].mesh, blend));
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

SlipModel LongRange::slip_model(int index, double dt, bool fixed_plane) const {
    const double speed = slip_speed(index) / length(index);
    // A free plane splits the slip over both its sides, so each side needs half the speed.
    return {dt, fixed_plane ? speed * speed : 0.25 * speed * speed, 0.0};
}

}  // namespace farfield::contact::longrange
