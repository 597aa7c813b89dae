// SPDX-License-Identifier: Apache-2.0
/// @file  6-D derivatives of solved pairs over lanes. Included once per Highway target by pair_lanes.cpp.
///
/// Of A alone, whose own vertices are what the plane sees of it (pair_potential.hpp), with r = 1/s, weights 2 r^3 and y = x - m as in pair_newton-inl.hpp, b_k = arm_k x n, q_k = (n; b_k):
///     M = sum_A 2r^3 q q^T - qd qd^T / H_dd - Z H_nn^-1 Z^T,
///     qd = sum_A 2r^3 q,   Z = sum_A [I; [arm]x] (2r^3 n y^T - r^2 I)
/// The first two terms combine without cancellation where q repeats n: with S_A + S_B = H_dd they are (S_A S_B /
/// H_dd) n n^T in the corner and (S_B / H_dd) n (sum_A 2r^3 b)^T beside it. Forces have rank one: GA = -n (sum_A r^2
/// arm)^T.
#if defined(FARFIELD_CONTACT_LONGRANGE_PAIR_DERIVATIVES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_LONGRANGE_PAIR_DERIVATIVES_INL_HPP
#undef FARFIELD_CONTACT_LONGRANGE_PAIR_DERIVATIVES_INL_HPP
#else
#define FARFIELD_CONTACT_LONGRANGE_PAIR_DERIVATIVES_INL_HPP
#endif

#include "farfield/contact/longrange/pair_newton-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

inline constexpr size_t kNumSums = 3 + 9 + 9 + 21;  // F, GA, GB (row major), upper triangle of M (row by row)

template <class R>
struct LaneSums {
    R v[kNumSums];
};

template <class R>
HWY_INLINE R component(const Lane3<R>& u, size_t i) {
    return i == 0 ? u.x : (i == 1 ? u.y : u.z);
}

/// H_nn^-1 (factorised), inverse of H_dd and what the derivatives share with it.
template <class R>
struct PlaneHessian {
    Factor3<R> factor;
    Lane3<R> mean;
    R weight[6], squares[6];  // 2 r^3, r^2
    R total_a, total_b, inverse;
};

template <class R>
HWY_INLINE void plane_hessian(const Points<R>& p, const PlaneState<R>& plane, PlaneHessian<R>& h) {
    for (size_t k = 0; k < 6; ++k) {
        h.squares[k] = plane.r[k] * plane.r[k];
        h.weight[k] = (plane.r[k] + plane.r[k]) * h.squares[k];
    }
    Lane3<R> x[6];
    surface_points(p, plane, x);
    h.total_a = (h.weight[0] + h.weight[1]) + h.weight[2];
    h.total_b = (h.weight[3] + h.weight[4]) + h.weight[5];
    h.inverse = R::set(1.0) / (h.total_a + h.total_b);
    Lane3<R> mean = h.weight[1] * x[1];
    for (size_t k = 2; k < 6; ++k) mean = fma(h.weight[k], x[k], mean);
    h.mean = h.inverse * mean;
    const Lane3<R>& n = plane.n;
    const R q2 = plane.q * plane.q;
    const R a = R::set(12.0) * (plane.length * q2);
    R b = (R::set(12.0) * (q2 * plane.q)) * fms(R::set(3.0), plane.length, R::set(1.0)), c = a;
    add_sweep_curvature(p, plane, (h.squares[3] + h.squares[4]) + h.squares[5], c, b);
    const Lane3<R> bn = b * n;
    R xx = fma(bn.x, n.x, c), xy = bn.x * n.y, xz = bn.x * n.z, yy = fma(bn.y, n.y, c), yz = bn.y * n.z,
      zz = fma(bn.z, n.z, c);
    for (size_t k = 0; k < 6; ++k) {
        const Lane3<R> y = x[k] - h.mean;
        const Lane3<R> wy = h.weight[k] * y;
        xx = fma(wy.x, y.x, xx), xy = fma(wy.x, y.y, xy), xz = fma(wy.x, y.z, xz);
        yy = fma(wy.y, y.y, yy), yz = fma(wy.y, y.z, yz), zz = fma(wy.z, y.z, zz);
    }
    h.factor = factorise(xx, xy, xz, yy, yz, zz);
}

