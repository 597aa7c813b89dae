// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A mesh above a half-space: per vertex C(z), summed with the vertex tree.
///
/// Formula:   f(z) = 12 (1 + z^-1/2)^2 per vertex at height z, less its radius where a ball sweeps it, the separating-plane potential of the vertex and its foot point;
///            times the vertex's share of pair_work.hpp, a third of the triangles around it over A_ref;
///            node I of the vertex tree: r = z_I, d1 = R_I, the recursion of pair_work.hpp with the foot point as partner.
/// Near:      as in pair_work.hpp, a vertex fading with its height.
/// Deviation: two huge triangles would let the separating plane tilt against their far corners, so that stiffness depends on
///            where a body stands; an infinite half-space only admits its own normal.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/longrange/centred.hpp"
#include "farfield/contact/longrange/pair_work.hpp"

namespace farfield::contact::longrange {

/// The half-space seen from o, the centre of the mesh; lengths divided by l0.
struct HalfSpaceFrame {
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  ///< world axes
    double height = 0.0;                                ///< of o above the plane
    Eigen::Vector3d origin_mesh = Eigen::Vector3d::Zero(),
                    origin_plane = Eigen::Vector3d::Zero();  ///< body origins relative to o
};
[[nodiscard]] HalfSpaceFrame make_frame(const RotatedShape& mesh, const Eigen::Vector3d& position,
                                        const HalfSpace& half_space, const Pose& half_space_pose, double scale);

struct HeightTerm {
    Eigen::Vector3d arm = Eigen::Vector3d::Zero();
    double height = 0.0;
    int node = 0, parent = -1;
    double weight = 1.0, share = 1.0, spread = 0.0;
    double radius = 0.0;  ///< of the ball about a vertex; its height is less by it
    bool vertex = false;  ///< a leaf: the only ones that carry friction
};

struct HeightBand {
    HeightTerm term;
    Taylor centred;
    Blend blend;
    double sum = 0.0;
    Vector6d sum_gradient = Vector6d::Zero();
};

struct HalfSpaceWork {
    std::vector<HeightTerm> far;
    std::vector<HeightBand> bands;
    double gap = 0.0;

    void clear();
};

/// False when a vertex is at or below the plane.
[[nodiscard]] bool traverse(const Shape& mesh, const RotatedShape& rotated, const HalfSpaceFrame& frame,
                            const PotentialForm& form, HalfSpaceWork& work);

[[nodiscard]] double sum_values(const PotentialForm& form, const HalfSpaceWork& work);

/// A = the mesh, B = the half-space, about o.
void sum_derivatives(const HalfSpaceFrame& frame, const PotentialForm& form, HalfSpaceWork& work, RelativeSum& sum);

}  // namespace farfield::contact::longrange
