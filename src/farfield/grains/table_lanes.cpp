// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/table_lanes.hpp"

#include <algorithm>
#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SCALAR)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/grains/table_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::grains::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kAhead = 6;   // poses between asking for a stencil and using it
constexpr size_t kBatch = 64;  // poses per pass: their stencils' places stay in the first cache

using Quad = hn::FixedTag<float, 4>;
using Vec4 = hn::Vec<Quad>;

/// Two stencil rows of four nodes along Y: one vector where there are eight lanes, else two.
#if HWY_MAX_BYTES >= 32
using Eight = hn::FixedTag<float, 8>;
struct Rows {
    hn::Vec<Eight> v;
};
HWY_INLINE Rows zero() { return {hn::Zero(Eight())}; }
HWY_INLINE Rows load(const float* low, const float* high) {
    return {hn::Combine(Eight(), hn::LoadU(Quad(), high), hn::LoadU(Quad(), low))};
}
HWY_INLINE Rows spread(float low, float high) {
    return {hn::Combine(Eight(), hn::Set(Quad(), high), hn::Set(Quad(), low))};
}
HWY_INLINE Rows mul_add(const Rows& a, const Rows& b, const Rows& c) { return {hn::MulAdd(a.v, b.v, c.v)}; }
HWY_INLINE Vec4 total(const Rows& a) { return hn::Add(hn::LowerHalf(a.v), hn::UpperHalf(Quad(), a.v)); }
#else
struct Rows {
    Vec4 low, high;
};
HWY_INLINE Rows zero() { return {hn::Zero(Quad()), hn::Zero(Quad())}; }
HWY_INLINE Rows load(const float* low, const float* high) { return {hn::LoadU(Quad(), low), hn::LoadU(Quad(), high)}; }
HWY_INLINE Rows spread(float low, float high) { return {hn::Set(Quad(), low), hn::Set(Quad(), high)}; }
HWY_INLINE Rows mul_add(const Rows& a, const Rows& b, const Rows& c) {
    return {hn::MulAdd(a.low, b.low, c.low), hn::MulAdd(a.high, b.high, c.high)};
}
HWY_INLINE Vec4 total(const Rows& a) { return hn::Add(a.low, a.high); }
#endif

/// Sums of the lanes of four vectors.
HWY_INLINE Vec4 sums(Vec4 a, Vec4 b, Vec4 c, Vec4 d) {
    const Quad q;
    const Vec4 ab = hn::Add(hn::InterleaveLower(q, a, b), hn::InterleaveUpper(q, a, b));
    const Vec4 cd = hn::Add(hn::InterleaveLower(q, c, d), hn::InterleaveUpper(q, c, d));
    return hn::Add(hn::ConcatLowerLower(q, cd, ab), hn::ConcatUpperUpper(q, cd, ab));
}

// Catmull-Rom weights of the nodes -1, 0, 1, 2 at f in [0, 1) are polynomials in f; one column per power.
HWY_ALIGN constexpr float kWeight[4][4] = {
    {0.0f, 1.0f, 0.0f, 0.0f}, {-0.5f, 0.0f, 0.5f, 0.0f}, {1.0f, -2.5f, 2.0f, -0.5f}, {-0.5f, 1.5f, -1.5f, 0.5f}};

HWY_INLINE Vec4 weights(Vec4 f) {
    const Quad q;
    Vec4 w = hn::MulAdd(f, hn::Load(q, kWeight[3]), hn::Load(q, kWeight[2]));
    w = hn::MulAdd(f, w, hn::Load(q, kWeight[1]));
    return hn::MulAdd(f, w, hn::Load(q, kWeight[0]));
}
HWY_INLINE Vec4 weight_slopes(Vec4 f) {
    const Quad q;
    const Vec4 three = hn::Mul(hn::Set(q, 3.0f), hn::Load(q, kWeight[3]));
    const Vec4 two = hn::Add(hn::Load(q, kWeight[2]), hn::Load(q, kWeight[2]));
    return hn::MulAdd(f, hn::MulAdd(f, three, two), hn::Load(q, kWeight[1]));
}

