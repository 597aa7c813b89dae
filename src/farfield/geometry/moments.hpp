// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Mass moments up to second order: ten numbers that hold all of a rigid body's inertia.
///
/// With x~ = (x, 1): S = sum of m x~ x~^T = [[second, first], [first^T, mass]]. Linear in the mass distribution, so
/// moments add, and they are what the dynamics and the mass gradients use directly.
#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <string>

namespace farfield {

struct TriangleMesh;

struct Moments {
    double mass = 0.0;                                 ///< [kg]
    Eigen::Vector3d first = Eigen::Vector3d::Zero();   ///< sum m x [kg m]
    Eigen::Matrix3d second = Eigen::Matrix3d::Zero();  ///< sum m x x^T [kg m^2]

    [[nodiscard]] Eigen::Vector3d center() const { return first / mass; }
    /// Rotational inertia about the centre of mass, body axes.
    [[nodiscard]] Eigen::Matrix3d inertia() const;
    [[nodiscard]] Eigen::Matrix4d matrix() const;  ///< S
    Moments& operator+=(const Moments& other);
};

/// Order of the ten numbers everywhere (Parameters, files, Python): m, hx, hy, hz, Sxx, Syy, Szz, Sxy, Sxz, Syz.
using MomentVector = Eigen::Matrix<double, 10, 1>;
[[nodiscard]] MomentVector to_vector(const Moments& moments);
[[nodiscard]] Moments from_vector(const MomentVector& values);

/// `inertia` about the centre of mass. Throws unless mass > 0 and 1/2 tr(I) 1 - I is positive semi-definite.
[[nodiscard]] Moments moments_from_inertia(double mass, const Eigen::Vector3d& center, const Eigen::Matrix3d& inertia,
                                           const std::string& place);
/// Moments of the same body seen from a frame in which it sits at `position`, `rotation`.
[[nodiscard]] Moments transformed(const Moments& moments, const Eigen::Vector3d& position,
                                  const Eigen::Matrix3d& rotation);
/// Solid of uniform density bounded by a closed, outward oriented mesh (exact). Throws when it is not watertight.
[[nodiscard]] Moments solid_moments(const TriangleMesh& mesh, double density);
/// Throws unless mass > 0, entries finite and the second moment about the centre positive semi-definite.
void validate(const Moments& moments, const std::string& place);

}  // namespace farfield
