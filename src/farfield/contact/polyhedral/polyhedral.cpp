// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/polyhedral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/pairwise/step_check.hpp"

namespace farfield::contact::polyhedral {

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

}  // namespace

std::unique_ptr<ContactMemory> Polyhedral::make_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    return memory;
}

Memory& Polyhedral::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || &mine->model != this) fail("Polyhedral: memory was made by another contact model");
    return *mine;
}

void Polyhedral::check(const Poses& poses) const {
    if (poses.size() != names_.size()) fail("Polyhedral: ", poses.size(), " poses, expected ", names_.size());
}

void Polyhedral::check(const Parameters& parameters) const {
    if (parameters.friction.size() != static_cast<Eigen::Index>(names_.size()))
        fail("Polyhedral: ", parameters.friction.size(),
             " friction coefficients, expected one per body: ", names_.size());
    if (parameters.hull_vertices.rows() != default_vertices_.rows())
        fail("Polyhedral: ", parameters.hull_vertices.rows(), " hull vertices, expected ", default_vertices_.rows());
    if (!(parameters.weight > 0.0)) fail("Polyhedral: weight ", parameters.weight, ", expected > 0 [J]");
}

PairScale Polyhedral::scale(int pair) const { return {weights_[at(pair)], length_, options_.margin}; }

SlipModel Polyhedral::slip_model(double dt, bool half_space) const {
    const double speed = options_.slip_speed;
    // A free plane splits the slip over both its sides, so each side needs half the speed. It has no spin of its own where both sides
    // touch in one point, hence the last number.
    return {dt, half_space ? speed * speed : 0.25 * speed * speed, half_space ? 0.0 : 1e-6};
}

HullColumns Polyhedral::columns(int hull, const Memory& memory) const {
    const auto first = at(hulls_[at(hull)].first);
    return {&memory.x[first], &memory.y[first], &memory.z[first], hulls_[at(hull)].count};
}

Polyhedral::Placed Polyhedral::place(int pair, const Poses& scaled) const {
    return {pair, &scaled[at(pairs_[at(pair)].a)], &scaled[at(pairs_[at(pair)].b)]};
}

void Polyhedral::scale_poses(const Poses& poses, Poses& scaled) const {
    scaled.resize(poses.size());
    for (std::size_t body = 0; body < poses.size(); ++body)
        scaled[body] = {poses[body].rotation, poses[body].position / length_};
}

void Polyhedral::take_vertices(const Parameters& parameters, Memory& memory) const {
    const auto& v = parameters.hull_vertices;
    if (memory.hull_local.size() == hulls_.size() && memory.vertices == v) return;
    memory.vertices = v;
    const auto count = static_cast<std::size_t>(v.rows());
    memory.x.resize(count);
    memory.y.resize(count);
    memory.z.resize(count);
    for (std::size_t m = 0; m < count; ++m) {
        const auto row = static_cast<Eigen::Index>(m);
        memory.x[m] = v(row, 0) / length_;
        memory.y[m] = v(row, 1) / length_;
        memory.z[m] = v(row, 2) / length_;
    }
    memory.hull_local.resize(hulls_.size());
    for (std::size_t h = 0; h < hulls_.size(); ++h) {
        const auto rows = v.middleRows(hulls_[h].first, hulls_[h].count);
        const Eigen::Vector3d low = rows.colwise().minCoeff().transpose(), high = rows.colwise().maxCoeff().transpose();
        memory.hull_local[h] = {0.5 * (low + high), 0.5 * (high - low)};
    }
}

void Polyhedral::broad_phase(const Poses& poses, bool rebuild, Memory& memory) const {
    memory.hull_world.resize(hulls_.size());
    memory.body_world.assign(poses.size(), Box{});
    for (std::size_t h = 0; h < hulls_.size(); ++h) {
        const auto body = at(hulls_[h].body);
        memory.hull_world[h] = placed(memory.hull_local[h], poses[body]);
        memory.body_world[body].add(memory.hull_world[h]);
    }
    if (rebuild || !memory.tree.built()) {
        memory.tree.build(memory.body_world);
    } else {
        memory.tree.update(memory.body_world);
    }
    memory.tree.find_pairs(range_, memory.found);
}

