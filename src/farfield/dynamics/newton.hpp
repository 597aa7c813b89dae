// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Newton's method with a line search along a way that is known to be free, for any function on a manifold.
///
/// Deviation: at least one step is taken and the step computed where the stopping test passes is still taken, so that forces far below the
///            tolerance reach the result. Where a Hessian costs more than a gradient, the last steps, which are short, keep the factor of
///            the one before. Where the fall that a step promises is lost in the rounding of values only the gradient can tell: full steps
///            are taken until it has stopped falling.
#include <Eigen/Dense>
#include <limits>
#include <optional>

#include "farfield/dynamics/step_types.hpp"

namespace farfield {

/// What is known where a direction was computed.
struct NewtonDirection {
    std::optional<StepStatus> failure{};  ///< there is no direction
    double excess = 0.0;  ///< largest entry of the gradient over what is allowed there: at most 1 where Newton stops
    double slope = 0.0;   ///< of the function along the direction
    double noise = 0.0;   ///< rounding error in a difference of values
    bool arrived = true;  ///< prescribed coordinates are where they have to be; until then the function may rise
};

/// How much of a step may be taken.
struct FreeWay {
    double alpha = 1.0;
    bool certified = true;                 ///< the function is finite on it
    bool whole = true;                     ///< nothing of the step was left out
    int limiting_a = -1, limiting_b = -1;  ///< what stood in the way
};

/// What Newton's method has to know of the function it minimises.
class NewtonProblem {
 public:
    virtual ~NewtonProblem() = default;
    /// +infinity where the function is not defined.
    [[nodiscard]] virtual double energy(const Eigen::VectorXd& q) = 0;
    /// The same with derivatives, which direction() and free_way() refer to.
    virtual double linearize(const Eigen::VectorXd& q) = 0;
    /// The same with the gradient alone, when the problem has a use for it: direction() then takes the factor of the last linearize().
    [[nodiscard]] virtual bool keeps_factor() const { return false; }
    virtual double differentiate(const Eigen::VectorXd& q) { return linearize(q); }
    /// The method goes on from where linearize() or differentiate() was last called.
    virtual void accept() {}
    /// A descent direction at q, where the last linearize() or differentiate() was.
    [[nodiscard]] virtual NewtonDirection direction(const Eigen::VectorXd& q, Eigen::VectorXd& step,
                                                    StepReport& report) = 0;
    /// May shorten parts of the step, and then changes the slope along it.
    [[nodiscard]] virtual FreeWay free_way(Eigen::VectorXd& step, NewtonDirection& direction, StepReport& report) = 0;
    virtual void move(const Eigen::VectorXd& q, const Eigen::VectorXd& step, Eigen::VectorXd& out) const = 0;
};

/// Where Newton's method is, and its scratch space.
struct NewtonIterate {
    Eigen::VectorXd q;
    bool evaluated = false;  ///< the problem was last linearised or differentiated at q, with this value:
    double value = 0.0;
    Eigen::VectorXd step, scaled, trial;

    void set(const Eigen::VectorXd& start) {
        q = start;
        evaluated = false;
    }
};

struct NewtonLimits {
    int max_iterations = 0;  ///< of the iterations that the report counts, those from before included
    int max_evaluations = std::numeric_limits<int>::max();  ///< from here on
};

/// From x.q until the gradient is as small as the problem asks. Sets the status of the report and adds to its iterations.
void newton(NewtonProblem& problem, const NewtonLimits& limits, NewtonIterate& x, StepReport& report);

}  // namespace farfield
