// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/mesh_overlap.hpp"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <vector>

#include "farfield/geometry/distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Box3 = Eigen::AlignedBox3d;

struct Placed {
    std::vector<Triangle> triangles;
    std::vector<double> radii;
    std::vector<Box3> boxes;
    Box3 bounds;
};

Placed place(const TriangleMesh& mesh, const Pose& pose) {
    Placed out;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        Triangle triangle;
        Box3 box;
        for (int k = 0; k < 3; ++k) {
            triangle[static_cast<std::size_t>(k)] =
                pose * Vector3d(mesh.vertices.row(mesh.triangles(t, k)).transpose());
            box.extend(triangle[static_cast<std::size_t>(k)]);
        }
        const double radius = mesh.radius(t);
        box.min().array() -= radius;
        box.max().array() += radius;
        out.triangles.push_back(triangle);
        out.radii.push_back(radius);
        out.boxes.push_back(box);
        out.bounds.extend(box);
    }
    return out;
}

void keep_near(Placed& part, const Box3& region) {
    Placed kept;
    for (std::size_t i = 0; i < part.triangles.size(); ++i) {
        if (!part.boxes[i].intersects(region)) continue;
        kept.triangles.push_back(part.triangles[i]);
        kept.radii.push_back(part.radii[i]);
        kept.boxes.push_back(part.boxes[i]);
    }
    kept.bounds = part.bounds;
    part = std::move(kept);
}

std::optional<Vector3d> crossing_point(const Placed& a, const Placed& b) {
    for (std::size_t i = 0; i < a.triangles.size(); ++i) {
        for (std::size_t j = 0; j < b.triangles.size(); ++j) {
            if (!a.boxes[i].intersects(b.boxes[j])) continue;
            const Triangle &x = a.triangles[i], &y = b.triangles[j];
            if (a.radii[i] + b.radii[j] > 0.0) {
                const SweptDistance found = swept_distance(x, a.radii[i], y, b.radii[j]);
                if (!(found.distance > 0.0)) return found.on_a;
            } else if (triangles_intersect(x, y)) {
                return triangle_triangle_distance(x, y).on_a;
            }
        }
    }
    return std::nullopt;
}

}  // namespace

bool contains(const TriangleMesh& mesh, const Vector3d& point) {
    double angle = 0.0;  // sum of signed solid angles
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        if (mesh.radius(t) > 0.0) continue;
        const Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)).transpose() - point;
        const Vector3d b = mesh.vertices.row(mesh.triangles(t, 1)).transpose() - point;
        const Vector3d c = mesh.vertices.row(mesh.triangles(t, 2)).transpose() - point;
        const double la = a.norm(), lb = b.norm(), lc = c.norm();
        angle += 2.0 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
    }
    return angle > 2.0 * std::numbers::pi;
}

std::optional<Vector3d> overlap_point(const TriangleMesh& a, const Pose& pose_a, const TriangleMesh& b,
                                      const Pose& pose_b) {
    if (a.triangles.rows() == 0 || b.triangles.rows() == 0) return std::nullopt;
    Placed first = place(a, pose_a), second = place(b, pose_b);
    if (!first.bounds.intersects(second.bounds)) return std::nullopt;
    const Vector3d vertex_a = first.triangles[0][0], vertex_b = second.triangles[0][0];
    const Box3 region = first.bounds.intersection(second.bounds);
    keep_near(first, region);
    keep_near(second, region);
    if (auto x = crossing_point(first, second)) return x;
    if (is_watertight(b) && contains(b, pose_b.inverse() * vertex_a)) return vertex_a;
    if (is_watertight(a) && contains(a, pose_a.inverse() * vertex_b)) return vertex_b;
    return std::nullopt;
}

}  // namespace farfield