void Polyhedral::list_near(int pair, Memory& memory) const {
    PairMemory& mine = memory.pairs[at(pair)];
    const int body_a = pairs_[at(pair)].a, body_b = pairs_[at(pair)].b;
    const Box &box_a = memory.body_world[at(body_a)], &box_b = memory.body_world[at(body_b)];
    std::vector<HullPair> near;
    auto old = mine.near.begin();
    for (const int a : hulls_of_[at(body_a)]) {
        const Box& hull_a = memory.hull_world[at(a)];
        if (!within(hull_a, box_b, range_)) {
            mine.box_gap = std::min(mine.box_gap, box_distance(hull_a, box_b));
            continue;
        }
        for (const int b : hulls_of_[at(body_b)]) {
            const Box& hull_b = memory.hull_world[at(b)];
            if (!within(box_a, hull_b, range_) || !within(hull_a, hull_b, range_)) {
                mine.box_gap = std::min(mine.box_gap, box_distance(hull_a, hull_b));
                continue;
            }
            const auto before = [&](const HullPair& p) { return std::pair(p.a, p.b) < std::pair(a, b); };
            while (old != mine.near.end() && before(*old)) ++old;
            const bool known = old != mine.near.end() && old->a == a && old->b == b;
            near.push_back({a, b, known ? old->warm : WarmPlane{}, {}});
        }
    }
    mine.near.swap(near);
}

void Polyhedral::list_half_spaces(int pair, const Poses& poses, Memory& memory) const {
    PairMemory& mine = memory.pairs[at(pair)];
    mine.half_spaces.clear();
    int index = 0;
    const auto one_side = [&](int ground, int body) {
        const Box& box = memory.body_world[at(body)];
        for (const HalfSpace& half : half_spaces_[at(ground)]) {
            const int k = index++;
            if (box.empty()) continue;
            const Eigen::Vector3d n = poses[at(ground)].rotation * half.normal;
            const double height =
                n.dot(box.centre - poses[at(ground)].position) - half.offset - n.cwiseAbs().dot(box.half);
            if (height < range_) {
                mine.half_spaces.push_back(k);
            } else {
                mine.box_gap = std::min(mine.box_gap, height);
            }
        }
    };
    one_side(pairs_[at(pair)].a, pairs_[at(pair)].b);
    one_side(pairs_[at(pair)].b, pairs_[at(pair)].a);
}

void Polyhedral::find_work(const Poses& poses, bool rebuild, Memory& memory) const {
    scale_poses(poses, memory.scaled);
    memory.work.clear();
    broad_phase(poses, rebuild, memory);
    for (const auto& [a, b] : memory.found) {
        const auto& partners = partners_[at(a)];
        const auto it = std::lower_bound(partners.begin(), partners.end(), std::pair(b, -1));
        if (it != partners.end() && it->first == b) memory.work.push_back(it->second);
    }
    memory.work.insert(memory.work.end(), half_space_pairs_.begin(), half_space_pairs_.end());
    memory.work.insert(memory.work.end(), memory.lagged.begin(), memory.lagged.end());
    std::sort(memory.work.begin(), memory.work.end());
    memory.work.erase(std::unique(memory.work.begin(), memory.work.end()), memory.work.end());
    for (const int pair : memory.work) {
        memory.pairs[at(pair)].box_gap = std::numeric_limits<double>::infinity();
        list_near(pair, memory);
        list_half_spaces(pair, poses, memory);
    }
}

template <class Work>
void Polyhedral::for_each_pair(const Memory& memory, Work&& work) const {
    run_chunks(memory.pool, static_cast<int>(memory.work.size()), [&](int slot) { work(slot, memory.work[at(slot)]); });
}

ContactStep& Polyhedral::begin_step(const Poses& previous, double dt, const Parameters& parameters,
                                    ContactMemory& memory, StepMode mode) const {
    check(previous);
    check(parameters);
    if (!(dt > 0.0)) fail("Polyhedral: dt ", dt, ", expected > 0 [s]");
    Memory& step = own(memory);
    step.mode = mode;
    step.dt = dt;
    step.weight = parameters.weight / default_weight_;
    step.linearized = false;
    step.coefficients.resize(pairs_.size());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        step.coefficients[pair] =
            mode == StepMode::Frictionless ? 0.0 : parameters.friction[pairs_[pair].friction_body];
    }
    for (const int pair : step.lagged) step.pairs[at(pair)].lagged.clear();
    step.lagged.clear();
    take_vertices(parameters, step);
    if (mode == StepMode::Frictionless) return step;
    find_work(previous, true, step);
    step.previous = step.scaled;
    for_each_pair(step, [&](int, int pair) { pair_lag(place(pair, step.previous), step); });
    for (const int pair : step.work) {
        if (!step.pairs[at(pair)].lagged.empty()) step.lagged.push_back(pair);
    }
    return step;
}

