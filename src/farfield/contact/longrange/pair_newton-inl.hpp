// SPDX-License-Identifier: Apache-2.0
/// @file  Nested Newton of the pair potential over lanes. Included once per Highway target by pair_lanes.cpp.
///
/// Points are taken relative to vertex 0 of A, and the plane as (n, s_k): slacks are carried along, s_k += t ds_k, so
/// the offset d never appears. d is eliminated first by the parallel-axis rule: about the weighted mean m = sum x/s^3
/// / sum 1/s^3 the Hessian by (n, d + n.m) is block diagonal, and no large numbers are subtracted in a small gap:
///     H_nn = a I + b n n^T + sum 2 y y^T / s^3,  y = x - m,   a = 12 w^2/N,  b = (24 w^3 - a)/N^2,   H_dd = sum 2/s^3
/// With q = 1/(N (1 - N)): a = 12 N q^2, b = 12 q^3 (3 N - 1).
/// Swept triangles (pair_potential.hpp): x_k + sweep n/N in place of x_k on B, and sweep/N (1 - n n^T/N^2) sum_B 1/s^2 more in H_nn. Slacks
/// then lose sweep (|n + t dn| - N - t n.dn/N) beside t ds_k.
#if defined(FARFIELD_CONTACT_LONGRANGE_PAIR_NEWTON_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_PAIR_NEWTON_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_PAIR_NEWTON_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_PAIR_NEWTON_INL_HPP
#endif

#include "farfield/contact/longrange/pair_constants.hpp"
#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

using namespace farfield::HWY_NAMESPACE;  // NOLINT: lanes of the same target

/// x_k - x_0, and the largest of their lengths with the sum of both radii.
template <class R>
struct Points {
    Lane3<R> x[6];
    R radius, sweep;
    bool swept;  ///< some lane has radii
};

template <class R>
HWY_INLINE Lane3<R> load3(const double (*rows)[kChunkPairs], size_t lane) {
    return {R::load(&rows[0][lane]), R::load(&rows[1][lane]), R::load(&rows[2][lane])};
}

template <class R>
HWY_INLINE void load_points(const PairChunk& chunk, size_t lane, Points<R>& p) {
    const Lane3<R> first = load3<R>(&chunk.arms[0], lane);
    p.x[0] = {R::set(0.0), R::set(0.0), R::set(0.0)};
    R largest = R::set(0.0);
    for (size_t k = 1; k < 6; ++k) {
        p.x[k] = load3<R>(&chunk.arms[3 * k], lane) - first;
        largest = max(largest, dot(p.x[k], p.x[k]));
    }
    p.sweep = R::load(&chunk.radius[0][lane]);
    p.swept = !none(R::set(0.0) < p.sweep);
    p.radius = sqrt(largest) + p.sweep;
}

/// A plane with all that is derived from it: length N, q = 1/(N (1 - N)), reciprocal slacks r, L.
template <class R>
struct PlaneState {
    Lane3<R> n;
    R s[6], r[6];
    R length, q, value;
};

template <class R>
HWY_INLINE R sum6(const R (&v)[6]) {
    return ((v[0] + v[1]) + (v[2] + v[3])) + (v[4] + v[5]);
}

/// Everything that follows from n and s.
template <class R>
HWY_INLINE void complete(PlaneState<R>& plane) {
    plane.length = sqrt(dot(plane.n, plane.n));
    plane.q = R::set(1.0) / (plane.length * (R::set(1.0) - plane.length));
    for (size_t k = 0; k < 6; ++k) plane.r[k] = R::set(1.0) / plane.s[k];
    plane.value = fma(R::set(12.0) * plane.length, plane.q, sum6(plane.r));
}

/// Where the swept triangles touch planes of this normal: on B, sweep n/N beyond the vertices.
template <class R>
HWY_INLINE void surface_points(const Points<R>& p, const PlaneState<R>& plane, Lane3<R> (&x)[6]) {
    for (size_t k = 0; k < 6; ++k) x[k] = p.x[k];
    if (HWY_LIKELY(!p.swept)) return;
    const R scale = p.sweep / plane.length;
    for (size_t k = 3; k < 6; ++k) x[k] = fma(scale, plane.n, x[k]);
}

