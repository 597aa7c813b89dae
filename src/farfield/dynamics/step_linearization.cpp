// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_linearization.hpp"

#include <algorithm>
#include <cmath>

namespace farfield {

using Eigen::VectorXd;

void StepLinearization::reduce(const Reduction& reduction, const VectorXd* remaining) {
    reduce_gradient(reduction, remaining);
    if (!reduction.identity) hessian.congruence(reduction.E, reduced_);
}

void StepLinearization::reduce_gradient(const Reduction& reduction, const VectorXd* remaining) {
    reduction_ = &reduction;
    remaining_ = remaining;
    if (reduction.identity) {
        reduced_gradient_ = gradient;
    } else {
        reduced_gradient_.noalias() = reduction.E.transpose() * gradient;
        if (remaining) {
            hessian.apply(*remaining, product_);
            reduced_gradient_.noalias() += reduction.E.transpose() * product_;
        }
    }
    residual_ = reduced_gradient_.size() ? reduced_gradient_.lpNorm<Eigen::Infinity>() : 0.0;
}

double StepLinearization::excess(const VectorXd& allowed) {
    double largest = 0.0;
    for (Eigen::Index k = 0; k < reduced_gradient_.size(); ++k) {
        const double size = std::abs(reduced_gradient_[k]);
        if (size == 0.0) continue;
        const double bound = reduction_->identity ? allowed[k] : reduction_->E.col(k).cwiseAbs().dot(allowed);
        largest = std::max(largest, size / bound);
    }
    return largest;
}

void StepLinearization::factor_absolute(double floor, const VectorXd& scales) {
    if (reduction_->identity) {
        reduced_scales_ = scales;
    } else {
        reduced_scales_.noalias() = reduction_->E.cwiseAbs2().transpose() * scales;
    }
    system().factor_absolute(floor, reduced_scales_);
}

double StepLinearization::newton_step(VectorXd& step) {
    reduced_step_ = -reduced_gradient_;
    system().solve(reduced_step_);
    if (reduction_->identity) {
        step = reduced_step_;
    } else {
        step.noalias() = reduction_->E * reduced_step_;
        if (remaining_) step += *remaining_;
    }
    return reduced_gradient_.dot(reduced_step_);
}

void StepLinearization::solve(RightHandSides& x) {
    if (reduction_->identity) {
        hessian.solve(x);
        return;
    }
    reduced_sides_.resize(reduction_->E.cols(), x.cols());
    for (Eigen::Index c = 0; c < x.cols(); ++c) {  // column by column: the same bits for any number of them
        column_ = x.col(c);
        reduced_column_.noalias() = reduction_->E.transpose() * column_;
        reduced_sides_.col(c) = reduced_column_;
    }
    reduced_.solve(reduced_sides_);
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
        reduced_column_ = reduced_sides_.col(c);
        column_.noalias() = reduction_->E * reduced_column_;
        x.col(c) = column_;
    }
}

}  // namespace farfield
