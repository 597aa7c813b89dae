// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_lanes.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "farfield/base/error.hpp"

// Per-target bodies. AVX3_DL brings nothing to this arithmetic over AVX3; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/longrange/pair_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/contact/longrange/pair_derivatives-inl.hpp"
#include "farfield/contact/longrange/pair_newton-inl.hpp"
#include "farfield/contact/longrange/pair_start-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

// Two vectors at a time hide the latency of divisions; eight lanes fill the chunk alone.
using Group = std::conditional_t<(kLanes < kChunkPairs), Wide, Real>;

/// Bit i: lane i has been solved. Bit 8 + i: it has not, but its plane separates or leads to the solution.
unsigned solve_warm(PairChunk* chunk, double tolerance) {
    unsigned result = 0;
    for (size_t lane = 0; lane < kChunkPairs; lane += Group::kWidth) {
        const unsigned group = (1u << Group::kWidth) - 1u, state = solve_warm_group<Group>(*chunk, lane, tolerance);
        result |= state == ~0u ? group << lane : (state & group) << (kChunkPairs + lane);
    }
    return result;
}

void solve_cold(PairChunk* chunk, double tolerance) {
    for (size_t lane = 0; lane < kChunkPairs; lane += Group::kWidth) solve_cold_group<Group>(*chunk, lane, tolerance);
}

