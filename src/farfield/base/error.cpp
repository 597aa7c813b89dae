// SPDX-License-Identifier: Apache-2.0
#include "farfield/base/error.hpp"

namespace farfield {

void assertion_failed(const char* condition, const char* file, int line) {
    std::ostringstream text;
    text << "internal error, please report: " << condition << " (" << file << ":" << line << ")";
    throw std::logic_error(text.str());
}

}  // namespace farfield
