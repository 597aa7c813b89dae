// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/point_columns.hpp"

#include <limits>

// Sizeless vectors cannot be members of the lanes used here.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/geometry/point_columns.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

/// Products are summed in one order and without contraction, so that a point's value does not depend on its lane.
double find_support(const PointColumns& points, const double* n, int& index) {
    const LaneTag tag;
    constexpr int kWidth = static_cast<int>(kLanes);
    double best = -std::numeric_limits<double>::infinity();
    index = 0;
    if (points.size < kWidth) {
        for (int i = 0; i < points.size; ++i) {
            double value = n[0] * points.x[i] + n[1] * points.y[i] + n[2] * points.z[i];
            if (points.radius) value += points.radius[i];
            if (!(value > best)) continue;
            best = value;
            index = i;
        }
        return best;
    }
    const auto nx = hn::Set(tag, n[0]), ny = hn::Set(tag, n[1]), nz = hn::Set(tag, n[2]);
    auto largest = hn::Set(tag, best), where = hn::Zero(tag);
    const auto take = [&](int first) HWY_ATTR {
        auto value = hn::Add(
            hn::Add(hn::Mul(nx, hn::LoadU(tag, points.x + first)), hn::Mul(ny, hn::LoadU(tag, points.y + first))),
            hn::Mul(nz, hn::LoadU(tag, points.z + first)));
        if (points.radius) value = hn::Add(value, hn::LoadU(tag, points.radius + first));
        const auto larger = hn::Gt(value, largest);
        largest = hn::IfThenElse(larger, value, largest);
        where = hn::IfThenElse(larger, hn::Set(tag, static_cast<double>(first)), where);
    };
    int first = 0;
    for (; first + kWidth <= points.size; first += kWidth) take(first);
    if (first < points.size) take(points.size - kWidth);  // some points twice, which changes nothing
    HWY_ALIGN double values[kLanes];
    HWY_ALIGN double starts[kLanes];
    hn::Store(largest, tag, values);
    hn::Store(where, tag, starts);
    for (int lane = 0; lane < kWidth; ++lane) {
        const int i = static_cast<int>(starts[lane]) + lane;
        if (values[lane] > best || (values[lane] == best && i < index)) {
            best = values[lane];
            index = i;
        }
    }
    return best;
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield {

HWY_EXPORT(find_support);

double PointColumns::support(const Eigen::Vector3d& n) const {
    int index = 0;
    return HWY_DYNAMIC_DISPATCH(find_support)(*this, n.data(), index);
}

double PointColumns::support(const Eigen::Vector3d& n, int& index) const {
    return HWY_DYNAMIC_DISPATCH(find_support)(*this, n.data(), index);
}

}  // namespace farfield
#endif  // HWY_ONCE
