// SPDX-License-Identifier: Apache-2.0
/// @file  The neighbour list of a System: pairs grouped by map within chunks, and who touches whom in a fixed order.
#include <algorithm>
#include <numeric>

#include "farfield/base/error.hpp"
#include "farfield/grains/system_data.hpp"

namespace farfield::grains {
namespace {

constexpr std::int64_t kBuildsPerReorder = 16;

template <class Value>
void permute(std::vector<Value>& values, const std::vector<std::int32_t>& order, std::size_t stride = 1) {
    std::vector<Value> out;
    out.reserve(values.size());
    for (const std::int32_t from : order) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from) * stride);
        out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(stride));
    }
    values.swap(out);
}

/// Springs of the old list by the lower grain number, to be found by the higher one.
class OldSprings {
 public:
    OldSprings(const std::vector<ListPair>& pairs, const std::vector<Spring>& springs,
               const std::vector<std::int32_t>& id)
        : first_(id.size() + 1, 0) {
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            if (springs[k].touching()) ++first_[static_cast<std::size_t>(low(pairs[k], id)) + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        entries_.resize(static_cast<std::size_t>(first_.back()));
        std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            if (!springs[k].touching()) continue;
            const ListPair& pair = pairs[k];
            const std::int32_t a = id[static_cast<std::size_t>(pair.a)], b = id[static_cast<std::size_t>(pair.b)];
            entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(std::min(a, b))]++)] = {std::max(a, b),
                                                                                                    springs[k]};
        }
    }

    [[nodiscard]] Spring find(std::int32_t a, std::int32_t b) const {
        const auto row = static_cast<std::size_t>(std::min(a, b));
        for (std::int32_t k = first_[row]; k < first_[row + 1]; ++k) {
            if (entries_[static_cast<std::size_t>(k)].other == std::max(a, b))
                return entries_[static_cast<std::size_t>(k)].spring;
        }
        return {};
    }

 private:
    struct Entry {
        std::int32_t other = 0;
        Spring spring;
    };
    static std::int32_t low(const ListPair& pair, const std::vector<std::int32_t>& id) {
        return std::min(id[static_cast<std::size_t>(pair.a)], id[static_cast<std::size_t>(pair.b)]);
    }
    std::vector<std::int32_t> first_;
    std::vector<Entry> entries_;
};

}  // namespace

double System::Data::largest_radius() const {
    double largest = 0.0;
    for (const GrainShape& each : shapes) largest = std::max(largest, each.radius);
    return largest;
}

void System::Data::ensure_list() {
    if (list_valid) return;
    if (!finite()) fail("grains: a grain's pose is not finite");
    rebuild_list();
}

void System::Data::reorder() {
    const std::vector<std::int32_t> order = CellGrid::morton_order(bodies, 2.0 * largest_radius());
    permute(bodies, order);
    permute(id, order);
    permute(shape, order);
    permute(driver, order);
    permute(radius, order);
    permute(inverse_mass, order);
    permute(inverse_inertia, order);
    permute(held, order);
    permute(reactions, order);
    permute(wall_springs, order, walls.size());
    for (std::size_t s = 0; s < id.size(); ++s) slot[static_cast<std::size_t>(id[s])] = static_cast<std::int32_t>(s);
}

/// A grain moves by at most half a skin before the next list; walls that move themselves are always near.
void System::Data::find_near_walls() {
    near_wall.assign(bodies.size(), 0);
    for (std::size_t s = 0; s < bodies.size(); ++s) {
        const double margin = skin() + 8.0 * options.smoothing * radius[s];  // smoothing adds eps log(corners / 2)
        for (std::size_t w = 0; w < walls.size(); ++w) {
            const Wall& wall = walls[w];
            const bool near = wall.enabled && (!wall.velocity.isZero(0.0) ||
                                               circle_distance(wall, bodies[s].x, bodies[s].y, radius[s]) < margin);
            if (near) near_wall[s] = 1;
            if (!near) wall_springs[s * walls.size() + w] = {};
        }
    }
}

