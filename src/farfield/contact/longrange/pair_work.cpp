// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/math/rotation.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

class Traversal {
 public:
    Traversal(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, PairWork& work)
        : a_(a), b_(b), rotated_a_(rotated_a), rotated_b_(rotated_b), frame_(frame), form_(form), work_(work),
          eps_(std::max(a.blend, b.blend)) {}

    void visit(int i, int j, int parent, double weight) {
        if (!form_.hierarchy) return visit_children(i, j, parent, weight);
        const CentralTerm term = central_term(i, j);
        const double d1 = a_.tree.radius[at(i)] + b_.tree.radius[at(j)], width = eps_ * d1;
        if (term.r >= d1 + width) {
            work_.far.push_back({term, parent, weight, share(i, j), spread(i, j)});
            work_.gap = std::min(work_.gap, term.r - a_.tree.tight[at(i)] - b_.tree.tight[at(j)]);
            return;
        }
        if (term.r > d1) {
            const Blend blend_now = blend(term.r, d1, width);
            const Taylor c = scaled(centred(term.r + spread(i, j), form_.far_value), share(i, j));
            work_.bands.push_back({i, j, parent, weight, term, c, blend_now});
            parent = static_cast<int>(work_.bands.size()) - 1;
            weight *= blend_now.rest;
        }
        visit_children(i, j, parent, weight);
    }

 private:
    [[nodiscard]] CentralTerm central_term(int i, int j) const {
        CentralTerm term{rotated_a_.centers[at(i)] + frame_.origin_a, rotated_b_.centers[at(j)] + frame_.origin_b, 0.0};
        term.r = (term.a - term.b).norm();
        return term;
    }
    [[nodiscard]] double share(int i, int j) const {
        return form_.area_weights ? a_.tree.share[at(i)] * b_.tree.share[at(j)] : 1.0;
    }
    [[nodiscard]] double spread(int i, int j) const {
        return form_.area_weights ? a_.tree.spread[at(i)] + b_.tree.spread[at(j)] : 0.0;
    }
    static Taylor scaled(const Taylor& t, double factor) { return {factor * t.value, factor * t.first, factor * t.second}; }

    void add_leaf(int i, int j, int parent, double weight) {
        LeafPair leaf;
        leaf.triangle_a = a_.tree.item[at(i)];
        leaf.triangle_b = b_.tree.item[at(j)];
        leaf.parent = parent;
        leaf.weight = weight;
        leaf.share = share(i, j);
        leaf.key = pair_key(a_.path_bits[at(leaf.triangle_a)], b_.path_bits[at(leaf.triangle_b)]);
        work_.leaves.push_back(leaf);
    }

    void visit_children(int i, int j, int parent, double weight) {
        const bool leaf_i = a_.tree.is_leaf(i), leaf_j = b_.tree.is_leaf(j);
        if (leaf_i && leaf_j) return add_leaf(i, j, parent, weight);
        const int is[2] = {leaf_i ? i : i + 1, a_.tree.right[at(i)]};
        const int js[2] = {leaf_j ? j : j + 1, b_.tree.right[at(j)]};
        for (int p = 0; p < (leaf_i ? 1 : 2); ++p) {
            for (int q = 0; q < (leaf_j ? 1 : 2); ++q) visit(is[p], js[q], parent, weight);
        }
    }

    const Shape &a_, &b_;
    const RotatedShape &rotated_a_, &rotated_b_;
    const PairFrame& frame_;
    const PotentialForm& form_;
    PairWork& work_;
    double eps_;
};

/// Adds a finished term (value, gradient) to the band node above it.
void add_to_parent(PairWork& work, int parent, double value, const Vector6d& gradient) {
    if (parent < 0) return;
    work.bands[at(parent)].sum += value;
    work.bands[at(parent)].sum_gradient += gradient;
}

void add_far_terms(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    for (const FarTerm& far : work.far) {
        const Taylor c = centred(far.term.r + far.spread, form.far_value);
        const Vector6d dr = distance_gradient(far.term);
        const double scale = far.weight * far.share;
        sum.value += scale * c.value;
        sum.gradient += scale * c.first * dr;
        add_distance_hessian(far.term, dr, scale * c.second, scale * c.first, sum.hessian);
        add_to_parent(work, far.parent, far.share * c.value, far.share * c.first * dr);
    }
}

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
        if (leaf.parent >= 0) add_to_parent(work, leaf.parent, leaf.share * value, leaf.share * work.batch.gradient(k));
    }
}

void add_bands(PairWork& work, RelativeSum& sum) {
    for (std::size_t k = work.bands.size(); k-- > 0;) {  // children come after their parent
        const BandNode& band = work.bands[k];
        const Blend& phi = band.blend;
        const Taylor& c = band.centred;
        const double excess = c.value - band.sum;
        const double slope = phi.phi * c.first + phi.first * excess;
        const double curvature = phi.phi * c.second + 2.0 * phi.first * c.first + phi.second * excess;
        const Vector6d dr = distance_gradient(band.term);
        sum.value += band.weight * phi.phi * c.value;
        sum.gradient += band.weight * slope * dr;
        add_distance_hessian(band.term, dr, band.weight * curvature, band.weight * slope, sum.hessian);
        add_symmetric_product(dr, band.sum_gradient, -band.weight * phi.first, sum.hessian);
        add_to_parent(work, band.parent, phi.rest * band.sum + phi.phi * c.value,
                      phi.rest * band.sum_gradient + slope * dr);
    }
}

}  // namespace

PairFrame make_frame(const RotatedShape& a, const RotatedShape& b, const Vector3d& position_a, const Vector3d& position_b) {
    const Vector3d& root_a = a.centers.front();
    const Vector3d& root_b = b.centers.front();
    const Vector3d between = (position_a - position_b) + (root_a - root_b);
    return {a.rotation, 0.5 * between - root_a, -0.5 * between - root_b};
}

void PairWork::clear() {
    bands.clear();
    far.clear();
    leaves.clear();
    gap = std::numeric_limits<double>::infinity();
}

void traverse(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, PairWork& work) {
    work.clear();
    Traversal(a, rotated_a, b, rotated_b, frame, form, work).visit(0, 0, -1, 1.0);
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
    double value = 0.0;
    for (const FarTerm& far : work.far) {
        value += far.weight * far.share * centred_value(far.term.r + far.spread, form.far_value);
    }
    for (std::size_t k = 0; k < work.leaves.size(); ++k) {
        value += work.leaves[k].weight * work.leaves[k].share * (work.batch.value(k) - kFarValue + form.far_value);
    }
    for (const BandNode& band : work.bands) value += band.weight * band.blend.phi * band.centred.value;
    return value;
}

void sum_derivatives(const PotentialForm& form, PairWork& work, RelativeSum& sum) {
    add_far_terms(form, work, sum);
    add_leaves(form, work, sum);
    add_bands(work, sum);
}

}  // namespace farfield::contact::longrange
