// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "farfield/base/index.hpp"
#include "farfield/contact/longrange/separating_direction.hpp"

namespace farfield::contact::longrange {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double sigma(int k) { return k < 3 ? 1.0 : -1.0; }

using Slacks = std::array<double, 6>;

Slacks slacks(const TrianglePair& x, const Plane& plane, double sweep) {
    Slacks s;
    const double shift = sweep * plane.normal.norm();
    for (int k = 0; k < 6; ++k) {
        s[at(k)] = sigma(k) * (plane.normal.dot(x.col(k)) + plane.offset);
        if (k >= 3) s[at(k)] -= shift;
    }
    return s;
}

// y of the file comment: where the swept triangles touch planes of this normal.
TrianglePair surface_points(const TrianglePair& x, const Vector3d& normal, double sweep) {
    TrianglePair y = x;
    if (sweep > 0.0) y.rightCols<3>().colwise() += (sweep / normal.norm()) * normal;
    return y;
}

// sweep/N sum_B 1/s^2, the curvature of the swept surface in the Hessian by n.
double sweep_curvature(const Slacks& s, const Plane& plane, double sweep) {
    double squares = 0.0;
    for (std::size_t k = 3; k < 6; ++k) squares += 1.0 / (s[k] * s[k]);
    return sweep / plane.normal.norm() * squares;
}

double energy(const Plane& plane, const Slacks& s) {
    const double length = plane.normal.norm();
    if (!(length < 1.0) || !(*std::min_element(s.begin(), s.end()) > 0.0)) return kInfinity;
    double value = 12.0 / (1.0 - length);
    for (const double slack : s) value += 1.0 / slack;
    return value;
}

double largest_radius(const TrianglePair& x) { return std::sqrt(x.colwise().squaredNorm().maxCoeff()); }

bool is_feasible(const TrianglePair& x, const Plane& plane, double sweep, double touch) {
    const double length = plane.normal.norm();
    if (!(length < 1.0) || !(length > 0.0)) return false;
    for (const double s : slacks(x, plane, sweep)) {
        if (!(s > touch * length)) return false;
    }
    return true;
}

// Best plane orthogonal to `direction`, midway in the gap: N = 1/(1 + sqrt(12/Q)) minimises over the magnitude and
// gives L = (sqrt 12 + sqrt Q)^2 with Q = sum 1/(sigma (u.x + d')). Infinite when the direction does not separate.
PairSolution start_from(const TrianglePair& x, const Vector3d& direction, double sweep, double touch) {
    PairSolution start;
    const double length = direction.norm();
    if (!(length > 0.0) || !std::isfinite(length)) return start;
    const Vector3d u = direction / length;
    Eigen::Matrix<double, 6, 1> h = x.transpose() * u;
    h.tail<3>().array() += sweep;
    const double low = h.head<3>().minCoeff(), high = h.tail<3>().maxCoeff();
    if (!(low - high > 2.0 * touch)) return start;
    const double middle = 0.5 * (low + high);
    double q = 0.0;
    for (int k = 0; k < 6; ++k) q += 1.0 / (sigma(k) * (h[k] - middle));
    const double magnitude = 1.0 / (1.0 + std::sqrt(12.0 / q));
    start.plane = {magnitude * u, -magnitude * middle};
    start.value = std::pow(std::sqrt(12.0) + std::sqrt(q), 2);
    return start;
}

PairSolution cold_start(const TrianglePair& x, double sweep, double touch) {
    const Vector3d centroids = x.leftCols<3>().rowwise().mean() - x.rightCols<3>().rowwise().mean();
    const PairSolution first = start_from(x, centroids, sweep, touch);
    const PairSolution second = start_from(x, closest_point_direction(x), sweep, touch);
    if (std::isfinite(first.value) || std::isfinite(second.value)) return first.value < second.value ? first : second;
    return start_from(x, best_separating_axis(x).direction, sweep, touch);
}

// Newton system of the plane. d is eliminated by the parallel-axis rule: about the weighted mean m = sum x/s^3 / sum
// 1/s^3 the Hessian by (n, d + n.m) is block diagonal, so that no large numbers are subtracted in a small gap:
//     H_nn = a I + b n n^T + sum 2 y y^T / s^3,   y = x - m,   H_dd = sum 2/s^3.      H_nn = L D L^T.
class PlaneSystem {
 public:
    PlaneSystem(const TrianglePair& cores, const Plane& plane, const Slacks& s, double sweep) {
        const TrianglePair x = surface_points(cores, plane.normal, sweep);
        const Vector3d& n = plane.normal;
        const double length = n.norm(), w = 1.0 / (1.0 - length), a = 12.0 * w * w / length;
        std::array<double, 6> r2, r3;
        double total = 0.0;
        mean_.setZero();
        gradient_d_ = 0.0;
        for (int k = 0; k < 6; ++k) {
            const double r = 1.0 / s[at(k)];
            r2[at(k)] = r * r;
            r3[at(k)] = 2.0 * r * r2[at(k)];
            total += r3[at(k)];
            mean_ += r3[at(k)] * x.col(k);
            gradient_d_ -= sigma(k) * r2[at(k)];
        }
        inverse_d_ = 1.0 / total;
        mean_ *= inverse_d_;
        gradient_ = a * n;
        const double round = sweep_curvature(s, plane, sweep);
        const double b = (24.0 * w * w * w - a - round) / (length * length), c = a + round;
        double xx = c + b * n[0] * n[0], xy = b * n[0] * n[1], xz = b * n[0] * n[2];
        double yy = c + b * n[1] * n[1], yz = b * n[1] * n[2], zz = c + b * n[2] * n[2];
        for (int k = 0; k < 6; ++k) {
            const Vector3d y = x.col(k) - mean_, v = r3[at(k)] * y;
            gradient_ -= (sigma(k) * r2[at(k)]) * y;
            xx += v[0] * y[0], xy += v[0] * y[1], xz += v[0] * y[2];
            yy += v[1] * y[1], yz += v[1] * y[2], zz += v[2] * y[2];
        }
        inverse_[0] = 1.0 / xx;
        l10_ = xy * inverse_[0], l20_ = xz * inverse_[0];
        inverse_[1] = 1.0 / (yy - l10_ * xy);
        const double rest = yz - l20_ * xy;
        l21_ = rest * inverse_[1];
        inverse_[2] = 1.0 / (zz - l20_ * xz - l21_ * rest);
    }

