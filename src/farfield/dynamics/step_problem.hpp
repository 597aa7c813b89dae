// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What one implicit step minimises: O(q+) = inertia + gravity + joint terms + contact, with exact derivatives.
///
/// Paper:     [SDRS2025, Eq. (14)], [LongRange2026, Sec. 3]
/// Every gradient is a tangent vector at its point; the Hessian is that of the chart q -> retract(q, delta) at delta = 0.
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "farfield/contact/contact_potential.hpp"
#include "farfield/dynamics/barrier_direction.hpp"
#include "farfield/dynamics/body_drive.hpp"
#include "farfield/dynamics/constraint_terms.hpp"
#include "farfield/dynamics/contact_terms.hpp"
#include "farfield/dynamics/friction_direction.hpp"
#include "farfield/dynamics/inertia.hpp"
#include "farfield/dynamics/joint_terms.hpp"
#include "farfield/dynamics/newton.hpp"
#include "farfield/dynamics/step_linearization.hpp"
#include "farfield/dynamics/step_scales.hpp"
#include "farfield/dynamics/step_types.hpp"
#include "farfield/dynamics/wall_search.hpp"

namespace farfield {

/// The problem of the current step, constant from begin() to begin(), and scratch space. Carries no value from one step to the next.
class StepProblem final : public NewtonProblem {
 public:
    /// Fixes the start of the step; everything later refers to it. Context and memory must stay. Backward: vjp() will be asked for.
    void begin(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
               contact::StepMode mode = contact::StepMode::Forward);

    [[nodiscard]] double energy(const Eigen::VectorXd& q) override;
    double linearize(const Eigen::VectorXd& q) override;
    /// Contact bends the potential too much, and its Hessian comes with its gradient.
    [[nodiscard]] bool keeps_factor() const override { return !contact_; }
    double differentiate(const Eigen::VectorXd& q) override;
    void accept() override;
    /// Exact Hessian first, then contact projected per body pair, then |eigenvalues|.
    [[nodiscard]] NewtonDirection direction(const Eigen::VectorXd& q, Eigen::VectorXd& step,
                                            StepReport& report) override;
    /// The fraction of the step whose whole path is certified free of collisions.
    [[nodiscard]] FreeWay free_way(Eigen::VectorXd& step, NewtonDirection& direction, StepReport& report) override;
    void move(const Eigen::VectorXd& q, const Eigen::VectorXd& step, Eigen::VectorXd& out) const override;

    /// Places the bodies at q; free where they already are.
    const Kinematics& place(const Eigen::VectorXd& q);
    [[nodiscard]] const Kinematics& kinematics_now() const { return kinematics_now_; }
    [[nodiscard]] bool scripted() const { return context_->model.num_kinematic() > 0; }
    /// Tangent from the scripted coordinates in q to their targets; zero elsewhere.
    const Eigen::VectorXd& remaining_script(const Eigen::VectorXd& q);
    [[nodiscard]] bool script_done() const;  ///< nothing was left, up to rounding, in the last remaining_script()

    /// The tangent step from the start along which the velocity v and the script lead.
    void ahead(const Eigen::VectorXd& v, Eigen::VectorXd& step);

    [[nodiscard]] StepLinearization& linearization() { return at_; }

    /// Constraints broken at q by this much [m or rad], and how much may be left.
    [[nodiscard]] double violation(const Eigen::VectorXd& q);
    [[nodiscard]] double allowed_violation() const { return constraints_.tolerance(); }
    [[nodiscard]] bool constrained() const { return constraints_.any(); }
    /// Constraint forces that make up for the last violation().
    void update_multipliers() { constraints_.update_multipliers(); }
    /// Going backward: columns H^-1 x become those of the constrained system, whose other part vjp() knows.
    void project(RightHandSides& x);
    /// Adds what constraints pass on to scripted coordinates in a direction.
    void add_constraint_forces(std::size_t direction, Eigen::VectorXd& applied) const;
    /// Calls of the contact model since reset_counts().
    [[nodiscard]] ContactCounts contact_counts() const { return counts_; }
    void reset_counts() { counts_ = {}; }

