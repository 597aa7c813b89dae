// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact models as text: one JSON object with the name of the model and all its options.
#include <optional>
#include <string>
#include <string_view>

#include "farfield/contact/make_contact.hpp"

namespace farfield {

[[nodiscard]] std::string contact_to_json(const contact::ContactOptions& options);

/// None for {"engine": name}, the contact of another engine. Throws FileError "<place>: ..." on anything else but what contact_to_json
/// writes.
[[nodiscard]] std::optional<contact::ContactOptions> contact_from_json(std::string_view text, const std::string& place);

}  // namespace farfield