    // H^-1 applied to a right-hand side in (n, d).
    [[nodiscard]] Vector4d solve(const Vector4d& b) const { return solve_shifted(b.head<3>() - b[3] * mean_, b[3]); }
    // -H^-1 gradient, and lambda^2.
    [[nodiscard]] Vector4d newton_step() const { return -solve_shifted(gradient_, gradient_d_); }
    [[nodiscard]] double decrement(const Vector4d& step) const {
        return -(gradient_.dot(step.head<3>()) - gradient_d_ * gradient_d_ * inverse_d_);
    }

 private:
    // Right-hand side already by (n, d + n.m); the solution is returned in (n, d).
    [[nodiscard]] Vector4d solve_shifted(const Vector3d& b, double b_d) const {
        const double v1 = b[1] - l10_ * b[0], v2 = b[2] - l20_ * b[0] - l21_ * v1;
        Vector4d y;
        y[2] = v2 * inverse_[2];
        y[1] = v1 * inverse_[1] - l21_ * y[2];
        y[0] = b[0] * inverse_[0] - l10_ * y[1] - l20_ * y[2];
        y[3] = b_d * inverse_d_ - mean_.dot(y.head<3>());
        return y;
    }

    Vector3d mean_, gradient_, inverse_;
    double gradient_d_, inverse_d_, l10_, l20_, l21_;
};

// Change of the slacks along a step of the plane, to first order.
Slacks slack_change(const TrianglePair& cores, const Plane& plane, double sweep, const Vector4d& step) {
    const TrianglePair x = surface_points(cores, plane.normal, sweep);
    Slacks ds;
    for (int k = 0; k < 6; ++k) ds[at(k)] = sigma(k) * (step.head<3>().dot(x.col(k)) + step[3]);
    return ds;
}

// sweep (|n + t dn| - |n| - t n.dn/|n|): what swept slacks of B lose beside that. Written without cancellation.
double slack_bend(const Plane& plane, const Vector4d& step, double t, double sweep) {
    const Vector3d& n = plane.normal;
    const Vector3d dn = step.head<3>();
    const double length = n.norm(), along = n.dot(dn) / length;
    const double across = std::max(0.0, dn.squaredNorm() - along * along);
    return sweep * t * t * across / std::max((n + t * dn).norm() + length + t * along, 1e-300);
}

// Largest t with positive slacks and |n + t dn| <= 1, times kStepCap, at most 1.
double capped_step(const Plane& plane, const Slacks& s, const Vector4d& step, const Slacks& ds) {
    double largest_ratio = 0.0;
    for (size_t k = 0; k < 6; ++k) largest_ratio = std::max(largest_ratio, -ds[k] / s[k]);
    const Vector3d dn = step.head<3>();
    const double a = dn.squaredNorm(), b = plane.normal.dot(dn), c = 1.0 - plane.normal.squaredNorm();
    const double t_norm = c / std::max(b + std::sqrt(b * b + a * c), 1e-300);  // positive root of a t^2 + 2 b t = c
    return std::min({1.0, kStepCap / std::max(largest_ratio, 1e-300), kStepCap * t_norm});
}

Plane moved(const Plane& plane, const Vector4d& step, double t) {
    return {plane.normal + t * step.head<3>(), plane.offset + t * step[3]};
}

// Slacks are carried along: recomputed from n and d they would lose max|x|/s digits again in every iteration.
Slacks moved(const Slacks& s, const Slacks& ds, double t, double bend) {
    Slacks out;
    for (size_t k = 0; k < 6; ++k) out[k] = s[k] + t * ds[k] - (k < 3 ? 0.0 : bend);
    return out;
}

}  // namespace

