// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Sines and cosines of many angles in SIMD lanes, to about two units in the last place.
#include <cstddef>

namespace farfield::grains {

/// The bits of a sine depend on its angle alone, not on its place: one at a time gives the same as many.
void sin_cos(const double* angles, std::size_t count, double* sines, double* cosines);

}  // namespace farfield::grains
