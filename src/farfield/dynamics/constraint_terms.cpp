// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/constraint_terms.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/dynamics/step_types.hpp"
#include "farfield/math/dense.hpp"

namespace farfield {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kStiffer = 1e5;      // than inertia
constexpr double kTolerance = 1e-9;   // of the size of the mechanism, and of a radian
constexpr double kRedundant = 1e-6;   // eigenvalues of a scaled matrix below this belong to rows that others imply
constexpr double kDependent = 1e-10;  // the same where the matrix is that of the rows alone

}  // namespace

void ConstraintTerms::begin(const Model& model) {
    model_ = &model;
    weighted_ = false;
    lambda_.setZero(model.num_constraint_rows());
    rho_.setZero(model.num_constraint_rows());
}

double ConstraintTerms::energy(const Kinematics& kinematics, const VectorXd& q) {
    set_constraint_values(*model_, kinematics, q, value_);
    return (lambda_.array() * value_.array() + 0.5 * rho_.array() * value_.array().square()).sum();
}

void ConstraintTerms::set_weights(const Kinematics& kinematics, const VectorXd& diagonal) {
    const VectorXd mobility =
        rows_.jacobian.cwiseAbs2() * diagonal.unaryExpr([](double d) { return d > 0.0 ? 1.0 / d : 0.0; });
    double size = 0.0;
    for (const ModelConstraint& c : model_->constraints()) {
        const double mean = mobility.segment(c.row, c.num_rows).head(std::min(c.num_rows, 3)).mean();
        rho_.segment(c.row, c.num_rows).setConstant(mean > 0.0 ? kStiffer / mean : 0.0);
        if (c.type == ConstraintType::Coupling) continue;
        if (c.type == ConstraintType::Weld) {
            const double turning = mobility.segment(c.row + 3, 3).mean();
            rho_.segment(c.row + 3, 3).setConstant(turning > 0.0 ? kStiffer / turning : 0.0);
        }
        for (const int body : {c.a, c.b}) {
            const auto i = static_cast<std::size_t>(body);
            const auto root = static_cast<std::size_t>(model_->bodies()[i].root);
            const Eigen::Vector3d& anchor = body == c.a ? c.anchor_a : c.anchor_b;
            size = std::max(size, (kinematics.poses[i] * anchor - kinematics.poses[root].position).norm());
        }
    }
    tolerance_ = kTolerance * (size > 0.0 ? std::min(size, 1.0) : 1.0);
    weighted_ = true;
}

void ConstraintTerms::place(const Kinematics& kinematics, const VectorXd& q, const VectorXd& diagonal) {
    set_constraint_rows(*model_, kinematics, q, rows_);
    if (!weighted_) set_weights(kinematics, diagonal);
    force_ = lambda_ + rho_.cwiseProduct(rows_.value);
}

double ConstraintTerms::add_derivatives(const Poses& poses, const VectorXd& q, VectorXd& gradient, BlockMatrix* hessian,
                                        contact::ContactLinearization& out) const {
    const auto add = [&](int r, int c, double value) {
        hessian->block(tree_of(*model_, r), tree_of(*model_, c))(std::max(r, c), std::min(r, c)) += value;
    };
    for (const ModelConstraint& c : model_->constraints()) {
        if (c.type != ConstraintType::Coupling) {
            const ConstraintValue f = force_.segment(c.row, c.num_rows);
            const ConstraintJacobian J = constraint_jacobian(c, poses);
            contact::PairBlock& block = out.blocks.emplace_back();
            block.a = c.a;
            block.b = c.b;
            const Eigen::Matrix<double, 12, 1> wrench = J.transpose() * f;
            out.wrench[static_cast<std::size_t>(c.a)] += wrench.head<6>();
            out.wrench[static_cast<std::size_t>(c.b)] += wrench.tail<6>();
            block.hessian = J.transpose() * rho_.segment(c.row, c.num_rows).asDiagonal() * J;
            block.hessian += constraint_curvature(c, poses, f);
            continue;
        }
        const auto row = rows_.jacobian.row(c.row);
        gradient += force_[c.row] * row.transpose();
        if (!hessian) continue;
        const double bend = -force_[c.row] * coupling_polynomial(c, length_at(c.source, q)).curvature;
        for (const LengthPart& a : c.source) {
            for (const LengthPart& b : c.source) {
                if (a.dof >= b.dof) add(a.dof, b.dof, bend * a.coefficient * b.coefficient);
            }
        }
        for (int i = 0; i < model_->num_dofs(); ++i) {
            if (row[i] == 0.0) continue;
            for (int j = 0; j <= i; ++j) {
                if (row[j] != 0.0) add(i, j, rho_[c.row] * row[i] * row[j]);
            }
        }
    }
    return (lambda_.array() * rows_.value.array() + 0.5 * rho_.array() * rows_.value.array().square()).sum();
}

