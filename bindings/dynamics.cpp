// SPDX-License-Identifier: Apache-2.0
/// @file  Rollouts and their gradients in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/dynamics/rollout.hpp"
#include "farfield/dynamics/step_jacobian.hpp"
#include "farfield/model/parameter_names.hpp"
#include "poses.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using Eigen::VectorXd;

namespace {

using ModelPtr = std::shared_ptr<Model>;
using ConstArray = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// A Python object with control(step, state) and vjp(step, state, control_bar) -> (q_bar, v_bar, parameters_bar).
class PythonPolicy : public Policy {
 public:
    explicit PythonPolicy(nb::object object) : object_(std::move(object)) {
        num_parameters_ = nb::hasattr(object_, "num_parameters") ? nb::cast<int>(object_.attr("num_parameters")) : 0;
    }
    [[nodiscard]] VectorXd control(int step, const State& state) const override {
        nb::gil_scoped_acquire gil;
        return nb::cast<VectorXd>(object_.attr("control")(step, State(state)));
    }
    void vjp(int step, const State& state, const VectorXd& control_bar, VectorXd& q_bar, VectorXd& v_bar,
             VectorXd& c_bar) const override {
        nb::gil_scoped_acquire gil;
        const nb::tuple bars = nb::cast<nb::tuple>(object_.attr("vjp")(step, State(state), control_bar));
        if (bars.size() != 3)
            fail("policy.vjp returned ", bars.size(), " values, expected (q_bar, v_bar, parameters_bar)");
        add(bars[0], q_bar, "q_bar");
        add(bars[1], v_bar, "v_bar");
        add(bars[2], c_bar, "parameters_bar");
    }
    [[nodiscard]] int num_parameters() const override { return num_parameters_; }

 private:
    static void add(nb::handle value, VectorXd& sum, const char* what) {
        const VectorXd part = nb::cast<VectorXd>(value);
        if (part.size() != sum.size())
            fail("policy.vjp: ", what, " has ", part.size(), " entries, expected ", sum.size());
        sum += part;
    }
    nb::object object_;
    int num_parameters_ = 0;
};

PdConvention pd_convention_of(const std::string& name) {
    if (name == "paper") return PdConvention::Paper;
    if (name != "standard") fail("pd_convention '", name, "', expected 'standard' or 'paper'");
    return PdConvention::Standard;
}

const char* name_of(PdConvention convention) { return convention == PdConvention::Paper ? "paper" : "standard"; }

/// What a rollout is told about its steps: one struct, or single numbers.
StepOptions step_options(const ModelPtr& model, const std::optional<StepOptions>& given, std::optional<double> dt,
                         std::optional<double> tolerance, std::optional<int> max_iterations,
                         const std::optional<std::string>& pd_convention) {
    if (given && (dt || tolerance || max_iterations || pd_convention))
        fail("rollout: options and dt, tolerance, max_iterations or pd_convention, expected one or the others");
    StepOptions options = given.value_or(StepOptions{.dt = dt.value_or(model->default_dt())});
    if (tolerance) options.tolerance = *tolerance;
    if (max_iterations) options.max_iterations = *max_iterations;
    if (pd_convention) options.pd_convention = pd_convention_of(*pd_convention);
    validate(options);
    return options;
}

/// The contact of a rollout, its filter with other options than the defaults when they are given.
ContactSetup setup_of(const ContactPtr& contact, const ModelPtr& model, const std::optional<FilterOptions>& filter) {
    if (!contact) return {};
    ContactSetup setup = contact->setup(model);
    if (filter) setup.filter = std::make_shared<const CollisionFilter>(*model, setup.filter->surfaces(), *filter);
    return setup;
}

/// Rows of a 2-D array (width 0), or of a 3-D one whose last extent is `width`, without copying. With `losses`, of loss `k` in an array
/// that has one more extent before the others.
ConstRows rows_of(const std::optional<ConstArray>& array, const char* what, std::size_t width = 0, bool losses = false,
                  std::size_t k = 0) {
    if (!array) return {nullptr, 0, 0};
    const std::size_t first = losses ? 1 : 0, expected = first + (width > 0 ? 3 : 2);
    if (array->ndim() != expected)
        fail("rollout_vjp: ", what, " has ", array->ndim(), " dimensions, expected ", expected);
    const std::size_t rows = array->shape(first);
    if (rows == 0) fail("rollout_vjp: ", what, " has no rows, expected steps + 1");
    if (width > 0 && array->shape(first + 2) != width)
        fail("rollout_vjp: ", what, " has last extent ", array->shape(first + 2), ", expected ", width);
    const std::size_t cols = array->shape(first + 1) * (width > 0 ? width : 1);
    return {array->data() + k * rows * cols, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols)};
}

