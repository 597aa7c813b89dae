// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact potential of two convex hulls: the separating plane that costs least, and all sums over vertices.
///
/// Paper:     [SDRS2025, Eqs. (6)-(7)]
///            U = min over (n, o) of Phi,   Phi = P(1 - |n|) + sum_m P(q_m),   q_m = sigma_m (n . x_m + o)
///            sigma = -1 on hull A, +1 on hull B. U > 0 iff the distance is below 2 s/(1 - s).
/// Everything is in the frame of body A, lengths divided by the length scale, x counted from `centre`, a point between the hulls.
/// Vertices never leave their body frames: the plane goes to them, and sums of
///            a = sum P' x~ (4),   Q = sum P'' x~ x~^T (4x4),   x~ = (x, 1)
/// come back, from which every derivative follows in constant time.
/// Deviation: Newton starts from a warm plane, or from GJK with the plane's length balanced in one dimension; it stops on its
///            decrement relative to Phi (an absolute gradient norm is out of reach when Phi is large).
#include <Eigen/Dense>
#include <limits>

#include "farfield/geometry/point_columns.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact::polyhedral {

/// Vertices in the body frame; `scale` turns their unit of length into that of the pair.
struct HullColumns : PointColumns {
    double scale = 1.0;

    [[nodiscard]] Eigen::Vector3d point(int i) const { return scale * PointColumns::point(i); }
};

struct Plane {
    Eigen::Vector3d normal = Eigen::Vector3d::Zero();  ///< not unit: 1 - |n| is a margin of its own
    double offset = 0.0;
};

/// Sums over one hull.
struct HullSums {
    double value = 0.0;  ///< sum P
    Eigen::Vector4d first = Eigen::Vector4d::Zero();
    Eigen::Matrix4d second = Eigen::Matrix4d::Zero();
    double lowest = std::numeric_limits<double>::infinity();  ///< smallest margin
};

/// Sums of P and its derivatives at margins side * (n . (x - centre) + o), all in the hull's own frame. False when a margin is not
/// positive; then only `lowest` is set.
bool add_hull(const HullColumns& hull, double side, const Plane& plane, const Eigen::Vector3d& centre, double s,
              HullSums& out);

/// A plane that separated the hulls before, in the frame of A, and the margins it left.
struct WarmPlane {
    Plane plane;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double lowest_a = 0.0, lowest_b = 0.0;  ///< both 0: cold

    [[nodiscard]] bool cold() const { return !(lowest_a + lowest_b > 0.0); }
};

enum class PairStatus { Apart, Active, Touching };

struct HullPairSolution {
    PairStatus status = PairStatus::Apart;
    double value = 0.0;  ///< U
    double gap = 0.0;    ///< proven lower bound of the distance, scaled
    Plane plane;
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    HullSums a, b;                                      ///< both in the frame of A, about `centre`
    Eigen::Matrix4d hessian = Eigen::Matrix4d::Zero();  ///< Phi_pp, p = (n, o)
    int iterations = 0;
    bool searched = false;  ///< GJK was needed
};

/// `b_in_a`: placement of body B in the frame of A, scaled. `tolerance`: of Phi, on Newton's decrement.
/// `warm` is used and replaced; a change of the start changes the result only by rounding.
[[nodiscard]] HullPairSolution solve_hull_pair(const HullColumns& a, const HullColumns& b, const Pose& b_in_a, double s,
                                               double tolerance, WarmPlane& warm);

}  // namespace farfield::contact::polyhedral
