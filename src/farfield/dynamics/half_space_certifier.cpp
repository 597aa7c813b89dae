// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "farfield/dynamics/pair_certifier.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr int kMaxPlaneAdvances = 64;

/// Heights of the hull points above a plane over [t, t + length].
struct Heights {
    const PointColumns points;
    double required = 0.0;
    CurvatureBound bend;

    /// How far [0, length] all points stay at least `required` high; `lowest` receives the least height at the start.
    [[nodiscard]] double reach(const Vector3d& n, double offset, const Pose& first, const Pose& last, double length,
                               double& lowest) const {
        const Vector3d n0 = first.rotation.transpose() * n, n1 = last.rotation.transpose() * n;
        const double h0 = n.dot(first.position) - offset, h1 = n.dot(last.position) - offset;
        const double half_square = 0.5 * length * length;
        double fraction = 1.0;
        lowest = std::numeric_limits<double>::infinity();
        for (int i = 0; i < points.size; ++i) {
            const Vector3d x = points.point(i);
            const double radius = points.radius_of(i), bending = bend.at(x.norm()) * half_square;
            const double begin = n0.dot(x) + h0 - radius, end = n1.dot(x) + h1 - radius;
            lowest = std::min(lowest, begin);
            if (std::min(begin, end) - 0.25 * bending >= required) continue;
            fraction = begin <= required ? 0.0 : std::min(fraction, plane_reach(begin, end, bending, required));
        }
        return fraction * length;
    }
};

}  // namespace

PairCertificate certify_half_space(const HalfSpace& half_space, const CollisionShape& moving,
                                   const RelativeMotion& motion, const GapTargets& targets,
                                   const FilterOptions& options, double alpha) {
    const Vector3d& n = half_space.normal;
    CurvatureBound bend = motion.along(n);
    bend.base *= options.curvature_scale;
    bend.slope *= options.curvature_scale;
    const CollisionShape::Node& root = moving.root();
    Pose pose = motion.start();
    const Pose last = motion.at(alpha);
    // The whole body as a sphere, then as the hull of its points.
    const double square = alpha * alpha / 8.0;
    const double sphere = std::min(n.dot(pose * root.centre), n.dot(last * root.centre)) - half_space.offset -
                          root.radius - bend.at(root.centre.norm()) * square;
    if (sphere >= targets.required) return {alpha, sphere};
    const auto height = [&](const Pose& at) {
        return n.dot(at.position) - moving.hull().support(-(at.rotation.transpose() * n)) - half_space.offset;
    };
    const double hull = std::min(height(pose), height(last)) - bend.at(root.reach) * square;
    if (hull >= targets.required) return {alpha, hull};

    const Heights heights{.points = moving.hull(), .required = targets.required, .bend = bend};
    double t = 0.0;
    for (int iteration = 0; iteration < kMaxPlaneAdvances; ++iteration) {
        const double remaining = alpha - t;
        double lowest = 0.0;
        double step = heights.reach(n, half_space.offset, pose, last, remaining, lowest);
        if (step >= remaining) return {alpha, targets.required};
        if (lowest <= targets.stop) break;
        const double length = std::sqrt(16.0 * (lowest - targets.required) / std::max(bend.at(root.reach), 1e-300));
        if (length > step && length < remaining) {  // bending limits the step: a shorter chord has less of it
            step = std::max(step, heights.reach(n, half_space.offset, pose, motion.at(t + length), length, lowest));
        }
        if (step <= 0.0) break;
        t += step;
        pose = motion.at(t);
    }
    return {t, targets.required};
}

}  // namespace farfield
