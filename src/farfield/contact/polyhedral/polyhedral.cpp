// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/polyhedral.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"

namespace farfield::contact::polyhedral {

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

}  // namespace

std::unique_ptr<ContactMemory> Polyhedral::make_memory() const {
    auto memory = std::make_unique<Memory>();
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    return memory;
}

Memory& Polyhedral::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || mine->pairs.size() != pairs_.size())
        fail("Polyhedral: memory was made by another contact model");
    return *mine;
}

void Polyhedral::check(const Poses& poses, const Parameters& parameters) const {
    if (poses.size() != names_.size()) fail("Polyhedral: ", poses.size(), " poses, expected ", names_.size());
    if (parameters.friction.size() != static_cast<Eigen::Index>(names_.size()))
        fail("Polyhedral: ", parameters.friction.size(),
             " friction coefficients, expected one per body: ", names_.size());
    if (parameters.hull_vertices.rows() != default_vertices_.rows())
        fail("Polyhedral: ", parameters.hull_vertices.rows(), " hull vertices, expected ", default_vertices_.rows());
    if (!(parameters.weight > 0.0)) fail("Polyhedral: weight ", parameters.weight, ", expected > 0 [J]");
}

double Polyhedral::coefficient(int pair, const Parameters& parameters) const {
    return parameters.friction[pairs_[at(pair)].friction_body];
}

double Polyhedral::relative_weight(const Parameters& parameters) const { return parameters.weight / default_weight_; }

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
            near.push_back({a, b, known ? old->warm : WarmPlane{}});
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

void Polyhedral::find_work(const Poses& poses, const Parameters& parameters, bool rebuild, Memory& memory) const {
    take_vertices(parameters, memory);
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
void Polyhedral::for_each_pair(const std::vector<int>& list, Work&& work) const {
    const auto one = [&](int k) { work(k, list[at(k)]); };
    const int count = static_cast<int>(list.size());
    if (pool_) {
        pool_->run(count, std::cref(one));
    } else {
        for (int k = 0; k < count; ++k) one(k);
    }
}

void Polyhedral::begin_step(const Poses& previous, double dt, const Parameters& parameters,
                            ContactMemory& memory) const {
    check(previous, parameters);
    if (!(dt > 0.0)) fail("Polyhedral: dt ", dt, ", expected > 0 [s]");
    Memory& mine = own(memory);
    mine.dt = dt;
    for (const int pair : mine.lagged) mine.pairs[at(pair)].lagged.clear();
    mine.lagged.clear();
    find_work(previous, parameters, true, mine);
    mine.previous = mine.scaled;
    for_each_pair(mine.work, [&](int, int pair) { pair_lag(place(pair, mine.previous), mine); });
    for (const int pair : mine.work) {
        if (!mine.pairs[at(pair)].lagged.empty()) mine.lagged.push_back(pair);
    }
}

double Polyhedral::energy(const Poses& poses, const Parameters& parameters, ContactMemory& memory) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    find_work(poses, parameters, false, mine);
    for_each_pair(mine.work, [&](int, int pair) {
        pair_energy(place(pair, mine.scaled), coefficient(pair, parameters) != 0.0, mine, mine.results[at(pair)]);
    });
    double total = 0.0;
    for (const int pair : mine.work) {
        const PairResult& result = mine.results[at(pair)];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total += result.energy + coefficient(pair, parameters) * result.friction;
    }
    return relative_weight(parameters) * total;
}

void Polyhedral::derivatives(const Poses& poses, const Parameters& parameters, ContactMemory& memory,
                             ContactDerivatives& out) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    find_work(poses, parameters, false, mine);
    out.blocks.resize(mine.work.size());
    const double weight = relative_weight(parameters);
    for_each_pair(mine.work, [&](int slot, int pair) {
        PairBlock& block = out.blocks[at(slot)];
        block.a = pairs_[at(pair)].a;
        block.b = pairs_[at(pair)].b;
        pair_derivatives(place(pair, mine.scaled), coefficient(pair, parameters), mine, mine.results[at(pair)], block);
        block.hessian *= weight;
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(names_.size(), Vector6d::Zero());
    out.gaps.resize(pairs_.size());
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        const Box &a = mine.body_world[at(pairs_[k].a)], &b = mine.body_world[at(pairs_[k].b)];
        out.gaps[k] = a.empty() || b.empty() ? std::numeric_limits<double>::infinity() : box_distance(a, b);
    }
    for (std::size_t k = 0; k < mine.work.size(); ++k) {
        const int pair = mine.work[k];
        const PairResult& result = mine.results[at(pair)];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = weight * coefficient(pair, parameters) * result.friction;
        out.energy += weight * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[at(pair)].a)] += weight * result.gradient.head<6>();
        out.wrench[at(pairs_[at(pair)].b)] += weight * result.gradient.tail<6>();
        out.gaps[at(pair)] = out.blocks[k].gap = result.gap;
    }
}

void Polyhedral::vjp(const Poses& poses, const Poses& previous, double dt, const Parameters& parameters,
                     ContactMemory& memory, const std::vector<Vector6d>& twists, ContactGradient& out) const {
    if (twists.size() != names_.size()) fail("Polyhedral: ", twists.size(), " twists, expected ", names_.size());
    begin_step(previous, dt, parameters, memory);
    check(poses, parameters);
    Memory& mine = own(memory);
    find_work(poses, parameters, false, mine);
    for_each_pair(mine.work, [&](int, int pair) {
        PairResult& result = mine.results[at(pair)];
        result = {};
        const Placed now = place(pair, mine.scaled), start = place(pair, mine.previous);
        pair_contact_vjp(now, twists, mine, result);
        pair_friction_vjp(now, start, twists, mine, result);
    });
    out.previous_wrench.assign(names_.size(), Vector6d::Zero());
    out.friction = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(names_.size()));
    out.hull_vertices.setZero(default_vertices_.rows(), 3);
    out.weight = 0.0;
    const double weight = relative_weight(parameters);
    for (const int pair : mine.work) {
        const PairResult& result = mine.results[at(pair)];
        const double rubs = coefficient(pair, parameters);
        out.previous_wrench[at(pairs_[at(pair)].a)] += weight * rubs * result.previous_a;
        out.previous_wrench[at(pairs_[at(pair)].b)] += weight * rubs * result.previous_b;
        out.friction[pairs_[at(pair)].friction_body] += weight * result.friction_phi;
        out.weight += (result.phi + rubs * result.friction_phi) / default_weight_;
        for (const auto& [row, bar] : result.vertices) out.hull_vertices.row(row) += weight * bar.transpose();
        for (const auto& [row, bar] : result.friction_vertices)
            out.hull_vertices.row(row) += weight * rubs * bar.transpose();
    }
}

}  // namespace farfield::contact::polyhedral
