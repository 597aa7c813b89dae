// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The contact law: a damped normal spring along the raw gradient of d, and a projected friction spring.
///
/// Paper:     [CEM2026, Alg. 1]
///            f_n = max(0, -k_n d - c_n d'),   f_t from the spring s += v_t dt, kept inside |f_t| <= mu f_n
/// Symbols:   d -> distance, v_t -> tangential velocity at the contact point, s -> tangential spring [m]
/// Deviation: transposed Jacobians, f_n never pulls, one contact point for both grains: linear and angular momentum are
///            exact for any map. PROJECTFACTOR is the lambda in [0, 1) with |lambda k_t s + c_t v_t| = mu f_n.
#include <cmath>

namespace farfield::grains {

struct ContactLaw {
    double normal_stiffness = 1e5;   ///< k_n [N/m]
    double normal_damping = 0.0;     ///< c_n [N s/m]
    double tangent_stiffness = 0.0;  ///< k_t [N/m]
    double tangent_damping = 0.0;    ///< c_t [N s/m]
    double friction = 0.5;           ///< mu between grains; walls have their own
};
/// Throws unless all are finite and >= 0, and k_n > 0.
void validate(const ContactLaw& law);

struct LawInputs {
    double mass = 1.0;         ///< of one grain [kg]
    double radius = 1.0;       ///< [m]
    double gravity = 9.81;     ///< [m/s^2]
    double layers = 100.0;     ///< grains above one another
    double speed = 0.0;        ///< of the fastest impact [m/s]
    double restitution = 0.5;  ///< in (0, 1]
    double friction = 0.5;
    double depth = 0.01;  ///< largest wanted penetration, in radii
};
/// k_n = max(layers m g / delta, m v^2 / delta^2), damping for the restitution of a head-on hit, k_t = 2/7 k_n, c_t = c_n/2.
[[nodiscard]] ContactLaw default_law(const LawInputs& inputs);

/// Largest stable step of one contact with effective mass m_eff: w dt < 2 (sqrt(1 + zeta^2) - zeta), w^2 = k_n/m_eff.
[[nodiscard]] double largest_stable_dt(const ContactLaw& law, double effective_mass);
/// w dt = 0.2 with six contacts at once.
[[nodiscard]] double default_dt(const ContactLaw& law, double effective_mass);

/// Friction spring of one contact, with the unit normal of the last step (zero when there was no contact).
struct Spring {
    double stretch = 0.0, normal_x = 0.0, normal_y = 0.0;

    [[nodiscard]] bool touching() const { return normal_x != 0.0 || normal_y != 0.0; }
};

inline constexpr double kCos30 = 0.8660254037844386;

/// Advances the spring by v_t dt and returns f_t. `normal_x/y` is the unit normal now: a contact that turned by more than
/// 30 degrees in one step is a new one.
inline double friction_force(const ContactLaw& law, double friction, double normal_force, double tangent_velocity,
                             double dt, double normal_x, double normal_y, Spring& spring) {
    if (spring.normal_x * normal_x + spring.normal_y * normal_y < kCos30) spring.stretch = 0.0;
    spring.normal_x = normal_x;
    spring.normal_y = normal_y;
    spring.stretch += tangent_velocity * dt;
    const double a = law.tangent_stiffness * spring.stretch, b = law.tangent_damping * tangent_velocity;
    const double limit = friction * normal_force;
    if (std::abs(b) > limit) {
        spring.stretch = 0.0;
        return -std::copysign(limit, tangent_velocity);
    }
    if (std::abs(a + b) > limit) {
        spring.stretch *= (std::copysign(limit, a + b) - b) / a;  // PROJECTFACTOR; a != 0 here
        return -std::copysign(limit, a + b);
    }
    return -(a + b);
}

}  // namespace farfield::grains
