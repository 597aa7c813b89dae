// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact maps: signed distance of two grains as a function of their relative pose.
///
/// Paper:     [CEM2026, Sec. 3-6]
/// Symbols:   A, B grains; theta, X -> pose of B in A's frame: theta = th_B - th_A, X = R(-th_A)(x_B - x_A)
///            d -> signed distance: the gap, or minus the length of the shortest separating translation [m]
///            m -> p . n, with the contact point p (midpoint of the witness points) in A's frame, n the unit normal A to B
/// Deviation: one contact point for both grains, so that angular momentum is exact; exact labels instead of a grid search.
#include <memory>
#include <span>
#include <string>

#include "farfield/grains/shape.hpp"

namespace farfield::grains {

/// Pose of B in A's frame.
struct Relative {
    double theta = 0.0, x = 0.0, y = 0.0;  ///< [rad], [m], [m]
};

struct MapValue {
    double distance = 1.0;                       ///< d [m]; where positive only its sign is promised
    double g_theta = 0.0, g_x = 1.0, g_y = 0.0;  ///< gradient of d by theta [m] and X
    double arm = 0.0;                            ///< m [m]
};

class ContactMap {
 public:
    virtual ~ContactMap() = default;

    /// d and its gradient of `poses` into `values`, which is as long. Where d >= 0 the rest is unspecified.
    virtual void evaluate(std::span<const Relative> poses, MapValue* values) const = 0;

    [[nodiscard]] virtual std::string description() const = 0;

    [[nodiscard]] MapValue at(const Relative& pose) const {
        MapValue value;
        evaluate({&pose, 1}, &value);
        return value;
    }
};

/// Exact polygon distance and penetration depth: the oracle, and the map of small scenes.
[[nodiscard]] std::shared_ptr<const ContactMap> make_exact_map(const GrainShape& a, const GrainShape& b);

/// What the oracle gives, at any distance.
[[nodiscard]] MapValue exact_value(const GrainShape& a, const GrainShape& b, const Relative& pose);

}  // namespace farfield::grains
