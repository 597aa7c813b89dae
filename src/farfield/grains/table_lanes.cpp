// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/table_lanes.hpp"

#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/grains/table_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace farfield::grains::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<double, 4>;
using Floats = hn::Rebind<float, Lanes>;
using Vec = hn::Vec<Lanes>;
constexpr size_t kWidth = hn::MaxLanes(Lanes());
constexpr size_t kParts = 4 / kWidth;  // vectors per stencil row

struct Row {
    Vec part[kParts];
};

HWY_INLINE Row zero() {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = hn::Zero(Lanes());
    return row;
}
HWY_INLINE Row load_floats(const float* p) {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = hn::PromoteTo(Lanes(), hn::LoadU(Floats(), p + k * kWidth));
    return row;
}
HWY_INLINE Row load(const double* p) {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = hn::Load(Lanes(), p + k * kWidth);
    return row;
}
HWY_INLINE void add_scaled(Row& sum, double factor, const Row& row) {
    const Vec f = hn::Set(Lanes(), factor);
    for (size_t k = 0; k < kParts; ++k) sum.part[k] = hn::MulAdd(f, row.part[k], sum.part[k]);
}
HWY_INLINE double dot(const Row& a, const Row& b) {
    Vec sum = hn::Mul(a.part[0], b.part[0]);
    for (size_t k = 1; k < kParts; ++k) sum = hn::MulAdd(a.part[k], b.part[k], sum);
    return hn::GetLane(hn::SumOfLanes(Lanes(), sum));
}

/// Catmull-Rom weights of the nodes -1, 0, 1, 2 at f in [0, 1), and their derivatives.
HWY_INLINE void weights(double f, double* w, double* dw) {
    const double f2 = f * f, f3 = f2 * f;
    w[0] = -0.5 * f3 + f2 - 0.5 * f;
    w[1] = 1.5 * f3 - 2.5 * f2 + 1.0;
    w[2] = -1.5 * f3 + 2.0 * f2 + 0.5 * f;
    w[3] = 0.5 * f3 - 0.5 * f2;
    dw[0] = -1.5 * f2 + 2.0 * f - 0.5;
    dw[1] = 4.5 * f2 - 5.0 * f;
    dw[2] = -4.5 * f2 + 4.0 * f + 0.5;
    dw[3] = 1.5 * f2 - f;
}

HWY_INLINE double lerp(double f, double a, double b) { return a + f * (b - a); }

HWY_INLINE void evaluate_one(const TableView& t, const Relative& pose, MapValue& out) {
    const auto n = static_cast<size_t>(t.num_space), slice = n * n;
    const double u = (pose.x * t.inverse_scale + t.half_width) * t.per_space;
    const double v = (pose.y * t.inverse_scale + t.half_width) * t.per_space;
    const double last = static_cast<double>(t.num_space) - 2.0;
    if (!(u >= 1.0 && u < last && v >= 1.0 && v < last)) return;
    const double turns = (pose.theta - t.first_theta) * t.per_theta, count = static_cast<double>(t.num_theta);
    double w = turns - count * std::floor(turns / count);
    if (!(w < count)) w = 0.0;  // rounding may give the period itself
    const auto i = static_cast<size_t>(u), j = static_cast<size_t>(v), k = static_cast<size_t>(w);
    const double fu = u - static_cast<double>(i), fv = v - static_cast<double>(j), fw = w - static_cast<double>(k);
    const size_t near = (k + 1 + (fw > 0.5)) * slice + (i + (fu > 0.5)) * n + j + (fv > 0.5);
    if (static_cast<double>(t.distance[near]) > t.clear) return;

    HWY_ALIGN double wu[4], du[4], wv[4], dv[4], ww[4], dw[4];
    weights(fu, wu, du);
    weights(fv, wv, dv);
    weights(fw, ww, dw);
    Row value = zero(), by_u = zero(), by_w = zero();
    const float* corner = t.distance + k * slice + (i - 1) * n + (j - 1);  // stored slice k is slice k - 1
    for (size_t a = 0; a < 4; ++a) {
        Row across = zero(), slope = zero();
        for (size_t c = 0; c < 4; ++c) {
            const Row row = load_floats(corner + c * slice + a * n);
            add_scaled(across, ww[c], row);
            add_scaled(slope, dw[c], row);
        }
        add_scaled(value, wu[a], across);
        add_scaled(by_u, du[a], across);
        add_scaled(by_w, wu[a], slope);
    }
    const Row rows = load(wv), row_slopes = load(dv);
    out.distance = t.scale * dot(value, rows);
    if (out.distance >= 0.0) return;
    out.g_x = dot(by_u, rows) * t.per_space;
    out.g_y = dot(value, row_slopes) * t.per_space;
    out.g_theta = t.scale * dot(by_w, rows) * t.per_theta;
    const float* arm = t.arm + (k + 1) * slice + i * n + j;
    const auto level = [&](const float* p) {
        return lerp(fu, lerp(fv, static_cast<double>(p[0]), static_cast<double>(p[1])),
                    lerp(fv, static_cast<double>(p[n]), static_cast<double>(p[n + 1])));
    };
    out.arm = t.scale * lerp(fw, level(arm), level(arm + slice));
}

void evaluate(const TableView& table, const Relative* poses, size_t count, MapValue* values) {
    for (size_t q = 0; q < count; ++q) {
        values[q] = MapValue{};
        evaluate_one(table, poses[q], values[q]);
    }
}

}  // namespace farfield::grains::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::grains {

HWY_EXPORT(evaluate);

void evaluate_table(const TableView& table, const Relative* poses, std::size_t count, MapValue* values) {
    HWY_DYNAMIC_DISPATCH(evaluate)(table, poses, count, values);
}

}  // namespace farfield::grains
#endif  // HWY_ONCE
