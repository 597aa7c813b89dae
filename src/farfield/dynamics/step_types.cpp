// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_types.hpp"

#include <cmath>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {

const char* name_of(Integrator integrator) {
    constexpr const char* kNames[] = {"automatic", "implicit", "euler", "rk4"};
    return kNames[static_cast<int>(integrator)];
}

void validate(const StepOptions& options) {
    if (!(options.dt > 0.0) || !std::isfinite(options.dt)) fail("step options: dt ", options.dt, ", expected > 0 [s]");
    if (!(options.tolerance > 0.0) || !std::isfinite(options.tolerance))
        fail("step options: tolerance ", options.tolerance, ", expected > 0");
    if (options.max_iterations < 1) fail("step options: max_iterations ", options.max_iterations, ", expected >= 1");
}

ContactSetup make_contact_setup(const Model& model, std::shared_ptr<const contact::ContactPotential> potential,
                                std::string description, const FilterOptions& filter) {
    auto surfaces = potential->surfaces(model.default_parameters());
    return {std::move(potential), std::make_shared<const CollisionFilter>(model, std::move(surfaces), filter),
            std::move(description)};
}

ContactSetup make_contact_setup(const Model& model, contact::MadeContact made, std::string description,
                                const FilterOptions& filter) {
    if (made.law) return {.description = std::move(description), .law = std::move(made.law)};
    return make_contact_setup(model, std::move(made.potential), std::move(description), filter);
}

bool StepContext::explicit_steps() const {
    const bool asked = options.integrator == Integrator::Euler || options.integrator == Integrator::Rk4;
    if (contact && asked) fail("step options: an explicit integrator, expected 'implicit' for a contact potential");
    if (law && options.integrator == Integrator::Implicit)
        fail("step options: integrator 'implicit', expected 'euler' or 'rk4' for a force law");
    return asked || law;
}

StepMemory make_memory(const StepContext& context) {
    if (context.law) return StepMemory{context.law->make_memory(context.pool), {}};
    return StepMemory{context.contact ? context.contact->make_memory(context.pool) : nullptr, {}};
}

std::vector<double> StepMemory::save() const {
    std::vector<double> values;
    const auto add = [&](const auto& part) {
        values.push_back(static_cast<double>(part.size()));
        values.insert(values.end(), part.begin(), part.end());
    };
    add(contact ? contact->save() : std::vector<double>{});
    add(filter.save());
    add(velocity_change);
    return values;
}

void StepMemory::restore(const std::vector<double>& values) {
    std::size_t at = 0;
    const auto take = [&] {
        const double left = static_cast<double>(values.size()) - static_cast<double>(at) - 1.0;
        if (!(left >= 0.0) || !(values[at] >= 0.0 && values[at] <= left) || values[at] != std::floor(values[at]))
            fail("step memory: ", values.size(), " numbers that are not those of a memory");
        const auto count = static_cast<std::size_t>(values[at]);
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        at += count + 1;
        return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(count));
    };
    const std::vector<double> of_contact = take(), of_filter = take(), change = take();
    if (at != values.size() || (!contact && !of_contact.empty()))
        fail("step memory: ", values.size(), " numbers that are not those of this scene");
    if (contact) contact->restore(of_contact);
    filter.restore(of_filter);
    velocity_change = Eigen::Map<const Eigen::VectorXd>(change.data(), static_cast<Eigen::Index>(change.size()));
}

const char* to_string(StepStatus status) {
    switch (status) {
        case StepStatus::Converged:
            return "converged";
        case StepStatus::MaxIterations:
            return "max_iterations";
        case StepStatus::LineSearchFailed:
            return "line_search_failed";
        case StepStatus::NonFinite:
            return "non_finite";
        case StepStatus::Intersecting:
            return "intersecting";
        case StepStatus::Squeezed:
            return "squeezed";
        case StepStatus::Penetrating:
            return "penetrating";
        case StepStatus::Unstable:
            return "unstable";
    }
    return "unknown";
}

}  // namespace farfield
