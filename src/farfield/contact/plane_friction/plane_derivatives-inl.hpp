// SPDX-License-Identifier: Apache-2.0
/// @file  Derivatives of solved friction planes over lanes. Included once per Highway target by plane_lanes.cpp.
///
/// A common translation of both bodies moves u along and changes nothing, so (v_b) repeats (-v_a) and z = (v_a, w_a, w_b) suffices:
///     dt D_zz = sum_m l_m K_m l_m^T - C Q^-1 C^T,   C = sum_m l_m K_m [1, s_m],   Q = sum_m [1, s_m]^T K_m [1, s_m]
/// with K = a d2psi/dw2 and l_m = (B, arm x B, 0) for points of A, (., 0, arm x B) for points of B, whose v part cancels.
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

template <class R>
HWY_INLINE R component(const Lane3<R>& u, size_t i) {
    return i == 0 ? u.x : (i == 1 ? u.y : u.z);
}

/// Sums over the points of one body.
template <class R>
struct SideSums {
    R xx, xy, yy, sx, sy;        // K, K s
    Lane3<R> kx, ky, ks;         // (arm x B) K, (arm x B) K s
    Symmetric3<R> turn;          // (arm x B) K (arm x B)^T
    Lane3<R> force, g0, g1, g2;  // f and the rows of f arm^T
};

template <class R>
HWY_INLINE void sum_side(const PlaneChunk& chunk, size_t lane, size_t first, const PlainMotion& body,
                         const PlaneLanes<R>& p, const SlipState<R>& state, const Lane3<R>& b0, const Lane3<R>& b1,
                         Symmetric3<R>& q, SideSums<R>& sums) {
    const R zero = R::set(0.0);
    const Lane3<R> none{zero, zero, zero};
    sums = {zero, zero, zero, zero, zero, none, none, none, {zero, zero, zero, zero, zero, zero},
            none, none, none, none};
    for (size_t m = first; m < first + 3; ++m) {
        const SlipCurvature<R> k = curvature(p, state, m);
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
HWY_INLINE R entry3(const Symmetric3<R>& t, size_t i, size_t j) {  // i <= j
    return i == 0 ? (j == 0 ? t.xx : (j == 1 ? t.xy : t.xz)) : (i == 1 ? (j == 1 ? t.yy : t.yz) : t.zz);
}

/// Adds lanes [lane, lane + R::kWidth) to `sums`; idle ones contribute nothing.
template <class R>
HWY_NOINLINE void add_group(const PlaneChunk& chunk, size_t lane, const PlainMotion (&bodies)[2],
                            const SlipModel& model, R (&sums)[kNumPlaneSums]) {
    PlaneLanes<R> p;
    load_problem(chunk, lane, bodies, model, p);
    SlipState<R> state;
    state.q = load_row3<R>(chunk.motion, lane);
    complete(p, state);
    const R zero = R::set(0.0), one = R::set(1.0), share = R::load(&chunk.share[lane]);
    const auto rubs = zero < share;
    const R total = keep(rubs, one / share), idle = select(rubs, zero, one);
    const Lane3<R> n = load_row3<R>(chunk.normal, lane), b0 = load_row3<R>(chunk.tangent, lane), b1 = cross(n, b0);
    Symmetric3<R> q{idle, zero, zero, idle, zero, R::load(&chunk.pinned[lane]) + p.stiffness};
    SideSums<R> a, b;
    sum_side(chunk, lane, 0, bodies[0], p, state, b0, b1, q, a);
    sum_side(chunk, lane, 3, bodies[1], p, state, b0, b1, q, b);
    const Pivots3<R> f = factorise(q);

    for (size_t i = 0; i < 3; ++i) {
        sums[i] = fma(total, component(a.force, i), sums[i]);
        sums[3 + i] = fma(total, component(a.g0, i), sums[3 + i]),
                 sums[12 + i] = fma(total, component(b.g0, i), sums[12 + i]);
        sums[6 + i] = fma(total, component(a.g1, i), sums[6 + i]),
                 sums[15 + i] = fma(total, component(b.g1, i), sums[15 + i]);
        sums[9 + i] = fma(total, component(a.g2, i), sums[9 + i]),
                 sums[18 + i] = fma(total, component(b.g2, i), sums[18 + i]);
    }
    Lane3<R> c[9], v[3];  // rows of C; B K of body A
    for (size_t i = 0; i < 3; ++i) {
        const R x = component(b0, i), y = component(b1, i);
        v[i] = {fma(x, a.xx, y * a.xy), fma(x, a.xy, y * a.yy), zero};
        c[i] = {v[i].x, v[i].y, fma(x, a.sx, y * a.sy)};
        c[3 + i] = {component(a.kx, i), component(a.ky, i), component(a.ks, i)};
        c[6 + i] = {component(b.kx, i), component(b.ky, i), component(b.ks, i)};
    }
    for (size_t i = 0; i < 9; ++i) {  // L^-1 C^T
        c[i].y = fnma(f.l10, c[i].x, c[i].y);
        c[i].z = fnma(f.l21, c[i].y, fnma(f.l20, c[i].x, c[i].z));
    }
    size_t entry = 21;
    for (size_t i = 0; i < 9; ++i) {
        const Lane3<R> scaled{c[i].x * f.i0, c[i].y * f.i1, c[i].z * f.i2};
        for (size_t j = i; j < 9; ++j, ++entry) {
            R direct = zero;
            if (j < 3) direct = fma(v[i].x, component(b0, j), v[i].y * component(b1, j));
            if (i < 3 && j >= 3 && j < 6)
                direct = fma(component(b0, i), component(a.kx, j - 3), component(b1, i) * component(a.ky, j - 3));
            if (i >= 3 && j < 6) direct = entry3(a.turn, i - 3, j - 3);
            if (i >= 6) direct = entry3(b.turn, i - 6, j - 6);
            const R reduced = fnma(scaled.x, c[j].x, fnma(scaled.y, c[j].y, fnma(scaled.z, c[j].z, direct)));
            sums[entry] = fma(total, reduced, sums[entry]);
        }
    }
}

}  // namespace farfield::contact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_PLANE_FRICTION_PLANE_DERIVATIVES_INL_HPP
