// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The pair recursion in SIMD lanes: the four child pairs of a node pair are tested, and summed if far, at once.
///
/// `traverse` is declared in pair_work.hpp. A far or band term with dP/dr = s, d2P/dr2 = k adds, with U = r (e; a x e) = (a - b; b x a)
/// and beta = s / r, about o:
///     gradient  beta U
///     Hessian   (k - beta)/r^2 U U^T + beta [[1, .], [[a]x, (a.b) 1 - (a b^T + b a^T)/2]]
/// (J^T J of the points' motion and the curvature of exp(w) together leave the last block).
#include <vector>

#include "farfield/contact/longrange/pair_work.hpp"

namespace farfield::contact::longrange {

/// Bottom-up over the band nodes, whose sums over children are complete: adds their own terms.
void add_bands(std::vector<BandNode>& bands, RelativeSum& sum);

}  // namespace farfield::contact::longrange
