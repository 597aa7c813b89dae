// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Random numbers that are the same on every platform.
///
/// std::mt19937_64 is fixed by the standard, but the distributions of <random> are not: these are.
#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace farfield {

using Random = std::mt19937_64;  ///< always seeded explicitly

/// In [0, 1), a multiple of 2^-53.
[[nodiscard]] inline double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

[[nodiscard]] inline double uniform(Random& random, double low, double high) {
    return low + (high - low) * uniform(random);
}

/// In 0 .. count - 1.
/// @pre 0 < count. The bias is below count/2^53.
[[nodiscard]] inline int uniform_index(Random& random, int count) {
    return static_cast<int>(uniform(random) * static_cast<double>(count));
}

/// Zero mean, unit variance: Box-Muller, one value per two draws so that no state is carried over.
[[nodiscard]] inline double normal(Random& random) {
    const double u = 1.0 - uniform(random);  // in (0, 1]
    const double angle = 2.0 * std::numbers::pi * uniform(random);
    return std::sqrt(-2.0 * std::log(u)) * std::cos(angle);
}

[[nodiscard]] inline Eigen::VectorXd normal_vector(Random& random, Eigen::Index size) {
    Eigen::VectorXd values(size);
    for (double& value : values) value = normal(random);
    return values;
}

/// Uniform on the unit sphere (Archimedes: height and longitude are independent and uniform).
[[nodiscard]] inline Eigen::Vector3d unit_vector(Random& random) {
    const double z = uniform(random, -1.0, 1.0);
    const double angle = 2.0 * std::numbers::pi * uniform(random);
    const double radius = std::sqrt((1.0 - z) * (1.0 + z));
    return {radius * std::cos(angle), radius * std::sin(angle), z};
}

/// Uniform among rotations: a unit quaternion from four normal values.
[[nodiscard]] inline Eigen::Matrix3d random_rotation(Random& random) {
    Eigen::Vector4d q;
    do {
        for (double& value : q) value = normal(random);
    } while (q.squaredNorm() < 1e-6);
    q.normalize();
    const double w = q(0), x = q(1), y = q(2), z = q(3);
    Eigen::Matrix3d m;
    m << 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),  //
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),   //
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y);
    return m;
}

}  // namespace farfield
