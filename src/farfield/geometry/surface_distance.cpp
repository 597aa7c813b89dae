// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/geometry/collision_shape.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/geometry/enclosing_mesh.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

struct Nearest {
    double distance = std::numeric_limits<double>::infinity();
    int triangle = 0;
};

double distance_to(const Triangle& triangle, const Vector3d& x) {
    return std::sqrt(point_triangle_distance(x, triangle).squared_distance);
}

Nearest nearest_triangle(const CollisionShape& shape, const Vector3d& x, std::vector<int>& stack) {
    Nearest best;
    stack.assign(1, 0);
    while (!stack.empty()) {
        const int index = stack.back();
        stack.pop_back();
        const CollisionShape::Node& node = shape.nodes()[static_cast<std::size_t>(index)];
        const Vector3d outside = ((x - node.box_centre).cwiseAbs() - node.box_half).cwiseMax(0.0);
        if (outside.norm() >= best.distance) continue;
        if (node.right < 0) {
            const double distance = distance_to(shape.triangle(node.triangle), x);
            if (distance < best.distance) best = {distance, node.triangle};
            continue;
        }
        const CollisionShape::Node& left = shape.nodes()[static_cast<std::size_t>(index) + 1];
        const CollisionShape::Node& right = shape.nodes()[static_cast<std::size_t>(node.right)];
        const bool left_first = (x - left.centre).squaredNorm() < (x - right.centre).squaredNorm();
        stack.push_back(left_first ? node.right : index + 1);
        stack.push_back(left_first ? index + 1 : node.right);
    }
    return best;
}

/// A piece of a triangle and the largest distance that any of its points can have: that of its centre and its radius, or of its corners
/// from one triangle of the other surface, since the distance from a convex set is convex.
struct Piece {
    double bound = 0.0;
    Triangle corners;
    bool operator<(const Piece& other) const { return bound < other.bound; }
};

}  // namespace

double surface_distance(const TriangleMesh& from, const TriangleMesh& to, double tolerance) {
    if (!(tolerance > 0.0)) fail("surface_distance: tolerance ", tolerance, ", expected > 0 [m]");
    const CollisionShape target(to);
    std::priority_queue<Piece> pieces;
    double reached = 0.0;  // some point is this far
    std::vector<int> stack;
    const auto add = [&](const Triangle& t) {  // in the frame of the target
        const Vector3d centre = (t[0] + t[1] + t[2]) / 3.0;
        const Nearest nearest = nearest_triangle(target, centre, stack);
        reached = std::max(reached, nearest.distance);
        double radius = 0.0, corner = 0.0;
        for (const Vector3d& x : t) {
            radius = std::max(radius, (x - centre).norm());
            corner = std::max(corner, distance_to(target.triangle(nearest.triangle), x));
        }
        const double bound = std::min(nearest.distance + radius, corner);
        if (bound > reached + tolerance) pieces.push({bound, t});
    };
    const Pose into = target.frame().inverse();
    for (Eigen::Index k = 0; k < from.triangles.rows(); ++k) {
        Triangle t;
        for (int c = 0; c < 3; ++c)
            t[static_cast<std::size_t>(c)] = into * Vector3d(from.vertices.row(from.triangles(k, c)).transpose());
        add(t);
    }
    while (!pieces.empty() && pieces.top().bound > reached + tolerance) {
        const Triangle t = pieces.top().corners;
        pieces.pop();
        const Vector3d m[3] = {0.5 * (t[0] + t[1]), 0.5 * (t[1] + t[2]), 0.5 * (t[2] + t[0])};
        add({t[0], m[0], m[2]});
        add({m[0], t[1], m[1]});
        add({m[2], m[1], t[2]});
        add({m[0], m[1], m[2]});
    }
    return reached + tolerance;
}

}  // namespace farfield
