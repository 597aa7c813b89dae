// SPDX-License-Identifier: Apache-2.0
#include "farfield/math/semidefinite_lanes.hpp"

#include <limits>

// Per-target bodies. AVX3_DL brings nothing to this arithmetic over AVX3; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/math/semidefinite_lanes.cpp"
#include <hwy/foreach_target.h>
// The loop over targets must come first.
#include "farfield/math/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace farfield::HWY_NAMESPACE {

namespace semidefinite {

inline constexpr int kSize = static_cast<int>(kSemidefiniteSize);
inline constexpr int kMaxChases = 40;  // per eigenvalue; two or three are usual
inline constexpr double kUnit = 2.220446049250313e-16;
inline constexpr double kNothing = 1e-30;  // beside entries of which the largest is 1

/// Columns of A: a Householder vector (first entry 1, not stored) below each subdiagonal; d and e: the diagonals; V: by columns.
struct Work {
    Real a[kSize][kSize], v[kSize][kSize], d[kSize], e[kSize], tau[kSize];
};

HWY_INLINE Real magnitude(Real x) { return max(x, Real::set(0.0) - x); }
HWY_INLINE Real with_sign_of(Real size, Real x) { return select(x < Real::set(0.0), Real::set(0.0) - size, size); }

/// A = Q T Q^T; the k-th reflection is 1 - tau v v^T.
HWY_NOINLINE void reduce(Work& w) {
    const Real zero = Real::set(0.0), one = Real::set(1.0);
    for (int k = 0; k + 2 < kSize; ++k) {
        Real* x = w.a[k];
        Real tail = zero;
        for (int i = k + 2; i < kSize; ++i) tail = fma(x[i], x[i], tail);
        const auto flat = tail <= zero;
        const Real head = x[k + 1], length = sqrt(fma(head, head, tail));
        const Real below = select(flat, head, zero - with_sign_of(length, head));
        const Real inverse = keep(zero < tail, one / select(flat, one, head - below));
        const Real tau = keep(zero < tail, (below - head) / select(flat, one, below));
        w.d[k] = x[k], w.e[k] = below, w.tau[k] = tau;
        x[k + 1] = one;
        for (int i = k + 2; i < kSize; ++i) x[i] = x[i] * inverse;
        Real p[kSize], along = zero;
        for (int i = k + 1; i < kSize; ++i) {
            Real sum = zero;
            for (int j = k + 1; j <= i; ++j) sum = fma(w.a[j][i], x[j], sum);
            for (int j = i + 1; j < kSize; ++j) sum = fma(w.a[i][j], x[j], sum);
            p[i] = tau * sum;
            along = fma(p[i], x[i], along);
        }
        const Real half = Real::set(0.5) * tau * along;
        for (int i = k + 1; i < kSize; ++i) p[i] = fnma(half, x[i], p[i]);
        for (int j = k + 1; j < kSize; ++j) {
            for (int i = j; i < kSize; ++i) w.a[j][i] = fnma(x[i], p[j], fnma(p[i], x[j], w.a[j][i]));
        }
    }
    w.d[kSize - 2] = w.a[kSize - 2][kSize - 2], w.e[kSize - 2] = w.a[kSize - 2][kSize - 1];
    w.d[kSize - 1] = w.a[kSize - 1][kSize - 1], w.e[kSize - 1] = zero;
}

/// V = Q, the reflections multiplied from the last to the first.
HWY_NOINLINE void multiply_reflections(Work& w) {
    for (int j = 0; j < kSize; ++j) {
        for (int i = 0; i < kSize; ++i) w.v[j][i] = Real::set(i == j ? 1.0 : 0.0);
    }
    for (int k = kSize - 3; k >= 0; --k) {
        const Real* x = w.a[k];
        for (int j = k + 1; j < kSize; ++j) {
            Real sum = Real::set(0.0);
            for (int i = k + 1; i < kSize; ++i) sum = fma(x[i], w.v[j][i], sum);
            sum = w.tau[k] * sum;
            for (int i = k + 1; i < kSize; ++i) w.v[j][i] = fnma(sum, x[i], w.v[j][i]);
        }
    }
}

/// One implicit QL step with Wilkinson's shift on the block of T that begins at `first`, in the lanes where it has more than one row:
/// `linked[i]` where rows first to i + 1 hang together.
HWY_NOINLINE void chase(Work& w, int first, const RealMask (&linked)[kSize]) {
    const Real zero = Real::set(0.0), one = Real::set(1.0), two = Real::set(2.0);
    const auto active = linked[first];
    const Real e0 = select(active, w.e[first], one), half = (w.d[first + 1] - w.d[first]) / (two * e0);
    const Real shift = w.d[first] - e0 / (half + with_sign_of(sqrt(fma(half, half, one)), half));
    Real g = zero, s = one, c = one, p = zero;
    for (int i = kSize - 2; i >= first; --i) {
        const auto here = linked[i];
        if (none(here)) continue;
        const auto starts = i == kSize - 2 ? here : but_not(here, linked[i + 1]);
        g = select(starts, w.d[i + 1] - shift, g);
        s = select(starts, one, s), c = select(starts, one, c), p = select(starts, zero, p);
        const Real f = s * w.e[i], b = c * w.e[i], length = sqrt(fma(f, f, g * g));
        const auto turns = here & (zero < length);
        const Real inverse = one / select(turns, length, one);
        w.e[i + 1] = select(here, keep(but_not(here, starts), length), w.e[i + 1]);
        s = keep(turns, f * inverse), c = select(turns, g * inverse, one);
        const Real lower = w.d[i + 1] - p, r = fma(w.d[i] - lower, s, two * (c * b));
        p = select(here, s * r, p);
        w.d[i + 1] = select(here, lower + p, w.d[i + 1]);
        g = fms(c, r, b);
        for (int k = 0; k < kSize; ++k) {
            const Real x = w.v[i][k], y = w.v[i + 1][k];
            w.v[i + 1][k] = fma(s, x, c * y);
            w.v[i][k] = fms(c, x, s * y);
        }
    }
    w.d[first] = select(active, w.d[first] - p, w.d[first]);
    w.e[first] = select(active, g, w.e[first]);
}

/// T = diag(d), V times its eigenvectors.
HWY_INLINE void diagonalise(Work& w) {
    const Real unit = Real::set(kUnit), nothing = Real::set(kNothing);
    for (int first = 0; first + 1 < kSize; ++first) {
        for (int chases = 0; chases < kMaxChases; ++chases) {
            RealMask linked[kSize];
            for (int i = first; i + 1 < kSize; ++i) {
                const Real least = fma(unit, magnitude(w.d[i]) + magnitude(w.d[i + 1]), nothing);
                linked[i] = least < magnitude(w.e[i]);
                if (i > first) linked[i] = linked[i] & linked[i - 1];
            }
            if (none(linked[first])) break;
            chase(w, first, linked);
        }
    }
}

HWY_INLINE void project_group(SymmetricChunk& chunk, size_t lane) {
    const Real zero = Real::set(0.0);
    Work w;
    Real largest = Real::set(std::numeric_limits<double>::min());
    for (int j = 0; j < kSize; ++j) {
        for (int i = j; i < kSize; ++i) {
            w.a[j][i] = Real::load(&chunk.entry[i][j][lane]);
            largest = max(largest, magnitude(w.a[j][i]));
        }
    }
    const Real inverse = Real::set(1.0) / largest;
    for (int j = 0; j < kSize; ++j) {
        for (int i = j; i < kSize; ++i) w.a[j][i] = w.a[j][i] * inverse;
    }
    reduce(w);
    multiply_reflections(w);
    diagonalise(w);
    for (int k = 0; k < kSize; ++k) {
        if (none(w.d[k] < zero)) continue;
        const Real added = largest * (zero - min(w.d[k], zero));
        for (int j = 0; j < kSize; ++j) {
            const Real factor = added * w.v[k][j];
            for (int i = j; i < kSize; ++i) {
                double* to = &chunk.entry[i][j][lane];
                fma(factor, w.v[k][i], Real::load(to)).store(to);
            }
        }
    }
}

}  // namespace semidefinite

void make_semidefinite(SymmetricChunk& chunk, size_t count) {
    for (size_t lane = 0; lane < count; lane += Real::kWidth) semidefinite::project_group(chunk, lane);
}

}  // namespace farfield::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield {

HWY_EXPORT(make_semidefinite);

void make_semidefinite(SymmetricChunk& matrices, std::size_t count) {
    HWY_DYNAMIC_DISPATCH(make_semidefinite)(matrices, count);
}

}  // namespace farfield
#endif  // HWY_ONCE
