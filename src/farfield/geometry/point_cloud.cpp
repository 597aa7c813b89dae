// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/point_cloud.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

class TreeBuilder {
 public:
    TreeBuilder(const PointRows& points, PointTree& tree) : points_(points), tree_(tree) {
        tree.count = static_cast<int>(points.rows());
        tree.order.resize(static_cast<std::size_t>(tree.count));
        std::iota(tree.order.begin(), tree.order.end(), 0);
        if (tree.count > 0) build(0, tree.count);
    }

 private:
    int build(int begin, int end) {
        const auto index = tree_.nodes.size();
        tree_.nodes.emplace_back();
        tree_.nodes[index].first_leaf = begin / kLeafPoints;
        tree_.nodes[index].end_leaf = (end + kLeafPoints - 1) / kLeafPoints;
        const int leaves = tree_.nodes[index].end_leaf - tree_.nodes[index].first_leaf;
        if (leaves > 1) {
            const int middle = begin + kLeafPoints * ((leaves + 1) / 2);
            split(begin, middle, end);
            build(begin, middle);
            tree_.nodes[index].right = build(middle, end);
        }
        return static_cast<int>(index);
    }

    void split(int begin, int middle, int end) {
        Eigen::AlignedBox3d box;
        const auto first = tree_.order.begin() + begin;
        for (auto k = first; k != tree_.order.begin() + end; ++k) box.extend(Vector3d(points_.row(*k).transpose()));
        Eigen::Index axis = 0;
        box.sizes().maxCoeff(&axis);
        std::nth_element(first, tree_.order.begin() + middle, tree_.order.begin() + end,
                         [&](int i, int j) { return std::pair(points_(i, axis), i) < std::pair(points_(j, axis), j); });
    }

    const PointRows& points_;
    PointTree& tree_;
};

/// The centre of the bounding box and the farthest point from it.
void fit_ball(const PointRows& points, const PointTree& tree, PointNode& node) {
    Eigen::AlignedBox3d box;
    const int begin = kLeafPoints * node.first_leaf, end = std::min(kLeafPoints * node.end_leaf, tree.count);
    const auto point = [&](int slot) -> Vector3d {
        return points.row(tree.order[static_cast<std::size_t>(slot)]).transpose();
    };
    for (int slot = begin; slot < end; ++slot) box.extend(point(slot));
    const Vector3d centre = box.center();
    double squared = 0.0;
    for (int slot = begin; slot < end; ++slot) squared = std::max(squared, (point(slot) - centre).squaredNorm());
    for (int axis = 0; axis < 3; ++axis) node.centre[axis] = centre[axis];
    node.radius = std::sqrt(squared) * (1.0 + 1e-12);
}

}  // namespace

void validate(const PointCloud& cloud, const char* place) {
    if (cloud.points.rows() == 0) fail(place, ": no points, expected at least one");
    if (cloud.normals.rows() != cloud.points.rows())
        fail(place, ": ", cloud.normals.rows(), " normals for ", cloud.points.rows(), " points, expected as many");
    for (Eigen::Index k = 0; k < cloud.points.rows(); ++k) {
        if (!cloud.points.row(k).allFinite()) {
            fail(place, ": point ", k, " is (", cloud.points(k, 0), ", ", cloud.points(k, 1), ", ", cloud.points(k, 2),
                 "), expected finite numbers");
        }
        const double length = cloud.normals.row(k).norm();
        if (!(std::abs(length - 1.0) < 1e-6)) fail(place, ": normal ", k, " has length ", length, ", expected 1");
    }
    if (!(cloud.spacing > 0.0) || !std::isfinite(cloud.spacing))
        fail(place, ": spacing ", cloud.spacing, ", expected > 0 [m]");
    if (!(cloud.temperature > 0.0) || !std::isfinite(cloud.temperature))
        fail(place, ": temperature ", cloud.temperature, ", expected > 0 [m^2]");
}

double inradius(const PointCloud& cloud) {
    double largest = 0.0;
    for (Eigen::Index i = 0; i < cloud.points.rows(); ++i) {
        double radius = std::numeric_limits<double>::infinity();
        for (Eigen::Index j = 0; j < cloud.points.rows(); ++j) {
            const Vector3d apart = (cloud.points.row(i) - cloud.points.row(j)).transpose();
            const double depth = apart.dot(cloud.normals.row(i));
            if (depth > 0.0) radius = std::min(radius, apart.squaredNorm() / (2.0 * depth));
        }
        if (std::isfinite(radius)) largest = std::max(largest, radius);
    }
    return largest;
}

PointTree build_point_tree(const PointRows& points, const PointRows& normals) {
    PointTree tree;
    TreeBuilder(points, tree);
    tree.leaves.resize(static_cast<std::size_t>((tree.count + kLeafPoints - 1) / kLeafPoints));
    for (int slot = 0; slot < kLeafPoints * tree.num_leaves(); ++slot) {
        const int point = tree.order[static_cast<std::size_t>(std::min(slot, tree.count - 1))];
        LeafColumns& leaf = tree.leaves[static_cast<std::size_t>(slot / kLeafPoints)];
        const int lane = slot % kLeafPoints;
        const bool oriented = normals.rows() > 0;
        leaf.nx[lane] = oriented ? normals(point, 0) : 0.0;
        leaf.ny[lane] = oriented ? normals(point, 1) : 0.0;
        leaf.nz[lane] = oriented ? normals(point, 2) : 0.0;
    }
    refit(points, tree);
    return tree;
}

void refit(const PointRows& points, PointTree& tree) {
    for (int slot = 0; slot < kLeafPoints * tree.num_leaves(); ++slot) {
        const int point = tree.order[static_cast<std::size_t>(std::min(slot, tree.count - 1))];
        LeafColumns& leaf = tree.leaves[static_cast<std::size_t>(slot / kLeafPoints)];
        const int lane = slot % kLeafPoints;
        leaf.x[lane] = points(point, 0);
        leaf.y[lane] = points(point, 1);
        leaf.z[lane] = points(point, 2);
    }
    for (PointNode& node : tree.nodes) fit_ball(points, tree, node);
}

PointCloud sphere_cloud(double radius, int count, double temperature) {
    if (!(radius > 0.0) || count < 4) {
        fail("sphere_cloud: radius ", radius, " and ", count, " points, expected a radius > 0 [m] and at least 4");
    }
    PointCloud cloud;
    cloud.spacing = radius * std::sqrt(4.0 * std::numbers::pi / count);
    cloud.temperature = temperature * cloud.spacing * cloud.spacing;
    cloud.normals.resize(count, 3);
    for (int k = 0; k < count; ++k) {
        const double z = 1.0 - (2.0 * k + 1.0) / count, angle = std::numbers::pi * (3.0 - std::sqrt(5.0)) * k;
        const double across = std::sqrt(1.0 - z * z);
        cloud.normals.row(k) << across * std::cos(angle), across * std::sin(angle), z;
    }
    cloud.points = (radius - cloud.temperature / (2.0 * radius)) * cloud.normals;
    return cloud;
}

}  // namespace farfield
