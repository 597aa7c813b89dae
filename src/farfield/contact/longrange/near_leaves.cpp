// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "farfield/contact/longrange/centred.hpp"
#include "farfield/contact/longrange/pair_traversal.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

/// A leaf of a near pair: its node centres seen from o, and how far it has faded.
struct FadingLeaf {
    Vector3d a, b;
    double distance = 0.0, gap = 0.0;  ///< between centres, between bounding spheres
    Blend fade;
};

void put(const FadingLeaf& leaf, const LeafPair& pair, std::size_t k, BandTable& bands) {
    for (int c = 0; c < 3; ++c) {
        bands.field(static_cast<BandTable::Field>(BandTable::kAx + c))[k] = leaf.a[c];
        bands.field(static_cast<BandTable::Field>(BandTable::kBx + c))[k] = leaf.b[c];
    }
    bands.field(BandTable::kWeight)[k] = pair.weight;
    bands.field(BandTable::kInverse)[k] = 1.0 / leaf.distance;
    bands.field(BandTable::kCentred)[k] = 0.0;
    bands.field(BandTable::kPhi)[k] = leaf.fade.phi;
    bands.field(BandTable::kRest)[k] = leaf.fade.rest;
    bands.field(BandTable::kFirst)[k] = leaf.fade.first;
    bands.field(BandTable::kSecond)[k] = leaf.fade.second;
    bands.field(BandTable::kSlope)[k] = 0.0;
    bands.field(BandTable::kCurvature)[k] = 0.0;
    bands.parent()[k] = pair.parent;
    bands.sums()[static_cast<std::ptrdiff_t>(k)] = {};
}

}  // namespace

void fade_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                 const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work) {
    const auto look = [&](const LeafPair& pair) {
        const auto i = static_cast<std::size_t>(a.leaf[static_cast<std::size_t>(pair.triangle_a)]),
                   j = static_cast<std::size_t>(b.leaf[static_cast<std::size_t>(pair.triangle_b)]);
        FadingLeaf leaf{.a = form.scale * point(rotated_a.nodes[i]) + frame.origin_a,
                        .b = form.scale * point(rotated_b.nodes[j]) + frame.origin_b};
        leaf.distance = (leaf.a - leaf.b).norm();
        leaf.gap = leaf.distance - form.scale * (a.tree.radius[i] + b.tree.radius[j]);
        leaf.fade = step(leaf.gap, form.fade_start(), form.fade_width());
        return leaf;
    };
    std::size_t kept = 0, fading = 0;
    for (const LeafPair& pair : work.leaves) {
        const FadingLeaf leaf = look(pair);
        if (leaf.fade.rest == 0.0) {
            work.gap = std::min(work.gap, leaf.gap);
            continue;
        }
        fading += leaf.fade.phi > 0.0 ? 1 : 0;
        work.leaves[kept++] = pair;
    }
    work.leaves.resize(kept);
    if (fading == 0) return;
    std::size_t next = wanted == Wanted::Derivatives ? work.bands.begin_level(fading) : 0;
    for (LeafPair& pair : work.leaves) {
        const FadingLeaf leaf = look(pair);
        if (!(leaf.fade.phi > 0.0)) continue;
        if (wanted == Wanted::Derivatives) {
            put(leaf, pair, next, work.bands);
            pair.parent = static_cast<int>(next++);
        }
        pair.weight *= leaf.fade.rest;
    }
    if (wanted == Wanted::Derivatives) work.bands.repeat_last();
}

}  // namespace farfield::contact::longrange
