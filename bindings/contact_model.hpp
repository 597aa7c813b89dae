// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A contact model as Python sees it: options alone. What is built from them for a model is kept until it meets another one.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "farfield/base/error.hpp"
#include "farfield/contact/make_contact.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/io/contact_json.hpp"

namespace farfield::python {

class ContactModel {
 public:
    explicit ContactModel(contact::ContactOptions options) : options_(std::move(options)) {}
    virtual ~ContactModel() = default;  // Python sees the class of the model

    /// The potential and filter for `model`, built on the first call.
    [[nodiscard]] ContactSetup setup(const std::shared_ptr<const Model>& model) {
        const std::lock_guard lock(mutex_);
        if (model_ != model) {
            setup_ = make_contact_setup(*model, contact::make_contact_model(*model, options_), description());
            model_ = model;
        }
        return setup_;
    }
    [[nodiscard]] std::string description() const { return contact_to_json(options_); }

 private:
    contact::ContactOptions options_;
    std::mutex mutex_;
    std::shared_ptr<const Model> model_;  // Python makes a new owner for every call: a weak one would not outlive it
    ContactSetup setup_;
};

/// One Python class per model, with a constructor of its own options.
template <int Kind>
struct ContactModelKind : ContactModel {
    using ContactModel::ContactModel;
};
using LongRangeModel = ContactModelKind<0>;
using PolyhedralModel = ContactModelKind<1>;
using IpcModel = ContactModelKind<2>;
using IpcGlobalModel = ContactModelKind<3>;
using SoftminModel = ContactModelKind<4>;

template <class FrictionForm>
FrictionForm friction_form(const std::string& name, const char* model) {
    if (name == "paper") return FrictionForm::Paper;
    if (name != "projected") fail(model, ": friction_form '", name, "', expected 'projected' or 'paper'");
    return FrictionForm::Projected;
}

using ContactPtr = std::shared_ptr<ContactModel>;
/// What a rollout takes: a model, or the name of one with the defaults of its options.
using ContactArgument = std::optional<std::variant<ContactPtr, std::string>>;

/// Null for no contact. Throws, listing the names there are, for a name that is none of them.
[[nodiscard]] ContactPtr contact_of(const ContactArgument& argument);
/// With default options; the same object every time, so that what it has built is kept.
[[nodiscard]] ContactPtr contact_named(const std::string& name);
/// Of the class that belongs to the options.
[[nodiscard]] ContactPtr contact_with(const contact::ContactOptions& options);

}  // namespace farfield::python
