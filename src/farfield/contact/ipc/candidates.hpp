// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Broad phase of one pair of meshes: features that may be within range, kept while the bodies move little.
///
/// A list found at one relative pose with cutoff range + margin holds every pair of features within range as long as no point has moved
/// by more than the margin. What is in it beyond that contributes nothing, and the order is that of the trees, so sums have the
/// same bits whenever the list was made.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/ipc/shape.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact::ipc {

struct FeaturePair {
    int a = 0, b = 0;
};

struct CandidateList {
    std::vector<FeaturePair> vertex_face, face_vertex, edge_edge;
    std::vector<FeaturePair> triangles;  ///< that may cross
    Pose b_in_a;                         ///< where it was made
    double margin = -1.0;                ///< negative: never made

    /// Finds the list anew if needed.
    void update(const Shape& a, const Shape& b, const Pose& b_in_a_now, double range);
};

/// Whether two triangles meet; `b_in_a`: frames of the trees.
[[nodiscard]] bool any_crossing(const Shape& a, const Shape& b, const Pose& b_in_a,
                                const std::vector<FeaturePair>& triangles);

}  // namespace farfield::contact::ipc