void System::Data::rebuild_list() {
    const OldSprings old(pairs, springs, id);
    if (counters.list_builds % kBuildsPerReorder == 0) reorder();
    ++counters.list_builds;
    grid.find_pairs(bodies, radius, held, skin(), found);

    const std::size_t count = found.size(), num_shapes = shapes.size();
    pairs.resize(count);
    std::vector<std::int32_t> map_of(count);
    for (std::size_t k = 0; k < count; ++k) {
        std::int32_t a = found[k].first, b = found[k].second;
        const std::int32_t shape_a = shape[static_cast<std::size_t>(a)], shape_b = shape[static_cast<std::size_t>(b)];
        if (shape_a > shape_b ||
            (shape_a == shape_b && id[static_cast<std::size_t>(a)] > id[static_cast<std::size_t>(b)]))
            std::swap(a, b);
        pairs[k] = {a, b};
        map_of[k] = static_cast<std::int32_t>(static_cast<std::size_t>(std::min(shape_a, shape_b)) * num_shapes +
                                              static_cast<std::size_t>(std::max(shape_a, shape_b)));
    }
    // Chunks keep the spatial order; inside a chunk pairs of one map stand together.
    runs.clear();
    chunk_runs.assign(1, 0);
    std::vector<std::int32_t> order(kPairChunk);
    std::vector<ListPair> sorted(kPairChunk);
    for (std::size_t begin = 0; begin < count; begin += kPairChunk) {
        const std::size_t end = std::min(count, begin + kPairChunk), size = end - begin;
        std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size), static_cast<std::int32_t>(begin));
        if (num_shapes > 1) {
            std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size),
                             [&](std::int32_t x, std::int32_t y) {
                                 return map_of[static_cast<std::size_t>(x)] < map_of[static_cast<std::size_t>(y)];
                             });
        }
        for (std::size_t k = 0; k < size; ++k) {
            const auto from = static_cast<std::size_t>(order[k]);
            sorted[k] = pairs[from];
            const bool first = k == 0 || map_of[from] != runs.back().map;
            const auto at = static_cast<std::int32_t>(begin + k);
            if (first) runs.push_back({at, at, map_of[from]});
            runs.back().end = at + 1;
        }
        std::copy_n(sorted.begin(), size, pairs.begin() + static_cast<std::ptrdiff_t>(begin));
        chunk_runs.push_back(static_cast<std::int32_t>(runs.size()));
    }

    springs.assign(count, {});
    forces.assign(count, {});
    incident_first.assign(bodies.size() + 1, 0);
    for (std::size_t k = 0; k < count; ++k) {
        const auto a = static_cast<std::size_t>(pairs[k].a), b = static_cast<std::size_t>(pairs[k].b);
        springs[k] = old.find(id[a], id[b]);
        ++incident_first[a + 1];
        ++incident_first[b + 1];
    }
    std::partial_sum(incident_first.begin(), incident_first.end(), incident_first.begin());
    incident.resize(2 * count);
    std::vector<std::int32_t> next(incident_first.begin(), incident_first.end() - 1);
    for (std::size_t k = 0; k < count; ++k) {
        const auto entry = static_cast<std::int32_t>(2 * k);
        incident[static_cast<std::size_t>(next[static_cast<std::size_t>(pairs[k].a)]++)] = entry;
        incident[static_cast<std::size_t>(next[static_cast<std::size_t>(pairs[k].b)]++)] = entry + 1;
    }
    const auto other_id = [&](std::int32_t entry) {
        const ListPair& pair = pairs[static_cast<std::size_t>(entry / 2)];
        return id[static_cast<std::size_t>(entry % 2 == 0 ? pair.b : pair.a)];
    };
    reference_x.resize(bodies.size());
    reference_y.resize(bodies.size());
    for (std::size_t s = 0; s < bodies.size(); ++s) {
        std::sort(incident.begin() + incident_first[s], incident.begin() + incident_first[s + 1],
                  [&](std::int32_t x, std::int32_t y) { return other_id(x) < other_id(y); });
        reference_x[s] = bodies[s].x;
        reference_y[s] = bodies[s].y;
    }
    find_near_walls();
    counters.list_pairs = static_cast<std::int64_t>(count);
    list_valid = true;
}

}  // namespace farfield::grains
