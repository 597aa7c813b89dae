// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/angle_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SCALAR)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/grains/angle_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::grains::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// pi/2 in three parts; quadrant times the first two is exact up to 2^23 quadrants.
constexpr double kHalfPi1 = 0x1.921fb54p+0, kHalfPi2 = 0x1.10b46118p-30, kHalfPi3 = 0x1.313198a2e037p-61;
constexpr double kLargest = 1e6;  // [rad]

template <class D, class V, size_t n>
HWY_INLINE V horner(D d, V x, const double (&coefficients)[n]) {
    V sum = hn::Set(d, coefficients[n - 1]);
    for (size_t k = n - 1; k-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[k]));
    return sum;
}

/// Taylor series on [-pi/4, pi/4]: the first term left out is below 1e-17.
template <class D, class V>
HWY_INLINE void reduced(D d, V angle, V& sine, V& cosine) {
    constexpr double kSine[] = {-1.0 / 6,        1.0 / 120,          -1.0 / 5040,           1.0 / 362880,
                                -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
    constexpr double kCosine[] = {1.0 / 24,          -1.0 / 720,           1.0 / 40320,           -1.0 / 3628800,
                                  1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0};
    const hn::RebindToSigned<D> di;
    const V turns = hn::Round(hn::Mul(angle, hn::Set(d, 2.0 / std::numbers::pi)));
    V r = hn::NegMulAdd(turns, hn::Set(d, kHalfPi1), angle);
    r = hn::NegMulAdd(turns, hn::Set(d, kHalfPi2), r);
    r = hn::NegMulAdd(turns, hn::Set(d, kHalfPi3), r);
    const V r2 = hn::Mul(r, r);
    const V s = hn::MulAdd(hn::Mul(r, r2), horner(d, r2, kSine), r);
    const V c =
        hn::MulAdd(hn::Mul(r2, r2), horner(d, r2, kCosine), hn::NegMulAdd(hn::Set(d, 0.5), r2, hn::Set(d, 1.0)));
    // Quadrant q: an odd one swaps sine and cosine; bit 1 of q and of q + 1 are their signs.
    const auto quadrant = hn::ConvertTo(di, turns);
    const auto one = hn::Set(di, 1);
    const auto odd = hn::RebindMask(d, hn::Eq(hn::And(quadrant, one), one));
    const auto sign = [&](auto q) { return hn::BitCast(d, hn::ShiftLeft<62>(hn::And(q, hn::Set(di, 2)))); };
    sine = hn::Xor(hn::IfThenElse(odd, c, s), sign(quadrant));
    cosine = hn::Xor(hn::IfThenElse(odd, s, c), sign(hn::Add(quadrant, one)));
}

void sin_cos_of(const double* angles, size_t count, double* sines, double* cosines) {
    const hn::CappedTag<double, 4> d;
    const size_t width = hn::Lanes(d);
    for (size_t k = 0; k < count; k += width) {
        const size_t size = std::min(width, count - k);
        HWY_ALIGN double in[4] = {}, s_out[4], c_out[4];
        std::copy_n(angles + k, size, in);
        const auto angle = hn::Load(d, in);
        auto s = angle, c = angle;
        reduced(d, angle, s, c);
        hn::Store(s, d, s_out);
        hn::Store(c, d, c_out);
        for (size_t i = 0; i < size; ++i) {
            const bool far = !(std::abs(in[i]) <= kLargest);
            sines[k + i] = far ? std::sin(in[i]) : s_out[i];
            cosines[k + i] = far ? std::cos(in[i]) : c_out[i];
        }
    }
}

}  // namespace farfield::grains::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::grains {

HWY_EXPORT(sin_cos_of);

void sin_cos(const double* angles, std::size_t count, double* sines, double* cosines) {
    HWY_DYNAMIC_DISPATCH(sin_cos_of)(angles, count, sines, cosines);
}

}  // namespace farfield::grains
#endif  // HWY_ONCE
