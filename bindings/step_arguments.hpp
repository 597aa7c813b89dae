// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What rollouts and simulations are told about their steps.
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield::python {

inline PdConvention pd_convention_of(const std::string& name) {
    if (name == "paper") return PdConvention::Paper;
    if (name != "standard") fail("pd_convention '", name, "', expected 'standard' or 'paper'");
    return PdConvention::Standard;
}

inline const char* name_of(PdConvention convention) { return convention == PdConvention::Paper ? "paper" : "standard"; }

inline Integrator integrator_of(const std::string& name) {
    for (const Integrator known : {Integrator::Automatic, Integrator::Implicit, Integrator::Euler, Integrator::Rk4}) {
        if (name == name_of(known)) return known;
    }
    fail("integrator '", name, "', expected 'automatic', 'implicit', 'euler' or 'rk4'");
}

/// What a rollout is told about its steps: one struct, or single numbers; dt is that of the model unless given.
inline StepOptions step_options(const std::shared_ptr<Model>& model, const std::optional<StepOptions>& given,
                                std::optional<double> dt, std::optional<double> tolerance,
                                std::optional<int> max_iterations, const std::optional<std::string>& pd_convention) {
    if (given && (dt || tolerance || max_iterations || pd_convention))
        fail("options and dt, tolerance, max_iterations or pd_convention, expected one or the others");
    StepOptions options =
        given.value_or(StepOptions{.dt = dt.value_or(model ? model->default_dt() : StepOptions{}.dt)});
    if (tolerance) options.tolerance = *tolerance;
    if (max_iterations) options.max_iterations = *max_iterations;
    if (pd_convention) options.pd_convention = pd_convention_of(*pd_convention);
    validate(options);
    return options;
}

/// The contact of a rollout, its filter with other options than the defaults when they are given.
inline ContactSetup setup_of(const ContactPtr& contact, const std::shared_ptr<Model>& model,
                             const std::optional<FilterOptions>& filter) {
    if (!contact) return {};
    ContactSetup setup = contact->setup(model);
    if (filter && setup.filter)
        setup.filter = std::make_shared<const CollisionFilter>(*model, setup.filter->surfaces(), *filter);
    return setup;
}

/// The model asked for; "automatic" is the long-range model where bodies may meet, else none. Null: no contact.
inline ContactPtr contact_for(const Model& model, const ContactArgument& argument) {
    const auto* name = argument ? std::get_if<std::string>(&*argument) : nullptr;
    if (!name || *name != "automatic") return contact_of(argument);
    return model.collision().pairs.empty() ? nullptr : contact_of(ContactArgument(std::string("longrange")));
}

}  // namespace farfield::python
