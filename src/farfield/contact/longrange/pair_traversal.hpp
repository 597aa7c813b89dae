// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The pair recursion in SIMD lanes, level by level: the four child pairs of a node pair are tested at once, then all far terms,
/// all band nodes of a level and all leaves are worked on four at a time.
///
/// `traverse` is declared in pair_work.hpp. A far or band term with dP/dr = s, d2P/dr2 = k adds, with U = r (e; a x e) = (a - b; b x a)
/// and beta = s / r, about o:
///     gradient  beta U
///     Hessian   (k - beta)/r^2 U U^T + beta [[1, .], [[a]x, (a.b) 1 - (a b^T + b a^T)/2]]
/// (J^T J of the points' motion and the curvature of exp(w) together leave the last block).
#include "farfield/contact/longrange/pair_work.hpp"

namespace farfield::contact::longrange {

/// Bottom-up over the band nodes, to whose sums the leaves and far terms have been added: completes the sums, and adds the bands' own
/// terms to the lower triangle of the Hessian.
void add_bands(BandTable& bands, Matrix6d& hessian);

}  // namespace farfield::contact::longrange
