// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/collision_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "farfield/math/dense.hpp"
namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using CornerRows = Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>;

constexpr int kFrameTriangles = 8;  // largest triangles whose frames are tried
constexpr int kSphereIterations = 100;
constexpr double kConvexTolerance = 1e-9;  // of the size
constexpr double kMaxConvexWork = 4e7;     // triangles times vertices of the convexity test

Vector3d vertex(const TriangleMesh& mesh, Eigen::Index i) { return mesh.vertices.row(i).transpose(); }

/// Half the surface of the bounding box in the axes of `rotation`: small for tight boxes, flat ones included.
double box_cost(const TriangleMesh& mesh, const std::vector<int>& used, const Matrix3d& rotation) {
    Eigen::AlignedBox3d box;
    for (const int i : used) box.extend(Vector3d(rotation.transpose() * vertex(mesh, i)));
    const Vector3d side = box.sizes();
    return side.x() * side.y() + side.y() * side.z() + side.z() * side.x();
}

Matrix3d principal_axes(const TriangleMesh& mesh, const std::vector<int>& used) {
    Vector3d mean = Vector3d::Zero();
    for (const int i : used) mean += vertex(mesh, i) / static_cast<double>(used.size());
    Matrix3d spread = Matrix3d::Zero();
    for (const int i : used) spread += (vertex(mesh, i) - mean) * (vertex(mesh, i) - mean).transpose();
    Matrix3d axes = symmetric_eigen<3>(spread).vectors;
    if (axes.determinant() < 0.0) axes.col(0) *= -1.0;
    return axes;
}

/// Longest edge and normal of a triangle as axes; identity without area.
Matrix3d triangle_axes(const TriangleMesh& mesh, int t) {
    std::array<Vector3d, 3> p;
    for (int k = 0; k < 3; ++k) p[static_cast<std::size_t>(k)] = vertex(mesh, mesh.triangles(t, k));
    Vector3d edge = Vector3d::Zero();
    for (std::size_t k = 0; k < 3; ++k) {
        const Vector3d e = p[(k + 1) % 3] - p[k];
        // Edges that are not the diagonal of a rectangle: take the second longest, which is a side of it.
        const Vector3d f = p[(k + 2) % 3] - p[(k + 1) % 3], g = p[k] - p[(k + 2) % 3];
        const double low = std::min(f.norm(), g.norm()), high = std::max(f.norm(), g.norm());
        if (e.norm() >= low && e.norm() <= high) edge = e;
    }
    const Vector3d normal = (p[1] - p[0]).cross(p[2] - p[0]);
    if (!(normal.norm() > 0.0) || !(edge.norm() > 0.0)) return Matrix3d::Identity();
    Matrix3d axes;
    axes.col(2) = normal.normalized();
    axes.col(0) = (edge - axes.col(2) * axes.col(2).dot(edge)).normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
    return axes;
}

Pose aligned_frame(const TriangleMesh& mesh, const std::vector<int>& used) {
    std::vector<int> order(static_cast<std::size_t>(mesh.triangles.rows()));
    std::iota(order.begin(), order.end(), 0);
    const auto area = [&](int t) {
        return (vertex(mesh, mesh.triangles(t, 1)) - vertex(mesh, mesh.triangles(t, 0)))
            .cross(vertex(mesh, mesh.triangles(t, 2)) - vertex(mesh, mesh.triangles(t, 0)))
            .norm();
    };
    std::vector<double> areas;
    for (const int t : order) areas.push_back(area(t));
    std::stable_sort(order.begin(), order.end(), [&](int s, int t) {
        return areas[static_cast<std::size_t>(s)] > areas[static_cast<std::size_t>(t)];
    });
    Matrix3d best = Matrix3d::Identity();
    double best_cost = box_cost(mesh, used, best);
    const auto consider = [&](const Matrix3d& axes) {
        const double cost = box_cost(mesh, used, axes);
        if (cost < best_cost * (1.0 - 1e-6)) {  // prefer the body's own axes
            best = axes;
            best_cost = cost;
        }
    };
    consider(principal_axes(mesh, used));
    for (std::size_t k = 0; k < std::min<std::size_t>(order.size(), kFrameTriangles); ++k)
        consider(triangle_axes(mesh, order[k]));
    Eigen::AlignedBox3d box;
    for (const int i : used) box.extend(Vector3d(best.transpose() * vertex(mesh, i)));
    return Pose{best, best * box.center()};
}

/// Badoiu and Clarkson: walk towards the farthest point with steps 1/(k + 1); then the radius is measured.
void tight_sphere(const std::vector<Vector3d>& points, const std::vector<double>& radii,
                  const std::vector<int>& members, const Vector3d& first, Vector3d& centre, double& radius) {
    const auto farthest = [&](const Vector3d& c) {
        int best = members.front();
        double distance = -1.0;
        for (const int i : members) {
            const double r = radii[static_cast<std::size_t>(i)];
            const double squared = (points[static_cast<std::size_t>(i)] - c).squaredNorm();
            const double d = r > 0.0 ? std::pow(std::sqrt(squared) + r, 2) : squared;
            if (d > distance) {
                distance = d;
                best = i;
            }
        }
        return std::pair(best, std::sqrt(distance));
    };
    centre = first;
    radius = farthest(first).second;
    Vector3d c = first;
    for (int k = 1; k <= kSphereIterations; ++k) {
        const auto [index, distance] = farthest(c);
        if (distance < radius) {
            radius = distance;
            centre = c;
        }
        c += (points[static_cast<std::size_t>(index)] - c) / static_cast<double>(k + 1);
    }
    radius *= 1.0 + 1e-14;  // the measured radius is rounded
}

}  // namespace

