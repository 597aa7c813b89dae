// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/swept_gjk.hpp"

#include <algorithm>

namespace farfield {
namespace {

using Eigen::Vector3d;

}  // namespace

bool GjkSimplex::contains(const Vector3d& point) const {
    return std::any_of(points_.begin(), points_.begin() + size_, [&](const Vector3d& p) { return p == point; });
}

bool GjkSimplex::reduce(Vector3d& closest) {
    switch (size_) {
        case 1:
            closest = points_[0];
            return true;
        case 2:
            reduce_segment(closest);
            return true;
        case 3:
            reduce_triangle(closest);
            return true;
        default:
            return reduce_tetrahedron(closest);
    }
}

void GjkSimplex::reduce_segment(Vector3d& closest) {
    const Vector3d a = points_[0], ab = points_[1] - a;
    const double along = -a.dot(ab), length = ab.squaredNorm();
    if (along <= 0.0 || !(length > 0.0)) {
        size_ = 1;
        closest = a;
    } else if (along >= length) {
        points_[0] = points_[1];
        size_ = 1;
        closest = points_[0];
    } else {
        closest = a + ab * (along / length);
    }
}

/// Voronoi regions of a triangle; a triangle without area falls back to its edges.
void GjkSimplex::reduce_triangle(Vector3d& closest) {
    const Vector3d a = points_[0], b = points_[1], c = points_[2];
    const Vector3d normal = (b - a).cross(c - a);
    const double area = normal.squaredNorm();
    const double scale = (b - a).squaredNorm() * (c - a).squaredNorm();
    if (area > 1e-28 * scale) {
        const double u = normal.dot(b.cross(c)), v = normal.dot(c.cross(a)), w = normal.dot(a.cross(b));
        if (u >= 0.0 && v >= 0.0 && w >= 0.0) {
            closest = normal * (normal.dot(a) / area);
            return;
        }
    }
    GjkSimplex best;
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < 3; ++k) {
        GjkSimplex edge;
        edge.add(points_[k]);
        edge.add(points_[(k + 1) % 3]);
        Vector3d point;
        edge.reduce_segment(point);
        if (point.squaredNorm() < distance) {
            distance = point.squaredNorm();
            best = edge;
            closest = point;
        }
    }
    *this = best;
}

bool GjkSimplex::reduce_tetrahedron(Vector3d& closest) {
    static constexpr std::array<std::array<std::size_t, 4>, 4> kFaces{
        {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}};
    GjkSimplex best;
    double distance = std::numeric_limits<double>::infinity();
    bool outside = false;
    for (const auto& face : kFaces) {
        const Vector3d& a = points_[face[0]];
        const Vector3d normal = (points_[face[1]] - a).cross(points_[face[2]] - a);
        const double opposite = normal.dot(points_[face[3]] - a), origin = -normal.dot(a);
        // The origin is on the inner side of this face: some other face is closer. A flat tetrahedron has no inner
        // side.
        if (opposite * origin > 0.0) continue;
        outside = true;
        GjkSimplex triangle;
        triangle.add(a);
        triangle.add(points_[face[1]]);
        triangle.add(points_[face[2]]);
        Vector3d point;
        triangle.reduce_triangle(point);
        if (point.squaredNorm() < distance) {
            distance = point.squaredNorm();
            best = triangle;
            closest = point;
        }
    }
    if (!outside) return false;
    *this = best;
    return true;
}

}  // namespace farfield
