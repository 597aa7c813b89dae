// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The objective of one implicit step: O(q+) = inertia + gravity + joint terms + contact, with exact derivatives.
///
/// Paper:     [SDRS2025, Eq. (14)], [LongRange2026, Sec. 3]
/// Every gradient is a tangent vector at its point; the Hessian is that of the chart q -> retract(q, delta) at delta = 0.
#include <Eigen/Dense>

#include "farfield/dynamics/contact_terms.hpp"
#include "farfield/dynamics/inertia.hpp"
#include "farfield/dynamics/joint_terms.hpp"
#include "farfield/dynamics/step_types.hpp"

namespace farfield {

/// Scratch space and the data of the current step. Carries no value from one step to the next.
class IncrementalPotential {
 public:
    /// Fixes the start of the step; everything later refers to it.
    void begin(const StepContext& context, const State& now, const StepInput& input, contact::ContactMemory* memory,
               contact::StepMode mode = contact::StepMode::Forward);

    /// Places the bodies at q; free where they already are.
    void place(const Eigen::VectorXd& q);

    /// +infinity when bodies touch.
    [[nodiscard]] double energy(const Eigen::VectorXd& q);

    /// Fills energy, gradient and Hessian (lower triangle).
    void derivatives(const Eigen::VectorXd& q);
    /// Rebuilds the Hessian of the last derivatives() with contact blocks projected per body pair.
    void project_contact();

    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] const Eigen::VectorXd& gradient() const { return gradient_; }
    [[nodiscard]] const Eigen::MatrixXd& hessian() const { return hessian_; }
    [[nodiscard]] const contact::ContactLinearization& contact() const { return contact_; }
    [[nodiscard]] const Kinematics& kinematics() const { return kinematics_; }  ///< where the bodies were last placed
    [[nodiscard]] const Kinematics& kinematics_now() const { return kinematics_now_; }
    /// Size of the rounding error in the gradient [N, N m].
    [[nodiscard]] double gradient_noise() const { return gradient_noise_; }
    /// Size of the rounding error in a difference of energies near the last derivatives() [J].
    [[nodiscard]] double energy_noise() const { return energy_noise_; }

    /// Adjoint products at the q of the last derivatives() of a step begun with StepMode::Backward: subtracts the derivatives of lambda . dO/dq+ by everything else.
    struct Bars {
        Eigen::VectorXd q_now, v_now, q_previous, control;
    };
    void vjp(const Eigen::VectorXd& q, const Eigen::VectorXd& lambda, Bars& bars, Parameters& gradient);

 private:
    [[nodiscard]] JointStep joint_step() const;

    const StepContext* context_ = nullptr;
    const State* now_ = nullptr;
    const StepInput* input_ = nullptr;
    contact::ContactStep* contact_step_ = nullptr;  ///< null: no contact
    Eigen::VectorXd q_previous_, step_, placed_q_;
    bool placed_ = false;  // kinematics_ belongs to placed_q_
    Kinematics kinematics_now_, kinematics_previous_, kinematics_;
    InertiaTarget target_;
    InertiaScratch inertia_;
    InertiaVjp inertia_vjp_;
    ContactScratch contact_scratch_;
    contact::ContactLinearization contact_;
    contact::ContactGradient contact_gradient_;
    std::vector<Vector6d> twists_, subtree_, applied_;
    double value_ = 0.0, gradient_noise_ = 0.0, energy_noise_ = 0.0, gravity_scale_ = 0.0;
    std::vector<double> tree_noise_;
    Eigen::VectorXd gradient_, unused_gradient_;
    Eigen::MatrixXd hessian_, hessian_without_contact_;
};

}  // namespace farfield
