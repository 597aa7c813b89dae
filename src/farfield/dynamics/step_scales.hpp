// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  How large things are in a step: what a gradient may be where Newton's method stops, and what rounding makes of energies.
///
/// Symbols:   L size of a subtree, its radius of gyration about the origin of its first body [m];  M Hessian without contact
///            s_k = L of what coordinate k moves where it slides, 1 [rad] where it turns
/// Stop:      |g_k| <= max(tolerance M_kk s_k, 2 eps sum_j |H_kj| place_j), place_j the size of the numbers that place coordinate j.
/// Nothing here is an absolute length, mass or time: a scene in other units takes the same steps.
#include <Eigen/Dense>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/math/block_matrix.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {

class StepScales {
 public:
    /// At the start of a step along which inertia moves the coordinates by `ahead`.
    void set(const Model& model, const Parameters& parameters, const Kinematics& now, const Eigen::VectorXd& q,
             const Eigen::VectorXd& ahead);

    /// Per degree of freedom, where M has the diagonal `inertia` and H is `hessian`.
    template <class Diagonal>
    const Eigen::VectorXd& allowed_gradient(double tolerance, const Diagonal& inertia, const BlockMatrix& hessian) {
        hessian.apply_sizes(place_, allowed_);
        allowed_ = (2.0 * kEpsilon * allowed_).cwiseMax(tolerance * inertia.cwiseAbs().cwiseProduct(size_));
        return allowed_;
    }

    /// Rounding error of contact energies: that of the places of bodies, times the forces on them [J].
    [[nodiscard]] double contact_noise(const Model& model, const Poses& poses,
                                       const std::vector<Vector6d>& wrenches) const;

 private:
    static constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

    std::vector<double> body_size_;  ///< L per body
    Eigen::VectorXd size_, place_;   ///< per degree of freedom
    Eigen::VectorXd allowed_;
    Eigen::MatrixX<double> sums_;  ///< per body: mass, first and trace of the second moment of its subtree
};

}  // namespace farfield
