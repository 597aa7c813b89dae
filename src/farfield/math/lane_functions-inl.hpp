// SPDX-License-Identifier: Apache-2.0
/// @file  Exponential and logarithm over SIMD lanes. Included once per Highway target, after math/lanes-inl.hpp.
#if defined(FARFIELD_MATH_LANE_FUNCTIONS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_MATH_LANE_FUNCTIONS_INL_HPP
#undef FARFIELD_MATH_LANE_FUNCTIONS_INL_HPP
#else
#define FARFIELD_MATH_LANE_FUNCTIONS_INL_HPP
#endif

#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

/// exp(x) for x <= 0, to 2 units in the last place; below -700 it stays at exp(-700).
/// With x = k log 2 + r, |r| <= log(2)/2: 2^k times the series of exp(r) to degree 13.
HWY_INLINE Real exp_negative(Real x) {
    const Real magic = Real::set(0x1.8p52);  // its last bits count units: the integer k is read off the sum
    x = max(x, Real::set(-700.0));
    const Real shifted = fma(x, Real::set(1.4426950408889634074), magic);
    const Real k = shifted - magic;
    const Real r = fnma(k, Real::set(1.9082149292705877000e-10), fnma(k, Real::set(6.9314718036912381649e-01), x));
    const Real r2 = r * r, r4 = r2 * r2;
    const auto c = [](double value) { return Real::set(value); };
    const Real low = fma(r2, fma(r, c(1.0 / 6.0), c(0.5)), fma(r, c(1.0), c(1.0)));
    const Real middle = fma(r2, fma(r, c(1.0 / 5040.0), c(1.0 / 720.0)), fma(r, c(1.0 / 120.0), c(1.0 / 24.0)));
    const Real high =
        fma(r2, fma(r, c(1.0 / 39916800.0), c(1.0 / 3628800.0)), fma(r, c(1.0 / 362880.0), c(1.0 / 40320.0)));
    const Real last = fma(r, c(1.0 / 6227020800.0), c(1.0 / 479001600.0));
    const Real series = fma(r4, fma(r4, fma(r4, last, high), middle), low);
    const hn::RebindToUnsigned<LaneTag> integers;
    const auto exponent =
        hn::ShiftLeft<52>(hn::Add(hn::BitCast(integers, shifted.a), hn::Set(integers, std::uint64_t{1023})));
    return series * Real{hn::BitCast(LaneTag(), exponent)};
}

/// log(1 + t) for 0 <= t <= 1, to a few units in the last place: 2 artanh(s), s = t/(2 + t) <= 1/3.
HWY_INLINE Real log_one_plus(Real t) {
    const Real s = t / (Real::set(2.0) + t), s2 = s * s;
    Real series = Real::set(1.0 / 35.0);
    for (int odd = 33; odd >= 1; odd -= 2) series = fma(series, s2, Real::set(1.0 / odd));
    return (s + s) * series;
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_MATH_LANE_FUNCTIONS_INL_HPP
