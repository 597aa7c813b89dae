// SPDX-License-Identifier: Apache-2.0
/// @file  Arithmetic over SIMD lanes that reads like arithmetic over doubles. Included once per Highway target.
///
/// `Real` holds one vector, `Wide` two (twice the independent work per instruction stream, which hides the latency of
/// divisions where registers allow). All operations act lane by lane, so a lane's bits never depend on its
/// neighbours. `fma` is a fused multiply-add on targets that have one; nothing else is contracted.
#if defined(FARFIELD_MATH_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_MATH_LANES_INL_HPP
#undef FARFIELD_MATH_LANES_INL_HPP
#else
#define FARFIELD_MATH_LANES_INL_HPP
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using LaneTag = hn::CappedTag<double, 8>;
using LaneVec = hn::Vec<LaneTag>;
using LaneMask = hn::Mask<LaneTag>;
inline constexpr size_t kLanes = hn::MaxLanes(LaneTag());

struct RealMask {
    LaneMask a;
};
struct Real {
    using Mask = RealMask;
    static constexpr size_t kWidth = kLanes;
    LaneVec a;

    static HWY_INLINE Real load(const double* p) { return {hn::Load(LaneTag(), p)}; }
    static HWY_INLINE Real set(double v) { return {hn::Set(LaneTag(), v)}; }
    HWY_INLINE void store(double* p) const { hn::Store(a, LaneTag(), p); }
};

HWY_INLINE Real operator+(Real x, Real y) { return {hn::Add(x.a, y.a)}; }
HWY_INLINE Real operator-(Real x, Real y) { return {hn::Sub(x.a, y.a)}; }
HWY_INLINE Real operator*(Real x, Real y) { return {hn::Mul(x.a, y.a)}; }
HWY_INLINE Real operator/(Real x, Real y) { return {hn::Div(x.a, y.a)}; }
HWY_INLINE Real fma(Real x, Real y, Real z) { return {hn::MulAdd(x.a, y.a, z.a)}; }      ///< x y + z
HWY_INLINE Real fnma(Real x, Real y, Real z) { return {hn::NegMulAdd(x.a, y.a, z.a)}; }  ///< z - x y
HWY_INLINE Real fms(Real x, Real y, Real z) { return {hn::MulSub(x.a, y.a, z.a)}; }      ///< x y - z
HWY_INLINE Real sqrt(Real x) { return {hn::Sqrt(x.a)}; }
HWY_INLINE Real min(Real x, Real y) { return {hn::Min(x.a, y.a)}; }
HWY_INLINE Real max(Real x, Real y) { return {hn::Max(x.a, y.a)}; }
HWY_INLINE RealMask operator<(Real x, Real y) { return {hn::Lt(x.a, y.a)}; }
HWY_INLINE RealMask operator<=(Real x, Real y) { return {hn::Le(x.a, y.a)}; }
HWY_INLINE RealMask operator&(RealMask x, RealMask y) { return {hn::And(x.a, y.a)}; }
HWY_INLINE RealMask operator|(RealMask x, RealMask y) { return {hn::Or(x.a, y.a)}; }
HWY_INLINE RealMask but_not(RealMask x, RealMask y) { return {hn::AndNot(y.a, x.a)}; }  ///< x and not y
HWY_INLINE Real select(RealMask m, Real x, Real y) { return {hn::IfThenElse(m.a, x.a, y.a)}; }
HWY_INLINE Real keep(RealMask m, Real x) { return {hn::IfThenElseZero(m.a, x.a)}; }  ///< 0 where not m, even for NaN
HWY_INLINE bool all(RealMask m) { return hn::AllTrue(LaneTag(), m.a); }
HWY_INLINE bool none(RealMask m) { return hn::AllFalse(LaneTag(), m.a); }
HWY_INLINE unsigned bits(RealMask m) {
    HWY_ALIGN double flags[kLanes];
    hn::Store(hn::IfThenElseZero(m.a, hn::Set(LaneTag(), 1.0)), LaneTag(), flags);
    unsigned result = 0;
    for (size_t i = 0; i < kLanes; ++i) result |= flags[i] != 0.0 ? 1u << i : 0u;
    return result;
}

struct WideMask {
    RealMask a, b;
};
struct Wide {
    using Mask = WideMask;
    static constexpr size_t kWidth = 2 * kLanes;
    Real a, b;

    static HWY_INLINE Wide load(const double* p) { return {Real::load(p), Real::load(p + kLanes)}; }
    static HWY_INLINE Wide set(double v) { return {Real::set(v), Real::set(v)}; }
    HWY_INLINE void store(double* p) const { a.store(p), b.store(p + kLanes); }
};

