// SPDX-License-Identifier: Apache-2.0
/// @file  Far terms and band nodes of the pair recursion, four at a time. Included once per Highway target by pair_traversal.cpp.
#if defined(FARFIELD_CONTACT_LONGRANGE_PAIR_TERMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_PAIR_TERMS_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_PAIR_TERMS_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_PAIR_TERMS_INL_HPP
#endif

#include <algorithm>
#include <limits>

#include "farfield/contact/longrange/pair_work.hpp"
#include "farfield/contact/longrange/quad-inl.hpp"
#include "farfield/contact/longrange/traversal_input.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

/// Four pairs of points a, b seen from o, and their distance; tight radii in metres.
struct FourPairs {
    Quad ax, ay, az, tight_a, bx, by, bz, tight_b, dx, dy, dz, r;
};

struct FourCentred {
    Quad inverse, value, first, second;  // 1/r, C, C', C'' (times the shares)
};

HWY_INLINE size_t low(uint64_t nodes) { return nodes & 0xffffffffu; }
HWY_INLINE size_t high(uint64_t nodes) { return nodes >> 32; }

HWY_INLINE void load_nodes(const TraversalInput& in, const uint64_t (&nodes)[4], FourPairs& f) {
    Quad a[4], b[4];
    for (size_t i = 0; i < 4; ++i) {
        a[i] = Quad::load(in.a.nodes[low(nodes[i])].v);
        b[i] = Quad::load(in.b.nodes[high(nodes[i])].v);
    }
    transpose(a[0], a[1], a[2], a[3]);
    transpose(b[0], b[1], b[2], b[3]);
    const Quad scale = Quad::set(in.form.scale);
    f.ax = fma(scale, a[0], Quad::set(in.a.origin[0])), f.ay = fma(scale, a[1], Quad::set(in.a.origin[1]));
    f.az = fma(scale, a[2], Quad::set(in.a.origin[2])), f.tight_a = a[3];
    f.bx = fma(scale, b[0], Quad::set(in.b.origin[0])), f.by = fma(scale, b[1], Quad::set(in.b.origin[1]));
    f.bz = fma(scale, b[2], Quad::set(in.b.origin[2])), f.tight_b = b[3];
    f.dx = f.ax - f.bx, f.dy = f.ay - f.by, f.dz = f.az - f.bz;
    f.r = sqrt(fma(f.dz, f.dz, fma(f.dy, f.dy, f.dx * f.dx)));
}

HWY_INLINE void load_extents(const NodeExtent* extents, const size_t (&at)[4], Quad& area, Quad& spread) {
    const double* pairs[4] = {extents[at[0]].v, extents[at[1]].v, extents[at[2]].v, extents[at[3]].v};
    load_columns(pairs, area, spread);
}

/// As step() and faded() of centred.hpp.
HWY_INLINE void fade(const PotentialForm& form, Quad t, FourCentred& c) {
    const Quad zero = Quad::set(0.0), one = Quad::set(1.0), inverse = Quad::set(1.0 / form.fade_width());
    const Quad u = min(max((t - Quad::set(form.fade_start())) * inverse, zero), one);
    const Quad v = min(max((Quad::set(form.range) - t) * inverse, zero), one), uv = u * v;
    const Quad rest = (v * v) * (v * fma(v, fms(Quad::set(6.0), v, Quad::set(15.0)), Quad::set(10.0)));
    const Quad slope = Quad::set(30.0) * (uv * uv) * inverse;
    const Quad second = Quad::set(60.0) * uv * (v - u) * (inverse * inverse);
    c.second = fms(rest, c.second, fma(slope + slope, c.first, second * c.value));
    c.first = fms(rest, c.first, slope * c.value);
    c.value = rest * c.value;
}

