// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Errors: one way to report a caller's mistake, one to catch our own.
///
/// A caller's mistake (bad scene, size, option, file) throws std::invalid_argument whose text names the place,
/// the value and the expectation: "build_model: body 'box': mass -1, expected > 0 [kg]".
/// A numerical outcome is never an exception: it is a status in a report.
/// Our own bug is an assertion, on in Debug, tests and sanitizer builds, absent in Release.
#include <sstream>
#include <stdexcept>
#include <string>

namespace farfield {

/// Throws std::invalid_argument with all arguments streamed together (17 significant digits).
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    std::ostringstream text;
    text.precision(17);
    (text << ... << parts);
    throw std::invalid_argument(text.str());
}

/// A file that cannot be read or written, or is truncated, foreign or damaged.
class FileError : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Throws FileError with all arguments streamed together (17 significant digits).
template <class... Parts>
[[noreturn]] void fail_file(const Parts&... parts) {
    std::ostringstream text;
    text.precision(17);
    (text << ... << parts);
    throw FileError(text.str());
}

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace farfield

#if defined(FARFIELD_ENABLE_ASSERT)
#define FARFIELD_ASSERT(condition) \
    ((condition) ? static_cast<void>(0) : ::farfield::assertion_failed(#condition, __FILE__, __LINE__))
#else
#define FARFIELD_ASSERT(condition) static_cast<void>(0)
#endif
