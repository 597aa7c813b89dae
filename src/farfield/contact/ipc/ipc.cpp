// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/ipc.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/ipc/placed.hpp"

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
    if (options.threads < 1) fail("IpcOptions: threads ", options.threads, ", expected >= 1");
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
    if (options.threads > 1) pool_ = std::make_unique<ThreadPool>(options.threads);
}

std::unique_ptr<ContactMemory> Ipc::make_memory() const {
    auto memory = std::make_unique<Memory>();
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    return memory;
}

Memory& Ipc::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || mine->pairs.size() != pairs_.size() || mine->now.size() != shapes_.size()) {
        fail("Ipc: memory was made by another contact model");
    }
    return *mine;
}

void Ipc::check(const Poses& poses, const Parameters& parameters) const {
    if (poses.size() != shapes_.size()) fail("Ipc: ", poses.size(), " poses, expected ", shapes_.size());
    if (parameters.friction.size() != static_cast<Eigen::Index>(shapes_.size())) {
        fail("Ipc: ", parameters.friction.size(), " friction coefficients, expected one per body: ", shapes_.size());
    }
    if (!(parameters.weight > 0.0)) fail("Ipc: weight ", parameters.weight, ", expected > 0 [J]");
}

double Ipc::coefficient(int pair, const Parameters& parameters) const {
    return parameters.friction[pairs_[at(pair)].friction_body];
}

double Ipc::weight(int pair, const Parameters& parameters) const {
    if (options_.scale.empty()) return parameters.weight;
    return parameters.weight * options_.scale[options_.scale.size() == 1 ? 0 : at(pair)];
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
void Ipc::for_each_pair(const std::vector<int>& list, Work&& work) const {
    const auto one = [&](int slot) { work(slot, list[at(slot)]); };
    if (pool_) {
        pool_->run(static_cast<int>(list.size()), std::cref(one));
    } else {
        for (int slot = 0; slot < static_cast<int>(list.size()); ++slot) one(slot);
    }
}

void Ipc::begin_step(const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory) const {
    check(previous, parameters);
    if (!(dt > 0.0)) fail("Ipc: dt ", dt, ", expected > 0 [s]");
    Memory& mine = own(memory);
    mine.dt = dt;
    mine.previous = previous;
    prepare(previous, mine.start);
    for (PairMemory& pair : mine.pairs) pair.friction.clear();
    find_near(previous, mine.start, mine);
    for_each_pair(mine.near, [&](int, int pair) { pair_lag(place(pair, mine.previous, mine.start), mine); });
}

double Ipc::energy(const Poses& poses, const Parameters& parameters, ContactMemory& memory) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    prepare(poses, mine.now);
    find_near(poses, mine.now, mine);
    for_each_pair(mine.near, [&](int, int pair) {
        const Placed now = place(pair, poses, mine.now);
        PairResult& result = mine.results[at(pair)];
        if (mine.previous.empty() || mine.pairs[at(pair)].friction.empty() || coefficient(pair, parameters) == 0.0) {
            pair_energy(now, nullptr, mine, result);
        } else {
            const Slip moved = slip(now, place(pair, mine.previous, mine.start), mine.dt);
            pair_energy(now, &moved, mine, result);
        }
    });
    double total = 0.0;
    for (const int pair : mine.near) {
        const PairResult& result = mine.results[at(pair)];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total += weight(pair, parameters) * (result.energy + coefficient(pair, parameters) * result.friction);
    }
    return total;
}

void Ipc::derivatives(const Poses& poses, const Parameters& parameters, ContactMemory& memory,
                      ContactDerivatives& out) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    prepare(poses, mine.now);
    find_near(poses, mine.now, mine);
    out.blocks.resize(mine.near.size());
    for_each_pair(mine.near, [&](int slot, int pair) {
        const Placed now = place(pair, poses, mine.now);
        PairResult& result = mine.results[at(pair)];
        const double own_weight = weight(pair, parameters), rubs = coefficient(pair, parameters);
        if (mine.previous.empty() || mine.pairs[at(pair)].friction.empty() || rubs == 0.0) {
            pair_derivatives(now, own_weight, rubs, nullptr, mine, result, out.blocks[at(slot)]);
        } else {
            const Slip moved = slip(now, place(pair, mine.previous, mine.start), mine.dt);
            pair_derivatives(now, own_weight, rubs, &moved, mine, result, out.blocks[at(slot)]);
        }
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(shapes_.size(), Vector6d::Zero());
    out.gaps = mine.gaps;
    std::size_t kept = 0;
    for (std::size_t slot = 0; slot < mine.near.size(); ++slot) {
        const int pair = mine.near[slot];
        const PairResult& result = mine.results[at(pair)];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = weight(pair, parameters) * coefficient(pair, parameters) * result.friction;
        out.energy += weight(pair, parameters) * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[at(pair)].a)] += result.wrench_a;
        out.wrench[at(pairs_[at(pair)].b)] += result.wrench_b;
        out.gaps[at(pair)] = out.blocks[slot].gap;
        if (result.energy == 0.0 && result.friction == 0.0) continue;  // near, but out of range
        if (kept != slot) out.blocks[kept] = out.blocks[slot];
        ++kept;
    }
    out.blocks.resize(kept);
}

void Ipc::vjp(const Poses& poses, const Poses& previous, double dt, const Parameters& parameters, ContactMemory& memory,
              const std::vector<Vector6d>& twists, ContactGradient& out) const {
    check(poses, parameters);
    check(previous, parameters);
    if (twists.size() != shapes_.size()) fail("Ipc: ", twists.size(), " twists, expected ", shapes_.size());
    Memory& mine = own(memory);
    mine.dt = dt;
    mine.previous = previous;
    prepare(poses, mine.now);
    prepare(previous, mine.start);
    mine.near.clear();
    for (int pair = 0; pair < static_cast<int>(pairs_.size()); ++pair) {
        double gap = 0.0;
        if (may_act(place(pair, poses, mine.now), gap) || may_act(place(pair, mine.previous, mine.start), gap))
            mine.near.push_back(pair);
    }
    for_each_pair(mine.near, [&](int, int pair) {
        PairResult& result = mine.results[at(pair)];
        const Placed now = place(pair, poses, mine.now), start = place(pair, mine.previous, mine.start);
        const Vector6d &twist_a = twists[at(now.a)], &twist_b = twists[at(now.b)];
        PairBlock unused;
        PairResult contact;
        pair_derivatives(now, 1.0, 0.0, nullptr, mine, contact, unused);
        if (!contact.finite) refuse_touching(now);
        result = {};
        result.phi = twist_a.dot(contact.wrench_a) + twist_b.dot(contact.wrench_b);
        pair_friction_vjp(start, slip(now, start, dt), twist_a, twist_b, mine, result);
    });
    out.previous_wrench.assign(shapes_.size(), Vector6d::Zero());
    out.friction = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(shapes_.size()));
    out.weight = 0.0;
    out.hull_vertices.resize(0, 3);
    for (const int pair : mine.near) {
        const PairResult& result = mine.results[at(pair)];
        const double rubs = coefficient(pair, parameters), own_weight = weight(pair, parameters);
        out.previous_wrench[at(pairs_[at(pair)].a)] += own_weight * rubs * result.previous.a;
        out.previous_wrench[at(pairs_[at(pair)].b)] += own_weight * rubs * result.previous.b;
        out.friction[pairs_[at(pair)].friction_body] += own_weight * result.friction_phi;
        out.weight += own_weight / parameters.weight * (result.phi + rubs * result.friction_phi);
    }
}

}  // namespace farfield::contact::ipc
