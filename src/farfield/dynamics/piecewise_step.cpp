// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/piecewise_step.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr int kMostCuts = 8;    // halvings of a step that does not arrive
constexpr int kDetourCuts = 3;  // of one that seems to lead around a body
constexpr int kAttempts = 10;   // budgets of iterations, and of calls of contact, that all attempts may use together

StepContext with_length(const StepContext& context, double length) {
    StepContext piece = context;
    piece.options.dt *= length;
    return piece;
}

const ModelBody& kinematic_body(const Model& model, std::size_t k) {
    return model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[k])];
}

/// What scripted bodies have to go in the whole step, zero elsewhere.
void script_way(const Model& model, const VectorXd& q, const VectorXd& script, VectorXd& way) {
    VectorXd target = q;
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const int index = model.joints()[static_cast<std::size_t>(kinematic_body(model, k).first_joint)].q;
        target.segment<7>(index) = script.segment<7>(static_cast<Eigen::Index>(7 * k));
    }
    difference(model, q, target, way);
}

/// Where scripted bodies are at a fraction of the step.
VectorXd script_at(const Model& model, const VectorXd& q, const VectorXd& script, double fraction) {
    if (fraction == 1.0 || model.num_kinematic() == 0) return script;
    VectorXd way, there, out(script.size());
    script_way(model, q, script, way);
    retract(model, q, fraction * way, there);
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const int index = model.joints()[static_cast<std::size_t>(kinematic_body(model, k).first_joint)].q;
        out.segment<7>(static_cast<Eigen::Index>(7 * k)) = there.segment<7>(index);
    }
    return out;
}

/// Adds the pull-back of script_at to the gradients by the whole script and by the coordinates at the start of the step.
/// R_f = R exp(f w), w = log(R^T R_end):  R_f^T dR_f = f J_r(f w) J_r^-1(w) dR_end + (exp(-f w) - f J_r(f w) J_l^-1(w)) dR
void add_script_vjp(const Model& model, const VectorXd& way, double fraction, const VectorXd& bar, VectorXd& script,
                    VectorXd& q) {
    if (fraction == 1.0) {
        script += bar;
        return;
    }
    for (std::size_t k = 0; k < model.kinematic_bodies().size(); ++k) {
        const int dof = kinematic_body(model, k).first_dof;
        const auto row = static_cast<Eigen::Index>(6 * k);
        script.segment<3>(row) += fraction * bar.segment<3>(row);
        q.segment<3>(dof) += (1.0 - fraction) * bar.segment<3>(row);
        const Vector3d w = way.segment<3>(dof + 3), turned = bar.segment<3>(row + 3);
        const Matrix3d inverse = right_jacobian_inverse(w);  // J_l^-1 is its transpose, J_r the transpose of J_l
        const Vector3d along = fraction * (left_jacobian(fraction * w) * turned);
        script.segment<3>(row + 3) += inverse.transpose() * along;
        q.segment<3>(dof + 3) += exp_rotation(fraction * w) * turned - inverse * along;
    }
}

/// One step and the attempts to take it.
class Attempts {
 public:
    Attempts(const StepContext& context, const State& start, const StepInput& input, StepMemory& memory,
             StepScratch& scratch, std::vector<StepCut>& cuts)
        : context_(context), start_(start), input_(input), memory_(memory), scratch_(scratch), cuts_(cuts) {}

    StepReport take(State& next) {
        StepReport report = advance(0.0, 1.0, start_, next, 0);
        report.iterations = iterations_;
        report.contact_counts = counts_;
        return report;
    }

 private:
    [[nodiscard]] int iterations_left() const {
        return kAttempts * context_.options.max_iterations -
               std::max(iterations_, counts_.linearizations + counts_.energies);
    }

    /// One ordinary step from `now`, `begin` of the whole behind it, over `length` of the whole.
    StepReport attempt(double begin, double length, const State& now, State& next) {
        const std::size_t told = context_.trace ? context_.trace->size() : 0;
        StepReport report;
        if (length == 1.0) {
            report = implicit_step(context_, now, input_, memory_, scratch_, next);
        } else {
            StepContext piece = with_length(context_, length);
            piece.options.max_iterations = std::min(context_.options.max_iterations, iterations_left());
            const StepInput part{input_.control, script_at(context_.model, start_.q, input_.script, begin + length)};
            try {
                report = implicit_step(piece, now, part, memory_, scratch_, next);
            } catch (const std::invalid_argument&) {
                if (begin == 0.0) throw;
                report = {.status = StepStatus::Intersecting, .min_gap = 0.0};  // the piece before left no gap
                next = now;
            }
        }
        iterations_ += report.iterations;
        counts_.linearizations += report.contact_counts.linearizations;
        counts_.energies += report.contact_counts.energies;
        if (context_.trace) {
            for (StepIteration& one : std::span(*context_.trace).subspan(told)) one.begin = begin, one.length = length;
        }
        return report;
    }

