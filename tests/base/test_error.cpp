// SPDX-License-Identifier: Apache-2.0
#include "farfield/base/error.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace farfield;

TEST_CASE("fail names place, value and expectation with all digits") {
    CHECK_THROWS_WITH_AS(fail("body '", "box", "': mass ", -0.1, ", expected > 0 [kg]"),
                         "body 'box': mass -0.10000000000000001, expected > 0 [kg]", std::invalid_argument);
}

TEST_CASE("fail_file is a runtime error") {
    CHECK_THROWS_WITH_AS(fail_file("cannot open ", "x.obj"), "cannot open x.obj", std::runtime_error);
}

TEST_CASE("a failed assertion names the condition and the line") {
    try {
        assertion_failed("a < b", "file.cpp", 7);
    } catch (const std::logic_error& error) {
        CHECK(std::string(error.what()) == "internal error, please report: a < b (file.cpp:7)");
        return;
    }
    FAIL("no exception");
}

TEST_CASE("FARFIELD_ASSERT is active exactly when it is enabled") {
#if defined(FARFIELD_ENABLE_ASSERT)
    CHECK_THROWS_AS(FARFIELD_ASSERT(1 + 1 == 3), std::logic_error);
#else
    CHECK_NOTHROW(FARFIELD_ASSERT(1 + 1 == 3));
#endif
    CHECK_NOTHROW(FARFIELD_ASSERT(1 + 1 == 2));
}
