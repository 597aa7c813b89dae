// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/field_lanes.hpp"

#include <algorithm>
#include <limits>

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/softmin/field_lanes.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/contact/softmin/lanes-inl.hpp"
#include "farfield/geometry/cloud_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::softmin::HWY_NAMESPACE {

using farfield::HWY_NAMESPACE::cloud_moments;
using farfield::HWY_NAMESPACE::CloudMoments;
using farfield::HWY_NAMESPACE::list_leaves;
using farfield::HWY_NAMESPACE::lowest;
using farfield::HWY_NAMESPACE::narrow;

/// Soft distance and mean normal of kLanes query points.
template <bool kDerivatives>
HWY_INLINE void cloud_lanes(const Surface& surface, const NearLeaves& near, LeafRange range, size_t lane,
                            QueryGroup& group) {
    const CloudMoments<kDerivatives ? 1 : 0> sums =
        cloud_moments < kDerivatives
            ? 1
            : 0 > (surface.tree, surface.temperature, surface.reach, near, range, Real::load(group.p[0] + lane),
                   Real::load(group.p[1] + lane), Real::load(group.p[2] + lane));
    const Real inverse = Real::set(1.0) / sums.weight, phi = sums.phi * inverse;
    const Real m[3] = {sums.n[0] * inverse, sums.n[1] * inverse, sums.n[2] * inverse};
    const Real shrink =
        Real::set(1.0) / sqrt(dot(m, m) + Real::set(surface.normal_smoothing * surface.normal_smoothing));
    const Real n[3] = {m[0] * shrink, m[1] * shrink, m[2] * shrink};
    phi.store(group.phi + lane);
    for (size_t i = 0; i < 3; ++i) n[i].store(group.n[i] + lane);
    if constexpr (kDerivatives) {
        const Real twice = Real::set(2.0 / surface.temperature);
        for (size_t j = 0; j < 3; ++j) {
            const Real mean = sums.q[j] * inverse;
            fma(twice, fnma(phi, mean, sums.phi_q[j] * inverse), m[j]).store(group.g[j] + lane);
            Real column[3];
            for (size_t i = 0; i < 3; ++i) column[i] = twice * fnma(m[i], mean, sums.n_q[3 * i + j] * inverse);
            const Real along = dot(n, column);
            for (size_t i = 0; i < 3; ++i) (shrink * fnma(n[i], along, column[i])).store(group.turn[3 * i + j] + lane);
        }
    }
}

/// Signed distances of exact shapes, in their own frame: value, unit gradient and its derivative.
struct ExactLanes {
    Real phi, n[3], turn[9];
};

HWY_INLINE ExactLanes round_distance(const Real (&d)[3], const Real (&active)[3], double radius) {
    const Real length = max(sqrt(fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]))), Real::set(1e-150));
    const Real inverse = Real::set(1.0) / length;
    ExactLanes out;
    out.phi = length - Real::set(radius);
    for (size_t i = 0; i < 3; ++i) out.n[i] = d[i] * inverse;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
            const Real unit = i == j ? active[i] : Real::set(0.0);
            out.turn[3 * i + j] = fnma(out.n[i], out.n[j], unit) * inverse;
        }
    }
    return out;
}

HWY_INLINE ExactLanes exact_distance(const Surface& surface, const Real (&x)[3]) {
    const Real zero = Real::set(0.0), one = Real::set(1.0);
    if (surface.kind == SurfaceKind::Sphere) return round_distance(x, {one, one, one}, surface.radius);
    if (surface.kind == SurfaceKind::Capsule) {
        const Real h = Real::set(surface.half[2]);
        const Real beyond = x[2] - max(min(x[2], h), zero - h);
        const Real free = select(beyond < zero, one, select(zero < beyond, one, zero));
        return round_distance({x[0], x[1], beyond}, {one, one, free}, surface.radius);
    }
    if (surface.kind == SurfaceKind::Box) {
        Real over[3], outside[3], active[3], sign[3], inner = Real::set(-std::numeric_limits<double>::infinity());
        for (int i = 0; i < 3; ++i) {
            sign[i] = select(x[i] < zero, zero - one, one);
            over[i] = sign[i] * x[i] - Real::set(surface.half[i]);
            outside[i] = sign[i] * max(over[i], zero);
            active[i] = select(zero < over[i], one, zero);
            inner = max(inner, over[i]);
        }
        ExactLanes out = round_distance(outside, active, 0.0);
        const RealMask inside = inner <= zero;
        out.phi = select(inside, inner, out.phi);
        Real left = one;  // of equal ones the first face counts
        for (int i = 0; i < 3; ++i) {
            const Real face = select(inner <= over[i], left, zero);
            left = left - face;
            out.n[i] = select(inside, face * sign[i], out.n[i]);
        }
        for (Real& entry : out.turn) entry = select(inside, zero, entry);
        return out;
    }
    ExactLanes out{x[2], {zero, zero, one}, {zero, zero, zero, zero, zero, zero, zero, zero, zero}};
    return out;
}

