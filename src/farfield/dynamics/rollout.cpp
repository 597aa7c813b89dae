// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/rollout.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/dynamics/simulation.hpp"
#include "farfield/dynamics/step.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;

void require(const Eigen::Ref<const RowMatrix>& values, Eigen::Index rows, Eigen::Index cols, const char* place,
             const char* what) {
    if (values.rows() != rows || values.cols() != cols) {
        fail(place, ": ", what, " has shape (", values.rows(), ", ", values.cols(), "), expected (", rows, ", ", cols,
             ")");
    }
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index c = 0; c < cols; ++c) {
            if (!std::isfinite(values(r, c)))
                fail(place, ": ", what, "[", r, ", ", c, "] = ", values(r, c), ", expected a finite number");
        }
    }
}

/// Says which member of a batch a complaint is about.
template <class Work>
void naming(const char* member, int index, Work&& work) {
    try {
        work();
    } catch (const std::invalid_argument& error) {
        fail(member, index, ": ", error.what());
    }
}

void require_unit_quaternions(const Model& model, const RowMatrix& script) {
    for (Eigen::Index r = 0; r < script.rows(); ++r) {
        for (int k = 0; k < model.num_kinematic(); ++k) {
            const double norm = script.row(r).segment<4>(7 * k + 3).norm();
            if (std::abs(norm - 1.0) > 1e-6) {
                fail("rollout: script[", r, "]: quaternion of body '",
                     model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[static_cast<std::size_t>(k)])]
                         .name,
                     "' has norm ", norm, ", expected 1");
            }
        }
    }
}

void require_policy_control(const Model& model, const VectorXd& u, Eigen::Index step) {
    if (u.size() != model.num_controls())
        fail("rollout: policy gave ", u.size(), " controls, expected ", model.num_controls());
    for (Eigen::Index k = 0; k < u.size(); ++k) {
        if (!std::isfinite(u[k]))
            fail("rollout: policy gave control[", k, "] = ", u[k], " at step ", step, ", expected a finite number");
    }
}

void require_partials(const Model& model, const Parameters& partials) {
    const Parameters& like = model.default_parameters();
    visit_fields(partials, [&](const auto& field, const auto& values) {
        const auto found = entries(values), expected = entries(like.*field.member);
        if (found.size() != expected.size())
            fail("rollout_vjp: dL_dparameters: ", field.name, " has ", found.size(), " entries, expected ",
                 expected.size());
        if (!found.allFinite()) fail("rollout_vjp: dL_dparameters: ", field.name, " is not finite");
    });
}

bool given(const ConstRows& rows) { return rows.rows() > 0 || rows.cols() > 0; }

void check_partials(const Trajectory& t, const LossPartials& partials) {
    const Eigen::Index states = t.q.rows(), dofs = t.model->num_dofs();
    if (!given(partials.dL_dq) && !given(partials.dL_dv) && !given(partials.dL_dpose) && !partials.dL_dparameters)
        fail("rollout_vjp: no partials of the loss, expected dL_dq, dL_dv, dL_dpose or dL_dparameters");
    if (given(partials.dL_dq)) require(partials.dL_dq, states, dofs, "rollout_vjp", "dL_dq");
    if (given(partials.dL_dv)) require(partials.dL_dv, states, dofs, "rollout_vjp", "dL_dv");
    if (given(partials.dL_dpose))
        require(partials.dL_dpose, states, 6 * t.model->num_bodies(), "rollout_vjp", "dL_dpose");
    if (partials.dL_dparameters) require_partials(*t.model, *partials.dL_dparameters);
}

/// Adds the partials of losses at one state.
class PartialsAdder {
 public:
    PartialsAdder(const Trajectory& t, std::span<const LossPartials> partials) : t_(t), partials_(partials) {}