/// Where poses lie in the table: offset of node (0, 0, 0) of each cell, negative outside, and the place in the cell.
struct Places {
    HWY_ALIGN int64_t cell[kBatch];
    HWY_ALIGN double fu[kBatch], fv[kBatch], fw[kBatch];
};

/// Lanes are poses.
void locate(const TableView& t, const Relative* poses, size_t count, Places& out) {
    const hn::CappedTag<double, 4> d;
    const hn::RebindToSigned<decltype(d)> di;
    const size_t width = hn::Lanes(d);
    HWY_ALIGN double tail[3 * 4] = {};
    const auto n = hn::Set(d, static_cast<double>(t.num_space));
    const auto one = hn::Set(d, 1.0), last = hn::Set(d, static_cast<double>(t.num_space) - 2.0);
    const auto period = hn::Set(d, static_cast<double>(t.num_theta)), middle = hn::Set(d, t.half_width * t.per_space);
    const auto per_metre = hn::Set(d, t.inverse_scale * t.per_space), per_theta = hn::Set(d, t.per_theta);
    for (size_t q = 0; q < count; q += width) {
        const double* from = &poses[q].theta;
        if (q + width > count) {
            std::copy_n(from, 3 * (count - q), tail);
            from = tail;
        }
        hn::Vec<decltype(d)> theta, x, y;
        hn::LoadInterleaved3(d, from, theta, x, y);
        const auto u = hn::MulAdd(x, per_metre, middle), v = hn::MulAdd(y, per_metre, middle);
        const auto turns = hn::Mul(hn::Sub(theta, hn::Set(d, t.first_theta)), per_theta);
        auto w = hn::Sub(turns, hn::Mul(period, hn::Floor(hn::Div(turns, period))));
        w = hn::IfThenElseZero(hn::Lt(w, period), w);  // rounding may give the period itself
        const auto inside = hn::And(hn::And(hn::Ge(u, one), hn::Lt(u, last)), hn::And(hn::Ge(v, one), hn::Lt(v, last)));
        const auto i = hn::Floor(u), j = hn::Floor(v), k = hn::Floor(w);
        const auto cell = hn::MulAdd(hn::MulAdd(hn::Add(k, one), n, i), n, j);  // exact: below 2^53
        hn::Store(hn::ConvertTo(di, hn::IfThenElse(inside, cell, hn::Set(d, -1.0))), di, out.cell + q);
        hn::Store(hn::Sub(u, i), d, out.fu + q);
        hn::Store(hn::Sub(v, j), d, out.fv + q);
        hn::Store(hn::Sub(w, k), d, out.fw + q);
    }
}

HWY_INLINE float lerp(float f, float a, float b) { return a + f * (b - a); }

