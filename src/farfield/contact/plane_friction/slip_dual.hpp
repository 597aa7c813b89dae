// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Multipliers of friction: a Hessian for Newton's method that knows how fast the direction of friction turns.
///
/// Friction pulls with a w / psi(w): a unit vector when sliding, so that psi has next to no curvature along the slip and Newton's method
/// sends a slip w far beyond its turning point. With the pull as an unknown of its own, psi z = w, one Newton step on both gives
///     z = r (w - z_0 t_0.(w - w_0)),   r = 1/psi(w_0),   t = dpsi/dw,   then |z| <= 1
///     K = a r [1 - sym(z t^T)] = a d2psi/dw2 - a r sym((z - u) t^T),    u = w/psi
/// at a point w reached from w_0. K is positive semi-definite, since |t| <= 1, and exact once z = u. Energy and gradient know nothing of it.
///
/// Paper:     [Chan1999], where w is the gradient of an image
#include <Eigen/Dense>
#include <algorithm>
#include <span>

namespace farfield::contact {

/// Where z comes from.
enum class Multiplier {
    Exact,         ///< z = u: K is the second derivative
    Extrapolated,  ///< from the point seen last, which was accepted
    Kept,          ///< the point seen last was a trial and rejected; what it has found out about z stands
};

/// Of one point that rubs: what was seen last.
template <int Dim>
struct SlipDual {
    using Vector = Eigen::Matrix<double, Dim, 1>;
    Vector w = Vector::Zero(), z = Vector::Zero(), t = Vector::Zero();
    double r = 0.0;

    /// z - u at the slip w.
    [[nodiscard]] Vector move_to(Multiplier multiplier, const Vector& slip, double inverse_psi, const Vector& slope) {
        const Vector u = inverse_psi * slip;
        if (multiplier == Multiplier::Exact) {
            z = u;
        } else if (multiplier == Multiplier::Extrapolated) {
            z = (r * (slip - z * t.dot(slip - w))).eval();
            z /= std::max(1.0, z.norm());
        }
        w = slip;
        t = slope;
        r = inverse_psi;
        return z - u;
    }
};

/// Of all points of a plane; none: the exact Hessian, and nothing is remembered.
struct SlipDuals {
    std::span<SlipDual<2>> points;
    Multiplier multiplier = Multiplier::Exact;

    /// -sym((z - u) t^T) r for psi = sqrt(|w|^2 + eps).
    [[nodiscard]] Eigen::Matrix2d correction(std::size_t m, const Eigen::Vector2d& w, double psi) const {
        if (points.empty()) return Eigen::Matrix2d::Zero();
        const Eigen::Vector2d u = w / psi, excess = points[m].move_to(multiplier, w, 1.0 / psi, u);
        return -0.5 / psi * (excess * u.transpose() + u * excess.transpose());
    }
};

}  // namespace farfield::contact
