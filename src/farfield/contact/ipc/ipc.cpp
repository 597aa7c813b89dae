// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/ipc.hpp"

#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/ipc/placed.hpp"
#include "farfield/contact/pairwise/step_check.hpp"

namespace farfield::contact::ipc {

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

}  // namespace

void validate(const IpcOptions& options, int num_pairs) {
    const auto positive = [](const char* name, double value) {
        if (!(value > 0.0) || !std::isfinite(value)) fail("IpcOptions: ", name, " ", value, ", expected > 0");
    };
    positive("range", options.range);
    positive("length_scale", options.length_scale);
    positive("slip_speed", options.slip_speed);
    for (const double value : options.scale) positive("scale", value);
    if (options.scale.size() > 1 && options.scale.size() != at(num_pairs)) {
        fail("IpcOptions: scale has ", options.scale.size(), " entries, expected none, one, or ", num_pairs);
    }
}

Ipc::Ipc(const CollisionGeometry& geometry, const IpcOptions& options)
    : options_(options),
      barrier_(options.form, options.form == Form::Clamped ? options.range : options.length_scale),
      pairs_(geometry.pairs) {
    const int num_bodies = static_cast<int>(geometry.bodies.size());
    validate(options, static_cast<int>(pairs_.size()));
    std::size_t triangles = 0;
    for (const CollisionBody& body : geometry.bodies) {
        shapes_.push_back(make_shape(body));
        names_.push_back(body.name);
        triangles += shapes_.back().triangles.size();
    }
    if (options.form == Form::Global && triangles > at(kMaxGlobalTriangles)) {
        fail("Ipc: the global form looks at all pairs of features: ", triangles, " triangles, expected at most ",
             kMaxGlobalTriangles, "; use Ipc or LongRange");
    }
    for (const ContactPair& pair : pairs_) {
        if (pair.a < 0 || pair.a >= pair.b || pair.b >= num_bodies) {
            fail("Ipc: pair (", pair.a, ", ", pair.b, "), expected 0 <= a < b < ", num_bodies);
        }
        if (pair.friction_body != pair.a && pair.friction_body != pair.b) {
            fail("Ipc: friction_body ", pair.friction_body, " of pair (", pair.a, ", ", pair.b, ") is not in the pair");
        }
    }
}

std::unique_ptr<ContactMemory> Ipc::make_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    return memory;
}

Memory& Ipc::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || &mine->model != this) fail("Ipc: memory was made by another contact model");
    return *mine;
}

void Ipc::check(const Poses& poses) const {
    if (poses.size() != shapes_.size()) fail("Ipc: ", poses.size(), " poses, expected ", shapes_.size());
}

void Ipc::check(const Parameters& parameters) const {
    if (parameters.friction.size() != static_cast<Eigen::Index>(shapes_.size())) {
        fail("Ipc: ", parameters.friction.size(), " friction coefficients, expected one per body: ", shapes_.size());
    }
    if (!(parameters.weight > 0.0)) fail("Ipc: weight ", parameters.weight, ", expected > 0 [J]");
}

void Ipc::prepare(const Poses& poses, std::vector<PlacedShape>& placed) const {
    for (std::size_t body = 0; body < poses.size(); ++body)
        placed[body] = ipc::place(shapes_[body], poses[body].rotation);
}

Ipc::Placed Ipc::place(int pair, const Poses& poses, const std::vector<PlacedShape>& placed) const {
    const std::size_t a = at(pairs_[at(pair)].a), b = at(pairs_[at(pair)].b);
    return Placed(pair, pairs_[at(pair)], shapes_[a], shapes_[b], placed[a], placed[b], poses[a], poses[b]);
}

Slip Ipc::slip(const Placed& now, const Placed& start, double dt) const {
    const auto motion = [](const Pose& from, const Pose& to, const Eigen::Vector3d& origin) -> BodyMotion {
        return {origin, to.rotation * from.rotation.transpose(), to.position - from.position};
    };
    return {motion(*start.pose_a, *now.pose_a, start.origin_a), motion(*start.pose_b, *now.pose_b, start.origin_b),
            options_.slip_speed * dt};
}

bool Ipc::may_act(const Placed& p, double& gap) const {
    gap = p.meshes() ? p.sphere_gap() : std::numeric_limits<double>::infinity();
    for_each_half_space(
        p, [&](const Facing& facing) { gap = std::min(gap, facing.center_height - facing.mesh->tree.root().radius); });
    return barrier_.form() == Form::Global || gap < options_.range;
}

void Ipc::find_near(const Poses& poses, const std::vector<PlacedShape>& placed, Memory& memory) const {
    memory.near.clear();
    memory.gaps.resize(pairs_.size());
    for (int pair = 0; pair < static_cast<int>(pairs_.size()); ++pair) {
        if (may_act(place(pair, poses, placed), memory.gaps[at(pair)]) || !memory.pairs[at(pair)].friction.empty())
            memory.near.push_back(pair);
    }
}

template <class Work>
void Ipc::for_each_pair(const Memory& memory, Work&& work) const {
    run_chunks(memory.pool, static_cast<int>(memory.near.size()), [&](int slot) { work(slot, memory.near[at(slot)]); });
}

