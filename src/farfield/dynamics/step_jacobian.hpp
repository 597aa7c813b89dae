// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The exact Jacobian of one step of a trajectory.
///
/// With x = (q, v) in tangent coordinates, n = num_dofs each:  dx_next = A dx + B du + S ds + C dtheta.
/// Rows of q_next are adjoint directions against one factor; rows of v_next follow from v_next = difference(q, q_next)/dt. A step that
/// was cut takes adjoint directions for both through its pieces.
#include <Eigen/Dense>

#include "farfield/dynamics/rollout.hpp"

namespace farfield {

struct StepJacobian {
    Eigen::MatrixXd A;  ///< (2n, 2n) by the state
    Eigen::MatrixXd B;  ///< (2n, num_controls) by the control
    Eigen::MatrixXd S;  ///< (2n, 6 num_kinematic) by the script at the end of the step, tangent
    Eigen::MatrixXd C;  ///< (2n, chosen) by parameters
};

/// Of the step from state `step` to the next. `parameters`: entries of the flat vector of Parameters (see parameter_mask). Throws for a step
/// the trajectory does not have or that did not converge.
[[nodiscard]] StepJacobian step_jacobian(const Trajectory& trajectory, int step, const Eigen::VectorXi& parameters = {},
                                         ThreadPool* pool = nullptr);

}  // namespace farfield
