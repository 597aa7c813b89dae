// SPDX-License-Identifier: Apache-2.0
/// @file  Over lanes: from solved leaves to friction planes, and from adjoints of the planes back to the vertices.
#include <algorithm>

#include "farfield/contact/longrange/lagged_friction.hpp"

// Per-target bodies. AVX3_DL brings nothing to this arithmetic over AVX3; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/longrange/lagged_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/contact/longrange/pair_derivatives-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

/// Two spheres rub in one point. Its six images, which differ by rounding, become the same: their spread would be a lever for spin.
template <class R>
HWY_INLINE void join_points(const PairChunk& from, size_t lane, Lane3<R> (&y)[6]) {
    const Lane3<R> apart = load3<R>(&from.arms[9], lane) - load3<R>(&from.arms[0], lane);
    R spread = R::set(0.0);
    for (size_t k = 1; k < 6; ++k) spread = max(spread, dot(y[k] - y[0], y[k] - y[0]));
    const auto same = spread <= R::set(1e-24) * dot(apart, apart);
    for (size_t k = 1; k < 6; ++k) y[k] = select(same, y[0], y[k]);
}

/// Loads and places of the leaves of lanes [lane, lane + R::kWidth): a = scale N / s^2, y = x - (h / N) n / N, h = n.x + d. As printed y is
/// where the leaf's surface is nearest to the plane, x - sigma r n / N. Planes are kept moved to A's core by r_A (pair_potential.hpp).
template <class R>
HWY_NOINLINE void lag_group(const PairChunk& from, size_t lane, const double* scales, bool projected, PlaneChunk& to) {
    const Lane3<R> n = load3<R>(&from.plane[0], lane), first = load3<R>(&from.arms[0], lane);
    const R length = sqrt(dot(n, n)), inverse = R::set(1.0) / length, slack = R::load(&from.plane[3][lane]);
    const R scale = R::load(scales + lane) * length;
    const Lane3<R> unit = inverse * n;
    const R sweep = R::load(&from.radius[0][lane]), radius_a = R::load(&from.radius[1][lane]);
    unit.x.store(&to.normal[0][lane]), unit.y.store(&to.normal[1][lane]), unit.z.store(&to.normal[2][lane]);
    Lane3<R> y[6];
    for (size_t k = 0; k < 6; ++k) {
        const Lane3<R> x = load3<R>(&from.arms[3 * k], lane);
        const R height = k == 0 ? slack : dot(n, x - first) + slack;
        const R s = k < 3 ? height : fma(sweep, length, height);
        (scale / (s * s)).store(&to.load[k][lane]);
        const R depth = projected ? fma(height, inverse, radius_a) : (k < 3 ? radius_a : radius_a - sweep);
        y[k] = fnma(depth, unit, x);
    }
    if (HWY_UNLIKELY(!none(R::set(0.0) < sweep))) join_points(from, lane, y);
    for (size_t k = 0; k < 6; ++k) {
        y[k].x.store(&to.position[3 * k][lane]), y[k].y.store(&to.position[3 * k + 1][lane]);
        y[k].z.store(&to.position[3 * k + 2][lane]);
    }
}

/// Planes of the leaves that carry load, in the order of leaves.
void lag_leaves(const PairChunk* chunks, const LeafPair* leaves, size_t count, bool projected, const FrictionRamp& ramp,
                LaggedMeshPair& to) {
    alignas(64) double scales[kChunkPairs];
    PlaneChunk all;
    for (size_t c = 0; c * kChunkPairs < count; ++c) {
        for (size_t lane = 0; lane < kChunkPairs; ++lane) {
            const size_t i = c * kChunkPairs + lane;
            scales[lane] = i < count ? leaves[i].weight * leaves[i].share : 0.0;
        }
        for (size_t lane = 0; lane < kChunkPairs; lane += Real::kWidth)
            lag_group<Real>(chunks[c], lane, scales, projected, all);
        for (size_t i = c * kChunkPairs; i < std::min(count, (c + 1) * kChunkPairs); ++i) {
            double both_sides = 0.0;
            for (const auto& load : all.load) both_sides += load[i % kChunkPairs];
            const FrictionRamp::Factor left = ramp.at(0.5 * both_sides / leaves[i].share);
            if (left.value == 0.0) continue;
            to.leaves.push_back({i, left});
            to.planes.add(all, i % kChunkPairs, left.value);
        }
    }
}

inline constexpr size_t kNumPullSums = 12;  // by the poses of A and B at the start

/// Adjoints by everything a leaf's plane (n, d) and vertices enter, before the plane's own dependence on the vertices.
template <class R>
struct LeafBars {
    Lane3<R> x[6], n;
    R d, weight;
};

/// What pull_group reads of the leaves of one chunk; zero in lanes without a plane.
struct LeafAdjoints {
    PlaneAdjointChunk plane;
    alignas(64) double scale[kChunkPairs];  ///< weight * share
    alignas(64) double ramp[kChunkPairs];   ///< S
    alignas(64) double slope[kChunkPairs];  ///< dS/dln(p)
};

