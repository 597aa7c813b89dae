// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  State of one grain: one cache line.
#include "farfield/grains/angle_lanes.hpp"

namespace farfield::grains {

struct alignas(64) Body {
    double x = 0.0, y = 0.0, theta = 0.0;    ///< centroid [m], angle [rad]
    double cos = 1.0, sin = 0.0;             ///< of theta
    double vx = 0.0, vy = 0.0, omega = 0.0;  ///< [m/s], [rad/s]

    void set_angle(double angle) {
        theta = angle;
        sin_cos(&theta, 1, &sin, &cos);
    }
};

/// Force and torque about the centroid.
struct Wrench {
    double fx = 0.0, fy = 0.0, torque = 0.0;
};

}  // namespace farfield::grains
