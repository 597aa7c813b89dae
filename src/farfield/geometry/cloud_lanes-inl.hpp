// SPDX-License-Identifier: Apache-2.0
/// @file  Soft distances of several query points at a time, one in each lane, and the search for what matters to them (near_leaves.hpp).
/// Included once per Highway target.
#if defined(FARFIELD_GEOMETRY_CLOUD_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef FARFIELD_GEOMETRY_CLOUD_LANES_INL_HPP
#undef FARFIELD_GEOMETRY_CLOUD_LANES_INL_HPP
#else
#define FARFIELD_GEOMETRY_CLOUD_LANES_INL_HPP
#endif

#include <cmath>
#include <limits>

#include "farfield/geometry/near_leaves.hpp"
#include "farfield/geometry/point_cloud.hpp"
#include "farfield/math/lane_functions-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

constexpr int kFlatLeaves = 16;  // trees up to this size are not descended

HWY_INLINE double lowest(Real x) { return hn::GetLane(hn::MinOfLanes(LaneTag(), x.a)); }

/// A point of the tree near a place: the nearest one of those that were looked at.
struct NearPoint {
    double x[3];
    double squared;  ///< distance
};

HWY_INLINE NearPoint nearest_of(const PointTree& tree, const int* leaves, int count, const double* c) {
    const Real cx = Real::set(c[0]), cy = Real::set(c[1]), cz = Real::set(c[2]);
    Real best = Real::set(std::numeric_limits<double>::infinity()), bx = cx, by = cy, bz = cz;
    for (int k = 0; k < count; ++k) {
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(leaves[k])];
        for (size_t lane = 0; lane < kLeafPoints; lane += kLanes) {
            const Real px = Real::load(leaf.x + lane), py = Real::load(leaf.y + lane), pz = Real::load(leaf.z + lane);
            const Real x = px - cx, y = py - cy, z = pz - cz, squared = fma(z, z, fma(y, y, x * x));
            const RealMask nearer = squared < best;
            best = min(squared, best);
            bx = select(nearer, px, bx);
            by = select(nearer, py, by);
            bz = select(nearer, pz, bz);
        }
    }
    HWY_ALIGN double all[4][kLanes];
    best.store(all[0]);
    bx.store(all[1]);
    by.store(all[2]);
    bz.store(all[3]);
    size_t least = 0;
    for (size_t lane = 1; lane < kLanes; ++lane) least = all[0][lane] < all[0][least] ? lane : least;
    return {{all[1][least], all[2][least], all[3][least]}, all[0][least]};
}

HWY_INLINE double distance(const PointNode& node, const double* c) {
    const double x = node.centre[0] - c[0], y = node.centre[1] - c[1], z = node.centre[2] - c[2];
    return std::sqrt(x * x + y * y + z * z);
}

/// The nearest point of the whole tree.
inline NearPoint nearest_point(const PointTree& tree, const double* c) {
    NearPoint best{{c[0], c[1], c[2]}, std::numeric_limits<double>::infinity()};
    double least = best.squared;  // distance
    int stack[64], depth = 1;
    double bound[64];
    stack[0] = 0;
    bound[0] = 0.0;
    while (depth > 0) {
        --depth;
        if (bound[depth] >= least) continue;
        const int k = stack[depth];
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        if (node.right < 0) {
            const NearPoint found = nearest_of(tree, &node.first_leaf, 1, c);
            if (found.squared < best.squared) {
                best = found;
                least = std::sqrt(found.squared);
            }
            continue;
        }
        const PointNode &left = tree.nodes[static_cast<size_t>(k) + 1],
                        &right = tree.nodes[static_cast<size_t>(node.right)];
        const double to_left = distance(left, c) - left.radius, to_right = distance(right, c) - right.radius;
        const bool left_first = to_left < to_right;
        stack[depth] = left_first ? node.right : k + 1;
        bound[depth++] = left_first ? to_right : to_left;
        stack[depth] = left_first ? k + 1 : node.right;
        bound[depth++] = left_first ? to_left : to_right;
    }
    return best;
}

/// Lists every leaf that may matter to the ball, from the root of the tree.
inline LeafRange list_leaves(const PointTree& tree, double reach, const Ball& ball, NearLeaves& near) {
    near.leaves.clear();
    if (tree.num_leaves() <= kFlatLeaves) {
        for (int leaf = 0; leaf < tree.num_leaves(); ++leaf) near.leaves.push_back(leaf);
        return {0, tree.num_leaves()};
    }
    const NearPoint to = nearest_point(tree, ball.c);
    int stack[64], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const int k = stack[--depth];
        const PointNode& node = tree.nodes[static_cast<size_t>(k)];
        const double gap = std::fmax(distance(node, ball.c) - node.radius, 0.0);
        if (gap * gap > to.squared + reach + 2.0 * ball.radius * (distance(node, to.x) + node.radius)) continue;
        if (node.right < 0) {
            near.leaves.push_back(node.first_leaf);
        } else {
            stack[depth++] = node.right;
            stack[depth++] = k + 1;
        }
    }
    return {0, static_cast<int>(near.leaves.size())};
}

