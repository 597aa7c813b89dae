// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_traversal.hpp"

#include <algorithm>
#include <cstring>

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/longrange/pair_traversal.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/contact/longrange/pair_terms-inl.hpp"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

/// Places among the lanes of `found` that those of `bands` take, one after the other.
struct SlotTable {
    uint8_t slot[16][16][4];
};
constexpr SlotTable make_slots() {
    SlotTable table{};
    for (unsigned found = 0; found < 16; ++found) {
        for (unsigned bands = 0; bands < 16; ++bands) {
            unsigned count = 0, rank = 0;
            for (unsigned lane = 0; lane < 4; ++lane) {
                if ((found & bands) >> lane & 1u) table.slot[found][bands][count++] = static_cast<uint8_t>(rank);
                rank += found >> lane & 1u;
            }
        }
    }
    return table;
}
inline constexpr SlotTable kSlots = make_slots();

inline constexpr size_t kAhead = 6;  // node pairs between asking for the data and using it

/// Where the next node pairs of a list go.
struct Ends {
    uint64_t* nodes;
    double* weight;
    int* parent;

    Ends(NodePairs& list, size_t first)
        : nodes(list.nodes.data() + first), weight(list.weight.data() + first), parent(list.parent.data() + first) {}

    HWY_INLINE void put(const ChildNodes& a, const ChildNodes& b, unsigned bits, Quad w, const int (&p)[4]) {
        store_pairs(a.as_a, b.as_b, bits, nodes);
        w.store(weight);
        std::memcpy(parent, p, sizeof(p));
        const auto count = __builtin_popcount(bits);
        nodes += count, weight += count, parent += count;
    }
};

/// Tests the children of `count` node pairs against each other. Far ones are appended to work.far, the others become work.found, of which
/// work.slots tells the band nodes. Those out of a near pair's range are left out and only bound work.gap. Squares are compared; a distance within rounding of d1 or d2 may fall on either side, where
/// the blend is flat.
void test_level(const TraversalInput& input, size_t count, PairWork& work, LevelCounts& out) {
    const TraversalInput in = input;  // a copy of our own need not be read again after every store
    const uint64_t* nodes = work.level.nodes.data();
    const double* weights = work.level.weight.data();
    const int* parents = work.level.parent.data();
    Ends far(work.far, out.far), found(work.found, 0);
    int* slots = work.slots.data();
    double* d1s = work.near.data();
    int num_found = 0;
    const Quad x = Quad::set(in.a.origin[0] - in.b.origin[0]), y = Quad::set(in.a.origin[1] - in.b.origin[1]),
               z = Quad::set(in.a.origin[2] - in.b.origin[2]);
    const Quad stretch = Quad::set((1.0 + in.margin) * (1.0 + in.margin)), scale = Quad::set(in.form.scale);
    const Quad range = Quad::set(in.form.range), one = Quad::set(1.0), far_away = Quad::set(1e300);
    Quad gap = far_away;  // of what a near pair leaves out
    for (size_t k = 0; k < count; ++k) {
        const size_t i = low(nodes[k]), j = high(nodes[k]), ahead = k + kAhead < count ? k + kAhead : k;
        hwy::Prefetch(&in.a.spheres[low(nodes[ahead])]), hwy::Prefetch(&in.a.children[low(nodes[ahead])]);
        hwy::Prefetch(&in.b.spheres[high(nodes[ahead])]), hwy::Prefetch(&in.b.children[high(nodes[ahead])]);
        const ChildSpheres &a = in.a.spheres[i], &b = in.b.spheres[j];
        const ChildNodes &children_a = in.a.children[i], &children_b = in.b.children[j];
        const Quad dx = fma(scale, spread_outer(a.x) - spread_inner(b.x), x),
                   dy = fma(scale, spread_outer(a.y) - spread_inner(b.y), y),
                   dz = fma(scale, spread_outer(a.z) - spread_inner(b.z), z);
        const Quad squared = fma(dz, dz, fma(dy, dy, dx * dx)),
                   d1 = scale * (spread_outer(a.radius) + spread_inner(b.radius));
        const Quad d1_squared = d1 * d1;
        const unsigned valid = children_a.valid_a & children_b.valid_b;
        unsigned near = less_bits(squared, stretch * d1_squared) & valid, far_bits = valid & ~near;
        if (HWY_UNLIKELY(in.form.near())) {
            const unsigned reached = less_bits(squared, (d1 + range) * (d1 + range));
            near &= reached;
            far_bits &= less_bits(squared, range * range);
            const unsigned left_out = valid & ~(near | far_bits);
            if (left_out != 0) gap = min(gap, (sqrt(squared) - d1) + far_away * (one - ones(left_out)));
        }
        const unsigned blended = less_bits(d1_squared, squared) & near;
        const Quad weight = Quad::set(weights[k]);
        const int parent[4] = {parents[k], parents[k], parents[k], parents[k]};
        far.put(children_a, children_b, far_bits, weight, parent);
        found.put(children_a, children_b, near, weight, parent);
        store_packed(d1, blended, d1s);
        for (size_t lane = 0; lane < 4; ++lane) slots[lane] = num_found + kSlots.slot[near][blended][lane];
        num_found += __builtin_popcount(near);
        slots += __builtin_popcount(blended), d1s += __builtin_popcount(blended);
    }
    out.far = static_cast<size_t>(far.nodes - work.far.nodes.data());
    out.found = static_cast<size_t>(num_found);
    out.bands = static_cast<size_t>(slots - work.slots.data());
    if (!in.form.near()) return;
    double lanes[4];
    gap.store(lanes);
    for (const double one_gap : lanes) work.gap = one_gap < work.gap ? one_gap : work.gap;
}

