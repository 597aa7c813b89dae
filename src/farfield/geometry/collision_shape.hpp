// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A mesh prepared for collision queries: an aligned frame, tight spheres and boxes in a binary tree, hull
/// vertices.
///
/// All numbers are in the shape's own frame: origin at the middle of the bounding box, axes along the tightest box
/// found among the
/// body axes, the principal axes and frames of the largest triangles (so that boxes of flat parts are flat).
/// A triangle with a radius (TriangleMesh::radii) counts with the ball that sweeps it: spheres, boxes and supports enclose it.
/// The tree splits at the median along the longest side of the triangles' centres, ties by index: same mesh, same tree.
#include <Eigen/Dense>
#include <array>
#include <vector>

#include "farfield/geometry/point_columns.hpp"
#include "farfield/geometry/triangle_mesh.hpp"
#include "farfield/math/pose.hpp"

namespace farfield {

class CollisionShape {
 public:
    static constexpr int kClusterSize = 24;

    struct Node {
        Eigen::Vector3d centre;  ///< of the tight sphere
        Eigen::Vector3d box_centre, box_half;
        double radius = 0.0;
        double reach = 0.0;                   ///< largest |x| of a vertex below it
        int right = -1;                       ///< right child (the left is the next node), -1 at a leaf
        int triangle = -1;                    ///< of a leaf
        int first_point = 0, num_points = 0;  ///< its distinct vertices when at most kClusterSize, else 0
    };

    CollisionShape() = default;
    explicit CollisionShape(const TriangleMesh& mesh);

    [[nodiscard]] bool empty() const { return nodes_.empty(); }
    /// Placement of the shape's frame in the body frame.
    [[nodiscard]] const Pose& frame() const { return frame_; }
    [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
    [[nodiscard]] const Node& root() const { return nodes_.front(); }
    [[nodiscard]] const std::array<Eigen::Vector3d, 3>& triangle(int index) const {
        return triangles_[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] double radius(int triangle) const { return radii_[static_cast<std::size_t>(triangle)]; }
    /// Unit normal, zero for a triangle without area.
    [[nodiscard]] const Eigen::Vector3d& normal(int index) const { return normals_[static_cast<std::size_t>(index)]; }
    /// Points, or balls, whose convex hull is that of the mesh.
    [[nodiscard]] PointColumns hull() const {
        return columns(hull_points_, 0, static_cast<int>(hull_points_[0].size()));
    }
    [[nodiscard]] PointColumns points(const Node& node) const {
        return columns(cluster_points_, node.first_point, node.num_points);
    }
    /// The surface is that of its convex hull: a gap between hulls is the gap.
    [[nodiscard]] bool convex() const { return convex_; }

 private:
    using Columns = std::array<std::vector<double>, 4>;  ///< x, y, z, radius
    [[nodiscard]] PointColumns columns(const Columns& source, int first, int size) const;
    void add_point(int vertex, Columns& to) const;
    int build(std::vector<int>& order, int begin, int end,
              const Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>& corners);
    void set_volumes(Node& node, const std::vector<int>& order, int begin, int end,
                     const Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>& corners);
    void set_hull(const TriangleMesh& mesh);

    Pose frame_;
    std::vector<Node> nodes_;
    std::vector<Eigen::Vector3d> vertices_;
    std::vector<double> vertex_radii_;
    std::vector<std::array<Eigen::Vector3d, 3>> triangles_;
    std::vector<double> radii_;  ///< per triangle
    std::vector<Eigen::Vector3d> normals_;
    Columns cluster_points_, hull_points_;
    bool convex_ = false;
    bool round_ = false;  ///< some triangle has a radius
};

}  // namespace farfield
