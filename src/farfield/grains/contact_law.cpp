// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/contact_law.hpp"

#include <algorithm>
#include <numbers>

#include "farfield/base/error.hpp"

namespace farfield::grains {

void validate(const ContactLaw& law) {
    const auto check = [](const char* name, double value, bool zero_allowed) {
        if (!std::isfinite(value) || value < 0.0 || (!zero_allowed && value == 0.0))
            fail("contact law: ", name, " ", value, ", expected finite and ", zero_allowed ? ">= 0" : "> 0");
    };
    check("normal_stiffness", law.normal_stiffness, false);
    check("normal_damping", law.normal_damping, true);
    check("tangent_stiffness", law.tangent_stiffness, true);
    check("tangent_damping", law.tangent_damping, true);
    check("friction", law.friction, true);
}

ContactLaw default_law(const LawInputs& in) {
    if (!(in.mass > 0.0 && in.radius > 0.0 && in.depth > 0.0))
        fail("default_law: mass ", in.mass, ", radius ", in.radius, ", depth ", in.depth, ", expected > 0");
    if (!(in.restitution > 0.0 && in.restitution <= 1.0))
        fail("default_law: restitution ", in.restitution, ", expected in (0, 1]");
    const double depth = in.depth * in.radius;
    ContactLaw law;
    law.normal_stiffness =
        std::max(in.layers * in.mass * in.gravity / depth, in.mass * in.speed * in.speed / (depth * depth));
    const double log_e = std::log(in.restitution);
    const double zeta = -log_e / std::sqrt(std::numbers::pi * std::numbers::pi + log_e * log_e);
    law.normal_damping = 2.0 * zeta * std::sqrt(law.normal_stiffness * 0.5 * in.mass);  // two equal grains, head on
    law.tangent_stiffness = 2.0 / 7.0 * law.normal_stiffness;
    law.tangent_damping = 0.5 * law.normal_damping;
    law.friction = in.friction;
    validate(law);
    return law;
}

double largest_stable_dt(const ContactLaw& law, double effective_mass) {
    const double frequency = std::sqrt(law.normal_stiffness / effective_mass);
    const double zeta = law.normal_damping / (2.0 * std::sqrt(law.normal_stiffness * effective_mass));
    return 2.0 * (std::sqrt(1.0 + zeta * zeta) - zeta) / frequency;
}

double default_dt(const ContactLaw& law, double effective_mass) {
    return 0.2 * std::sqrt(effective_mass / (6.0 * law.normal_stiffness));
}

}  // namespace farfield::grains
