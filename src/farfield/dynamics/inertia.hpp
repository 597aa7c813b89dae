// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Inertia and gravity of the incremental potential, in ten numbers per body.
///
/// Paper:     [SDRS2025, Eqs. (2)-(4)]
///            I = 1/(2 dt^2) sum_i tr[(T - Y) S (T - Y)^T] - g . [T S e4],   Y = 2 T^t - T^(t-1),   T = [R | p] (3x4)
/// Symbols:   S = second moments of x~ = (x, 1);  K = (T - Y)/dt^2 - g e4^T;  W = K S T~^T (3x4);  M = T~ S T~^T / dt^2
///            xi_k = (v_k, a_k) twist of degree of freedom k;  W^c, M^c = sums over the subtree it moves
///            gradient_k = a_k . axial(W33^c) + v_k . W4^c,   Hessian_jk = xi_j . b_k for j towards the root of k
/// Deviation: positions are taken relative to each tree's root, so that a robot far from the origin loses no digits.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/math/block_matrix.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

using Matrix34d = Eigen::Matrix<double, 3, 4>;

/// Where inertia alone would take each body, and the origin its tree is measured from.
struct InertiaTarget {
    std::vector<Eigen::Vector3d> origin;  ///< per body
    std::vector<Matrix34d> Y;             ///< per body, relative to origin
    std::vector<Matrix34d> YS;            ///< per body
};
void set_inertia_target(const Model& model, const Parameters& parameters, const Kinematics& now,
                        const Kinematics& previous, InertiaTarget& out);

[[nodiscard]] double inertia_energy(const Model& model, const Parameters& parameters, double dt,
                                    const InertiaTarget& target, const Poses& poses);

/// Per-body sums that the assembly leaves behind for the vjp.
struct InertiaScratch {
    std::vector<Matrix34d> W;  ///< subtree sums
    std::vector<Eigen::Matrix3d> M33;
    std::vector<Eigen::Vector3d> M4;
    std::vector<double> mass;
    std::vector<Eigen::Vector3d> v, a;  ///< twists of all degrees of freedom about their tree's origin
};

/// Adds gradient and, unless it is null, the Hessian; returns the energy.
double add_inertia_derivatives(const Model& model, const Parameters& parameters, double dt, const InertiaTarget& target,
                               const Kinematics& kinematics, InertiaScratch& scratch, Eigen::VectorXd& gradient,
                               BlockMatrix* hessian);

/// Derivatives of phi = lambda . dI/dq, as wrenches at the body origins and parameter gradients, all subtracted
/// (the adjoint wants -phi), for any number of directions. `twists` are those of each lambda at `poses` (body_twists).
/// `wrench`: of dI/dq itself; `lambda_force`: linear part of the second derivative along lambda, per body.
struct InertiaVjp {
    std::vector<Vector6d> now, previous;  ///< -dphi by the poses at t and t-1
    std::vector<Eigen::Vector3d> force, lambda_force;
};
void inertia_vjp(const Model& model, const Parameters& parameters, double dt, const InertiaTarget& target,
                 const Poses& poses, const Poses& poses_now, const Poses& poses_previous,
                 std::span<const std::vector<Vector6d>> twists, std::span<InertiaVjp> out,
                 std::span<Parameters> gradients);

/// Kinetic energy of the motion from `from` to `to` in dt, and gravitational energy at `to`.
[[nodiscard]] double kinetic_energy(const Model& model, const Parameters& parameters, double dt, const Poses& from,
                                    const Poses& to);
[[nodiscard]] double gravity_energy(const Model& model, const Parameters& parameters, const Poses& poses);

}  // namespace farfield