/// Lanes are nodes.
HWY_INLINE void contract(const TableView& t, size_t cell, float fu, float fv, float fw, MapValue& out) {
    const Quad q;
    const auto n = static_cast<size_t>(t.num_space), slice = n * n;
    const Vec4 at_u = hn::Set(q, fu), at_v = hn::Set(q, fv), at_w = hn::Set(q, fw);
    HWY_ALIGN float wu[4], du[4], ww[4], dw[4];
    hn::Store(weights(at_u), q, wu);
    hn::Store(weight_slopes(at_u), q, du);
    hn::Store(weights(at_w), q, ww);
    hn::Store(weight_slopes(at_w), q, dw);
    const float* corner = t.distance + cell - slice - n - 1;
    Rows across[2] = {zero(), zero()}, slope[2] = {zero(), zero()};
    for (size_t c = 0; c < 4; ++c) {
        const Rows weight = spread(ww[c], ww[c]), rate = spread(dw[c], dw[c]);
        for (size_t half = 0; half < 2; ++half) {
            const float* row = corner + c * slice + 2 * half * n;
            const Rows rows = load(row, row + n);
            across[half] = mul_add(weight, rows, across[half]);
            slope[half] = mul_add(rate, rows, slope[half]);
        }
    }
    const Rows low = spread(wu[0], wu[1]), high = spread(wu[2], wu[3]);
    const Vec4 value = total(mul_add(high, across[1], mul_add(low, across[0], zero())));
    const Vec4 by_w = total(mul_add(high, slope[1], mul_add(low, slope[0], zero())));
    const Vec4 by_u = total(mul_add(spread(du[2], du[3]), across[1], mul_add(spread(du[0], du[1]), across[0], zero())));
    const Vec4 wv = weights(at_v), dv = weight_slopes(at_v);
    HWY_ALIGN float found[4];
    hn::Store(sums(hn::Mul(value, wv), hn::Mul(by_w, wv), hn::Mul(by_u, wv), hn::Mul(value, dv)), q, found);
    out.distance = t.scale * static_cast<double>(found[0]);
    if (out.distance >= 0.0) return;
    out.g_theta = t.scale * t.per_theta * static_cast<double>(found[1]);
    out.g_x = t.per_space * static_cast<double>(found[2]);
    out.g_y = t.per_space * static_cast<double>(found[3]);
    const float* arm = t.arm + cell;
    const auto level = [&](const float* p) { return lerp(fu, lerp(fv, p[0], p[1]), lerp(fv, p[n], p[n + 1])); };
    out.arm = t.scale * static_cast<double>(lerp(fw, level(arm), level(arm + slice)));
}

/// Asks for the cache lines of a stencil: in a large scene they are not in the nearest cache.
HWY_INLINE void fetch(const TableView& t, int64_t cell) {
    if (cell < 0) return;
    const auto n = static_cast<ptrdiff_t>(t.num_space), slice = n * n;
    const float* corner = t.distance + cell - slice - n - 1;
    for (ptrdiff_t c = 0; c < 4; ++c) {
        for (ptrdiff_t a = 0; a < 4; ++a) __builtin_prefetch(corner + c * slice + a * n);
    }
    const float* arm = t.arm + cell;
    for (ptrdiff_t c = 0; c < 2; ++c) {
        for (ptrdiff_t a = 0; a < 2; ++a) __builtin_prefetch(arm + c * slice + a * n);
    }
}

void evaluate(const TableView& t, const Relative* poses, size_t count, MapValue* values) {
    const auto n = static_cast<size_t>(t.num_space), slice = n * n;
    Places at;
    for (size_t begin = 0; begin < count; begin += kBatch) {
        const size_t size = std::min(kBatch, count - begin);
        locate(t, poses + begin, size, at);
        for (size_t q = 0; q < std::min(kAhead, size); ++q) fetch(t, at.cell[q]);
        for (size_t q = 0; q < size; ++q) {
            if (q + kAhead < size) fetch(t, at.cell[q + kAhead]);
            MapValue& out = values[begin + q];
            out = MapValue{};
            if (at.cell[q] < 0) continue;
            const auto cell = static_cast<size_t>(at.cell[q]);
            const size_t near = cell + (at.fw[q] > 0.5 ? slice : 0) + (at.fu[q] > 0.5 ? n : 0) + (at.fv[q] > 0.5);
            if (t.distance[near] > t.clear) continue;
            contract(t, cell, static_cast<float>(at.fu[q]), static_cast<float>(at.fv[q]), static_cast<float>(at.fw[q]),
                     out);
        }
    }
}

}  // namespace farfield::grains::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::grains {

HWY_EXPORT(evaluate);

void evaluate_table(const TableView& table, const Relative* poses, std::size_t count, MapValue* values) {
    HWY_DYNAMIC_DISPATCH(evaluate)(table, poses, count, values);
}

}  // namespace farfield::grains
#endif  // HWY_ONCE
