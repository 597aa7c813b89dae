// SPDX-License-Identifier: Apache-2.0
/// @file  Adjoints of solved friction planes over lanes. Included once per Highway target by plane_lanes.cpp.
///
/// The formulas of adjoint_at in plane_friction.cpp. phi = d/ds D(x + s delta); its derivative by a lagged quantity is d/ds of the
/// explicit partial derivative of D, where the plane's motion q changes at the rate dq = Q^-1 sum_m [1, s_m]^T K_m B^T delta_m / dt.
#if defined(FARFIELD_CONTACT_PLANE_FRICTION_PLANE_ADJOINT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_ADJOINT_INL_HPP
#undef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_ADJOINT_INL_HPP
#else
#define FARFIELD_CONTACT_PLANE_FRICTION_PLANE_ADJOINT_INL_HPP
#endif

#include "farfield/contact/plane_friction/plane_newton-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::HWY_NAMESPACE {

inline constexpr size_t kNumAdjointSums = 1 + 6 + 6;  // phi, then by the poses of A and B at the start

/// A twist (v, w) common to all lanes.
struct PlainTwist {
    double v[3], w[3];
};

/// m^T v with a matrix common to all lanes, row major.
template <class R>
HWY_INLINE Lane3<R> transposed_product(const double (&m)[9], const Lane3<R>& v) {
    return {fma(R::set(m[6]), v.z, fma(R::set(m[3]), v.y, R::set(m[0]) * v.x)),
            fma(R::set(m[7]), v.z, fma(R::set(m[4]), v.y, R::set(m[1]) * v.x)),
            fma(R::set(m[8]), v.z, fma(R::set(m[5]), v.y, R::set(m[2]) * v.x))};
}

template <class R>
HWY_INLINE void store3(const Lane3<R>& v, double (*rows)[kChunkPlanes], size_t lane) {
    v.x.store(&rows[0][lane]), v.y.store(&rows[1][lane]), v.z.store(&rows[2][lane]);
}

/// How the twist of its body moves point m: delta, and its tangential part per time step.
template <class R>
struct PointRate {
    Lane3<R> delta;
    R x, y;
};
template <class R>
HWY_INLINE PointRate<R> point_rate(const PlaneChunk& chunk, size_t lane, size_t m, const PlainMotion& body,
                                   const PlainTwist& twist, R rate, const Lane3<R>& b0, const Lane3<R>& b1) {
    const Lane3<R> y = load_row3<R>(&chunk.position[3 * m], lane) - spread<R>(body.origin);
    PointRate<R> out;
    out.delta = spread<R>(twist.v) + cross(spread<R>(twist.w), product(body.turn, y));
    out.x = rate * dot(b0, out.delta), out.y = rate * dot(b1, out.delta);
    return out;
}

/// dq, the rate at which the plane's motion follows the twists.
template <class R>
HWY_INLINE Lane3<R> motion_rate(const PlaneLanes<R>& p, const SlipState<R>& state, const PointRate<R> (&rates)[6],
                                R idle, R pinned) {
    const R zero = R::set(0.0);
    Symmetric3<R> q{idle, zero, zero, idle, zero, pinned + p.stiffness};
    Lane3<R> right{zero, zero, zero};
    for (size_t m = 0; m < 6; ++m) {
        const SlipCurvature<R> k = curvature(p, state, m);
        q.xx = q.xx + k.xx, q.xy = q.xy + k.xy, q.yy = q.yy + k.yy, q.xz = q.xz + k.sx, q.yz = q.yz + k.sy;
        q.zz = fma(p.sx[m], k.sx, fma(p.sy[m], k.sy, q.zz));
        right.x = fma(k.xx, rates[m].x, fma(k.xy, rates[m].y, right.x));
        right.y = fma(k.xy, rates[m].x, fma(k.yy, rates[m].y, right.y));
        right.z = fma(k.sx, rates[m].x, fma(k.sy, rates[m].y, right.z));
    }
    const Pivots3<R> f = factorise(q);
    const R y1 = fnma(f.l10, right.x, right.y), y2 = fnma(f.l21, y1, fnma(f.l20, right.x, right.z));
    Lane3<R> dq;
    dq.z = y2 * f.i2;
    dq.y = fnma(f.l21, dq.z, y1 * f.i1);
    dq.x = fnma(f.l20, dq.z, fnma(f.l10, dq.y, right.x * f.i0));
    return dq;
}

