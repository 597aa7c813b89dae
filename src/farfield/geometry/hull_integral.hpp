// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Volume and moments of a solid bounded by weighted triangles, and their derivative by the vertices.
///
/// A fan of the triangles (a, b, c) from the origin, D = a.(b x c), s = a + b + c:
///     V = sum w D/6,  h = sum w D s/24,  S2 = sum w D (s s^T + a a^T + b b^T + c c^T)/120
#include <Eigen/Dense>
#include <vector>

#include "farfield/geometry/facet_fans.hpp"
#include "farfield/geometry/moments.hpp"

namespace farfield {

/// Derivatives of a number by moments: mass, first and (symmetric) second.
struct MomentBar {
    double mass = 0.0;
    Eigen::Vector3d first = Eigen::Vector3d::Zero();
    Eigen::Matrix3d second = Eigen::Matrix3d::Zero();

    MomentBar() = default;
    explicit MomentBar(const MomentVector& bar);
    [[nodiscard]] double dot(const Moments& moments) const;
};

using HullPoints = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

/// Of unit density: the mass is the volume.
[[nodiscard]] Moments hull_integral(const Eigen::Ref<const HullPoints>& points,
                                    const std::vector<WeightedTriangle>& triangles);
/// Adds factor d(bar . moments)/d points to `out`, of the shape of `points`.
void hull_integral_vjp(const Eigen::Ref<const HullPoints>& points, const std::vector<WeightedTriangle>& triangles,
                       const MomentBar& bar, double factor, Eigen::Ref<HullPoints> out);

}  // namespace farfield
