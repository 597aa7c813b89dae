// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Soft distances of the points of one body from the surface of another, eight points at a time, and the forces they bring.
///
/// Paper:     [SCM2025, Secs. III-B, III-C]
///            w_i ~ exp(-|p - p_i|^2/eps1),   phi = sum w_i n_i . (p - p_i),   m = sum w_i n_i,   n = m/sqrt(m^2 + delta^2)
///            s_f ~ exp(-phi_f/eps2),   W = sum s_f (F_f; y_f x F_f),   y = p - radius n the point both bodies are held at
///            F = k eps3 softplus(-phi/eps3) D(n.v/v_d) (n - mu v_t/sqrt(v_s^2 + v_t^2)),   v the relative velocity at y
/// Deviation: the mean plane instead of the mean of plane forces, which turn a push the wrong way on coarse clouds; one point of both
///            bodies, so that wrenches balance and bodies that turn together feel nothing; a damping D with two derivatives.
/// Everything is in the frame of the surface. Both soft minima are cut: |left out| <= tolerance |kept| (shape.hpp). Queries are left out by
/// balls (c, rho) over which phi >= min n_i . (c - p_i) - rho over the planes that matter to any point of the ball (near_leaves.hpp).
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/softmin/shape.hpp"
#include "farfield/geometry/near_leaves.hpp"
#include "farfield/math/pose.hpp"

namespace farfield::contact::softmin {

/// Eight query points, in the frame of the surface.
struct alignas(64) QueryGroup {
    double p[3][kLeafPoints];
    double phi[kLeafPoints];  ///< less the radius of the query
    double n[3][kLeafPoints];
    double g[3][kLeafPoints], turn[9][kLeafPoints];  ///< dphi/dp and dn/dp, row by row; with derivatives only
    double weight[kLeafPoints], fade[kLeafPoints], c[kLeafPoints], inverse[kLeafPoints];  ///< left by sum_forces
    int leaf = 0, count = 0;
};

/// Places queries in the frame of the surface: p = rotation x + translation.
struct RelativePose {
    Eigen::Matrix3d rotation;
    Eigen::Vector3d translation;
};

/// Queries of one body against one surface of the other.
struct SideWork {
    std::vector<QueryGroup> groups;
    int count = 0;    ///< groups in use
    NearLeaves near;  ///< scratch
};

/// Finds the groups whose phi can be within `cut` of the least one; `least` comes in as the least known so far and is lowered.
void find_field(const QuerySet& queries, const Surface& surface, const RelativePose& pose, double cut, bool derivatives,
                double& least, SideWork& work);

/// What the force of a pair is made of.
struct ForceNumbers {
    double stiffness = 0.0, friction = 0.0;        ///< k [N/m], mu
    double sharing = 0.0, ramp = 0.0;              ///< eps2, eps3 [m]
    double damping_speed = 0.0, slip_speed = 0.0;  ///< v_d, v_s [m/s]
    bool printed_damping = false;
};

/// Sums over queries, each times exp(-(phi - least)/eps2). Wrenches act on the querying body, about the origin of the surface's frame.
struct SideSums {
    double weight = 0.0, phi = 0.0;
    Vector6d wrench;
};

/// Queries beyond least + cut are left out.
struct SoftCut {
    double least = 0.0, cut = 0.0;  ///< [m]
};

/// `velocity`: (u, w) of the querying body, v = u + w x y. Leaves in the groups what sum_bars and sum_slopes need again.
void sum_forces(SideWork& work, double radius, const ForceNumbers& numbers, const Vector6d& velocity,
                const SoftCut& cut, SideSums& sums);

/// The power Phi = sum s (F . (d + e x y)) of a virtual motion (d, e) of the querying body, differentiated; weights as in SideSums, their
/// change included, and `mean` the mean of F . (d + e x y) over all queries of the pair.
struct SideBars {
    Vector6d by_motion;    ///< by a displacement (a, b) of the querying body, dp = a + b x p
    Vector6d by_velocity;  ///< by (u, w)
    double by_friction = 0.0;
};
/// @pre the field was found with derivatives, then sum_forces of the same numbers, velocity and cut.
void sum_bars(const SideWork& work, double radius, const ForceNumbers& numbers, const Vector6d& velocity,
              const Vector6d& motion, double mean, const SoftCut& cut, SideBars& bars);

/// sum s dphi by a displacement (a, b). @pre as sum_bars.
[[nodiscard]] Vector6d sum_slopes(const SideWork& work, const SoftCut& cut);

}  // namespace farfield::contact::softmin
