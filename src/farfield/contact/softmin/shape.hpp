// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A body as the soft-minimum law sees it: a surface that says how deep a point lies, and points that ask other surfaces.
#include <Eigen/Dense>
#include <limits>
#include <optional>
#include <vector>

#include "farfield/contact/softmin/options.hpp"
#include "farfield/geometry/point_cloud.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact::softmin {

enum class SurfaceKind { Cloud, HalfSpace, Sphere, Capsule, Box };

/// Signed distance phi(p) with a normal field n(p), both with derivatives, in the body frame.
struct Surface {
    SurfaceKind kind = SurfaceKind::Cloud;
    // of a cloud
    PointTree tree;
    double temperature = 1.0;       ///< [m^2]
    double reach = 0.0;             ///< points beyond the nearest squared distance plus this are left out [m^2]
    double normal_smoothing = 0.0;  ///< as in SoftminOptions
    // of the others, in the frame (rotation, centre): half-space z <= 0, capsule along z
    Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
    Eigen::Vector3d centre = Eigen::Vector3d::Zero(), half = Eigen::Vector3d::Zero();
    double radius = 0.0;
    double inradius = std::numeric_limits<double>::infinity();  ///< deeper than half of it, forces turn inward [m]
};

/// Points, or balls of one radius, that are pushed out of surfaces.
struct QuerySet {
    PointTree tree;
    double radius = 0.0;

    [[nodiscard]] bool empty() const { return tree.count == 0; }
};

struct BodyShape {
    std::optional<PointCloud> cloud;  ///< in the order given, for derivatives by its points
    std::optional<Surface> surface;
    QuerySet queries;  ///< against other surfaces
    QuerySet support;  ///< against half-spaces
    std::vector<Surface> half_spaces;
    double size = 0.0;  ///< largest extent [m]; 0 without a surface
};

/// Spheres and capsules that are the only shape of their body are exact; other shapes become clouds.
[[nodiscard]] std::vector<BodyShape> make_shapes(const Model& model, const SoftminOptions& options);

/// log(points/tolerance) temperatures: what truncated evaluation leaves out is below the tolerance, relative.
[[nodiscard]] double truncation(int points, double tolerance);

}  // namespace farfield::contact::softmin
