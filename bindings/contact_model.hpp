// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A contact model as Python sees it: options alone. What is built from them for a model is kept as long as the model lives.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "farfield/dynamics/step_types.hpp"

namespace farfield::python {

class ContactModel {
 public:
    virtual ~ContactModel() = default;

    /// The potential and filter for `model`, built on the first call.
    [[nodiscard]] ContactSetup setup(const std::shared_ptr<const Model>& model) {
        const std::lock_guard lock(mutex_);
        if (model_.lock() != model) {
            setup_ = make_contact_setup(*model, build(*model), description());
            model_ = model;
        }
        return setup_;
    }
    [[nodiscard]] virtual std::string description() const = 0;

 protected:
    [[nodiscard]] virtual std::shared_ptr<const contact::ContactPotential> build(const Model& model) const = 0;

 private:
    std::mutex mutex_;
    std::weak_ptr<const Model> model_;
    ContactSetup setup_;
};

using ContactPtr = std::shared_ptr<ContactModel>;
/// What a rollout takes: a model, or the name of one with the defaults of its options.
using ContactArgument = std::optional<std::variant<ContactPtr, std::string>>;

/// Called once per name, when the module is loaded.
void register_contact(const std::string& name, ContactPtr with_defaults);
/// Null for no contact. Throws, listing the names there are, for a name that is none of them.
[[nodiscard]] ContactPtr contact_of(const ContactArgument& argument);

}  // namespace farfield::python
