// SPDX-License-Identifier: Apache-2.0
/// @file  Derivatives of solved friction planes over lanes. Included once per Highway target by plane_lanes.cpp.
///
/// A common translation of both bodies moves u along and changes nothing, so (v_b) repeats (-v_a) and z = (v_a, w_a, w_b) suffices:
///     dt D_zz = sum_m l_m K_m l_m^T - C Q^-1 C^T,   C = sum_m l_m K_m [1, s_m],   Q = sum_m [1, s_m]^T K_m [1, s_m]
/// with K = a d2psi/dw2, or what multipliers make of it (slip_dual.hpp), and l_m = (B, arm x B, 0) for points of A, (., 0, arm x B) for points of B, whose v part cancels.
/// Turning adds the terms of G = sum f arm^T of either body.
#if defined(FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP
#undef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP
#else
#define FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP
#endif

#include "farfield/contact/plane_friction/plane_newton-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::HWY_NAMESPACE {

inline constexpr size_t kNumPlaneSums =
    3 + 9 + 9 + 45;  // F, GA, GB (row major), upper triangle of dt D_zz (row by row)

/// Sums over the points of one body.
template <class R>
struct SideSums {
    R xx, xy, yy, sx, sy;        // K, K s
    Lane3<R> kx, ky, ks;         // (arm x B) K, (arm x B) K s
    Symmetric3<R> turn;          // (arm x B) K (arm x B)^T
    Lane3<R> force, g0, g1, g2;  // f and the rows of f arm^T
};

/// The multiplier at the slip of point m, which is remembered.
template <class R>
struct SlipMultiplier {
    R x, y;
};
template <class R>
HWY_INLINE SlipMultiplier<R> move_dual(PlaneDualChunk& dual, size_t lane, const SlipState<R>& state, size_t m,
                                       Multiplier multiplier) {
    double *slip_x = &dual.slip[2 * m][lane], *slip_y = &dual.slip[2 * m + 1][lane], *z_x = &dual.z[2 * m][lane],
           *z_y = &dual.z[2 * m + 1][lane], *inverse_psi = &dual.inverse_psi[m][lane];
    const R x = state.wx[m], y = state.wy[m], one = R::set(1.0);
    SlipMultiplier<R> z{x * state.r[m], y * state.r[m]};
    if (multiplier != Multiplier::Exact) z = {R::load(z_x), R::load(z_y)};
    if (multiplier == Multiplier::Extrapolated) {
        const R old_x = R::load(slip_x), old_y = R::load(slip_y), r = R::load(inverse_psi);
        const R along = r * fma(old_x, x - old_x, old_y * (y - old_y));
        z = {r * fnma(z.x, along, x), r * fnma(z.y, along, y)};
        const R scale = one / max(one, sqrt(fma(z.x, z.x, z.y * z.y)));
        z = {scale * z.x, scale * z.y};
    }
    x.store(slip_x), y.store(slip_y), z.x.store(z_x), z.y.store(z_y), state.r[m].store(inverse_psi);
    return z;
}

/// curvature() - a r sym((z - u) u^T)
template <class R>
HWY_INLINE SlipCurvature<R> curvature(const PlaneLanes<R>& p, const SlipState<R>& state, size_t m,
                                      const SlipMultiplier<R>& z) {
    SlipCurvature<R> k = curvature(p, state, m);
    const R r = state.r[m], a = p.a[m] * r, ux = state.wx[m] * r, uy = state.wy[m] * r;
    const R ex = a * (z.x - ux), ey = a * (z.y - uy);
    k.xx = fnma(ex, ux, k.xx), k.yy = fnma(ey, uy, k.yy);
    k.xy = fnma(R::set(0.5), fma(ex, uy, ey * ux), k.xy);
    k.sx = fma(k.xx, p.sx[m], k.xy * p.sy[m]), k.sy = fma(k.xy, p.sx[m], k.yy * p.sy[m]);
    return k;
}

