// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  One term of the energy as a function of the squared distance s of two features.
///
/// Clamped:   b(s) = -(x - 1)^2 ln x,  x = s/range^2, and 0 from x = 1 on              [Li2020, Eq. (6)]
/// Global:    b(s) = 12 (1 + d^-1/2)^2 - 12 = 24 x^-1/4 + 12 x^-1/2,  x = s/length^2   the far field of [LongRange2026]
/// Deviation: the clamped barrier of the paper is range^4 times ours, which has no unit and so makes the weight an energy.
#include <cmath>
#include <limits>

namespace farfield::contact::ipc {

enum class Form { Clamped, Global };

/// Value and derivatives by s.
struct BarrierTaylor {
    double value = 0.0, first = 0.0, second = 0.0;
};

class Barrier {
 public:
    Barrier(Form form, double length)
        : form_(form),
          unit_(length * length),
          range_(form == Form::Clamped ? length : std::numeric_limits<double>::infinity()),
          limit_(range_ * range_) {}

    [[nodiscard]] Form form() const { return form_; }
    /// The barrier is zero from this distance on, and from this squared distance.
    [[nodiscard]] double range() const { return range_; }
    [[nodiscard]] double limit() const { return limit_; }

    /// @pre 0 < s < limit()
    [[nodiscard]] double value(double s) const {
        const double x = s / unit_;
        if (form_ == Form::Clamped) {
            const double y = (s - unit_) / unit_;
            return -y * y * log_of(x, y);
        }
        const double q = 1.0 / std::sqrt(std::sqrt(x));
        return 12.0 * q * (2.0 + q);
    }

    /// @pre 0 < s < limit()
    [[nodiscard]] BarrierTaylor taylor(double s) const {
        const double x = s / unit_;
        if (form_ == Form::Clamped) {
            const double y = (s - unit_) / unit_, log = log_of(x, y), ratio = y / x;
            return {-y * y * log, -y * (2.0 * log + ratio) / unit_,
                    (ratio * (ratio - 4.0) - 2.0 * log) / (unit_ * unit_)};
        }
        const double q = 1.0 / std::sqrt(std::sqrt(x)), q2 = q * q, q5 = q2 * q2 * q;
        return {12.0 * q * (2.0 + q), -6.0 * q5 * (1.0 + q) / unit_, q5 * q2 * q2 * (7.5 + 9.0 * q) / (unit_ * unit_)};
    }

 private:
    /// ln x, y = x - 1 known without cancellation.
    [[nodiscard]] static double log_of(double x, double y) { return y > -0.5 ? std::log1p(y) : std::log(x); }

    Form form_;
    double unit_, range_, limit_;
};

}  // namespace farfield::contact::ipc
