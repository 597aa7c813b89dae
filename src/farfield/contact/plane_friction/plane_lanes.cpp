// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/plane_friction/plane_lanes.hpp"

#include <algorithm>
#include <type_traits>

#include "farfield/math/rotation.hpp"

// Per-target bodies. AVX3_DL brings nothing to this arithmetic over AVX3; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/plane_friction/plane_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/contact/plane_friction/plane_adjoint-inl.hpp"
#include "farfield/contact/plane_friction/plane_derivatives-inl.hpp"
#include "farfield/contact/plane_friction/plane_newton-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::HWY_NAMESPACE {

// Two vectors at a time hide the latency of roots and divisions; eight lanes fill the chunk alone.
using PlaneGroup = std::conditional_t<(kLanes < kChunkPlanes), Wide, Real>;

void solve_chunks(PlaneChunk* chunks, size_t count, const PlainMotion (&bodies)[2], const SlipModel& model,
                  const PlaneStop& stop) {
    for (size_t k = 0; k < count; ++k) {
        for (size_t lane = 0; lane < kChunkPlanes; lane += PlaneGroup::kWidth)
            solve_group<PlaneGroup>(chunks[k], lane, bodies, model, stop);
    }
}

void prepare_chunks(PlaneChunk* chunks, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        for (size_t lane = 0; lane < kChunkPlanes; lane += Real::kWidth) prepare_group<Real>(chunks[k], lane);
    }
}

/// Reduces the lanes in order.
void add_chunks(const PlaneChunk* chunks, size_t count, const PlainMotion (&bodies)[2], const SlipModel& model,
                Multiplier multiplier, PlaneDualChunk* duals, double* totals) {
    Real sums[kNumPlaneSums];
    for (Real& v : sums) v = Real::set(0.0);
    for (size_t k = 0; k < count; ++k) {
        for (size_t lane = 0; lane < kChunkPlanes; lane += Real::kWidth)
            add_group<Real>(chunks[k], lane, bodies, model, multiplier, duals[k], sums);
    }
    alignas(64) double lanes[Real::kWidth];
    for (size_t i = 0; i < kNumPlaneSums; ++i) {
        sums[i].store(lanes);
        for (const double v : lanes) totals[i] += v;
    }
}

void adjoint_chunks(const PlaneChunk* chunks, size_t count, const PlainMotion (&bodies)[2],
                    const double (&twists)[2][6], const SlipModel& model, PlaneAdjointChunk* out, double* totals) {
    PlainTwist plain[2];
    for (size_t body = 0; body < 2; ++body) {
        for (size_t c = 0; c < 3; ++c) plain[body].v[c] = twists[body][c], plain[body].w[c] = twists[body][3 + c];
    }
    Real sums[kNumAdjointSums];
    for (Real& v : sums) v = Real::set(0.0);
    for (size_t k = 0; k < count; ++k) {
        for (size_t lane = 0; lane < kChunkPlanes; lane += Real::kWidth)
            adjoint_group<Real>(chunks[k], lane, bodies, plain, model, out[k], sums);
    }
    alignas(64) double lanes[Real::kWidth];
    for (size_t i = 0; i < kNumAdjointSums; ++i) {
        sums[i].store(lanes);
        for (const double v : lanes) totals[i] += v;
    }
}

}  // namespace farfield::contact::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact {

HWY_EXPORT(prepare_chunks);
HWY_EXPORT(solve_chunks);
HWY_EXPORT(add_chunks);
HWY_EXPORT(adjoint_chunks);

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

PlainMotion plain(const BodyMotion& body) {
    PlainMotion out;
    for (Eigen::Index i = 0; i < 3; ++i) {
        out.origin[i] = body.origin[i];
        out.shift[i] = body.shift[i];
        for (Eigen::Index j = 0; j < 3; ++j) {
            out.turn[3 * i + j] = body.turn(i, j);
            out.change[3 * i + j] = body.turn(i, j) - (i == j ? 1.0 : 0.0);
        }
    }
    return out;
}

}  // namespace

PlaneChunk& PlaneBatch::grow() {
    ++size_;
    if (chunks_.size() < num_chunks()) {
        chunks_.resize(num_chunks());
        duals_.resize(num_chunks());
    }
    return chunks_[num_chunks() - 1];
}

std::size_t PlaneBatch::add(const Vector3d& normal, const std::array<FrictionPoint, 6>& points) {
    const std::size_t lane = size_ % kChunkPlanes;
    PlaneChunk& to = grow();
    for (Eigen::Index c = 0; c < 3; ++c) to.normal[c][lane] = normal[c];
    for (std::size_t m = 0; m < 6; ++m) {
        for (std::size_t c = 0; c < 3; ++c)
            to.position[3 * m + c][lane] = points[m].position[static_cast<Eigen::Index>(c)];
        to.load[m][lane] = points[m].load;
    }
    return size_ - 1;
}