double Polyhedral::energy(const Poses& poses, Memory& step) const {
    check(poses);
    step.linearized = false;
    find_work(poses, false, step);
    for_each_pair(step, [&](int, int pair) {
        pair_energy(place(pair, step.scaled), step.coefficients[at(pair)] != 0.0, step, step.results[at(pair)]);
    });
    double total = 0.0;
    for (const int pair : step.work) {
        const PairResult& result = step.results[at(pair)];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total += result.energy + step.coefficients[at(pair)] * result.friction;
    }
    return step.weight * total;
}

void Polyhedral::linearize(const Poses& poses, Memory& step, ContactLinearization& out) const {
    check(poses);
    step.linearized = false;
    find_work(poses, false, step);
    out.blocks.resize(step.work.size());
    for_each_pair(step, [&](int slot, int pair) {
        PairBlock& block = out.blocks[at(slot)];
        block.a = pairs_[at(pair)].a;
        block.b = pairs_[at(pair)].b;
        pair_derivatives(place(pair, step.scaled), step.coefficients[at(pair)], step, step.results[at(pair)], block);
        block.hessian *= step.weight;
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(names_.size(), Vector6d::Zero());
    out.gaps.resize(pairs_.size());
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const Box &a = step.body_world[at(pairs_[k].a)], &b = step.body_world[at(pairs_[k].b)];
        out.gaps[k] = a.empty() || b.empty() ? std::numeric_limits<double>::infinity() : box_distance(a, b);
    }
    for (std::size_t k = 0; k < step.work.size(); ++k) {
        const int pair = step.work[k];
        const PairResult& result = step.results[at(pair)];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = step.weight * step.coefficients[at(pair)] * result.friction;
        out.energy += step.weight * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[at(pair)].a)] += step.weight * result.gradient.head<6>();
        out.wrench[at(pairs_[at(pair)].b)] += step.weight * result.gradient.tail<6>();
        out.gaps[at(pair)] = out.blocks[k].gap = result.gap;
    }
    step.linearized = true;
}

void Polyhedral::vjp(std::span<const Twists> directions, Memory& step, std::span<ContactGradient> out) const {
    check_vjp("Polyhedral", names_.size(), step.mode, step.linearized, directions, out.size());
    step.adjoints.resize(directions.size() * pairs_.size());
    for_each_pair(step, [&](int, int pair) {
        const Placed now = place(pair, step.scaled), start = place(pair, step.previous);
        for (std::size_t k = 0; k < directions.size(); ++k) {
            PairAdjoint& adjoint = step.adjoints[k * pairs_.size() + at(pair)];
            adjoint.clear();
            pair_contact_vjp(now, directions[k], step, adjoint);
            pair_friction_vjp(now, start, directions[k], step, adjoint);
        }
    });
    for (std::size_t k = 0; k < directions.size(); ++k) {
        ContactGradient& gradient = out[k];
        gradient.previous_wrench.assign(names_.size(), Vector6d::Zero());
        gradient.friction.setZero(static_cast<Eigen::Index>(names_.size()));
        gradient.hull_vertices.setZero(default_vertices_.rows(), 3);
        gradient.weight = 0.0;
        for (const int pair : step.work) {
            const PairAdjoint& adjoint = step.adjoints[k * pairs_.size() + at(pair)];
            const std::size_t a = at(pairs_[at(pair)].a), b = at(pairs_[at(pair)].b);
            const double scale = step.weight * step.coefficients[at(pair)];
            gradient.previous_wrench[a] += scale * adjoint.previous_a;
            gradient.previous_wrench[b] += scale * adjoint.previous_b;
            gradient.friction[pairs_[at(pair)].friction_body] += step.weight * adjoint.friction_phi;
            // The whole energy is proportional to the weight.
            const Vector12d& wrench = step.results[at(pair)].gradient;
            gradient.weight +=
                (directions[k][a].dot(wrench.head<6>()) + directions[k][b].dot(wrench.tail<6>())) / default_weight_;
            for (const auto& [row, bar] : adjoint.vertices)
                gradient.hull_vertices.row(row) += step.weight * bar.transpose();
            for (const auto& [row, bar] : adjoint.friction_vertices)
                gradient.hull_vertices.row(row) += scale * bar.transpose();
        }
    }
}

}  // namespace farfield::contact::polyhedral