/// Adds pairs begin <= i < end, weights[0] being that of pair `begin`, and reduces the lanes in order.
void accumulate(PairChunk* chunks, size_t begin, size_t end, const double* weights, double* totals) {
    using R = Real;
    LaneSums<R> sums;
    for (R& v : sums.v) v = R::set(0.0);
    for (size_t c = begin / kChunkPairs; c * kChunkPairs < end; ++c) {
        alignas(64) double in_range[kChunkPairs], weight[kChunkPairs];
        for (size_t lane = 0; lane < kChunkPairs; ++lane) {
            const size_t i = c * kChunkPairs + lane;
            const bool inside = i >= begin && i < end;
            in_range[lane] = inside ? 1.0 : 0.0;
            weight[lane] = inside ? weights[i - begin] : 0.0;
        }
        for (size_t lane = 0; lane < kChunkPairs && c * kChunkPairs + lane < end; lane += R::kWidth) {
            accumulate_group<R>(chunks[c], lane, in_range, weight, sums);
        }
    }
    alignas(64) double lanes[R::kWidth];
    for (size_t i = 0; i < kNumSums; ++i) {
        sums.v[i].store(lanes);
        for (const double v : lanes) totals[i] += v;
    }
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::longrange {

HWY_EXPORT(solve_warm);
HWY_EXPORT(solve_cold);
HWY_EXPORT(accumulate);

namespace {

void copy_lane(const PairChunk& from, size_t from_lane, PairChunk& to, size_t to_lane) {
    for (size_t row = 0; row < 18; ++row) to.arms[row][to_lane] = from.arms[row][from_lane];
    for (size_t row = 0; row < 2; ++row) to.radius[row][to_lane] = from.radius[row][from_lane];
    for (size_t row = 0; row < 4; ++row) to.plane[row][to_lane] = from.plane[row][from_lane];
}

// What solve_warm() says of a lane.
constexpr unsigned kEverything = (1u << kChunkPairs) - 1u;
bool is_solved(unsigned state, size_t lane) { return (state >> lane & 1u) != 0; }
bool separates(unsigned state, size_t lane) { return (state >> (kChunkPairs + lane) & 1u) != 0; }

/// Up to eight pairs gathered from all over the batch, solved together and put back.
class Queue {
 public:
    /// `cold`: takes those whose plane does not lead to the solution; null: this one starts from scratch.
    Queue(PairChunk* chunks, double tolerance, Queue* cold) : chunks_(chunks), tolerance_(tolerance), cold_(cold) {}

    void push(size_t pair) {
        copy_lane(chunks_[pair / kChunkPairs], pair % kChunkPairs, scratch_, count_);
        pairs_[count_++] = pair;
        if (count_ == kChunkPairs) flush();
    }

    void flush() {
        while (count_ > 0) {
            for (size_t lane = count_; lane < kChunkPairs; ++lane) copy_lane(scratch_, count_ - 1, scratch_, lane);
            unsigned state = kEverything;
            if (cold_) {
                state = HWY_DYNAMIC_DISPATCH(solve_warm)(&scratch_, tolerance_);
            } else {
                HWY_DYNAMIC_DISPATCH(solve_cold)(&scratch_, tolerance_);
            }
            const size_t count = std::exchange(count_, 0);
            const std::array<size_t, kChunkPairs> pairs = pairs_;
            for (size_t lane = 0; lane < count; ++lane) {
                if (is_solved(state, lane)) put_back(lane);
            }
            for (size_t lane = 0; lane < count; ++lane) {
                if (!is_solved(state, lane)) (separates(state, lane) ? *this : *cold_).push(pairs[lane]);
            }
        }
    }

 private:
    void put_back(size_t lane) {
        PairChunk& to = chunks_[pairs_[lane] / kChunkPairs];
        const size_t i = pairs_[lane] % kChunkPairs;
        for (size_t row = 0; row < 4; ++row) to.plane[row][i] = scratch_.plane[row][lane];
        to.value[i] = scratch_.value[lane];
        to.gap[i] = scratch_.gap[lane];
        to.iterations[i] = scratch_.iterations[lane];
        if (to.value[i] == std::numeric_limits<double>::infinity()) last_resort(to, i);
    }

    // Neither the centroid nor the closest-point direction separates: the triangles touch, unless the scalar solver's
    // search over all separating axes still finds one (closest points lost to rounding).
    void last_resort(PairChunk& chunk, size_t lane) const {
        TrianglePair x;
        for (int k = 0; k < 6; ++k) {
            for (int c = 0; c < 3; ++c) x(c, k) = chunk.arms[3 * k + c][lane];
        }
        x.colwise() -= pair_origin(x);
        const double sweep = chunk.radius[0][lane];
        const PairSolution solution = solve_pair(x, nullptr, tolerance_, sweep);
        if (solution.value == std::numeric_limits<double>::infinity()) return;
        const SlackPlane plane = slack_plane(x, solution.plane);
        for (int c = 0; c < 3; ++c) chunk.plane[c][lane] = plane.normal[c];
        chunk.plane[3][lane] = plane.slack;
        chunk.value[lane] = solution.value;
        chunk.gap[lane] = plane_gap(x, solution.plane, sweep);
        chunk.iterations[lane] = solution.iterations;
    }

    PairChunk* chunks_;
    double tolerance_;
    Queue* cold_;
    size_t count_ = 0;
    std::array<size_t, kChunkPairs> pairs_{};
    PairChunk scratch_;
};

}  // namespace

SlackPlane slack_plane(const TrianglePair& x, const Plane& plane) {
    return {plane.normal, plane.normal.dot(x.col(0)) + plane.offset};
}

Plane local_plane(const TrianglePair& x, const SlackPlane& plane) {
    return {plane.normal, plane.slack - plane.normal.dot(x.col(0))};
}

size_t PairBatch::add(const TrianglePair& arms, const SlackPlane& warm, const PairRadii& radii) {
    if (size_ == chunks_.size() * kChunkPairs) chunks_.emplace_back();
    PairChunk& to = chunks_[size_ / kChunkPairs];
    const size_t lane = size_ % kChunkPairs;
    for (int k = 0; k < 6; ++k) {
        for (int c = 0; c < 3; ++c) to.arms[3 * k + c][lane] = arms(c, k);
    }
    for (int c = 0; c < 3; ++c) to.plane[c][lane] = warm.normal[c];
    to.plane[3][lane] = warm.slack;
    to.radius[0][lane] = radii.sum();
    to.radius[1][lane] = radii.a;
    return size_++;
}

SlackPlane PairBatch::plane(size_t i) const {
    const auto& rows = chunk(i).plane;
    const size_t lane = i % kChunkPairs;
    return {{rows[0][lane], rows[1][lane], rows[2][lane]}, rows[3][lane]};
}

TrianglePair PairBatch::arms(size_t i) const {
    TrianglePair out;
    for (int k = 0; k < 6; ++k) {
        for (int c = 0; c < 3; ++c) out(c, k) = chunk(i).arms[3 * k + c][i % kChunkPairs];
    }
    return out;
}

PairRadii PairBatch::radii(size_t i) const {
    const auto& rows = chunk(i).radius;
    const size_t lane = i % kChunkPairs;
    return {rows[1][lane], rows[0][lane] - rows[1][lane]};
}

Eigen::Matrix<double, 6, 1> PairBatch::gradient(size_t i) const {
    Eigen::Matrix<double, 6, 1> out;
    for (int c = 0; c < 6; ++c) out[c] = chunk(i).gradient[c][i % kChunkPairs];
    return out;
}

void solve_pairs(PairBatch& batch, double tolerance) {
    const size_t size = batch.size();
    PairChunk* chunks = batch.chunks();
    if (size % kChunkPairs != 0) {
        PairChunk& last = chunks[size / kChunkPairs];
        const size_t used = size % kChunkPairs;
        for (size_t lane = used; lane < kChunkPairs; ++lane) copy_lane(last, used - 1, last, lane);
    }
    Queue cold(chunks, tolerance, nullptr), warm(chunks, tolerance, &cold);
    for (size_t c = 0; c < batch.num_chunks(); ++c) {
        const unsigned state = HWY_DYNAMIC_DISPATCH(solve_warm)(&chunks[c], tolerance);
        if ((state & kEverything) == kEverything) continue;
        for (size_t lane = 0; lane < kChunkPairs && c * kChunkPairs + lane < size; ++lane) {
            if (!is_solved(state, lane)) (separates(state, lane) ? warm : cold).push(c * kChunkPairs + lane);
        }
    }
    warm.flush();
    cold.flush();
}

void accumulate_pairs(PairBatch& batch, size_t begin, size_t end, const double* weights, PairSums& sums) {
    FARFIELD_ASSERT(begin <= end && end <= batch.size());
    std::array<double, 3 + 9 + 9 + 21> totals{};
    HWY_DYNAMIC_DISPATCH(accumulate)(batch.chunks(), begin, end, weights, totals.data());
    for (int i = 0; i < 3; ++i) {
        sums.force[i] += totals[static_cast<size_t>(i)];
        for (int j = 0; j < 3; ++j) {
            sums.moment_a(i, j) += totals[static_cast<size_t>(3 + 3 * i + j)];
            sums.moment_b(i, j) += totals[static_cast<size_t>(12 + 3 * i + j)];
        }
    }
    size_t entry = 21;
    for (int i = 0; i < 6; ++i) {
        for (int j = i; j < 6; ++j, ++entry) {
            sums.material(i, j) += totals[entry];
            if (i != j) sums.material(j, i) += totals[entry];
        }
    }
}

}  // namespace farfield::contact::longrange
#endif  // HWY_ONCE
