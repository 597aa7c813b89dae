// SPDX-License-Identifier: Apache-2.0
/// @file  The one main of all C++ tests.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
