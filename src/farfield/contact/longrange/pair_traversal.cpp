// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_traversal.hpp"

#include <algorithm>
#include <limits>

// Per-target bodies; sizeless vectors cannot be members.
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "farfield/contact/longrange/pair_traversal.cpp"
#include "hwy/foreach_target.h"
// The loop over targets must come first.
#include "farfield/contact/longrange/quad-inl.hpp"

#ifndef FARFIELD_CONTACT_LONGRANGE_PAIR_TRAVERSAL_ONCE
#define FARFIELD_CONTACT_LONGRANGE_PAIR_TRAVERSAL_ONCE
namespace farfield::contact::longrange {

/// Everything the recursion reads, as plain pointers.
struct TraversalInput {
    const ChildSpheres *spheres_a, *spheres_b;
    const ChildData *data_a, *data_b;
    const std::uint64_t *path_a, *path_b;
    double origin_a[3], origin_b[3];
    double margin;  ///< eps
    double far_value;
    bool area_weights;
};

/// Sums over far terms: value, beta, beta a (3), beta U (6), beta sym(a b^T) (xx yy zz yz xz xy), (k - beta)/r^2 U U^T (lower, by columns).
inline constexpr std::size_t kFarSums = 1 + 1 + 3 + 6 + 6 + 21;
/// Sums over band nodes: value, then gradient, rows of the Hessian's rank terms, beta (a, 1), rows of beta b a^T.
struct BandTotals {
    double value = 0.0;
    double gradient[8] = {}, rows[6][8] = {}, beta[4] = {}, outer[3][4] = {};
};

}  // namespace farfield::contact::longrange
#endif

HWY_BEFORE_NAMESPACE();
namespace farfield::contact::longrange::HWY_NAMESPACE {

/// Four node pairs: a child of I with a child of J, in the order 00 01 10 11.
struct Four {
    Quad ax, ay, az, bx, by, bz, dx, dy, dz, r, d1;
};

struct FourCentred {
    Quad inverse, value, first, second;  // 1/r, C, C', C''
};

template <bool kDerivatives>
class Walk {
 public:
    Walk(const TraversalInput& in, PairWork& work)
        : in_(in), work_(work), gap_(Quad::set(std::numeric_limits<double>::infinity())) {
        for (Quad& q : sums_) q = Quad::set(0.0);
    }

    HWY_NOINLINE void expand(int i, int j, int parent, double weight) {
        const ChildData &di = in_.data_a[i], &dj = in_.data_b[j];
        const unsigned valid = (di.single ? 0x3u : 0xfu) & (dj.single ? 0x5u : 0xfu);
        Four f;
        load(i, j, f);
        const Quad d2 = fma(Quad::set(in_.margin), f.d1, f.d1);
        const unsigned outside = less_bits(f.d1, f.r) & valid, far = valid & ~less_bits(f.r, d2);
        if (outside != 0) {
            FourCentred c;
            const Quad share = shares(di, dj);
            evaluate(di, dj, f, c);
            if (far != 0) add_far(di, dj, f, c, share, far, parent, weight);
            if ((outside & ~far) != 0) {
                descend_bands(di, dj, f, c, share, valid & ~far, outside & ~far, parent, weight);
                return;
            }
        }
        for (unsigned lane = 0; lane < 4; ++lane) {
            if ((valid & ~far) >> lane & 1u) descend(di, dj, lane, parent, weight);
        }
    }

    void finish(double* totals, double* gap) {
        for (size_t k = 0; k < kFarSums; ++k) {
            double lanes[4];
            sums_[k].store(lanes);
            totals[k] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        }
        double lanes[4];
        gap_.store(lanes);
        *gap = std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
    }

 private:
    HWY_INLINE void load(int i, int j, Four& f) const {
        const ChildSpheres &a = in_.spheres_a[i], &b = in_.spheres_b[j];
        f.ax = spread_outer(a.x) + Quad::set(in_.origin_a[0]);
        f.ay = spread_outer(a.y) + Quad::set(in_.origin_a[1]);
        f.az = spread_outer(a.z) + Quad::set(in_.origin_a[2]);
        f.bx = spread_inner(b.x) + Quad::set(in_.origin_b[0]);
        f.by = spread_inner(b.y) + Quad::set(in_.origin_b[1]);
        f.bz = spread_inner(b.z) + Quad::set(in_.origin_b[2]);
        f.dx = f.ax - f.bx, f.dy = f.ay - f.by, f.dz = f.az - f.bz;
        f.r = sqrt(fma(f.dz, f.dz, fma(f.dy, f.dy, f.dx * f.dx)));
        f.d1 = spread_outer(a.radius) + spread_inner(b.radius);
    }

