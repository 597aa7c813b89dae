// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The incremental potential to second order at one point, and linear systems with its Hessian.
///
/// Symbols:   g, H gradient and Hessian in the chart q -> retract(q, delta);  E the model's reduction (ties, scripted coordinates)
///            a Newton step is E z + r, r what scripted coordinates have to go:  (E^T H E) z = -E^T (g + H r)
/// Forward step, adjoint and Jacobians all solve with E (E^T H E)^-1 E^T.
#include <Eigen/Dense>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/math/block_matrix.hpp"
#include "farfield/model/model.hpp"

namespace farfield {

class StepLinearization {
 public:
    double value = 0.0;
    double noise = 0.0;        ///< rounding error in a difference of energies nearby [J]
    Eigen::VectorXd gradient;  ///< (num_dofs)
    BlockMatrix hessian;       ///< (num_dofs, num_dofs), a block per pair of trees
    contact::ContactLinearization contact;

    /// Reduces the system by `reduction`, which must outlive it; `remaining` is r, null when nothing is scripted.
    void reduce(const Reduction& reduction, const Eigen::VectorXd* remaining);
    /// The same for the gradient alone; the factor stays that of the last system.
    void reduce_gradient(const Reduction& reduction, const Eigen::VectorXd* remaining);
    [[nodiscard]] double residual() const { return residual_; }  ///< infinity norm of E^T (g + H r)
    /// The largest entry of E^T (g + H r) over that of |E|^T allowed.
    [[nodiscard]] double excess(const Eigen::VectorXd& allowed);

    /// See BlockMatrix; of E^T H E.
    [[nodiscard]] bool factor() { return system().factor(); }
    void factor_indefinite() { system().factor_indefinite(); }
    void factor_absolute(double floor, const Eigen::VectorXd& scales);  ///< scales: one per row of H
    [[nodiscard]] double conditioning() const {
        return reduction_->identity ? hessian.conditioning() : reduced_.conditioning();
    }

    /// step = E z + r; returns the slope z . E^T (g + H r) of the potential along it.
    double newton_step(Eigen::VectorXd& step);
    /// x becomes E (E^T H E)^-1 E^T x, one right-hand side per column.
    void solve(RightHandSides& x);
    /// out = H x.
    void apply(const Eigen::VectorXd& x, Eigen::VectorXd& out) { hessian.apply(x, out); }

 private:
    [[nodiscard]] BlockMatrix& system() { return reduction_->identity ? hessian : reduced_; }

    const Reduction* reduction_ = nullptr;
    const Eigen::VectorXd* remaining_ = nullptr;
    BlockMatrix reduced_;  ///< E^T H E
    double residual_ = 0.0;
    Eigen::VectorXd reduced_gradient_, reduced_step_, product_, column_, reduced_column_, reduced_scales_;
    RightHandSides reduced_sides_;
};

}  // namespace farfield