/// As centred() of centred.hpp.
HWY_INLINE void evaluate(const TraversalInput& in, const uint64_t (&nodes)[4], const FourPairs& f, FourCentred& c) {
    const Quad one = Quad::set(1.0), twelve = Quad::set(12.0);
    c.inverse = one / f.r;
    Quad q2 = c.inverse, share = one, t = f.r;
    if (HWY_LIKELY(in.form.parallel_areas)) {
        const size_t i[4] = {low(nodes[0]), low(nodes[1]), low(nodes[2]), low(nodes[3])};
        const size_t j[4] = {high(nodes[0]), high(nodes[1]), high(nodes[2]), high(nodes[3])};
        Quad area_a, area_b, spread_a, spread_b;
        load_extents(in.a.extents, i, area_a, spread_a), load_extents(in.b.extents, j, area_b, spread_b);
        t = fma(Quad::set(in.form.scale), spread_a + spread_b, f.r);
        const Quad sum = area_a + area_b, inverse = one / (t * sum);  // one division for both quotients
        q2 = sum * inverse;
        share = (area_a * area_b) * (t * inverse) * Quad::set(in.form.inverse_area);
    }
    const Quad q = sqrt(q2), q3 = q2 * q;
    c.value = fma(twelve * q, Quad::set(2.0) + q, Quad::set(in.form.far_value));
    c.first = Quad::set(0.0) - twelve * ((one + q) * q3);
    c.second = (q3 * q2) * fma(Quad::set(24.0), q, Quad::set(18.0));
    if (HWY_UNLIKELY(in.form.near())) fade(in.form, t, c);
    if (HWY_LIKELY(in.form.parallel_areas))
        c.value = share * c.value, c.first = share * c.first, c.second = share * c.second;
}

/// Lanes take far pairs k, k + quarter, ...: neighbours in the list mostly add to the same row of sums, and would wait for each other.
/// The list is padded to a multiple of four with weightless ones that add to a row nobody reads.
HWY_INLINE void load_far(const NodePairs& far, size_t k, size_t quarter, uint64_t (&nodes)[4], Quad& weight) {
    for (size_t i = 0; i < 4; ++i) nodes[i] = far.nodes[k + i * quarter];
    const double* w = far.weight.data() + k;
    weight = Quad::of(w[0], w[quarter], w[2 * quarter], w[3 * quarter]);
}