    HWY_INLINE Quad shares(const ChildData& di, const ChildData& dj) const {
        return in_.area_weights ? spread_outer(di.share) * spread_inner(dj.share) : Quad::set(1.0);
    }

    /// As centred() of centred.hpp; lanes inside d1 see r = 1.
    HWY_INLINE void evaluate(const ChildData& di, const ChildData& dj, const Four& f, FourCentred& c) const {
        const Quad one = Quad::set(1.0), twelve = Quad::set(12.0), r = select_less(f.d1, f.r, f.r, one);
        c.inverse = one / r;
        const Quad q2 = in_.area_weights ? one / (r + (spread_outer(di.spread) + spread_inner(dj.spread))) : c.inverse;
        const Quad q = sqrt(q2), q3 = q2 * q;
        c.value = fma(twelve * q, Quad::set(2.0) + q, Quad::set(in_.far_value));
        c.first = Quad::set(0.0) - twelve * ((one + q) * q3);
        c.second = (q3 * q2) * fma(Quad::set(24.0), q, Quad::set(18.0));
    }

    /// 1 in the lanes of `bits`, else 0.
    static HWY_INLINE Quad ones(unsigned bits) {
        alignas(32) static constexpr double table[16][4] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0},
                                                            {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
                                                            {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1},
                                                            {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1}};
        return Quad::load(table[bits]);
    }

    HWY_INLINE void add(size_t k, Quad x, Quad y) { sums_[k] = fma(x, y, sums_[k]); }

    HWY_INLINE void add_far(const ChildData& di, const ChildData& dj, const Four& f, const FourCentred& c, Quad share,
                            unsigned far, int parent, double weight) {
        const Quad mask = ones(far), m = mask * share, w = Quad::set(weight), value = m * c.value;
        add(0, w, value);
        work_.num_far += static_cast<size_t>(__builtin_popcount(far));
        if constexpr (kDerivatives) {
            const Quad infinity = Quad::set(std::numeric_limits<double>::infinity());
            const Quad clear = f.r - (spread_outer(di.tight) + spread_inner(dj.tight));
            gap_ = min(gap_, select_less(Quad::set(0.5), mask, clear, infinity));
            const Quad beta = (m * c.first) * c.inverse, kappa = fms(m, c.second, beta) * (c.inverse * c.inverse);
            const Quad u[6] = {f.dx,
                               f.dy,
                               f.dz,
                               fms(f.by, f.az, f.bz * f.ay),
                               fms(f.bz, f.ax, f.bx * f.az),
                               fms(f.bx, f.ay, f.by * f.ax)};
            if (parent >= 0) {
                double* sum = work_.bands[static_cast<size_t>(parent)].sum;
                const Quad low = sum_each(beta * u[0], beta * u[1], beta * u[2], beta * u[3]);
                const Quad high = sum_each(beta * u[4], beta * u[5], value, Quad::set(0.0));
                (Quad::load(sum) + low).store(sum);
                (Quad::load(sum + 4) + high).store(sum + 4);
            }
            const Quad wb = w * beta, wk = w * kappa, half = Quad::set(0.5) * wb;
            sums_[1] = sums_[1] + wb;
            add(2, wb, f.ax), add(3, wb, f.ay), add(4, wb, f.az);
            for (size_t k = 0; k < 6; ++k) add(5 + k, wb, u[k]);
            add(11, wb * f.ax, f.bx), add(12, wb * f.ay, f.by), add(13, wb * f.az, f.bz);
            add(14, half, fma(f.ay, f.bz, f.az * f.by));
            add(15, half, fma(f.ax, f.bz, f.az * f.bx));
            add(16, half, fma(f.ax, f.by, f.ay * f.bx));
            size_t entry = 17;
            for (size_t col = 0; col < 6; ++col) {
                const Quad scaled = wk * u[col];
                for (size_t row = col; row < 6; ++row) add(entry++, scaled, u[row]);
            }
        }
    }