/// Writes lanes [lane, lane + R::kWidth) of `out` and adds to `sums`; idle ones give zero.
template <class R>
HWY_NOINLINE void adjoint_group(const PlaneChunk& chunk, size_t lane, const PlainMotion (&bodies)[2],
                                const PlainTwist (&twists)[2], const SlipModel& model, PlaneAdjointChunk& out,
                                R (&sums)[kNumAdjointSums]) {
    PlaneLanes<R> p;
    load_problem(chunk, lane, bodies, model, p);
    SlipState<R> state;
    state.q = load_row3<R>(chunk.motion, lane);
    complete(p, state);
    const R zero = R::set(0.0), one = R::set(1.0), dt = R::set(model.dt), share = R::load(&chunk.share[lane]);
    const auto loaded = zero < share;
    const R total = keep(loaded, one / share), inverse_radius = one / R::load(&chunk.radius[lane]);
    const Lane3<R> n = load_row3<R>(chunk.normal, lane), b0 = load_row3<R>(chunk.tangent, lane), b1 = cross(n, b0);
    PointRate<R> rates[6];
    Lane3<R> centre{zero, zero, zero}, normal{zero, zero, zero};
    for (size_t m = 0; m < 6; ++m) {
        rates[m] = point_rate(chunk, lane, m, bodies[m / 3], twists[m / 3], R::set(1.0 / model.dt), b0, b1);
        centre = fma(p.a[m], load_row3<R>(&chunk.position[3 * m], lane), centre);
    }
    const Lane3<R> dq = motion_rate(p, state, rates, select(loaded, zero, one), R::load(&chunk.pinned[lane]));
    const R spin = dt * (state.q.z * inverse_radius), dspin = dt * (dq.z * inverse_radius);  // dt omega, its rate
    const R spin_term = R::set(model.spin / model.dt) * (spin * dspin);
    for (size_t m = 0; m < 6; ++m) {
        const PlainMotion& body = bodies[m / 3];
        const SlipCurvature<R> k = curvature(p, state, m);
        const R dx = rates[m].x - fma(dq.z, p.sx[m], dq.x), dy = rates[m].y - fma(dq.z, p.sy[m], dq.y);
        const R f = p.a[m] * state.r[m], fx = f * state.wx[m], fy = f * state.wy[m];
        const R gx = fma(k.xx, dx, k.xy * dy), gy = fma(k.xy, dx, k.yy * dy);
        const Lane3<R> force = fma(fx, b0, fy * b1), force_rate = fma(gx, b0, gy * b1);
        const R load = fma(dt * state.r[m], fma(state.wx[m], dx, state.wy[m] * dy), spin_term);
        keep(loaded, load).store(&out.load[m][lane]);
        // omega's part: (dspin f + spin g) x n = y b0 - x b1 of (x, y) = dspin f + spin g
        const R tx = fma(dspin, fx, spin * gx), ty = fma(dspin, fy, spin * gy);
        const Lane3<R> place = load_row3<R>(&chunk.position[3 * m], lane), y = place - spread<R>(body.origin);
        const Lane3<R> moved = product(body.change, y) + spread<R>(body.shift);
        const Lane3<R> back = transposed_product(body.turn, force_rate + cross(force, spread<R>(twists[m / 3].w)));
        store3(total * ((back - force_rate) + fma(tx, b1, (zero - ty) * b0)), &out.position[3 * m], lane);
        normal = normal + fma(dot(n, moved), force_rate, dot(n, rates[m].delta) * force) +
                 cross(place - centre, fma(tx, b0, ty * b1));
        sums[0] = fma(total, dot(force, rates[m].delta), sums[0]);
        const Lane3<R> turn = cross(y, back);
        R* previous = &sums[1 + 6 * (m / 3)];
        previous[0] = fnma(total, back.x, previous[0]), previous[1] = fnma(total, back.y, previous[1]);
        previous[2] = fnma(total, back.z, previous[2]), previous[3] = fnma(total, turn.x, previous[3]);
        previous[4] = fnma(total, turn.y, previous[4]), previous[5] = fnma(total, turn.z, previous[5]);
    }
    store3((zero - total) * normal, out.normal, lane);
}

}  // namespace farfield::contact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_PLANE_FRICTION_PLANE_ADJOINT_INL_HPP
