// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A surface as points with outward normals, and the tree over points that evaluations descend.
///
/// Paper:     [SCM2025, Sec. III-B]
/// Temperature eps [m^2] blends the planes of the points: weights exp(-|p - p_i|^2/eps). Sound values lie between 0.03 and 0.5 squared
/// spacings; a smooth surface of mean curvature H swells by eps H/2.
#include <Eigen/Dense>
#include <vector>

namespace farfield {

using PointRows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;

struct PointCloud {
    PointRows points;          ///< [m]
    PointRows normals;         ///< unit, outward
    double spacing = 0.0;      ///< mean distance of neighbours, sqrt(area/points) [m]
    double temperature = 0.0;  ///< [m^2]

    [[nodiscard]] int size() const { return static_cast<int>(points.rows()); }
};

/// Throws "<place>: ..." unless there are as many finite points as unit normals, at least one, and spacing and temperature are positive.
void validate(const PointCloud& cloud, const char* place);

/// The largest ball that touches one of the points from inside and holds no other [m]: how thick the body is, halved.
[[nodiscard]] double inradius(const PointCloud& cloud);

inline constexpr int kLeafPoints = 8;  ///< points of a leaf, and lanes of the widest vector

/// Points of one leaf, column by column. What lies beyond `count` repeats the last point.
struct alignas(64) LeafColumns {
    double x[kLeafPoints], y[kLeafPoints], z[kLeafPoints];
    double nx[kLeafPoints], ny[kLeafPoints], nz[kLeafPoints];
};

/// Nodes in depth-first order, root first; the left child of node k is k + 1.
struct PointNode {
    double centre[3];
    double radius;  ///< of a ball around all points below
    int first_leaf = 0, end_leaf = 0;
    int right = -1;  ///< right child, -1 at a leaf
};

struct PointTree {
    std::vector<PointNode> nodes;
    std::vector<LeafColumns> leaves;
    std::vector<int> order;  ///< point of every slot: leaf k holds slots 8 k to 8 k + 7
    int count = 0;

    [[nodiscard]] int num_leaves() const { return static_cast<int>(leaves.size()); }
    [[nodiscard]] int leaf_count(int leaf) const { return std::min(kLeafPoints, count - kLeafPoints * leaf); }
};

/// Split at the median of the longest side, in whole leaves; ties by index. `normals` may be empty: then they are zero.
[[nodiscard]] PointTree build_point_tree(const PointRows& points, const PointRows& normals = {});

/// Moves the points of a tree of the same size, keeping its splits.
void refit(const PointRows& points, PointTree& tree);

/// `count` points of a spiral on a sphere about the origin, at `temperature` squared spacings, drawn in by eps/(2 r) so that the zero of
/// the soft distance has the radius asked for.
[[nodiscard]] PointCloud sphere_cloud(double radius, int count, double temperature = 0.5);

}  // namespace farfield