/// Adds sweep/N (1 - n n^T/N^2) sum_B 1/s^2 to a 1 + b n n^T.
template <class R>
HWY_INLINE void add_sweep_curvature(const Points<R>& p, const PlaneState<R>& plane, R squares_b, R& a, R& b) {
    if (HWY_LIKELY(!p.swept)) return;
    const R curvature = (p.sweep * squares_b) / plane.length;
    a = a + curvature;
    b = b - curvature / (plane.length * plane.length);
}

/// Newton step of (n, d + n.m), the change ds of the slacks, and lambda^2. `squares` = sum 1/s^2.
template <class R>
struct Step {
    Lane3<R> dn;
    R ds[6];
    R decrement, squares;
};

/// L D L^T of a symmetric 3x3 matrix; pivots stored inverted.
template <class R>
struct Factor3 {
    R l10, l20, l21, i0, i1, i2;
};
template <class R>
HWY_INLINE Factor3<R> factorise(R xx, R xy, R xz, R yy, R yz, R zz) {
    Factor3<R> f;
    f.i0 = R::set(1.0) / xx;
    f.l10 = xy * f.i0;
    f.l20 = xz * f.i0;
    f.i1 = R::set(1.0) / fnma(f.l10, xy, yy);
    const R rest = fnma(f.l20, xy, yz);
    f.l21 = rest * f.i1;
    f.i2 = R::set(1.0) / fnma(f.l21, rest, fnma(f.l20, xz, zz));
    return f;
}

template <class R>
HWY_INLINE void newton_step(const Points<R>& p, const PlaneState<R>& plane, Step<R>& out) {
    R weight[6], square_[6];
    Lane3<R> x[6];
    surface_points(p, plane, x);
    for (size_t k = 0; k < 6; ++k) {
        square_[k] = plane.r[k] * plane.r[k];
        weight[k] = (plane.r[k] + plane.r[k]) * square_[k];
    }
    const R total = sum6(weight), inverse = R::set(1.0) / total;
    Lane3<R> mean = weight[1] * x[1];
    for (size_t k = 2; k < 6; ++k) mean = fma(weight[k], x[k], mean);
    mean = inverse * mean;
    const R sum_a = (square_[0] + square_[1]) + square_[2], sum_b = (square_[3] + square_[4]) + square_[5];

    const Lane3<R>& n = plane.n;
    const R q2 = plane.q * plane.q;
    const R a = R::set(12.0) * (plane.length * q2);
    R b = (R::set(12.0) * (q2 * plane.q)) * fms(R::set(3.0), plane.length, R::set(1.0)), c = a;
    add_sweep_curvature(p, plane, sum_b, c, b);
    const Lane3<R> bn = b * n;
    Lane3<R> g = a * n;
    R xx = fma(bn.x, n.x, c), xy = bn.x * n.y, xz = bn.x * n.z, yy = fma(bn.y, n.y, c), yz = bn.y * n.z,
      zz = fma(bn.z, n.z, c);
    for (size_t k = 0; k < 6; ++k) {
        const Lane3<R> y = x[k] - mean;
        g = k < 3 ? fnma(square_[k], y, g) : fma(square_[k], y, g);
        const Lane3<R> wy = weight[k] * y;
        xx = fma(wy.x, y.x, xx), xy = fma(wy.x, y.y, xy), xz = fma(wy.x, y.z, xz);
        yy = fma(wy.y, y.y, yy), yz = fma(wy.y, y.z, yz), zz = fma(wy.z, y.z, zz);
    }
    const Factor3<R> f = factorise(xx, xy, xz, yy, yz, zz);
    const R v1 = fnma(f.l10, g.x, g.y), v2 = fnma(f.l21, v1, fnma(f.l20, g.x, g.z));
    const R zero = R::set(0.0);
    out.dn.z = zero - v2 * f.i2;
    out.dn.y = fnma(f.l21, out.dn.z, zero - v1 * f.i1);
    out.dn.x = fnma(f.l20, out.dn.z, fnma(f.l10, out.dn.y, zero - g.x * f.i0));
    const R gd = sum_b - sum_a, dd = zero - gd * inverse;
    out.decrement = zero - fma(gd, dd, dot(g, out.dn));
    out.squares = sum_a + sum_b;
    const R base = dd - dot(out.dn, mean);
    out.ds[0] = base;
    for (size_t k = 1; k < 6; ++k) {
        const R change = fma(out.dn.z, x[k].z, fma(out.dn.y, x[k].y, fma(out.dn.x, x[k].x, base)));
        out.ds[k] = k < 3 ? change : zero - change;
    }
}

