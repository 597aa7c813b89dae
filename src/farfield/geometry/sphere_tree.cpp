// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/sphere_tree.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

/// What a tree is built over: points that bound each item, where the item sits, and how much surface it owns.
struct Items {
    const TriangleMesh& mesh;
    std::vector<int> ids;
    std::vector<Eigen::Vector3d> centers;  ///< by id
    std::vector<double> shares;            ///< by id
    bool triangles = true;

    [[nodiscard]] std::span<const int> points(const int& id) const {
        if (!triangles) return {&id, 1};
        return {mesh.triangles.data() + 3 * static_cast<std::ptrdiff_t>(id), 3};
    }
};

class Builder {
 public:
    explicit Builder(Items items)
        : items_(std::move(items)), seen_(static_cast<std::size_t>(items_.mesh.vertices.rows()), -1) {
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
        tree_.share.push_back(0.0);
        tree_.spread.push_back(0.0);
        tree_.right.push_back(-1);
        tree_.item.push_back(-1);
        tree_.path.push_back(path);
        tree_.tight[k] = farthest_point(begin, end, tree_.center[k]);
        if (end - begin == 1) {
            const int id = items_.ids[begin];
            tree_.item[k] = id;
            tree_.radius[k] = tree_.tight[k];
            tree_.share[k] = items_.shares[static_cast<std::size_t>(id)];
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
            tree_.share[k] += tree_.share[child];
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
                farthest = std::max(farthest, (items_.mesh.vertices.row(v).transpose() - center).norm());
            }
        }
        return farthest;
    }

    std::size_t split(std::size_t begin, std::size_t end) {
        Eigen::AlignedBox3d box;
        for (std::size_t k = begin; k < end; ++k) box.extend(items_.centers[static_cast<std::size_t>(items_.ids[k])]);
        Eigen::Index axis = 0;
        box.sizes().maxCoeff(&axis);
        const auto before = [&](int a, int b) {
            const double x = items_.centers[static_cast<std::size_t>(a)][axis];
            const double y = items_.centers[static_cast<std::size_t>(b)][axis];
            return x != y ? x < y : a < b;
        };
        std::sort(items_.ids.begin() + static_cast<std::ptrdiff_t>(begin),
                  items_.ids.begin() + static_cast<std::ptrdiff_t>(end), before);
        return begin + (end - begin) / 2;
    }

    Items items_;
    std::vector<int> seen_;
    SphereTree tree_;
};

std::vector<double> area_shares(const TriangleMesh& mesh) {
    std::vector<double> areas;
    double total = 0.0;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Eigen::Vector3d a = mesh.vertices.row(mesh.triangles(t, 0));
        const Eigen::Vector3d b = mesh.vertices.row(mesh.triangles(t, 1));
        const Eigen::Vector3d c = mesh.vertices.row(mesh.triangles(t, 2));
        areas.push_back(0.5 * (b - a).cross(c - a).norm());
        total += areas.back();
    }
    for (double& area : areas) area /= total;
    return areas;
}

}  // namespace

SphereTree build_triangle_tree(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() == 0) fail("build_triangle_tree: mesh '", mesh.name, "' has no triangles");
    Items items{mesh, {}, {}, area_shares(mesh), true};
    for (int t = 0; t < static_cast<int>(mesh.triangles.rows()); ++t) {
        items.ids.push_back(t);
        Eigen::Vector3d center = Eigen::Vector3d::Zero();
        for (int k = 0; k < 3; ++k) center += mesh.vertices.row(mesh.triangles(t, k)).transpose();
        items.centers.push_back(center / 3.0);
    }
    return Builder(std::move(items)).take();
}

SphereTree build_vertex_tree(const TriangleMesh& mesh) {
    if (mesh.triangles.rows() == 0) fail("build_vertex_tree: mesh '", mesh.name, "' has no triangles");
    const std::vector<double> areas = area_shares(mesh);
    const auto count = static_cast<std::size_t>(mesh.vertices.rows());
    Items items{mesh, {}, std::vector<Eigen::Vector3d>(count), std::vector<double>(count, 0.0), false};
    std::vector<bool> used(count, false);
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        for (int k = 0; k < 3; ++k) {
            const auto v = static_cast<std::size_t>(mesh.triangles(t, k));
            used[v] = true;
            items.shares[v] += areas[static_cast<std::size_t>(t)] / 3.0;
        }
    }
    for (std::size_t v = 0; v < count; ++v) {
        if (used[v]) items.ids.push_back(static_cast<int>(v));
        items.centers[v] = mesh.vertices.row(static_cast<Eigen::Index>(v)).transpose();
    }
    return Builder(std::move(items)).take();
}

}  // namespace farfield