    /// Lanes of `bands` are between d1 and d2, the others of `inside` within d1; all of them go on to their children.
    HWY_NOINLINE void descend_bands(const ChildData& di, const ChildData& dj, const Four& f, const FourCentred& c,
                                    Quad share, unsigned inside, unsigned bands, int parent, double weight) {
        // u, v = 1 - u, phi and its derivatives as blend() of centred.hpp
        const Quad width = Quad::set(in_.margin) * f.d1, scale = Quad::set(1.0) / width;
        const Quad u = (f.r - f.d1) * scale, v = ((f.d1 + width) - f.r) * scale;
        const auto step = [](Quad t) {
            return (t * t) * (t * fma(t, fms(Quad::set(6.0), t, Quad::set(15.0)), Quad::set(10.0)));
        };
        const Quad phi = step(u), uv = u * v, first = Quad::set(30.0) * (uv * uv) * scale;
        const Quad second = Quad::set(60.0) * uv * (v - u) * (scale * scale);
        const Quad c0 = share * c.value, c1 = share * c.first, c2 = share * c.second;
        enum {
            kAx,
            kAy,
            kAz,
            kBx,
            kBy,
            kBz,
            kEx,
            kEy,
            kEz,
            kR,
            kC,
            kPhi,
            kRest,
            kFirst,
            kSecond,
            kSlope,
            kCurvature,
            kRows
        };
        double rows[kRows][4];
        f.ax.store(rows[kAx]), f.ay.store(rows[kAy]), f.az.store(rows[kAz]);
        f.bx.store(rows[kBx]), f.by.store(rows[kBy]), f.bz.store(rows[kBz]);
        (f.dx * c.inverse).store(rows[kEx]), (f.dy * c.inverse).store(rows[kEy]), (f.dz * c.inverse).store(rows[kEz]);
        f.r.store(rows[kR]), c0.store(rows[kC]), phi.store(rows[kPhi]), step(v).store(rows[kRest]);
        first.store(rows[kFirst]), second.store(rows[kSecond]), (phi * c1).store(rows[kSlope]);
        fma(phi, c2, (first + first) * c1).store(rows[kCurvature]);
        for (unsigned lane = 0; lane < 4; ++lane) {
            if ((inside >> lane & 1u) == 0) continue;
            if ((bands >> lane & 1u) == 0) {
                descend(di, dj, lane, parent, weight);
                continue;
            }
            if constexpr (!kDerivatives) {
                band_value_ += weight * rows[kPhi][lane] * rows[kC][lane];
                descend(di, dj, lane, -1, weight * rows[kRest][lane]);
                continue;
            }
            const int index = static_cast<int>(work_.bands.size());
            work_.bands.emplace_back();
            BandNode& band = work_.bands.back();
            for (size_t k = 0; k < 3; ++k) {
                band.a[k] = rows[kAx + k][lane];
                band.b[k] = rows[kBx + k][lane];
                band.dr[k] = rows[kEx + k][lane];
            }
            for (size_t k = 0; k < 3; ++k) {
                const size_t next = k == 2 ? 0 : k + 1, last = k == 0 ? 2 : k - 1;
                band.dr[3 + k] = band.a[next] * band.dr[last] - band.a[last] * band.dr[next];
            }
            band.r = rows[kR][lane];
            band.weight = weight;
            band.centred = rows[kC][lane];
            band.phi = rows[kPhi][lane];
            band.rest = rows[kRest][lane];
            band.first = rows[kFirst][lane];
            band.second = rows[kSecond][lane];
            band.slope = rows[kSlope][lane];
            band.curvature = rows[kCurvature][lane];
            band.parent = parent;
            descend(di, dj, lane, index, weight * rows[kRest][lane]);
        }
    }

    HWY_INLINE void descend(const ChildData& di, const ChildData& dj, unsigned lane, int parent, double weight) {
        const unsigned p = lane >> 1, q = lane & 1u;
        if (di.item[p] < 0 || dj.item[q] < 0) return expand(di.node[p], dj.node[q], parent, weight);
        const int triangle_a = di.item[p], triangle_b = dj.item[q];
        const double share = in_.area_weights ? di.share[p] * dj.share[q] : 1.0;
        work_.leaves.push_back(
            {triangle_a, triangle_b, parent, weight, share, in_.path_a[triangle_a] | (in_.path_b[triangle_b] >> 1)});
    }

