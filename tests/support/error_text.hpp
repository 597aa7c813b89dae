// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What an error says, so that tests can demand that it names the place, the value and the expectation.
#include <exception>
#include <string>

namespace farfield::testing {

/// Text of the exception that `call` throws, or "" when it does not throw.
template <class Call>
[[nodiscard]] std::string error_of(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

[[nodiscard]] inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace farfield::testing
