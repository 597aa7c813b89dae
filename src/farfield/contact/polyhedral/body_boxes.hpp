// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Broad phase: boxes of hulls and bodies in world axes, and a tree over the bodies that finds those within reach.
#include <Eigen/Dense>
#include <utility>
#include <vector>

#include "farfield/math/pose.hpp"

namespace farfield::contact::polyhedral {

/// Axis-aligned; empty when `half` is negative.
struct Box {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    Eigen::Vector3d half = Eigen::Vector3d::Constant(-1.0);

    [[nodiscard]] bool empty() const { return half.x() < 0.0; }
    void add(const Box& other);
};

/// Lower bound of the distance of what two boxes hold; 0 when they overlap.
[[nodiscard]] double box_distance(const Box& a, const Box& b);
/// No side of one is farther than `reach` from the other.
[[nodiscard]] bool within(const Box& a, const Box& b, double reach);
/// The box, in world axes, around a box given in a body's frame.
[[nodiscard]] Box in_world(const Box& local, const Pose& pose);

/// Binary tree over boxes, split at the median of the centres along the longest side. Boxes may move: update() keeps the shape of the
/// tree, build() renews it; which pairs are found does not depend on it.
class BodyTree {
 public:
    /// Empty boxes take no part.
    void build(const std::vector<Box>& boxes);
    void update(const std::vector<Box>& boxes);
    /// Pairs (i < j) within `reach`, in no particular order.
    void find_pairs(double reach, std::vector<std::pair<int, int>>& out) const;
    [[nodiscard]] bool built() const { return built_; }

 private:
    struct Node {
        Box box;
        int left = -1, right = -1, item = -1;
    };
    int split(std::vector<int>& order, std::size_t begin, std::size_t end, const std::vector<Box>& boxes);
    void cross(int a, int b, double reach, std::vector<std::pair<int, int>>& out) const;

    std::vector<Node> nodes_;  // children before parents
    bool built_ = false;
};

}  // namespace farfield::contact::polyhedral
