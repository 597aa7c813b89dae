// SPDX-License-Identifier: Apache-2.0
/// @file  The module farfield._core. Bindings hold no algorithms.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_core, m) {
    m.doc() = "C++ core of farfield.";
    m.attr("__version__") = FARFIELD_VERSION;
}