template <class R>
HWY_INLINE void sum_side(const PlaneChunk& chunk, size_t lane, size_t first, const PlainMotion& body,
                         const PlaneLanes<R>& p, const SlipState<R>& state, const Lane3<R>& b0, const Lane3<R>& b1,
                         Multiplier multiplier, PlaneDualChunk& dual, Symmetric3<R>& q, SideSums<R>& sums) {
    const R zero = R::set(0.0);
    const Lane3<R> none{zero, zero, zero};
    sums = {zero, zero, zero, zero, zero, none, none, none, {zero, zero, zero, zero, zero, zero},
            none, none, none, none};
    for (size_t m = first; m < first + 3; ++m) {
        const SlipCurvature<R> k = curvature(p, state, m, move_dual(dual, lane, state, m, multiplier));
        const Lane3<R> y = load_row3<R>(&chunk.position[3 * m], lane) - spread<R>(body.origin);
        const Lane3<R> arm = product(body.turn, y), lx = cross(arm, b0), ly = cross(arm, b1);
        const Lane3<R> kx = fma(k.xx, lx, k.xy * ly), ky = fma(k.xy, lx, k.yy * ly);
        sums.xx = sums.xx + k.xx, sums.xy = sums.xy + k.xy, sums.yy = sums.yy + k.yy;
        sums.sx = sums.sx + k.sx, sums.sy = sums.sy + k.sy;
        q.zz = fma(p.sx[m], k.sx, fma(p.sy[m], k.sy, q.zz));
        sums.kx = sums.kx + kx, sums.ky = sums.ky + ky;
        sums.ks = fma(k.sx, lx, fma(k.sy, ly, sums.ks));
        Symmetric3<R>& t = sums.turn;
        t.xx = fma(kx.x, lx.x, fma(ky.x, ly.x, t.xx)), t.xy = fma(kx.x, lx.y, fma(ky.x, ly.y, t.xy));
        t.xz = fma(kx.x, lx.z, fma(ky.x, ly.z, t.xz)), t.yy = fma(kx.y, lx.y, fma(ky.y, ly.y, t.yy));
        t.yz = fma(kx.y, lx.z, fma(ky.y, ly.z, t.yz)), t.zz = fma(kx.z, lx.z, fma(ky.z, ly.z, t.zz));
        const R f = p.a[m] * state.r[m];
        const Lane3<R> force = fma(f * state.wx[m], b0, (f * state.wy[m]) * b1);
        sums.force = sums.force + force;
        sums.g0 = fma(force.x, arm, sums.g0), sums.g1 = fma(force.y, arm, sums.g1),
        sums.g2 = fma(force.z, arm, sums.g2);
    }
    q.xx = q.xx + sums.xx, q.xy = q.xy + sums.xy, q.yy = q.yy + sums.yy;
    q.xz = q.xz + sums.sx, q.yz = q.yz + sums.sy;
}

template <class R>
HWY_INLINE void to_array(const Lane3<R>& u, R* out) {
    out[0] = u.x, out[1] = u.y, out[2] = u.z;
}

/// Forces and their moments: the first 21 sums.
template <class R>
HWY_INLINE void add_forces(const SideSums<R>& a, const SideSums<R>& b, R total, R* sums) {
    const Lane3<R>* rows[7] = {&a.force, &a.g0, &a.g1, &a.g2, &b.g0, &b.g1, &b.g2};
    for (size_t i = 0; i < 7; ++i) {
        R* sum = sums + 3 * i;
        sum[0] = fma(total, rows[i]->x, sum[0]);
        sum[1] = fma(total, rows[i]->y, sum[1]);
        sum[2] = fma(total, rows[i]->z, sum[2]);
    }
}

template <class R>
HWY_INLINE void add_symmetric(const Symmetric3<R>& t, R total, R* row0, R* row1, R* row2) {
    row0[0] = fma(total, t.xx, row0[0]), row0[1] = fma(total, t.xy, row0[1]), row0[2] = fma(total, t.xz, row0[2]);
    row1[0] = fma(total, t.yy, row1[0]), row1[1] = fma(total, t.yz, row1[1]), row2[0] = fma(total, t.zz, row2[0]);
}