HWY_INLINE Wide operator+(Wide x, Wide y) { return {x.a + y.a, x.b + y.b}; }
HWY_INLINE Wide operator-(Wide x, Wide y) { return {x.a - y.a, x.b - y.b}; }
HWY_INLINE Wide operator*(Wide x, Wide y) { return {x.a * y.a, x.b * y.b}; }
HWY_INLINE Wide operator/(Wide x, Wide y) { return {x.a / y.a, x.b / y.b}; }
HWY_INLINE Wide fma(Wide x, Wide y, Wide z) { return {fma(x.a, y.a, z.a), fma(x.b, y.b, z.b)}; }
HWY_INLINE Wide fnma(Wide x, Wide y, Wide z) { return {fnma(x.a, y.a, z.a), fnma(x.b, y.b, z.b)}; }
HWY_INLINE Wide fms(Wide x, Wide y, Wide z) { return {fms(x.a, y.a, z.a), fms(x.b, y.b, z.b)}; }
HWY_INLINE Wide sqrt(Wide x) { return {sqrt(x.a), sqrt(x.b)}; }
HWY_INLINE Wide min(Wide x, Wide y) { return {min(x.a, y.a), min(x.b, y.b)}; }
HWY_INLINE Wide max(Wide x, Wide y) { return {max(x.a, y.a), max(x.b, y.b)}; }
HWY_INLINE WideMask operator<(Wide x, Wide y) { return {x.a < y.a, x.b < y.b}; }
HWY_INLINE WideMask operator<=(Wide x, Wide y) { return {x.a <= y.a, x.b <= y.b}; }
HWY_INLINE WideMask operator&(WideMask x, WideMask y) { return {x.a & y.a, x.b & y.b}; }
HWY_INLINE WideMask operator|(WideMask x, WideMask y) { return {x.a | y.a, x.b | y.b}; }
HWY_INLINE WideMask but_not(WideMask x, WideMask y) { return {but_not(x.a, y.a), but_not(x.b, y.b)}; }
HWY_INLINE Wide select(WideMask m, Wide x, Wide y) { return {select(m.a, x.a, y.a), select(m.b, x.b, y.b)}; }
HWY_INLINE Wide keep(WideMask m, Wide x) { return {keep(m.a, x.a), keep(m.b, x.b)}; }
HWY_INLINE bool all(WideMask m) { return all(m.a) && all(m.b); }
HWY_INLINE bool none(WideMask m) { return none(m.a) && none(m.b); }
HWY_INLINE unsigned bits(WideMask m) { return bits(m.a) | bits(m.b) << kLanes; }

template <class R>
HWY_INLINE R square(R x) {
    return x * x;
}

template <class R>
struct Lane3 {
    R x, y, z;
};
template <class R>
HWY_INLINE Lane3<R> operator-(Lane3<R> u, Lane3<R> v) {
    return {u.x - v.x, u.y - v.y, u.z - v.z};
}
template <class R>
HWY_INLINE Lane3<R> operator+(Lane3<R> u, Lane3<R> v) {
    return {u.x + v.x, u.y + v.y, u.z + v.z};
}
template <class R>
HWY_INLINE Lane3<R> operator*(R t, Lane3<R> v) {
    return {t * v.x, t * v.y, t * v.z};
}
template <class R>
HWY_INLINE R dot(Lane3<R> u, Lane3<R> v) {
    return fma(u.z, v.z, fma(u.y, v.y, u.x * v.x));
}
template <class R>
HWY_INLINE Lane3<R> fma(R t, Lane3<R> u, Lane3<R> v) {
    return {fma(t, u.x, v.x), fma(t, u.y, v.y), fma(t, u.z, v.z)};
}
template <class R>
HWY_INLINE Lane3<R> fnma(R t, Lane3<R> u, Lane3<R> v) {
    return {fnma(t, u.x, v.x), fnma(t, u.y, v.y), fnma(t, u.z, v.z)};
}
template <class R>
HWY_INLINE Lane3<R> cross(Lane3<R> u, Lane3<R> v) {
    return {fms(u.y, v.z, u.z * v.y), fms(u.z, v.x, u.x * v.z), fms(u.x, v.y, u.y * v.x)};
}
template <class M, class R>
HWY_INLINE Lane3<R> select(M m, Lane3<R> u, Lane3<R> v) {
    return {select(m, u.x, v.x), select(m, u.y, v.y), select(m, u.z, v.z)};
}
template <class M, class R>
HWY_INLINE Lane3<R> keep(M m, Lane3<R> u) {
    return {keep(m, u.x), keep(m, u.y), keep(m, u.z)};
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_MATH_LANES_INL_HPP
