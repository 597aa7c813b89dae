// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "farfield/contact/softmin/field_lanes.hpp"

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/softmin/force_lanes.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/contact/softmin/lanes-inl.hpp"

#ifndef FARFIELD_CONTACT_SOFTMIN_FORCE_LANES_ONCE
#define FARFIELD_CONTACT_SOFTMIN_FORCE_LANES_ONCE
namespace farfield::contact::softmin {

/// One side of a pair, as the lanes see it. `Work`: SideWork, or const SideWork where sum_values has been.
template <class Work>
struct SideView {
    Work& work;
    double radius;
    const ForceNumbers& numbers;
    const double* velocity;  ///< (u, w)
    SoftCut cut;
};

}  // namespace farfield::contact::softmin
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::softmin::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Damping {
    Real value, slope;  ///< D(x) and D'(x)
};
HWY_INLINE Damping damping(Real x, bool printed) {
    const Real zero = Real::set(0.0), one = Real::set(1.0), half = Real::set(0.5);
    const Real u = max(one - half * x, zero);  // (2 - x)/2
    Real value, slope;
    if (printed) {
        value = u * u;
        slope = zero - u;
    } else {
        const Real w = fma(half, x, one), u2 = u * u;  // (1 - x/2)^3 (1 + x/2)
        value = u2 * u * w;
        slope = half * u2 * (u - Real::set(3.0) * w);
    }
    const RealMask approaching = x <= zero;
    return {select(approaching, one - x, value), select(approaching, zero - one, slope)};
}

/// The force on kLanes queries, F = normal (n - mu slip inverse), and what it is made of.
struct PlaneForce {
    Real weight, phi, p[3], n[3], y[3], v[3], slip[3];
    Real approach, inverse, x, fade, c;  ///< n . v, 1/s, -phi/eps3, exp(-|x|), k eps3 softplus(x)
    Damping d;
    Real normal, a[3];
};

/// Calls use(group, lane, phi - least, used) for all lanes that have a query in use.
template <class Work, class Use>
HWY_INLINE void for_each_used(Work& work, const SoftCut& cut, Use&& use) {
    HWY_ALIGN static constexpr double kIndex[kLeafPoints] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int index = 0; index < work.count; ++index) {
        auto& group = work.groups[static_cast<size_t>(index)];
        for (size_t lane = 0; lane < kLeafPoints; lane += kLanes) {
            const Real above = Real::load(group.phi + lane) - Real::set(cut.least);
            const RealMask used = (above <= Real::set(cut.cut)) & (Real::load(kIndex + lane) < Real::set(group.count));
            if (!none(used)) use(group, lane, above, used);
        }
    }
}

/// Calls use(force, group, lane) for all lanes that have a query in use.
template <class Work, class Use>
HWY_INLINE void for_each_force(const SideView<Work>& side, Use&& use) {
    const ForceNumbers& numbers = side.numbers;
    const Real zero = Real::set(0.0), one = Real::set(1.0);
    const Real u[3] = {Real::set(side.velocity[0]), Real::set(side.velocity[1]), Real::set(side.velocity[2])};
    const Real w[3] = {Real::set(side.velocity[3]), Real::set(side.velocity[4]), Real::set(side.velocity[5])};
    const Real mu = Real::set(numbers.friction), rho = Real::set(side.radius);
    const Real sharing = Real::set(-1.0 / numbers.sharing), ramp = Real::set(-1.0 / numbers.ramp);
    for_each_used(side.work, side.cut, [&](auto& group, size_t lane, Real above, RealMask used) {
        PlaneForce f;
        f.phi = Real::load(group.phi + lane);
        for (int i = 0; i < 3; ++i) {
            f.p[i] = Real::load(group.p[i] + lane);
            f.n[i] = Real::load(group.n[i] + lane);
            f.y[i] = fnma(rho, f.n[i], f.p[i]);
        }
        cross(w, f.y, f.v);
        for (int i = 0; i < 3; ++i) f.v[i] = f.v[i] + u[i];
        f.approach = dot(f.n, f.v);
        for (int i = 0; i < 3; ++i) f.slip[i] = fnma(f.approach, f.n[i], f.v[i]);
        f.x = f.phi * ramp;
        if constexpr (std::is_const_v<Work>) {
            f.weight = Real::load(group.weight + lane);
            f.fade = Real::load(group.fade + lane);
            f.c = Real::load(group.c + lane);
            f.inverse = Real::load(group.inverse + lane);
        } else {
            f.weight = keep(used, exp_negative(above * sharing));
            f.fade = exp_negative(min(f.x, zero - f.x));
            f.c = Real::set(numbers.stiffness * numbers.ramp) * (max(f.x, zero) + log_one_plus(f.fade));
            f.inverse = one / sqrt(dot(f.slip, f.slip) + Real::set(numbers.slip_speed * numbers.slip_speed));
            f.weight.store(group.weight + lane);
            f.fade.store(group.fade + lane);
            f.c.store(group.c + lane);
            f.inverse.store(group.inverse + lane);
        }
        f.d = damping(f.approach * Real::set(1.0 / numbers.damping_speed), numbers.printed_damping);
        f.normal = f.c * f.d.value;
        for (int i = 0; i < 3; ++i) f.a[i] = fnma(mu * f.inverse, f.slip[i], f.n[i]);
        use(f, group, lane);
    });
}

