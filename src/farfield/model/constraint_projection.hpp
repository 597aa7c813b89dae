// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The state nearest to a given one that keeps all constraints, in the metric of the mass matrix.
///
/// Gauss-Newton: dq = -X G^T (G X G^T)^+ c, X = E (E^T M E)^-1 E^T, repeated; then v -= X G^T (G X G^T)^+ G v.
/// A redundant row (G X G^T singular) is held by the others.
#include <string>

#include "farfield/model/model.hpp"

namespace farfield {

/// A start with a smaller violation is taken as it is [m or rad].
inline constexpr double kClosedLoop = 1e-7;

struct ProjectedState {
    State state;
    double residual_before = 0.0, residual_after = 0.0;  ///< largest violation [m or rad]
    double moved = 0.0;                                  ///< largest change of a coordinate
    std::string worst;                                   ///< the constraint that was broken most
};

/// Scripted bodies stay where they are. Where constraints contradict each other, residual_after says by how much.
[[nodiscard]] ProjectedState project_onto_constraints(const Model& model, const Parameters& parameters,
                                                      const State& state);

/// Throws for a state that breaks a constraint by more than a step closes without a jolt.
void require_constraints(const Model& model, const Parameters& parameters, const State& state, const char* place);

}  // namespace farfield
