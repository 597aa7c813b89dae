// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The second door of contact: force laws, which say what acts on each body by its pose and velocity and need have no energy.
///
///     ForceStep& step = law.begin_step(parameters, memory);
///     step.wrench(poses, twists, out, kept); then, going backward, step.vjp(kept, poses, twists, direction, bars)
/// A twist (v, w) is the velocity of the body's origin and the angular velocity, a wrench (F, tau) the force on the body and its torque
/// about the origin, both in world axes; wrench . twist is the power. Poses vary in the chart of each body, as in contact_potential.hpp:
/// p -> p + v, R -> exp(w) R. Twists and wrenches keep their world components meanwhile.
#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "farfield/contact/contact_potential.hpp"

namespace farfield::contact {

/// How the wrenches of bodies a < b, (F_a, tau_a, F_b, tau_b), change with both. Need not be symmetric.
struct ForceBlock {
    int a = 0, b = 0;
    Eigen::Matrix<double, 12, 1> wrench = Eigen::Matrix<double, 12, 1>::Zero();    ///< of this pair alone
    Eigen::Matrix<double, 12, 1> friction = Eigen::Matrix<double, 12, 1>::Zero();  ///< the part of it that is friction
    double gap = std::numeric_limits<double>::infinity();                          ///< least separation [m]
    Eigen::Matrix<double, 12, 12> by_pose =
        Eigen::Matrix<double, 12, 12>::Zero();  ///< by (v_a, w_a, v_b, w_b) of the chart
    Eigen::Matrix<double, 12, 12> by_twist = Eigen::Matrix<double, 12, 12>::Zero();  ///< by both twists
    Eigen::Matrix<double, 12, 2> by_friction =
        Eigen::Matrix<double, 12, 2>::Zero();  ///< by the coefficients of a and b
    Eigen::Matrix<double, 12, 1> by_stiffness =
        Eigen::Matrix<double, 12, 1>::Zero();  ///< by Parameters::contact_stiffness
};

struct ForceLinearization {
    std::vector<Vector6d> wrench;    ///< per body: what acts on it
    std::vector<ForceBlock> blocks;  ///< in pair order; pairs that do not interact may be left out
};

/// Derivatives of the sum over bodies of direction . wrench.
struct ForceBars {
    std::vector<Vector6d> poses, twists;  ///< per body: by its chart, by its twist
    Eigen::VectorXd friction;             ///< per body
    double contact_stiffness = 0.0;

    void set_zero(std::size_t bodies) {
        poses.assign(bodies, Vector6d::Zero());
        twists.assign(bodies, Vector6d::Zero());
        friction.setZero(static_cast<Eigen::Index>(bodies));
        contact_stiffness = 0.0;
    }
};

/// The same through Jacobians, added to the bars.
inline void add_vjp(const ForceBlock& block, const Twists& direction, ForceBars& bars) {
    const auto a = static_cast<std::size_t>(block.a), b = static_cast<std::size_t>(block.b);
    Eigen::Matrix<double, 12, 1> both;
    both << direction[a], direction[b];
    const Eigen::Matrix<double, 12, 1> by_pose = block.by_pose.transpose() * both,
                                       by_twist = block.by_twist.transpose() * both;
    bars.poses[a] += by_pose.head<6>();
    bars.poses[b] += by_pose.tail<6>();
    bars.twists[a] += by_twist.head<6>();
    bars.twists[b] += by_twist.tail<6>();
    bars.friction[block.a] += block.by_friction.col(0).dot(both);
    bars.friction[block.b] += block.by_friction.col(1).dot(both);
    bars.contact_stiffness += block.by_stiffness.dot(both);
}

/// What a force law knows of the last evaluation. Nothing of it is certified.
struct ForceReport {
    double least =
        std::numeric_limits<double>::infinity();  ///< least separation of two bodies; negative: penetration [m]
    int deep_a = -1, deep_b = -1;                 ///< bodies so deep in each other that forces turn inward; -1: none
    double stored = 0.0;                          ///< no more energy than this can contact give back [J]
};

/// How stiff a pair is, for the length of explicit steps.
struct PairStiffness {
    int a = 0, b = 0;
    double stiffness = 0.0;                   ///< force per penetration [N/m]
    double sharing = 0.0;                     ///< a load F adds F/sharing to it [m]
    double damping_speed = 0.0;               ///< a load F resists approach with F/damping_speed [m/s]
    double friction = 0.0, slip_speed = 0.0;  ///< and slip with friction F/slip_speed
};

/// A force law with fixed parameters. It lives in the memory of a rollout, where the next begin_step replaces it.
class ForceStep {
 public:
    /// `kept`: number under which the evaluation is kept for vjp, 0 for the first of a step and so on; -1: it is not.
    virtual void wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out, int kept = -1) = 0;

    /// Sets the derivatives of the sum over bodies of direction . wrench, at the poses and twists of the evaluation that was kept.
    virtual void vjp(int kept, const Poses& poses, const Twists& twists, const Twists& direction, ForceBars& bars) = 0;

    /// All derivatives at once. Reuses the storage of `out`, and that of evaluations that were kept.
    virtual void linearize(const Poses& poses, const Twists& twists, ForceLinearization& out) = 0;

    /// Adds the derivatives of the sum over bodies of direction . wrench by the law's own numbers (ForceLaw::number_names).
    virtual void add_number_vjp(const Poses& poses, const Twists& twists, const Twists& direction,
                                Eigen::VectorXd& gradient) = 0;

    /// Of the last wrench or linearize.
    [[nodiscard]] virtual const ForceReport& report() const = 0;

 protected:
    ~ForceStep() = default;
};

class ForceLaw {
 public:
    virtual ~ForceLaw() = default;

    /// `pool`: shares out body pairs, with the same bits for any number of threads; null: one thread.
    [[nodiscard]] virtual std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const = 0;

    /// Nothing given is referred to afterwards.
    virtual ForceStep& begin_step(const Parameters& parameters, ContactMemory& memory) const = 0;

    /// What the law is made of besides Parameters and can be differentiated by: temperatures, points of clouds. May be empty.
    [[nodiscard]] virtual std::vector<std::string> number_names() const = 0;

    /// One entry per pair.
    [[nodiscard]] virtual std::vector<PairStiffness> pair_stiffness(const Parameters& parameters) const = 0;
};

}  // namespace farfield::contact
