// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A Newton direction that knows how barriers grow: a pair that the step presses or relieves is modelled by 1/distance.
///
/// A parabola leads a body too far into a contact, and too little out of it. With G gradient and N Hessian of a pair's potential, friction
/// left out, and e = 2 G.N^+ G, the energy of a barrier e/(1 - t) of that force and curvature, the direction minimises
///     g.D + D.H.D/2 + sum over pairs of e [1/(1 - t) - 1 - t - t^2],    t = G.D/e < 1
/// where H already holds all of second order. The minimum lies in the span of D_0 = -H^-1 g and W = H^-1 G, D = alpha D_0 - W mu: it takes
/// one solve for every pair that is bent, and Newton's method on as many numbers. No geometry is looked at again.
///
/// Walls (wall_search.hpp) are added to the same sum where a direction runs into them: H holds nothing of them, and they act for t > 0 alone.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/step_linearization.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

/// x(t) = 1/(1 - t) - 1 - t - t^2, written without cancellation, and its derivatives.
namespace barrier {

[[nodiscard]] inline double excess(double t) { return t * t * t / (1.0 - t); }
[[nodiscard]] inline double excess_slope(double t) { return t * t * (3.0 - 2.0 * t) / ((1.0 - t) * (1.0 - t)); }
[[nodiscard]] inline double excess_curvature(double t) {
    const double room = 1.0 - t;
    return 2.0 * t * (3.0 - 3.0 * t + t * t) / (room * room * room);
}

}  // namespace barrier

class BarrierDirection {
 public:
    /// Bends `step`, the Newton step of the system factored last, which promises a fall of `slope`; returns the slope along the new one.
    /// `kinematics`: where the system was linearised.
    double bend(const Model& model, const Kinematics& kinematics, StepLinearization& at, double slope,
                Eigen::VectorXd& step);

    struct Barrier {
        int a = 0, b = 0;
        contact::PairBlock::Vector12d gradient;  ///< G
        double energy = 0.0;                     ///< e
        double along = 0.0;                      ///< G.D_0
        bool wall = false;

        /// t of bodies that move by these twists.
        [[nodiscard]] double closing(const std::vector<Vector6d>& twists) const;
        [[nodiscard]] double excess(double t) const { return acts(t) ? energy * barrier::excess(t) : 0.0; }
        /// Derivatives of the same by t e.
        [[nodiscard]] double slope(double t) const { return acts(t) ? barrier::excess_slope(t) : 0.0; }
        [[nodiscard]] double curvature(double t) const { return acts(t) ? barrier::excess_curvature(t) / energy : 0.0; }

     private:
        [[nodiscard]] bool acts(double t) const { return !wall || t > 0.0; }
    };
    /// Bends the step that bend() was called with last around these walls as well, and those added before. Returns the slope.
    double add_walls(const Model& model, const Kinematics& kinematics, StepLinearization& at,
                     const std::vector<Barrier>& walls, Eigen::VectorXd& step);

    /// What bend() and add_walls() know of, until bend() is called again.
    [[nodiscard]] const std::vector<Barrier>& barriers() const { return barriers_; }

 private:
    static constexpr int kMost = 32;   // pairs that are bent at once: those that the step changes most
    static constexpr int kWalls = 32;  // beside them
    using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMost + kWalls, 1>;
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMost + kWalls, kMost + kWalls>;
    struct Point {
        double alpha = 0.0;
        Vector mu, t;
    };

    void choose(const contact::ContactLinearization& contact);
    /// Those that are not coupled yet.
    void couple(const Model& model, const Kinematics& kinematics, StepLinearization& at);
    /// The step at the minimum of the model; returns the slope along it.
    double combine(Eigen::VectorXd& step) const;
    /// Newton direction of the model at a point, and the slope along it.
    double direction(double slope, const Point& from, Point& way) const;
    [[nodiscard]] double value(double slope, const Point& at) const;
    [[nodiscard]] Point minimise(double slope) const;

    Eigen::VectorXd newton_step_;  ///< D_0
    double newton_slope_ = 0.0;
    std::vector<Vector6d> twists_, wrenches_, subtree_;  ///< per body
    std::vector<Barrier> barriers_;
    std::vector<Eigen::VectorXd> responses_;  ///< columns of W
    Vector energies_, along_;
    Matrix coupling_;  ///< G^T W
    RightHandSides side_;
};

}  // namespace farfield
