// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One pair of bodies: what the pair recursion found, solved and summed.
///
/// Recursion:  P_IJ = S_IJ                       r <= d1
///             P_IJ = (1 - phi) S_IJ + phi C_IJ  d1 < r < d2        a band node
///             P_IJ = C_IJ                       r >= d2            a far term, children never visited
///             S_IJ = sum over child pairs, or the exact potential of two triangles
/// Shares:     a leaf and C_IJ count h(A_I, A_J)/A_ref with h(x, y) = xy/(x + y) the parallel area, A_ref that of the smaller body.
///             Over facing surfaces they sum to the contact area, whatever the cut; a huge triangle under a small one weighs what the
///             small one does. h is concave with h(0, y) = 0, so children weigh at least as much as their node; with C at
///             r + rho_I + rho_J (rho: SphereTree::spread) this keeps S >= C. As printed all shares are 1 and rho = 0.
/// Near:       a pair of range D replaces C by (1 - psi) C, psi the same quintic step of t = r + rho_I + rho_J between D/2 and D, and a
///             leaf by (1 - psi) P with t = r - R_i - R_j. t only falls from a node to its children, so S >= C holds as before: C2, only
///             ever pushes, a barrier still (at touch t <= 0), and node pairs with r >= R_I + R_J + D are never visited.
/// Weight of a term: product of (1 - phi) over the band nodes above it. Three passes: `traverse` goes down level by level, sums far
/// terms and emits band nodes and leaves; `solve_leaves` minimises over the planes; `sum_*` goes bottom-up. The order is fixed and
/// all lane arithmetic independent of neighbours: same bits always on one SIMD target.
#include <Eigen/Dense>
#include <cstdint>
#include <limits>
#include <vector>

#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/contact/longrange/shape.hpp"
#include "farfield/contact/pairwise/relative_sum.hpp"

namespace farfield::contact::longrange {

/// The potential of one pair of bodies.
struct PotentialForm {
    double far_value = 0.0;                                  ///< 12: as printed; 0: zero offset
    bool hierarchy = true;                                   ///< false: all pairs of triangles, no blending
    double scale = 1.0;                                      ///< 1 / l0 [1/m]
    bool parallel_areas = true;                              ///< false: every leaf weighs 1
    double inverse_area = 1.0;                               ///< 1 / A_ref [1/m^2]
    double range = std::numeric_limits<double>::infinity();  ///< D of a near pair, in units of l0

    [[nodiscard]] bool near() const { return range < std::numeric_limits<double>::infinity(); }
    [[nodiscard]] double fade_start() const { return 0.5 * range; }
    [[nodiscard]] double fade_width() const { return 0.5 * range; }

    /// Of two nodes or leaves that own areas x and y: h(x, y)/A_ref, h = xy/(x + y).
    [[nodiscard]] double share(double x, double y) const {
        return parallel_areas ? x * y / (x + y) * inverse_area : 1.0;
    }
    /// Of a node or vertex above a half-space, whose area is infinite.
    [[nodiscard]] double share(double x) const { return parallel_areas ? x * inverse_area : 1.0; }
};

/// Where two bodies are, seen from a point o half-way between their meshes; lengths divided by l0.
struct PairFrame {
    Eigen::Matrix3d rotation_a = Eigen::Matrix3d::Identity();
    Eigen::Vector3d origin_a = Eigen::Vector3d::Zero(),
                    origin_b = Eigen::Vector3d::Zero();  ///< body origins relative to o
};
/// Positions divided by l0 = 1 / scale. Only their differences are formed, so distance from the world's origin costs no accuracy.
[[nodiscard]] PairFrame make_frame(const RotatedShape& a, const RotatedShape& b, const Eigen::Vector3d& position_a,
                                   const Eigen::Vector3d& position_b, double scale);

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
    /// Copies the last node into the padding, which is read four at a time and weighs nothing.
    void repeat_last();
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
    double gap = 0.0;             ///< certified lower bound of the distance, in units of l0

    // Scratch of the recursion
    NodePairs level, found, far;
    std::vector<int> slots;    ///< of the band nodes in `found`
    std::vector<double> near;  ///< d1 of the same
    std::vector<int> warm;     ///< per leaf: its plane in the table, -1 = none

    void clear();
};

/// Planes of the last successful evaluation in the order of their keys: normals in the frame of body A, then the slack.
struct PlaneTable {
    std::vector<std::uint64_t> keys;
    std::vector<Row4> planes;
};

/// What the traversal prepares. Values: band nodes are summed at once and not kept, and no gap is found.
enum class Wanted { Values, Derivatives };

void traverse(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work);

/// False when two triangles touch; then `table` is left alone.
[[nodiscard]] bool solve_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b,
                                const RotatedShape& rotated_b, const PairFrame& frame, const PotentialForm& form,
                                double tolerance, PlaneTable& table, PairWork& work);

/// After traverse(Values) and solve_leaves.
[[nodiscard]] double sum_values(const PotentialForm& form, const PairWork& work);

/// After traverse(Derivatives) and solve_leaves.
void sum_derivatives(const PotentialForm& form, PairWork& work, RelativeSum& sum);

}  // namespace farfield::contact::longrange
