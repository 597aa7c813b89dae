// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/soft_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d centre_of(const PointNode& node) { return {node.centre[0], node.centre[1], node.centre[2]}; }
Vector3d point_of(const LeafColumns& leaf, int k) { return {leaf.x[k], leaf.y[k], leaf.z[k]}; }
Vector3d normal_of(const LeafColumns& leaf, int k) { return {leaf.nx[k], leaf.ny[k], leaf.nz[k]}; }

/// Calls use(leaf) for leaves whose ball comes within `limit()` of p, nearer branches first; skip(node, distance) for the others.
template <class Limit, class Use, class Skip>
void visit_near(const PointTree& tree, const Vector3d& p, Limit&& limit, Use&& use, Skip&& skip) {
    int stack[64], depth = 1;
    stack[0] = 0;
    while (depth > 0) {
        const int k = stack[--depth];
        const PointNode& node = tree.nodes[static_cast<std::size_t>(k)];
        const double distance = std::max((centre_of(node) - p).norm() - node.radius, 0.0);
        if (distance > limit()) {
            skip(node, distance);
        } else if (node.right < 0) {
            use(node.first_leaf);
        } else {
            const PointNode &left = tree.nodes[static_cast<std::size_t>(k) + 1],
                            &right = tree.nodes[static_cast<std::size_t>(node.right)];
            const bool left_first = (centre_of(left) - p).squaredNorm() < (centre_of(right) - p).squaredNorm();
            stack[depth++] = left_first ? node.right : k + 1;
            stack[depth++] = left_first ? k + 1 : node.right;
        }
    }
}

/// Sums over kept points of weight, normals, q, phi and their products.
struct Moments {
    double weight = 0.0, phi = 0.0;
    Vector3d n = Vector3d::Zero(), q = Vector3d::Zero(), phi_q = Vector3d::Zero();
    Matrix3d n_q = Matrix3d::Zero(), q_q = Matrix3d::Zero(), phi_q_q = Matrix3d::Zero();
};

}  // namespace

SoftDistance::SoftDistance(PointCloud cloud, double tolerance) : cloud_(std::move(cloud)) {
    validate(cloud_, "SoftDistance");
    if (!(tolerance > 0.0 && tolerance < 1.0))
        fail("SoftDistance: tolerance ", tolerance, ", expected above 0 and below 1");
    tree_ = build_point_tree(cloud_.points, cloud_.normals);
    reach_ = cloud_.temperature * std::log(cloud_.size() / tolerance);
}

SoftDistanceAt SoftDistance::evaluate(const Vector3d& p, int order) const {
    if (!p.allFinite()) fail("SoftDistance: point (", p.transpose(), "), expected finite numbers");
    const auto leaf_at = [&](int k) -> const LeafColumns& { return tree_.leaves[static_cast<std::size_t>(k)]; };
    const double eps = cloud_.temperature;
    double nearest = std::numeric_limits<double>::infinity();  // squared
    visit_near(
        tree_, p, [&] { return std::sqrt(nearest); },
        [&](int leaf) {
            for (int k = 0; k < kLeafPoints; ++k)
                nearest = std::min(nearest, (point_of(leaf_at(leaf), k) - p).squaredNorm());
        },
        [](const PointNode&, double) {});
    const double farthest = std::sqrt(nearest + reach_);
    Moments m;
    double left_out = 0.0;
    visit_near(
        tree_, p, [&] { return farthest; },
        [&](int leaf) {
            for (int k = 0; k < tree_.leaf_count(leaf); ++k) {
                const Vector3d q = point_of(leaf_at(leaf), k) - p, n = normal_of(leaf_at(leaf), k);
                const double e = std::exp((nearest - q.squaredNorm()) / eps), phi = -n.dot(q);
                m.weight += e;
                m.phi += e * phi;
                if (order < 1) continue;
                m.n += e * n;
                m.q += e * q;
                m.phi_q += e * phi * q;
                if (order < 2) continue;
                m.n_q += e * n * q.transpose();
                m.q_q += e * q * q.transpose();
                m.phi_q_q += e * phi * q * q.transpose();
            }
        },
        [&](const PointNode& node, double distance) {
            const int count = std::min(kLeafPoints * node.end_leaf, tree_.count) - kLeafPoints * node.first_leaf;
            left_out += count * std::exp((nearest - distance * distance) / eps);
        });
    SoftDistanceAt out;
    const double inverse = 1.0 / m.weight, twice = 2.0 / eps;
    out.value = m.phi * inverse;
    const PointNode& root = tree_.nodes.front();
    const double most = (centre_of(root) - p).norm() + root.radius;
    out.error = left_out * inverse * (most + std::abs(out.value));
    if (order < 1) return out;
    const Vector3d n = m.n * inverse, q = m.q * inverse, phi_q = m.phi_q * inverse;
    out.gradient = n + twice * (phi_q - out.value * q);
    if (order < 2) return out;
    const Matrix3d C = m.n_q * inverse - n * q.transpose();
    const Matrix3d second = m.phi_q_q * inverse - out.value * m.q_q * inverse -
                            (phi_q - out.value * q) * q.transpose() - q * (phi_q - out.value * q).transpose();
    out.hessian = twice * (C + C.transpose()) + twice * twice * second;
    return out;
}

}  // namespace farfield
