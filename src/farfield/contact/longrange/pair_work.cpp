// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/contact/longrange/pair_traversal.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

void add_leaves(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    work.weights.clear();
    for (const LeafPair& leaf : work.leaves) work.weights.push_back(leaf.weight * leaf.share);
    PairSums sums;
    accumulate_pairs(work.batch, 0, work.leaves.size(), work.weights.data(), sums);
    const Eigen::Matrix3d& g = sums.moment_a;
    sum.gradient.head<3>() += sums.force;
    sum.gradient.tail<3>() += axial(g);
    sum.hessian += sums.material;
    sum.hessian.bottomRightCorner<3, 3>() += 0.5 * (g + g.transpose()) - g.trace() * Eigen::Matrix3d::Identity();
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        const LeafPair& leaf = work.leaves[k];
        const double value = work.batch.value(k) - kFarValue + form.far_value;
        sum.value += work.weights[k] * value;
        if (leaf.parent < 0) continue;
        double* parent = work.bands[at(leaf.parent)].sum;
        const PairChunk& chunk = work.batch.chunks()[k / kChunkPairs];
        for (std::size_t c = 0; c < 6; ++c) parent[c] += leaf.share * chunk.gradient[c][k % kChunkPairs];
        parent[6] += leaf.share * value;
    }
}

}  // namespace

PairFrame make_frame(const RotatedShape& a, const RotatedShape& b, const Vector3d& position_a,
                     const Vector3d& position_b) {
    const Vector3d &root_a = a.center, &root_b = b.center;
    const Vector3d between = (position_a - position_b) + (root_a - root_b);
    return {a.rotation, 0.5 * between - root_a, -0.5 * between - root_b};
}

void PairWork::clear() {
    bands.clear();
    leaves.clear();
    far.clear();
    num_far = 0;
    gap = std::numeric_limits<double>::infinity();
}

bool solve_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                  const PairFrame& frame, double tolerance, PlaneTable& table, PairWork& work) {
    work.batch.clear();
    std::size_t old = 0;
    for (const LeafPair& leaf : work.leaves) {
        TrianglePair arms;
        for (int k = 0; k < 3; ++k) {
            arms.col(k) = rotated_a.vertices[at(a.triangles[at(leaf.triangle_a)][k])] + frame.origin_a;
            arms.col(3 + k) = rotated_b.vertices[at(b.triangles[at(leaf.triangle_b)][k])] + frame.origin_b;
        }
        while (old < table.entries.size() && table.entries[old].key < leaf.key) ++old;
        SlackPlane warm;
        if (old < table.entries.size() && table.entries[old].key == leaf.key) {
            warm = {frame.rotation_a * table.entries[old].plane.normal, table.entries[old].plane.slack};
        }
        work.batch.add(arms, warm);
    }
    solve_pairs(work.batch, tolerance);
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        if (!std::isfinite(work.batch.value(k))) return false;
        work.gap = std::min(work.gap, work.batch.gap(k));
    }
    table.entries.resize(work.leaves.size());
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        const SlackPlane plane = work.batch.plane(k);
        table.entries[k] = {work.leaves[k].key, {frame.rotation_a.transpose() * plane.normal, plane.slack}};
    }
    return true;
}

double sum_values(const PotentialForm& form, const PairWork& work) {
    double value = work.far.value;
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        value += work.leaves[k].weight * work.leaves[k].share * (work.batch.value(k) - kFarValue + form.far_value);
    }
    return value;
}

void sum_derivatives(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    sum.value += work.far.value;
    sum.gradient += work.far.gradient;
    sum.hessian += work.far.hessian;
    add_leaves(form, work, sum);
    add_bands(work.bands, sum);
}

}  // namespace farfield::contact::longrange