double ConstraintTerms::violation(const Kinematics& kinematics, const VectorXd& q) {
    set_constraint_values(*model_, kinematics, q, value_);
    return value_.size() ? value_.lpNorm<Eigen::Infinity>() : 0.0;
}

void ConstraintTerms::update_multipliers() { lambda_ += rho_.cwiseProduct(value_); }

void ConstraintTerms::balance(const VectorXd& gradient, const VectorXd& diagonal) {
    const Reduction& reduction = model_->reduction();
    const VectorXd weights =
        reduction.identity ? VectorXd(diagonal) : VectorXd(reduction.E.cwiseAbs2().transpose() * diagonal);
    const MatrixXd G = reduction.identity ? rows_.jacobian : product(rows_.jacobian, reduction.E);
    const VectorXd g = reduction.identity ? gradient : VectorXd(reduction.E.transpose() * gradient);
    const MatrixXd scaled = rho_.cwiseSqrt().asDiagonal() * G * weights.cwiseInverse().cwiseSqrt().asDiagonal();
    const VectorXd side = weights.cwiseInverse().cwiseSqrt().cwiseProduct(g);
    force_ = -rho_.cwiseSqrt().cwiseProduct(pseudo_inverse(product(scaled, scaled.transpose()), kDependent) *
                                            (scaled * side));
}

void ConstraintTerms::project(StepLinearization& at, RightHandSides& x, MatrixXd& mu) {
    const Eigen::Index rows = rows_.jacobian.rows();
    response_.resize(x.rows(), rows);
    response_ = rows_.jacobian.transpose();
    at.solve(response_);
    const VectorXd root = rho_.cwiseSqrt();
    const MatrixXd mobility = root.asDiagonal() * product(rows_.jacobian, response_) * root.asDiagonal();
    const MatrixXd inverse = root.asDiagonal() * pseudo_inverse(mobility, kRedundant) * root.asDiagonal();
    mu.resize(rows, x.cols());
    VectorXd column, product;
    for (Eigen::Index c = 0; c < x.cols(); ++c) {  // column by column: the same bits for any number of them
        column = x.col(c);
        product.noalias() = inverse * (rows_.jacobian * column);
        mu.col(c) = product;
        column.noalias() -= response_ * product;
        x.col(c) = column;
    }
}

void ConstraintTerms::add_forces(const Poses& poses, const Eigen::Ref<const VectorXd>& mu,
                                 std::vector<Eigen::Vector3d>& force) const {
    for (const ModelConstraint& c : model_->constraints()) {
        if (c.type == ConstraintType::Coupling) continue;
        const Eigen::Matrix<double, 12, 1> wrench =
            constraint_jacobian(c, poses).transpose() * mu.segment(c.row, c.num_rows);
        force[static_cast<std::size_t>(c.a)] += wrench.head<3>();
        force[static_cast<std::size_t>(c.b)] += wrench.segment<3>(6);
    }
}

}  // namespace farfield
