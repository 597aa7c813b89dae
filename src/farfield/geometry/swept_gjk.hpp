// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Search for a direction that separates two convex sets, by the iteration of Gilbert, Johnson and Keerthi.
///
/// The sets are known by the support of their difference D = {y - x}: for a unit n, the lowest n . (y - x) and a point
/// that attains it.
/// That lowest value is a certified margin whatever the rounding of n; |v|, v the closest point of the current
/// simplex, is an upper bound
/// of the distance. The caller decides after each iteration whether the margin is enough, so most searches end after
/// one to three.
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <limits>

namespace farfield {

/// Up to four points of D and the point of their hull closest to the origin.
class GjkSimplex {
 public:
    GjkSimplex() { points_.fill(Eigen::Vector3d::Zero()); }
    void add(const Eigen::Vector3d& point) { points_[static_cast<std::size_t>(size_++)] = point; }
    [[nodiscard]] bool contains(const Eigen::Vector3d& point) const;
    /// Keeps only the points that carry the closest one. False when the origin lies inside.
    bool reduce(Eigen::Vector3d& closest);

 private:
    void reduce_segment(Eigen::Vector3d& closest);
    void reduce_triangle(Eigen::Vector3d& closest);
    bool reduce_tetrahedron(Eigen::Vector3d& closest);

    std::array<Eigen::Vector3d, 4> points_;
    int size_ = 0;
};

struct SeparationSearch {
    Eigen::Vector3d direction = Eigen::Vector3d::Zero();        ///< with the largest margin met, or the accepted one
    double margin = -std::numeric_limits<double>::infinity();   ///< certified along it
    double distance = std::numeric_limits<double>::infinity();  ///< upper bound
    bool accepted = false;
};

inline constexpr int kMaxGjkIterations = 32;
inline constexpr double kGjkTolerance = 1e-3;  ///< stop when margin and distance agree to this fraction

/// `support(n, point)` -> margin; `accept(n, margin)` -> bool. Ends as soon as the distance is known to be at most
/// `stop`.
template <class Support, class Accept>
[[nodiscard]] SeparationSearch search_separation(const Eigen::Vector3d& start, double stop, Support&& support,
                                                 Accept&& accept) {
    SeparationSearch result;
    GjkSimplex simplex;
    Eigen::Vector3d point, closest, n = start;
    for (int iteration = 0; iteration < kMaxGjkIterations; ++iteration) {
        const double margin = support(n, point);
        result.accepted = accept(n, margin);
        if (result.accepted || margin > result.margin) {
            result.direction = n;
            result.margin = margin;
        }
        if (result.accepted) break;
        const bool converged = iteration > 0 && result.distance - margin <= kGjkTolerance * result.distance;
        if (converged || simplex.contains(point)) break;
        simplex.add(point);
        if (!simplex.reduce(closest)) {
            result.distance = 0.0;
            break;
        }
        const double distance = closest.norm();
        if (distance <= stop || !(distance < result.distance)) {
            result.distance = std::min(distance, result.distance);
            break;
        }
        result.distance = distance;
        n = closest / distance;
    }
    return result;
}

}  // namespace farfield
