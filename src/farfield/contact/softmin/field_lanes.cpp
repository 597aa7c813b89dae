// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/field_lanes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/softmin/field_lanes.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/math/lane_functions-inl.hpp"

#ifndef FARFIELD_CONTACT_SOFTMIN_FIELD_LANES_ONCE
#define FARFIELD_CONTACT_SOFTMIN_FIELD_LANES_ONCE
namespace farfield::contact::softmin {

constexpr int kFlatLeaves = 16;  // up to here all leaves are looked at, without the tree

struct Ball {
    double c[3];
    double radius;
};

}  // namespace farfield::contact::softmin
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::softmin::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using farfield::HWY_NAMESPACE::exp_negative;
using farfield::HWY_NAMESPACE::kLanes;
using farfield::HWY_NAMESPACE::LaneTag;
using farfield::HWY_NAMESPACE::Real;
using farfield::HWY_NAMESPACE::RealMask;

constexpr size_t kWidth = kLeafPoints;

HWY_INLINE double lowest(Real x) { return hn::GetLane(hn::MinOfLanes(LaneTag(), x.a)); }

HWY_INLINE Real squared_distance(const LeafColumns& leaf, size_t lane, const double* c) {
    const Real x = Real::load(leaf.x + lane) - Real::set(c[0]), y = Real::load(leaf.y + lane) - Real::set(c[1]),
               z = Real::load(leaf.z + lane) - Real::set(c[2]);
    return fma(z, z, fma(y, y, x * x));
}

HWY_INLINE double nearest_of(const LeafColumns& leaf, const double* c) {
    Real best = squared_distance(leaf, 0, c);
    for (size_t lane = kLanes; lane < kWidth; lane += kLanes) best = min(best, squared_distance(leaf, lane, c));
    return lowest(best);
}

HWY_INLINE double distance(const PointNode& node, const double* c) {
    const double x = node.centre[0] - c[0], y = node.centre[1] - c[1], z = node.centre[2] - c[2];
    return std::sqrt(x * x + y * y + z * z);
}

/// Distance of the nearest point of the tree.
double nearest_distance(const PointTree& tree, const double* c) {
    double best = std::numeric_limits<double>::infinity();
    if (tree.num_leaves() <= kFlatLeaves) {
        for (const LeafColumns& leaf : tree.leaves) best = std::min(best, nearest_of(leaf, c));
        return std::sqrt(best);
    }
    int stack[64], depth = 0;
    double bound[64];
    stack[0] = 0;
    bound[0] = 0.0;
    depth = 1;
    while (depth > 0) {
        --depth;
        if (bound[depth] >= best) continue;
        const int k = stack[depth];
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        if (node.right < 0) {
            best = std::min(best, std::sqrt(nearest_of(tree.leaves[static_cast<size_t>(node.first_leaf)], c)));
            continue;
        }
        const PointNode &left = tree.nodes[static_cast<size_t>(k) + 1],
                        &right = tree.nodes[static_cast<size_t>(node.right)];
        const double to_left = distance(left, c), to_right = distance(right, c);
        const bool left_first = to_left < to_right;
        stack[depth] = left_first ? node.right : k + 1;
        bound[depth++] = left_first ? to_right - right.radius : to_left - left.radius;
        stack[depth] = left_first ? k + 1 : node.right;
        bound[depth++] = left_first ? to_left - left.radius : to_right - right.radius;
    }
    return best;
}

