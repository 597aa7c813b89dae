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

/// The leaves of a near pair after the recursion: those out of range go, and those that fade get a band node of their own with zero in
/// place of C. These stand in the last level of the table, so every parent still comes before its children.
void fade_leaves(const Shape& a, const RotatedShape& rotated_a, const Shape& b, const RotatedShape& rotated_b,
                 const PairFrame& frame, const PotentialForm& form, Wanted wanted, PairWork& work);

/// Bottom-up over the band nodes, to whose sums the leaves and far terms have been added: completes the sums, and adds the bands' own
/// terms to the lower triangle of the Hessian.
void add_bands(BandTable& bands, Matrix6d& hessian);

}  // namespace farfield::contact::longrange