void PlaneBatch::add(const PlaneChunk& from, std::size_t lane, double load_scale) {
    const std::size_t last = size_ % kChunkPlanes;
    PlaneChunk& to = grow();
    for (std::size_t c = 0; c < 3; ++c) to.normal[c][last] = from.normal[c][lane];
    for (std::size_t c = 0; c < 18; ++c) to.position[c][last] = from.position[c][lane];
    for (std::size_t m = 0; m < 6; ++m) to.load[m][last] = load_scale * from.load[m][lane];
}

PlaneMotion PlaneBatch::motion(std::size_t i) const {
    const PlaneChunk& from = chunk(i);
    const std::size_t lane = i % kChunkPlanes;
    return {{from.motion[0][lane], from.motion[1][lane]}, from.motion[2][lane] / from.radius[lane], iterations(i)};
}

void prepare_planes(PlaneBatch& batch) {
    for (std::size_t i = batch.size(); i < batch.num_chunks() * kChunkPlanes; ++i) {
        PlaneChunk& chunk = batch.chunks()[i / kChunkPlanes];
        const std::size_t lane = i % kChunkPlanes;
        for (auto& row : chunk.position) row[lane] = 0.0;
        for (auto& row : chunk.load) row[lane] = 0.0;
        for (std::size_t c = 0; c < 3; ++c) chunk.normal[c][lane] = c == 2 ? 1.0 : 0.0;
    }
    HWY_DYNAMIC_DISPATCH(prepare_chunks)(batch.chunks(), batch.num_chunks());
}

double solve_planes(PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                    const PlaneStop& stop) {
    const PlainMotion bodies[2] = {plain(a), plain(b)};
    HWY_DYNAMIC_DISPATCH(solve_chunks)(batch.chunks(), batch.num_chunks(), bodies, model, stop);
    double energy = 0.0;
    for (std::size_t i = 0; i < batch.size(); ++i) energy += batch.energy(i);
    return energy;
}

void add_planes(PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model, FrictionSum& sum,
                Multiplier multiplier) {
    const PlainMotion bodies[2] = {plain(a), plain(b)};
    std::array<double, 3 + 9 + 9 + 45> totals{};
    HWY_DYNAMIC_DISPATCH(add_chunks)
    (batch.chunks(), batch.num_chunks(), bodies, model, multiplier, batch.duals(), totals.data());
    const Vector3d force(totals[0], totals[1], totals[2]);
    sum.gradient.segment<3>(0) += force;
    sum.gradient.segment<3>(6) -= force;
    Eigen::Matrix<double, 9, 9> reduced;
    std::size_t entry = 21;
    for (Eigen::Index i = 0; i < 9; ++i) {
        for (Eigen::Index j = i; j < 9; ++j, ++entry) reduced(i, j) = reduced(j, i) = totals[entry] / model.dt;
    }
    Eigen::Matrix<double, 12, 9> spread =
        Eigen::Matrix<double, 12, 9>::Zero();  // from (v_a, w_a, v_b, w_b), v_b = -v_a
    spread.block<6, 6>(0, 0).setIdentity();
    spread.block<3, 3>(6, 0) = -Matrix3d::Identity();
    spread.block<3, 3>(9, 6).setIdentity();
    const Eigen::Matrix<double, 12, 9> half = spread.lazyProduct(reduced);
    sum.hessian += half.lazyProduct(spread.transpose());
    for (const Eigen::Index body : {0, 1}) {
        const Matrix3d g = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&totals[body == 0 ? 3 : 12]);
        const Eigen::Index first = 6 * body + 3;
        sum.gradient.segment<3>(first) += axial(g);
        sum.hessian.block<3, 3>(first, first) += 0.5 * (g + g.transpose()) - g.trace() * Matrix3d::Identity();
    }
}

void planes_vjp(const PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                const Vector6d& twist_a, const Vector6d& twist_b, std::vector<PlaneAdjointChunk>& out,
                PlaneAdjointSums& sums) {
    const PlainMotion bodies[2] = {plain(a), plain(b)};
    double twists[2][6];
    for (Eigen::Index i = 0; i < 6; ++i) twists[0][i] = twist_a[i], twists[1][i] = twist_b[i];
    out.resize(std::max(out.size(), batch.num_chunks()));
    std::array<double, 1 + 6 + 6> totals{};
    HWY_DYNAMIC_DISPATCH(adjoint_chunks)
    (batch.chunks(), batch.num_chunks(), bodies, twists, model, out.data(), totals.data());
    sums.phi += totals[0];
    sums.previous_a += Eigen::Map<const Vector6d>(&totals[1]);
    sums.previous_b += Eigen::Map<const Vector6d>(&totals[7]);
}

}  // namespace farfield::contact
#endif  // HWY_ONCE