Eigen::Vector3d pair_origin(const TrianglePair& x) { return x.rowwise().mean(); }

double plane_energy(const TrianglePair& x, const Plane& plane, double sweep) {
    return energy(plane, slacks(x, plane, sweep));
}

double plane_gap(const TrianglePair& x, const Plane& plane, double sweep) {
    const auto s = slacks(x, plane, sweep);
    return (std::min({s[0], s[1], s[2]}) + std::min({s[3], s[4], s[5]})) / plane.normal.norm();
}

PlaneDerivatives plane_derivatives(const TrianglePair& cores, const Plane& plane, double sweep) {
    const TrianglePair x = surface_points(cores, plane.normal, sweep);
    const Vector3d& n = plane.normal;
    const double length = n.norm(), w = 1.0 / (1.0 - length), a = 12.0 * w * w / length;
    PlaneDerivatives out{Vector4d::Zero(), Matrix4d::Zero()};
    out.gradient.head<3>() = a * n;
    out.hessian.topLeftCorner<3, 3>() =
        a * Matrix3d::Identity() + (24.0 * w * w * w - a) / (length * length) * n * n.transpose();
    const auto s = slacks(cores, plane, sweep);
    const double round = sweep_curvature(s, plane, sweep);
    out.hessian.topLeftCorner<3, 3>() += round * (Matrix3d::Identity() - n * n.transpose() / (length * length));
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[at(k)];
        const Vector4d y(x(0, k), x(1, k), x(2, k), 1.0);
        out.gradient -= sigma(k) * r * r * y;
        out.hessian += 2.0 * r * r * r * y * y.transpose();
    }
    return out;
}

double newton_decrement(const TrianglePair& x, const Plane& plane, double sweep) {
    const PlaneSystem system(x, plane, slacks(x, plane, sweep), sweep);
    return system.decrement(system.newton_step());
}

PairSolution solve_pair(const TrianglePair& x, const Plane* warm, double tolerance, double sweep) {
    const double radius = largest_radius(x) + sweep, touch = 0.5 * kTouchNoise * radius;
    PairSolution now;
    if (warm != nullptr && is_feasible(x, *warm, sweep, touch)) {
        now.plane = *warm;
        now.cold = false;
    } else {
        now = cold_start(x, sweep, touch);
        if (!std::isfinite(now.value)) return now;
    }
    Slacks s = slacks(x, now.plane, sweep);
    now.value = energy(now.plane, s);
    while (now.iterations < kMaxPairIterations) {
        ++now.iterations;
        const PlaneSystem system(x, now.plane, s, sweep);
        const Vector4d step = system.newton_step();
        const double decrement = system.decrement(step);
        double squares = 0.0;
        for (const double slack : s) squares += 1.0 / (slack * slack);
        const double noise = kEnergyNoise * radius * squares;
        const bool done = decrement <= tolerance * now.value + noise;  // the step already computed is still taken
        const Slacks ds = slack_change(x, now.plane, sweep, step);
        double t = capped_step(now.plane, s, step, ds);
        for (int halving = 0;; ++halving, t *= 0.5) {
            const Plane trial = moved(now.plane, step, t);
            const Slacks trial_slacks = moved(s, ds, t, slack_bend(now.plane, step, t, sweep));
            const double value = energy(trial, trial_slacks);
            if (done || value <= now.value - kArmijo * t * decrement + noise || halving == kMaxHalvings) {
                if (std::isfinite(value)) now.plane = trial, now.value = value, s = trial_slacks;
                break;
            }
        }
        if (done) break;
    }
    return now;
}

