// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Constants of the nested Newton, shared by the scalar reference and the lanes.

namespace farfield::contact::longrange {

inline constexpr double kFarValue = 12.0;      ///< limit of P at infinite distance
inline constexpr int kMaxPairIterations = 60;  ///< nested Newton
/// Rounding of lambda^2 and L per unit of max|x| sum 1/s^2, part of the stopping test. Slacks carried along (s += t
/// ds) allow a tenth of what slacks recomputed from the plane would need; in gaps of 1e-6 sizes it brings gradients
/// from 3e-7 to 6e-9.
inline constexpr double kEnergyNoise = 4e-16;
inline constexpr double kTouchNoise = 2e-15;  ///< gaps below kTouchNoise max|x| are rounding: the triangles touch
inline constexpr double kStepCap = 0.9;       ///< of the way to the boundary of the feasible set
inline constexpr double kArmijo = 1e-4;
inline constexpr int kMaxHalvings = 60;

}  // namespace farfield::contact::longrange
