// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A closed mesh cut into patches at its sharp edges, which are chained into curves.
#include <Eigen/Dense>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

/// An edge between two patches: its ends, and the triangle on either side.
struct SharpEdge {
    int from, to;
    int left, right;  ///< triangles; `left` runs from -> to
    int chain = -1;
};

/// Edges one after the other, without a corner between them.
struct EdgeChain {
    std::vector<std::pair<int, int>> edges;  ///< edge, vertex where it begins
    bool closed = false;
};

/// Vertices at the same place are one. Patches are named by one of their triangles.
class MeshPatches {
 public:
    /// Throws when the mesh is open.
    explicit MeshPatches(const TriangleMesh& mesh);

    [[nodiscard]] int num_triangles() const { return static_cast<int>(triangles_.size()); }
    [[nodiscard]] const Eigen::Vector3d& vertex(int v) const { return points_[static_cast<std::size_t>(v)]; }
    [[nodiscard]] const Eigen::Vector3d& corner(int t, int k) const {
        return vertex(triangles_[static_cast<std::size_t>(t)][static_cast<std::size_t>(k)]);
    }
    [[nodiscard]] const Eigen::Vector3d& normal(int t) const { return normals_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] double area(int t) const { return areas_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] int patch(int t) const { return patch_[static_cast<std::size_t>(t)]; }
    [[nodiscard]] bool flat(int patch) const { return flat_[static_cast<std::size_t>(patch)]; }
    [[nodiscard]] const std::vector<SharpEdge>& edges() const { return edges_; }
    [[nodiscard]] const SharpEdge& edge(int k) const { return edges_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] const std::vector<EdgeChain>& chains() const { return chains_; }
    /// The end of an edge that is not v.
    [[nodiscard]] int other_end(int edge, int v) const {
        const SharpEdge& e = edges_[static_cast<std::size_t>(edge)];
        return e.from == v ? e.to : e.from;
    }

    /// Angle of a patch around a vertex [rad].
    [[nodiscard]] double angle_at(int v, int patch) const;
    /// At a point of a triangle: the mean of the normals of its patch around the triangle's corners, blended.
    [[nodiscard]] Eigen::Vector3d smooth_normal(int t, const Eigen::Vector3d& p) const;
    /// Distance to the nearest sharp edge, those of one chain left aside.
    [[nodiscard]] double distance_to_edges(const Eigen::Vector3d& p, int but_chain = -1) const;

 private:
    void weld(const TriangleMesh& mesh);
    [[nodiscard]] int root(int t);
    void find_patches(const TriangleMesh& mesh);
    void chain_edges();
    [[nodiscard]] int next_edge(int edge, int v) const;
    [[nodiscard]] Eigen::Vector3d corner_normal(int v, int patch) const;

    std::vector<Eigen::Vector3d> points_, normals_;
    std::vector<std::array<int, 3>> triangles_;
    std::vector<double> areas_;
    std::vector<int> patch_;
    std::vector<bool> flat_;
    std::vector<SharpEdge> edges_;
    std::vector<std::vector<int>> around_;
    std::vector<EdgeChain> chains_;
    mutable std::map<std::pair<int, int>, Eigen::Vector3d> corner_normals_;
};

}  // namespace farfield
