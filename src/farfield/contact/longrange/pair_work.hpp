// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One pair of bodies: what the pair recursion found, solved and summed.
///
/// Recursion:  P_IJ = S_IJ                       r <= d1
///             P_IJ = (1 - phi) S_IJ + phi C_IJ  d1 < r < d2        a band node
///             P_IJ = C_IJ                       r >= d2            a far term, children never visited
///             S_IJ = sum over child pairs, or the exact potential of two triangles
/// Weight of a term: product of (1 - phi) over the band nodes above it. Three passes: `traverse` goes down level by level, sums far
/// terms and emits band nodes and leaves; `solve_leaves` minimises over the planes; `sum_*` goes bottom-up. The order is fixed and
/// all lane arithmetic independent of neighbours: same bits always on one SIMD target.
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/contact/longrange/shape.hpp"
#include "farfield/contact/pairwise/relative_sum.hpp"

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

/// A node pair inside its band, as read from BandTable.
struct BandNode {
    double dr[6] = {};                                        ///< derivative of r by the twist of A: e, a x e
    double sum[7] = {};                                       ///< gradient of S (6), then S
    double a[3] = {}, b[3] = {};                              ///< arms of both nodes from o
    double weight = 1.0;                                      ///< product of (1 - phi) above this node
    double centred = 0.0;                                     ///< C
    double phi = 0.0, rest = 1.0, first = 0.0, second = 0.0;  ///< phi, 1 - phi, phi', phi''
    int parent = -1;                                          ///< band node above, -1 = none
};

/// The band nodes of a body pair, level by level, parents first. One array per number, so that four nodes are read at once.
class BandTable {
 public:
    enum Field {
        kAx,
        kAy,
        kAz,
        kBx,
        kBy,
        kBz,
        kWeight,
        kInverse,  ///< 1 / r
        kCentred,
        kPhi,
        kRest,
        kFirst,
        kSecond,
        kSlope,      ///< phi C', the part of dP/dr that does not depend on S
        kCurvature,  ///< phi C'' + 2 phi' C', the same for d2P/dr2
        kNumFields
    };

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] BandNode operator[](std::size_t k) const;

    void clear();
    /// Room for `count` more and four of padding; the new ones start a level. Returns the index of the first.
    std::size_t begin_level(std::size_t count);
    [[nodiscard]] std::size_t num_levels() const { return levels_.size(); }
    [[nodiscard]] std::size_t level_begin(std::size_t level) const { return levels_[level]; }
    [[nodiscard]] std::size_t level_end(std::size_t level) const {
        return level + 1 < levels_.size() ? levels_[level + 1] : size_;
    }

    [[nodiscard]] double* field(Field f) { return values_.data() + capacity_ * f; }
    [[nodiscard]] const double* field(Field f) const { return values_.data() + capacity_ * f; }
    [[nodiscard]] int* parent() { return parents_.data(); }
    struct alignas(64) SumRow {
        double v[8] = {};  ///< gradient of S (6), S, padding
    };
    static constexpr int kTotal = -1, kNowhere = -2;  ///< rows of what has no band above, and of what nobody reads
    [[nodiscard]] SumRow* sums() { return sums_.data() + 2; }
    [[nodiscard]] const SumRow& total() const { return sums_[1]; }

 private:
    std::size_t size_ = 0, capacity_ = 0;
    std::vector<double> values_;
    std::vector<int> parents_;
    std::vector<SumRow> sums_{2};
    std::vector<std::size_t> levels_;
};

struct LeafPair {
    int triangle_a = 0, triangle_b = 0;
    int parent = -1;
    double weight = 1.0, share = 1.0;
    std::uint64_t key = 0;
};

/// Node pairs (node of A in the low half, of B in the high half) with the band node above them and their weight.
struct NodePairs {
    std::vector<std::uint64_t> nodes;
    std::vector<double> weight;
    std::vector<int> parent;

    void grow(std::size_t size);  ///< never shrinks
};

struct PairWork {
    BandTable bands;
    std::vector<LeafPair> leaves;
    double value = 0.0;                   ///< Wanted::Values: the far terms and the bands' centred parts
    Matrix6d hessian = Matrix6d::Zero();  ///< Wanted::Derivatives: of the far terms; lower triangle
    std::size_t num_far = 0;
    PairBatch batch;              ///< the same leaves in lanes: vertices relative to o, planes, values
    std::vector<double> weights;  ///< weight * share of each leaf
    double gap = 0.0;             ///< certified lower bound of the distance, in units of the length scale

    // Scratch of the recursion
    NodePairs level, found, far;
    std::vector<int> places;   ///< of the band nodes in `found`
    std::vector<double> near;  ///< d1 of the same
    std::vector<int> warm;     ///< per leaf: its plane in the table, -1 = none

    void clear();
};

/// Planes of the last successful evaluation in the order of their keys: normals in the frame of body A, then the slack.
struct PlaneTable {
    std::vector<std::uint64_t> keys;
    std::vector<Row4> planes;
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