/// Material part: adds f M to the last 21 sums.
template <class R>
HWY_INLINE void add_material(const PairChunk& chunk, size_t lane, const Points<R>& p, const Lane3<R>& n,
                             const PlaneHessian<R>& h, const Lane3<R>& moment, R force, R f, LaneSums<R>& sums) {
    const R zero = R::set(0.0);
    Lane3<R> beta{zero, zero, zero}, t{zero, zero, zero};  // sum_A 2r^3 b, sum_A 2r^3 y
    R bb[6] = {zero, zero, zero, zero, zero, zero};        // sum_A 2r^3 b b^T: xx xy xz yy yz zz
    // Rows of Z, lower half: sum_A 2r^3 b y^T - [moment]x
    Lane3<R> z[6] = {{zero, zero, zero},
                     {zero, zero, zero},
                     {zero, zero, zero},
                     {zero, moment.z, zero - moment.y},
                     {zero - moment.z, zero, moment.x},
                     {moment.y, zero - moment.x, zero}};
    for (size_t k = 0; k < 3; ++k) {
        const Lane3<R> y = p.x[k] - h.mean;
        const Lane3<R> b = cross(load3<R>(&chunk.arms[3 * k], lane), n);
        const Lane3<R> wb = h.weight[k] * b;
        beta = beta + wb;
        t = fma(h.weight[k], y, t);
        bb[0] = fma(wb.x, b.x, bb[0]), bb[1] = fma(wb.x, b.y, bb[1]), bb[2] = fma(wb.x, b.z, bb[2]);
        bb[3] = fma(wb.y, b.y, bb[3]), bb[4] = fma(wb.y, b.z, bb[4]), bb[5] = fma(wb.z, b.z, bb[5]);
        z[3] = fma(wb.x, y, z[3]), z[4] = fma(wb.y, y, z[4]), z[5] = fma(wb.z, y, z[5]);
    }
    z[0] = n.x * t, z[1] = n.y * t, z[2] = n.z * t;
    z[0].x = z[0].x - force, z[1].y = z[1].y - force, z[2].z = z[2].z - force;
    for (size_t i = 0; i < 6; ++i) {  // L^-1 Z^T
        z[i].y = fnma(h.factor.l10, z[i].x, z[i].y);
        z[i].z = fnma(h.factor.l21, z[i].y, fnma(h.factor.l20, z[i].x, z[i].z));
    }
    const R share_b = h.total_b * h.inverse, corner = h.total_a * share_b;
    const Lane3<R> mixed = share_b * beta, scaled = h.inverse * beta;
    size_t entry = 21;
    for (size_t i = 0; i < 6; ++i) {
        const Lane3<R> v{f * (z[i].x * h.factor.i0), f * (z[i].y * h.factor.i1), f * (z[i].z * h.factor.i2)};
        const R row = i < 3 ? f * component(n, i) : f * component(scaled, i - 3);
        for (size_t j = i; j < 6; ++j, ++entry) {
            R value = sums.v[entry];
            if (j < 3) {
                value = fma(row * corner, component(n, j), value);
            } else if (i < 3) {
                value = fma(row, component(mixed, j - 3), value);
            } else {
                const size_t m = (i == 3 ? 0 : (i == 4 ? 2 : 3)) + (j - 3);
                value = fma(f, bb[m], fnma(row, component(beta, j - 3), value));
            }
            sums.v[entry] = fnma(v.z, z[j].z, fnma(v.y, z[j].y, fnma(v.x, z[j].x, value)));
        }
    }
}

template <class R>
HWY_NOINLINE void accumulate_group(PairChunk& chunk, size_t lane, const double* in_range, const double* weights,
                                   LaneSums<R>& sums) {
    Points<R> p;
    PlaneState<R> plane;
    load_points(chunk, lane, p);
    load_plane(chunk, lane, p, plane);
    const R zero = R::set(0.0), one = R::set(1.0);
    const auto wanted = zero < R::load(in_range + lane);
    const auto solved = R::load(&chunk.value[lane]) < R::set(std::numeric_limits<double>::infinity());
    // Lanes that are not wanted or touch are computed with a harmless plane and weight 0.
    const auto use = wanted & solved;
    plane.n = select(use, plane.n, Lane3<R>{R::set(0.5), zero, zero});
    for (size_t k = 0; k < 6; ++k) plane.s[k] = select(use, plane.s[k], one);
    complete(plane);
    PlaneHessian<R> h;
    plane_hessian(p, plane, h);

    const Lane3<R>& n = plane.n;
    const R f = keep(use, R::load(weights + lane)), force = (h.squares[0] + h.squares[1]) + h.squares[2];
    Lane3<R> moment_a = h.squares[0] * load3<R>(&chunk.arms[0], lane),
             moment_b = h.squares[3] * load3<R>(&chunk.arms[9], lane);
    for (size_t k = 1; k < 3; ++k) {
        moment_a = fma(h.squares[k], load3<R>(&chunk.arms[3 * k], lane), moment_a);
        moment_b = fma(h.squares[3 + k], load3<R>(&chunk.arms[9 + 3 * k], lane), moment_b);
    }
    const Lane3<R> torque = cross(n, moment_a);  // arm x (-n r^2), summed
    for (size_t i = 0; i < 6; ++i) {
        double* row = &chunk.gradient[i][lane];
        const R g = i < 3 ? zero - force * component(n, i) : component(torque, i - 3);
        select(wanted, keep(use, g), R::load(row)).store(row);
    }
    for (size_t i = 0; i < 3; ++i) {
        const R fn = f * component(n, i);
        sums.v[i] = fnma(fn, force, sums.v[i]);
        for (size_t j = 0; j < 3; ++j) {
            sums.v[3 + 3 * i + j] = fnma(fn, component(moment_a, j), sums.v[3 + 3 * i + j]);
            sums.v[12 + 3 * i + j] = fma(fn, component(moment_b, j), sums.v[12 + 3 * i + j]);
        }
    }
    add_material(chunk, lane, p, n, h, moment_a, force, f, sums);
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_LONGRANGE_PAIR_DERIVATIVES_INL_HPP
