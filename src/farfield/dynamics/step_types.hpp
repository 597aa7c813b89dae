// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Options and results of one time step.
#include <Eigen/Dense>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "farfield/contact/make_contact.hpp"
#include "farfield/dynamics/collision_filter.hpp"
#include "farfield/model/model.hpp"

namespace farfield {

/// Standard: 1/2 kp |q* - q|^2 + 1/2 kd dt |v* - v|^2. Paper: the same without the halves and the dt [SDRS2025, Eq. (5)].
enum class PdConvention { Standard, Paper };

/// How a step is taken. Automatic: explicit Euler steps under a force law, implicit ones otherwise.
enum class Integrator { Automatic, Implicit, Euler, Rk4 };

[[nodiscard]] const char* name_of(Integrator integrator);  ///< "automatic", "implicit", "euler", "rk4"

struct StepOptions {
    double dt = 0.01;  ///< time step [s]
    /// Newton stop: how far off a coordinate may still be, relative to the size of what it moves (dynamics/step_scales.hpp). The step
    /// computed there is still taken, so what remains is about its square.
    double tolerance = 1e-7;
    int max_iterations = 200;  ///< of Newton's method in one piece; a step that needs more is cut
    PdConvention pd_convention = PdConvention::Standard;
    Integrator integrator = Integrator::Automatic;
};

/// Throws unless dt > 0, tolerance > 0, max_iterations >= 1.
void validate(const StepOptions& options);

/// Penetrating: bodies are so deep in each other that the forces of a law turn inward. Unstable: an explicit step took more energy out of
/// contact than there was.
enum class StepStatus {
    Converged,
    MaxIterations,
    LineSearchFailed,
    NonFinite,
    Intersecting,
    Squeezed,
    Penetrating,
    Unstable
};
[[nodiscard]] const char* to_string(StepStatus status);

/// Calls of the contact model.
struct ContactCounts {
    int linearizations = 0;  ///< with derivatives
    int energies = 0;        ///< without
};

/// Every step comes with a certificate.
struct StepReport {
    StepStatus status = StepStatus::Converged;
    int iterations = 0;  ///< of Newton's method, in all pieces and attempts
    int pieces = 1;      ///< in which the step was taken
    /// Gradient norm [N, N m] where the last full Newton step was computed, which was then still taken.
    double residual = 0.0;
    /// Certified lower bound of the gap along the whole path of the step [m]; of a force law, which certifies nothing, the least
    /// separation at its start, negative when bodies penetrate.
    double min_gap = std::numeric_limits<double>::infinity();
    double shortest_step = 1.0;  ///< smallest fraction of a Newton step the collision filter let pass
    bool detour = false;         ///< a body went around another within the step, although no straight way led there
    double conditioning = 1.0;   ///< smallest over largest pivot of the last Hessian
    double kinetic = 0.0, potential = 0.0, contact = 0.0;  ///< energies at the end of the step [J]
    ContactCounts contact_counts{};                        ///< in all pieces and attempts
    int squeezed = -1, between_a = -1, between_b = -1;     ///< bodies of a step that ended as Squeezed, else -1
    /// Largest violation of a constraint at the end of the step [m, or rad where it turns].
    double constraint_residual = 0.0;
};

/// One iteration of Newton's method, for those who look on.
struct StepIteration {
    double begin = 0.0, length = 1.0;  ///< of the piece that was tried, as fractions of the step
    double residual = 0.0;             ///< norm of the gradient [N, N m]
    double excess = 0.0;               ///< over what is allowed: at most 1 where Newton's method stops
    double slope = 0.0, noise = 0.0;   ///< of the potential along the direction, and rounding in its values [J]
    double way = 1.0, alpha = 0.0;     ///< fraction of the direction that was free, and that was taken; 0: none fitted
    int limiting_a = -1, limiting_b = -1;  ///< bodies in the way, -1 when there were none
};

/// A state between two pieces of a step that was cut.
struct StepCut {
    int step = 0;           ///< of the motion it belongs to
    double fraction = 0.0;  ///< of the step's time at which it stands, in (0, 1)
    State state;
};

/// A contact model and the filter that certifies its steps, both built for one model. Empty: no contact.
struct ContactSetup {
    std::shared_ptr<const contact::ContactPotential> potential;
    std::shared_ptr<const CollisionFilter> filter;
    std::string description;                         ///< name and options, for files; chosen by whoever built it
    std::shared_ptr<const contact::ForceLaw> law{};  ///< in place of a potential and its filter
};

/// The potential with a filter for its own surfaces.
[[nodiscard]] ContactSetup make_contact_setup(const Model& model,
                                              std::shared_ptr<const contact::ContactPotential> potential,
                                              std::string description, const FilterOptions& filter = {});

/// Whichever of the two was made; nothing certifies the steps of a force law.
[[nodiscard]] ContactSetup make_contact_setup(const Model& model, contact::MadeContact made, std::string description,
                                              const FilterOptions& filter = {});

/// What is fixed for a whole rollout. `contact` may be null, and so may be `filter`: then nothing is certified between states.
struct StepContext {
    const Model& model;
    const Parameters& parameters;
    const contact::ContactPotential* contact = nullptr;
    const CollisionFilter* filter = nullptr;
    StepOptions options{};
    ThreadPool* pool = nullptr;                   ///< shares out the body pairs of contact; null: one thread
    std::vector<StepIteration>* trace = nullptr;  ///< is told every iteration; null: nobody looks on
    const contact::ForceLaw* law = nullptr;       ///< then `contact` is null and steps are explicit

    /// Throws when a law is to be stepped implicitly or a potential explicitly.
    [[nodiscard]] bool explicit_steps() const;
};

/// What carries over from step to step of one rollout: warm starts. Starts cold, and is saved with a simulation.
struct StepMemory {
    std::unique_ptr<contact::ContactMemory> contact;
    FilterMemory filter;
    Eigen::VectorXd velocity_change{};  ///< of the last step, where the next one expects the same; empty: none yet

    /// A rollout that goes on from a state with the memory it had there has the bits of one that never stopped.
    [[nodiscard]] std::vector<double> save() const;
    void restore(const std::vector<double>& values);  ///< throws on numbers of another scene
};
[[nodiscard]] StepMemory make_memory(const StepContext& context);

/// What drives one step: controls, and the next coordinates (7 each) of the kinematic bodies.
/// `guess`: velocity at the end of the step from which Newton's method starts when the way there is free; empty: that at its start or,
/// without contact, that to which the last change of velocity leads.
struct StepInput {
    Eigen::VectorXd control;
    Eigen::VectorXd script;
    Eigen::VectorXd guess{};
};

/// Gradient by a state, tangent.
struct StateGradient {
    Eigen::VectorXd q, v;
};

/// Gradients by everything a step depends on, besides parameters.
struct StepGradient {
    StateGradient state;              ///< by the state at its start
    Eigen::VectorXd control, script;  ///< (num_controls), (6 num_kinematic) tangent
    Eigen::VectorXd contact{};        ///< by the numbers of a force law: added to; empty: not asked for
};

/// Products of one adjoint direction lambda: minus the derivatives of lambda . dO/dq+, O the potential of a step, by what it depends on.
struct StepProducts {
    Eigen::VectorXd q_now, v_now, q_previous, control;
};

/// The tree a degree of freedom belongs to, by its root body.
[[nodiscard]] inline int tree_of(const Model& model, int dof) {
    return model.bodies()[static_cast<std::size_t>(model.dofs()[static_cast<std::size_t>(dof)].body)].root;
}

}  // namespace farfield