ContactStep& Ipc::begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
                             StepMode mode) const {
    check(previous);
    check(parameters);
    if (!(dt > 0.0)) fail("Ipc: dt ", dt, ", expected > 0 [s]");
    Memory& step = own(memory);
    step.mode = mode;
    step.dt = dt;
    step.weight = parameters.weight;
    step.linearized = false;
    step.coefficients.resize(pairs_.size());
    step.weights.resize(pairs_.size());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        step.coefficients[pair] =
            mode == StepMode::Frictionless ? 0.0 : parameters.friction[pairs_[pair].friction_body];
        step.weights[pair] = parameters.weight;
        if (!options_.scale.empty()) step.weights[pair] *= options_.scale[options_.scale.size() == 1 ? 0 : pair];
        step.pairs[pair].friction.clear();
    }
    if (mode == StepMode::Frictionless) return step;
    step.previous = previous;
    prepare(previous, step.start);
    find_near(previous, step.start, step);
    for_each_pair(step, [&](int, int pair) { pair_lag(place(pair, step.previous, step.start), step); });
    return step;
}

double Ipc::energy(const Poses& poses, Memory& step) const {
    check(poses);
    step.linearized = false;
    prepare(poses, step.now);
    find_near(poses, step.now, step);
    for_each_pair(step, [&](int, int pair) {
        const Placed now = place(pair, poses, step.now);
        PairResult& result = step.results[at(pair)];
        if (step.pairs[at(pair)].friction.empty() || step.coefficients[at(pair)] == 0.0) {
            pair_energy(now, nullptr, step, result);
        } else {
            const Slip moved = slip(now, place(pair, step.previous, step.start), step.dt);
            pair_energy(now, &moved, step, result);
        }
    });
    double total = 0.0;
    for (const int pair : step.near) {
        const PairResult& result = step.results[at(pair)];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total += step.weights[at(pair)] * (result.energy + step.coefficients[at(pair)] * result.friction);
    }
    return total;
}

void Ipc::linearize(const Poses& poses, Memory& step, ContactLinearization& out) const {
    check(poses);
    step.linearized = false;
    step.poses = poses;
    prepare(poses, step.now);
    find_near(poses, step.now, step);
    out.blocks.resize(step.near.size());
    for_each_pair(step, [&](int slot, int pair) {
        const Placed now = place(pair, poses, step.now);
        PairResult& result = step.results[at(pair)];
        const double weight = step.weights[at(pair)], coefficient = step.coefficients[at(pair)];
        if (step.pairs[at(pair)].friction.empty() || coefficient == 0.0) {
            pair_derivatives(now, weight, coefficient, nullptr, step, result, out.blocks[at(slot)]);
        } else {
            const Slip moved = slip(now, place(pair, step.previous, step.start), step.dt);
            pair_derivatives(now, weight, coefficient, &moved, step, result, out.blocks[at(slot)]);
        }
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(shapes_.size(), Vector6d::Zero());
    out.gaps = step.gaps;
    std::size_t kept = 0;
    for (std::size_t slot = 0; slot < step.near.size(); ++slot) {
        const int pair = step.near[slot];
        const PairResult& result = step.results[at(pair)];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = step.weights[at(pair)] * step.coefficients[at(pair)] * result.friction;
        out.energy += step.weights[at(pair)] * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[at(pair)].a)] += result.wrench_a;
        out.wrench[at(pairs_[at(pair)].b)] += result.wrench_b;
        out.gaps[at(pair)] = out.blocks[slot].gap;
        if (result.energy == 0.0 && result.friction == 0.0) continue;  // near, but out of range
        if (kept != slot) out.blocks[kept] = out.blocks[slot];
        ++kept;
    }
    out.blocks.resize(kept);
    step.linearized = true;
}

void Ipc::vjp(std::span<const Twists> directions, Memory& step, std::span<ContactGradient> out) const {
    check_vjp("Ipc", shapes_.size(), step.mode, step.linearized, directions, out.size());
    step.adjoints.assign(directions.size() * pairs_.size(), {});
    for_each_pair(step, [&](int, int pair) {
        if (step.pairs[at(pair)].friction.empty()) return;
        const Placed now = place(pair, step.poses, step.now), start = place(pair, step.previous, step.start);
        pair_friction_vjp(start, slip(now, start, step.dt), directions, step);
    });
    for (std::size_t k = 0; k < directions.size(); ++k) {
        ContactGradient& gradient = out[k];
        gradient.previous_wrench.assign(shapes_.size(), Vector6d::Zero());
        gradient.friction.setZero(static_cast<Eigen::Index>(shapes_.size()));
        gradient.weight = 0.0;
        gradient.hull_vertices.resize(0, 3);
        for (const int pair : step.near) {
            const PairAdjoint& adjoint = step.adjoints[k * pairs_.size() + at(pair)];
            const PairResult& result = step.results[at(pair)];
            const std::size_t a = at(pairs_[at(pair)].a), b = at(pairs_[at(pair)].b);
            const double weight = step.weights[at(pair)], scale = weight * step.coefficients[at(pair)];
            gradient.previous_wrench[a] += scale * adjoint.previous.a;
            gradient.previous_wrench[b] += scale * adjoint.previous.b;
            gradient.friction[pairs_[at(pair)].friction_body] += weight * adjoint.friction_phi;
            // The whole energy is proportional to the weight.
            gradient.weight +=
                (directions[k][a].dot(result.wrench_a) + directions[k][b].dot(result.wrench_b)) / step.weight;
        }
    }
}

}  // namespace farfield::contact::ipc