HWY_INLINE double total(Real x) { return hn::GetLane(hn::SumOfLanes(farfield::HWY_NAMESPACE::LaneTag(), x.a)); }

/// out: weight, phi, wrench.
void sum_values(const SideView<SideWork>& side, double* out) {
    const Real zero = Real::set(0.0);
    Real sums[8] = {zero, zero, zero, zero, zero, zero, zero, zero};
    for_each_force(side, [&](const PlaneForce& f, const QueryGroup&, size_t) {
        const Real push = f.weight * f.normal;
        const Real force[3] = {push * f.a[0], push * f.a[1], push * f.a[2]};
        Real torque[3];
        cross(f.y, force, torque);
        sums[0] = sums[0] + f.weight;
        sums[1] = fma(f.weight, f.phi, sums[1]);
        for (int i = 0; i < 3; ++i) {
            sums[2 + i] = sums[2 + i] + force[i];
            sums[5 + i] = sums[5 + i] + torque[i];
        }
    });
    for (int k = 0; k < 8; ++k) out[k] = total(sums[k]);
}

/// Backward through F . z, z = d + e x y, of every query. out: by_motion, by_velocity, by_friction.
void sum_backward(const SideView<const SideWork>& side, const double* motion, double mean, double* out) {
    const ForceNumbers& numbers = side.numbers;
    const Real zero = Real::set(0.0), one = Real::set(1.0), mu = Real::set(numbers.friction);
    const Real d[3] = {Real::set(motion[0]), Real::set(motion[1]), Real::set(motion[2])};
    const Real e[3] = {Real::set(motion[3]), Real::set(motion[4]), Real::set(motion[5])};
    const Real w[3] = {Real::set(side.velocity[3]), Real::set(side.velocity[4]), Real::set(side.velocity[5])};
    Real sums[13];
    for (Real& sum : sums) sum = zero;
    for_each_force(side, [&](const PlaneForce& f, const QueryGroup& group, size_t lane) {
        Real z[3];
        cross(e, f.y, z);
        for (int i = 0; i < 3; ++i) z[i] = z[i] + d[i];
        const Real along = dot(f.a, z), slip_z = dot(f.slip, z), friction_force = f.weight * f.normal * f.inverse;
        const Real push = f.weight * f.normal;
        // d(F . z) = (c D'/v_d) (a . z) d(n . v) + normal z . dn - mu normal/s (z - slip (slip . z)/s^2) . dslip + ...
        const Real steep = f.weight * f.c * f.d.slope * along * Real::set(1.0 / numbers.damping_speed);
        const Real fold = slip_z * f.inverse * f.inverse;
        Real slip_bar[3];
        for (int i = 0; i < 3; ++i) slip_bar[i] = zero - mu * friction_force * fnma(f.slip[i], fold, z[i]);
        const Real through = steep - dot(f.n, slip_bar);  // dslip = dv - n d(n . v) - (n . v) dn
        Real v_bar[3], n_bar[3], y_bar[3], spun[3], force[3];
        for (int i = 0; i < 3; ++i) {
            v_bar[i] = fma(through, f.n[i], slip_bar[i]);
            n_bar[i] = fma(through, f.v[i], fnma(f.approach, slip_bar[i], push * z[i]));
            force[i] = push * f.a[i];
        }
        cross(v_bar, w, spun);
        cross(force, e, y_bar);
        for (int i = 0; i < 3; ++i) {
            y_bar[i] = y_bar[i] + spun[i];
            n_bar[i] = fnma(Real::set(side.radius), y_bar[i], n_bar[i]);
        }
        // dc/dphi = -k sigmoid(x), sigmoid(x) = e^min(x, 0)/(1 + e^-|x|); weights change as well
        const Real sigmoid = select(f.x < zero, f.fade, one) / (one + f.fade);
        const Real share = (f.normal * along - Real::set(mean)) * Real::set(1.0 / numbers.sharing);
        const Real phi_bar = zero - f.weight * fma(Real::set(numbers.stiffness) * sigmoid * f.d.value, along, share);
        Real p_bar[3], turned[3];
        for (int j = 0; j < 3; ++j) {
            p_bar[j] = fma(phi_bar, Real::load(group.g[j] + lane), y_bar[j]);
            for (int i = 0; i < 3; ++i) p_bar[j] = fma(n_bar[i], Real::load(group.turn[3 * i + j] + lane), p_bar[j]);
        }
        cross(f.p, p_bar, turned);
        cross(f.y, v_bar, spun);
        for (int i = 0; i < 3; ++i) {
            sums[i] = sums[i] + p_bar[i];
            sums[3 + i] = sums[3 + i] + turned[i];
            sums[6 + i] = sums[6 + i] + v_bar[i];
            sums[9 + i] = sums[9 + i] + spun[i];
        }
        sums[12] = fnma(friction_force, slip_z, sums[12]);
    });
    for (int k = 0; k < 13; ++k) out[k] = total(sums[k]);
}

