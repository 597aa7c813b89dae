// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_types.hpp"

#include <cmath>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {

void validate(const StepOptions& options) {
    if (!(options.dt > 0.0) || !std::isfinite(options.dt)) fail("step options: dt ", options.dt, ", expected > 0 [s]");
    if (!(options.tolerance > 0.0) || !std::isfinite(options.tolerance))
        fail("step options: tolerance ", options.tolerance, ", expected > 0 [N]");
    if (options.max_iterations < 1) fail("step options: max_iterations ", options.max_iterations, ", expected >= 1");
}

ContactSetup make_contact_setup(const Model& model, std::shared_ptr<const contact::ContactPotential> potential,
                                std::string description, const FilterOptions& filter) {
    auto surfaces = potential->surfaces(model.default_parameters());
    return {std::move(potential), std::make_shared<const CollisionFilter>(model, std::move(surfaces), filter),
            std::move(description)};
}

StepMemory make_memory(const StepContext& context) {
    return StepMemory{context.contact ? context.contact->make_memory(context.pool) : nullptr, {}};
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
    }
    return "unknown";
}

}  // namespace farfield
