// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A coarser closed surface around a closed surface, and how far one surface is from another.
///
/// Edges are collapsed one by one, the one that adds the least volume first [Sander2000]: the new vertex lies on the outer side of the
/// planes of all triangles around the edge, so every collapse only adds to the solid. Where no such vertex exists the edge stays.
#include "farfield/geometry/triangle_mesh.hpp"

namespace farfield {

struct Simplification {
    int max_triangles = 0;  ///< stop here
    double max_distance =
        0.0;  ///< no collapse whose new vertex may be further than this from the surface it replaces [m]
};

/// Throws, naming the mesh, unless it is watertight.
[[nodiscard]] TriangleMesh enclosing_mesh(const TriangleMesh& mesh, const Simplification& wanted);

/// The largest distance of any point of `from` to the surface `to` [m], never too small and at most `tolerance` too large.
[[nodiscard]] double surface_distance(const TriangleMesh& from, const TriangleMesh& to, double tolerance);

}  // namespace farfield