    void add(Eigen::Index row, std::span<StateGradient> bars, std::span<Parameters> gradients) {
        bool placed = false;
        for (std::size_t d = 0; d < partials_.size(); ++d) {
            const LossPartials& partials = partials_[d];
            if (partials.dL_dq.size()) bars[d].q += partials.dL_dq.row(row).transpose();
            if (partials.dL_dv.size()) bars[d].v += partials.dL_dv.row(row).transpose();
            if (!partials.dL_dpose.size() || partials.dL_dpose.row(row).isZero(0.0)) continue;
            if (!placed) forward_kinematics(*t_.model, t_.parameters, t_.q.row(row).transpose(), kinematics_);
            placed = true;
            wrenches_.resize(static_cast<std::size_t>(t_.model->num_bodies()));
            for (std::size_t i = 0; i < wrenches_.size(); ++i) {
                wrenches_[i] = partials.dL_dpose.row(row).segment<6>(static_cast<Eigen::Index>(6 * i)).transpose();
            }
            add_pull_back(*t_.model, kinematics_, wrenches_, subtree_, bars[d].q);
            add_attachment_pull_back(*t_.model, kinematics_, subtree_, gradients[d]);
        }
    }

 private:
    const Trajectory& t_;
    std::span<const LossPartials> partials_;
    Kinematics kinematics_;
    std::vector<Vector6d> wrenches_, subtree_;
};

void require_converged(const Trajectory& t, const VjpOptions& options, const char* place) {
    if (!t.model) fail(place, ": empty trajectory");
    require_contact_model(t, place);
    if (t.converged() || options.allow_unconverged) return;
    const int last = t.num_steps() - 1;
    fail(place, ": the trajectory did not converge (step ", last, ": ", to_string(t.reports.back().status),
         "); its gradient is not defined. Pass allow_unconverged to get it anyway");
}

}  // namespace

Trajectory rollout(std::shared_ptr<const Model> model_ptr, const Parameters& parameters, const RolloutInput& input,
                   const StepOptions& options, const ContactSetup& contact, ThreadPool* pool) {
    if (!model_ptr) fail("rollout: no model");
    const Model& model = *model_ptr;
    validate(options);
    validate(model, parameters, "rollout: parameters");
    const Eigen::Index steps = input.controls.rows();
    if (!input.policy) require(input.controls, steps, model.num_controls(), "rollout", "controls");
    if (input.guess.size()) require(input.guess, steps, model.num_dofs(), "rollout", "guess");
    if (input.script.size()) require(input.script, steps, 7 * model.num_kinematic(), "rollout", "script");
    require_unit_quaternions(model, input.script);

    Trajectory t{.model = model_ptr, .parameters = parameters, .contact = contact, .options = options};
    t.controls = input.policy ? RowMatrix::Zero(steps, model.num_controls()) : input.controls;
    t.script.setZero(steps, 7 * model.num_kinematic());
    t.q.resize(steps + 1, model.num_q());
    t.v.resize(steps + 1, model.num_dofs());
    t.reports.reserve(static_cast<std::size_t>(steps));
    Simulation simulation(model_ptr, parameters, contact, options,
                          std::shared_ptr<ThreadPool>(std::shared_ptr<void>(), pool));
    simulation.reset(input.state0, "rollout: state0");
    t.q.row(0) = simulation.state().q.transpose();
    t.v.row(0) = simulation.state().v.transpose();
    StepInput next;
    for (Eigen::Index step = 0; step < steps; ++step) {
        if (input.policy) {
            const VectorXd u = input.policy->control(static_cast<int>(step), simulation.state());
            require_policy_control(model, u, step);
            t.controls.row(step) = u.transpose();
        }
        next.control = t.controls.row(step).transpose();
        if (input.script.size()) next.script = input.script.row(step).transpose();
        if (input.guess.size()) next.guess = input.guess.row(step).transpose();
        t.reports.push_back(simulation.step(next));
        t.cuts.insert(t.cuts.end(), simulation.last_cuts().begin(), simulation.last_cuts().end());
        t.script.row(step) = simulation.last_input().script.transpose();
        t.q.row(step + 1) = simulation.state().q.transpose();
        t.v.row(step + 1) = simulation.state().v.transpose();
        if (t.reports.back().status != StepStatus::Converged) {
            t.q.conservativeResize(step + 2, Eigen::NoChange);
            t.v.conservativeResize(step + 2, Eigen::NoChange);
            break;
        }
    }
    return t;
}

std::vector<Trajectory> rollout_batch(const std::vector<RolloutJob>& jobs, const StepOptions& options,
                                      ThreadPool& pool) {
    std::vector<Trajectory> out(jobs.size());
    pool.run(static_cast<int>(jobs.size()), [&](int i) {
        const auto k = static_cast<std::size_t>(i);
        const RolloutJob& job = jobs[k];
        naming("rollout_batch: rollout ", i,
               [&] { out[k] = rollout(job.model, job.parameters, job.input, options, job.contact); });
    });
    return out;
}

