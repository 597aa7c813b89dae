// SPDX-License-Identifier: Apache-2.0
/// @file  Four doubles, in as many vectors as the target needs. Included once per Highway target by pair_traversal.cpp.
#if defined(FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
#endif

#include <cstddef>

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
/// y where x < limit, else z
HWY_INLINE Quad select_less(Quad x, Quad limit, Quad y, Quad z) {
    for (size_t k = 0; k < kQuadParts; ++k) y.v[k] = hn::IfThenElse(hn::Lt(x.v[k], limit.v[k]), y.v[k], z.v[k]);
    return y;
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

/// Lane i of the result: the four lanes of q[i], summed as (0 + 1) + (2 + 3).
HWY_INLINE Quad sum_each(Quad q0, Quad q1, Quad q2, Quad q3) {
    if constexpr (kQuadLanes == 4) {
        const QuadTag d;
        const auto s01 = hn::Add(hn::InterleaveLower(d, q0.v[0], q1.v[0]), hn::InterleaveUpper(d, q0.v[0], q1.v[0]));
        const auto s23 = hn::Add(hn::InterleaveLower(d, q2.v[0], q3.v[0]), hn::InterleaveUpper(d, q2.v[0], q3.v[0]));
        Quad out;
        out.v[0] = hn::Add(hn::ConcatLowerLower(d, s23, s01), hn::ConcatUpperUpper(d, s23, s01));
        return out;
    } else {
        double lanes[4][4], sums[4];
        q0.store(lanes[0]), q1.store(lanes[1]), q2.store(lanes[2]), q3.store(lanes[3]);
        for (size_t i = 0; i < 4; ++i) sums[i] = (lanes[i][0] + lanes[i][1]) + (lanes[i][2] + lanes[i][3]);
        return Quad::load(sums);
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_QUAD_INL_HPP
