// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  JSON from files nobody vouches for. For .cpp files of this room only: it brings in the JSON library.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace farfield {

/// Throws FileError "<place>: ..." on anything but one valid UTF-8 JSON text without repeated keys, nested at most
/// `max_depth` deep. Error texts quote no bytes of the text: these may not be printable.
[[nodiscard]] nlohmann::json parse_strict(std::string_view text, const std::string& place, int max_depth);

/// Compact UTF-8. Throws FileError "<place>: ..." when a string inside is not UTF-8.
[[nodiscard]] std::string dump_strict(const nlohmann::json& value, const std::string& place);

}  // namespace farfield
