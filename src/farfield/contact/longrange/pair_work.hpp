// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One pair of bodies: what the pair recursion found, solved and summed.
///
/// Recursion:  P_IJ = S_IJ                       r <= d1
///             P_IJ = (1 - phi) S_IJ + phi C_IJ  d1 < r < d2        a band node
///             P_IJ = C_IJ                       r >= d2            a far term, children never visited
///             S_IJ = sum over child pairs, or the exact potential of two triangles
/// Weight of a term: product of (1 - phi) over the band nodes above it. Three passes: `traverse` sums far terms and emits band
/// nodes and leaves in depth-first order; `solve_leaves` minimises over the planes; `sum_*` goes bottom-up. The order is fixed and
/// all lane arithmetic independent of neighbours: same bits always on one SIMD target.
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/contact/longrange/relative_sum.hpp"
#include "farfield/contact/longrange/shape.hpp"

namespace farfield::contact::longrange {

/// Where two bodies are, seen from a point o half-way between their meshes; lengths divided by the length scale.
struct PairFrame {
    Eigen::Matrix3d rotation_a = Eigen::Matrix3d::Identity();
    Eigen::Vector3d origin_a = Eigen::Vector3d::Zero(),
                    origin_b = Eigen::Vector3d::Zero();  ///< body origins relative to o
};
/// Only differences of positions are formed, so distance from the world's origin costs no accuracy.
[[nodiscard]] PairFrame make_frame(const RotatedShape& a, const RotatedShape& b, const Eigen::Vector3d& position_a,
                                   const Eigen::Vector3d& position_b);

/// A node pair inside its band. Padded arrays are read four at a time.
struct alignas(32) BandNode {
    double dr[8] = {};           ///< derivative of r by the twist of A: e, a x e
    double sum[8] = {};          ///< gradient of S (6), then S
    double a[4] = {0, 0, 0, 1};  ///< arm of the node of A from o
    double b[4] = {0, 0, 0, 1};
    double r = 0.0;
    double weight = 1.0;                                      ///< product of (1 - phi) above this node
    double centred = 0.0;                                     ///< C
    double phi = 0.0, rest = 1.0, first = 0.0, second = 0.0;  ///< phi, 1 - phi, phi', phi''
    double slope = 0.0;                                       ///< phi C', the part of dP/dr that does not depend on S
    double curvature = 0.0;                                   ///< phi C'' + 2 phi' C', the same for d2P/dr2
    int parent = -1;                                          ///< band node above, -1 = none
};

struct LeafPair {
    int triangle_a = 0, triangle_b = 0;
    int parent = -1;
    double weight = 1.0, share = 1.0;
    std::uint64_t key = 0;
};

struct PairWork {
    std::vector<BandNode> bands;
    std::vector<LeafPair> leaves;
    RelativeSum far;  ///< far terms, summed while traversing; only the value unless derivatives are wanted
    std::size_t num_far = 0;
    PairBatch batch;              ///< the same leaves in lanes: vertices relative to o, planes, values
    std::vector<double> weights;  ///< weight * share of each leaf
    double gap = 0.0;             ///< certified lower bound of the distance, in units of the length scale

    void clear();
};

/// Planes of the last successful evaluation, normals in the frame of body A, sorted by key.
struct PlaneTable {
    struct Entry {
        std::uint64_t key = 0;
        SlackPlane plane;
    };
    std::vector<Entry> entries;
};

struct PotentialForm {
    double far_value = 0.0;  ///< 12: as printed; 0: zero offset
    bool area_weights = false;
    bool hierarchy = true;  ///< false: all pairs of triangles, no blending
};

/// What the traversal prepares. Values: band nodes are summed at once and not kept, and no gap is found.
enum class Wanted { Values, Derivatives };

void traverse(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work);

/// False when two triangles touch; then `table` is left alone.
[[nodiscard]] bool solve_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b,
                                const RotatedShape& rotated_b, const PairFrame& frame, double tolerance,
                                PlaneTable& table, PairWork& work);

/// After traverse(Values) and solve_leaves.
[[nodiscard]] double sum_values(const PotentialForm& form, const PairWork& work);

/// After traverse(Derivatives) and solve_leaves.
void sum_derivatives(const PotentialForm& form, PairWork& work, RelativeSum& sum);

}  // namespace farfield::contact::longrange
