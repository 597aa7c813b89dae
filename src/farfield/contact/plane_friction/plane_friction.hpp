// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Lagged friction across a massless separating plane: energy, derivatives, and adjoints by everything lagged.
///
/// At the start of the step a contact is a unit normal n and points y_m on either body, each pressed with a load a_m. The plane
/// may follow the slip: it translates with u and spins with omega about c, and takes the values that dissipate least,
///     D = min over (u, omega) of  dt sum_m a_m psi(w_m) + (spin/2) dt (sum a) omega^2,    psi(w) = sqrt(|w|^2 + eps)
///     w_m = B^T (x_m - y_m)/dt - u - omega B^T (n x (y_m - c)),                           B = tangents of n
/// with x_m the place to which its body has carried y_m. So no body's velocity is preferred, forces balance, and Coulomb's law
/// holds exactly for translation as eps -> 0 whenever both sides carry the same load and moment.
///
/// Paper:     [SDRS, Eq. (12)], [LongRange, A.3]
/// Deviation: loads are the true normal forces; points should lie on the plane, then torques balance as well as forces
///            (at y_m; at x_m up to (x_m - y_m) x f_m). c does not influence D. The basis may be chosen afresh for every n.
///            `spin` makes omega unique when a side touches in one point; zero is fine when points span a segment.
#include <Eigen/Dense>
#include <span>

#include "farfield/contact/plane_friction/slip_dual.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact {

struct FrictionPoint {
    Eigen::Vector3d position = Eigen::Vector3d::Zero();  ///< y, relative to any point common to both bodies
    double load = 0.0;                                   ///< a >= 0
};

/// A body from the start of the step to now: x = y + shift + (turn - 1)(y - origin).
struct BodyMotion {
    Eigen::Vector3d origin = Eigen::Vector3d::Zero();    ///< of the body at the start, relative to the same point
    Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();  ///< R_now R_start^T
    Eigen::Vector3d shift = Eigen::Vector3d::Zero();     ///< p_now - p_start

    [[nodiscard]] Eigen::Vector3d arm(const Eigen::Vector3d& y) const { return turn * (y - origin); }  ///< x - p_now
    [[nodiscard]] Eigen::Vector3d displacement(const Eigen::Vector3d& y) const {                       ///< x - y
        return (turn - Eigen::Matrix3d::Identity()) * (y - origin) + shift;  // difference first: small turns stay exact
    }
};

struct SlipModel {
    double dt = 0.01;         ///< [s]
    double smoothing = 1e-6;  ///< eps [m^2/s^2]
    double spin = 0.0;        ///< [m s]
};

/// Points 0 .. split-1 belong to body A, the others to body B.
struct PlaneContact {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();
    std::span<const FrictionPoint> points;
    std::size_t split = 0;
};

/// The plane's own motion at the minimum.
struct PlaneMotion {
    Eigen::Vector2d u = Eigen::Vector2d::Zero();
    double omega = 0.0;
    int iterations = 0;
};

/// Two columns that complete `normal` to an orthonormal, right-handed frame.
[[nodiscard]] Eigen::Matrix<double, 3, 2> tangents(const Eigen::Vector3d& normal);

[[nodiscard]] double friction_energy(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                                     const SlipModel& model);

/// Sums over contacts, in the charts of both bodies now: (v_a, w_a, v_b, w_b).
struct FrictionSum {
    double energy = 0.0;
    Eigen::Matrix<double, 12, 1> gradient = Eigen::Matrix<double, 12, 1>::Zero();
    Eigen::Matrix<double, 12, 12> hessian = Eigen::Matrix<double, 12, 12>::Zero();
};
void add_friction(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                  FrictionSum& sum, const SlipDuals& duals = {});

/// Derivatives of phi = twist_a . dD/d(v, w)_a + twist_b . dD/d(v, w)_b.
struct FrictionAdjoint {
    double phi = 0.0;
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();  ///< only tangential variations of a unit normal mean anything
    Vector6d previous_a = Vector6d::Zero(), previous_b = Vector6d::Zero();  ///< by the poses at the start, y and n held
};
/// `points` receives, per point, dphi by y (the pose at the start held) and by the load. Same size as contact.points.
[[nodiscard]] FrictionAdjoint friction_vjp(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b,
                                           const SlipModel& model, const Vector6d& twist_a, const Vector6d& twist_b,
                                           std::span<FrictionPoint> points);

}  // namespace farfield::contact
