// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/pair_lanes.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_SCALAR)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/grains/pair_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::grains::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<double, 4>;
using V = hn::Vec<Tag>;
constexpr size_t kMost = 4;  // lanes

struct Four {
    V c[4];
};

/// Column k holds number first + k of each lane's row.
#if HWY_MAX_BYTES >= 32
HWY_INLINE Four turned(V r0, V r1, V r2, V r3) {
    const Tag d;
    const V even01 = hn::InterleaveLower(d, r0, r1), odd01 = hn::InterleaveUpper(d, r0, r1);
    const V even23 = hn::InterleaveLower(d, r2, r3), odd23 = hn::InterleaveUpper(d, r2, r3);
    return {{hn::ConcatLowerLower(d, even23, even01), hn::ConcatLowerLower(d, odd23, odd01),
             hn::ConcatUpperUpper(d, even23, even01), hn::ConcatUpperUpper(d, odd23, odd01)}};
}
HWY_INLINE Four columns(const double* const* rows, size_t first) {
    const Tag d;
    return turned(hn::LoadU(d, rows[0] + first), hn::LoadU(d, rows[1] + first), hn::LoadU(d, rows[2] + first),
                  hn::LoadU(d, rows[3] + first));
}
HWY_INLINE void store_rows(const Four& from, double* const* rows, size_t count) {
    const Four out = turned(from.c[0], from.c[1], from.c[2], from.c[3]);
    for (size_t k = 0; k < count; ++k) hn::StoreU(out.c[k], Tag(), rows[k]);
}
#else
HWY_INLINE Four columns(const double* const* rows, size_t first) {
    const Tag d;
    const V low0 = hn::LoadU(d, rows[0] + first), low1 = hn::LoadU(d, rows[1] + first);
    const V high0 = hn::LoadU(d, rows[0] + first + 2), high1 = hn::LoadU(d, rows[1] + first + 2);
    return {{hn::InterleaveLower(d, low0, low1), hn::InterleaveUpper(d, low0, low1),
             hn::InterleaveLower(d, high0, high1), hn::InterleaveUpper(d, high0, high1)}};
}
HWY_INLINE void store_rows(const Four& from, double* const* rows, size_t count) {
    const Tag d;
    hn::StoreU(hn::InterleaveLower(d, from.c[0], from.c[1]), d, rows[0]);
    hn::StoreU(hn::InterleaveLower(d, from.c[2], from.c[3]), d, rows[0] + 2);
    if (count < 2) return;
    hn::StoreU(hn::InterleaveUpper(d, from.c[0], from.c[1]), d, rows[1]);
    hn::StoreU(hn::InterleaveUpper(d, from.c[2], from.c[3]), d, rows[1] + 2);
}
#endif

/// One number of each lane's row.
HWY_INLINE V column(const double* const* rows, size_t element) {
    HWY_ALIGN double out[kMost];
    for (size_t k = 0; k < hn::Lanes(Tag()); ++k) out[k] = rows[k][element];
    return hn::Load(Tag(), out);
}

void relative_poses_of(const Body* bodies, const ListPair* pairs, size_t count, Relative* poses) {
    const Tag d;
    const size_t width = hn::Lanes(d);
    for (size_t begin = 0; begin < count; begin += width) {
        const size_t size = std::min(width, count - begin);
        const double *a[kMost], *b[kMost];
        for (size_t k = 0; k < width; ++k) {
            const ListPair& pair = pairs[begin + std::min(k, size - 1)];
            a[k] = &bodies[pair.a].x;
            b[k] = &bodies[pair.b].x;
        }
        const Four at = columns(a, 0), to = columns(b, 0);  // x, y, theta, cos
        const V cos = at.c[3], sin = column(a, 4);
        const V dx = hn::Sub(to.c[0], at.c[0]), dy = hn::Sub(to.c[1], at.c[1]);
        const V theta = hn::Sub(to.c[2], at.c[2]);
        const V x = hn::MulAdd(cos, dx, hn::Mul(sin, dy)), y = hn::NegMulAdd(sin, dx, hn::Mul(cos, dy));
        if (size == width) {
            hn::StoreInterleaved3(theta, x, y, d, &poses[begin].theta);
        } else {
            HWY_ALIGN double tail[3 * kMost];
            hn::StoreInterleaved3(theta, x, y, d, tail);
            std::copy_n(tail, 3 * size, &poses[begin].theta);
        }
    }
}

