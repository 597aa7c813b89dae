// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Search for a direction that separates two convex sets, by the iteration of gjk.hpp.
///
/// The sets are known by the support of their difference D = {y - x}: for a unit n, the lowest n . (y - x) and a point
/// that attains it. That lowest value is a certified margin whatever the rounding of n. The caller decides after each
/// iteration whether the margin is enough, so most searches end after one to three.
#include <Eigen/Dense>
#include <limits>

#include "farfield/geometry/gjk.hpp"

namespace farfield {

struct SeparationSearch {
    Eigen::Vector3d direction = Eigen::Vector3d::Zero();        ///< with the largest margin met, or the accepted one
    double margin = -std::numeric_limits<double>::infinity();   ///< certified along it
    double distance = std::numeric_limits<double>::infinity();  ///< upper bound
    bool accepted = false;
};

inline constexpr int kMaxSeparationIterations = 32;
inline constexpr double kSeparationTolerance = 1e-3;  ///< stop when margin and distance agree to this fraction

/// `support(n, point)` -> margin; `accept(n, margin)` -> bool. Ends as soon as the distance is known to be at most
/// `stop`.
template <class Support, class Accept>
[[nodiscard]] SeparationSearch search_separation(const Eigen::Vector3d& start, double stop, Support&& support,
                                                 Accept&& accept) {
    SeparationSearch result;
    Gjk gjk(start, kSeparationTolerance);
    Eigen::Vector3d point;
    for (int iteration = 0; iteration < kMaxSeparationIterations; ++iteration) {
        const Eigen::Vector3d n = gjk.direction();
        const double margin = support(n, point);
        result.accepted = accept(n, margin);
        if (result.accepted || margin > result.margin) {
            result.direction = n;
            result.margin = margin;
        }
        if (result.accepted) break;
        const GjkStatus status = gjk.add(Eigen::Vector3d::Zero(), point);
        result.distance = gjk.upper();
        if (status != GjkStatus::Searching || result.distance <= stop) break;
    }
    return result;
}

}  // namespace farfield
