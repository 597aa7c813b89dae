// SPDX-License-Identifier: Apache-2.0
/// @file  What the lanes of the soft-minimum law share. Included once per Highway target.
#if defined(FARFIELD_CONTACT_SOFTMIN_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_CONTACT_SOFTMIN_LANES_INL_HPP
#undef FARFIELD_CONTACT_SOFTMIN_LANES_INL_HPP
#else
#define FARFIELD_CONTACT_SOFTMIN_LANES_INL_HPP
#endif

#include "farfield/math/lane_functions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::softmin::HWY_NAMESPACE {

using farfield::HWY_NAMESPACE::exp_negative;
using farfield::HWY_NAMESPACE::kLanes;
using farfield::HWY_NAMESPACE::log_one_plus;
using farfield::HWY_NAMESPACE::Real;
using farfield::HWY_NAMESPACE::RealMask;

HWY_INLINE Real dot(const Real (&u)[3], const Real (&v)[3]) { return fma(u[2], v[2], fma(u[1], v[1], u[0] * v[0])); }
HWY_INLINE void cross(const Real (&u)[3], const Real (&v)[3], Real (&out)[3]) {
    out[0] = fms(u[1], v[2], u[2] * v[1]);
    out[1] = fms(u[2], v[0], u[0] * v[2]);
    out[2] = fms(u[0], v[1], u[1] * v[0]);
}

}  // namespace farfield::contact::softmin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_CONTACT_SOFTMIN_LANES_INL_HPP
