// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/winding_number.hpp"

#include <cmath>
#include <numbers>

namespace farfield {

using Eigen::Vector3d;

double winding_number(const TriangleMesh& mesh, const Vector3d& p) {
    double sum = 0.0;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)).transpose() - p;
        const Vector3d b = mesh.vertices.row(mesh.triangles(t, 1)).transpose() - p;
        const Vector3d c = mesh.vertices.row(mesh.triangles(t, 2)).transpose() - p;
        const double x = a.norm(), y = b.norm(), z = c.norm();
        sum += 2.0 * std::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y);
    }
    return sum / (4.0 * std::numbers::pi);
}

}  // namespace farfield
