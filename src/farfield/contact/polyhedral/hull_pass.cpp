// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/hull_pass.hpp"

#include <algorithm>

#include "farfield/contact/polyhedral/barrier.hpp"

// Sizeless vectors cannot be members of the lanes used here.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/polyhedral/hull_pass.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::polyhedral::HWY_NAMESPACE {

using namespace farfield::HWY_NAMESPACE;  // lanes

using V = hn::Vec<LaneTag>;
constexpr int kWidth = static_cast<int>(kLanes);

/// One vertex with 0 < q < s.
HWY_INLINE void add_vertex(double x, double y, double z, double q, double s, PassSums& out) {
    const BarrierTaylor p = barrier(q, s);
    out.value += p.value;
    out.first[0] += p.first * x;
    out.first[1] += p.first * y;
    out.first[2] += p.first * z;
    out.first[3] += p.first;
    const double sx = p.second * x, sy = p.second * y, sz = p.second * z;
    double* t = out.second;
    t[0] += sx * x;
    t[1] += sx * y;
    t[2] += sx * z;
    t[3] += sx;
    t[4] += sy * y;
    t[5] += sy * z;
    t[6] += sy;
    t[7] += sz * z;
    t[8] += sz;
    t[9] += p.second;
}

/// Fifteen sums, a vertex per lane.
struct LaneSums {
    V value, first[4], second[10];

    HWY_INLINE void clear() {
        const LaneTag tag;
        value = hn::Zero(tag);
        for (V& sum : first) sum = value;
        for (V& sum : second) sum = value;
    }

    /// Margins q > 0; lanes at or above s add nothing.
    HWY_INLINE void add(V x, V y, V z, V q, V s) {
        const LaneTag tag;
        const V d = hn::Min(hn::Sub(q, s), hn::Zero(tag)), d2 = hn::Mul(d, d);
        const V r = hn::Div(hn::Set(tag, 1.0), q), r2 = hn::Mul(r, r), r5 = hn::Mul(hn::Mul(r2, r2), r);
        value = hn::Add(value, hn::Mul(hn::Mul(d2, d2), r5));
        const V five = hn::Sub(hn::Mul(hn::Set(tag, 5.0), s), q);
        const V p1 = hn::Mul(hn::Mul(hn::Mul(d2, d), five), hn::Mul(r5, r));
        // 2 q^2 - 20 s q + 30 s^2
        const V inner = hn::Add(hn::Mul(q, hn::Sub(hn::Mul(hn::Set(tag, 2.0), q), hn::Mul(hn::Set(tag, 20.0), s))),
                                hn::Mul(hn::Set(tag, 30.0), hn::Mul(s, s)));
        const V p2 = hn::Mul(hn::Mul(d2, inner), hn::Mul(r5, r2));
        first[0] = hn::MulAdd(p1, x, first[0]);
        first[1] = hn::MulAdd(p1, y, first[1]);
        first[2] = hn::MulAdd(p1, z, first[2]);
        first[3] = hn::Add(first[3], p1);
        const V sx = hn::Mul(p2, x), sy = hn::Mul(p2, y), sz = hn::Mul(p2, z);
        second[0] = hn::MulAdd(sx, x, second[0]);
        second[1] = hn::MulAdd(sx, y, second[1]);
        second[2] = hn::MulAdd(sx, z, second[2]);
        second[3] = hn::Add(second[3], sx);
        second[4] = hn::MulAdd(sy, y, second[4]);
        second[5] = hn::MulAdd(sy, z, second[5]);
        second[6] = hn::Add(second[6], sy);
        second[7] = hn::MulAdd(sz, z, second[7]);
        second[8] = hn::Add(second[8], sz);
        second[9] = hn::Add(second[9], p2);
    }

    HWY_INLINE void add_to(PassSums& out) const {
        const LaneTag tag;
        out.value += hn::GetLane(hn::SumOfLanes(tag, value));
        for (int k = 0; k < 4; ++k) out.first[k] += hn::GetLane(hn::SumOfLanes(tag, first[k]));
        for (int k = 0; k < 10; ++k) out.second[k] += hn::GetLane(hn::SumOfLanes(tag, second[k]));
    }
};

/// Fewer vertices than lanes.
HWY_INLINE void short_pass(const HullColumns& hull, const PassInput& in, int begin, PassSums& out) {
    for (int m = begin; m < hull.size; ++m) {
        const double x = hull.scale * hull.x[m] - in.centre[0], y = hull.scale * hull.y[m] - in.centre[1],
                     z = hull.scale * hull.z[m] - in.centre[2];
        const double q = in.normal[0] * x + in.normal[1] * y + in.normal[2] * z + in.offset;
        out.lowest = std::min(out.lowest, q);
        if (q < in.margin && q > 0.0) add_vertex(x, y, z, q, in.margin, out);
    }
}

/// Blocks of lanes without an active vertex cost their margins alone, those with one are left to scalar arithmetic.
void lane_pass(const HullColumns& hull, const PassInput& in, PassSums& out) {
    const LaneTag tag;
    const V nx = hn::Set(tag, in.normal[0]), ny = hn::Set(tag, in.normal[1]), nz = hn::Set(tag, in.normal[2]);
    const V cx = hn::Set(tag, in.centre[0]), cy = hn::Set(tag, in.centre[1]), cz = hn::Set(tag, in.centre[2]);
    const V o = hn::Set(tag, in.offset), s = hn::Set(tag, in.margin), scale = hn::Set(tag, hull.scale);
    V lowest = hn::Set(tag, out.lowest);
    LaneSums sums;
    bool several = false;
    int m = 0;
    for (; m + kWidth <= hull.size; m += kWidth) {
        const V x = hn::MulSub(scale, hn::LoadU(tag, hull.x + m), cx),
                y = hn::MulSub(scale, hn::LoadU(tag, hull.y + m), cy),
                z = hn::MulSub(scale, hn::LoadU(tag, hull.z + m), cz);
        const V q = hn::MulAdd(nx, x, hn::MulAdd(ny, y, hn::MulAdd(nz, z, o)));
        lowest = hn::Min(lowest, q);
        const auto active = hn::Lt(q, s);
        const auto count = hn::CountTrue(tag, active);
        if (count == 0) continue;
        if (count == 1) {
            const int k = m + static_cast<int>(hn::FindKnownFirstTrue(tag, active));
            const double px = hull.scale * hull.x[k] - in.centre[0], py = hull.scale * hull.y[k] - in.centre[1],
                         pz = hull.scale * hull.z[k] - in.centre[2];
            const double margin = hn::GetLane(hn::MinOfLanes(tag, q));
            if (margin > 0.0) add_vertex(px, py, pz, margin, in.margin, out);
            continue;
        }
        if (!several) sums.clear();
        several = true;
        sums.add(x, y, z, q, s);
    }
    out.lowest = hn::GetLane(hn::MinOfLanes(tag, lowest));
    if (several) sums.add_to(out);
    short_pass(hull, in, m, out);
}

}  // namespace farfield::contact::polyhedral::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::polyhedral {

HWY_EXPORT(lane_pass);

void pass_over(const HullColumns& hull, const PassInput& input, PassSums& out) {
    HWY_DYNAMIC_DISPATCH(lane_pass)(hull, input, out);
}

}  // namespace farfield::contact::polyhedral
#endif  // HWY_ONCE