using ParameterPartials = std::optional<std::variant<Parameters, std::vector<Parameters>>>;

/// Partials of one loss, or of several: then every array has one more extent, the first, and parameters are a list.
struct PartialArrays {
    const std::optional<ConstArray>&dL_dq, &dL_dv, &dL_dpose;
    const ParameterPartials& dL_dparameters;

    /// How many losses the arrays speak of; none: a single one.
    [[nodiscard]] std::optional<std::size_t> num_losses() const {
        std::optional<std::size_t> count;
        bool single = false;
        const auto see = [&](bool several, std::size_t losses, const char* what) {
            single = single || !several;
            if (several && count.value_or(losses) != losses)
                fail("rollout_vjp: ", what, " has ", losses, " losses, expected ", *count);
            if (several) count = losses;
            if (several && single) fail("rollout_vjp: ", what, " has several losses, others have one");
        };
        if (dL_dq) see(dL_dq->ndim() == 3, dL_dq->shape(0), "dL_dq");
        if (dL_dv) see(dL_dv->ndim() == 3, dL_dv->shape(0), "dL_dv");
        if (dL_dpose) see(dL_dpose->ndim() == 4, dL_dpose->shape(0), "dL_dpose");
        if (dL_dparameters) {
            const auto* list = std::get_if<std::vector<Parameters>>(&*dL_dparameters);
            see(list != nullptr, list ? list->size() : 0, "dL_dparameters");
        }
        if (count && single) fail("rollout_vjp: partials of one loss and of ", *count, ", expected the same for all");
        if (count && *count == 0) fail("rollout_vjp: partials of 0 losses, expected 1 or more");
        return count;
    }

    [[nodiscard]] LossPartials of(std::size_t k, bool several) const {
        LossPartials out{rows_of(dL_dq, "dL_dq", 0, several, k), rows_of(dL_dv, "dL_dv", 0, several, k),
                         rows_of(dL_dpose, "dL_dpose", 6, several, k)};
        if (dL_dparameters) {
            const auto* list = std::get_if<std::vector<Parameters>>(&*dL_dparameters);
            out.dL_dparameters = list ? &(*list)[k] : std::get_if<Parameters>(&*dL_dparameters);
        }
        return out;
    }
};

nb::object poses_of(const Trajectory& t) {
    const auto states = static_cast<std::size_t>(t.q.rows()), bodies = static_cast<std::size_t>(t.model->num_bodies());
    auto* data = new double[states * bodies * 7];
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    Kinematics kinematics;
    for (std::size_t s = 0; s < states; ++s) {
        forward_kinematics(*t.model, t.parameters, t.q.row(static_cast<Eigen::Index>(s)).transpose(), kinematics);
        Eigen::Map<PoseRows>(data + 7 * bodies * s, static_cast<Eigen::Index>(bodies), 7) = pose_rows(kinematics.poses);
    }
    return nb::cast(nb::ndarray<nb::numpy, double>(data, {states, bodies, 7}, owner));
}

Trajectory run(const ModelPtr& model, const Parameters& parameters, const State& state, const RowMatrix& controls,
               std::optional<double> dt, const ContactArgument& contact, std::optional<double> tolerance,
               std::optional<int> max_iterations, const std::optional<std::string>& pd_convention,
               const std::optional<RowMatrix>& script, const nb::object& policy, const std::optional<RowMatrix>& guess,
               int threads, const std::optional<StepOptions>& given, const std::optional<FilterOptions>& filter) {
    const StepOptions options = step_options(model, given, dt, tolerance, max_iterations, pd_convention);
    const ContactPtr potential = contact_of(contact);
    RolloutInput input{.state0 = state, .controls = controls};
    if (script) input.script = *script;
    if (guess) input.guess = *guess;
    std::optional<PythonPolicy> wrapped;
    if (!policy.is_none()) {
        wrapped.emplace(policy);
        input.policy = &*wrapped;
    }
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    return rollout(model, parameters, input, options, setup_of(potential, model, filter), &pool);
}

