// SPDX-License-Identifier: Apache-2.0
/// @file  Least dissipation over a plane's motion, over lanes. Included once per Highway target by plane_lanes.cpp.
///
/// With loads divided by their sum, q = (u, omega radius) and s_m the direction in which spin moves point m:
///     e(q) = sum_m a_m psi_m + (spin / radius^2) q_2^2 / 2,    psi = sqrt(|w|^2 + eps),   w_m = v_m - (q_0, q_1) - q_2 s_m
///     d2psi/dw2 = (eps 1 + p p^T) / psi^3,   p = (-w_y, w_x)        no cancellation, however fast the slip
/// sum a s = 0 and sum a |s|^2 = 1, hence least squares is q = sum_m a_m (v_m, s_m . v_m).
#if defined(FARFIELD_CONTACT_PLANE_FRICTION_PLANE_NEWTON_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_NEWTON_INL_HPP
#undef FARFIELD_CONTACT_PLANE_FRICTION_PLANE_NEWTON_INL_HPP
#else
#define FARFIELD_CONTACT_PLANE_FRICTION_PLANE_NEWTON_INL_HPP
#endif

#include "farfield/contact/plane_friction/plane_lanes.hpp"
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::HWY_NAMESPACE {

using namespace farfield::HWY_NAMESPACE;  // NOLINT: lanes of the same target

inline constexpr int kMaxPlaneIterations = 60;
inline constexpr int kMaxPlaneHalvings = 40;
inline constexpr double kPlaneArmijo = 1e-4, kPlaneNoise = 1e-15;
inline constexpr double kPlaneFar =
    1e-4;  // decrement over energy above which Newton's first step is likely to be too long
inline constexpr double kIdleLoad = 1e-290;  // below, 1 / sum of loads would overflow

template <class R>
HWY_INLINE Lane3<R> load_row3(const double (*rows)[kChunkPlanes], size_t lane) {
    return {R::load(&rows[0][lane]), R::load(&rows[1][lane]), R::load(&rows[2][lane])};
}
template <class R>
HWY_INLINE Lane3<R> spread(const double (&v)[3]) {
    return {R::set(v[0]), R::set(v[1]), R::set(v[2])};
}
/// m v with a matrix common to all lanes, row major.
template <class R>
HWY_INLINE Lane3<R> product(const double (&m)[9], const Lane3<R>& v) {
    return {fma(R::set(m[2]), v.z, fma(R::set(m[1]), v.y, R::set(m[0]) * v.x)),
            fma(R::set(m[5]), v.z, fma(R::set(m[4]), v.y, R::set(m[3]) * v.x)),
            fma(R::set(m[8]), v.z, fma(R::set(m[7]), v.y, R::set(m[6]) * v.x))};
}

/// tangents(n).col(0): n crossed with the axis of its smallest component, the first of equals.
template <class R>
HWY_INLINE Lane3<R> first_tangent(const Lane3<R>& n) {
    const R zero = R::set(0.0);
    const R x = max(n.x, zero - n.x), y = max(n.y, zero - n.y), z = max(n.z, zero - n.z);
    const Lane3<R> by_x{zero, n.z, zero - n.y}, by_y{zero - n.z, zero, n.x}, by_z{n.y, zero - n.x, zero};
    const Lane3<R> t = select((x <= y) & (x <= z), by_x, select(y <= z, by_y, by_z));
    return (R::set(1.0) / sqrt(dot(t, t))) * t;
}

/// What follows from the lagged state of lanes [lane, lane + R::kWidth).
template <class R>
HWY_NOINLINE void prepare_group(PlaneChunk& chunk, size_t lane) {
    const R zero = R::set(0.0), one = R::set(1.0);
    const Lane3<R> n = load_row3<R>(chunk.normal, lane), b0 = first_tangent(n), b1 = cross(n, b0);
    const Lane3<R> first = load_row3<R>(chunk.position, lane);
    R total = zero, x[6], y[6], load[6], cx = zero, cy = zero, gyration = zero;
    for (size_t m = 0; m < 6; ++m) {
        const Lane3<R> arm = load_row3<R>(&chunk.position[3 * m], lane) - first;
        x[m] = dot(b0, arm), y[m] = dot(b1, arm);
        load[m] = R::load(&chunk.load[m][lane]);
        total = total + load[m];
    }
    const R share = keep(R::set(kIdleLoad) < total, one / total);
    for (size_t m = 0; m < 6; ++m) {
        load[m] = share * load[m];
        cx = fma(load[m], x[m], cx), cy = fma(load[m], y[m], cy);
    }
    for (size_t m = 0; m < 6; ++m) {
        x[m] = x[m] - cx, y[m] = y[m] - cy;
        gyration = fma(load[m], fma(x[m], x[m], y[m] * y[m]), gyration);
    }
    const auto spins = zero < gyration;
    const R radius = select(spins, sqrt(gyration), one), inverse = keep(spins, one / radius);
    for (size_t m = 0; m < 6; ++m) {
        (zero - y[m] * inverse).store(&chunk.spin[2 * m][lane]);
        (x[m] * inverse).store(&chunk.spin[2 * m + 1][lane]);
    }
    b0.x.store(&chunk.tangent[0][lane]), b0.y.store(&chunk.tangent[1][lane]), b0.z.store(&chunk.tangent[2][lane]);
    share.store(&chunk.share[lane]);
    radius.store(&chunk.radius[lane]);
    select(spins, zero, one).store(&chunk.pinned[lane]);
    for (size_t c = 0; c < 3; ++c) zero.store(&chunk.offset[c][lane]), zero.store(&chunk.motion[c][lane]);
    zero.store(&chunk.energy[lane]), zero.store(&chunk.iterations[lane]);
}

template <class R>
struct PlaneLanes {
    R a[6], sx[6], sy[6], vx[6], vy[6];
    R stiffness, eps;
};

/// Velocities of the points, and all else the search needs.
template <class R>
HWY_INLINE void load_problem(const PlaneChunk& chunk, size_t lane, const PlainMotion (&bodies)[2],
                             const SlipModel& model, PlaneLanes<R>& p) {
    const Lane3<R> n = load_row3<R>(chunk.normal, lane), b0 = load_row3<R>(chunk.tangent, lane), b1 = cross(n, b0);
    const R share = R::load(&chunk.share[lane]), radius = R::load(&chunk.radius[lane]);
    const R rate = R::set(1.0 / model.dt);
    for (size_t m = 0; m < 6; ++m) {
        const PlainMotion& body = bodies[m < 3 ? 0 : 1];
        const Lane3<R> y = load_row3<R>(&chunk.position[3 * m], lane) - spread<R>(body.origin);
        const Lane3<R> moved = product(body.change, y) + spread<R>(body.shift);
        p.vx[m] = rate * dot(b0, moved), p.vy[m] = rate * dot(b1, moved);
        p.sx[m] = R::load(&chunk.spin[2 * m][lane]), p.sy[m] = R::load(&chunk.spin[2 * m + 1][lane]);
        p.a[m] = share * R::load(&chunk.load[m][lane]);
    }
    p.eps = R::set(model.smoothing);
    // Where the spin does nothing, any stiffness does; this one has the unit of the others, so that bits do not depend on units.
    const auto spins = R::load(&chunk.pinned[lane]) <= R::set(0.0);
    p.stiffness = select(spins, R::set(model.spin) / (radius * radius), R::set(1.0) / sqrt(p.eps));
}

/// A motion of the plane with slips w, 1 / psi and e.
template <class R>
struct SlipState {
    Lane3<R> q;
    R wx[6], wy[6], r[6], value;
};

template <class R>
HWY_INLINE void complete(const PlaneLanes<R>& p, SlipState<R>& state) {
    R value = (R::set(0.5) * p.stiffness) * (state.q.z * state.q.z);
    for (size_t m = 0; m < 6; ++m) {
        state.wx[m] = fnma(state.q.z, p.sx[m], p.vx[m] - state.q.x);
        state.wy[m] = fnma(state.q.z, p.sy[m], p.vy[m] - state.q.y);
        const R psi = sqrt(fma(state.wx[m], state.wx[m], fma(state.wy[m], state.wy[m], p.eps)));
        state.r[m] = R::set(1.0) / psi;
        value = fma(p.a[m], psi, value);
    }
    state.value = value;
}

template <class R>
HWY_INLINE Lane3<R> least_squares(const PlaneLanes<R>& p) {
    const R zero = R::set(0.0);
    Lane3<R> q{zero, zero, zero};
    for (size_t m = 0; m < 6; ++m) {
        q.x = fma(p.a[m], p.vx[m], q.x), q.y = fma(p.a[m], p.vy[m], q.y);
        q.z = fma(p.a[m], fma(p.sx[m], p.vx[m], p.sy[m] * p.vy[m]), q.z);
    }
    return q;
}

/// a_m d2psi/dw2, and its product with s_m.
template <class R>
struct SlipCurvature {
    R xx, xy, yy, sx, sy;
};
template <class R>
HWY_INLINE SlipCurvature<R> curvature(const PlaneLanes<R>& p, const SlipState<R>& state, size_t m) {
    const R r = state.r[m], c = (p.a[m] * r) * (r * r), x = state.wx[m], y = state.wy[m];
    SlipCurvature<R> k;
    k.xx = c * fma(y, y, p.eps), k.xy = R::set(0.0) - c * (x * y), k.yy = c * fma(x, x, p.eps);
    k.sx = fma(k.xx, p.sx[m], k.xy * p.sy[m]), k.sy = fma(k.xy, p.sx[m], k.yy * p.sy[m]);
    return k;
}

/// Lower triangle of a symmetric 3 x 3 matrix, then its L D L^T with pivots inverted.
template <class R>
struct Symmetric3 {
    R xx, xy, xz, yy, yz, zz;
};
template <class R>
struct Pivots3 {
    R l10, l20, l21, i0, i1, i2;
};
template <class R>
HWY_INLINE Pivots3<R> factorise(const Symmetric3<R>& h) {
    Pivots3<R> f;
    f.i0 = R::set(1.0) / h.xx;
    f.l10 = h.xy * f.i0, f.l20 = h.xz * f.i0;
    f.i1 = R::set(1.0) / fnma(f.l10, h.xy, h.yy);
    const R rest = fnma(f.l20, h.xy, h.yz);
    f.l21 = rest * f.i1;
    f.i2 = R::set(1.0) / fnma(f.l21, rest, fnma(f.l20, h.xz, h.zz));
    return f;
}

/// -h^-1 g and its decrement.
template <class R>
HWY_INLINE Lane3<R> solve_step(Symmetric3<R> h, const Lane3<R>& g, R& decrement) {
    const R zero = R::set(0.0), ridge = R::set(1e-12) * ((h.xx + h.yy) + h.zz);  // only steers the iteration
    h.xx = h.xx + ridge, h.yy = h.yy + ridge, h.zz = h.zz + ridge;
    const Pivots3<R> f = factorise(h);
    const R y1 = fnma(f.l10, g.x, g.y), y2 = fnma(f.l21, y1, fnma(f.l20, g.x, g.z));
    Lane3<R> step;
    step.z = zero - y2 * f.i2;
    step.y = fnma(f.l21, step.z, zero - y1 * f.i1);
    step.x = fnma(f.l20, step.z, fnma(f.l10, step.y, zero - g.x * f.i0));
    decrement = zero - dot(g, step);
    return step;
}

/// Newton step and its decrement. `idle` keeps such lanes regular.
template <class R>
HWY_INLINE Lane3<R> newton_step(const PlaneLanes<R>& p, const SlipState<R>& state, R idle, R& decrement) {
    const R zero = R::set(0.0);
    Symmetric3<R> h{idle, zero, zero, idle, zero, p.stiffness};
    Lane3<R> g{zero, zero, p.stiffness * state.q.z};
    for (size_t m = 0; m < 6; ++m) {
        const SlipCurvature<R> k = curvature(p, state, m);
        const R f = p.a[m] * state.r[m], fx = f * state.wx[m], fy = f * state.wy[m];
        g.x = g.x - fx, g.y = g.y - fy;
        g.z = fnma(fx, p.sx[m], fnma(fy, p.sy[m], g.z));
        h.xx = h.xx + k.xx, h.xy = h.xy + k.xy, h.yy = h.yy + k.yy, h.xz = h.xz + k.sx, h.yz = h.yz + k.sy;
        h.zz = fma(p.sx[m], k.sx, fma(p.sy[m], k.sy, h.zz));
    }
    return solve_step(h, g, decrement);
}

/// The minimum of sum a |w|^2 / psi with psi held, which lies above e and touches it: e cannot rise. Far from the minimum a better
/// step than Newton's, which takes kinks for parabolas.
template <class R>
HWY_INLINE Lane3<R> reweighted_step(const PlaneLanes<R>& p, const SlipState<R>& state, R idle, R& decrement) {
    const R zero = R::set(0.0);
    Symmetric3<R> h{idle, zero, zero, idle, zero, p.stiffness};
    Lane3<R> g{zero, zero, p.stiffness * state.q.z};
    for (size_t m = 0; m < 6; ++m) {
        const R f = p.a[m] * state.r[m], fx = f * state.wx[m], fy = f * state.wy[m];
        const R kx = f * p.sx[m], ky = f * p.sy[m];
        g.x = g.x - fx, g.y = g.y - fy;
        g.z = fnma(fx, p.sx[m], fnma(fy, p.sy[m], g.z));
        h.xx = h.xx + f, h.yy = h.yy + f, h.xz = h.xz + kx, h.yz = h.yz + ky;
        h.zz = fma(p.sx[m], kx, fma(p.sy[m], ky, h.zz));
    }
    return solve_step(h, g, decrement);
}

/// Newton with Armijo halving on the lanes of `active`; the others keep their bits. Returns steps taken.
template <class R>
HWY_INLINE R minimise(const PlaneLanes<R>& p, typename R::Mask active, R idle, const PlaneStop& stop,
                      SlipState<R>& state) {
    const R one = R::set(1.0), enough = R::set(stop.of_smallest) * sqrt(p.eps);
    R iterations = R::set(0.0);
    for (int i = 0; i < kMaxPlaneIterations; ++i) {
        R decrement;
        Lane3<R> step = newton_step(p, state, idle, decrement);
        const auto searching = but_not(active, decrement <= fma(R::set(stop.of_energy), state.value, enough));
        if (i == 0) {
            const auto far = searching & (R::set(kPlaneFar) * state.value < decrement);
            if (!none(far)) {
                R gentle;
                step = select(far, reweighted_step(p, state, idle, gentle), step);
                decrement = select(far, gentle, decrement);
            }
        }
        step = keep(active, step);
        iterations = iterations + keep(active, one);
        R t = one;
        SlipState<R> trial;
        trial.q = state.q + step;
        complete(p, trial);
        const R limit = state.value + R::set(kPlaneNoise) * state.value, slope = R::set(kPlaneArmijo) * decrement;
        auto poor = but_not(searching, trial.value <= fnma(slope, t, limit));
        for (int halving = 0; HWY_UNLIKELY(!none(poor)) && halving < kMaxPlaneHalvings; ++halving) {
            t = select(poor, R::set(0.5) * t, t);
            trial.q = fma(t, step, state.q);
            complete(p, trial);
            poor = but_not(searching, trial.value <= fnma(slope, t, limit));
        }
        state = trial;
        active = searching;
        if (none(active)) break;
    }
    return iterations;
}

/// Lanes [lane, lane + R::kWidth).
template <class R>
HWY_NOINLINE void solve_group(PlaneChunk& chunk, size_t lane, const PlainMotion (&bodies)[2], const SlipModel& model,
                              const PlaneStop& stop) {
    PlaneLanes<R> p;
    load_problem(chunk, lane, bodies, model, p);
    const R zero = R::set(0.0), share = R::load(&chunk.share[lane]);
    const auto loaded = zero < share;
    const Lane3<R> start = least_squares(p);
    SlipState<R> state;
    state.q = start + load_row3<R>(chunk.offset, lane);
    complete(p, state);
    const R iterations = minimise(p, loaded, select(loaded, zero, R::set(1.0)), stop, state);
    const Lane3<R> offset = state.q - start;
    state.q.x.store(&chunk.motion[0][lane]), state.q.y.store(&chunk.motion[1][lane]);
    state.q.z.store(&chunk.motion[2][lane]);
    offset.x.store(&chunk.offset[0][lane]), offset.y.store(&chunk.offset[1][lane]);
    offset.z.store(&chunk.offset[2][lane]);
    keep(loaded, (R::set(model.dt) / share) * state.value).store(&chunk.energy[lane]);
    iterations.store(&chunk.iterations[lane]);
}

}  // namespace farfield::contact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_PLANE_FRICTION_PLANE_NEWTON_INL_HPP
