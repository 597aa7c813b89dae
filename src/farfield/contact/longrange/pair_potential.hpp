// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Separating-plane potential of two triangles: robust nested Newton and exact derivatives, one pair at a time.
///
/// Formula:   P(x) = min over (n, d) of  12 / (1 - |n|) + sum_k 1 / s_k,     s_k = sigma_k (n . x_k + d)
/// Symbols:   x_k vertex k [m], sigma_k = +1 for triangle A (k = 0..2), -1 for triangle B (k = 3..5),
///            N = |n|, w = 1 / (1 - N), p = (n, d) the plane
/// Deviation: [LongRange2026, Lemma 4.1] prints alpha = N (1 - N) / 12 sum_A 1/s^2 for n = alpha (a - b); the factor
/// is (1 - N)^2.
///
/// Swept:     A triangle swept by a ball of radius r (a point: a sphere, a segment: a capsule) has slacks s_k = sigma_k (n . x_k + d) - r N.
///            They are concave, so L stays convex, and planes exist exactly while the swept triangles are apart. Moved along itself by
///            r_A N the plane touches A's core as if A were sharp; what is left is `sweep` = r_A + r_B on the side of B:
///                s_k = n . x_k + d  (A),   s_k = -(n . x_k + d) - sweep N  (B)
///            which is how planes are kept here. With y_k = x_k on A and x_k + sweep n/N on B the derivatives by the plane are those of
///            sharp triangles y, plus sweep/N (1 - n n^T/N^2) sum_B 1/s^2 in the Hessian by n; dP/dx_k = -sigma_k n/s_k^2 as before.
///
/// This is the reference that the lanes of pair_lanes.hpp are tested against; it is written to be read, not to be fast.
///
/// Coordinates. Vertices are relative to a LOCAL origin near both triangles, best the mean of the six (`centred`): the
/// plane's offset and the rounding scale with |x|. Never form world points first: R X + (t - o), not (R X + t) - o.
///
/// Length scale. P hides a length l0 = 1 m. For another one the caller passes x / l0 (and arms / l0); then P is
/// right, F gets a factor 1 / l0, GA and GB none, and the material matrix diag(1/l0, 1) from both sides.
/// Zero offset. P tends to kFarValue = 12 at infinity; a caller who wants P - 12 subtracts it, derivatives do not
/// change.
#include <Eigen/Dense>
#include <limits>

#include "farfield/contact/longrange/pair_constants.hpp"

namespace farfield::contact::longrange {

/// The set n . x + d = 0 in the local coordinates of the pair. |n| < 1 carries the magnitude, n points from B to A.
struct Plane {
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();
    double offset = 0.0;
};

/// Of the balls that sweep both triangles, in the units of the vertices.
struct PairRadii {
    double a = 0.0, b = 0.0;
    [[nodiscard]] double sum() const { return a + b; }
};

/// Columns 0-2: triangle of A, columns 3-5: triangle of B.
using TrianglePair = Eigen::Matrix<double, 3, 6>;

struct PairSolution {
    Plane plane;
    double value = std::numeric_limits<double>::infinity();  ///< P, or +infinity when the triangles touch or cross
    int iterations = 0;  ///< Newton steps taken; kMaxPairIterations means "not converged"
    bool cold = true;    ///< the warm plane was absent or infeasible
};

/// Mean of the six vertices, the best local origin.
[[nodiscard]] Eigen::Vector3d pair_origin(const TrianglePair& x);

/// Minimises over the plane. `warm` (may be null) is used when all its slacks are positive and |n| < 1.
/// Stops when lambda^2 = g^T H^-1 g <= tolerance * L + noise and takes that last step: 1e-9 for energies, 1e-12 for
/// derivatives.
[[nodiscard]] PairSolution solve_pair(const TrianglePair& x, const Plane* warm, double tolerance, double sweep = 0.0);

/// Certified lower bound of the distance [m]: (min_A s + min_B s) / |n|. Holds for every feasible plane.
[[nodiscard]] double plane_gap(const TrianglePair& x, const Plane& plane, double sweep = 0.0);

/// L(n, d; x) at any plane, +infinity when it does not separate.
[[nodiscard]] double plane_energy(const TrianglePair& x, const Plane& plane, double sweep = 0.0);

/// dL/d(n, d) and d2L/d(n, d)^2 at a feasible plane.
struct PlaneDerivatives {
    Eigen::Vector4d gradient;
    Eigen::Matrix4d hessian;
};
[[nodiscard]] PlaneDerivatives plane_derivatives(const TrianglePair& x, const Plane& plane, double sweep = 0.0);

/// Newton decrement lambda^2 = g^T H^-1 g at a feasible plane: the optimality residual, comparable with L.
[[nodiscard]] double newton_decrement(const TrianglePair& x, const Plane& plane, double sweep = 0.0);

/// Rigid 6-D derivatives of one pair about a common point o of both bodies, unweighted.
/// Twist (v, w) moves A with B frozen: dx = v + w x arm, arm = x_world - o.
struct LeafDerivatives {
    double value = 0.0;                    ///< P
    Eigen::Vector3d force;                 ///< F  = sum_A dP/dx
    Eigen::Matrix3d moment_a;              ///< GA = sum_A dP/dx arm^T
    Eigen::Matrix3d moment_b;              ///< GB = sum_B dP/dx arm^T
    Eigen::Matrix<double, 6, 6> material;  ///< M  = sum_A q q^T 2/s^3 - C6 Hpp^-1 C6^T, symmetric
    Eigen::Matrix<double, 6, 1> gradient;  ///< gs = (F; axial(GA)), the wrench on A; the one on B is -gs
};

/// `x` is solver-local (as given to solve_pair), `arms` the same vertices relative to o. `plane` must be optimal.
[[nodiscard]] LeafDerivatives leaf_derivatives(const TrianglePair& x, const TrianglePair& arms, const Plane& plane,
                                               double sweep = 0.0);

/// Full derivatives by the six vertices (x_0, ..., x_5) at the optimal plane.
[[nodiscard]] Eigen::Matrix<double, 18, 1> pair_gradient(const TrianglePair& x, const Plane& plane, double sweep = 0.0);
[[nodiscard]] Eigen::Matrix<double, 18, 18> pair_hessian(const TrianglePair& x, const Plane& plane, double sweep = 0.0);

}  // namespace farfield::contact::longrange