/// out: sum of weights times dphi by (a, b).
void sum_gradients(const SideWork& work, const SoftCut& cut, double* out) {
    const Real zero = Real::set(0.0);
    Real sums[6] = {zero, zero, zero, zero, zero, zero};
    for_each_used(work, cut, [&](const QueryGroup& group, size_t lane, Real, RealMask) {
        const Real weight = Real::load(group.weight + lane);
        Real p[3], g[3], turned[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = Real::load(group.p[i] + lane);
            g[i] = weight * Real::load(group.g[i] + lane);
        }
        cross(p, g, turned);
        for (int i = 0; i < 3; ++i) {
            sums[i] = sums[i] + g[i];
            sums[3 + i] = sums[3 + i] + turned[i];
        }
    });
    for (int k = 0; k < 6; ++k) out[k] = total(sums[k]);
}

}  // namespace farfield::contact::softmin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::softmin {

HWY_EXPORT(sum_values);
HWY_EXPORT(sum_backward);
HWY_EXPORT(sum_gradients);

void sum_forces(SideWork& work, double radius, const ForceNumbers& numbers, const Vector6d& velocity,
                const SoftCut& cut, SideSums& sums) {
    double out[8];
    HWY_DYNAMIC_DISPATCH(sum_values)({work, radius, numbers, velocity.data(), cut}, out);
    sums.weight = out[0];
    sums.phi = out[1];
    sums.wrench = Eigen::Map<const Vector6d>(out + 2);
}

void sum_bars(const SideWork& work, double radius, const ForceNumbers& numbers, const Vector6d& velocity,
              const Vector6d& motion, double mean, const SoftCut& cut, SideBars& bars) {
    double out[13];
    HWY_DYNAMIC_DISPATCH(sum_backward)({work, radius, numbers, velocity.data(), cut}, motion.data(), mean, out);
    bars.by_motion = Eigen::Map<const Vector6d>(out);
    bars.by_velocity = Eigen::Map<const Vector6d>(out + 6);
    bars.by_friction = out[12];
}

Vector6d sum_slopes(const SideWork& work, const SoftCut& cut) {
    Vector6d out;
    HWY_DYNAMIC_DISPATCH(sum_gradients)(work, cut, out.data());
    return out;
}

}  // namespace farfield::contact::softmin
#endif  // HWY_ONCE
