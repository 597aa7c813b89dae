// SPDX-License-Identifier: Apache-2.0
/// @file  Four doubles, in as many vectors as the target needs. Included once per Highway target.
#if defined(FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using QuadTag = hn::CappedTag<double, 4>;
inline constexpr size_t kQuadLanes = hn::MaxLanes(QuadTag());
inline constexpr size_t kQuadParts = 4 / kQuadLanes;

struct Quad {
    hn::Vec<QuadTag> v[kQuadParts];

    static HWY_INLINE Quad load(const double* p) {
        Quad q;
        for (size_t k = 0; k < kQuadParts; ++k) q.v[k] = hn::LoadU(QuadTag(), p + k * kQuadLanes);
        return q;
    }
    static HWY_INLINE Quad set(double x) {
        Quad q;
        for (size_t k = 0; k < kQuadParts; ++k) q.v[k] = hn::Set(QuadTag(), x);
        return q;
    }
    /// Four numbers from different places. Pieces written to memory and read back as one would wait for each other.
    template <size_t kPer = kQuadLanes>
    static HWY_INLINE Quad of(double x0, double x1, double x2, double x3) {
        if constexpr (kPer == 4) {
            const hn::CappedTag<double, kPer / 2> half;
            const auto low = hn::InterleaveLower(half, hn::Set(half, x0), hn::Set(half, x1));
            const auto high = hn::InterleaveLower(half, hn::Set(half, x2), hn::Set(half, x3));
            Quad q;
            q.v[0] = hn::Combine(hn::CappedTag<double, kPer>(), high, low);
            return q;
        } else {
            const double lanes[4] = {x0, x1, x2, x3};
            return load(lanes);
        }
    }
    HWY_INLINE void store(double* p) const {
        for (size_t k = 0; k < kQuadParts; ++k) hn::StoreU(v[k], QuadTag(), p + k * kQuadLanes);
    }
};

#define FARFIELD_QUAD_BINARY(name, op)                                           \
    HWY_INLINE Quad name(Quad x, Quad y) {                                       \
        for (size_t k = 0; k < kQuadParts; ++k) x.v[k] = hn::op(x.v[k], y.v[k]); \
        return x;                                                                \
    }
FARFIELD_QUAD_BINARY(operator+, Add)
FARFIELD_QUAD_BINARY(operator-, Sub)
FARFIELD_QUAD_BINARY(operator*, Mul)
FARFIELD_QUAD_BINARY(operator/, Div)
FARFIELD_QUAD_BINARY(min, Min)
FARFIELD_QUAD_BINARY(max, Max)
#undef FARFIELD_QUAD_BINARY

/// x y + z
HWY_INLINE Quad fma(Quad x, Quad y, Quad z) {
    for (size_t k = 0; k < kQuadParts; ++k) x.v[k] = hn::MulAdd(x.v[k], y.v[k], z.v[k]);
    return x;
}
/// x y - z
HWY_INLINE Quad fms(Quad x, Quad y, Quad z) {
    for (size_t k = 0; k < kQuadParts; ++k) x.v[k] = hn::MulSub(x.v[k], y.v[k], z.v[k]);
    return x;
}
HWY_INLINE Quad sqrt(Quad x) {
    for (size_t k = 0; k < kQuadParts; ++k) x.v[k] = hn::Sqrt(x.v[k]);
    return x;
}
/// Bit i: x < y in lane i.
HWY_INLINE unsigned less_bits(Quad x, Quad y) {
    unsigned result = 0;
    for (size_t k = 0; k < kQuadParts; ++k) {
        uint8_t bytes[8] = {};
        hn::StoreMaskBits(QuadTag(), hn::Lt(x.v[k], y.v[k]), bytes);
        result |= (bytes[0] & ((1u << kQuadLanes) - 1u)) << (k * kQuadLanes);
    }
    return result;
}

/// (p0, p0, p1, p1)
HWY_INLINE Quad spread_outer(const double* p) {
    Quad q;
    if constexpr (kQuadLanes == 4) {
        q.v[0] = hn::ConcatUpperLower(QuadTag(), hn::Set(QuadTag(), p[1]), hn::Set(QuadTag(), p[0]));
    } else {
        for (size_t k = 0; k < kQuadParts; ++k) q.v[k] = hn::Set(QuadTag(), p[k * kQuadLanes / 2]);
    }
    return q;
}
/// (p0, p1, p0, p1)
HWY_INLINE Quad spread_inner(const double* p) {
    if constexpr (kQuadLanes >= 2) {
        Quad q;
        for (size_t k = 0; k < kQuadParts; ++k) q.v[k] = hn::LoadDup128(QuadTag(), p);
        return q;
    } else {
        const double lanes[4] = {p[0], p[1], p[0], p[1]};
        return Quad::load(lanes);
    }
}

