// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "farfield/contact/softmin/field_lanes.hpp"

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/softmin/force_lanes.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/math/lane_functions-inl.hpp"

#ifndef FARFIELD_CONTACT_SOFTMIN_FORCE_LANES_ONCE
#define FARFIELD_CONTACT_SOFTMIN_FORCE_LANES_ONCE
namespace farfield::contact::softmin {

/// Where each sum begins.
enum : int {
    kWeight = 0,
    kPhi = 1,
    kWrench = 2,
    kByFriction = 8,
    kSlope = 14,
    kByMotion = 20,
    kByVelocity = 56,
    kSums = 92
};
struct alignas(64) LaneSums {
    double of[kSums][kLeafPoints];
};

}  // namespace farfield::contact::softmin
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::softmin::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using farfield::HWY_NAMESPACE::exp_negative;
using farfield::HWY_NAMESPACE::kLanes;
using farfield::HWY_NAMESPACE::log_one_plus;
using farfield::HWY_NAMESPACE::Real;
using farfield::HWY_NAMESPACE::RealMask;

struct Matrix {
    Real at[3][3];
};

HWY_INLINE Real dot(const Real (&u)[3], const Real (&v)[3]) { return fma(u[2], v[2], fma(u[1], v[1], u[0] * v[0])); }
HWY_INLINE void cross(const Real (&u)[3], const Real (&v)[3], Real (&out)[3]) {
    out[0] = fms(u[1], v[2], u[2] * v[1]);
    out[1] = fms(u[2], v[0], u[0] * v[2]);
    out[2] = fms(u[0], v[1], u[1] * v[0]);
}
HWY_INLINE Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix out;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            out.at[i][j] = fma(a.at[i][2], b.at[2][j], fma(a.at[i][1], b.at[1][j], a.at[i][0] * b.at[0][j]));
    }
    return out;
}
/// hat(u) M: every column is turned into u x column.
HWY_INLINE Matrix cross_columns(const Real (&u)[3], const Matrix& m) {
    Matrix out;
    for (int j = 0; j < 3; ++j) {
        const Real column[3] = {m.at[0][j], m.at[1][j], m.at[2][j]};
        Real turned[3];
        cross(u, column, turned);
        for (int i = 0; i < 3; ++i) out.at[i][j] = turned[i];
    }
    return out;
}
/// -M hat(u): every row is turned into u x row.
HWY_INLINE Matrix cross_rows(const Real (&u)[3], const Matrix& m) {
    Matrix out;
    for (int i = 0; i < 3; ++i) cross(u, m.at[i], out.at[i]);
    return out;
}

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

HWY_INLINE void add(Real x, double (&sum)[kLeafPoints], size_t lane) { (Real::load(sum + lane) + x).store(sum + lane); }