/// Adds lanes [lane, lane + R::kWidth) to `sums`; idle ones contribute nothing.
template <class R>
HWY_NOINLINE void add_group(const PlaneChunk& chunk, size_t lane, const PlainMotion (&bodies)[2],
                            const SlipModel& model, Multiplier multiplier, PlaneDualChunk& dual,
                            R (&sums)[kNumPlaneSums]) {
    PlaneLanes<R> p;
    load_problem(chunk, lane, bodies, model, p);
    SlipState<R> state;
    state.q = load_row3<R>(chunk.motion, lane);
    complete(p, state);
    const R zero = R::set(0.0), one = R::set(1.0), share = R::load(&chunk.share[lane]);
    const auto loaded = zero < share;
    const R total = keep(loaded, one / share), idle = select(loaded, zero, one);
    const Lane3<R> n = load_row3<R>(chunk.normal, lane), b0 = load_row3<R>(chunk.tangent, lane), b1 = cross(n, b0);
    Symmetric3<R> q{idle, zero, zero, idle, zero, R::load(&chunk.pinned[lane]) + p.stiffness};
    SideSums<R> a, b;
    sum_side(chunk, lane, 0, bodies[0], p, state, b0, b1, multiplier, dual, q, a);
    sum_side(chunk, lane, 3, bodies[1], p, state, b0, b1, multiplier, dual, q, b);
    const Pivots3<R> f = factorise(q);
    add_forces(a, b, total, sums);

    // Columns of C, then of L^-1 C^T; entries 0-2 belong to v_a, 3-5 to w_a, 6-8 to w_b.
    R x[3], y[3], c0[9], c1[9], c2[9];
    to_array(b0, x), to_array(b1, y);
    for (size_t i = 0; i < 3; ++i) {
        c0[i] = fma(x[i], a.xx, y[i] * a.xy), c1[i] = fma(x[i], a.xy, y[i] * a.yy);
        c2[i] = fma(x[i], a.sx, y[i] * a.sy);
    }
    to_array(a.kx, c0 + 3), to_array(a.ky, c1 + 3), to_array(a.ks, c2 + 3);
    to_array(b.kx, c0 + 6), to_array(b.ky, c1 + 6), to_array(b.ks, c2 + 6);
    // Direct terms. Rows of the triangle start at entries 0, 9, 17, 24, 30, 35, 39, 42, 44.
    R* h = sums + 21;
    constexpr size_t first[9] = {0, 9, 17, 24, 30, 35, 39, 42, 44};
    for (size_t i = 0; i < 3; ++i) {
        const R tx = total * x[i], ty = total * y[i], vx = total * c0[i], vy = total * c1[i];
        for (size_t j = i; j < 3; ++j) {
            R& entry = h[first[i] + j - i];
            entry = fma(vx, x[j], fma(vy, y[j], entry));
        }
        for (size_t j = 3; j < 6; ++j) {
            R& entry = h[first[i] + j - i];
            entry = fma(tx, c0[j], fma(ty, c1[j], entry));
        }
    }
    add_symmetric(a.turn, total, h + first[3], h + first[4], h + first[5]);
    add_symmetric(b.turn, total, h + first[6], h + first[7], h + first[8]);
    for (size_t i = 0; i < 9; ++i) {
        c1[i] = fnma(f.l10, c0[i], c1[i]);
        c2[i] = fnma(f.l21, c1[i], fnma(f.l20, c0[i], c2[i]));
    }
    const R d0 = total * f.i0, d1 = total * f.i1, d2 = total * f.i2;
    for (size_t i = 0; i < 9; ++i) {
        const R s0 = d0 * c0[i], s1 = d1 * c1[i], s2 = d2 * c2[i];
        for (size_t j = i; j < 9; ++j, ++h) *h = fnma(s0, c0[j], fnma(s1, c1[j], fnma(s2, c2[j], *h)));
    }
}

}  // namespace farfield::contact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP
