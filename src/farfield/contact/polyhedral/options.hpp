// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options of the convex-polyhedron contact model.

namespace farfield::contact::polyhedral {

/// Projected: friction acts in points on the contact plane, momentum balances. Paper: in the vertices [SDRS2025, Eq. (12)].
enum class FrictionForm { Projected, Paper };

struct PolyhedralOptions {
    double range = 0.0;        ///< distance at which hulls begin to repel [m]; 0: by the scene, see automatic_range
    double margin = 0.1;       ///< s of the barrier: larger is softer in the plane's tilt; in (0, 1/2]
    double slip_speed = 1e-3;  ///< smoothing of friction [m/s]
    FrictionForm friction = FrictionForm::Projected;
};

/// Throws unless range >= 0, 0 < margin <= 1/2 and slip_speed > 0.
void validate(const PolyhedralOptions& options);

}  // namespace farfield::contact::polyhedral
