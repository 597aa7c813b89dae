// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/ipc.hpp"

#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/contact/ipc/automatic.hpp"
#include "farfield/contact/ipc/pair_view.hpp"

namespace farfield::contact::ipc {

void validate(const IpcOptions& options) {
    const auto positive = [](const char* name, double value) {
        if (!(value > 0.0) || !std::isfinite(value)) fail("IpcOptions: ", name, " ", value, ", expected > 0");
    };
    positive("stiffness", options.stiffness);
    if (options.weight_in_joules) positive("weight_in_joules", *options.weight_in_joules);
    if (options.range) positive("range", *options.range);
    if (options.length_scale) positive("length_scale", *options.length_scale);
    if (options.slip_speed) positive("slip_speed", *options.slip_speed);
}

Ipc::Ipc(const Model& model, const IpcOptions& options) : Ipc(model.collision(), options, &model) {}

Ipc::Ipc(const CollisionGeometry& geometry, const IpcOptions& options) : Ipc(geometry, options, nullptr) {}

Ipc::Ipc(const CollisionGeometry& geometry, const IpcOptions& options, const Model* model)
    : PairwisePotential({.name = "Ipc", .geometry = geometry, .pairs = geometry.pairs, .model = model}) {
    validate(options);
    const bool automatic = model != nullptr;
    std::vector<double> weights;
    for (int index = 0; index < num_pairs(); ++index) {
        const PairUnits& scale = units(index);
        const double range = options.range.value_or(automatic_range(scale));
        const bool by_pair = automatic && !options.weight_in_joules;
        const double length = options.length_scale.value_or(by_pair ? automatic_length(scale) : 1.0);
        barriers_.emplace_back(options.form, options.form == Form::Clamped ? range : length);
        weights.push_back(automatic ? automatic_weight(scale, options.form, range) : 1.0);
    }
    set_weights(options.stiffness, options.weight_in_joules, std::move(weights));
    set_slip_speeds(options.slip_speed);
    std::size_t triangles = 0;
    for (const CollisionBody& body : geometry.bodies) {
        shapes_.push_back(make_shape(body.mesh));
        triangles += shapes_.back().triangles.size();
    }
    if (options.form == Form::Global && triangles > at(kMaxGlobalTriangles)) {
        fail("Ipc: the global form looks at all pairs of features: ", triangles, " triangles, expected at most ",
             kMaxGlobalTriangles, "; use Ipc or LongRange");
    }
}

std::unique_ptr<PairwiseMemory> Ipc::new_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs().size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    return memory;
}

std::vector<double> Memory::save() const { return {static_cast<double>(pairs.size())}; }

void Memory::restore(const std::vector<double>& values) {
    if (values.size() != 1 || values[0] != static_cast<double>(pairs.size())) {
        fail("contact memory: ", values.size(), " values do not describe ", pairs.size(), " pairs of the IPC model");
    }
    for (PairMemory& pair : pairs) pair = {};
    forget_step();
}

void Ipc::find_active(const Poses& poses, const std::vector<WorldShape>& world, Memory& memory) const {
    memory.active.clear();
    memory.gaps.resize(pairs().size());
    for (int index = 0; index < num_pairs(); ++index) {
        const PairView view(pair(index), shapes_, world, poses);
        double& gap = memory.gaps[at(index)];
        gap = view.meshes() ? view.sphere_gap() : std::numeric_limits<double>::infinity();
        for (const HalfSpaceSide& side : half_space_sides(index)) gap = std::min(gap, SideView(side, view).sphere_gap);
        if (gap < barrier(index).range() || !memory.pairs[at(index)].friction.empty()) memory.active.push_back(index);
    }
}

void Ipc::move_to_start(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    for (PairMemory& pair : memory.pairs) pair.friction.clear();
    for (std::size_t body = 0; body < shapes_.size(); ++body)
        memory.start[body] = in_world(shapes_[body], poses[body].rotation);
    find_active(poses, memory.start, memory);
}

void Ipc::move_to_now(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    for (std::size_t body = 0; body < shapes_.size(); ++body)
        memory.now[body] = in_world(shapes_[body], poses[body].rotation);
    find_active(poses, memory.now, memory);
}

}  // namespace farfield::contact::ipc
