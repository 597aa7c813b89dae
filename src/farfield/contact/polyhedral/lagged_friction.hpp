// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Friction of the polyhedral model: what is lagged at the start of a step, and how adjoints go back through it.
///
/// Between hulls each active vertex is a point pressed with its own normal force, N_m = -kappa P'(q_m) |n| [J, lengths being scaled], on
/// a plane that belongs to neither body. On a half-space N_m = -kappa c P'(q_m), on a plane that belongs to the half-space's body.
/// Deviation: [SDRS2025, Eqs. (11)-(12)] weighs with a smoothed force that suppresses small loads; then both sides lose their common
///            centre of pressure and friction vanishes. The true force is smooth already. Points are projected on the plane
///            (FrictionForm::Projected), else torques do not balance.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/plane_friction/plane_friction.hpp"
#include "farfield/contact/polyhedral/half_space.hpp"
#include "farfield/contact/polyhedral/options.hpp"

namespace farfield::contact::polyhedral {

/// Constants of one body pair.
struct PairScale {
    double weight = 1.0;  ///< kappa [J]
    double margin = 0.1;  ///< s
};

/// An active vertex at the start of the step.
struct LaggedVertex {
    int row = 0;  ///< of Parameters::hull_vertices
    Eigen::Vector3d x =
        Eigen::Vector3d::Zero();  ///< from the centre (half-space: from the body's origin), world axes, scaled
    double margin = 0.0;          ///< q
};

/// One contact at the start of the step. Body A of a half-space contact is that of the hulls.
struct LaggedContact {
    bool half_space = false, swapped = false;  ///< swapped: its body A is the second body of the pair
    WorldPair pair;                            ///< of hulls
    HalfSpaceFrame frame;
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< unit, world
    Eigen::Vector3d origin_a = Eigen::Vector3d::Zero(),
                    origin_b = Eigen::Vector3d::Zero();  ///< of the bodies, as x
    std::vector<LaggedVertex> vertices;
    std::vector<FrictionPoint> points;  ///< one per vertex, from the centre, scaled
    std::vector<SlipDual<2>> duals;     ///< one per point
    std::size_t split = 0;              ///< number of vertices on A

    [[nodiscard]] PlaneContact plane() const { return {normal, points, split}; }
};

/// Body `a` is that of the hull whose rows start at `row_a`.
[[nodiscard]] LaggedContact lag_hull_pair(const HullPairSolution& solution, const HullColumns& a, const HullColumns& b,
                                          int row_a, int row_b, const Pose& pose_a, const Pose& pose_b,
                                          const PairScale& scale, FrictionForm form);

/// An empty contact, then one call per hull.
[[nodiscard]] LaggedContact begin_half_space(const HalfSpaceFrame& frame, bool swapped);
void lag_hull_above(const HullColumns& hull, int row, const Eigen::Matrix3d& rotation, const PairScale& scale,
                    FrictionForm form, LaggedContact& contact);

/// By the poses at the start, in the order of the contact's bodies, and by vertices in world axes (per vertex of the contact); scaled.
struct ContactAdjoint {
    StartAdjoint start;
    std::vector<Eigen::Vector3d> vertices;
};
/// `points`: what friction_vjp left. Sides as in the contact.
[[nodiscard]] ContactAdjoint pull_back(const LaggedContact& contact, const FrictionAdjoint& adjoint,
                                       const std::vector<FrictionPoint>& points, const PairScale& scale,
                                       FrictionForm form);

}  // namespace farfield::contact::polyhedral