LeafDerivatives leaf_derivatives(const TrianglePair& x, const TrianglePair& arms, const Plane& plane, double sweep) {
    const Vector3d& n = plane.normal;
    LeafDerivatives out;
    out.value = plane_energy(x, plane, sweep);
    out.force.setZero();
    out.moment_a.setZero();
    out.moment_b.setZero();
    out.material.setZero();
    Eigen::Matrix<double, 6, 4> c6 = Eigen::Matrix<double, 6, 4>::Zero();
    const auto s = slacks(x, plane, sweep);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[at(k)], r2 = r * r, r3 = 2.0 * r2 * r;
        const Vector3d arm = arms.col(k);
        if (k >= 3) {
            out.moment_b += r2 * n * arm.transpose();
            continue;
        }
        out.force -= r2 * n;
        out.moment_a -= r2 * n * arm.transpose();
        Eigen::Matrix<double, 6, 1> q;
        q << n, arm.cross(n);
        out.material += r3 * q * q.transpose();
        Eigen::Matrix<double, 3, 4> c;  // d2L / dx_k d(n, d)
        c << -r2 * Matrix3d::Identity() + r3 * n * x.col(k).transpose(), r3 * n;
        c6.topRows<3>() += c;
        for (int j = 0; j < 4; ++j) c6.col(j).tail<3>() += arm.cross(c.col(j));
    }
    const PlaneSystem system(x, plane, s, sweep);
    Eigen::Matrix<double, 4, 6> solved;
    for (int j = 0; j < 6; ++j) solved.col(j) = system.solve(c6.row(j).transpose());
    out.material -= c6 * solved;
    out.material = (0.5 * (out.material + out.material.transpose())).eval();
    const Matrix3d& g = out.moment_a;
    out.gradient << out.force, g(2, 1) - g(1, 2), g(0, 2) - g(2, 0), g(1, 0) - g(0, 1);
    return out;
}

Eigen::Matrix<double, 18, 1> pair_gradient(const TrianglePair& x, const Plane& plane, double sweep) {
    Eigen::Matrix<double, 18, 1> gradient;
    const auto s = slacks(x, plane, sweep);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[at(k)];
        gradient.segment<3>(3 * k) = -sigma(k) * r * r * plane.normal;
    }
    return gradient;
}

Eigen::Matrix<double, 18, 18> pair_hessian(const TrianglePair& x, const Plane& plane, double sweep) {
    const TrianglePair y = surface_points(x, plane.normal, sweep);
    const Vector3d& n = plane.normal;
    Eigen::Matrix<double, 18, 18> hessian = Eigen::Matrix<double, 18, 18>::Zero();
    Eigen::Matrix<double, 18, 4> c;
    const auto s = slacks(x, plane, sweep);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[at(k)], r2 = r * r, r3 = 2.0 * r2 * r;
        hessian.block<3, 3>(3 * k, 3 * k) = r3 * n * n.transpose();
        c.block<3, 4>(3 * k, 0) << -sigma(k) * r2 * Matrix3d::Identity() + r3 * n * y.col(k).transpose(), r3 * n;
    }
    const PlaneSystem system(x, plane, s, sweep);
    Eigen::Matrix<double, 4, 18> solved;
    for (int j = 0; j < 18; ++j) solved.col(j) = system.solve(c.row(j).transpose());
    hessian -= c.lazyProduct(solved);
    return 0.5 * (hessian + hessian.transpose());
}

}  // namespace farfield::contact::longrange
