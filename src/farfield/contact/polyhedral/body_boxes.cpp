// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/body_boxes.hpp"

#include <algorithm>

#include "farfield/base/index.hpp"

namespace farfield::contact::polyhedral {

void Box::add(const Box& other) {
    if (other.empty()) return;
    if (empty()) {
        *this = other;
        return;
    }
    const Eigen::Vector3d low = (centre - half).cwiseMin(other.centre - other.half),
                          high = (centre + half).cwiseMax(other.centre + other.half);
    centre = 0.5 * (low + high);
    half = 0.5 * (high - low);
}

double box_distance(const Box& a, const Box& b) {
    return ((a.centre - b.centre).cwiseAbs() - a.half - b.half).cwiseMax(0.0).norm();
}

bool within(const Box& a, const Box& b, double reach) {
    return ((a.centre - b.centre).cwiseAbs() - a.half - b.half).maxCoeff() < reach;
}

Box in_world(const Box& local, const Pose& pose) {
    if (local.empty()) return local;
    return {pose * local.centre, pose.rotation.cwiseAbs() * local.half};
}

int BodyTree::split(std::vector<int>& order, std::size_t begin, std::size_t end, const std::vector<Box>& boxes) {
    if (end - begin == 1) {
        nodes_.push_back({boxes[at(order[begin])], -1, -1, order[begin]});
        return static_cast<int>(nodes_.size()) - 1;
    }
    Eigen::Vector3d low = boxes[at(order[begin])].centre, high = low;
    for (std::size_t k = begin; k < end; ++k) {
        low = low.cwiseMin(boxes[at(order[k])].centre);
        high = high.cwiseMax(boxes[at(order[k])].centre);
    }
    Eigen::Index axis = 0;
    (high - low).maxCoeff(&axis);
    const std::size_t middle = begin + (end - begin) / 2;
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin), order.begin() + static_cast<std::ptrdiff_t>(end),
              [&](int i, int j) {
                  const double x = boxes[at(i)].centre[axis], y = boxes[at(j)].centre[axis];
                  return x != y ? x < y : i < j;
              });
    const int left = split(order, begin, middle, boxes), right = split(order, middle, end, boxes);
    Node node{nodes_[at(left)].box, left, right, -1};
    node.box.add(nodes_[at(right)].box);
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
}

void BodyTree::build(const std::vector<Box>& boxes) {
    nodes_.clear();
    built_ = true;
    std::vector<int> order;
    for (std::size_t k = 0; k < boxes.size(); ++k) {
        if (!boxes[k].empty()) order.push_back(static_cast<int>(k));
    }
    if (!order.empty()) split(order, 0, order.size(), boxes);
}

void BodyTree::update(const std::vector<Box>& boxes) {
    for (Node& node : nodes_) {
        if (node.item >= 0) {
            node.box = boxes[at(node.item)];
        } else {
            node.box = nodes_[at(node.left)].box;
            node.box.add(nodes_[at(node.right)].box);
        }
    }
}

void BodyTree::cross(int a, int b, double reach, std::vector<std::pair<int, int>>& out) const {
    const Node &x = nodes_[at(a)], &y = nodes_[at(b)];
    if (!within(x.box, y.box, reach)) return;
    if (x.item >= 0 && y.item >= 0) {
        out.emplace_back(std::min(x.item, y.item), std::max(x.item, y.item));
    } else if (y.item >= 0 || (x.item < 0 && x.box.half.maxCoeff() >= y.box.half.maxCoeff())) {
        cross(x.left, b, reach, out);
        cross(x.right, b, reach, out);
    } else {
        cross(a, y.left, reach, out);
        cross(a, y.right, reach, out);
    }
}

void BodyTree::find_pairs(double reach, std::vector<std::pair<int, int>>& out) const {
    out.clear();
    for (const Node& node : nodes_) {
        if (node.item < 0) cross(node.left, node.right, reach, out);
    }
}

}  // namespace farfield::contact::polyhedral
