// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Grain shapes: a polygon about its centroid, with exact area and inertia, and a library of letter-like outlines.
#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "farfield/geometry/polygon.hpp"

namespace farfield::grains {

struct GrainShape {
    std::string name;
    Polygon outline;         ///< centroid at the origin [m]
    Ring hull;               ///< corners of the convex hull [m]
    double area = 0.0;       ///< [m^2]
    double gyration2 = 0.0;  ///< polar moment per area, inertia per mass [m^2]
    double radius = 0.0;     ///< of the smallest circle about the centroid that holds the shape [m]
    int symmetry = 1;        ///< turns by 2 pi / symmetry map the outline onto itself
};

/// Validates the polygon and moves its centroid to the origin.
[[nodiscard]] GrainShape make_shape(const std::string& name, const Polygon& polygon);

/// The same shape with another circumradius.
[[nodiscard]] GrainShape scaled(const GrainShape& shape, double radius);

/// Names of the library: O U N D # I L heart star octagon arc25 arc50 arc75 arc100 link block.
[[nodiscard]] std::vector<std::string> library_names();

/// A library shape with circumradius `radius` [m]. Throws for an unknown name, listing the known ones.
[[nodiscard]] GrainShape library_shape(const std::string& name, double radius = 1.0);

/// width x height rectangle [m].
[[nodiscard]] GrainShape block_shape(double width, double height);

/// Depends on the outline divided by the radius, not on name or size.
[[nodiscard]] std::uint64_t outline_hash(const GrainShape& shape);

}  // namespace farfield::grains