/// By the loads before the ramp, over load / a: a'_k = S(p) a_k with p proportional to the sum of all a.
template <class R>
HWY_INLINE void load_bars(const LeafAdjoints& adjoint, size_t lane, const PlaneState<R>& plane, R (&bars)[6]) {
    R phi = R::set(0.0), sum = R::set(0.0);
    for (size_t k = 0; k < 6; ++k) {
        const R square = plane.r[k] * plane.r[k];
        bars[k] = R::load(&adjoint.plane.load[k][lane]);
        phi = fma(bars[k], square, phi), sum = sum + square;
    }
    const R ramp = R::load(&adjoint.ramp[lane]), shared = (R::load(&adjoint.slope[lane]) * phi) / sum;
    for (R& bar : bars) bar = fma(ramp, bar, shared);
}

template <class R>
HWY_INLINE void direct_bars(const PairChunk& chunk, const LeafAdjoints& adjoint, size_t lane, const Points<R>& p,
                            const PlaneState<R>& plane, bool projected, LeafBars<R>& bars) {
    const R zero = R::set(0.0), inverse = R::set(1.0) / plane.length;
    const Lane3<R> unit = inverse * plane.n;
    const R scale = R::load(&adjoint.scale[lane]);
    Lane3<R> unit_bar = load3<R>(&adjoint.plane.normal[0], lane);
    const R sweep = R::load(&chunk.radius[0][lane]), radius_a = R::load(&chunk.radius[1][lane]);
    R length_bar = zero, loads[6];
    load_bars(adjoint, lane, plane, loads);
    bars.n = {zero, zero, zero};
    bars.d = bars.weight = zero;
    for (size_t k = 0; k < 6; ++k) {
        const Lane3<R> y_bar = load3<R>(&adjoint.plane.position[3 * k], lane);
        const R load = (scale * loads[k]) * (plane.r[k] * plane.r[k]);  // load_bar a / N
        const R side = R::set(k < 3 ? 1.0 : -1.0);
        R height_bar = (R::set(-2.0) * side) * ((load * plane.length) * plane.r[k]);  // by h = n.x + d = side s
        length_bar = length_bar + load;
        if (k >= 3) length_bar = fma(sweep, height_bar, length_bar);  // s = -h - sweep N
        bars.weight = fma(load, plane.length, bars.weight);
        const R surface = k < 3 ? radius_a : radius_a - sweep;  // sigma r
        if (projected) {
            const R slope = k < 3 ? plane.s[k] * inverse : zero - fma(plane.s[k], inverse, sweep);  // h / N
            const R depth = slope + radius_a, depth_bar = zero - dot(unit, y_bar);
            unit_bar = fnma(depth, y_bar, unit_bar);
            height_bar = fma(depth_bar, inverse, height_bar);
            length_bar = fnma(depth_bar * slope, inverse, length_bar);
        } else {
            unit_bar = fnma(surface, y_bar, unit_bar);
        }
        bars.x[k] = fma(height_bar, plane.n, y_bar);
        bars.n = fma(height_bar, p.x[k], bars.n);
        bars.d = bars.d + height_bar;
    }
    bars.n = fma(length_bar - inverse * dot(unit, unit_bar), unit, fma(inverse, unit_bar, bars.n));
}

/// Lanes [lane, lane + R::kWidth). The plane is the minimiser of L, hence dp = -Hpp^-1 L_px dx.
template <class R>
HWY_NOINLINE void pull_group(const PairChunk& chunk, size_t lane, const LeafAdjoints& adjoint, bool projected,
                             const double (&origins)[2][3], double* weights, R (&sums)[kNumPullSums]) {
    Points<R> p;
    PlaneState<R> plane;
    load_points(chunk, lane, p);
    load_plane(chunk, lane, p, plane);
    const auto used = R::set(0.0) < R::load(&adjoint.scale[lane]);  // the others get a harmless plane
    plane.n = select(used, plane.n, Lane3<R>{R::set(0.5), R::set(0.0), R::set(0.0)});
    for (size_t k = 0; k < 6; ++k) plane.s[k] = select(used, plane.s[k], R::set(1.0));
    complete(plane);
    PlaneHessian<R> h;
    plane_hessian(p, plane, h);
    LeafBars<R> bars;
    direct_bars(chunk, adjoint, lane, p, plane, projected, bars);
    bars.weight.store(weights + lane);
    const Lane3<R> g = fnma(bars.d, h.mean, bars.n);
    const Factor3<R>& f = h.factor;
    const R v1 = fnma(f.l10, g.x, g.y), v2 = fnma(f.l21, v1, fnma(f.l20, g.x, g.z));
    Lane3<R> r;
    r.z = v2 * f.i2;
    r.y = fnma(f.l21, r.z, v1 * f.i1);
    r.x = fnma(f.l20, r.z, fnma(f.l10, r.y, g.x * f.i0));
    const R rd = fnma(R::set(1.0), dot(h.mean, r), bars.d * h.inverse);
    Lane3<R> x[6];
    surface_points(p, plane, x);
    for (size_t k = 0; k < 6; ++k) {
        const R square = R::set(k < 3 ? 1.0 : -1.0) * h.squares[k], along = h.weight[k] * (dot(x[k], r) + rd);
        const Lane3<R> force = fnma(along, plane.n, fma(square, r, bars.x[k]));
        const double(&o)[3] = origins[k / 3];
        const Lane3<R> arm = load3<R>(&chunk.arms[3 * k], lane) - Lane3<R>{R::set(o[0]), R::set(o[1]), R::set(o[2])};
        const Lane3<R> torque = cross(arm, force);
        R* sum = &sums[6 * (k / 3)];
        sum[0] = sum[0] + force.x, sum[1] = sum[1] + force.y, sum[2] = sum[2] + force.z;
        sum[3] = sum[3] + torque.x, sum[4] = sum[4] + torque.y, sum[5] = sum[5] + torque.z;
    }
}