    /// Adds the products of every direction at the point of the last linearize(), in a step begun with StepMode::Backward.
    void vjp(std::span<const Eigen::VectorXd> lambdas, std::span<StepProducts> products,
             std::span<Parameters> gradients);

 private:
    [[nodiscard]] JointStep joint_step() const;
    [[nodiscard]] BodyDriveStep drive_step() const { return {context_->model, kinematics_now_.poses, input_.control}; }
    void add_body_drives(BlockMatrix* hessian);
    void add_constraints(const Eigen::VectorXd& q, BlockMatrix* hessian);
    void add_links(const contact::ContactLinearization& links, BlockMatrix* hessian);
    void add_links_vjp(std::size_t direction, StepProducts& products);
    void set_gravity_scale();
    void avoid_walls(NewtonDirection& direction, Eigen::VectorXd& step, CollisionFilter::Result& way);
    void slow_down_held(const NewtonDirection& direction, Eigen::VectorXd& step, CollisionFilter::Result& way);
    void set_held_groups();
    void add_smooth_terms(const Eigen::VectorXd& q, BlockMatrix* hessian);
    void add_contact();
    void project_contact();
    /// Slope of a step that barriers have bent to `slope`, friction followed.
    double follow_friction(const NewtonDirection& direction, double slope, Eigen::VectorXd& step);
    void add_contact_vjp(std::span<Parameters> gradients);
    void pull_back(std::size_t direction, StepProducts& products, Parameters& gradient);

    const StepContext* context_ = nullptr;
    StepMemory* memory_ = nullptr;
    contact::ContactStep* contact_ = nullptr;  ///< null: no contact
    State now_;
    StepInput input_;          ///< its controls inside their ranges
    Eigen::VectorXd control_;  ///< as given
    bool backward_ = false;
    bool drives_bodies_ = false;
    ConstraintTerms constraints_;
    contact::ContactLinearization drive_links_, constraint_links_;
    ContactScratch link_scratch_;
    Eigen::MatrixXd multipliers_;  ///< a column per direction
    std::vector<int> trees_;       ///< per degree of freedom
    Eigen::VectorXd q_previous_, step_, placed_q_;
    bool placed_ = false;  ///< kinematics_ belongs to placed_q_
    Kinematics kinematics_now_, kinematics_previous_, kinematics_;
    InertiaTarget target_;
    StepScales scales_;
    double gravity_scale_ = 0.0;

    StepLinearization at_;
    bool kept_ = false;  ///< the Hessian of at_ is that of an earlier point
    BlockMatrix hessian_without_contact_;
    Eigen::VectorXd smooth_diagonal_;           ///< of the Hessian without contact
    const Eigen::VectorXd* allowed_ = nullptr;  ///< gradient where Newton's method may stop
    InertiaScratch inertia_;
    ContactScratch contact_scratch_;
    BarrierDirection barriers_;
    FrictionDirection friction_;
    WallSearch walls_;
    bool positive_ = false;  ///< what is factored is the Hessian of at_
    Eigen::VectorXd unused_gradient_, remaining_, target_q_, difference_;
    std::vector<double> gaps_, fractions_;  ///< per contact pair
    std::vector<int> held_groups_;          ///< per body: the trees that move together, by one of their roots
    std::vector<double> speeds_;            ///< per group
    Eigen::VectorXd slowed_, around_;
    ContactCounts counts_;

    std::vector<contact::Twists> twists_;  ///< per direction
    std::vector<InertiaVjp> inertia_vjp_;
    std::vector<contact::ContactGradient> contact_gradients_;
    std::vector<Vector6d> applied_, subtree_;
};

}  // namespace farfield