std::vector<Trajectory> run_batch(const ModelPtr& model, const std::vector<Parameters>& parameters,
                                  const std::vector<State>& states, const std::vector<RowMatrix>& controls,
                                  std::optional<double> dt, const ContactArgument& contact,
                                  std::optional<double> tolerance, std::optional<int> max_iterations,
                                  const std::optional<std::string>& pd_convention, std::optional<int> threads,
                                  const std::optional<std::vector<RowMatrix>>& guesses,
                                  const std::optional<StepOptions>& given, const std::optional<FilterOptions>& filter) {
    const StepOptions options = step_options(model, given, dt, tolerance, max_iterations, pd_convention);
    const ContactPtr potential = contact_of(contact);
    if (controls.size() != states.size())
        fail("rollout_batch: ", controls.size(), " control sequences for ", states.size(), " states");
    if (guesses && guesses->size() != states.size())
        fail("rollout_batch: ", guesses->size(), " guesses for ", states.size(), " states");
    std::vector<RolloutInput> inputs;
    for (std::size_t k = 0; k < states.size(); ++k) inputs.push_back({.state0 = states[k], .controls = controls[k]});
    for (std::size_t k = 0; guesses && k < states.size(); ++k) inputs[k].guess = (*guesses)[k];
    nb::gil_scoped_release release;
    ThreadPool pool(threads.value_or(default_num_threads()));
    return rollout_batch(model, parameters, inputs, options, pool, setup_of(potential, model, filter));
}

std::variant<RolloutGradient, std::vector<RolloutGradient>> run_vjp(
    const Trajectory& trajectory, const std::optional<ConstArray>& dL_dq, const std::optional<ConstArray>& dL_dv,
    const std::optional<ConstArray>& dL_dpose, const ParameterPartials& dL_dparameters, bool allow_unconverged,
    const nb::object& policy, int threads) {
    const PartialArrays arrays{dL_dq, dL_dv, dL_dpose, dL_dparameters};
    const std::optional<std::size_t> losses = arrays.num_losses();
    std::vector<LossPartials> partials;
    for (std::size_t k = 0; k < losses.value_or(1); ++k) partials.push_back(arrays.of(k, losses.has_value()));
    std::optional<PythonPolicy> wrapped;
    if (!policy.is_none()) wrapped.emplace(policy);
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    std::vector<RolloutGradient> found =
        rollout_vjp(trajectory, std::span<const LossPartials>(partials),
                    {.allow_unconverged = allow_unconverged, .policy = wrapped ? &*wrapped : nullptr, .pool = &pool});
    if (losses) return found;
    return std::move(found.front());
}

using ParameterChoice = std::optional<std::variant<Eigen::VectorXi, std::vector<std::string>>>;

StepJacobian run_jacobian(const Trajectory& trajectory, int step, const ParameterChoice& parameters, int threads) {
    Eigen::VectorXi chosen;
    if (parameters) {
        const auto* names = std::get_if<std::vector<std::string>>(&*parameters);
        chosen = names ? parameter_mask(*trajectory.model, *names) : std::get<Eigen::VectorXi>(*parameters);
    }
    const int count = trajectory.num_steps();
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    return step_jacobian(trajectory, step < 0 ? step + count : step, chosen, &pool);
}

using ArrayList = std::optional<std::vector<ConstArray>>;

std::vector<RolloutGradient> run_vjp_batch(const std::vector<Trajectory>& trajectories, const ArrayList& dL_dq,
                                           const ArrayList& dL_dv, const ArrayList& dL_dpose, bool allow_unconverged,
                                           std::optional<int> threads) {
    const auto pick = [&](const ArrayList& list, std::size_t k, const char* what, std::size_t width = 0) {
        if (!list) return ConstRows{nullptr, 0, 0};
        if (list->size() != trajectories.size())
            fail("rollout_vjp_batch: ", what, " has ", list->size(), " arrays for ", trajectories.size(),
                 " trajectories");
        return rows_of((*list)[k], what, width);
    };
    std::vector<LossPartials> partials;
    for (std::size_t k = 0; k < trajectories.size(); ++k) {
        partials.push_back({pick(dL_dq, k, "dL_dq"), pick(dL_dv, k, "dL_dv"), pick(dL_dpose, k, "dL_dpose", 6)});
    }
    nb::gil_scoped_release release;
    ThreadPool pool(threads.value_or(default_num_threads()));
    return rollout_vjp_batch(trajectories, partials, pool, {.allow_unconverged = allow_unconverged});
}

}  // namespace

