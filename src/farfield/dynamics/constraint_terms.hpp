// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Exact constraints c(q+) = 0 in a step: an augmented Lagrangian going forward, the Lagrange multipliers themselves going backward.
///
/// Forward:   O(q+) + lambda . c + 1/2 sum_i rho_i c_i^2 is minimised by the ordinary Newton method, so that line search, collision filter
///            and certificate stay what they are; then lambda += rho c, until |c| is small. rho is kStiffer times what inertia opposes to
///            the row, which leaves a hundred-thousandth of an unconstrained motion before the first update.
/// Backward:  f = lambda + rho c follows from the gradient of everything else, G^T f = -g. With H that of O + f . c + 1/2 rho c^2,
///            [H G^T; G 0] (y, mu) = (bar, 0):   y = H^-1 (bar - G^T mu),  mu = (G H^-1 G^T)^+ G H^-1 bar
///            and the gradient is -(y . dg + mu . dc). A row that others imply has no part in the pseudo-inverse.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/step_linearization.hpp"
#include "farfield/model/constraint.hpp"

namespace farfield {

class ConstraintTerms {
 public:
    /// Starts a step without constraint forces.
    void begin(const Model& model);
    [[nodiscard]] bool any() const { return model_ && !model_->constraints().empty(); }

    [[nodiscard]] double energy(const Kinematics& kinematics, const Eigen::VectorXd& q);

    /// At a new point: sets c, G and, the first time in a step, rho from the diagonal of the Hessian of everything else.
    void place(const Kinematics& kinematics, const Eigen::VectorXd& q, const Eigen::VectorXd& diagonal);
    /// Adds couplings to gradient and Hessian (unless null) and bodies to `out`; returns the energy. @pre place.
    double add_derivatives(const Poses& poses, const Eigen::VectorXd& q, Eigen::VectorXd& gradient,
                           BlockMatrix* hessian, contact::ContactLinearization& out) const;

    /// Largest violation [m or rad]; the next update_multipliers() makes up for it.
    [[nodiscard]] double violation(const Kinematics& kinematics, const Eigen::VectorXd& q);
    [[nodiscard]] double tolerance() const { return tolerance_; }
    /// The forces that held the point of the last violation() are those of the next one.
    void update_multipliers();

    /// Going backward: the forces that balance `gradient`, that of everything else at the point placed last.
    void balance(const Eigen::VectorXd& gradient, const Eigen::VectorXd& diagonal);
    /// Columns x = H^-1 bar become y; `mu` has one column each. `at` is reduced and factored.
    void project(StepLinearization& at, RightHandSides& x, Eigen::MatrixXd& mu);
    /// Wrench of mu . c on every body, added to the linear parts `force`.
    void add_forces(const Poses& poses, const Eigen::Ref<const Eigen::VectorXd>& mu,
                    std::vector<Eigen::Vector3d>& force) const;
    [[nodiscard]] const Eigen::MatrixXd& jacobian() const { return rows_.jacobian; }

 private:
    void set_weights(const Kinematics& kinematics, const Eigen::VectorXd& diagonal);

    const Model* model_ = nullptr;
    ConstraintRows rows_;
    Eigen::VectorXd lambda_, rho_, value_, force_;
    bool weighted_ = false;
    double tolerance_ = 0.0;
    RightHandSides response_;
};

}  // namespace farfield