/// Lists the leaves that matter to any point of the ball, and returns a lower bound of phi over it.
double gather_near(const Surface& surface, const Ball& ball, double nearest, SideWork& work) {
    const PointTree& tree = surface.tree;
    const double outer = nearest + ball.radius;
    const double reach = std::sqrt(outer * outer + surface.reach) + ball.radius;  // farthest distance from the centre
    work.near.clear();
    if (tree.num_leaves() <= kFlatLeaves) {
        for (int leaf = 0; leaf < tree.num_leaves(); ++leaf) work.near.push_back(leaf);
    } else {
        int stack[64], depth = 1;
        stack[0] = 0;
        while (depth > 0) {
            const int k = stack[--depth];
            const PointNode& node = tree.nodes[static_cast<size_t>(k)];
            if (distance(node, ball.c) - node.radius > reach) continue;
            if (node.right < 0) {
                work.near.push_back(node.first_leaf);
            } else {
                stack[depth++] = node.right;
                stack[depth++] = k + 1;
            }
        }
    }
    const Real limit = Real::set(reach * reach), none = Real::set(std::numeric_limits<double>::infinity());
    Real least = none;
    size_t kept = 0;
    for (const int index : work.near) {
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(index)];
        bool used = false;
        for (size_t lane = 0; lane < kWidth; lane += kLanes) {
            const Real x = Real::set(ball.c[0]) - Real::load(leaf.x + lane),
                       y = Real::set(ball.c[1]) - Real::load(leaf.y + lane),
                       z = Real::set(ball.c[2]) - Real::load(leaf.z + lane);
            const RealMask within = fma(z, z, fma(y, y, x * x)) <= limit;
            const Real plane =
                fma(z, Real::load(leaf.nz + lane), fma(y, Real::load(leaf.ny + lane), x * Real::load(leaf.nx + lane)));
            least = min(least, select(within, plane, none));
            used = used || !farfield::HWY_NAMESPACE::none(within);
        }
        if (used) work.near[kept++] = index;
    }
    work.near.resize(kept);
    return lowest(least) - ball.radius;
}

