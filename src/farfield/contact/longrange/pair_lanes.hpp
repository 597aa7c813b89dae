// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The separating-plane potential for many triangle pairs at once, in SIMD lanes chosen at run time.
///
/// Same problem and conventions as pair_potential.hpp; values agree with it to rounding. A pair's bits depend on its
/// own input and the SIMD target only, never on its neighbours: converged lanes are frozen, and all arithmetic is per
/// lane.
///
/// Usage:   batch.clear(); batch.add(arms, warm) ...; solve_pairs(batch, tolerance); batch.value(i);
///          accumulate_pairs(batch, begin, end, weights, sums); batch.gradient(i)
/// Nothing allocates once the batch has reached its largest size.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "farfield/contact/longrange/pair_potential.hpp"

namespace farfield::contact::longrange {

inline constexpr size_t kChunkPairs = 8;

/// A plane that travels with triangle A: turn `normal` with the body, keep `slack` = s_0 = n . x_0 + d, the slack of
/// the first vertex of A. Free of any origin, so it is as accurate in a small gap as the gap allows. A zero normal
/// means "none".
struct SlackPlane {
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();
    double slack = 0.0;
};
[[nodiscard]] SlackPlane slack_plane(const TrianglePair& x, const Plane& plane);
[[nodiscard]] Plane local_plane(const TrianglePair& x, const SlackPlane& plane);

/// Eight pairs, structure of arrays. Row 3 k + c of `arms` is coordinate c of vertex k.
struct alignas(64) PairChunk {
    double arms[18][kChunkPairs];     ///< vertices relative to any point near both bodies
    double radius[2][kChunkPairs];    ///< of the balls that sweep A and B: their sum, and that of A
    double plane[4][kChunkPairs];     ///< in: warm (normal, slack), normal 0 = cold; out: optimal, zero when touching
    double value[kChunkPairs];        ///< P, +infinity when touching or crossing
    double gap[kChunkPairs];          ///< certified lower bound of the distance, 0 when touching
    double iterations[kChunkPairs];   ///< Newton steps; kMaxPairIterations means "not converged"
    double gradient[6][kChunkPairs];  ///< wrench (F; torque) on A about the arms' origin, by accumulate_pairs
};

/// Sums over pairs of weight times LeafDerivatives: F, GA, GB, M.
struct PairSums {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    Eigen::Matrix3d moment_a = Eigen::Matrix3d::Zero();
    Eigen::Matrix3d moment_b = Eigen::Matrix3d::Zero();
    Eigen::Matrix<double, 6, 6> material = Eigen::Matrix<double, 6, 6>::Zero();
};

/// Growing list of pairs. Storage is kept by clear(). The last chunk is padded with copies of the last pair by
/// solve_pairs.
class PairBatch {
 public:
    void clear() { size_ = 0; }
    void reserve(size_t pairs) { chunks_.resize(std::max(chunks_.size(), (pairs + kChunkPairs - 1) / kChunkPairs)); }
    [[nodiscard]] size_t size() const { return size_; }
    /// For callers that then fill whole rows: new pairs have no values yet.
    void resize(size_t pairs) {
        reserve(pairs);
        size_ = pairs;
    }

    /// Returns the index of the new pair. `arms`: vertices relative to a common point o of both bodies, formed as R X
    /// + (t - o).
    size_t add(const TrianglePair& arms, const SlackPlane& warm = {}, const PairRadii& radii = {});

    [[nodiscard]] double value(size_t i) const { return chunk(i).value[i % kChunkPairs]; }
    [[nodiscard]] double gap(size_t i) const { return chunk(i).gap[i % kChunkPairs]; }
    [[nodiscard]] int iterations(size_t i) const { return static_cast<int>(chunk(i).iterations[i % kChunkPairs]); }
    [[nodiscard]] SlackPlane plane(size_t i) const;
    [[nodiscard]] TrianglePair arms(size_t i) const;
    [[nodiscard]] PairRadii radii(size_t i) const;
    [[nodiscard]] Eigen::Matrix<double, 6, 1> gradient(size_t i) const;

    /// For callers that fill or read whole rows; size() pairs are valid.
    [[nodiscard]] PairChunk* chunks() { return chunks_.data(); }
    [[nodiscard]] const PairChunk* chunks() const { return chunks_.data(); }
    [[nodiscard]] size_t num_chunks() const { return (size_ + kChunkPairs - 1) / kChunkPairs; }

 private:
    [[nodiscard]] const PairChunk& chunk(size_t i) const { return chunks_[i / kChunkPairs]; }

    std::vector<PairChunk> chunks_;
    size_t size_ = 0;
};

/// Solves every pair, warm where the given plane separates. Chunks of warm pairs are solved in place; stray warm
/// pairs and cold pairs go through queues of their own, so that a slow cold solve never holds up warm lanes.
void solve_pairs(PairBatch& batch, double tolerance);

/// After solve_pairs: adds weights[i - begin] times the 6-D derivatives of pairs begin <= i < end to `sums`, and
/// writes the unweighted wrench of each of these pairs to gradient(i). Pairs that touch contribute nothing. Order of
/// summation depends on begin and end only.
void accumulate_pairs(PairBatch& batch, size_t begin, size_t end, const double* weights, PairSums& sums);

}  // namespace farfield::contact::longrange
