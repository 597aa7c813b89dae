// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Whether surfaces meet, by brute force and exact signs, for tests: shares nothing with the collision filter but the signs.
#include <array>
#include <vector>

#include "farfield/geometry/predicates.hpp"
#include "farfield/math/pose.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::testing {

using Corners = std::array<Eigen::Vector3d, 3>;

inline std::vector<Corners> placed_triangles(const TriangleMesh& mesh, const Pose& pose) {
    std::vector<Corners> out;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        Corners corners;
        for (int k = 0; k < 3; ++k)
            corners[static_cast<std::size_t>(k)] = pose * mesh.vertices.row(mesh.triangles(t, k)).transpose();
        out.push_back(corners);
    }
    return out;
}

/// Whether the closed segment meets the closed triangle, a segment in its plane excepted.
inline bool pierces(const Eigen::Vector3d& p, const Eigen::Vector3d& q, const Corners& t) {
    const int above = orientation(t[0], t[1], t[2], p), below = orientation(t[0], t[1], t[2], q);
    if (above * below > 0 || (above == 0 && below == 0)) return false;
    const int u = orientation(p, q, t[0], t[1]), v = orientation(p, q, t[1], t[2]), w = orientation(p, q, t[2], t[0]);
    return (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
}

/// Exact for the rounded places of the vertices: an edge of one triangle goes through the other.
inline bool surfaces_cross(const TriangleMesh& a, const Pose& pose_a, const TriangleMesh& b, const Pose& pose_b) {
    const std::vector<Corners> first = placed_triangles(a, pose_a), second = placed_triangles(b, pose_b);
    for (const Corners& s : first) {
        for (const Corners& t : second) {
            for (std::size_t k = 0; k < 3; ++k) {
                if (pierces(s[k], s[(k + 1) % 3], t) || pierces(t[k], t[(k + 1) % 3], s)) return true;
            }
        }
    }
    return false;
}

/// Any contact pair of the model, half-spaces included.
inline bool any_crossing(const CollisionGeometry& geometry, const Poses& poses) {
    const auto below = [&](std::size_t ground, std::size_t body) {
        for (const HalfSpace& half : geometry.bodies[ground].half_spaces) {
            const auto& vertices = geometry.bodies[body].mesh.vertices;
            for (Eigen::Index v = 0; v < vertices.rows(); ++v) {
                const Eigen::Vector3d x = poses[ground].inverse() * (poses[body] * vertices.row(v).transpose());
                if (half.normal.dot(x) <= half.offset) return true;
            }
        }
        return false;
    };
    for (const ContactPair& pair : geometry.pairs) {
        const auto a = static_cast<std::size_t>(pair.a), b = static_cast<std::size_t>(pair.b);
        if (below(a, b) || below(b, a) ||
            surfaces_cross(geometry.bodies[a].mesh, poses[a], geometry.bodies[b].mesh, poses[b]))
            return true;
    }
    return false;
}

}  // namespace farfield::testing
