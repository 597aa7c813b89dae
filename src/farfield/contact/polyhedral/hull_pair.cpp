// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/polyhedral/hull_pair.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/contact/polyhedral/cholesky4.hpp"
#include "farfield/contact/polyhedral/hull_pass.hpp"
#include "farfield/geometry/gjk.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr int kMaxIterations = 60;
constexpr int kMaxWarmIterations = 10;  // then GJK tells whether the hulls have parted
constexpr int kMaxHalvings = 60;
constexpr int kBalanceHalvings = 12;  // a start needs no more
constexpr double kArmijo = 1e-4;
constexpr double kStagnation = 1e-11;  // of Phi: below it a decrement that does not even halve is rounding
constexpr double kNothing = 1e-26;     // Phi this small is that of hulls at their range, up to rounding
constexpr double kMarginChange = 1.5;  // margins that changed by more than this ask for a new balance
constexpr double kAtRange = 1.0 - 1e-9;
constexpr double kShift = 1e-14;  // of the trace; only steers the iteration

/// The margin 1 - |n| at which one vertex on either side of a gap g is in balance: P'(eta) = g P'((1 - eta) g/2).
double balanced_margin(double gap, double s) {
    double low = 0.0, high = s;
    for (int k = 0; k < kBalanceHalvings; ++k) {
        const double eta = 0.5 * (low + high);
        const bool rising = barrier(eta, s).first > gap * barrier(0.5 * (1.0 - eta) * gap, s).first;
        (rising ? high : low) = eta;
    }
    return 0.5 * (low + high);
}

/// The sums of a pass as matrices, turned by a rotation.
void take(const PassSums& in, HullSums& out) {
    const double *a = in.first, *q = in.second;
    out.value = in.value;
    out.first << a[0], a[1], a[2], a[3];
    out.second << q[0], q[1], q[2], q[3], q[1], q[4], q[5], q[6], q[2], q[5], q[7], q[8], q[3], q[6], q[8], q[9];
}

void take_turned(const PassSums& in, const Matrix3d& r, HullSums& out) {
    const double *a = in.first, *q = in.second;
    const double s[3][3] = {{q[0], q[1], q[2]}, {q[1], q[4], q[5]}, {q[2], q[5], q[7]}};
    double half[3][3];  // R Q
    out.value = in.value;
    for (int i = 0; i < 3; ++i) {
        const double x = r(i, 0), y = r(i, 1), z = r(i, 2);
        for (int j = 0; j < 3; ++j) half[i][j] = x * s[0][j] + y * s[1][j] + z * s[2][j];
        out.first[i] = x * a[0] + y * a[1] + z * a[2];
        out.second(i, 3) = out.second(3, i) = x * q[3] + y * q[6] + z * q[8];
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j)
            out.second(i, j) = out.second(j, i) = half[i][0] * r(j, 0) + half[i][1] * r(j, 1) + half[i][2] * r(j, 2);
    }
    out.first[3] = a[3];
    out.second(3, 3) = q[9];
}

PassInput pass_input(double side, const Plane& plane, const Vector3d& centre, double s) {
    const Vector3d n = side * plane.normal;
    return {{n.x(), n.y(), n.z()}, side * plane.offset, {centre.x(), centre.y(), centre.z()}, s};
}

class PairProblem {
 public:
    PairProblem(const HullColumns& a, const HullColumns& b, const Pose& b_in_a, double s)
        : a_(a), b_(b), b_in_a_(b_in_a), s_(s) {}

    HullPairSolution solve(double tolerance, WarmPlane& warm) {
        bool done = false;
        if (!warm.cold()) {
            centre_ = warm.centre;
            out_.plane = warm.plane;
            done = start_warm(warm) && minimise(tolerance, kMaxWarmIterations);
        }
        if (!done && start_cold()) {
            (void)minimise(tolerance, kMaxIterations);
        }
        if (out_.status == PairStatus::Touching) return out_;
        finish();
        remember(warm);
        return out_;
    }

 private:
    /// Fills value, sums, gradient and Hessian at out_.plane. False when a margin is not positive.
    bool evaluate() {
        const Plane& plane = out_.plane;
        const double length = plane.normal.norm(), eta = 1.0 - length;
        const Plane seen{b_in_a_.rotation.transpose() * plane.normal, plane.offset};
        const Vector3d centre_b = b_in_a_.rotation.transpose() * (centre_ - b_in_a_.position);
        PassSums a, b;
        pass_over(a_, pass_input(-1.0, plane, centre_, s_), a);
        pass_over(b_, pass_input(1.0, seen, centre_b, s_), b);
        out_.a.lowest = a.lowest;
        out_.b.lowest = b.lowest;
        if (!(a.lowest > 0.0) || !(b.lowest > 0.0) || !(eta > 0.0)) return false;
        take(a, out_.a);
        take_turned(b, b_in_a_.rotation, out_.b);
        const BarrierTaylor p = barrier(eta, s_);
        const Vector3d unit = plane.normal / length;
        out_.value = p.value + out_.a.value + out_.b.value;
        gradient_ = out_.b.first - out_.a.first;
        gradient_.head<3>() -= p.first * unit;
        out_.hessian = out_.a.second + out_.b.second;
        out_.hessian.topLeftCorner<3, 3>() +=
            (p.second + p.first / length) * (unit * unit.transpose()) - p.first / length * Matrix3d::Identity();
        return std::isfinite(out_.value) && out_.hessian.allFinite();
    }

    [[nodiscard]] double margin_sum() const { return out_.a.lowest + out_.b.lowest; }