RolloutGradient rollout_vjp(const Trajectory& t, const LossPartials& partials, const VjpOptions& options) {
    return std::move(rollout_vjp(t, std::span(&partials, 1), options).front());
}

std::vector<RolloutGradient> rollout_vjp(const Trajectory& t, std::span<const LossPartials> partials,
                                         const VjpOptions& options) {
    require_converged(t, options, "rollout_vjp");
    for (const LossPartials& one : partials) check_partials(t, one);
    const Model& model = *t.model;
    const std::size_t count = partials.size();
    std::vector<RolloutGradient> out(count);
    std::vector<Parameters> gradients;
    std::vector<StateGradient> bars(count);
    for (std::size_t d = 0; d < count; ++d) {
        gradients.push_back(partials[d].dL_dparameters ? *partials[d].dL_dparameters : zero_parameters(model));
        out[d].controls.setZero(t.controls.rows(), model.num_controls());
        out[d].script.setZero(t.controls.rows(), 6 * model.num_kinematic());
        out[d].policy.setZero(options.policy ? options.policy->num_parameters() : 0);
        bars[d].q.setZero(model.num_dofs());
        bars[d].v.setZero(model.num_dofs());
    }
    const StepContext context{.model = model,
                              .parameters = t.parameters,
                              .contact = t.contact.potential.get(),
                              .filter = t.contact.filter.get(),
                              .options = t.options,
                              .pool = options.pool,
                              .law = t.contact.law.get()};
    StepMemory memory = make_memory(context);
    AnyStepScratch scratch;
    std::vector<StepGradient> step_gradients(count);
    if (options.contact_numbers) {
        if (!t.contact.law) fail("rollout_vjp: contact_numbers, expected a trajectory under a force law");
        const auto numbers = static_cast<Eigen::Index>(t.contact.law->number_names().size());
        for (StepGradient& gradient : step_gradients) gradient.contact.setZero(numbers);
    }
    StepInput input;
    State now, next = t.state(t.num_steps());
    PartialsAdder adder(t, partials);
    adder.add(t.num_steps(), bars, gradients);
    for (int step = t.num_steps() - 1; step >= 0; --step) {
        now.q = t.q.row(step).transpose();
        now.v = t.v.row(step).transpose();
        input.control = t.controls.row(step).transpose();
        input.script = t.script.row(step).transpose();
        take_step_vjp(context, now, input, next, t.cuts_of(step), bars, memory, scratch, step_gradients, gradients);
        for (std::size_t d = 0; d < count; ++d) {
            std::swap(bars[d], step_gradients[d].state);
            out[d].controls.row(step) = step_gradients[d].control.transpose();
            out[d].script.row(step) = step_gradients[d].script.transpose();
            if (options.policy)
                options.policy->vjp(step, now, step_gradients[d].control, bars[d].q, bars[d].v, out[d].policy);
        }
        adder.add(step, bars, gradients);
        std::swap(now, next);
    }
    for (std::size_t d = 0; d < count; ++d) {
        out[d].q0 = std::move(bars[d].q);
        out[d].v0 = std::move(bars[d].v);
        out[d].parameters = std::move(gradients[d]);
        out[d].contact = std::move(step_gradients[d].contact);
    }
    return out;
}

std::vector<RolloutGradient> rollout_vjp_batch(const std::vector<Trajectory>& trajectories,
                                               const std::vector<LossPartials>& partials, ThreadPool& pool,
                                               const std::vector<VjpOptions>& options) {
    if (partials.size() != trajectories.size())
        fail("rollout_vjp_batch: ", partials.size(), " partials for ", trajectories.size(), " trajectories");
    if (options.size() != 1 && options.size() != trajectories.size())
        fail("rollout_vjp_batch: ", options.size(), " options, expected 1 or ", trajectories.size());
    std::vector<RolloutGradient> out(trajectories.size());
    pool.run(static_cast<int>(trajectories.size()), [&](int i) {
        const auto k = static_cast<std::size_t>(i);
        naming("rollout_vjp_batch: trajectory ", i,
               [&] { out[k] = rollout_vjp(trajectories[k], partials[k], options[options.size() == 1 ? 0 : k]); });
    });
    return out;
}

}  // namespace farfield