PointColumns CollisionShape::columns(const Columns& source, int first, int size) const {
    const double* radius = round_ ? source[3].data() + first : nullptr;
    return {source[0].data() + first, source[1].data() + first, source[2].data() + first, size, radius};
}

void CollisionShape::add_point(int vertex, Columns& to) const {
    const auto k = static_cast<std::size_t>(vertex);
    for (std::size_t c = 0; c < 3; ++c) to[c].push_back(vertices_[k][static_cast<Eigen::Index>(c)]);
    to[3].push_back(vertex_radii_[k]);
}

CollisionShape::CollisionShape(const TriangleMesh& mesh) {
    const auto count = static_cast<std::size_t>(mesh.triangles.rows());
    if (count == 0) return;
    std::vector<int> used(mesh.triangles.data(), mesh.triangles.data() + mesh.triangles.size());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    frame_ = aligned_frame(mesh, used);
    vertex_radii_ = vertex_radii(mesh);
    round_ = !mesh.radii.empty();
    const Pose inverse = frame_.inverse();
    for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) vertices_.push_back(inverse * vertex(mesh, i));
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        std::array<Vector3d, 3> corners;
        for (int k = 0; k < 3; ++k)
            corners[static_cast<std::size_t>(k)] = vertices_[static_cast<std::size_t>(mesh.triangles(t, k))];
        const Vector3d normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        const double length = normal.norm();
        triangles_.push_back(corners);
        radii_.push_back(mesh.radius(t));
        normals_.push_back(length > 0.0 ? Vector3d(normal / length) : Vector3d::Zero());
    }
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    nodes_.reserve(2 * count - 1);
    build(order, 0, static_cast<int>(count), mesh.triangles);
    set_hull(mesh);
}

int CollisionShape::build(std::vector<int>& order, int begin, int end, const CornerRows& corners) {
    const int index = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    set_volumes(nodes_.back(), order, begin, end, corners);
    if (end - begin == 1) {
        nodes_.back().triangle = order[static_cast<std::size_t>(begin)];
        return index;
    }
    const auto centre = [&](int t) -> Vector3d {
        const auto& p = triangles_[static_cast<std::size_t>(t)];
        return p[0] + p[1] + p[2];
    };
    Eigen::AlignedBox3d box;
    for (int k = begin; k < end; ++k) box.extend(centre(order[static_cast<std::size_t>(k)]));
    Eigen::Index axis = 0;
    box.sizes().maxCoeff(&axis);
    const int middle = begin + (end - begin) / 2;
    std::nth_element(order.begin() + begin, order.begin() + middle, order.begin() + end, [&](int s, int t) {
        const double a = centre(s)[axis], b = centre(t)[axis];
        return a != b ? a < b : s < t;
    });
    build(order, begin, middle, corners);
    const int right = build(order, middle, end, corners);
    nodes_[static_cast<std::size_t>(index)].right = right;
    return index;
}

void CollisionShape::set_volumes(Node& node, const std::vector<int>& order, int begin, int end,
                                 const CornerRows& corners) {
    std::vector<int> members;
    for (int k = begin; k < end; ++k) {
        for (int c = 0; c < 3; ++c) members.push_back(corners(order[static_cast<std::size_t>(k)], c));
    }
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    Eigen::AlignedBox3d box;
    for (const int i : members) {
        const Vector3d& x = vertices_[static_cast<std::size_t>(i)];
        const Vector3d around = Vector3d::Constant(vertex_radii_[static_cast<std::size_t>(i)]);
        box.extend(x - around).extend(x + around);
        node.reach = std::max(node.reach, vertices_[static_cast<std::size_t>(i)].norm());
    }
    node.box_centre = box.center();
    node.box_half = 0.5 * box.sizes();
    tight_sphere(vertices_, vertex_radii_, members, node.box_centre, node.centre, node.radius);
    if (members.size() > kClusterSize) return;
    node.first_point = static_cast<int>(cluster_points_[0].size());
    node.num_points = static_cast<int>(members.size());
    for (const int i : members) add_point(i, cluster_points_);
}

void CollisionShape::set_hull(const TriangleMesh& mesh) {
    std::vector<int> used(mesh.triangles.data(), mesh.triangles.data() + mesh.triangles.size());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (const int i : used) add_point(i, hull_points_);
    const double work = static_cast<double>(used.size()) * static_cast<double>(mesh.triangles.rows());
    convex_ = !round_ && work <= kMaxConvexWork && is_watertight(mesh);
    const PointColumns points = hull();
    const double tolerance = kConvexTolerance * root().reach;
    for (std::size_t t = 0; convex_ && t < triangles_.size(); ++t) {
        convex_ = points.support(normals_[t]) <= normals_[t].dot(triangles_[t][0]) + tolerance;
    }
}

}  // namespace farfield
