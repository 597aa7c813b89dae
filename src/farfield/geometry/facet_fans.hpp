// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A hull's surface as weighted triangles that do not depend on how its flat faces were cut.
///
/// Any diagonal of a flat face gives the same volume, but each another derivative by the corners: the true volume has a kink there. A face of
/// k corners is taken as the mean of its k fans, one from every corner; of a quadrilateral these are both diagonals, half each, which is the
/// mean of the one-sided derivatives. Points inside a face are not corners and get no derivative, as if they were moved inwards.
#include <Eigen/Dense>
#include <array>
#include <vector>

#include "farfield/geometry/hull_triangles.hpp"

namespace farfield {

struct WeightedTriangle {
    std::array<int, 3> corners;
    double weight = 1.0;
};

/// Neighbouring triangles count as one face when its points lie within 1e-9 of the hull's size of one plane.
[[nodiscard]] std::vector<WeightedTriangle> facet_fans(
    const Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>& points,
    const HullTriangles& triangles);

}  // namespace farfield
