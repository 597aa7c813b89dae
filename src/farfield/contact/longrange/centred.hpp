// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The closed form for two distant nodes, and the blend between it and the sum over their children.
///
/// Formula:   C(r) = 12 (1 + r^-1/2)^2                    the separating-plane potential of two points at distance r
///            P = (1 - phi) S + phi C,  phi = 6u^5 - 15u^4 + 10u^3,  u = (r - d1)/(d2 - d1),  d1 = R + R', d2 = (1 + eps) d1
/// Deviation: optional zero offset (C - 12, P - 12 at leaves) and parallel areas with C(r + rho + rho'), both keep S >= C.
#include <cmath>

namespace farfield::contact::longrange {

struct Taylor {
    double value = 0.0, first = 0.0, second = 0.0;
};

/// C and its derivatives by r. `far_value` (12 or 0) is the limit at infinity: 24 q + 12 q^2 is C - 12 without cancellation.
[[nodiscard]] inline Taylor centred(double r, double far_value) {
    const double q = 1.0 / std::sqrt(r), q2 = q * q, q3 = q2 * q;
    return {12.0 * q * (2.0 + q) + far_value, -12.0 * (1.0 + q) * q3, q3 * q2 * (18.0 + 24.0 * q)};
}

[[nodiscard]] inline double centred_value(double r, double far_value) {
    const double q = 1.0 / std::sqrt(r);
    return 12.0 * q * (2.0 + q) + far_value;
}

/// phi, 1 - phi without cancellation near u = 1, and derivatives of phi by r.
struct Blend {
    double phi = 0.0, rest = 1.0, first = 0.0, second = 0.0;
};

/// @pre d1 < r < d1 + width
[[nodiscard]] inline Blend blend(double r, double d1, double width) {
    const double u = (r - d1) / width, v = (d1 + width - r) / width;
    return {u * u * u * (10.0 + u * (6.0 * u - 15.0)), v * v * v * (10.0 + v * (6.0 * v - 15.0)),
            30.0 * u * u * v * v / width, 60.0 * u * v * (v - u) / (width * width)};
}

/// As blend, and constant on both sides of the band.
[[nodiscard]] inline Blend step(double r, double d1, double width) {
    if (r <= d1) return {};
    if (r >= d1 + width) return {1.0, 0.0, 0.0, 0.0};
    return blend(r, d1, width);
}

/// (1 - psi) f where psi and its derivatives are those of `fade` by the same variable.
[[nodiscard]] inline Taylor faded(const Taylor& f, const Blend& fade) {
    return {fade.rest * f.value, fade.rest * f.first - fade.first * f.value,
            fade.rest * f.second - 2.0 * fade.first * f.first - fade.second * f.value};
}

}  // namespace farfield::contact::longrange
