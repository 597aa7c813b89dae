// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/leaf_lanes.hpp"

#include <algorithm>

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/longrange/leaf_lanes.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/contact/longrange/quad-inl.hpp"

#ifndef FARFIELD_CONTACT_LONGRANGE_LEAF_LANES_ONCE
#define FARFIELD_CONTACT_LONGRANGE_LEAF_LANES_ONCE
namespace farfield::contact::longrange {

/// One body of a pair, as plain pointers.
struct LeafSide {
    const Eigen::Vector3i* triangles;
    const Row4* vertices;
    const double* radii;  ///< per triangle
    const double* origin;
    double scale;
};

}  // namespace farfield::contact::longrange
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

void rotate(const double* r, const Row4* from, size_t count, Row4* to) {
    const double columns[4][4] = {
        {r[0], r[1], r[2], 0.0}, {r[3], r[4], r[5], 0.0}, {r[6], r[7], r[8], 0.0}, {0.0, 0.0, 0.0, 1.0}};
    const Quad x = Quad::load(columns[0]), y = Quad::load(columns[1]), z = Quad::load(columns[2]),
               last = Quad::load(columns[3]);
    for (size_t k = 0; k < count; ++k) {
        const double(&p)[4] = from[k].v;
        fma(x, Quad::set(p[0]), fma(y, Quad::set(p[1]), fma(z, Quad::set(p[2]), last * Quad::load(p)))).store(to[k].v);
    }
}

/// Vertices of one body for four leaves into nine rows of a chunk.
HWY_INLINE void load_side(const LeafSide& side, const int (&triangle)[4], double (*rows)[kChunkPairs], size_t lane) {
    const Quad ox = Quad::set(side.origin[0]), oy = Quad::set(side.origin[1]), oz = Quad::set(side.origin[2]);
    const Quad scale = Quad::set(side.scale);
    for (int k = 0; k < 3; ++k) {
        Quad q[4];
        for (int i = 0; i < 4; ++i) q[i] = Quad::load(side.vertices[side.triangles[triangle[i]][k]].v);
        transpose(q[0], q[1], q[2], q[3]);
        fma(scale, q[0], ox).store(&rows[3 * k][lane]);
        fma(scale, q[1], oy).store(&rows[3 * k + 1][lane]);
        fma(scale, q[2], oz).store(&rows[3 * k + 2][lane]);
    }
}

/// Chunks are filled by halves; what lies beyond `count` in a half repeats the last leaf. `warm`: place in `planes`, negative: none.
void gather(const LeafSide& a, const LeafSide& b, const LeafPair* leaves, size_t count, const double* r,
            const Row4* planes, const int* warm, PairChunk* chunks) {
    for (size_t first = 0; first < count; first += 4) {
        int triangle_a[4], triangle_b[4];
        Quad p[4];
        for (size_t i = 0; i < 4; ++i) {
            const size_t k = first + i < count ? first + i : count - 1;
            triangle_a[i] = leaves[k].triangle_a;
            triangle_b[i] = leaves[k].triangle_b;
            p[i] = warm[k] < 0 ? Quad::set(0.0) : Quad::load(planes[warm[k]].v);
        }
        PairChunk& chunk = chunks[first / kChunkPairs];
        const size_t lane = first % kChunkPairs;
        load_side(a, triangle_a, &chunk.arms[0], lane);
        load_side(b, triangle_b, &chunk.arms[9], lane);
        transpose(p[0], p[1], p[2], p[3]);
        for (size_t c = 0; c < 3; ++c) {
            fma(Quad::set(r[c]), p[0], fma(Quad::set(r[3 + c]), p[1], Quad::set(r[6 + c]) * p[2]))
                .store(&chunk.plane[c][lane]);
        }
        p[3].store(&chunk.plane[3][lane]);
        Quad radius_a = Quad::of(a.radii[triangle_a[0]], a.radii[triangle_a[1]], a.radii[triangle_a[2]],
                                 a.radii[triangle_a[3]]),
             radius_b = Quad::of(b.radii[triangle_b[0]], b.radii[triangle_b[1]], b.radii[triangle_b[2]],
                                 b.radii[triangle_b[3]]);
        (Quad::set(a.scale) * (radius_a + radius_b)).store(&chunk.radius[0][lane]);
        (Quad::set(a.scale) * radius_a).store(&chunk.radius[1][lane]);
    }
}