template <bool kDerivatives>
void sum_lanes(const SideWork& work, double radius, const ForceNumbers& numbers, const double* velocity, double least,
               double cut, LaneSums& sums) {
    const Real zero = Real::set(0.0), one = Real::set(1.0);
    const Real u[3] = {Real::set(velocity[0]), Real::set(velocity[1]), Real::set(velocity[2])};
    const Real w[3] = {Real::set(velocity[3]), Real::set(velocity[4]), Real::set(velocity[5])};
    const Real mu = Real::set(numbers.friction), rho = Real::set(radius),
               speed = Real::set(1.0 / numbers.damping_speed);
    const Real sharing = Real::set(-1.0 / numbers.sharing), ramp = Real::set(-1.0 / numbers.ramp);
    HWY_ALIGN static constexpr double kIndex[kLeafPoints] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (int index = 0; index < work.count; ++index) {
        const QueryGroup& group = work.groups[static_cast<size_t>(index)];
        for (size_t lane = 0; lane < kLeafPoints; lane += kLanes) {
            const Real phi = Real::load(group.phi + lane), above = phi - Real::set(least);
            const RealMask used = (above <= Real::set(cut)) & (Real::load(kIndex + lane) < Real::set(group.count));
            if (none(used)) continue;
            const Real weight = keep(used, exp_negative(above * sharing));
            Real p[3], n[3], y[3], v[3];
            for (int i = 0; i < 3; ++i) {
                p[i] = Real::load(group.p[i] + lane);
                n[i] = Real::load(group.n[i] + lane);
                y[i] = fnma(rho, n[i], p[i]);
            }
            cross(w, y, v);
            for (int i = 0; i < 3; ++i) v[i] = v[i] + u[i];
            const Real approach = dot(n, v);
            Real slip[3];
            for (int i = 0; i < 3; ++i) slip[i] = fnma(approach, n[i], v[i]);
            const Real inverse = one / sqrt(dot(slip, slip) + Real::set(numbers.slip_speed * numbers.slip_speed));
            // c = k eps3 softplus(x), x = -phi/eps3
            const Real x = phi * ramp, fade = exp_negative(min(x, zero - x));
            const Real c = Real::set(numbers.stiffness * numbers.ramp) * (max(x, zero) + log_one_plus(fade));
            const Damping d = damping(approach * speed, numbers.printed_damping);
            const Real normal = c * d.value;
            Real a[3], force[3], torque[3];
            for (int i = 0; i < 3; ++i) {
                a[i] = fnma(mu * inverse, slip[i], n[i]);
                force[i] = normal * a[i];
            }
            cross(y, force, torque);
            add(weight, sums.of[kWeight], lane);
            add(weight * phi, sums.of[kPhi], lane);
            for (int i = 0; i < 3; ++i) {
                add(weight * force[i], sums.of[kWrench + i], lane);
                add(weight * torque[i], sums.of[kWrench + 3 + i], lane);
            }
            if constexpr (kDerivatives) {
                Real g[3], rubs[3], turned[3];
                Matrix turn, by_v, by_n, moved;  // dn/dp, dF/dv, dF/dn, dy/dp
                const Real rub = zero - normal * inverse;
                for (int i = 0; i < 3; ++i) {
                    g[i] = Real::load(group.g[i] + lane);
                    rubs[i] = rub * slip[i];
                    for (int j = 0; j < 3; ++j) {
                        turn.at[i][j] = Real::load(group.turn[3 * i + j] + lane);
                        moved.at[i][j] = fnma(rho, turn.at[i][j], i == j ? one : zero);
                    }
                }
                cross(y, rubs, turned);
                // P = 1/s - v_t v_t^T/s^3;  dF/dv = a (c D'/v_d) n^T - mu normal P (1 - n n^T)
                // dF/dn = a (c D'/v_d) v^T + normal (1 + mu P (n v^T + v_n 1))
                const Real steep = c * d.slope * speed, rubbing = mu * normal * inverse, inverse2 = inverse * inverse;
                const Real slip_n = dot(slip, n) * inverse2;
                for (int i = 0; i < 3; ++i) {
                    const Real p_n = fnma(slip[i], slip_n, n[i]);  // s P n
                    for (int j = 0; j < 3; ++j) {
                        const Real unit = i == j ? one : zero;
                        const Real p_ij = fnma(slip[i] * slip[j], inverse2, unit);  // s P
                        by_v.at[i][j] = fma(steep * a[i], n[j], rubbing * fms(p_n, n[j], p_ij));
                        by_n.at[i][j] =
                            fma(steep * a[i], v[j], fma(rubbing, fma(p_n, v[j], approach * p_ij), normal * unit));
                    }
                }
                // sigmoid(x) = e^min(x, 0)/(1 + e^-|x|)
                const Real sigmoid = select(x < zero, fade, one) / (one + fade);
                const Real soften = (zero - Real::set(numbers.stiffness)) * sigmoid * d.value;
                Matrix by_p = by_n * turn;
                const Matrix carried = by_v * cross_columns(w, moved);
                for (int i = 0; i < 3; ++i) {
                    for (int j = 0; j < 3; ++j)
                        by_p.at[i][j] = fma(soften * a[i], g[j], by_p.at[i][j] + carried.at[i][j]);
                }
                Matrix torque_p = cross_columns(y, by_p);
                const Matrix lever = cross_columns(force, moved), torque_v = cross_columns(y, by_v);
                Real pg[3];
                cross(p, g, pg);
                for (int i = 0; i < 3; ++i) {
                    for (int j = 0; j < 3; ++j) {
                        // weights change as well: -(1/eps2) W dphi^T
                        by_p.at[i][j] = fma(sharing * force[i], g[j], by_p.at[i][j]);
                        torque_p.at[i][j] = fma(sharing * torque[i], g[j], torque_p.at[i][j] - lever.at[i][j]);
                    }
                }
                const Matrix force_b = cross_rows(p, by_p), torque_b = cross_rows(p, torque_p);
                const Matrix force_w = cross_rows(y, by_v), torque_w = cross_rows(y, torque_v);
                for (int i = 0; i < 3; ++i) {
                    add(weight * rubs[i], sums.of[kByFriction + i], lane);
                    add(weight * turned[i], sums.of[kByFriction + 3 + i], lane);
                    add(weight * g[i], sums.of[kSlope + i], lane);
                    add(weight * pg[i], sums.of[kSlope + 3 + i], lane);
                    for (int j = 0; j < 3; ++j) {
                        add(weight * by_p.at[i][j], sums.of[kByMotion + 6 * i + j], lane);
                        add(weight * force_b.at[i][j], sums.of[kByMotion + 6 * i + 3 + j], lane);
                        add(weight * torque_p.at[i][j], sums.of[kByMotion + 18 + 6 * i + j], lane);
                        add(weight * torque_b.at[i][j], sums.of[kByMotion + 18 + 6 * i + 3 + j], lane);
                        add(weight * by_v.at[i][j], sums.of[kByVelocity + 6 * i + j], lane);
                        add(weight * force_w.at[i][j], sums.of[kByVelocity + 6 * i + 3 + j], lane);
                        add(weight * torque_v.at[i][j], sums.of[kByVelocity + 18 + 6 * i + j], lane);
                        add(weight * torque_w.at[i][j], sums.of[kByVelocity + 18 + 6 * i + 3 + j], lane);
                    }
                }
            }
        }
    }
}