/// Moves the adjoint of plane `from` to its leaf.
void place_adjoint(const PlaneAdjointChunk* adjoints, size_t from, const LoadedLeaf& loaded, const LeafPair& leaf,
                   LeafAdjoints& to) {
    const PlaneAdjointChunk& chunk = adjoints[from / kChunkPlanes];
    const size_t source = from % kChunkPlanes, lane = loaded.leaf % kChunkPairs;
    for (size_t c = 0; c < 3; ++c) to.plane.normal[c][lane] = chunk.normal[c][source];
    for (size_t c = 0; c < 18; ++c) to.plane.position[c][lane] = chunk.position[c][source];
    for (size_t k = 0; k < 6; ++k) to.plane.load[k][lane] = chunk.load[k][source];
    to.scale[lane] = leaf.weight * leaf.share;
    to.ramp[lane] = loaded.ramp.value;
    to.slope[lane] = loaded.ramp.slope;
}

/// Adds W dphi/dW of every leaf to the band node above it; lanes of `totals` are reduced in order.
void pull_back_leaves(const PairChunk* chunks, const PlaneAdjointChunk* adjoints, const LeafPair* leaves,
                      const std::vector<LoadedLeaf>& loaded, bool projected, const double (&origins)[2][3],
                      double* band_weights, double* totals) {
    Real sums[kNumPullSums];
    for (Real& v : sums) v = Real::set(0.0);
    alignas(64) double weights[kChunkPairs];
    for (size_t first = 0, end = 0; first < loaded.size(); first = end) {
        const size_t c = loaded[first].leaf / kChunkPairs;
        LeafAdjoints adjoint{};
        for (end = first; end < loaded.size() && loaded[end].leaf / kChunkPairs == c; ++end)
            place_adjoint(adjoints, end, loaded[end], leaves[loaded[end].leaf], adjoint);
        for (size_t lane = 0; lane < kChunkPairs; lane += Real::kWidth)
            pull_group<Real>(chunks[c], lane, adjoint, projected, origins, weights, sums);
        for (size_t k = first; k < end; ++k) {
            const int parent = leaves[loaded[k].leaf].parent;
            if (parent >= 0) band_weights[parent] += weights[loaded[k].leaf % kChunkPairs];
        }
    }
    alignas(64) double lanes[Real::kWidth];
    for (size_t i = 0; i < kNumPullSums; ++i) {
        sums[i].store(lanes);
        for (const double v : lanes) totals[i] += v;
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::longrange {

HWY_EXPORT(lag_leaves);
HWY_EXPORT(pull_back_leaves);

void lag_mesh_pair(const PairFrame& frame, const PairWork& work, FrictionForm form, const FrictionRamp& ramp,
                   LaggedMeshPair& lagged) {
    static_assert(kChunkPlanes == kChunkPairs);
    lagged.frame = frame;
    lagged.leaves.clear();
    lagged.planes.clear();
    HWY_DYNAMIC_DISPATCH(lag_leaves)
    (work.batch.chunks(), work.leaves.data(), work.leaves.size(), form == FrictionForm::Projected, ramp, lagged);
    prepare_planes(lagged.planes);
}

void pull_back_leaves(const PairWork& work, const LaggedMeshPair& lagged, FrictionForm form,
                      const std::vector<PlaneAdjointChunk>& adjoints, std::vector<double>& band_weights,
                      StartAdjoint& start) {
    const PairFrame& frame = lagged.frame;
    const double origins[2][3] = {{frame.origin_a.x(), frame.origin_a.y(), frame.origin_a.z()},
                                  {frame.origin_b.x(), frame.origin_b.y(), frame.origin_b.z()}};
    double totals[12] = {};
    HWY_DYNAMIC_DISPATCH(pull_back_leaves)
    (work.batch.chunks(), adjoints.data(), work.leaves.data(), lagged.leaves, form == FrictionForm::Projected, origins,
     band_weights.data(), totals);
    start.a += Eigen::Map<const Vector6d>(&totals[0]);
    start.b += Eigen::Map<const Vector6d>(&totals[6]);
}

}  // namespace farfield::contact::longrange
#endif  // HWY_ONCE
