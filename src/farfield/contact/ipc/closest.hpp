// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Closest points of two features, one on each body, with the directions in which they are free to slide.
///
/// s = min over lambda of |a(lambda) - b(lambda)|^2, lambda the 0 to 2 parameters that are inside their bounds. Which ones these are
/// is all that distinguishes the cases of [Li2020, Sec. 3]: vertex, edge or interior of a triangle, and the same for two edges.
#include <Eigen/Dense>
#include <algorithm>

namespace farfield::contact::ipc {

struct Closest {
    Eigen::Vector3d a, b;   ///< on the features of bodies A and B
    double squared = 0.0;   ///< |a - b|^2
    int free = 0;           ///< number of parameters
    Eigen::Vector3d da[2];  ///< by each parameter: derivative of a
    Eigen::Vector3d db[2];  ///< and of b; that of a body to which the parameter does not belong is zero
};

inline constexpr double kParallelLimit = 1e-3;  ///< of the mollifier, in |ea|^2 |eb|^2

/// 1 - (1 - c/limit)^2 below the limit, 1 above: fades out edges that become parallel [Li2020, Eq. (23)]. c = |ea x eb|^2.
struct Mollifier {
    double value = 1.0, first = 0.0, second = 0.0;  ///< and derivatives by c
    bool active = false;
    Eigen::Vector3d ea, eb;  ///< the edges, only when active
};

/// A point with parameters on a triangle.
struct OnTriangle {
    Eigen::Vector3d point;
    int free = 0;
    Eigen::Vector3d direction[2];
};
[[nodiscard]] OnTriangle closest_on_triangle(const Eigen::Vector3d& p, const Eigen::Vector3d& x0,
                                             const Eigen::Vector3d& x1, const Eigen::Vector3d& x2);

/// The vertex is on A, the triangle on B.
inline void vertex_face(const Eigen::Vector3d& p, const Eigen::Vector3d& x0, const Eigen::Vector3d& x1,
                        const Eigen::Vector3d& x2, Closest& out) {
    const OnTriangle on = closest_on_triangle(p, x0, x1, x2);
    out.a = p;
    out.b = on.point;
    out.squared = (p - on.point).squaredNorm();
    out.free = on.free;
    for (int k = 0; k < on.free; ++k) {
        out.da[k].setZero();
        out.db[k] = on.direction[k];
    }
}
/// The triangle is on A, the vertex on B.
inline void face_vertex(const Eigen::Vector3d& x0, const Eigen::Vector3d& x1, const Eigen::Vector3d& x2,
                        const Eigen::Vector3d& p, Closest& out) {
    vertex_face(p, x0, x1, x2, out);
    std::swap(out.a, out.b);
    for (int k = 0; k < out.free; ++k) out.da[k].swap(out.db[k]);
}

void edge_edge(const Eigen::Vector3d& a0, const Eigen::Vector3d& a1, const Eigen::Vector3d& b0,
               const Eigen::Vector3d& b1, Closest& out);

/// `limit` = kParallelLimit times the squared lengths of the edges at rest, which for rigid bodies is always.
[[nodiscard]] Mollifier edge_mollifier(const Eigen::Vector3d& ea, const Eigen::Vector3d& eb, double limit);

}  // namespace farfield::contact::ipc