    /// The same, in pieces where it has to be.
    StepReport advance(double begin, double length, const State& now, State& next, int depth) {
        StepReport whole = attempt(begin, length, now, next);
        const bool arrived = whole.status == StepStatus::Converged;
        if (arrived && !whole.detour) return whole;
        if (depth == (arrived ? kDetourCuts : kMostCuts) || iterations_left() <= 0) return whole;
        if (whole.status == StepStatus::Intersecting) return whole;  // it starts where bodies touch
        const State kept = next;
        const std::size_t before = cuts_.size();
        State middle;
        StepReport pieces = advance(begin, 0.5 * length, now, middle, depth + 1);
        if (pieces.status == StepStatus::Converged) {
            cuts_.push_back({.fraction = begin + 0.5 * length, .state = middle});
            pieces = joined(pieces, advance(begin + 0.5 * length, 0.5 * length, middle, next, depth + 1));
        }
        const bool in_pieces = pieces.status == StepStatus::Converged;
        if (arrived && in_pieces) whole.detour = went_elsewhere(now, kept, next);
        if (in_pieces && (!arrived || whole.detour)) return pieces;
        next = kept;
        cuts_.resize(before);
        pieces.pieces = 1;
        return arrived || whole.status == StepStatus::Squeezed ? whole : pieces;
    }

    /// Whether a step that seems to lead a body around another ends where its pieces do not.
    [[nodiscard]] bool went_elsewhere(const State& now, const State& whole, const State& pieces) {
        Kinematics from, to, in_pieces;
        forward_kinematics(context_.model, context_.parameters, now.q, from);
        forward_kinematics(context_.model, context_.parameters, whole.q, to);
        forward_kinematics(context_.model, context_.parameters, pieces.q, in_pieces);
        return context_.filter->find_detour(from.poses, to.poses, memory_.filter, &in_pieces.poses).has_value();
    }

    [[nodiscard]] static StepReport joined(const StepReport& first, StepReport second) {
        second.pieces += first.pieces;
        second.residual = std::max(first.residual, second.residual);
        second.min_gap = std::min(first.min_gap, second.min_gap);
        second.shortest_step = std::min(first.shortest_step, second.shortest_step);
        second.detour = second.detour || first.detour;
        return second;
    }

    const StepContext& context_;
    const State& start_;
    const StepInput& input_;
    StepMemory& memory_;
    StepScratch& scratch_;
    std::vector<StepCut>& cuts_;
    int iterations_ = 0;
    ContactCounts counts_{};
};

}  // namespace

StepReport piecewise_step(const StepContext& context, const State& now, const StepInput& input, StepMemory& memory,
                          StepScratch& scratch, State& next, std::vector<StepCut>& cuts) {
    cuts.clear();
    const StepReport report = Attempts(context, now, input, memory, scratch, cuts).take(next);
    if (!cuts.empty() && !context.contact) memory.velocity_change = next.v - now.v;
    return report;
}

void piecewise_step_vjp(const StepContext& context, const State& now, const StepInput& input, const State& next,
                        std::span<const StepCut> cuts, std::span<const StateGradient> next_bars, StepMemory& memory,
                        StepScratch& scratch, std::span<StepGradient> gradients, std::span<Parameters> parameters) {
    if (cuts.empty()) {
        implicit_step_vjp(context, now, input, next, next_bars, memory, scratch, gradients, parameters);
        return;
    }
    const Model& model = context.model;
    const std::size_t count = next_bars.size();
    VectorXd way;
    script_way(model, now.q, input.script, way);
    std::vector<StateGradient> bars(next_bars.begin(), next_bars.end());
    std::vector<StepGradient> sums(count);
    for (StepGradient& sum : sums) {
        sum.control.setZero(model.num_controls());
        sum.script.setZero(6 * model.num_kinematic());
        sum.state.q.setZero(model.num_dofs());  // through the script
    }
    for (std::size_t piece = cuts.size() + 1; piece-- > 0;) {
        const double begin = piece > 0 ? cuts[piece - 1].fraction : 0.0;
        const double end = piece < cuts.size() ? cuts[piece].fraction : 1.0;
        const StepInput part{input.control, script_at(model, now.q, input.script, end)};
        implicit_step_vjp(with_length(context, end - begin), piece > 0 ? cuts[piece - 1].state : now, part,
                          piece < cuts.size() ? cuts[piece].state : next, bars, memory, scratch, gradients, parameters);
        for (std::size_t d = 0; d < count; ++d) {
            std::swap(bars[d], gradients[d].state);
            sums[d].control += gradients[d].control;
            add_script_vjp(model, way, end, gradients[d].script, sums[d].script, sums[d].state.q);
        }
    }
    for (std::size_t d = 0; d < count; ++d) {
        gradients[d].state = {bars[d].q + sums[d].state.q, bars[d].v};
        gradients[d].control = sums[d].control;
        gradients[d].script = sums[d].script;
    }
}

}  // namespace farfield
