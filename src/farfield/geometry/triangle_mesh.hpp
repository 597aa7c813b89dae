// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Indexed triangle mesh, kept exactly as given: never made convex, decimated or moved.
#include <Eigen/Dense>
#include <string>
#include <vector>

namespace farfield {

struct TriangleMesh {
    std::string name;
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertices;  ///< [m]
    Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles;    ///< outward = counter-clockwise
    /// Per triangle, of the ball that sweeps it [m]; empty: none. One with a radius is a point or a segment: a sphere, a capsule.
    std::vector<double> radii{};

    [[nodiscard]] double radius(Eigen::Index triangle) const {
        return radii.empty() ? 0.0 : radii[static_cast<std::size_t>(triangle)];
    }
};

/// Throws when the mesh is empty, has non-finite vertices, indices out of range, or a degenerate triangle
/// (area below 1e-14 times the squared size of the mesh), naming the mesh and the triangle.
void validate(const TriangleMesh& mesh);

/// Per vertex, the largest radius of the triangles around it [m].
[[nodiscard]] std::vector<double> vertex_radii(const TriangleMesh& mesh);

/// Per triangle, of the whole sphere or capsule where it has a radius [m^2].
[[nodiscard]] std::vector<double> triangle_areas(const TriangleMesh& mesh);
[[nodiscard]] double surface_area(const TriangleMesh& mesh);

/// Every edge is shared by exactly two triangles with opposite orientation. Spheres and capsules are closed anyway and do not count.
[[nodiscard]] bool is_watertight(const TriangleMesh& mesh);

}  // namespace farfield
