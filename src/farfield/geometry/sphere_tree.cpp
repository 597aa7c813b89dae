// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/sphere_tree.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

/// Of a node's size: places and sides that differ by less are the same but for rounding, and the order of the items decides.
constexpr double kSame = 1.0 / 1048576.0;

/// What a tree is built over: points that bound each item, and where the item sits.
struct Items {
    const TriangleMesh& mesh;
    std::vector<int> ids;
    std::vector<Eigen::Vector3d> centers;  ///< by id
    std::vector<double> radii;             ///< by id
    bool triangles = true;

    [[nodiscard]] std::span<const int> points(const int& id) const {
        if (!triangles) return {&id, 1};
        return {mesh.triangles.data() + 3 * static_cast<std::ptrdiff_t>(id), 3};
    }
};

class Builder {
 public:
    explicit Builder(Items items)
        : items_(std::move(items)),
          seen_(static_cast<std::size_t>(items_.mesh.vertices.rows()), -1),
          place_(items_.centers.size()) {
        tree_.num_leaves = static_cast<int>(items_.ids.size());
        add_node(0, items_.ids.size(), 0u, 0);
    }

    [[nodiscard]] SphereTree take() { return std::move(tree_); }

 private:
    int add_node(std::size_t begin, std::size_t end, std::uint32_t path, int depth) {
        const int node = tree_.size();
        const auto k = static_cast<std::size_t>(node);
        if (depth > 29) fail("sphere tree: more than 2^29 items");
        tree_.center.push_back(mean_of_points(begin, end, node));
        tree_.radius.push_back(0.0);
        tree_.tight.push_back(0.0);
        tree_.spread.push_back(0.0);
        tree_.right.push_back(-1);
        tree_.item.push_back(-1);
        tree_.path.push_back(path);
        tree_.tight[k] = farthest_point(begin, end, tree_.center[k]);
        if (end - begin == 1) {
            const int id = items_.ids[begin];
            tree_.item[k] = id;
            tree_.radius[k] = tree_.tight[k];
            return node;
        }
        const std::size_t middle = split(begin, end);
        const auto left = static_cast<std::size_t>(add_node(begin, middle, path, depth + 1));
        const auto right = static_cast<std::size_t>(add_node(middle, end, path | (0x80000000u >> depth), depth + 1));
        tree_.right[k] = static_cast<int>(right);
        for (const std::size_t child : {left, right}) {
            const double shift = (tree_.center[k] - tree_.center[child]).norm();
            tree_.radius[k] = std::max(tree_.radius[k], shift + tree_.radius[child]);
            tree_.spread[k] = std::max(tree_.spread[k], shift + tree_.spread[child]);
        }
        return node;
    }

    /// Mean of the distinct vertices; `node` stamps the ones already counted.
    Eigen::Vector3d mean_of_points(std::size_t begin, std::size_t end, int node) {
        Eigen::Vector3d sum = Eigen::Vector3d::Zero();
        int count = 0;
        for (std::size_t k = begin; k < end; ++k) {
            for (const int v : items_.points(items_.ids[k])) {
                int& stamp = seen_[static_cast<std::size_t>(v)];
                if (stamp == node) continue;
                stamp = node;
                sum += items_.mesh.vertices.row(v).transpose();
                ++count;
            }
        }
        return sum / count;
    }

    [[nodiscard]] double farthest_point(std::size_t begin, std::size_t end, const Eigen::Vector3d& center) const {
        double farthest = 0.0;
        for (std::size_t k = begin; k < end; ++k) {
            for (const int v : items_.points(items_.ids[k])) {
                farthest = std::max(farthest, (items_.mesh.vertices.row(v).transpose() - center).norm() +
                                                  items_.radii[static_cast<std::size_t>(items_.ids[k])]);
            }
        }
        return farthest;
    }

    std::size_t split(std::size_t begin, std::size_t end) {
        Eigen::AlignedBox3d box;
        for (std::size_t k = begin; k < end; ++k) box.extend(items_.centers[static_cast<std::size_t>(items_.ids[k])]);
        const Eigen::Vector3d sizes = box.sizes();
        Eigen::Index axis = 0;
        while (sizes[axis] < (1.0 - kSame) * sizes.maxCoeff()) ++axis;
        const double low = box.min()[axis], grid = kSame * sizes[axis];
        for (std::size_t k = begin; k < end; ++k) {
            const auto id = static_cast<std::size_t>(items_.ids[k]);
            place_[id] = grid > 0.0 ? std::round((items_.centers[id][axis] - low) / grid) : 0.0;
        }
        const auto before = [&](int a, int b) {
            const double x = place_[static_cast<std::size_t>(a)], y = place_[static_cast<std::size_t>(b)];
            return x != y ? x < y : a < b;
        };
        std::sort(items_.ids.begin() + static_cast<std::ptrdiff_t>(begin),
                  items_.ids.begin() + static_cast<std::ptrdiff_t>(end), before);
        return begin + (end - begin) / 2;
    }

    Items items_;
    std::vector<int> seen_;
    std::vector<double> place_;  ///< by id: along the axis of the current split
    SphereTree tree_;
};

}  // namespace

SphereTree build_triangle_tree(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() == 0) fail("build_triangle_tree: mesh '", mesh.name, "' has no triangles");
    Items items{mesh, {}, {}, {}, true};
    for (int t = 0; t < static_cast<int>(mesh.triangles.rows()); ++t) {
        items.ids.push_back(t);
        Eigen::Vector3d center = Eigen::Vector3d::Zero();
        for (int k = 0; k < 3; ++k) center += mesh.vertices.row(mesh.triangles(t, k)).transpose();
        items.centers.push_back(center / 3.0);
        items.radii.push_back(mesh.radius(t));
    }
    return Builder(std::move(items)).take();
}

SphereTree build_vertex_tree(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() == 0) fail("build_vertex_tree: mesh '", mesh.name, "' has no triangles");
    const auto count = static_cast<std::size_t>(mesh.vertices.rows());
    Items items{mesh, {}, std::vector<Eigen::Vector3d>(count), vertex_radii(mesh), false};
    std::vector<bool> used(count, false);
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        for (int k = 0; k < 3; ++k) used[static_cast<std::size_t>(mesh.triangles(t, k))] = true;
    }
    for (std::size_t v = 0; v < count; ++v) {
        if (used[v]) items.ids.push_back(static_cast<int>(v));
        items.centers[v] = mesh.vertices.row(static_cast<Eigen::Index>(v)).transpose();
    }
    return Builder(std::move(items)).take();
}

}  // namespace farfield