double sum_far_values(const TraversalInput& input, size_t count, const PairWork& work) {
    const TraversalInput in = input;
    Quad total = Quad::set(0.0);
    const size_t quarter = (count + 3) / 4;
    for (size_t k = 0; k < quarter; ++k) {
        uint64_t nodes[4];
        Quad weight;
        load_far(work.far, k, quarter, nodes, weight);
        FourPairs f;
        FourCentred c;
        load_nodes(in, nodes, f);
        evaluate(in, nodes, f, c);
        total = fma(weight, c.value, total);
    }
    double lanes[4];
    total.store(lanes);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

HWY_INLINE void add_row(BandTable::SumRow& sum, Quad low_half, Quad high_half) {
    (Quad::load(sum.v) + low_half).store(sum.v);
    (Quad::load(sum.v + 4) + high_half).store(sum.v + 4);
}

HWY_INLINE void add_beta(Quad beta, const FourPairs& f, Quad (&sums)[kTermSums]) {
    const Quad half = Quad::set(0.5) * beta;
    const auto add = [&](size_t k, Quad x, Quad y) { sums[k] = fma(x, y, sums[k]); };
    sums[0] = sums[0] + beta;
    add(1, beta, f.ax), add(2, beta, f.ay), add(3, beta, f.az);
    add(4, beta * f.ax, f.bx), add(5, beta * f.ay, f.by), add(6, beta * f.az, f.bz);
    add(7, half, fma(f.ay, f.bz, f.az * f.by));
    add(8, half, fma(f.ax, f.bz, f.az * f.bx));
    add(9, half, fma(f.ax, f.by, f.ay * f.bx));
}

/// U = r dr.
HWY_INLINE void lever(const FourPairs& f, Quad (&u)[6]) {
    u[0] = f.dx, u[1] = f.dy, u[2] = f.dz;
    u[3] = fms(f.by, f.az, f.bz * f.ay);
    u[4] = fms(f.bz, f.ax, f.bx * f.az);
    u[5] = fms(f.bx, f.ay, f.by * f.ax);
}

/// kappa u u^T
HWY_INLINE void add_ranks(Quad kappa, const Quad (&u)[6], Quad (&sums)[kTermSums]) {
    size_t entry = kFirstRank;
#pragma GCC unroll 6
    for (size_t col = 0; col < 6; ++col) {
        const Quad scaled = kappa * u[col];
#pragma GCC unroll 6
        for (size_t row = col; row < 6; ++row, ++entry) sums[entry] = fma(scaled, u[row], sums[entry]);
    }
}

/// dr t^T + t dr^T
HWY_INLINE void add_ranks(const Quad (&dr)[6], const Quad (&t)[6], Quad (&sums)[kTermSums]) {
    size_t entry = kFirstRank;
#pragma GCC unroll 6
    for (size_t col = 0; col < 6; ++col) {
#pragma GCC unroll 6
        for (size_t row = col; row < 6; ++row, ++entry)
            sums[entry] = fma(dr[row], t[col], fma(t[row], dr[col], sums[entry]));
    }
}

void reduce(const Quad (&sums)[kTermSums], double* totals) {
    for (size_t k = 0; k < kTermSums; ++k) {
        double lanes[4];
        sums[k].store(lanes);
        totals[k] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    }
}

/// What the accumulation needs of four far terms.
struct FarTerms {
    double ax[4], ay[4], az[4], bx[4], by[4], bz[4], beta[4], kappa[4], value[4], weight[4];
};
inline constexpr size_t kFarBlock =
    16;  // quads between the roots and divisions, which only wait, and the sums, which only add

/// Returns the smallest distance between the bounding spheres of far pairs.
double sum_far(const TraversalInput& input, size_t count, PairWork& work, double* totals) {
    const TraversalInput in = input;
    Quad sums[kTermSums], gap = Quad::set(std::numeric_limits<double>::infinity());
    for (Quad& q : sums) q = Quad::set(0.0);
    BandTable::SumRow* rows = work.bands.sums();
    const int* parents = work.far.parent.data();
    const size_t quarter = (count + 3) / 4;
    alignas(32) FarTerms block[kFarBlock];
    for (size_t begin = 0; begin < quarter; begin += kFarBlock) {
        const size_t size = quarter - begin < kFarBlock ? quarter - begin : kFarBlock;
        for (size_t k = 0; k < size; ++k) {
            uint64_t nodes[4];
            Quad weight;
            load_far(work.far, begin + k, quarter, nodes, weight);
            FourPairs f;
            FourCentred c;
            load_nodes(in, nodes, f);
            evaluate(in, nodes, f, c);
            gap = min(gap, f.r - Quad::set(in.form.scale) * (f.tight_a + f.tight_b));
            const Quad beta = c.first * c.inverse;
            FarTerms& out = block[k];
            f.ax.store(out.ax), f.ay.store(out.ay), f.az.store(out.az);
            f.bx.store(out.bx), f.by.store(out.by), f.bz.store(out.bz);
            beta.store(out.beta), ((c.second - beta) * (c.inverse * c.inverse)).store(out.kappa);
            c.value.store(out.value), weight.store(out.weight);
        }
        for (size_t k = 0; k < size; ++k) {
            const FarTerms& from = block[k];
            FourPairs f;
            f.ax = Quad::load(from.ax), f.ay = Quad::load(from.ay), f.az = Quad::load(from.az);
            f.bx = Quad::load(from.bx), f.by = Quad::load(from.by), f.bz = Quad::load(from.bz);
            f.dx = f.ax - f.bx, f.dy = f.ay - f.by, f.dz = f.az - f.bz;
            const Quad beta = Quad::load(from.beta), weight = Quad::load(from.weight);
            Quad u[6];
            lever(f, u);
            Quad low_half[4] = {beta * u[0], beta * u[1], beta * u[2], beta * u[3]};
            Quad high_half[4] = {beta * u[4], beta * u[5], Quad::load(from.value), Quad::set(0.0)};
            transpose(low_half[0], low_half[1], low_half[2], low_half[3]);
            transpose(high_half[0], high_half[1], high_half[2], high_half[3]);
            for (size_t i = 0; i < 4; ++i) {
                add_row(rows[parents[begin + k + i * quarter]], low_half[i], high_half[i]);
            }
            add_beta(weight * beta, f, sums);
            add_ranks(weight * Quad::load(from.kappa), u, sums);
        }
    }
    reduce(sums, totals);
    double lanes[4];
    gap.store(lanes);
    return std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
}

/// Four bands from `k` on, of which `count` are meant.
HWY_INLINE void sum_four_bands(const double* fields, size_t stride, const int* parents, BandTable::SumRow* rows,
                               size_t k, size_t count, Quad (&sums)[kTermSums]) {
    const auto get = [&](BandTable::Field field) { return Quad::load(fields + field * stride + k); };
    const Quad weight = ones(count < 4 ? (1u << count) - 1u : 0xfu) * get(BandTable::kWeight);
    Quad g[8];
    for (size_t i = 0; i < 4; ++i) g[i] = Quad::load(rows[k + i].v), g[4 + i] = Quad::load(rows[k + i].v + 4);
    transpose(g[0], g[1], g[2], g[3]);
    transpose(g[4], g[5], g[6], g[7]);
    FourPairs f;
    f.ax = get(BandTable::kAx), f.ay = get(BandTable::kAy), f.az = get(BandTable::kAz);
    f.bx = get(BandTable::kBx), f.by = get(BandTable::kBy), f.bz = get(BandTable::kBz);
    f.dx = f.ax - f.bx, f.dy = f.ay - f.by, f.dz = f.az - f.bz;
    Quad dr[6];
    lever(f, dr);
    const Quad inverse = get(BandTable::kInverse), centred = get(BandTable::kCentred), first = get(BandTable::kFirst);
    const Quad phi = get(BandTable::kPhi), rest = get(BandTable::kRest), excess = centred - g[6];
    for (Quad& q : dr) q = q * inverse;
    const Quad slope = fma(first, excess, get(BandTable::kSlope));
    const Quad curvature = fma(get(BandTable::kSecond), excess, get(BandTable::kCurvature));
    Quad node[8];
    for (size_t i = 0; i < 6; ++i) node[i] = fma(rest, g[i], slope * dr[i]);
    node[6] = fma(rest, g[6], phi * centred);
    node[7] = Quad::set(0.0);
    transpose(node[0], node[1], node[2], node[3]);
    transpose(node[4], node[5], node[6], node[7]);
    for (size_t i = 0; i < count; ++i) add_row(rows[parents[k + i]], node[i], node[4 + i]);

    const Quad beta = (weight * slope) * inverse, kappa = fms(weight, curvature, beta);
    add_beta(beta, f, sums);
    // kappa dr dr^T - W phi' (dr g^T + g dr^T) = dr t^T + t dr^T,  t = kappa/2 dr - W phi' g
    const Quad half = Quad::set(0.5) * kappa, cross = weight * first;
    Quad t[6];
    for (size_t i = 0; i < 6; ++i) t[i] = fms(half, dr[i], cross * g[i]);
    add_ranks(dr, t, sums);
}

void sum_bands(BandTable& bands, double* totals) {
    Quad sums[kTermSums];
    for (Quad& q : sums) q = Quad::set(0.0);
    const double* fields = bands.field(BandTable::kAx);
    const auto stride = static_cast<size_t>(bands.field(BandTable::kAy) - fields);
    const int* parents = bands.parent();
    BandTable::SumRow* rows = bands.sums();
    for (size_t level = bands.num_levels(); level-- > 0;) {
        const size_t end = bands.level_end(level);
        for (size_t k = bands.level_begin(level); k < end; k += 4)
            sum_four_bands(fields, stride, parents, rows, k, std::min<size_t>(4, end - k), sums);
    }
    reduce(sums, totals);
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_PAIR_TERMS_INL_HPP