/// Rows become columns.
HWY_INLINE void transpose(Quad& q0, Quad& q1, Quad& q2, Quad& q3) {
    if constexpr (kQuadLanes == 4) {
        const QuadTag d;
        const auto t0 = hn::InterleaveLower(d, q0.v[0], q1.v[0]), t1 = hn::InterleaveUpper(d, q0.v[0], q1.v[0]);
        const auto t2 = hn::InterleaveLower(d, q2.v[0], q3.v[0]), t3 = hn::InterleaveUpper(d, q2.v[0], q3.v[0]);
        q0.v[0] = hn::ConcatLowerLower(d, t2, t0);
        q1.v[0] = hn::ConcatLowerLower(d, t3, t1);
        q2.v[0] = hn::ConcatUpperUpper(d, t2, t0);
        q3.v[0] = hn::ConcatUpperUpper(d, t3, t1);
    } else {
        double from[4][4], to[4][4];
        q0.store(from[0]), q1.store(from[1]), q2.store(from[2]), q3.store(from[3]);
        for (size_t i = 0; i < 4; ++i) {
            for (size_t j = 0; j < 4; ++j) to[i][j] = from[j][i];
        }
        q0 = Quad::load(to[0]), q1 = Quad::load(to[1]), q2 = Quad::load(to[2]), q3 = Quad::load(to[3]);
    }
}

/// Of four places the numbers there and those behind them.
HWY_INLINE void load_columns(const double* const (&from)[4], Quad& first, Quad& second) {
    if constexpr (kQuadLanes == 4) {
        const QuadTag d;
        const hn::Half<QuadTag> half;
        const auto low = hn::Combine(d, hn::LoadU(half, from[2]), hn::LoadU(half, from[0]));
        const auto high = hn::Combine(d, hn::LoadU(half, from[3]), hn::LoadU(half, from[1]));
        first.v[0] = hn::InterleaveLower(d, low, high);
        second.v[0] = hn::InterleaveUpper(d, low, high);
    } else {
        first = Quad::of(from[0][0], from[1][0], from[2][0], from[3][0]);
        second = Quad::of(from[0][1], from[1][1], from[2][1], from[3][1]);
    }
}

/// 1 in the lanes of `bits`, else 0.
HWY_INLINE Quad ones(unsigned bits) {
    alignas(32) static constexpr double table[16][4] = {
        {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
        {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
    return Quad::load(table[bits]);
}

/// Which 32-bit halves of four 64-bit lanes to take, so that the lanes of `bits` come first.
struct PackingTable {
    alignas(32) uint32_t half[16][8];
};
constexpr PackingTable make_packing() {
    PackingTable table{};
    for (uint32_t bits = 0; bits < 16; ++bits) {
        size_t count = 0;
        for (uint32_t lane = 0; lane < 4; ++lane) {
            if ((bits >> lane & 1u) == 0) continue;
            table.half[bits][2 * count] = 2 * lane;
            table.half[bits][2 * count + 1] = 2 * lane + 1;
            ++count;
        }
    }
    return table;
}
inline constexpr PackingTable kPacking = make_packing();

/// The lanes of `bits` are written to `to` one after the other. May write anything to the rest of to[0 .. 3].
HWY_INLINE void store_packed(Quad q, unsigned bits, double* to) {
    if constexpr (kQuadLanes == 4) {
        const hn::CappedTag<uint32_t, 8> halves;
        const auto indices = hn::SetTableIndices(halves, kPacking.half[bits]);
        const auto packed = hn::TableLookupLanes(hn::BitCast(halves, q.v[0]), indices);
        hn::StoreU(hn::BitCast(QuadTag(), packed), QuadTag(), to);
    } else {
        double lanes[4];
        q.store(lanes);
        for (size_t lane = 0; lane < 4; ++lane) {
            *to = lanes[lane];
            to += bits >> lane & 1u;
        }
    }
}

/// The four pairs (p0, p0, p1, p1) | (q0, q1, q0, q1); those of `bits` are written to `to` one after the other. May write
/// anything to the rest of to[0 .. 3].
HWY_INLINE void store_pairs(const uint64_t* p, const uint64_t* q, unsigned bits, uint64_t* to) {
    if constexpr (kQuadLanes == 4) {
        const hn::CappedTag<uint64_t, 4> d;
        const auto outer = hn::ConcatUpperLower(d, hn::Set(d, p[1]), hn::Set(d, p[0]));
        const hn::CappedTag<uint32_t, 8> halves;
        const auto all = hn::BitCast(halves, hn::Or(outer, hn::LoadDup128(d, q)));
        const auto packed = hn::TableLookupLanes(all, hn::SetTableIndices(halves, kPacking.half[bits]));
        hn::StoreU(hn::BitCast(d, packed), d, to);
    } else {
        for (size_t lane = 0; lane < 4; ++lane) {
            *to = p[lane >> 1] | q[lane & 1];
            to += bits >> lane & 1u;
        }
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