/// Weighted means over the planes near kLanes query points.
template <bool kDerivatives>
HWY_INLINE void cloud_lanes(const Surface& surface, const SideWork& work, size_t lane, QueryGroup& group) {
    const PointTree& tree = surface.tree;
    const Real px = Real::load(group.p[0] + lane), py = Real::load(group.p[1] + lane),
               pz = Real::load(group.p[2] + lane);
    Real nearest = Real::set(std::numeric_limits<double>::infinity());
    for (const int index : work.near) {
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(index)];
        for (size_t k = 0; k < kWidth; ++k) {
            const Real x = Real::set(leaf.x[k]) - px, y = Real::set(leaf.y[k]) - py, z = Real::set(leaf.z[k]) - pz;
            nearest = min(nearest, fma(z, z, fma(y, y, x * x)));
        }
    }
    const Real rate = Real::set(-1.0 / surface.temperature), last = nearest + Real::set(surface.reach);
    const Real zero = Real::set(0.0);
    Real weight = zero, phi = zero, nx = zero, ny = zero, nz = zero, qx = zero, qy = zero, qz = zero;
    Real nq[9] = {zero, zero, zero, zero, zero, zero, zero, zero, zero}, phi_q[3] = {zero, zero, zero};
    for (const int index : work.near) {
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(index)];
        const auto count = static_cast<size_t>(tree.leaf_count(index));
        for (size_t k = 0; k < count; ++k) {
            const Real x = Real::set(leaf.x[k]) - px, y = Real::set(leaf.y[k]) - py, z = Real::set(leaf.z[k]) - pz;
            const Real squared = fma(z, z, fma(y, y, x * x));
            const RealMask within = squared <= last;
            if (none(within)) continue;
            const Real e = keep(within, exp_negative((squared - nearest) * rate));
            const Real mx = Real::set(leaf.nx[k]), my = Real::set(leaf.ny[k]), mz = Real::set(leaf.nz[k]);
            const Real behind = e * fma(mz, z, fma(my, y, mx * x));  // -phi_i, weighted
            weight = weight + e;
            phi = phi - behind;
            nx = fma(e, mx, nx);
            ny = fma(e, my, ny);
            nz = fma(e, mz, nz);
            if constexpr (kDerivatives) {
                const Real ex = e * x, ey = e * y, ez = e * z;
                qx = qx + ex;
                qy = qy + ey;
                qz = qz + ez;
                nq[0] = fma(mx, ex, nq[0]);
                nq[1] = fma(mx, ey, nq[1]);
                nq[2] = fma(mx, ez, nq[2]);
                nq[3] = fma(my, ex, nq[3]);
                nq[4] = fma(my, ey, nq[4]);
                nq[5] = fma(my, ez, nq[5]);
                nq[6] = fma(mz, ex, nq[6]);
                nq[7] = fma(mz, ey, nq[7]);
                nq[8] = fma(mz, ez, nq[8]);
                phi_q[0] = fnma(behind, x, phi_q[0]);
                phi_q[1] = fnma(behind, y, phi_q[1]);
                phi_q[2] = fnma(behind, z, phi_q[2]);
            }
        }
    }
    const Real inverse = Real::set(1.0) / weight;
    phi = phi * inverse;
    const Real m[3] = {nx * inverse, ny * inverse, nz * inverse};
    const Real length = sqrt(fma(
        m[2], m[2], fma(m[1], m[1], fma(m[0], m[0], Real::set(surface.normal_smoothing * surface.normal_smoothing)))));
    const Real shrink = Real::set(1.0) / length;
    const Real n[3] = {m[0] * shrink, m[1] * shrink, m[2] * shrink};
    phi.store(group.phi + lane);
    for (size_t i = 0; i < 3; ++i) n[i].store(group.n[i] + lane);
    if constexpr (kDerivatives) {
        const Real twice = Real::set(2.0 / surface.temperature);
        const Real mean[3] = {qx * inverse, qy * inverse, qz * inverse};
        for (size_t j = 0; j < 3; ++j) {
            fma(twice, fnma(phi, mean[j], phi_q[j] * inverse), m[j]).store(group.g[j] + lane);
            Real column[3], along = zero;
            for (size_t i = 0; i < 3; ++i) {
                column[i] = twice * fnma(m[i], mean[j], nq[3 * i + j] * inverse);
                along = fma(n[i], column[i], along);
            }
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

/// A lower bound of phi over the ball; of a cloud, leaves near it are listed unless the guard already gives a bound above `enough`.
double bound_over(const Surface& surface, const Ball& ball, double enough, SideWork& work) {
    if (surface.kind == SurfaceKind::Cloud) {
        const double nearest = nearest_distance(surface.tree, ball.c);
        const double guard = surface.slope * (nearest - ball.radius - surface.cover);
        return guard > enough ? guard : gather_near(surface, ball, nearest, work);
    }
    const Eigen::Vector3d local =
        surface.rotation.transpose() * (Eigen::Vector3d(ball.c[0], ball.c[1], ball.c[2]) - surface.centre);
    const Real x[3] = {Real::set(local[0]), Real::set(local[1]), Real::set(local[2])};
    return lowest(exact_distance(surface, x).phi) - ball.radius;
}

void find(const QuerySet& queries, const Surface& surface, const RelativePose& pose, double cut, bool derivatives,
          double& least, SideWork& work) {
    const PointTree& tree = queries.tree;
    const auto& r = pose.rotation;
    const auto& t = pose.translation;
    work.count = 0;
    int stack[64], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const int k = stack[--depth];
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        Ball ball{{}, node.radius};
        for (int i = 0; i < 3; ++i)
            ball.c[i] = r(i, 0) * node.centre[0] + r(i, 1) * node.centre[1] + r(i, 2) * node.centre[2] + t[i];
        const double enough = std::max(least + cut + queries.radius, 0.0);
        if (bound_over(surface, ball, enough, work) > enough) continue;
        if (node.right >= 0) {
            stack[depth++] = node.right;
            stack[depth++] = k + 1;
            continue;
        }
        QueryGroup& group = work.groups[static_cast<size_t>(work.count)];
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(node.first_leaf)];
        for (size_t lane = 0; lane < kWidth; lane += kLanes) {
            const Real x = Real::load(leaf.x + lane), y = Real::load(leaf.y + lane), z = Real::load(leaf.z + lane);
            for (int i = 0; i < 3; ++i) {
                fma(Real::set(r(i, 2)), z, fma(Real::set(r(i, 1)), y, fma(Real::set(r(i, 0)), x, Real::set(t[i]))))
                    .store(group.p[i] + lane);
            }
            if (surface.kind != SurfaceKind::Cloud) {
                exact_lanes(surface, derivatives, lane, group);
            } else if (derivatives) {
                cloud_lanes<true>(surface, work, lane, group);
            } else {
                cloud_lanes<false>(surface, work, lane, group);
            }
            const Real phi = Real::load(group.phi + lane) - Real::set(queries.radius);
            phi.store(group.phi + lane);
            least = std::min(least, lowest(phi));
        }
        group.leaf = node.first_leaf;
        group.count = tree.leaf_count(node.first_leaf);
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
    work.near.reserve(static_cast<std::size_t>(surface.tree.num_leaves()));
    HWY_DYNAMIC_DISPATCH(find)(queries, surface, pose, cut, derivatives, least, work);
}

}  // namespace farfield::contact::softmin
#endif  // HWY_ONCE
