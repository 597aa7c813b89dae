// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One pass over the vertices of a hull, a few per instruction.
#include "farfield/contact/polyhedral/hull_pair.hpp"

namespace farfield::contact::polyhedral {

/// A plane as the pass wants it: margins are n . (x - centre) + o, the side's sign included.
struct PassInput {
    double normal[3], offset, centre[3], margin;
};

/// value; a = sum P' x~ (4); rows of the upper triangle of Q = sum P'' x~ x~^T (10); x counted from the centre.
struct PassSums {
    double lowest = std::numeric_limits<double>::infinity();
    double value = 0.0, first[4] = {}, second[10] = {};
};

/// All sums are zero when no margin is below `input.margin`; they mean nothing when `lowest` is not positive.
void pass_over(const HullColumns& hull, const PassInput& input, PassSums& out);

}  // namespace farfield::contact::polyhedral
