// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/long_range.hpp"

#include <cmath>
#include <limits>

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
    positive("near_range", options.near_range);
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
      options_(options),
      surfaces_(options.round_shapes ? round_geometry(geometry) : nullptr) {
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
        if (pair(index).near) forms_.back().range = options.near_range * units(index).length / lengths.back();
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
        shapes_.push_back(make_shape((surfaces_ ? *surfaces_ : geometry).bodies[body].mesh, blend));
    }
}

std::unique_ptr<PairwiseMemory> LongRange::new_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs().size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    memory->active.reserve(pairs().size());
    memory->gaps.resize(pairs().size());
    return memory;
}

double LongRange::sphere_gap(int index, const Poses& poses) const {
    const std::size_t a = static_cast<std::size_t>(pair(index).a), b = static_cast<std::size_t>(pair(index).b);
    const auto centre = [&](std::size_t body, const SphereTree& tree) {
        return Eigen::Vector3d(poses[body] * tree.center.front());
    };
    double gap = std::numeric_limits<double>::infinity();
    if (shapes_[a].has_mesh() && shapes_[b].has_mesh()) {
        const SphereTree &tree_a = shapes_[a].tree, &tree_b = shapes_[b].tree;
        gap = (centre(a, tree_a) - centre(b, tree_b)).norm() - (tree_a.radius.front() + tree_b.radius.front());
    }
    for (const HalfSpaceSide& side : half_space_sides(index)) {
        const std::size_t body = side.surface_first ? a : b;
        const Pose& ground = poses[side.surface_first ? b : a];
        const SphereTree& tree = shapes_[body].vertex_tree;
        const double height = (ground.rotation * side.half_space.normal).dot(centre(body, tree) - ground.position);
        gap = std::min(gap, height - side.half_space.offset * length(index) - tree.radius.front());
    }
    return gap;
}

void LongRange::find_active(const Poses& poses, bool at_start, Memory& memory,
                            std::vector<RotatedShape>& rotated) const {
    memory.active.clear();
    memory.seen.assign(shapes_.size(), 0);
    for (int index = 0; index < num_pairs(); ++index) {
        const auto k = static_cast<std::size_t>(index);
        const PotentialForm& form = forms_[k];
        if (form.near()) {
            memory.gaps[k] = sphere_gap(index, poses);
            PairMemory& cache = memory.pairs[k];
            if (at_start) cache.forget_start(half_space_sides(index).size());
            if (!(memory.gaps[k] < form.range * length(index)) && !cache.lagged()) continue;
        }
        memory.active.push_back(index);
        memory.seen[static_cast<std::size_t>(pair(index).a)] = memory.seen[static_cast<std::size_t>(pair(index).b)] = 1;
    }
    for (std::size_t body = 0; body < shapes_.size(); ++body) {
        if (memory.seen[body] != 0) rotated[body].update(shapes_[body], poses[body].rotation);
    }
}

void LongRange::move_to_start(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    find_active(poses, true, memory, memory.start);
}

void LongRange::move_to_now(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    find_active(poses, false, memory, memory.now);
}

SlipModel LongRange::slip_model(int index, double dt, bool fixed_plane) const {
    const double speed = slip_speed(index) / length(index);
    // A free plane splits the slip over both its sides, so each side needs half the speed.
    return {dt, fixed_plane ? speed * speed : 0.25 * speed * speed, 0.0};
}

}  // namespace farfield::contact::longrange
