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
#include "step_arguments.hpp"

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

Trajectory run(const ModelPtr& model, const Parameters& parameters, const State& state, const RowMatrix& controls,
               std::optional<double> dt, const ContactArgument& contact, std::optional<double> tolerance,
               std::optional<int> max_iterations, const std::optional<std::string>& pd_convention,
               const std::optional<RowMatrix>& script, const nb::object& policy, const std::optional<RowMatrix>& guess,
               int threads, const std::optional<StepOptions>& given, const std::optional<FilterOptions>& filter) {
    const StepOptions options = step_options(model, given, dt, tolerance, max_iterations, pd_convention);
    const ContactPtr potential = contact_for(*model, contact);
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

/// One policy per rollout; None where there is none.
std::vector<std::unique_ptr<PythonPolicy>> policies_of(const std::optional<std::vector<nb::object>>& objects) {
    std::vector<std::unique_ptr<PythonPolicy>> out;
    for (std::size_t k = 0; objects && k < objects->size(); ++k) {
        const nb::object& object = (*objects)[k];
        out.push_back(object.is_none() ? nullptr : std::make_unique<PythonPolicy>(object));
    }
    return out;
}

void require_count(std::size_t count, std::size_t expected, const char* what) {
    if (count != expected) fail("rollout_batch: ", count, " ", what, " for ", expected, " states");
}

using Models = std::variant<ModelPtr, std::vector<ModelPtr>>;
using RowMatrices = std::optional<std::vector<std::optional<RowMatrix>>>;

std::vector<ModelPtr> models_of(const Models& given, std::size_t count) {
    if (const auto* one = std::get_if<ModelPtr>(&given)) return std::vector<ModelPtr>(count, *one);
    const auto& list = std::get<std::vector<ModelPtr>>(given);
    require_count(list.size(), count, "models");
    return list;
}

/// The time step that all models name as theirs.
std::optional<double> shared_dt(const std::vector<ModelPtr>& models) {
    if (models.empty()) return std::nullopt;
    for (const ModelPtr& model : models) {
        if (model->default_dt() != models[0]->default_dt())
            fail("rollout_batch: models with time steps of ", models[0]->default_dt(), " and ", model->default_dt(),
                 " s, expected dt or options");
    }
    return models[0]->default_dt();
}

std::vector<Trajectory> run_batch(const Models& given_models, const std::vector<Parameters>& parameters,
                                  const std::vector<State>& states, const std::vector<RowMatrix>& controls,
                                  std::optional<double> dt, const ContactArgument& contact,
                                  std::optional<double> tolerance, std::optional<int> max_iterations,
                                  const std::optional<std::string>& pd_convention, std::optional<int> threads,
                                  const RowMatrices& scripts, const std::optional<std::vector<nb::object>>& policies,
                                  const RowMatrices& guesses, const std::optional<StepOptions>& given,
                                  const std::optional<FilterOptions>& filter) {
    const std::size_t count = states.size();
    const std::vector<ModelPtr> models = models_of(given_models, count);
    if (!given && !dt) dt = shared_dt(models);
    const StepOptions options = step_options(nullptr, given, dt, tolerance, max_iterations, pd_convention);
    if (parameters.size() != 1 && parameters.size() != count)
        fail("rollout_batch: ", parameters.size(), " parameter sets, expected 1 or ", count);
    require_count(controls.size(), count, "control sequences");
    if (scripts) require_count(scripts->size(), count, "scripts");
    if (policies) require_count(policies->size(), count, "policies");
    if (guesses) require_count(guesses->size(), count, "guesses");
    const auto wrapped = policies_of(policies);
    std::vector<RolloutJob> jobs(count);
    for (std::size_t k = 0; k < count; ++k) {
        RolloutJob& job = jobs[k];
        job.model = models[k];
        job.parameters = parameters[parameters.size() == 1 ? 0 : k];
        job.contact = k > 0 && models[k] == models[k - 1]
                          ? jobs[k - 1].contact
                          : setup_of(contact_for(*models[k], contact), models[k], filter);
        job.input = {.state0 = states[k], .controls = controls[k]};
        if (scripts && (*scripts)[k]) job.input.script = *(*scripts)[k];
        if (guesses && (*guesses)[k]) job.input.guess = *(*guesses)[k];
        if (policies) job.input.policy = wrapped[k].get();
    }
    nb::gil_scoped_release release;
    ThreadPool pool(threads.value_or(default_num_threads()));
    return rollout_batch(jobs, options, pool);
}

std::variant<RolloutGradient, std::vector<RolloutGradient>> run_vjp(
    const Trajectory& trajectory, const std::optional<ConstArray>& dL_dq, const std::optional<ConstArray>& dL_dv,
    const std::optional<ConstArray>& dL_dpose, const ParameterPartials& dL_dparameters, bool allow_unconverged,
    const nb::object& policy, int threads, bool contact_numbers) {
    const PartialArrays arrays{dL_dq, dL_dv, dL_dpose, dL_dparameters};
    const std::optional<std::size_t> losses = arrays.num_losses();
    std::vector<LossPartials> partials;
    for (std::size_t k = 0; k < losses.value_or(1); ++k) partials.push_back(arrays.of(k, losses.has_value()));
    std::optional<PythonPolicy> wrapped;
    if (!policy.is_none()) wrapped.emplace(policy);
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    std::vector<RolloutGradient> found = rollout_vjp(trajectory, std::span<const LossPartials>(partials),
                                                     {.allow_unconverged = allow_unconverged,
                                                      .policy = wrapped ? &*wrapped : nullptr,
                                                      .pool = &pool,
                                                      .contact_numbers = contact_numbers});
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
                                           const std::optional<std::vector<nb::object>>& policies,
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
    if (policies && policies->size() != trajectories.size())
        fail("rollout_vjp_batch: ", policies->size(), " policies for ", trajectories.size(), " trajectories");
    const auto wrapped = policies_of(policies);
    std::vector<VjpOptions> options(policies ? trajectories.size() : 1, {.allow_unconverged = allow_unconverged});
    for (std::size_t k = 0; k < wrapped.size(); ++k) options[k].policy = wrapped[k].get();
    nb::gil_scoped_release release;
    ThreadPool pool(threads.value_or(default_num_threads()));
    return rollout_vjp_batch(trajectories, partials, pool, options);
}

}  // namespace