void keep(const PairChunk* chunks, size_t count, const double* r, Row4* planes) {
    for (size_t first = 0; first < count; first += 4) {
        const PairChunk& chunk = chunks[first / kChunkPairs];
        const size_t lane = first % kChunkPairs;
        const Quad x = Quad::load(&chunk.plane[0][lane]), y = Quad::load(&chunk.plane[1][lane]),
                   z = Quad::load(&chunk.plane[2][lane]);
        Quad p[4];
        for (size_t c = 0; c < 3; ++c) {
            p[c] = fma(Quad::set(r[3 * c]), x, fma(Quad::set(r[3 * c + 1]), y, Quad::set(r[3 * c + 2]) * z));
        }
        p[3] = Quad::load(&chunk.plane[3][lane]);
        transpose(p[0], p[1], p[2], p[3]);
        for (size_t i = 0; i < 4 && first + i < count; ++i) p[i].store(planes[first + i].v);
    }
}

void add_to_bands(const PairChunk* chunks, const LeafPair* leaves, size_t count, double offset,
                  BandTable::SumRow* sums) {
    for (size_t first = 0; first < count; first += 4) {
        const PairChunk& chunk = chunks[first / kChunkPairs];
        const size_t lane = first % kChunkPairs;
        Quad low[4], high[4];
        for (size_t c = 0; c < 4; ++c) low[c] = Quad::load(&chunk.gradient[c][lane]);
        for (size_t c = 0; c < 2; ++c) high[c] = Quad::load(&chunk.gradient[4 + c][lane]);
        high[2] = Quad::load(&chunk.value[lane]) + Quad::set(offset);
        high[3] = Quad::set(0.0);
        transpose(low[0], low[1], low[2], low[3]);
        transpose(high[0], high[1], high[2], high[3]);
        for (size_t i = 0; i < 4 && first + i < count; ++i) {
            double* sum = sums[leaves[first + i].parent].v;
            const Quad share = Quad::set(leaves[first + i].share);
            fma(share, low[i], Quad::load(sum)).store(sum);
            fma(share, high[i], Quad::load(sum + 4)).store(sum + 4);
        }
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::longrange {

HWY_EXPORT(rotate);
HWY_EXPORT(gather);
HWY_EXPORT(keep);
HWY_EXPORT(add_to_bands);

void rotate_rows(const Eigen::Matrix3d& rotation, const std::vector<Row4>& from, std::vector<Row4>& to) {
    to.resize(from.size());
    HWY_DYNAMIC_DISPATCH(rotate)(rotation.data(), from.data(), from.size(), to.data());
}

void gather_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                   const PairFrame& frame, double scale, const PlaneTable& table, PairWork& work) {
    const std::size_t count = work.leaves.size(), known = table.keys.size();
    work.warm.resize(count);
    std::size_t old = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const std::uint64_t key = work.leaves[k].key;
        while (old < known && table.keys[old] < key) ++old;
        work.warm[k] = old < known && table.keys[old] == key ? static_cast<int>(old) : -1;
    }
    work.batch.resize(count);
    const LeafSide side_a{a.triangles.data(), rotated_a.vertices.data(), a.radii.data(), frame.origin_a.data(), scale};
    const LeafSide side_b{b.triangles.data(), rotated_b.vertices.data(), b.radii.data(), frame.origin_b.data(), scale};
    HWY_DYNAMIC_DISPATCH(gather)
    (side_a, side_b, work.leaves.data(), count, frame.rotation_a.data(), table.planes.data(), work.warm.data(),
     work.batch.chunks());
}

void keep_planes(const PairFrame& frame, const PairWork& work, PlaneTable& table) {
    const std::size_t count = work.leaves.size();
    table.keys.resize(count);
    table.planes.resize(count);
    for (std::size_t k = 0; k < count; ++k) table.keys[k] = work.leaves[k].key;
    HWY_DYNAMIC_DISPATCH(keep)(work.batch.chunks(), count, frame.rotation_a.data(), table.planes.data());
}

void add_leaves_to_bands(double offset, PairWork& work) {
    HWY_DYNAMIC_DISPATCH(add_to_bands)
    (work.batch.chunks(), work.leaves.data(), work.leaves.size(), offset, work.bands.sums());
}

}  // namespace farfield::contact::longrange
#endif  // HWY_ONCE
