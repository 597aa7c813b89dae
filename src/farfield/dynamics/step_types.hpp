// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options and results of one implicit time step.
#include <Eigen/Dense>
#include <limits>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/model/model.hpp"

namespace farfield {

/// Standard: 1/2 kp |q* - q|^2 + 1/2 kd dt |v* - v|^2. Paper: the same without the halves and the dt [SDRS2025, Eq. (5)].
enum class PdConvention { Standard, Paper };

struct StepOptions {
    double dt = 0.01;          ///< time step [s]
    double tolerance = 1e-8;   ///< Newton stop, infinity norm of the gradient [N, N m]; 1e-6 is enough without gradients
    int max_iterations = 100;
    PdConvention pd_convention = PdConvention::Standard;
};

/// Throws unless dt > 0, tolerance > 0, max_iterations >= 1.
void validate(const StepOptions& options);

enum class StepStatus { Converged, MaxIterations, LineSearchFailed, NonFinite, Intersecting };
[[nodiscard]] const char* to_string(StepStatus status);

/// Every step comes with a certificate.
struct StepReport {
    StepStatus status = StepStatus::Converged;
    int iterations = 0;
    /// Gradient norm [N, N m] where the last full Newton step was computed, which was then still taken.
    double residual = 0.0;
    double min_gap = std::numeric_limits<double>::infinity();  ///< certified lower bound along the path [m]
    double shortest_step = 1.0;                                ///< smallest fraction of a Newton step the collision filter let pass
    double conditioning = 1.0;                                 ///< smallest over largest pivot of the last Hessian
    double kinetic = 0.0, potential = 0.0, contact = 0.0;      ///< energies at the end of the step [J]
};

/// What is fixed for a whole rollout. `contact` may be null.
struct StepContext {
    const Model& model;
    const Parameters& parameters;
    const contact::ContactPotential* contact = nullptr;
    StepOptions options{};
};

/// What drives one step: controls, and the next coordinates (7 each) of the kinematic bodies.
struct StepInput {
    Eigen::VectorXd control;
    Eigen::VectorXd script;
};

}  // namespace farfield