/// What is left of a list for a ball inside the one it was made for, put behind it; `least` becomes a lower bound of n_i . (p - p_i) over the
/// points i that matter to any p of the ball, and so of the soft distance.
inline LeafRange narrow(const PointTree& tree, double reach, const Ball& ball, LeafRange from, NearLeaves& near,
                        double& least) {
    near.free_after(from);
    const NearPoint to = nearest_of(tree, near.leaves.data() + from.begin, from.end - from.begin, ball.c);
    const Real cx = Real::set(ball.c[0]), cy = Real::set(ball.c[1]), cz = Real::set(ball.c[2]);
    const Real jx = Real::set(to.x[0]), jy = Real::set(to.x[1]), jz = Real::set(to.x[2]);
    const Real base = Real::set(to.squared + reach), slack = Real::set(4.0 * ball.radius * ball.radius);
    const Real zero = Real::set(0.0), nothing = Real::set(std::numeric_limits<double>::infinity());
    Real lowest_plane = nothing;
    for (int k = from.begin; k < from.end; ++k) {
        const int index = near.leaves[static_cast<size_t>(k)];
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(index)];
        bool used = false;
        for (size_t lane = 0; lane < kLeafPoints; lane += kLanes) {
            const Real px = Real::load(leaf.x + lane), py = Real::load(leaf.y + lane), pz = Real::load(leaf.z + lane);
            const Real x = cx - px, y = cy - py, z = cz - pz;
            const Real ax = px - jx, ay = py - jy, az = pz - jz;
            const Real over = fma(z, z, fma(y, y, x * x)) - base, apart = fma(az, az, fma(ay, ay, ax * ax));
            const RealMask within = (over <= zero) | (over * over <= slack * apart);
            const Real plane =
                fma(z, Real::load(leaf.nz + lane), fma(y, Real::load(leaf.ny + lane), x * Real::load(leaf.nx + lane)));
            lowest_plane = min(lowest_plane, select(within, plane, nothing));
            used = used || !none(within);
        }
        if (used) near.leaves.push_back(index);
    }
    least = lowest(lowest_plane) - ball.radius;
    return {from.end, static_cast<int>(near.leaves.size())};
}

/// Sums over kept points i of e_i = exp((nearest - |q_i|^2)/eps) times what the names say, q_i = p_i - p, phi_i = -n_i . q_i.
/// Order 0 has weight, phi and n, order 1 the products with q as well, order 2 those with q q^T (xx, xy, xz, yy, yz, zz).
template <int kOrder>
struct CloudMoments {
    Real weight, phi, n[3];
    Real q[3], phi_q[3], n_q[9];
    Real q_q[6], phi_q_q[6];
};

template <int kOrder>
HWY_INLINE CloudMoments<kOrder> cloud_moments(const PointTree& tree, double temperature, double reach,
                                              const NearLeaves& near, LeafRange range, Real px, Real py, Real pz) {
    Real nearest = Real::set(std::numeric_limits<double>::infinity());
    for (int at = range.begin; at < range.end; ++at) {
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(near.leaves[static_cast<size_t>(at)])];
        for (size_t k = 0; k < kLeafPoints; ++k) {
            const Real x = Real::set(leaf.x[k]) - px, y = Real::set(leaf.y[k]) - py, z = Real::set(leaf.z[k]) - pz;
            nearest = min(nearest, fma(z, z, fma(y, y, x * x)));
        }
    }
    const Real rate = Real::set(-1.0 / temperature), last = nearest + Real::set(reach);
    const Real zero = Real::set(0.0);
    CloudMoments<kOrder> m;
    m.weight = m.phi = zero;
    for (Real& x : m.n) x = zero;
    if constexpr (kOrder > 0) {
        for (Real& x : m.q) x = zero;
        for (Real& x : m.phi_q) x = zero;
        for (Real& x : m.n_q) x = zero;
    }
    if constexpr (kOrder > 1) {
        for (Real& x : m.q_q) x = zero;
        for (Real& x : m.phi_q_q) x = zero;
    }
    for (int at = range.begin; at < range.end; ++at) {
        const int index = near.leaves[static_cast<size_t>(at)];
        const LeafColumns& leaf = tree.leaves[static_cast<size_t>(index)];
        const auto count = static_cast<size_t>(tree.leaf_count(index));
        for (size_t k = 0; k < count; ++k) {
            const Real x = Real::set(leaf.x[k]) - px, y = Real::set(leaf.y[k]) - py, z = Real::set(leaf.z[k]) - pz;
            const Real squared = fma(z, z, fma(y, y, x * x));
            const RealMask within = squared <= last;
            if (none(within)) continue;
            const Real e = keep(within, exp_negative((squared - nearest) * rate));
            const Real mx = Real::set(leaf.nx[k]), my = Real::set(leaf.ny[k]), mz = Real::set(leaf.nz[k]);
            const Real behind = e * fma(mz, z, fma(my, y, mx * x));  // -e phi_i
            m.weight = m.weight + e;
            m.phi = m.phi - behind;
            m.n[0] = fma(e, mx, m.n[0]);
            m.n[1] = fma(e, my, m.n[1]);
            m.n[2] = fma(e, mz, m.n[2]);
            if constexpr (kOrder > 0) {
                const Real q[3] = {x, y, z}, eq[3] = {e * x, e * y, e * z}, normal[3] = {mx, my, mz};
                for (size_t j = 0; j < 3; ++j) {
                    m.q[j] = m.q[j] + eq[j];
                    m.phi_q[j] = fnma(behind, q[j], m.phi_q[j]);
                    for (size_t i = 0; i < 3; ++i) m.n_q[3 * i + j] = fma(normal[i], eq[j], m.n_q[3 * i + j]);
                }
                if constexpr (kOrder > 1) {
                    size_t entry = 0;
                    for (size_t i = 0; i < 3; ++i) {
                        for (size_t j = i; j < 3; ++j, ++entry) {
                            m.q_q[entry] = fma(eq[i], q[j], m.q_q[entry]);
                            m.phi_q_q[entry] = fnma(behind * q[i], q[j], m.phi_q_q[entry]);
                        }
                    }
                }
            }
        }
    }
    return m;
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FARFIELD_GEOMETRY_CLOUD_LANES_INL_HPP
