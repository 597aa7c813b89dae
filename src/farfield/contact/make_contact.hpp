// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact models by their options: the one place that knows all of them.
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/ipc/options.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/polyhedral/options.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact {

using ContactOptions = std::variant<longrange::LongRangeOptions, polyhedral::PolyhedralOptions, ipc::IpcOptions>;

/// Throws, naming the option, its value and what is expected.
[[nodiscard]] std::shared_ptr<const ContactPotential> make_contact(const Model& model, const ContactOptions& options);

/// "longrange", "polyhedral", "ipc" or "ipc-global".
[[nodiscard]] const char* name_of(const ContactOptions& options);
/// The defaults of the model with this name. Throws, listing the names there are, for any other.
[[nodiscard]] ContactOptions default_options(const std::string& name);

}  // namespace farfield::contact
