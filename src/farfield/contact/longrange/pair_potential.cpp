// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/pair_potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "farfield/contact/longrange/separating_direction.hpp"

namespace farfield::contact::longrange {
namespace {

using Eigen::Matrix3d;
using Eigen::Matrix4d;
using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 4e-15;   // noise of L per unit of max|x| sum 1/s^2
constexpr double kStepCap = 0.9;      // of the way to the boundary of the feasible set
constexpr double kArmijo = 1e-4;
constexpr int kMaxHalvings = 60;

double sigma(int k) { return k < 3 ? 1.0 : -1.0; }

std::array<double, 6> slacks(const TrianglePair& x, const Plane& plane) {
    std::array<double, 6> s;
    for (int k = 0; k < 6; ++k) s[static_cast<size_t>(k)] = sigma(k) * (plane.normal.dot(x.col(k)) + plane.offset);
    return s;
}

double largest_radius(const TrianglePair& x) { return std::sqrt(x.colwise().squaredNorm().maxCoeff()); }

bool is_feasible(const TrianglePair& x, const Plane& plane, double touch) {
    const double length = plane.normal.norm();
    if (!(length < 1.0) || !(length > 0.0)) return false;
    for (const double s : slacks(x, plane)) {
        if (!(s > touch * length)) return false;
    }
    return true;
}

// Best plane orthogonal to `direction`, midway in the gap: N = 1/(1 + sqrt(12/Q)) minimises over the magnitude and gives
// L = (sqrt 12 + sqrt Q)^2 with Q = sum 1/(sigma (u.x + d')). Infinite when the direction does not separate.
PairSolution start_from(const TrianglePair& x, const Vector3d& direction, double touch) {
    PairSolution start;
    const double length = direction.norm();
    if (!(length > 0.0) || !std::isfinite(length)) return start;
    const Vector3d u = direction / length;
    const Eigen::Matrix<double, 6, 1> h = x.transpose() * u;
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

PairSolution cold_start(const TrianglePair& x, double touch) {
    const Vector3d centroids = x.leftCols<3>().rowwise().mean() - x.rightCols<3>().rowwise().mean();
    const PairSolution first = start_from(x, centroids, touch);
    const PairSolution second = start_from(x, closest_point_direction(x), touch);
    if (std::isfinite(first.value) || std::isfinite(second.value)) return first.value < second.value ? first : second;
    return start_from(x, best_separating_axis(x).direction, touch);
}

// LDL^T of the 4x4 plane Hessian, d eliminated first: its pivot sum 2/s^3 is a sum of positive terms, free of cancellation.
class PlaneFactor {
 public:
    explicit PlaneFactor(const Matrix4d& h) {
        inverse_[3] = 1.0 / h(3, 3);
        l_ = h.col(3).head<3>() * inverse_[3];
        const Matrix3d schur = h.topLeftCorner<3, 3>() - l_ * h.col(3).head<3>().transpose();
        inverse_[0] = 1.0 / schur(0, 0);
        l10_ = schur(1, 0) * inverse_[0];
        l20_ = schur(2, 0) * inverse_[0];
        inverse_[1] = 1.0 / (schur(1, 1) - l10_ * schur(1, 0));
        const double rest = schur(2, 1) - l20_ * schur(1, 0);
        l21_ = rest * inverse_[1];
        inverse_[2] = 1.0 / (schur(2, 2) - l20_ * schur(2, 0) - l21_ * rest);
    }

    [[nodiscard]] Vector4d solve(const Vector4d& b) const {
        Vector4d y = b;
        y.head<3>() -= b[3] * l_;
        y[1] -= l10_ * y[0];
        y[2] -= l20_ * y[0] + l21_ * y[1];
        y = y.cwiseProduct(inverse_);
        y[1] -= l21_ * y[2];
        y[0] -= l10_ * y[1] + l20_ * y[2];
        y[3] -= l_.dot(y.head<3>());
        return y;
    }

 private:
    Vector4d inverse_;
    Vector3d l_;
    double l10_, l20_, l21_;
};

// Largest t with positive slacks and |n + t dn| <= 1, times kStepCap, at most 1.
double capped_step(const TrianglePair& x, const Plane& plane, const Vector4d& step) {
    const Vector3d dn = step.head<3>();
    double largest_ratio = 0.0;
    for (int k = 0; k < 6; ++k) {
        const double s = sigma(k) * (plane.normal.dot(x.col(k)) + plane.offset);
        const double ds = sigma(k) * (dn.dot(x.col(k)) + step[3]);
        largest_ratio = std::max(largest_ratio, -ds / s);
    }
    const double a = dn.squaredNorm(), b = plane.normal.dot(dn), c = 1.0 - plane.normal.squaredNorm();
    const double t_norm = c / std::max(b + std::sqrt(b * b + a * c), 1e-300);  // positive root of a t^2 + 2 b t = c
    return std::min({1.0, kStepCap / std::max(largest_ratio, 1e-300), kStepCap * t_norm});
}

Plane moved(const Plane& plane, const Vector4d& step, double t) {
    return {plane.normal + t * step.head<3>(), plane.offset + t * step[3]};
}

}  // namespace

Eigen::Vector3d pair_origin(const TrianglePair& x) { return x.rowwise().mean(); }

double plane_energy(const TrianglePair& x, const Plane& plane) {
    const double length = plane.normal.norm();
    if (!(length < 1.0)) return kInfinity;
    double value = 12.0 / (1.0 - length);
    for (const double s : slacks(x, plane)) {
        if (!(s > 0.0)) return kInfinity;
        value += 1.0 / s;
    }
    return value;
}

double plane_gap(const TrianglePair& x, const Plane& plane) {
    const auto s = slacks(x, plane);
    return (std::min({s[0], s[1], s[2]}) + std::min({s[3], s[4], s[5]})) / plane.normal.norm();
}

PlaneDerivatives plane_derivatives(const TrianglePair& x, const Plane& plane) {
    const Vector3d& n = plane.normal;
    const double length = n.norm(), w = 1.0 / (1.0 - length), a = 12.0 * w * w / length;
    PlaneDerivatives out{Vector4d::Zero(), Matrix4d::Zero()};
    out.gradient.head<3>() = a * n;
    out.hessian.topLeftCorner<3, 3>() =
        a * Matrix3d::Identity() + (24.0 * w * w * w - a) / (length * length) * n * n.transpose();
    const auto s = slacks(x, plane);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[static_cast<size_t>(k)];
        const Vector4d y(x(0, k), x(1, k), x(2, k), 1.0);
        out.gradient -= sigma(k) * r * r * y;
        out.hessian += 2.0 * r * r * r * y * y.transpose();
    }
    return out;
}

double newton_decrement(const TrianglePair& x, const Plane& plane) {
    const PlaneDerivatives d = plane_derivatives(x, plane);
    return d.gradient.dot(PlaneFactor(d.hessian).solve(d.gradient));
}

PairSolution solve_pair(const TrianglePair& x, const Plane* warm, double tolerance) {
    const double radius = largest_radius(x), touch = 0.5 * kTouchNoise * radius;
    PairSolution now;
    if (warm != nullptr && is_feasible(x, *warm, touch)) {
        now = {*warm, plane_energy(x, *warm), 0, false};
    } else {
        now = cold_start(x, touch);
        if (!std::isfinite(now.value)) return now;
        now.value = plane_energy(x, now.plane);
    }
    for (now.iterations = 1; now.iterations <= kMaxPairIterations; ++now.iterations) {
        const PlaneDerivatives d = plane_derivatives(x, now.plane);
        const Vector4d step = -PlaneFactor(d.hessian).solve(d.gradient);
        const double decrement = -d.gradient.dot(step);
        double inverse_squares = 0.0;
        for (const double s : slacks(x, now.plane)) inverse_squares += 1.0 / (s * s);
        const double noise = kRounding * radius * inverse_squares;
        double t = capped_step(x, now.plane, step);
        Plane trial = moved(now.plane, step, t);
        double value = plane_energy(x, trial);
        if (decrement <= tolerance * now.value + noise) {  // the step already computed is taken
            if (std::isfinite(value)) now.plane = trial, now.value = value;
            return now;
        }
        for (int halving = 0; !(value <= now.value - kArmijo * t * decrement + noise) && halving < kMaxHalvings; ++halving) {
            t *= 0.5;
            trial = moved(now.plane, step, t);
            value = plane_energy(x, trial);
        }
        now.plane = trial;
        now.value = value;
    }
    now.iterations = kMaxPairIterations;
    return now;
}

LeafDerivatives leaf_derivatives(const TrianglePair& x, const TrianglePair& arms, const Plane& plane) {
    const Vector3d& n = plane.normal;
    LeafDerivatives out;
    out.value = plane_energy(x, plane);
    out.force.setZero();
    out.moment_a.setZero();
    out.moment_b.setZero();
    out.material.setZero();
    Eigen::Matrix<double, 6, 4> c6 = Eigen::Matrix<double, 6, 4>::Zero();
    const auto s = slacks(x, plane);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[static_cast<size_t>(k)], r2 = r * r, r3 = 2.0 * r2 * r;
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
    const PlaneFactor factor(plane_derivatives(x, plane).hessian);
    Eigen::Matrix<double, 4, 6> solved;
    for (int j = 0; j < 6; ++j) solved.col(j) = factor.solve(c6.row(j).transpose());
    const Eigen::Matrix<double, 6, 6> plane_part = c6 * solved;
    out.material -= 0.5 * (plane_part + plane_part.transpose());
    const Matrix3d& g = out.moment_a;
    out.gradient << out.force, g(2, 1) - g(1, 2), g(0, 2) - g(2, 0), g(1, 0) - g(0, 1);
    return out;
}

Eigen::Matrix<double, 18, 1> pair_gradient(const TrianglePair& x, const Plane& plane) {
    Eigen::Matrix<double, 18, 1> gradient;
    const auto s = slacks(x, plane);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[static_cast<size_t>(k)];
        gradient.segment<3>(3 * k) = -sigma(k) * r * r * plane.normal;
    }
    return gradient;
}

Eigen::Matrix<double, 18, 18> pair_hessian(const TrianglePair& x, const Plane& plane) {
    const Vector3d& n = plane.normal;
    Eigen::Matrix<double, 18, 18> hessian = Eigen::Matrix<double, 18, 18>::Zero();
    Eigen::Matrix<double, 18, 4> c;
    const auto s = slacks(x, plane);
    for (int k = 0; k < 6; ++k) {
        const double r = 1.0 / s[static_cast<size_t>(k)], r2 = r * r, r3 = 2.0 * r2 * r;
        hessian.block<3, 3>(3 * k, 3 * k) = r3 * n * n.transpose();
        c.block<3, 4>(3 * k, 0) << -sigma(k) * r2 * Matrix3d::Identity() + r3 * n * x.col(k).transpose(), r3 * n;
    }
    const PlaneFactor factor(plane_derivatives(x, plane).hessian);
    Eigen::Matrix<double, 4, 18> solved;
    for (int j = 0; j < 18; ++j) solved.col(j) = factor.solve(c.row(j).transpose());
    const Eigen::Matrix<double, 18, 18> plane_part = c * solved;
    hessian -= 0.5 * (plane_part + plane_part.transpose());
    return hessian;
}

}  // namespace farfield::contact::longrange
