// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Our indices are signed; those of the standard library are not.
#include <cstddef>

namespace farfield {

[[nodiscard]] constexpr std::size_t at(int k) { return static_cast<std::size_t>(k); }

}  // namespace farfield
