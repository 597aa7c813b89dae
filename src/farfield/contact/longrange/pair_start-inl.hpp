// SPDX-License-Identifier: Apache-2.0
/// @file  Cold start of the pair potential over lanes: the better of the centroid and the closest-point direction,
/// branch-free. Included once per Highway target by pair_lanes.cpp. The scalar twin is separating_direction.cpp.
#if defined(FARFIELD_CONTACT_LONGRANGE_PAIR_START_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_PAIR_START_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_PAIR_START_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_PAIR_START_INL_HPP
#endif

#include "farfield/contact/longrange/pair_newton-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

template <class R>
struct Closest {
    Lane3<R> direction;
    R squared;
};

template <class R>
HWY_INLINE R clamp01(R t) {
    return min(R::set(1.0), max(R::set(0.0), t));
}

template <class R>
HWY_INLINE void offer_edges(Lane3<R> p, Lane3<R> u, R a, Lane3<R> q, Lane3<R> v, R e, Closest<R>& best) {
    const R tiny = R::set(1e-300);
    const Lane3<R> r = p - q;
    const R b = dot(u, v), c = dot(u, r), f = dot(v, r);
    R s = clamp01(fms(b, f, c * e) / max(fms(a, e, b * b), tiny));
    const R t = clamp01(fma(b, s, f) / max(e, tiny));
    s = clamp01(fms(b, t, c) / max(a, tiny));
    const Lane3<R> difference = fma(s, u, fnma(t, v, r));
    const R squared = dot(difference, difference);
    const auto better = squared < best.squared;
    best.direction = select(better, difference, best.direction);
    best.squared = select(better, squared, best.squared);
}

inline constexpr double kFlat = 1e-24;  ///< squared sine below which a face is an edge: those of capsules are

/// Vertex p over the face (a, a + u, a + v) with m = u x v; `sign` is +1 if p belongs to A.
template <class R>
HWY_INLINE void offer_face(Lane3<R> p, Lane3<R> a, Lane3<R> u, Lane3<R> v, Lane3<R> m, R area, double sign,
                           Closest<R>& best) {
    const R zero = R::set(0.0);
    const Lane3<R> r = p - a;
    const R height = dot(r, m), beta = dot(cross(r, v), m), gamma = dot(cross(u, r), m);
    const R squared = height * height / max(area, R::set(1e-300));
    const auto better = (zero <= beta) & (zero <= gamma) & (beta + gamma <= area) &
                        (R::set(kFlat) * (dot(u, u) * dot(v, v)) < area) & (R::set(1e-300) < area) &
                        (squared < best.squared);
    best.direction = select(better, (R::set(sign) * height) * m, best.direction);
    best.squared = select(better, squared, best.squared);
}

template <class R>
HWY_INLINE Lane3<R> closest_direction(const Points<R>& p) {
    const R infinity = R::set(std::numeric_limits<double>::infinity()), zero = R::set(0.0);
    Closest<R> best{{zero, zero, zero}, infinity};
    Lane3<R> edge[6];
    R squared[6];
    for (size_t k = 0; k < 6; ++k) {
        const size_t first = k < 3 ? 0 : 3;
        edge[k] = p.x[first + (k - first + 1) % 3] - p.x[k];
        squared[k] = dot(edge[k], edge[k]);
    }
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 3; j < 6; ++j) offer_edges(p.x[i], edge[i], squared[i], p.x[j], edge[j], squared[j], best);
    }
    const Lane3<R> v_a = p.x[2] - p.x[0], v_b = p.x[5] - p.x[3];
    const Lane3<R> m_a = cross(edge[0], v_a), m_b = cross(edge[3], v_b);
    const R area_a = dot(m_a, m_a), area_b = dot(m_b, m_b);
    for (size_t k = 0; k < 3; ++k) {
        offer_face(p.x[k], p.x[3], edge[3], v_b, m_b, area_b, 1.0, best);
        offer_face(p.x[3 + k], p.x[0], edge[0], v_a, m_a, area_a, -1.0, best);
    }
    return best.direction;
}

/// Heights over the mid-gap plane orthogonal to a direction and Q = sum 1/height, infinite where it does not separate.
template <class R>
struct Start {
    Lane3<R> u;
    R height[6];
    R q;
};

template <class R>
HWY_INLINE void start_from(const Points<R>& p, Lane3<R> direction, Start<R>& out) {
    const R zero = R::set(0.0), infinity = R::set(std::numeric_limits<double>::infinity());
    const R length = sqrt(dot(direction, direction));
    out.u = (R::set(1.0) / length) * direction;
    R h[6];
    for (size_t k = 0; k < 6; ++k) h[k] = dot(out.u, p.x[k]);
    for (size_t k = 3; k < 6; ++k) h[k] = h[k] + p.sweep;
    const R low = min(min(h[0], h[1]), h[2]), high = max(max(h[3], h[4]), h[5]);
    const R middle = R::set(0.5) * (low + high);
    for (size_t k = 0; k < 6; ++k) out.height[k] = k < 3 ? h[k] - middle : middle - h[k];
    R q = zero;
    for (size_t k = 0; k < 6; ++k) q = q + R::set(1.0) / out.height[k];
    const auto separates = (R::set(kTouchNoise) * p.radius < low - high) & (zero < length) & (length < infinity);
    out.q = select(separates, q, infinity);
}

/// Solves lanes [lane, lane + R::kWidth) from scratch. Lanes without a separating start get value +infinity.
template <class R>
HWY_NOINLINE void solve_cold_group(PairChunk& chunk, size_t lane, double tolerance) {
    const R one = R::set(1.0), infinity = R::set(std::numeric_limits<double>::infinity());
    Points<R> p;
    load_points(chunk, lane, p);
    const Lane3<R> centroids = (p.x[0] + p.x[1] + p.x[2]) - (p.x[3] + p.x[4] + p.x[5]);
    Start<R> first, second;
    start_from(p, centroids, first);
    start_from(p, closest_direction(p), second);
    const auto use_first = first.q < second.q;
    const R q = select(use_first, first.q, second.q);
    const auto feasible = q < infinity;
    const R magnitude = one / (one + sqrt(R::set(12.0) / q));
    PlaneState<R> plane;
    plane.n = select(feasible, magnitude * select(use_first, first.u, second.u),
                     Lane3<R>{R::set(0.5), R::set(0.0), R::set(0.0)});
    for (size_t k = 0; k < 6; ++k) {
        plane.s[k] = select(feasible, magnitude * select(use_first, first.height[k], second.height[k]), one);
    }
    complete(plane);
    const R iterations = minimise(p, feasible, tolerance, plane);
    store_solution(plane, iterations, feasible, chunk, lane);
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_PAIR_START_INL_HPP
