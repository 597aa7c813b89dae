// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One term m(c) b(s) of the energy: its derivatives by the motion of body A, B held, and adjoints of its closest points.
///
/// With r = a - b, E = dr/dlambda (3 x free), and the twist (v, w) of A about the common origin:
///     s_u   = 2 (r; a x r)
///     s_uu  = 2 (D^T D + R) - 2 K (E^T E)^-1 K^T,   D = [1, -[a]x],   K = (E; a x E + da x r)
/// R = (r a^T + a r^T)/2 - (r.a) 1 in the ww block, from the second order of exp(w). This is the derivative of a minimum over lambda,
/// so one formula serves every case. Mollifier: c = |ea|^2 |eb|^2 - (ea.eb)^2 depends on w alone.
#include <Eigen/Dense>

#include "farfield/contact/ipc/barrier.hpp"
#include "farfield/contact/ipc/closest.hpp"
#include "farfield/contact/pairwise/relative_sum.hpp"

namespace farfield::contact::ipc {

/// What the second order of exp(w) gives a force at an arm: (f a^T + a f^T)/2 - (f.a) 1.
[[nodiscard]] inline Eigen::Matrix3d rotation_term(const Eigen::Vector3d& f, const Eigen::Vector3d& a) {
    Eigen::Matrix3d out = 0.5 * (f * a.transpose() + a * f.transpose());
    out.diagonal().array() -= f.dot(a);
    return out;
}

/// Adds value, gradient and Hessian.
void add_term(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier, RelativeSum& sum);

/// Normal force of a term per unit of weight: -d(m b)/d(distance).
[[nodiscard]] double normal_force(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier);

/// Adjoints of what friction takes from a term, and where they lead.
struct ClosestAdjoint {
    Eigen::Vector3d a = Eigen::Vector3d::Zero(), b = Eigen::Vector3d::Zero();  ///< by the closest points
    double squared = 0.0;                                                      ///< by s
    double mollifier = 0.0;                                                    ///< by m
};
/// Adds to `out`. `origin_a`, `origin_b`: body origins, in the axes and about the point of `closest`.
void pull_back(const Closest& closest, const Mollifier& mollifier, const ClosestAdjoint& adjoint,
               const Eigen::Vector3d& origin_a, const Eigen::Vector3d& origin_b, StartAdjoint& out);

}  // namespace farfield::contact::ipc