    /// Moves the plane so that the hulls' lowest margins share the gap as `share` says, and balances its length.
    void rebalance(double share) {
        const double length = out_.plane.normal.norm(), gap = margin_sum() / length;
        out_.plane.offset += out_.a.lowest - share * margin_sum();
        const double scale = (1.0 - balanced_margin(std::min(gap, range()), s_)) / length;
        out_.plane.normal *= scale;
        out_.plane.offset *= scale;
    }

    [[nodiscard]] double range() const { return 2.0 * s_ / (1.0 - s_); }

    bool start_warm(const WarmPlane& warm) {
        const bool clear = evaluate();
        if (!(margin_sum() > 0.0)) return false;
        const auto alike = [](double now, double before) {
            return now < kMarginChange * before && now * kMarginChange > before;
        };
        if (clear &&
            (out_.value == 0.0 || (alike(out_.a.lowest, warm.lowest_a) && alike(out_.b.lowest, warm.lowest_b))))
            return true;
        rebalance(warm.lowest_a / (warm.lowest_a + warm.lowest_b));
        return evaluate();
    }

    /// GJK: sets a feasible plane, or finds the hulls apart or touching. True when there is something to minimise.
    bool start_cold() {
        out_.searched = true;
        Gjk gjk(Vector3d(b_in_a_.position));
        GjkStatus status = GjkStatus::Searching;
        const auto farthest = [](const HullColumns& hull, const Vector3d& n) {
            int best = 0;
            (void)hull.support(n, best);
            return hull.point(best);
        };
        do {
            const Vector3d n = gjk.direction();
            status = gjk.add(farthest(a_, n), b_in_a_ * farthest(b_, -(b_in_a_.rotation.transpose() * n)));
        } while (status == GjkStatus::Searching && gjk.lower() < range());
        if (!(gjk.lower() > 0.0)) {
            out_.status = PairStatus::Touching;
            return false;
        }
        const Vector3d n = gjk.best_direction();
        const double high_a = n.dot(farthest(a_, n)),
                     low_b = n.dot(b_in_a_ * farthest(b_, -(b_in_a_.rotation.transpose() * n)));
        const double gap = low_b - high_a;
        if (!(gap > 0.0)) {
            out_.status = PairStatus::Touching;
            return false;
        }
        const bool apart = gap >= kAtRange * range();
        centre_ = 0.5 * (gjk.closest_a() + gjk.closest_b());
        const double length = apart ? 1.0 - s_ : 1.0 - balanced_margin(gap, s_);
        out_.plane = {length * n, length * (n.dot(centre_) - 0.5 * (high_a + low_b))};
        if (!evaluate()) {
            out_.status = PairStatus::Touching;
            return false;
        }
        if (apart) out_.value = 0.0;
        return !apart;
    }

    /// Newton from a feasible plane with its evaluation. False when it did not converge.
    bool minimise(double tolerance, int max_iterations) {
        double last = std::numeric_limits<double>::infinity();
        for (int iteration = 0; iteration < max_iterations; ++iteration) {
            if (out_.value <= kNothing) return true;
            const Vector4d step = -Cholesky4(out_.hessian, kShift).solve(gradient_);
            const double decrement = -gradient_.dot(step);
            if (!(decrement > tolerance * out_.value) ||
                (decrement < kStagnation * out_.value && decrement > 0.5 * last)) {
                out_.value -= 0.5 * std::max(decrement, 0.0);
                return true;
            }
            last = decrement;
            ++out_.iterations;
            if (!line_search(step, decrement)) return true;
        }
        return false;
    }

    bool line_search(const Vector4d& step, double decrement) {
        const Plane from = out_.plane;
        const double value = out_.value;
        double t = 1.0;
        for (int halving = 0; halving < kMaxHalvings; ++halving, t *= 0.5) {
            out_.plane = {from.normal + t * step.head<3>(), from.offset + t * step[3]};
            if (evaluate() && out_.value <= value - kArmijo * t * decrement + 1e-14 * value) return true;
        }
        out_.plane = from;
        (void)evaluate();
        return false;
    }

    void finish() {
        out_.centre = centre_;
        out_.gap = margin_sum() / out_.plane.normal.norm();
        out_.status = out_.value <= kNothing ? PairStatus::Apart : PairStatus::Active;
        if (out_.status == PairStatus::Apart) out_.value = 0.0;
    }

    /// The next search counts from the middle of the loaded vertices, wherever they have slid.
    void remember(WarmPlane& warm) const {
        warm = {out_.plane, centre_, out_.a.lowest, out_.b.lowest};
        if (out_.status != PairStatus::Active || !(out_.a.first[3] < 0.0) || !(out_.b.first[3] < 0.0)) return;
        const Vector3d shift =
            0.5 * (out_.a.first.head<3>() / out_.a.first[3] + out_.b.first.head<3>() / out_.b.first[3]);
        warm.centre += shift;
        warm.plane.offset += out_.plane.normal.dot(shift);
    }

    const HullColumns &a_, &b_;
    const Pose& b_in_a_;
    double s_;
    Vector3d centre_ = Vector3d::Zero();
    Vector4d gradient_ = Vector4d::Zero();
    HullPairSolution out_;
};

}  // namespace

bool add_hull(const HullColumns& hull, double side, const Plane& plane, const Vector3d& centre, double s,
              HullSums& out) {
    PassSums sums;
    pass_over(hull, pass_input(side, plane, centre, s), sums);
    out.lowest = sums.lowest;
    if (!(sums.lowest > 0.0)) return false;
    take(sums, out);
    return true;
}

HullPairSolution solve_hull_pair(const HullColumns& a, const HullColumns& b, const Pose& b_in_a, double s,
                                 double tolerance, WarmPlane& warm) {
    return PairProblem(a, b, b_in_a, s).solve(tolerance, warm);
}

}  // namespace farfield::contact::polyhedral