    const TraversalInput& in_;
    PairWork& work_;
    Quad sums_[kFarSums];
    Quad gap_;

 public:
    double band_value_ = 0.0;
};

template <bool kDerivatives>
HWY_INLINE void walk(const TraversalInput& in, int root_a, int root_b, PairWork& work, double* totals, double* gap) {
    Walk<kDerivatives> walk(in, work);
    walk.expand(root_a, root_b, -1, 1.0);
    walk.finish(totals, gap);
    totals[0] += walk.band_value_;
}

void walk_values(const TraversalInput& in, int root_a, int root_b, PairWork& work, double* totals, double* gap) {
    walk<false>(in, root_a, root_b, work, totals, gap);
}
void walk_derivatives(const TraversalInput& in, int root_a, int root_b, PairWork& work, double* totals, double* gap) {
    walk<true>(in, root_a, root_b, work, totals, gap);
}

void sum_bands(BandNode* bands, size_t count, BandTotals& totals) {
    Quad gradient[2], rows[6][2], outer[3], beta_sum = Quad::set(0.0);
    for (Quad& q : gradient) q = Quad::set(0.0);
    for (Quad& q : outer) q = Quad::set(0.0);
    for (auto& row : rows) row[0] = row[1] = Quad::set(0.0);
    for (size_t k = count; k-- > 0;) {  // children come after their parent
        const BandNode& band = bands[k];
        const double excess = band.centred - band.sum[6];
        const double slope = band.slope + band.first * excess, curvature = band.curvature + band.second * excess;
        const Quad dr[2] = {Quad::load(band.dr), Quad::load(band.dr + 4)},
                   g[2] = {Quad::load(band.sum), Quad::load(band.sum + 4)};
        if (band.parent >= 0) {
            double* up = bands[band.parent].sum;
            for (size_t h = 0; h < 2; ++h) {
                const Quad own = fma(Quad::set(band.rest), g[h], Quad::set(slope) * dr[h]);
                (Quad::load(up + 4 * h) + own).store(up + 4 * h);
            }
            up[6] += band.phi * band.centred;
        }
        const double ws = band.weight * slope, beta = ws / band.r, kappa = band.weight * curvature - beta;
        totals.value += band.weight * band.phi * band.centred;
        // kappa dr dr^T - W phi' (dr g^T + g dr^T) = dr t^T + t dr^T,  t = kappa/2 dr - W phi' g
        double t[8];
        Quad tq[2];
        for (size_t h = 0; h < 2; ++h) {
            gradient[h] = fma(Quad::set(ws), dr[h], gradient[h]);
            tq[h] = fms(Quad::set(0.5 * kappa), dr[h], Quad::set(band.weight * band.first) * g[h]);
            tq[h].store(t + 4 * h);
        }
        for (size_t i = 0; i < 6; ++i) {
            const Quad di = Quad::set(band.dr[i]), ti = Quad::set(t[i]);
            for (size_t h = 0; h < 2; ++h) rows[i][h] = fma(di, tq[h], fma(ti, dr[h], rows[i][h]));
        }
        const Quad a = Quad::load(band.a);
        beta_sum = fma(Quad::set(beta), a, beta_sum);
        for (size_t i = 0; i < 3; ++i) outer[i] = fma(Quad::set(beta * band.b[i]), a, outer[i]);
    }
    for (size_t h = 0; h < 2; ++h) gradient[h].store(totals.gradient + 4 * h);
    for (size_t i = 0; i < 6; ++i) rows[i][0].store(totals.rows[i]), rows[i][1].store(totals.rows[i] + 4);
    beta_sum.store(totals.beta);
    for (size_t i = 0; i < 3; ++i) outer[i].store(totals.outer[i]);
}

}  // namespace farfield::contact::longrange::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace farfield::contact::longrange {

HWY_EXPORT(walk_values);
HWY_EXPORT(walk_derivatives);
HWY_EXPORT(sum_bands);