void sum_all(const SideWork& work, double radius, const ForceNumbers& numbers, const double* velocity, double least,
             double cut, bool derivatives, LaneSums& sums) {
    if (derivatives) {
        sum_lanes<true>(work, radius, numbers, velocity, least, cut, sums);
    } else {
        sum_lanes<false>(work, radius, numbers, velocity, least, cut, sums);
    }
}

}  // namespace farfield::contact::softmin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::softmin {

HWY_EXPORT(sum_all);

void sum_forces(const SideWork& work, double radius, const ForceNumbers& numbers,
                const Eigen::Matrix<double, 6, 1>& velocity, double least, double cut, bool derivatives,
                SideSums& out) {
    LaneSums sums;
    const int count = derivatives ? kSums : kByFriction;
    for (int k = 0; k < count; ++k) std::fill_n(sums.of[k], kLeafPoints, 0.0);
    HWY_DYNAMIC_DISPATCH(sum_all)(work, radius, numbers, velocity.data(), least, cut, derivatives, sums);
    const auto total = [&](int k) {
        double sum = 0.0;
        for (const double value : sums.of[k]) sum += value;
        return sum;
    };
    out.weight = total(kWeight);
    out.phi = total(kPhi);
    for (int i = 0; i < 6; ++i) out.wrench[i] = total(kWrench + i);
    if (!derivatives) return;
    for (int i = 0; i < 6; ++i) {
        out.by_friction[i] = total(kByFriction + i);
        out.slope[i] = total(kSlope + i);
        for (int j = 0; j < 6; ++j) {
            out.by_motion(i, j) = total(kByMotion + 6 * i + j);
            out.by_velocity(i, j) = total(kByVelocity + 6 * i + j);
        }
    }
}

}  // namespace farfield::contact::softmin
#endif  // HWY_ONCE