/// min(1, cap * largest t with positive slacks and |n + t dn| <= 1). Full steps, by far the most, need no root.
template <class R>
HWY_INLINE R capped_step(const PlaneState<R>& plane, const Step<R>& step) {
    const R zero = R::set(0.0), one = R::set(1.0), cap = R::set(kStepCap);
    R ratio = zero;
    for (size_t k = 0; k < 6; ++k) ratio = max(ratio, zero - step.ds[k] * plane.r[k]);
    const Lane3<R> beyond = fma(R::set(1.0 / kStepCap), step.dn, plane.n);
    const auto full = (ratio <= cap) & (dot(beyond, beyond) <= one);
    if (HWY_LIKELY(all(full))) return one;
    const R tiny = R::set(1e-300);
    const R a = dot(step.dn, step.dn), b = dot(plane.n, step.dn), c = one - plane.length * plane.length;
    const R t_length = c / max(b + sqrt(fma(b, b, a * c)), tiny);  // positive root of a t^2 + 2 b t = c
    const R partial = min(one, cap * min(t_length, one / max(ratio, tiny)));
    return select(full, one, partial);
}

template <class R>
HWY_INLINE void advance(const Points<R>& p, const PlaneState<R>& from, const Step<R>& step, R t, PlaneState<R>& to) {
    to.n = fma(t, step.dn, from.n);
    for (size_t k = 0; k < 6; ++k) to.s[k] = fma(t, step.ds[k], from.s[k]);
    if (HWY_LIKELY(!p.swept)) return complete(to);
    const R zero = R::set(0.0), along = dot(from.n, step.dn) / from.length;
    const R across = max(zero, dot(step.dn, step.dn) - along * along);
    const R sum = fma(t, along, sqrt(dot(to.n, to.n)) + from.length);
    const R bend = (p.sweep * (t * t)) * (across / max(sum, R::set(1e-300)));
    for (size_t k = 3; k < 6; ++k) to.s[k] = to.s[k] - bend;
    complete(to);
    const R lowest = min(min(min(to.s[0], to.s[1]), to.s[2]), min(min(to.s[3], to.s[4]), to.s[5]));
    to.value = select(zero < lowest, to.value, R::set(std::numeric_limits<double>::infinity()));
}

/// Newton with capped steps and Armijo halving on the lanes of `active`; the others keep their bits. Returns steps
/// taken.
template <class R>
HWY_INLINE R minimise(const Points<R>& p, typename R::Mask active, double tolerance, PlaneState<R>& plane) {
    const R one = R::set(1.0);
    R iterations = R::set(0.0);
    Step<R> step;
    PlaneState<R> trial;
    for (int i = 0; i < kMaxPairIterations; ++i) {
        newton_step(p, plane, step);
        step.dn = keep(active, step.dn);
        for (size_t k = 0; k < 6; ++k) step.ds[k] = keep(active, step.ds[k]);
        const R noise = (R::set(kEnergyNoise) * p.radius) * step.squares;
        const auto done = step.decrement <= fma(R::set(tolerance), plane.value, noise);
        iterations = iterations + keep(active, one);
        R t = capped_step(plane, step);
        advance(p, plane, step, t, trial);
        const auto searching = but_not(active, done);
        const R slope = R::set(kArmijo) * step.decrement, limit = plane.value + noise;
        auto poor = but_not(searching, trial.value <= fnma(slope, t, limit));
        for (int halving = 0; HWY_UNLIKELY(!none(poor)) && halving < kMaxHalvings; ++halving) {
            t = select(poor, R::set(0.5) * t, t);
            advance(p, plane, step, t, trial);
            poor = but_not(searching, trial.value <= fnma(slope, t, limit));
        }
        plane = trial;
        active = searching;
        if (none(active)) break;
    }
    return iterations;
}

