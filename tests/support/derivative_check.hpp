// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Proof of derivatives by central differences over a ladder of steps.
///
/// A wrong derivative plateaus at its own error, whatever the step. Asking two neighbouring steps to agree stops a lucky
/// crossing of truncation and rounding error from passing. `scale` is the length on which the function varies (for a
/// barrier the gap), never an absolute step. A correct derivative of a smooth function reports about 1e-8; use
/// CHECK(report.passes()) unless the function itself is less accurate.
///
///     const DerivativeReport report = check_gradient(energy, x, gradient, {.scale = gap}, random);
///     CHECK_MESSAGE(report.passes(), report);
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "farfield/base/random.hpp"

namespace farfield::testing {

struct DerivativeReport {
    double analytic = 0.0;   ///< norm of the analytic directional derivative (signed for a gradient)
    double numeric = 0.0;    ///< the same by central differences, at the best pair of steps
    double error = 1.0;      ///< relative, the larger of the best two neighbouring steps; 1 = nothing agrees
    double step = 0.0;       ///< where it was reached
    bool bit_equal = false;  ///< every step equals the analytic value exactly: most likely compared with itself

    /// Non-zero, not the same number, and close.
    [[nodiscard]] bool passes(double tolerance = 2e-7) const {
        return analytic != 0.0 && !bit_equal && error <= tolerance;
    }
};

inline std::ostream& operator<<(std::ostream& out, const DerivativeReport& report) {
    return out << "analytic " << report.analytic << ", numeric " << report.numeric << ", relative error "
               << report.error << " at step " << report.step << (report.bit_equal ? ", bit-equal" : "");
}

struct LadderOptions {
    double scale = 1.0;    ///< length on which the function varies
    double first = 1e-2;   ///< first step, in `scale`
    double last = 1e-9;    ///< steps stay above this, in `scale`
    double floor = 1e-12;  ///< derivatives below this count as zero
};

/// The ladder itself. `plus_minus(h)` returns the function at +h and -h along the direction, as vectors.
template <class PlusMinus>
[[nodiscard]] DerivativeReport check_ladder(PlusMinus&& plus_minus, const Eigen::VectorXd& analytic,
                                            const LadderOptions& options) {
    DerivativeReport report;
    report.analytic = analytic.size() == 1 ? analytic(0) : analytic.norm();
    report.bit_equal = true;
    double previous = 1.0;
    for (double h = options.first * options.scale; h > options.last * options.scale; h /= 10.0) {
        const std::pair<Eigen::VectorXd, Eigen::VectorXd> ends = plus_minus(h);
        const Eigen::VectorXd numeric = (ends.first - ends.second) / (2.0 * h);
        const double size = numeric.norm() + analytic.norm() + options.floor;
        double error = (numeric - analytic).norm() / size;
        if (!std::isfinite(error)) error = 1.0;
        if (error != 0.0) report.bit_equal = false;
        if (std::max(error, previous) < report.error) {
            report.error = std::max(error, previous);
            report.numeric = numeric.size() == 1 ? numeric(0) : numeric.norm();
            report.step = h;
        }
        previous = error;
    }
    return report;
}

/// Random direction of unit length.
[[nodiscard]] inline Eigen::VectorXd random_direction(Random& random, Eigen::Index size) {
    return normal_vector(random, size).normalized();
}

/// f: VectorXd -> double; `gradient` at x, along one random direction.
template <class Function>
[[nodiscard]] DerivativeReport check_gradient(Function&& f, const Eigen::VectorXd& x, const Eigen::VectorXd& gradient,
                                              const LadderOptions& options, Random& random) {
    const Eigen::VectorXd s = random_direction(random, x.size());
    const auto plus_minus = [&](double h) {
        // A constant size of 1 makes g++ 12 warn of packet loads that a vector of one never does.
        const Eigen::Index one = std::min<Eigen::Index>(1, x.size());
        return std::pair(Eigen::VectorXd(Eigen::VectorXd::Constant(one, f(Eigen::VectorXd(x + h * s)))),
                         Eigen::VectorXd(Eigen::VectorXd::Constant(one, f(Eigen::VectorXd(x - h * s)))));
    };
    return check_ladder(plus_minus, Eigen::VectorXd::Constant(1, gradient.dot(s)), options);
}

/// f: VectorXd -> VectorXd; `jacobian` at x (rows: outputs), along one random direction. Compares J s with the norm of
/// the whole vector as the measure, so an error in a small entry may hide: repeat with several directions and scales.
template <class Function>
[[nodiscard]] DerivativeReport check_jacobian(Function&& f, const Eigen::VectorXd& x, const Eigen::MatrixXd& jacobian,
                                              const LadderOptions& options, Random& random) {
    const Eigen::VectorXd s = random_direction(random, x.size());
    const auto plus_minus = [&](double h) {
        return std::pair(Eigen::VectorXd(f(Eigen::VectorXd(x + h * s))),
                         Eigen::VectorXd(f(Eigen::VectorXd(x - h * s))));
    };
    return check_ladder(plus_minus, Eigen::VectorXd(jacobian * s), options);
}

/// The same on a manifold: f takes a tangent vector at the point of interest, and does the retraction itself.
/// check_gradient(f, VectorXd::Zero(n), ...) with a retracting f says the same; this name says why x is zero.
template <class Function>
[[nodiscard]] DerivativeReport check_tangent_gradient(Function&& f, const Eigen::VectorXd& gradient,
                                                      const LadderOptions& options, Random& random) {
    return check_gradient(f, Eigen::VectorXd::Zero(gradient.size()), gradient, options, random);
}

}  // namespace farfield::testing
