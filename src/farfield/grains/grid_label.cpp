// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/grid_label.hpp"

#include <algorithm>
#include <limits>

namespace farfield::grains {

double grid_label(const Polygon& a, const Polygon& b, const Eigen::Vector2d& shift) {
    Eigen::Vector2d low = a.rings[0][0], high = low;
    for (const Eigen::Vector2d& p : a.rings[0]) {
        low = low.cwiseMin(p);
        high = high.cwiseMax(p);
    }
    const Eigen::Vector2d centre = 0.5 * (low + high), half = 0.55 * (high - low);
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kLabelGrid; ++i) {
        for (int j = 0; j < kLabelGrid; ++j) {
            const Eigen::Vector2d point(centre.x() + half.x() * (2.0 * i / (kLabelGrid - 1) - 1.0),
                                        centre.y() + half.y() * (2.0 * j / (kLabelGrid - 1) - 1.0));
            const double phi_a = signed_distance(a, point).distance;
            if (2.0 * phi_a >= best) continue;
            best = std::min(best, 2.0 * std::max(phi_a, signed_distance(b, point - shift).distance));
        }
    }
    return best;
}

}  // namespace farfield::grains
