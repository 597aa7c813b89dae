// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/closest_points.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <vector>

#include "farfield/geometry/distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

struct PlacedTriangle {
    Triangle corners;
    double radius = 0.0;
    Eigen::AlignedBox3d box;
};

std::vector<PlacedTriangle> place(const TriangleMesh& mesh, const Pose& pose) {
    std::vector<PlacedTriangle> out(static_cast<std::size_t>(mesh.triangles.rows()));
    for (std::size_t t = 0; t < out.size(); ++t) {
        for (int k = 0; k < 3; ++k) {
            const Vector3d x =
                pose * Vector3d(mesh.vertices.row(mesh.triangles(static_cast<Eigen::Index>(t), k)).transpose());
            out[t].corners[static_cast<std::size_t>(k)] = x;
            out[t].box.extend(x);
        }
        out[t].radius = mesh.radius(static_cast<Eigen::Index>(t));
        out[t].box.min().array() -= out[t].radius;
        out[t].box.max().array() += out[t].radius;
    }
    return out;
}

void meet_meshes(const TriangleMesh& a, const Pose& pose_a, const TriangleMesh& b, const Pose& pose_b,
                 ClosestPoints& best) {
    const std::vector<PlacedTriangle> first = place(a, pose_a), second = place(b, pose_b);
    Eigen::AlignedBox3d bounds;
    for (const PlacedTriangle& t : second) bounds.extend(t.box);
    for (const PlacedTriangle& t : first) {
        if (t.box.exteriorDistance(bounds) > best.distance) continue;
        for (const PlacedTriangle& u : second) {
            if (t.box.exteriorDistance(u.box) > best.distance) continue;
            const SweptDistance found = swept_distance(t.corners, t.radius, u.corners, u.radius);
            if (found.distance < best.distance) {
                best.distance = found.distance;
                best.point_a = found.on_a;
                best.point_b = found.on_b;
            }
        }
    }
}

/// The lowest vertex of a mesh over a half-space.
void meet_half_space(const HalfSpace& half, const Pose& ground, const TriangleMesh& mesh, const Pose& pose,
                     double& distance, Vector3d& foot, Vector3d& vertex) {
    const Vector3d normal = ground.rotation * half.normal;
    const double offset = half.offset + normal.dot(ground.position);
    const std::vector<double> radii = vertex_radii(mesh);
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
        const Vector3d x =
            pose * Vector3d(mesh.vertices.row(v).transpose()) - radii[static_cast<std::size_t>(v)] * normal;
        const double height = std::max(0.0, normal.dot(x) - offset);
        if (height >= distance) continue;
        distance = height;
        vertex = x;
        foot = x - height * normal;
    }
}

}  // namespace

ClosestPoints closest_points(const CollisionGeometry& geometry, const ContactPair& pair, const Poses& poses) {
    const CollisionBody& a = geometry.bodies[static_cast<std::size_t>(pair.a)];
    const CollisionBody& b = geometry.bodies[static_cast<std::size_t>(pair.b)];
    const Pose& pose_a = poses[static_cast<std::size_t>(pair.a)];
    const Pose& pose_b = poses[static_cast<std::size_t>(pair.b)];
    ClosestPoints best{.a = pair.a, .b = pair.b};
    meet_meshes(a.mesh, pose_a, b.mesh, pose_b, best);
    for (const HalfSpace& half : a.half_spaces)
        meet_half_space(half, pose_a, b.mesh, pose_b, best.distance, best.point_a, best.point_b);
    for (const HalfSpace& half : b.half_spaces)
        meet_half_space(half, pose_b, a.mesh, pose_a, best.distance, best.point_b, best.point_a);
    return best;
}

}  // namespace farfield
