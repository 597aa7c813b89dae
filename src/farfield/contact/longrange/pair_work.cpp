// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/contact/longrange/leaf_lanes.hpp"
#include "farfield/contact/longrange/pair_traversal.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

void add_leaves(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    work.weights.resize(work.leaves.size());
    for (std::size_t k = 0; k < work.leaves.size(); ++k) work.weights[k] = work.leaves[k].weight * work.leaves[k].share;
    PairSums sums;
    accumulate_pairs(work.batch, 0, work.leaves.size(), work.weights.data(), sums);
    const Eigen::Matrix3d& g = sums.moment_a;
    sum.hessian += sums.material;
    sum.hessian.bottomRightCorner<3, 3>() += 0.5 * (g + g.transpose()) - g.trace() * Eigen::Matrix3d::Identity();
    add_leaves_to_bands(form.far_value - kFarValue, work);
}

}  // namespace

PairFrame make_frame(const RotatedShape& a, const RotatedShape& b, const Vector3d& position_a,
                     const Vector3d& position_b, double scale) {
    const Vector3d root_a = scale * a.center, root_b = scale * b.center;
    const Vector3d between = (position_a - position_b) + (root_a - root_b);
    return {a.rotation, 0.5 * between - root_a, -0.5 * between - root_b};
}

BandNode BandTable::operator[](std::size_t k) const {
    const auto get = [&](int f) { return field(static_cast<Field>(f))[k]; };
    BandNode node;
    for (int c = 0; c < 3; ++c) {
        node.a[c] = get(kAx + c);
        node.b[c] = get(kBx + c);
        node.dr[c] = (node.a[c] - node.b[c]) * get(kInverse);
    }
    Eigen::Map<Vector3d>(node.dr + 3) = Eigen::Map<const Vector3d>(node.a).cross(Eigen::Map<const Vector3d>(node.dr));
    std::copy_n(sums_[k + 2].v, 7, node.sum);
    node.weight = get(kWeight);
    node.centred = get(kCentred);
    node.phi = get(kPhi);
    node.rest = get(kRest);
    node.first = get(kFirst);
    node.second = get(kSecond);
    node.parent = parents_[k];
    return node;
}

void BandTable::clear() {
    size_ = 0;
    levels_.clear();
    sums_[0] = sums_[1] = {};
}

std::size_t BandTable::begin_level(std::size_t count) {
    const std::size_t first = size_, needed = size_ + count + 4;
    if (needed > capacity_) {
        const std::size_t larger = std::max(2 * capacity_, needed);
        std::vector<double> values(larger * kNumFields, 0.0);
        for (std::size_t f = 0; f < kNumFields; ++f)
            std::copy_n(values_.data() + capacity_ * f, capacity_ != 0 ? size_ : 0, values.data() + larger * f);
        values_ = std::move(values);
        capacity_ = larger;
        parents_.resize(larger);
        sums_.resize(larger + 2);
    }
    size_ += count;
    levels_.push_back(first);
    return first;
}

void BandTable::repeat_last() {
    for (std::size_t k = size_; k < size_ + 3; ++k) {
        for (std::size_t f = 0; f < kNumFields; ++f) values_[capacity_ * f + k] = values_[capacity_ * f + size_ - 1];
        sums_[k + 2] = sums_[size_ + 1];
    }
}

void NodePairs::grow(std::size_t size) {
    if (size <= nodes.size()) return;
    const std::size_t larger = std::max(size, 2 * nodes.size());
    nodes.resize(larger);
    weight.resize(larger);
    parent.resize(larger);
}

void PairWork::clear() {
    bands.clear();
    leaves.clear();
    value = 0.0;
    hessian.setZero();
    num_far = 0;
    gap = std::numeric_limits<double>::infinity();
}

bool solve_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                  const PairFrame& frame, const PotentialForm& form, double tolerance, PlaneTable& table,
                  PairWork& work) {
    work.batch.clear();
    if (!work.leaves.empty()) gather_leaves(a, rotated_a, b, rotated_b, frame, form.scale, table, work);
    solve_pairs(work.batch, tolerance);
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        if (!std::isfinite(work.batch.value(k))) return false;
        work.gap = std::min(work.gap, work.batch.gap(k));
    }
    keep_planes(frame, work, table);
    return true;
}

double sum_values(const PotentialForm& form, const PairWork& work) {
    double value = work.value;
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        value += work.leaves[k].weight * work.leaves[k].share * (work.batch.value(k) - kFarValue + form.far_value);
    }
    return value;
}

void sum_derivatives(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    sum.hessian += work.hessian;
    if (!work.leaves.empty()) add_leaves(form, work, sum);
    add_bands(work.bands, sum.hessian);
    const double(&total)[8] = work.bands.total().v;
    for (int k = 0; k < 6; ++k) sum.gradient[k] += total[k];
    sum.value += total[6];
}

}  // namespace farfield::contact::longrange