/// Weights the `count` band nodes of work.found at work.slots, padded to a multiple of four, and with kDerivatives records them in work.bands from
/// `first` on. Returns the sum of their centred parts.
template <bool kDerivatives>
HWY_INLINE double enter_bands(const TraversalInput& input, size_t count, size_t first, PairWork& work) {
    const TraversalInput in = input;
    Quad total = Quad::set(0.0);
    double* fields[BandTable::kNumFields];
    for (size_t f = 0; f < BandTable::kNumFields; ++f) {
        fields[f] = kDerivatives ? work.bands.field(static_cast<BandTable::Field>(f)) + first : nullptr;
    }
    const int* slots = work.slots.data();
    double* found_weight = work.found.weight.data();
    int *found_parent = work.found.parent.data(), *band_parent = work.bands.parent() + first;
    const uint64_t* found_nodes = work.found.nodes.data();
    const double* near = work.near.data();
    BandTable::SumRow* rows = work.bands.sums() + first;
    for (size_t k = 0; k < count; k += 4) {
        const int at[4] = {slots[k], slots[k + 1], slots[k + 2], slots[k + 3]};
        const uint64_t nodes[4] = {found_nodes[at[0]], found_nodes[at[1]], found_nodes[at[2]], found_nodes[at[3]]};
        FourPairs f;
        FourCentred c;
        load_nodes(in, nodes, f);
        evaluate(in, nodes, f, c);
        const Quad d1 = Quad::load(near + k), weight = Quad::of(found_weight[at[0]], found_weight[at[1]],
                                                                found_weight[at[2]], found_weight[at[3]]);
        // u, v = 1 - u, phi and its derivatives as blend() of centred.hpp
        const Quad zero = Quad::set(0.0), width = Quad::set(in.margin) * d1, scale = Quad::set(1.0) / width;
        const Quad u = max((f.r - d1) * scale, zero), v = max(((d1 + width) - f.r) * scale, zero);
        const auto step = [](Quad t) {
            return (t * t) * (t * fma(t, fms(Quad::set(6.0), t, Quad::set(15.0)), Quad::set(10.0)));
        };
        const Quad phi = step(u), rest = step(v);
        double below[4];
        (weight * rest).store(below);
        for (size_t lane = 0; lane < 4; ++lane) found_weight[at[lane]] = below[lane];
        if constexpr (kDerivatives) {
            const Quad uv = u * v, slope = Quad::set(30.0) * (uv * uv) * scale;
            const Quad second = Quad::set(60.0) * uv * (v - u) * (scale * scale);
            const auto put = [&](BandTable::Field field, Quad q) { q.store(fields[field] + k); };
            put(BandTable::kAx, f.ax), put(BandTable::kAy, f.ay), put(BandTable::kAz, f.az);
            put(BandTable::kBx, f.bx), put(BandTable::kBy, f.by), put(BandTable::kBz, f.bz);
            put(BandTable::kWeight, weight), put(BandTable::kInverse, c.inverse), put(BandTable::kCentred, c.value);
            put(BandTable::kPhi, phi), put(BandTable::kRest, rest);
            put(BandTable::kFirst, slope), put(BandTable::kSecond, second), put(BandTable::kSlope, phi * c.first);
            put(BandTable::kCurvature, fma(phi, c.second, (slope + slope) * c.first));
            for (size_t lane = 0; lane < 4; ++lane) {
                band_parent[k + lane] = found_parent[at[lane]];
                found_parent[at[lane]] = static_cast<int>(first + k + lane);
                zero.store(rows[k + lane].v), zero.store(rows[k + lane].v + 4);
            }
        } else {
            total = fma(weight, phi * c.value, total);
        }
    }
    double lanes[4];
    total.store(lanes);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

double enter_band_values(const TraversalInput& in, size_t count, size_t first, PairWork& work) {
    return enter_bands<false>(in, count, first, work);
}
double enter_band_derivatives(const TraversalInput& in, size_t count, size_t first, PairWork& work) {
    return enter_bands<true>(in, count, first, work);
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::longrange {

HWY_EXPORT(test_level);
HWY_EXPORT(enter_band_values);
HWY_EXPORT(enter_band_derivatives);
HWY_EXPORT(sum_far_values);
HWY_EXPORT(sum_far);
HWY_EXPORT(sum_bands);

namespace {

/// [[beta, .], [[beta a]x, (beta a.b) 1 - sym(beta a b^T)]] and the rank terms, lower triangle.
void unpack(const double* totals, Matrix6d& hessian) {
    const double *beta_a = totals + 1, *ab = totals + 4;
    for (int k = 0; k < 3; ++k) hessian(k, k) += totals[0];
    hessian(3, 1) -= beta_a[2], hessian(3, 2) += beta_a[1], hessian(4, 0) += beta_a[2];
    hessian(4, 2) -= beta_a[0], hessian(5, 0) -= beta_a[1], hessian(5, 1) += beta_a[0];
    hessian(3, 3) += ab[1] + ab[2], hessian(4, 4) += ab[0] + ab[2], hessian(5, 5) += ab[0] + ab[1];
    hessian(5, 4) -= ab[3], hessian(5, 3) -= ab[4], hessian(4, 3) -= ab[5];
    std::size_t entry = kFirstRank;
    for (int col = 0; col < 6; ++col) {
        for (int row = col; row < 6; ++row) hessian(row, col) += totals[entry++];
    }
}

TreeSide make_side(const Shape& shape, const RotatedShape& rotated, const Eigen::Vector3d& origin) {
    return {rotated.spheres.data(),
            shape.children.data(),
            rotated.nodes.data(),
            shape.extents.data(),
            {origin.x(), origin.y(), origin.z()}};
}

/// Turns what was found at a level into leaves and the node pairs of the next level. Returns how many of the latter there are.
std::size_t part_leaves(const Shape& a, const Shape& b, const PotentialForm& form, int level, std::size_t found,
                        PairWork& work) {
    if (level < std::max(a.first_leaf_level, b.first_leaf_level)) {
        std::swap(work.level, work.found);
        return found;
    }
    work.level.grow(found);
    std::size_t num_leaves = work.leaves.size(), next = 0;
    work.leaves.resize(num_leaves + found);
    for (std::size_t k = 0; k < found; ++k) {
        const std::uint64_t nodes = work.found.nodes[k];
        const std::size_t i = nodes & 0xffffffffu, j = nodes >> 32;
        const int item_a = a.tree.item[i], item_b = b.tree.item[j];
        const bool leaf = (item_a | item_b) >= 0;
        const auto triangle_a = static_cast<std::size_t>(leaf ? item_a : 0);
        const auto triangle_b = static_cast<std::size_t>(leaf ? item_b : 0);
        const double weight = work.found.weight[k], share = form.share(a.extents[i].area(), b.extents[j].area());
        const int parent = work.found.parent[k];
        work.level.nodes[next] = nodes;
        work.level.weight[next] = weight;
        work.level.parent[next] = parent;
        next += leaf ? 0 : 1;
        work.leaves[num_leaves] = {item_a, item_b, parent,
                                   weight, share,  pair_key(level, a.path_bits[triangle_a], b.path_bits[triangle_b])};
        num_leaves += leaf ? 1 : 0;
    }
    work.leaves.resize(num_leaves);
    return next;
}

/// All pairs of leaves, depth first.
void add_all_leaves(const Shape& a, const Shape& b, const PotentialForm& form, std::size_t i, std::size_t j,
                    PairWork& work) {
    const ChildNodes &children_a = a.children[i], &children_b = b.children[j];
    const unsigned valid = children_a.valid_a & children_b.valid_b;
    for (unsigned lane = 0; lane < 4; ++lane) {
        if ((valid >> lane & 1u) == 0) continue;
        const std::size_t p = children_a.as_a[lane >> 1], q = children_b.as_a[lane & 1u];
        const int item_a = a.tree.item[p], item_b = b.tree.item[q];
        if (item_a < 0 || item_b < 0) {
            add_all_leaves(a, b, form, p, q, work);
            continue;
        }
        const double share = form.share(a.extents[p].area(), b.extents[q].area());
        work.leaves.push_back({item_a, item_b, -1, 1.0, share,
                               pair_key(0, a.path_bits[static_cast<std::size_t>(item_a)],
                                        b.path_bits[static_cast<std::size_t>(item_b)])});
    }
}

}  // namespace

void traverse(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work) {
    work.clear();
    const auto root_a = static_cast<std::size_t>(a.tree.size()), root_b = static_cast<std::size_t>(b.tree.size());
    if (!form.hierarchy) {
        add_all_leaves(a, b, form, root_a, root_b, work);
        if (form.near()) fade_leaves(a, rotated_a, b, rotated_b, frame, form, wanted, work);
        return;
    }
    const TraversalInput in{make_side(a, rotated_a, frame.origin_a), make_side(b, rotated_b, frame.origin_b),
                            std::max(a.blend, b.blend), form};
    LevelCounts counts{};
    std::size_t count = 1;
    work.level.grow(1);
    work.level.nodes[0] = root_a | (static_cast<std::uint64_t>(root_b) << 32);  // the nodes above the roots
    work.level.weight[0] = 1.0;
    work.level.parent[0] = -1;
    for (int level = 0; count > 0; ++level) {
        work.far.grow(counts.far + 4 * count + 4);
        work.found.grow(4 * count + 4);
        work.slots.resize(std::max(work.slots.size(), 4 * count + 4));
        work.near.resize(work.slots.size());
        HWY_DYNAMIC_DISPATCH(test_level)(in, count, work, counts);
        if (counts.bands > 0) {
            // Padding: a weightless node pair that nobody reads afterwards.
            work.found.nodes[counts.found] = work.found.nodes[static_cast<std::size_t>(work.slots[0])];
            work.found.weight[counts.found] = 0.0;
            for (std::size_t k = counts.bands; k % 4 != 0; ++k) {
                work.slots[k] = static_cast<int>(counts.found);
                work.near[k] = work.near[0];
            }
            if (wanted == Wanted::Values) {
                work.value += HWY_DYNAMIC_DISPATCH(enter_band_values)(in, counts.bands, 0, work);
            } else {
                const std::size_t first = work.bands.begin_level(counts.bands);
                HWY_DYNAMIC_DISPATCH(enter_band_derivatives)(in, counts.bands, first, work);
            }
        }
        count = part_leaves(a, b, form, level, counts.found, work);
    }
    if (form.near()) fade_leaves(a, rotated_a, b, rotated_b, frame, form, wanted, work);
    work.num_far = counts.far;
    if (counts.far == 0) return;
    for (std::size_t k = counts.far; k % 4 != 0; ++k) {
        work.far.nodes[k] = work.far.nodes[0];
        work.far.weight[k] = 0.0;
        work.far.parent[k] = BandTable::kNowhere;
    }
    if (wanted == Wanted::Values) {
        work.value += HWY_DYNAMIC_DISPATCH(sum_far_values)(in, counts.far, work);
    } else {
        double totals[kTermSums];
        work.gap = std::min(work.gap, HWY_DYNAMIC_DISPATCH(sum_far)(in, counts.far, work, totals));
        unpack(totals, work.hessian);
    }
}

void add_bands(BandTable& bands, Matrix6d& hessian) {
    if (bands.size() == 0) return;
    double totals[kTermSums];
    HWY_DYNAMIC_DISPATCH(sum_bands)(bands, totals);
    unpack(totals, hessian);
}

}  // namespace farfield::contact::longrange
#endif  // HWY_ONCE
