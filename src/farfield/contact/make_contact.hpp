// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact models by their options: the one place that knows all of them.
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/contact/force_law.hpp"
#include "farfield/contact/ipc/options.hpp"
#include "farfield/contact/longrange/options.hpp"
#include "farfield/contact/polyhedral/options.hpp"
#include "farfield/contact/softmin/options.hpp"
#include "farfield/model/model.hpp"

namespace farfield::contact {

using ContactOptions =
    std::variant<longrange::LongRangeOptions, polyhedral::PolyhedralOptions, ipc::IpcOptions, softmin::SoftminOptions>;

/// The model of the options: a potential or, of softmin, a force law; the other is null. Throws, naming the option, its value and what is
/// expected.
struct MadeContact {
    std::shared_ptr<const ContactPotential> potential;
    std::shared_ptr<const ForceLaw> law;
};
[[nodiscard]] MadeContact make_contact_model(const Model& model, const ContactOptions& options);

/// Of options that describe a potential.
[[nodiscard]] std::shared_ptr<const ContactPotential> make_contact(const Model& model, const ContactOptions& options);

/// "longrange", "polyhedral", "ipc", "ipc-global" or "softmin".
[[nodiscard]] const char* name_of(const ContactOptions& options);
/// The defaults of the model with this name. Throws, listing the names there are, for any other.
[[nodiscard]] ContactOptions default_options(const std::string& name);

}  // namespace farfield::contact