void bind_dynamics(nb::module_& m) {
    nb::class_<RolloutGradient>(
        m, "RolloutGradient",
        "Gradient of a loss by everything a rollout depends on, each with all else held fixed. Where the initial state "
        "depends on parameters, add (dq0/dtheta)^T q0 + (dv0/dtheta)^T v0 to that by parameters.")
        .def_ro("q0", &RolloutGradient::q0, "By the initial coordinates, tangent, shape (num_dofs,).")
        .def_ro("v0", &RolloutGradient::v0, "By the initial velocities, shape (num_dofs,).")
        .def_ro("controls", &RolloutGradient::controls, "Shape (steps, num_controls).")
        .def_ro("script", &RolloutGradient::script, "By scripted poses, tangent, shape (steps, 6 num_kinematic).")
        .def_ro("parameters", &RolloutGradient::parameters, "Same layout as Parameters.")
        .def_ro("contact", &RolloutGradient::contact,
                "By the force law's own numbers (Softmin.number_names), where contact_numbers asked for them.")
        .def_ro("policy", &RolloutGradient::policy, "By the policy's own numbers.");

    m.def(
        "rollout", &run, "model"_a, "parameters"_a, "state"_a, "controls"_a, nb::kw_only(), "dt"_a.none() = nb::none(),
        "contact"_a.none() = nb::str("automatic"), "tolerance"_a.none() = nb::none(),
        "max_iterations"_a.none() = nb::none(), "pd_convention"_a.none() = nb::none(), "script"_a.none() = nb::none(),
        "policy"_a.none() = nb::none(), "guess"_a.none() = nb::none(), "threads"_a = 1, "options"_a.none() = nb::none(),
        "filter"_a.none() = nb::none(),
        "Simulates len(controls) steps of dt [s] (default: model.default_dt) from `state`; controls has shape (steps, "
        "num_controls).\n\n"
        "Stops at the first step that does not converge (see Trajectory.converged and reports). tolerance: Newton "
        "stop, relative (see StepOptions).\n"
        "script: coordinates of kinematic bodies after each step, shape (steps, 7 num_kinematic); at rest when "
        "absent.\n"
        "contact: a ContactModel such as LongRange(), or the name of one with default options: 'longrange', "
        "'polyhedral', 'ipc' or\n"
        "'ipc-global'; stiffness and friction are in the parameters. 'automatic': 'longrange' where the model has "
        "contact pairs. None: bodies pass\nthrough each other.\n"
        "policy: object with control(step, state) and vjp(step, state, control_bar) -> (q_bar, v_bar, "
        "parameters_bar) and optional num_parameters.\n"
        "guess: warm start, velocities after each step of a similar motion, shape (steps, num_dofs).\n"
        "threads: body pairs of contact in parallel, same bits for any number.\n"
        "options: StepOptions, instead of dt, tolerance, max_iterations and pd_convention. filter: FilterOptions of "
        "the "
        "collision filter.");
    m.def("rollout_batch", &run_batch, "model"_a, "parameters"_a, "states"_a, "controls"_a, nb::kw_only(),
          "dt"_a.none() = nb::none(), "contact"_a.none() = nb::str("automatic"), "tolerance"_a.none() = nb::none(),
          "max_iterations"_a.none() = nb::none(), "pd_convention"_a.none() = nb::none(),
          "threads"_a.none() = nb::none(), "scripts"_a.none() = nb::none(), "policies"_a.none() = nb::none(),
          "guesses"_a.none() = nb::none(), "options"_a.none() = nb::none(), "filter"_a.none() = nb::none(),
          "Independent rollouts on threads (FARFIELD_THREADS or all cores). model: one, or a list of one per rollout. "
          "parameters: list of one\nor of one per rollout. scripts, policies, guesses: lists of one (or None) per "
          "rollout, each as in rollout. Same bits for any thread count.");
    m.def(
        "rollout_vjp", &run_vjp, "trajectory"_a, nb::kw_only(), "dL_dq"_a.none() = nb::none(),
        "dL_dv"_a.none() = nb::none(), "dL_dpose"_a.none() = nb::none(), "dL_dparameters"_a.none() = nb::none(),
        "allow_unconverged"_a = false, "policy"_a.none() = nb::none(), "threads"_a = 1, "contact_numbers"_a = false,
        "Gradient of a loss from its partials per state: dL_dq, dL_dv of shape (steps + 1, num_dofs), tangent; "
        "dL_dpose of shape\n"
        "(steps + 1, num_bodies, 6): by the position of the body's origin, then by a rotation vector, world axes. "
        "Not copied.\n"
        "dL_dparameters: of a loss that depends on parameters directly, states held fixed; it is added to the "
        "gradient.\n"
        "contact_numbers: the gradient by temperatures and points of a force law as well.\n"
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
          "policies"_a.none() = nb::none(), "threads"_a.none() = nb::none(),
          "rollout_vjp of many trajectories on threads; each partial is a list with one array per trajectory.");
}

}  // namespace farfield::python