HWY_INLINE void exact_lanes(const Surface& surface, bool derivatives, size_t lane, QueryGroup& group) {
    const auto& r = surface.rotation;
    Real from[3], x[3];
    for (int i = 0; i < 3; ++i) from[i] = Real::load(group.p[i] + lane) - Real::set(surface.centre[i]);
    for (int i = 0; i < 3; ++i)
        x[i] = fma(Real::set(r(2, i)), from[2], fma(Real::set(r(1, i)), from[1], Real::set(r(0, i)) * from[0]));
    const ExactLanes at = exact_distance(surface, x);
    at.phi.store(group.phi + lane);
    for (int i = 0; i < 3; ++i) {
        const Real n = fma(Real::set(r(i, 2)), at.n[2], fma(Real::set(r(i, 1)), at.n[1], Real::set(r(i, 0)) * at.n[0]));
        n.store(group.n[i] + lane);
        if (!derivatives) continue;
        n.store(group.g[i] + lane);
        for (int j = 0; j < 3; ++j) {
            Real sum = Real::set(0.0);
            for (int a = 0; a < 3; ++a) {
                for (int b = 0; b < 3; ++b) sum = fma(Real::set(r(i, a) * r(j, b)), at.turn[3 * a + b], sum);
            }
            sum.store(group.turn[3 * i + j] + lane);
        }
    }
}

/// A lower bound of phi over the ball; of a cloud, `range` is cut down to the leaves that matter there.
double bound_over(const Surface& surface, const Ball& ball, NearLeaves& near, LeafRange& range) {
    if (surface.kind == SurfaceKind::Cloud) {
        double least = 0.0;
        range = narrow(surface.tree, surface.reach, ball, range, near, least);
        return least;
    }
    const Eigen::Vector3d local =
        surface.rotation.transpose() * (Eigen::Vector3d(ball.c[0], ball.c[1], ball.c[2]) - surface.centre);
    const Real x[3] = {Real::set(local[0]), Real::set(local[1]), Real::set(local[2])};
    return lowest(exact_distance(surface, x).phi) - ball.radius;
}

/// Eight queries of a leaf; lowers `least`.
void evaluate_group(const QuerySet& queries, const Surface& surface, const RelativePose& pose, int index,
                    const NearLeaves& near, LeafRange range, bool derivatives, double& least, QueryGroup& group) {
    const auto& r = pose.rotation;
    const auto& t = pose.translation;
    const LeafColumns& leaf = queries.tree.leaves[static_cast<size_t>(index)];
    for (size_t lane = 0; lane < kLeafPoints; lane += kLanes) {
        const Real x = Real::load(leaf.x + lane), y = Real::load(leaf.y + lane), z = Real::load(leaf.z + lane);
        for (int i = 0; i < 3; ++i) {
            fma(Real::set(r(i, 2)), z, fma(Real::set(r(i, 1)), y, fma(Real::set(r(i, 0)), x, Real::set(t[i]))))
                .store(group.p[i] + lane);
        }
        if (surface.kind != SurfaceKind::Cloud) {
            exact_lanes(surface, derivatives, lane, group);
        } else if (derivatives) {
            cloud_lanes<true>(surface, near, range, lane, group);
        } else {
            cloud_lanes<false>(surface, near, range, lane, group);
        }
        const Real phi = Real::load(group.phi + lane) - Real::set(queries.radius);
        phi.store(group.phi + lane);
        least = std::min(least, lowest(phi));
    }
    group.leaf = index;
    group.count = queries.tree.leaf_count(index);
}

void find(const QuerySet& queries, const Surface& surface, const RelativePose& pose, double cut, bool derivatives,
          double& least, SideWork& work) {
    const PointTree& tree = queries.tree;
    const auto& r = pose.rotation;
    const auto ball_of = [&](int k) {
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        Ball ball{{}, node.radius};
        for (int i = 0; i < 3; ++i)
            ball.c[i] =
                r(i, 0) * node.centre[0] + r(i, 1) * node.centre[1] + r(i, 2) * node.centre[2] + pose.translation[i];
        return ball;
    };
    struct Visit {
        int node;
        LeafRange range;
    } stack[64];
    work.count = 0;
    stack[0] = {0, {}};
    if (surface.kind == SurfaceKind::Cloud)
        stack[0].range = list_leaves(surface.tree, surface.reach, ball_of(0), work.near);
    for (int depth = 1; depth > 0;) {
        auto [k, range] = stack[--depth];
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        if (bound_over(surface, ball_of(k), work.near, range) > least + cut + queries.radius) continue;
        if (node.right >= 0) {
            stack[depth++] = {node.right, range};
            stack[depth++] = {k + 1, range};
            continue;
        }
        evaluate_group(queries, surface, pose, node.first_leaf, work.near, range, derivatives, least,
                       work.groups[static_cast<size_t>(work.count)]);
        ++work.count;
    }
}

}  // namespace farfield::contact::softmin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::softmin {

HWY_EXPORT(find);

void find_field(const QuerySet& queries, const Surface& surface, const RelativePose& pose, double cut, bool derivatives,
                double& least, SideWork& work) {
    work.groups.resize(static_cast<std::size_t>(queries.tree.num_leaves()));
    // one list per level of the descent, none longer than the one above
    work.near.leaves.reserve(64 * static_cast<std::size_t>(surface.tree.num_leaves()));
    HWY_DYNAMIC_DISPATCH(find)(queries, surface, pose, cut, derivatives, least, work);
}

}  // namespace farfield::contact::softmin
#endif  // HWY_ONCE