template <class R>
HWY_INLINE void store_solution(const PlaneState<R>& plane, R iterations, typename R::Mask solved, PairChunk& chunk,
                               size_t lane) {
    const R zero = R::set(0.0);
    // Adding zero turns -0 into +0, so that a frozen lane and one that was never frozen give the same bits.
    keep(solved, plane.n.x + zero).store(&chunk.plane[0][lane]);
    keep(solved, plane.n.y + zero).store(&chunk.plane[1][lane]);
    keep(solved, plane.n.z + zero).store(&chunk.plane[2][lane]);
    keep(solved, plane.s[0]).store(&chunk.plane[3][lane]);
    select(solved, plane.value, R::set(std::numeric_limits<double>::infinity())).store(&chunk.value[lane]);
    const R near_a = min(min(plane.s[0], plane.s[1]), plane.s[2]),
            near_b = min(min(plane.s[3], plane.s[4]), plane.s[5]);
    keep(solved, (near_a + near_b) / plane.length).store(&chunk.gap[lane]);
    keep(solved, iterations).store(&chunk.iterations[lane]);
}

/// Slacks of the stored plane (normal, s_0).
template <class R>
HWY_INLINE void load_plane(const PairChunk& chunk, size_t lane, const Points<R>& p, PlaneState<R>& plane) {
    plane.n = load3<R>(&chunk.plane[0], lane);
    const R s0 = R::load(&chunk.plane[3][lane]);
    plane.s[0] = s0;
    for (size_t k = 1; k < 6; ++k) {
        const R s = fma(plane.n.z, p.x[k].z, fma(plane.n.y, p.x[k].y, fma(plane.n.x, p.x[k].x, s0)));
        plane.s[k] = k < 3 ? s : R::set(0.0) - s;
    }
    if (HWY_LIKELY(!p.swept)) return;
    const R shift = p.sweep * sqrt(dot(plane.n, plane.n));
    for (size_t k = 3; k < 6; ++k) plane.s[k] = plane.s[k] - shift;
}

/// Solves lanes [lane, lane + R::kWidth) if all of their planes separate; else reports which do and leaves all
/// untouched. So it does where Newton's method does not arrive from a plane that separates: one whose length is 1 but for little more than
/// rounding, kept from bodies that all but touched, has derivatives beyond all bounds.
template <class R>
HWY_NOINLINE unsigned solve_warm_group(PairChunk& chunk, size_t lane, double tolerance) {
    Points<R> p;
    PlaneState<R> plane;
    load_points(chunk, lane, p);
    load_plane(chunk, lane, p, plane);
    complete(plane);
    const R zero = R::set(0.0), touch = (R::set(0.5 * kTouchNoise) * p.radius) * plane.length;
    auto feasible = (plane.length < R::set(1.0)) & (zero < plane.length);
    for (size_t k = 0; k < 6; ++k) feasible = feasible & (touch < plane.s[k]);
    if (!all(feasible)) return bits(feasible);
    const R iterations = minimise(p, feasible, tolerance, plane);
    const auto found = (plane.value < R::set(std::numeric_limits<double>::infinity())) &
                       (iterations < R::set(static_cast<double>(kMaxPairIterations)));
    if (HWY_UNLIKELY(!all(found))) return bits(found);
    store_solution(plane, iterations, feasible, chunk, lane);
    return ~0u;
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_PAIR_NEWTON_INL_HPP
