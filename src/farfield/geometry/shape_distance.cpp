// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/shape_distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/geometry/distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Node = CollisionShape::Node;

/// Walks pairs of nodes, nearer child first, as long as their bounds stay below what is already known.
class DistanceDescent {
 public:
    DistanceDescent(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a, double fraction)
        : a_(a), b_(b), pose_(b_in_a), spread_(b_in_a.rotation.cwiseAbs()), fraction_(fraction) {}

    /// Lower bound of the distance.
    double run() {
        visit(0, 0, bound(a_.root(), b_.root()));
        return std::min(upper_, pruned_);
    }
    /// Of all pairs of triangles looked at, the nearest points.
    [[nodiscard]] const SweptDistance& nearest() const { return nearest_; }

 private:
    [[nodiscard]] double bound(const Node& a, const Node& b) const {
        const double spheres = (pose_ * b.centre - a.centre).norm() - a.radius - b.radius;
        const Vector3d apart = (pose_ * b.box_centre - a.box_centre).cwiseAbs() - a.box_half - spread_ * b.box_half;
        return std::max({spheres, apart.cwiseMax(0.0).norm(), 0.0});
    }

    void visit(int i, int j, double lower) {
        if (lower >= fraction_ * upper_) {
            pruned_ = std::min(pruned_, lower);
            return;
        }
        const Node& a = a_.nodes()[static_cast<std::size_t>(i)];
        const Node& b = b_.nodes()[static_cast<std::size_t>(j)];
        if (a.right < 0 && b.right < 0) {
            const auto& y = b_.triangle(b.triangle);
            const double ra = a_.radius(a.triangle), rb = b_.radius(b.triangle);
            const Triangle placed{pose_ * y[0], pose_ * y[1], pose_ * y[2]};
            const SweptDistance found = swept_distance(a_.triangle(a.triangle), ra, placed, rb);
            if (found.distance >= upper_) return;
            upper_ = found.distance;
            nearest_ = found;
            return;
        }
        const bool split_a = b.right < 0 || (a.right >= 0 && a.radius >= b.radius);
        std::array<int, 2> children = split_a ? std::array{i + 1, a.right} : std::array{j + 1, b.right};
        std::array<double, 2> bounds{};
        for (std::size_t k = 0; k < 2; ++k) {
            bounds[k] = split_a ? bound(a_.nodes()[static_cast<std::size_t>(children[k])], b)
                                : bound(a, b_.nodes()[static_cast<std::size_t>(children[k])]);
        }
        const std::size_t near = bounds[1] < bounds[0] ? 1 : 0;
        for (const std::size_t k : {near, 1 - near})
            split_a ? visit(children[k], j, bounds[k]) : visit(i, children[k], bounds[k]);
    }

    const CollisionShape& a_;
    const CollisionShape& b_;
    const Pose& pose_;
    Eigen::Matrix3d spread_;
    double fraction_;
    double upper_ = std::numeric_limits<double>::infinity();
    SweptDistance nearest_;
    double pruned_ = std::numeric_limits<double>::infinity();  ///< least bound of what was not looked into
};

std::optional<Vector3d> find_crossing(const CollisionShape& a, const CollisionShape& b, const Pose& pose, int i,
                                      int j) {
    const Node& m = a.nodes()[static_cast<std::size_t>(i)];
    const Node& n = b.nodes()[static_cast<std::size_t>(j)];
    if ((pose * n.centre - m.centre).norm() > m.radius + n.radius) return std::nullopt;
    const Vector3d apart =
        (pose * n.box_centre - m.box_centre).cwiseAbs() - m.box_half - pose.rotation.cwiseAbs() * n.box_half;
    if (apart.maxCoeff() > 1e-12 * (m.reach + n.reach)) return std::nullopt;
    if (m.right < 0 && n.right < 0) {
        const auto& y = b.triangle(n.triangle);
        const double ra = a.radius(m.triangle), rb = b.radius(n.triangle);
        const Triangle &x = a.triangle(m.triangle), placed{pose * y[0], pose * y[1], pose * y[2]};
        const bool swept = ra + rb > 0.0;
        if (!swept && !triangles_intersect(x, placed)) return std::nullopt;
        const SweptDistance found = swept_distance(x, ra, placed, rb);
        if (swept && found.distance > 0.0) return std::nullopt;
        return found.on_a;
    }
    if (n.right < 0 || (m.right >= 0 && m.radius >= n.radius)) {
        if (auto x = find_crossing(a, b, pose, i + 1, j)) return x;
        return find_crossing(a, b, pose, m.right, j);
    }
    if (auto x = find_crossing(a, b, pose, i, j + 1)) return x;
    return find_crossing(a, b, pose, i, n.right);
}

}  // namespace

double distance_lower_bound(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a, double fraction) {
    return DistanceDescent(a, b, b_in_a, fraction).run();
}

SweptDistance nearest_points(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a) {
    DistanceDescent descent(a, b, b_in_a, 1.0);
    (void)descent.run();
    return descent.nearest();
}

std::optional<Vector3d> crossing_point(const CollisionShape& a, const CollisionShape& b, const Pose& b_in_a) {
    return find_crossing(a, b, b_in_a, 0, 0);
}

}  // namespace farfield