void bind_dynamics(nb::module_& m) {
    nb::class_<StepOptions>(m, "StepOptions", "How a step is taken.")
        .def(
            "__init__",
            [](StepOptions* self, double dt, double tolerance, int max_iterations, const std::string& pd_convention) {
                const StepOptions options{dt, tolerance, max_iterations, pd_convention_of(pd_convention)};
                validate(options);
                new (self) StepOptions(options);
            },
            nb::kw_only(), "dt"_a = StepOptions{}.dt, "tolerance"_a = StepOptions{}.tolerance,
            "max_iterations"_a = StepOptions{}.max_iterations, "pd_convention"_a = name_of(StepOptions{}.pd_convention))
        .def_ro("dt", &StepOptions::dt, "Time step [s].")
        .def_ro("tolerance", &StepOptions::tolerance, "Newton stop, infinity norm of the gradient [N, N m].")
        .def_ro("max_iterations", &StepOptions::max_iterations, "Newton iterations before a step gives up.")
        .def_prop_ro(
            "pd_convention", [](const StepOptions& o) { return name_of(o.pd_convention); },
            "'standard': 1/2 kp |q* - q|^2 + 1/2 kd dt |v* - v|^2; 'paper': the same without the halves and the dt.");

    nb::class_<FilterOptions>(m, "FilterOptions", "How the collision filter certifies a step.")
        .def(
            "__init__",
            [](FilterOptions* self, double keep, double tolerance, double curvature_scale) {
                const FilterOptions options{.keep = keep, .tolerance = tolerance, .curvature_scale = curvature_scale};
                validate(options);
                new (self) FilterOptions(options);
            },
            nb::kw_only(), "keep"_a = FilterOptions{}.keep, "tolerance"_a = FilterOptions{}.tolerance,
            "curvature_scale"_a = FilterOptions{}.curvature_scale)
        .def_ro("keep", &FilterOptions::keep,
                "Fraction of the gap at the start that is kept everywhere on the certified path, in (0, 1).")
        .def_ro("tolerance", &FilterOptions::tolerance,
                "Of the remaining gap: where the search for the largest step may stop, in (0, 1).")
        .def_ro("curvature_scale", &FilterOptions::curvature_scale,
                "Multiplies the bounds of bending; anything below 1 gives up the certificate.");

    nb::class_<StepReport>(m, "StepReport", "The certificate of one step.")
        .def_prop_ro(
            "status", [](const StepReport& r) { return to_string(r.status); },
            "'converged', 'max_iterations', 'line_search_failed', 'non_finite' or 'intersecting'.")
        .def_ro("iterations", &StepReport::iterations, "Newton iterations.")
        .def_ro("residual", &StepReport::residual,
                "Gradient norm where the last full Newton step was computed [N, N m]; that step was still taken.")
        .def_ro("min_gap", &StepReport::min_gap,
                "Certified lower bound of the gap between bodies [m]; inf without contact.")
        .def_ro("shortest_step", &StepReport::shortest_step,
                "Smallest fraction of a Newton step that the collision filter let pass.")
        .def_ro("detour", &StepReport::detour,
                "A body went around another within the step, although no straight way led there: take smaller steps.")
        .def_ro("conditioning", &StepReport::conditioning, "Smallest over largest pivot of the last Hessian.")
        .def_ro("kinetic", &StepReport::kinetic, "Kinetic energy [J].")
        .def_ro("potential", &StepReport::potential, "Gravitational and spring energy [J].")
        .def_ro("contact", &StepReport::contact, "Contact energy [J].")
        .def_prop_ro(
            "contact_linearizations", [](const StepReport& r) { return r.contact_counts.linearizations; },
            "Calls of the contact model with derivatives.")
        .def_prop_ro(
            "contact_energies", [](const StepReport& r) { return r.contact_counts.energies; },
            "Calls of the contact model for its energy alone.")
        .def_prop_ro(
            "contact_evaluations",
            [](const StepReport& r) { return r.contact_counts.linearizations + r.contact_counts.energies; },
            "All calls of the contact model.")
        .def("__repr__", [](const StepReport& r) {
            return std::string("StepReport(") + to_string(r.status) + ", iterations=" + std::to_string(r.iterations) +
                   ")";
        });

    nb::class_<Trajectory>(
        m, "Trajectory",
        "States, controls and reports of a rollout. Arrays are read-only views: the gradient is computed from them.")
        .def_prop_ro(
            "q", [](const Trajectory& t) { return view(t.q); }, "Coordinates, shape (steps + 1, num_q).")
        .def_prop_ro(
            "v", [](const Trajectory& t) { return view(t.v); }, "Velocities, shape (steps + 1, num_dofs).")
        .def_prop_ro(
            "controls", [](const Trajectory& t) { return view(t.controls); },
            "As applied, shape (steps, num_controls).")
        .def_prop_ro(
            "script", [](const Trajectory& t) { return view(t.script); },
            "Coordinates of scripted bodies after each step, shape (steps, 7 num_kinematic).")
        .def_ro("reports", &Trajectory::reports, "One StepReport per step taken.")
        .def_prop_ro(
            "model", [](const Trajectory& t) { return std::const_pointer_cast<Model>(t.model); },
            "The model that moved.")
        .def_prop_ro(
            "parameters", [](const Trajectory& t) { return Parameters(t.parameters); },
            "A copy of the parameters it moved with.")
        .def_prop_ro(
            "contact", [](const Trajectory& t) { return t.contact.description; },
            "The contact model and its options as JSON; empty without contact.")
        .def_prop_ro(
            "dt", [](const Trajectory& t) { return t.options.dt; }, "Time step [s].")
        .def_ro("options", &Trajectory::options, "How its steps were taken.")
        .def_prop_ro("num_steps", &Trajectory::num_steps, "Steps taken.")
        .def_prop_ro("converged", &Trajectory::converged, "Every step asked for was taken and converged.")
        .def_prop_ro(
            "min_gap",
            [](const Trajectory& t) {
                double gap = std::numeric_limits<double>::infinity();
                for (const StepReport& r : t.reports) gap = std::min(gap, r.min_gap);
                return gap;
            },
            "Smallest certified gap of all steps [m]; inf without contact.")
        .def(
            "state",
            [](const Trajectory& t, int step) {
                const int count = static_cast<int>(t.q.rows()), index = step < 0 ? step + count : step;
                if (index < 0 || index >= count)
                    throw nb::index_error(
                        ("state " + std::to_string(step) + " of a trajectory with " + std::to_string(count) + " states")
                            .c_str());
                return t.state(index);
            },
            "step"_a, "State after `step` steps; negative counts from the end.")
        .def("poses", &poses_of,
             "World placement of every body at every state, shape (steps + 1, num_bodies, 7): position [m], quaternion "
             "(w, x, y, z).")
        .def(
            "_set_contact", [](Trajectory& t, ContactModel& contact) { t.contact = contact.setup(t.model); },
            "contact"_a)
        .def("__len__", &Trajectory::num_steps)
        .def("__repr__", [](const Trajectory& t) {
            return "Trajectory(steps=" + std::to_string(t.num_steps()) + ", dt=" + std::to_string(t.options.dt) +
                   (t.converged() ? ", converged)" : ", NOT converged)");
        });

    nb::class_<RolloutGradient>(
        m, "RolloutGradient",
        "Gradient of a loss by everything a rollout depends on, each with all else held fixed. Where the initial state "
        "depends on parameters, add (dq0/dtheta)^T q0 + (dv0/dtheta)^T v0 to that by parameters.")
        .def_ro("q0", &RolloutGradient::q0, "By the initial coordinates, tangent, shape (num_dofs,).")
        .def_ro("v0", &RolloutGradient::v0, "By the initial velocities, shape (num_dofs,).")
        .def_ro("controls", &RolloutGradient::controls, "Shape (steps, num_controls).")
        .def_ro("script", &RolloutGradient::script, "By scripted poses, tangent, shape (steps, 6 num_kinematic).")
        .def_ro("parameters", &RolloutGradient::parameters, "Same layout as Parameters.")
        .def_ro("policy", &RolloutGradient::policy, "By the policy's own numbers.");

    m.def(
        "rollout", &run, "model"_a, "parameters"_a, "state"_a, "controls"_a, nb::kw_only(), "dt"_a.none() = nb::none(),
        "contact"_a.none() = nb::none(), "tolerance"_a.none() = nb::none(), "max_iterations"_a.none() = nb::none(),
        "pd_convention"_a.none() = nb::none(), "script"_a.none() = nb::none(), "policy"_a.none() = nb::none(),
        "guess"_a.none() = nb::none(), "threads"_a = 1, "options"_a.none() = nb::none(), "filter"_a.none() = nb::none(),
        "Simulates len(controls) steps of dt [s] (default: model.default_dt) from `state`; controls has shape (steps, "
        "num_controls).\n\n"
        "Stops at the first step that does not converge (see Trajectory.converged and reports). tolerance: Newton "
        "stop [N, N m].\n"
        "script: coordinates of kinematic bodies after each step, shape (steps, 7 num_kinematic); at rest when "
        "absent.\n"
        "contact: a ContactModel such as LongRange(), or the name of one with default options: 'longrange', "
        "'polyhedral', 'ipc' or\n"
        "'ipc-global'; weight and friction are in the parameters.\n"
        "policy: object with control(step, state) and vjp(step, state, control_bar) -> (q_bar, v_bar, "
        "parameters_bar) and optional num_parameters.\n"
        "guess: warm start, velocities after each step of a similar motion, shape (steps, num_dofs).\n"
        "threads: body pairs of contact in parallel, same bits for any number.\n"
        "options: StepOptions, instead of dt, tolerance, max_iterations and pd_convention. filter: FilterOptions of "
        "the "
        "collision filter.");
    m.def("rollout_batch", &run_batch, "model"_a, "parameters"_a, "states"_a, "controls"_a, nb::kw_only(),
          "dt"_a.none() = nb::none(), "contact"_a.none() = nb::none(), "tolerance"_a.none() = nb::none(),
          "max_iterations"_a.none() = nb::none(), "pd_convention"_a.none() = nb::none(),
          "threads"_a.none() = nb::none(), "guesses"_a.none() = nb::none(), "options"_a.none() = nb::none(),
          "filter"_a.none() = nb::none(),
          "Independent rollouts on threads (FARFIELD_THREADS or all cores). parameters: list of one or of one per "
          "rollout. guesses: one warm start per rollout. Same bits for any thread count.");
    m.def(
        "rollout_vjp", &run_vjp, "trajectory"_a, nb::kw_only(), "dL_dq"_a.none() = nb::none(),
        "dL_dv"_a.none() = nb::none(), "dL_dpose"_a.none() = nb::none(), "dL_dparameters"_a.none() = nb::none(),
        "allow_unconverged"_a = false, "policy"_a.none() = nb::none(), "threads"_a = 1,
        "Gradient of a loss from its partials per state: dL_dq, dL_dv of shape (steps + 1, num_dofs), tangent; "
        "dL_dpose of shape\n"
        "(steps + 1, num_bodies, 6): by the position of the body's origin, then by a rotation vector, world axes. "
        "Not copied.\n"
        "dL_dparameters: of a loss that depends on parameters directly, states held fixed; it is added to the "
        "gradient.\n"
        "Several losses at once: every array gets one more extent before the others and dL_dparameters is a list; the "
        "result is a list\nof gradients, for little more than the price of one.");
    nb::class_<StepJacobian>(m, "StepJacobian",
                             "d(q, v)_next = A d(q, v) + B d(control) + S d(script) + C d(parameters), all tangent.")
        .def_ro("A", &StepJacobian::A, "By the state, shape (2 num_dofs, 2 num_dofs).")
        .def_ro("B", &StepJacobian::B, "By the control, shape (2 num_dofs, num_controls).")
        .def_ro("S", &StepJacobian::S, "By the script at the end of the step, shape (2 num_dofs, 6 num_kinematic).")
        .def_ro("C", &StepJacobian::C, "By the chosen parameters, shape (2 num_dofs, chosen).");
    m.def(
        "step_jacobian", &run_jacobian, "trajectory"_a, "t"_a, "parameters"_a.none() = nb::none(), nb::kw_only(),
        "threads"_a = 1,
        "Exact Jacobian of the step from state t to the next, from one factorisation; negative t counts from the end.\n"
        "parameters: what C is by: indices into the flat vector, or names as parameter_mask takes them.");
    m.def("rollout_vjp_batch", &run_vjp_batch, "trajectories"_a, nb::kw_only(), "dL_dq"_a.none() = nb::none(),
          "dL_dv"_a.none() = nb::none(), "dL_dpose"_a.none() = nb::none(), "allow_unconverged"_a = false,
          "threads"_a.none() = nb::none(),
          "rollout_vjp of many trajectories on threads; each partial is a list with one array per trajectory.");
}

}  // namespace farfield::python
