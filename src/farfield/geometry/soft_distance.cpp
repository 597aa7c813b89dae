// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/soft_distance.hpp"

#include <cmath>

#include "farfield/base/error.hpp"

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/geometry/soft_distance.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/geometry/cloud_lanes-inl.hpp"

#ifndef FARFIELD_GEOMETRY_SOFT_DISTANCE_ONCE
#define FARFIELD_GEOMETRY_SOFT_DISTANCE_ONCE
namespace farfield {

struct CloudView {
    const PointTree& tree;
    double temperature, reach;
};

/// Of eight queries.
struct alignas(64) DistanceGroup {
    double weight[kLeafPoints], value[kLeafPoints];
    double gradient[3][kLeafPoints], hessian[6][kLeafPoints];
};

/// Where the results of a group go.
using UseGroup = void (*)(void* to, int leaf, const DistanceGroup& group);

}  // namespace farfield
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

template <int kOrder>
HWY_INLINE void distance_lanes(const CloudView& cloud, const NearLeaves& near, LeafRange range,
                               const LeafColumns& points, size_t lane, DistanceGroup& out) {
    const CloudMoments<kOrder> m =
        cloud_moments<kOrder>(cloud.tree, cloud.temperature, cloud.reach, near, range, Real::load(points.x + lane),
                              Real::load(points.y + lane), Real::load(points.z + lane));
    const Real inverse = Real::set(1.0) / m.weight, value = m.phi * inverse;
    m.weight.store(out.weight + lane);
    value.store(out.value + lane);
    if constexpr (kOrder > 0) {
        const Real twice = Real::set(2.0 / cloud.temperature);
        Real q[3], tilt[3];  // <q>, Cov(phi, q)
        for (size_t j = 0; j < 3; ++j) {
            q[j] = m.q[j] * inverse;
            tilt[j] = fnma(value, q[j], m.phi_q[j] * inverse);
            fma(twice, tilt[j], m.n[j] * inverse).store(out.gradient[j] + lane);
        }
        if constexpr (kOrder > 1) {
            size_t entry = 0;
            for (size_t i = 0; i < 3; ++i) {
                for (size_t j = i; j < 3; ++j, ++entry) {
                    const Real turn = fnma(m.n[i] * inverse, q[j], m.n_q[3 * i + j] * inverse) +
                                      fnma(m.n[j] * inverse, q[i], m.n_q[3 * j + i] * inverse);
                    const Real bend =
                        fnma(tilt[i], q[j], fnma(tilt[j], q[i], fnma(value, m.q_q[entry], m.phi_q_q[entry]) * inverse));
                    (twice * fma(twice, bend, turn)).store(out.hessian[entry] + lane);
                }
            }
        }
    }
}

template <int kOrder>
void evaluate_groups(const CloudView& cloud, const PointTree& queries, UseGroup use, void* to) {
    NearLeaves near;
    struct Visit {
        int node;
        LeafRange from;
    } stack[64];
    const auto ball_of = [&](int node) {
        const PointNode& at = queries.nodes[static_cast<size_t>(node)];
        return Ball{{at.centre[0], at.centre[1], at.centre[2]}, at.radius};
    };
    stack[0] = {0, list_leaves(cloud.tree, cloud.reach, ball_of(0), near)};
    for (int depth = 1; depth > 0;) {
        const auto [node, from] = stack[--depth];
        double least = 0.0;
        const LeafRange range = narrow(cloud.tree, cloud.reach, ball_of(node), from, near, least);
        const PointNode& at = queries.nodes[static_cast<size_t>(node)];
        if (at.right >= 0) {
            stack[depth++] = {at.right, range};
            stack[depth++] = {node + 1, range};
            continue;
        }
        DistanceGroup group;
        for (size_t lane = 0; lane < kLeafPoints; lane += kLanes)
            distance_lanes<kOrder>(cloud, near, range, queries.leaves[static_cast<size_t>(at.first_leaf)], lane, group);
        use(to, at.first_leaf, group);
    }
}

void evaluate_cloud(const CloudView& cloud, const PointTree& queries, int order, UseGroup use, void* to) {
    if (order == 0) return evaluate_groups<0>(cloud, queries, use, to);
    if (order == 1) return evaluate_groups<1>(cloud, queries, use, to);
    evaluate_groups<2>(cloud, queries, use, to);
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield {

HWY_EXPORT(evaluate_cloud);

SoftDistance::SoftDistance(PointCloud cloud, double tolerance) : cloud_(std::move(cloud)), tolerance_(tolerance) {
    validate(cloud_, "SoftDistance");
    if (!(tolerance > 0.0 && tolerance < 1.0))
        fail("SoftDistance: tolerance ", tolerance, ", expected above 0 and below 1");
    tree_ = build_point_tree(cloud_.points, cloud_.normals);
    reach_ = cloud_.temperature * std::log(cloud_.size() / tolerance);
}

SoftDistances SoftDistance::evaluate(const PointRows& points, int order) const {
    SoftDistances out;
    out.value.resize(points.rows());
    out.error.resize(points.rows());
    if (order > 0) out.gradient.resize(points.rows(), 3);
    if (order > 1) out.hessian.resize(points.rows(), 9);
    if (points.rows() == 0) return out;
    for (Eigen::Index k = 0; k < points.rows(); ++k) {
        if (!points.row(k).allFinite())
            fail("SoftDistance: point ", k, " is (", points.row(k), "), expected finite numbers");
    }
    const PointTree queries = build_point_tree(points);
    struct Target {
        SoftDistances& out;
        Eigen::VectorXd& weight;
        const PointTree& queries;
        int order;
    };
    Eigen::VectorXd weight(points.rows());
    Target target{out, weight, queries, order};
    const auto use = [](void* to, int leaf, const DistanceGroup& group) {
        auto& [result, weights, tree, wanted] = *static_cast<Target*>(to);
        for (int lane = 0; lane < tree.leaf_count(leaf); ++lane) {
            const int row = tree.order[static_cast<std::size_t>(kLeafPoints * leaf + lane)];
            result.value[row] = group.value[lane];
            weights[row] = group.weight[lane];
            if (wanted > 0)
                result.gradient.row(row) << group.gradient[0][lane], group.gradient[1][lane], group.gradient[2][lane];
            if (wanted < 2) continue;
            const auto& h = group.hessian;
            result.hessian.row(row) << h[0][lane], h[1][lane], h[2][lane], h[1][lane], h[3][lane], h[4][lane],
                h[2][lane], h[4][lane], h[5][lane];
        }
    };
    const CloudView view{tree_, cloud_.temperature, reach_};
    HWY_DYNAMIC_DISPATCH(evaluate_cloud)(view, queries, order, use, &target);
    const PointNode& root = tree_.nodes.front();
    const Eigen::RowVector3d centre(root.centre[0], root.centre[1], root.centre[2]);
    for (Eigen::Index k = 0; k < points.rows(); ++k) {
        const double farthest = (points.row(k) - centre).norm() + root.radius;
        out.error[k] = tolerance_ / weight[k] * (farthest + std::abs(out.value[k]));
    }
    return out;
}

SoftDistanceAt SoftDistance::at(const Eigen::Vector3d& p, int order) const {
    const SoftDistances of = evaluate(PointRows(p.transpose()), order);
    SoftDistanceAt out{.value = of.value[0], .error = of.error[0]};
    if (order > 0) out.gradient = of.gradient.row(0).transpose();
    if (order > 1) out.hessian = Eigen::Map<const Eigen::Matrix3d>(of.hessian.data());
    return out;
}

}  // namespace farfield
#endif  // HWY_ONCE
