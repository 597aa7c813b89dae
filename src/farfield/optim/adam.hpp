// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Adam: first-order steps scaled by running moments of the gradient.
///
/// Paper: [Kingma2015, Alg. 1]
#include <Eigen/Dense>
#include <cmath>

namespace farfield {

struct AdamOptions {
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
};

class Adam {
 public:
    explicit Adam(Eigen::Index size, const AdamOptions& options = {})
        : options_(options), first_(Eigen::VectorXd::Zero(size)), second_(Eigen::VectorXd::Zero(size)) {}

    /// Moves x against the gradient at this learning rate.
    void step(const Eigen::VectorXd& gradient, double rate, Eigen::VectorXd& x) {
        ++count_;
        first_ = options_.beta1 * first_ + (1.0 - options_.beta1) * gradient;
        second_ = options_.beta2 * second_ + (1.0 - options_.beta2) * gradient.cwiseAbs2();
        const double scale1 = 1.0 / (1.0 - std::pow(options_.beta1, count_));
        const double scale2 = 1.0 / (1.0 - std::pow(options_.beta2, count_));
        x.array() -= rate * scale1 * first_.array() / ((scale2 * second_.array()).sqrt() + options_.epsilon);
    }

 private:
    AdamOptions options_;
    Eigen::VectorXd first_, second_;
    double count_ = 0.0;
};

}  // namespace farfield
