// SPDX-License-Identifier: Apache-2.0
/// @file  The polyhedral model's parameters of a step, and its broad phase.
#include "farfield/contact/polyhedral/polyhedral.hpp"

#include <algorithm>
#include <limits>

#include "farfield/base/index.hpp"

namespace farfield::contact::polyhedral {

std::unique_ptr<PairwiseMemory> Polyhedral::new_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs().size());
    memory->gaps.resize(pairs().size());
    return memory;
}

PairScale Polyhedral::scale(int pair, const Memory& memory) const {
    return {memory.weights[at(pair)], options_.margin};
}

SlipModel Polyhedral::slip_model(int index, double dt, bool half_space) const {
    const double speed = slip_speed(index) / length(index), size = units(index).length / length(index);
    // A free plane splits the slip over both its sides, so each side needs half the speed. It has no spin of its own where both sides
    // touch in one point, hence the last number: a patch of friction three ten-thousandths of the pair's size wide.
    return {dt, half_space ? speed * speed : 0.25 * speed * speed, half_space ? 0.0 : 1e-7 * size * size / speed};
}

HullColumns Polyhedral::columns(int hull, int index, const Memory& memory) const {
    const auto first = at(hulls_[at(hull)].first);
    return {{&memory.x[first], &memory.y[first], &memory.z[first], hulls_[at(hull)].count}, 1.0 / length(index)};
}

Polyhedral::PairView Polyhedral::view(int index, const Poses& poses) const {
    const ContactPair& bodies = pair(index);
    return {index, bodies.a, bodies.b, scaled(poses[at(bodies.a)], index), scaled(poses[at(bodies.b)], index)};
}

void Polyhedral::take_vertices(const Parameters& parameters, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    const auto& v = parameters.hull_vertices;
    if (memory.hull_local.size() == hulls_.size() && memory.vertices == v) return;
    memory.vertices = v;
    const auto count = static_cast<std::size_t>(v.rows());
    memory.x.resize(count);
    memory.y.resize(count);
    memory.z.resize(count);
    for (std::size_t m = 0; m < count; ++m) {
        const auto row = static_cast<Eigen::Index>(m);
        memory.x[m] = v(row, 0);
        memory.y[m] = v(row, 1);
        memory.z[m] = v(row, 2);
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
        memory.hull_world[h] = in_world(memory.hull_local[h], poses[body]);
        memory.body_world[body].add(memory.hull_world[h]);
    }
    if (rebuild || !memory.tree.built()) {
        memory.tree.build(memory.body_world);
    } else {
        memory.tree.update(memory.body_world);
    }
    memory.tree.find_pairs(reach_, memory.found);
}

void Polyhedral::list_near(int index, Memory& memory) const {
    PairMemory& cache = memory.pairs[at(index)];
    const double range = ranges_[at(index)];
    const int body_a = pair(index).a, body_b = pair(index).b;
    const Box &box_a = memory.body_world[at(body_a)], &box_b = memory.body_world[at(body_b)];
    std::vector<HullPair> near;
    auto old = cache.near.begin();
    for (const int a : hulls_of_[at(body_a)]) {
        const Box& hull_a = memory.hull_world[at(a)];
        if (!within(hull_a, box_b, range)) {
            cache.box_gap = std::min(cache.box_gap, box_distance(hull_a, box_b));
            continue;
        }
        for (const int b : hulls_of_[at(body_b)]) {
            const Box& hull_b = memory.hull_world[at(b)];
            if (!within(box_a, hull_b, range) || !within(hull_a, hull_b, range)) {
                cache.box_gap = std::min(cache.box_gap, box_distance(hull_a, hull_b));
                continue;
            }
            const auto before = [&](const HullPair& p) { return std::pair(p.a, p.b) < std::pair(a, b); };
            while (old != cache.near.end() && before(*old)) ++old;
            const bool known = old != cache.near.end() && old->a == a && old->b == b;
            near.push_back({a, b, known ? old->warm : WarmPlane{}, {}});
        }
    }
    cache.near.swap(near);
}

void Polyhedral::list_half_spaces(int index, const Poses& poses, Memory& memory) const {
    PairMemory& cache = memory.pairs[at(index)];
    cache.half_spaces.clear();
    const auto& sides = half_space_sides(index);
    for (std::size_t k = 0; k < sides.size(); ++k) {
        const bool first = sides[k].surface_first;
        const Box& box = memory.body_world[at(first ? pair(index).a : pair(index).b)];
        const Pose& ground = poses[at(first ? pair(index).b : pair(index).a)];
        if (box.empty()) continue;
        const Eigen::Vector3d n = ground.rotation * sides[k].half_space.normal;
        const double height = n.dot(box.centre - ground.position) - sides[k].half_space.offset * length(index) -
                              n.cwiseAbs().dot(box.half);
        if (height < ranges_[at(index)]) {
            cache.half_spaces.push_back(static_cast<int>(k));
        } else {
            cache.box_gap = std::min(cache.box_gap, height);
        }
    }
}

void Polyhedral::find_active(const Poses& poses, bool rebuild, Memory& memory) const {
    std::vector<int>& active = memory.active;
    active.clear();
    broad_phase(poses, rebuild, memory);
    for (const auto& [a, b] : memory.found) {
        const auto& partners = partners_[at(a)];
        const auto it = std::lower_bound(partners.begin(), partners.end(), std::pair(b, -1));
        if (it != partners.end() && it->first == b) active.push_back(it->second);
    }
    active.insert(active.end(), half_space_pairs_.begin(), half_space_pairs_.end());
    active.insert(active.end(), memory.lagged.begin(), memory.lagged.end());
    std::sort(active.begin(), active.end());
    active.erase(std::unique(active.begin(), active.end()), active.end());
    for (const int pair : active) {
        memory.pairs[at(pair)].box_gap = std::numeric_limits<double>::infinity();
        list_near(pair, memory);
        list_half_spaces(pair, poses, memory);
    }
}

void Polyhedral::move_to_start(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    for (const int pair : memory.lagged) memory.pairs[at(pair)].lagged.clear();
    memory.lagged.clear();
    find_active(poses, true, memory);
    memory.lagged = memory.active;  // which of them rub is known when they are lagged
}

void Polyhedral::move_to_now(const Poses& poses, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    std::erase_if(memory.lagged, [&](int pair) { return memory.pairs[at(pair)].lagged.empty(); });
    find_active(poses, false, memory);
}

void Polyhedral::find_far_gaps(PairwiseMemory& step) const {
    const auto& memory = static_cast<const Memory&>(step);
    for (std::size_t k = 0; k < pairs().size(); ++k) {
        const Box &a = memory.body_world[at(pairs()[k].a)], &b = memory.body_world[at(pairs()[k].b)];
        step.gaps[k] = a.empty() || b.empty() ? std::numeric_limits<double>::infinity() : box_distance(a, b);
    }
}

}  // namespace farfield::contact::polyhedral
