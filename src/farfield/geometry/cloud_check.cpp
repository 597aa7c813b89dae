// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/cloud_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/random.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/geometry/soft_distance.hpp"
#include "farfield/geometry/winding_number.hpp"

namespace farfield {

using Eigen::Vector3d;

double sign_errors(const PointCloud& cloud, std::span<const TriangleMesh> parts, int samples) {
    PointRows points(samples, 3);
    Eigen::Array<bool, Eigen::Dynamic, 1> inside(samples);
    Random random(2);
    for (int counted = 0; counted < samples;) {
        const int k = uniform_index(random, cloud.size());
        const Vector3d p = cloud.points.row(k).transpose() +
                           cloud.spacing * (uniform(random, -3.0, 3.0) * cloud.normals.row(k).transpose() +
                                            0.5 * normal_vector(random, 3).head<3>());
        double winding = 0.0, near = std::numeric_limits<double>::infinity();
        for (const TriangleMesh& part : parts) {
            winding = std::max(winding, winding_number(part, p));
            for (Eigen::Index t = 0; t < part.triangles.rows(); ++t) {
                const auto corner = [&](int c) -> Vector3d {
                    return part.vertices.row(part.triangles(t, c)).transpose();
                };
                near = std::min(near, point_triangle_distance(p, {corner(0), corner(1), corner(2)}).squared_distance);
            }
        }
        near = std::sqrt(near);
        if (near < 0.1 * cloud.spacing || near > 3.0 * cloud.spacing) continue;
        points.row(counted) = p.transpose();
        inside[counted++] = winding > 0.5;
    }
    const Eigen::VectorXd phi = SoftDistance(cloud).evaluate(points, 0).value;
    return static_cast<double>(((phi.array() < 0.0) != inside).count()) / samples;
}

}  // namespace farfield