namespace {

/// beta [[1, .], [[a]x, (a.b) 1 - sym(a b^T)]], lower triangle, from sums over beta.
void add_beta_terms(double beta, const double* beta_a, const Eigen::Matrix3d& beta_ab, Matrix6d& hessian) {
    for (int k = 0; k < 3; ++k) hessian(k, k) += beta;
    hessian(3, 1) -= beta_a[2], hessian(3, 2) += beta_a[1], hessian(4, 0) += beta_a[2];
    hessian(4, 2) -= beta_a[0], hessian(5, 0) -= beta_a[1], hessian(5, 1) += beta_a[0];
    const double trace = beta_ab.trace();
    for (int j = 0; j < 3; ++j) {
        hessian(3 + j, 3 + j) += trace;
        for (int i = j; i < 3; ++i) hessian(3 + i, 3 + j) -= 0.5 * (beta_ab(i, j) + beta_ab(j, i));
    }
}

void unpack_far(const double* totals, RelativeSum& far) {
    far.value += totals[0];
    for (int k = 0; k < 6; ++k) far.gradient[k] += totals[5 + k];
    Eigen::Matrix3d ab;
    ab << totals[11], totals[16], totals[15], totals[16], totals[12], totals[14], totals[15], totals[14], totals[13];
    add_beta_terms(totals[1], totals + 2, ab, far.hessian);
    std::size_t entry = 17;
    for (int col = 0; col < 6; ++col) {
        for (int row = col; row < 6; ++row) far.hessian(row, col) += totals[entry++];
    }
}

/// All pairs of leaves in the order of the recursion.
void add_all_leaves(const TraversalInput& in, int i, int j, PairWork& work) {
    const ChildData &di = in.data_a[i], &dj = in.data_b[j];
    for (int p = 0; p < (di.single ? 1 : 2); ++p) {
        for (int q = 0; q < (dj.single ? 1 : 2); ++q) {
            if (di.item[p] < 0 || dj.item[q] < 0) {
                add_all_leaves(in, di.node[p], dj.node[q], work);
                continue;
            }
            const double share = in.area_weights ? di.share[p] * dj.share[q] : 1.0;
            work.leaves.push_back(
                {di.item[p], dj.item[q], -1, 1.0, share, pair_key(in.path_a[di.item[p]], in.path_b[dj.item[q]])});
        }
    }
}

}  // namespace

void traverse(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
              const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work) {
    work.clear();
    const TraversalInput in{rotated_a.spheres.data(),
                            rotated_b.spheres.data(),
                            a.children.data(),
                            b.children.data(),
                            a.path_bits.data(),
                            b.path_bits.data(),
                            {frame.origin_a.x(), frame.origin_a.y(), frame.origin_a.z()},
                            {frame.origin_b.x(), frame.origin_b.y(), frame.origin_b.z()},
                            std::max(a.blend, b.blend),
                            form.far_value,
                            form.area_weights};
    const int root_a = a.tree.size(), root_b = b.tree.size();  // the nodes above the roots
    if (!form.hierarchy) return add_all_leaves(in, root_a, root_b, work);
    double totals[kFarSums];
    if (wanted == Wanted::Values) {
        HWY_DYNAMIC_DISPATCH(walk_values)(in, root_a, root_b, work, totals, &work.gap);
        work.far.value = totals[0];
    } else {
        HWY_DYNAMIC_DISPATCH(walk_derivatives)(in, root_a, root_b, work, totals, &work.gap);
        unpack_far(totals, work.far);
    }
}

void add_bands(std::vector<BandNode>& bands, RelativeSum& sum) {
    BandTotals totals;
    HWY_DYNAMIC_DISPATCH(sum_bands)(bands.data(), bands.size(), totals);
    sum.value += totals.value;
    for (int k = 0; k < 6; ++k) sum.gradient[k] += totals.gradient[k];
    for (int col = 0; col < 6; ++col) {
        for (int row = col; row < 6; ++row) sum.hessian(row, col) += totals.rows[row][col];
    }
    Eigen::Matrix3d ab;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) ab(i, j) = totals.outer[i][j];
    }
    add_beta_terms(totals.beta[3], totals.beta, ab, sum.hessian);
}

}  // namespace farfield::contact::longrange
#endif  // HWY_ONCE