void pair_forces_of(const Body* bodies, const ListPair* pairs, const std::int32_t* index, size_t count,
                    const Relative* poses, const MapValue* values, const ContactLaw& law, double dt, Spring* springs,
                    PairForce* forces) {
    const Tag d;
    const size_t width = hn::Lanes(d);
    const V zero = hn::Zero(d), normal_stiffness = hn::Set(d, law.normal_stiffness),
            normal_damping = hn::Set(d, law.normal_damping), tangent_stiffness = hn::Set(d, law.tangent_stiffness),
            tangent_damping = hn::Set(d, law.tangent_damping), friction = hn::Set(d, law.friction),
            time_step = hn::Set(d, dt), cos30 = hn::Set(d, kCos30);
    for (size_t begin = 0; begin < count; begin += width) {
        const size_t size = std::min(width, count - begin);
        const double *a[kMost], *b[kMost], *value[kMost], *pose[kMost], *spring[kMost];
        double* force[kMost];
        for (size_t k = 0; k < width; ++k) {
            const size_t q = begin + std::min(k, size - 1), p = static_cast<size_t>(index[q]);
            a[k] = &bodies[pairs[p].a].x;
            b[k] = &bodies[pairs[p].b].x;
            value[k] = &values[q].distance;
            pose[k] = &poses[q].theta;
            spring[k] = &springs[p].stretch;
            force[k] = &forces[p].fx;
        }
        const Four body_a = columns(a, 4), body_b = columns(b, 4), map = columns(value, 1);  // sin, vx, vy, omega
        const V cos = column(a, 3), sin = body_a.c[0];
        const V omega_a = body_a.c[3], omega_b = body_b.c[3];
        const V dvx = hn::Sub(body_b.c[1], body_a.c[1]), dvy = hn::Sub(body_b.c[2], body_a.c[2]);
        const V g_theta = map.c[0], g_x = map.c[1], g_y = map.c[2], arm = map.c[3], distance = column(value, 0);
        const V x = column(pose, 1), y = column(pose, 2);
        // Gradient in world axes, and d'.
        const V wx = hn::NegMulAdd(sin, g_y, hn::Mul(cos, g_x)), wy = hn::MulAdd(sin, g_x, hn::Mul(cos, g_y));
        const V turn_a = hn::Sub(hn::NegMulAdd(x, g_y, hn::Mul(y, g_x)), g_theta);
        const V rate = hn::MulAdd(wx, dvx, hn::MulAdd(wy, dvy, hn::MulAdd(g_theta, omega_b, hn::Mul(turn_a, omega_a))));
        const V normal = hn::Max(zero, hn::Neg(hn::MulAdd(normal_stiffness, distance, hn::Mul(normal_damping, rate))));
        const V inverse = hn::Div(hn::Set(d, 1.0), hn::Sqrt(hn::MulAdd(wx, wx, hn::Mul(wy, wy))));
        const V nx = hn::Mul(wx, inverse), ny = hn::Mul(wy, inverse);
        const V arm_b = hn::NegMulAdd(hn::MulAdd(x, g_x, hn::Mul(y, g_y)), inverse, arm);
        // t = (-ny, nx)
        const V slip =
            hn::MulAdd(nx, dvy, hn::NegMulAdd(ny, dvx, hn::NegMulAdd(arm, omega_a, hn::Mul(arm_b, omega_b))));

        const V old = column(spring, 0), old_x = column(spring, 1), old_y = column(spring, 2);
        const auto same = hn::Ge(hn::MulAdd(old_x, nx, hn::Mul(old_y, ny)), cos30);
        V stretch = hn::MulAdd(slip, time_step, hn::IfThenElseZero(same, old));
        const V stretched = hn::Mul(tangent_stiffness, stretch), damped = hn::Mul(tangent_damping, slip);
        const V held = hn::Add(stretched, damped), limit = hn::Mul(friction, normal);
        const auto slides = hn::Gt(hn::Abs(damped), limit), yields = hn::Gt(hn::Abs(held), limit);
        const V at_limit = hn::CopySign(limit, held);
        const V factor = hn::Div(hn::Sub(at_limit, damped), stretched);  // PROJECTFACTOR
        stretch = hn::IfThenZeroElse(slides, hn::IfThenElse(yields, hn::Mul(stretch, factor), stretch));
        const V tangent =
            hn::Neg(hn::IfThenElse(slides, hn::CopySign(limit, slip), hn::IfThenElse(yields, at_limit, held)));

        store_rows({{hn::NegMulAdd(tangent, ny, hn::Mul(normal, wx)), hn::MulAdd(tangent, nx, hn::Mul(normal, wy)),
                     hn::NegMulAdd(tangent, arm, hn::Mul(normal, turn_a)),
                     hn::MulAdd(tangent, arm_b, hn::Mul(normal, g_theta))}},
                   force, size);
        HWY_ALIGN double out[3 * kMost];
        hn::StoreInterleaved3(stretch, nx, ny, d, out);
        for (size_t k = 0; k < size; ++k) {
            springs[static_cast<size_t>(index[begin + k])] = {out[3 * k], out[3 * k + 1], out[3 * k + 2]};
        }
    }
}

}  // namespace farfield::grains::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::grains {

HWY_EXPORT(relative_poses_of);
HWY_EXPORT(pair_forces_of);

void relative_poses(const Body* bodies, const ListPair* pairs, std::size_t count, Relative* poses) {
    HWY_DYNAMIC_DISPATCH(relative_poses_of)(bodies, pairs, count, poses);
}

void pair_forces(const Body* bodies, const ListPair* pairs, const std::int32_t* index, std::size_t count,
                 const Relative* poses, const MapValue* values, const ContactLaw& law, double dt, Spring* springs,
                 PairForce* forces) {
    HWY_DYNAMIC_DISPATCH(pair_forces_of)(bodies, pairs, index, count, poses, values, law, dt, springs, forces);
}

}  // namespace farfield::grains
#endif  // HWY_ONCE
