// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The soft-minimum law with the parameters of one step, and its scratch space.
#include <Eigen/Dense>
#include <limits>
#include <vector>

#include "farfield/contact/softmin/softmin.hpp"

namespace farfield::contact::softmin {

using Vector12d = Eigen::Matrix<double, 12, 1>;

/// Of one pair, one evaluation.
struct PairWork {
    std::vector<SideWork> sides;
    std::vector<SideSums> sums;
    double least = std::numeric_limits<double>::infinity();  ///< least phi [m]
    double soft = 0.0;                                       ///< soft minimum of phi [m]
    double weight = 0.0;                                     ///< sum over queries of exp(-(phi - least)/eps2)
    bool deep = false;                                       ///< beyond half the inradius of a surface
    Vector12d wrench;
    ForceBlock block;  ///< derivatives of forms that are evaluated by the formula
    // backward
    Vector12d pose_bar, twist_bar;
    double friction_bar = 0.0, stiffness_bar = 0.0;
};

class SoftminMemory final : public ContactMemory, public ForceStep {
 public:
    SoftminMemory(const Softmin& law, ThreadPool* pool);
    [[nodiscard]] std::vector<double> save() const override { return {}; }
    void restore(const std::vector<double>& values) override;

    void begin(const Parameters& parameters);
    void wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out, int kept = -1) override;
    void vjp(int kept, const Poses& poses, const Twists& twists, const Twists& direction, ForceBars& bars) override;
    void linearize(const Poses& poses, const Twists& twists, ForceLinearization& out) override;
    void add_number_vjp(const Poses& poses, const Twists& twists, const Twists& direction,
                        Eigen::VectorXd& gradient) override;
    [[nodiscard]] const ForceReport& report() const override { return report_; }

    /// How the Jacobian of the wrenches of a pair changes along a motion of its bodies: second derivatives times `moved` (charts) and
    /// `sped` (twists), both (a, b). Only a, b, by_pose and by_twist of the block are set.
    [[nodiscard]] ForceBlock second_derivative(std::size_t pair, const Poses& poses, const Twists& twists,
                                               const Vector12d& moved, const Vector12d& sped) const;

    [[nodiscard]] const Softmin& law() const { return law_; }
    /// Of the last evaluation that was not kept, or was kept under 0.
    [[nodiscard]] const PairWork& work(std::size_t pair) const { return kept_[0][pair]; }
    [[nodiscard]] const ForceNumbers& numbers(std::size_t pair) const { return numbers_[pair]; }

 private:
    using Evaluation = std::vector<PairWork>;  ///< per pair

    Evaluation& evaluation(int kept);
    void evaluate_by_formula(std::size_t pair, const Poses& poses, const Twists& twists, bool derivatives,
                             PairWork& work);
    void set_friction_share(const ContactPair& pair, const Vector12d& by_friction, ForceBlock& block) const;
    [[nodiscard]] double first_share(const ContactPair& pair) const;
    void evaluate(std::size_t pair, const Poses& poses, const Twists& twists, bool derivatives, PairWork& work);
    void linearize(std::size_t pair, const Poses& poses, const Twists& twists, const PairWork& work,
                   ForceBlock& block) const;
    void pull_back(std::size_t pair, const Poses& poses, const Twists& twists, const Twists& direction,
                   PairWork& work) const;
    template <class Work>
    void for_each_pair(const Work& work);
    void add_up(const Evaluation& at, std::size_t bodies, std::vector<Vector6d>& out);

    const Softmin& law_;
    ThreadPool* pool_ = nullptr;
    double contact_stiffness_ = 1.0;
    Eigen::VectorXd friction_;
    std::vector<ForceNumbers> numbers_;  ///< per pair
    std::vector<Evaluation> kept_;       ///< by number; the first is always there
    ForceReport report_;
};

}  // namespace farfield::contact::softmin
