// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Distances between points, segments and triangles, and the exact test whether two triangles meet.
///
/// The points returned always lie on the features (to rounding), and distances are those between them, so a distance is
/// never below the true one by more than rounding, even for slivers and parallel edges.
#include <Eigen/Dense>
#include <array>

namespace farfield {

using Triangle = std::array<Eigen::Vector3d, 3>;

enum class FeatureKind { Vertex, Edge, Face };

/// The part of a triangle in whose relative interior a closest point lies. Edge k joins corners k and (k + 1) % 3.
struct TriangleFeature {
    FeatureKind kind = FeatureKind::Face;
    int index = 0;  ///< corner or edge; 0 for the face
    bool operator==(const TriangleFeature&) const = default;
};

struct PointTriangleDistance {
    Eigen::Vector3d point = Eigen::Vector3d::Zero();  ///< on the triangle
    double squared_distance = 0.0;
    TriangleFeature feature;
};
[[nodiscard]] PointTriangleDistance point_triangle_distance(const Eigen::Vector3d& point, const Triangle& triangle);

struct SegmentSegmentDistance {
    Eigen::Vector3d on_a = Eigen::Vector3d::Zero(), on_b = Eigen::Vector3d::Zero();
    double s = 0.0, t = 0.0;  ///< on_a = a0 + s (a1 - a0), on_b = b0 + t (b1 - b0); in [0, 1]
    double squared_distance = 0.0;
};
/// Segments may be points. Of parallel segments that run side by side, one of the closest pairs.
[[nodiscard]] SegmentSegmentDistance segment_segment_distance(const Eigen::Vector3d& a0, const Eigen::Vector3d& a1,
                                                              const Eigen::Vector3d& b0, const Eigen::Vector3d& b1);

struct TriangleTriangleDistance {
    Eigen::Vector3d on_a = Eigen::Vector3d::Zero(), on_b = Eigen::Vector3d::Zero();
    double squared_distance = 0.0;  ///< 0 when the triangles meet
    TriangleFeature feature_a, feature_b;
    bool intersect = false;  ///< exact; then on_a = on_b is a common point, and the features are those that cross
};
[[nodiscard]] TriangleTriangleDistance triangle_triangle_distance(const Triangle& a, const Triangle& b);

/// The same where both may be without area, as those that balls sweep are (TriangleMesh::radii). Two without area do not cross.
[[nodiscard]] TriangleTriangleDistance core_distance(const Triangle& a, double radius_a, const Triangle& b,
                                                     double radius_b);

/// Of two triangles swept by balls of these radii.
struct SweptDistance {
    double distance = 0.0;                                                           ///< 0 when they meet
    Eigen::Vector3d on_a = Eigen::Vector3d::Zero(), on_b = Eigen::Vector3d::Zero();  ///< on the swept surfaces
};
[[nodiscard]] SweptDistance swept_distance(const Triangle& a, double radius_a, const Triangle& b, double radius_b);

/// Whether two closed triangles have a common point, exactly for the given doubles (touching counts).
/// @pre not both are without area; one may be (a segment or a point).
[[nodiscard]] bool triangles_intersect(const Triangle& a, const Triangle& b);

}  // namespace farfield
