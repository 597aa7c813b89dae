// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/pairwise/pairwise_potential.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"

namespace farfield::contact {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void PairAdjoint::clear() {
    phi = 0.0;
    start = {};
    vertices.clear();
    friction_vertices.clear();
}

PairwisePotential::PairwisePotential(Build build)
    : model_name_(std::move(build.name)), pairs_(std::move(build.pairs)), reads_vertices_(build.reads_vertices) {
    const int count = static_cast<int>(build.geometry.bodies.size());
    for (const CollisionBody& body : build.geometry.bodies) {
        names_.push_back(body.name);
        has_surface_.push_back(body.mesh.triangles.rows() > 0);
        half_spaces_.push_back(body.half_spaces);
    }
    uses_friction_.resize(names_.size(), false);
    for (const ContactPair& pair : pairs_) {
        if (pair.a < 0 || pair.a >= pair.b || pair.b >= count)
            fail(model_name_, ": pair (", pair.a, ", ", pair.b, "), expected 0 <= a < b < ", count);
        if (!pair.friction) uses_friction_[at(pair.a)] = uses_friction_[at(pair.b)] = true;
    }
    units_ = build.model ? pair_units(*build.model, pairs_) : pair_units(build.geometry, pairs_);
    if (build.model) {
        default_friction_ = build.model->default_parameters().friction;
        default_vertices_ = build.model->default_parameters().hull_vertices;
    }
    set_lengths(std::vector<double>(pairs_.size(), 1.0));
}

void PairwisePotential::set_weights(double stiffness, const std::optional<double>& given,
                                    std::vector<double> automatic) {
    const auto positive = [&](const char* what, double value) {
        if (!(value > 0.0) || !std::isfinite(value)) fail(model_name_, ": ", what, " ", value, ", expected > 0");
    };
    positive("stiffness", stiffness);
    if (given) positive("weight_in_joules", *given);
    weights_ = std::move(automatic);
    for (double& weight : weights_) weight = stiffness * (given ? *given : weight);
}

void PairwisePotential::set_slip_speeds(const std::optional<double>& given) {
    slip_speeds_.clear();
    for (const PairUnits& own : units_) slip_speeds_.push_back(given ? *given : automatic_slip_speed(own));
}

void PairwisePotential::set_lengths(std::vector<double> lengths) {
    lengths_ = std::move(lengths);
    sides_.assign(pairs_.size(), {});
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
        for (const bool first : {true, false}) {
            const std::size_t surface = at(first ? pairs_[k].a : pairs_[k].b),
                              other = at(first ? pairs_[k].b : pairs_[k].a);
            if (!has_surface_[surface]) continue;
            for (const HalfSpace& half : half_spaces_[other])
                sides_[k].push_back({first, {half.normal, half.offset / lengths_[k]}});
        }
    }
}

void PairwisePotential::check(const Poses& poses) const {
    if (poses.size() != names_.size()) fail(model_name_, ": ", poses.size(), " poses, expected ", names_.size());
}

void PairwisePotential::check(const Parameters& parameters) const {
    const auto count = static_cast<Eigen::Index>(names_.size());
    if (parameters.friction.size() != count) {
        fail(model_name_, ": ", parameters.friction.size(), " friction coefficients, expected one per body: ", count);
    }
    if (!(parameters.contact_stiffness > 0.0))
        fail(model_name_, ": contact_stiffness ", parameters.contact_stiffness, ", expected > 0");
    if (!default_vertices_) return;
    for (Eigen::Index body = 0; body < count; ++body) {
        if (uses_friction_[static_cast<std::size_t>(body)] || parameters.friction[body] == (*default_friction_)[body])
            continue;
        fail(model_name_, ": friction[", body, "] = ", parameters.friction[body], " of body '",
             names_[static_cast<std::size_t>(body)],
             "', which no contact pair asks for; expected the model's own value, ", (*default_friction_)[body]);
    }
    if (reads_vertices_) {
        if (parameters.hull_vertices.rows() != default_vertices_->rows()) {
            fail(model_name_, ": ", parameters.hull_vertices.rows(), " hull vertices, expected ",
                 default_vertices_->rows());
        }
    } else if (parameters.hull_vertices != *default_vertices_) {
        fail(model_name_,
             ": hull_vertices differ from the model's; expected the same, since this contact model takes its surfaces "
             "from the model's meshes");
    }
}

std::unique_ptr<ContactMemory> PairwisePotential::make_memory(ThreadPool* pool) const { return new_memory(pool); }

ContactStep& PairwisePotential::begin_step(const Poses& previous, double dt, const Parameters& parameters,
                                           ContactMemory& memory, StepMode mode) const {
    auto* step = dynamic_cast<PairwiseMemory*>(&memory);
    if (step == nullptr || &step->model_ != this) fail(model_name_, ": memory was made by another contact model");
    step->begin(previous, dt, parameters, mode);
    return *step;
}

void PairwisePotential::refuse_touching(int index, const Eigen::Vector3d* where, const char* advice) const {
    const std::string bodies = "bodies '" + name(pair(index).a) + "' and '" + name(pair(index).b) + "'";
    if (where) {
        fail(model_name_, ": ", bodies, " touch or cross at the start of a step, near (", where->x(), ", ", where->y(),
             ", ", where->z(), ") [m]", advice);
    }
    fail(model_name_, ": ", bodies, " touch or cross at the start of a step", advice);
}

PairwiseMemory::PairwiseMemory(const PairwisePotential& model, ThreadPool* pool) : model_(model), pool_(pool) {
    weights.resize(model.pairs().size());
    coefficients.resize(model.pairs().size());
    results_.resize(model.pairs().size());
}

template <class Work>
void PairwiseMemory::for_each(const std::vector<int>& pairs, const Work& work) {
    const auto one = [&](int slot) { work(slot, pairs[at(slot)]); };
    const int count = static_cast<int>(pairs.size());
    if (pool_) {
        pool_->run(count, std::cref(one));
    } else {
        for (int slot = 0; slot < count; ++slot) one(slot);
    }
}

void PairwiseMemory::begin(const Poses& start, double step_length, const Parameters& parameters, StepMode step_mode) {
    model_.check(start);
    model_.check(parameters);
    if (!(step_length > 0.0)) fail(model_.model_name_, ": dt ", step_length, ", expected > 0 [s]");
    mode = step_mode;
    dt = step_length;
    stiffness_ = parameters.contact_stiffness;
    friction_ = parameters.friction;
    linearized_ = false;
    multiplier = Multiplier::Exact;
    for (std::size_t k = 0; k < weights.size(); ++k) {
        const ContactPair& pair = model_.pairs_[k];
        weights[k] = stiffness_ * model_.weights_[k];
        coefficients[k] = mode == StepMode::Frictionless
                              ? 0.0
                              : pair.friction.value_or(std::max(friction_[pair.a], friction_[pair.b]));
    }
    model_.take_vertices(parameters, *this);
    if (mode == StepMode::Frictionless) return;
    previous = start;
    model_.move_to_start(start, *this);
    for_each(active, [&](int, int pair) {
        // Without friction there is nothing to lag; only the way back, which tells what friction would do, asks for it.
        if (mode == StepMode::Backward || coefficients[at(pair)] != 0.0) model_.lag(pair, *this);
    });
}

void PairwiseMemory::move_to(const Poses& now) {
    model_.check(now);
    linearized_ = false;
    poses = now;
    model_.move_to_now(now, *this);
}

double PairwiseMemory::energy(const Poses& now) {
    move_to(now);
    for_each(active, [&](int, int pair) {
        results_[at(pair)] = {};
        model_.pair_energy(pair, *this, results_[at(pair)]);
    });
    double total = 0.0;
    for (const int pair : active) {
        if (!results_[at(pair)].finite) return kInfinity;
        total += results_[at(pair)].energy;
    }
    return total;
}

void PairwiseMemory::linearize(const Poses& now, ContactLinearization& out) {
    move_to(now);
    out.blocks.resize(active.size());
    for_each(active, [&](int slot, int pair) {
        PairBlock& block = out.blocks[at(slot)];
        block.a = model_.pair(pair).a;
        block.b = model_.pair(pair).b;
        block.hessian.setZero();
        block.gap = kInfinity;
        PairResult& result = results_[at(pair)] = {};
        model_.pair_linearize(pair, *this, result, block);
        block.has_friction = false;
        if (!result.finite) return;
        add_friction(pair, block);
        if (!block.has_friction) return;
        block.hessian += block.friction_hessian;
        result.gradient += block.friction_gradient;
        result.friction = block.friction_energy;
        result.energy += block.friction_energy;
    });
    if (multiplier == Multiplier::Extrapolated) multiplier = Multiplier::Kept;
    with_friction_.clear();
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(model_.num_bodies(), Vector6d::Zero());
    model_.find_far_gaps(*this);
    out.gaps = gaps;
    std::size_t kept = 0;
    for (std::size_t slot = 0; slot < active.size(); ++slot) {
        const PairResult& result = results_[at(active[slot])];
        PairBlock& block = out.blocks[slot];
        if (!result.finite) {
            out.energy = kInfinity;
            return;
        }
        out.energy += result.energy;
        out.friction_energy += result.friction;
        block.gradient = result.gradient;
        out.wrench[at(block.a)] += result.gradient.head<6>();
        out.wrench[at(block.b)] += result.gradient.tail<6>();
        out.gaps[at(active[slot])] = block.gap;
        if (block.has_friction) with_friction_.push_back(active[slot]);
        if (result.energy == 0.0) continue;  // near, but out of range
        if (kept != slot) out.blocks[kept] = block;
        ++kept;
    }
    out.blocks.resize(kept);
    linearized_ = true;
}

void PairwiseMemory::add_friction(int pair, PairBlock& block) {
    block.has_friction = false;
    if (coefficients[at(pair)] == 0.0) return;
    block.friction_energy = 0.0;
    block.friction_gradient.setZero();
    block.friction_hessian.setZero();
    block.has_friction = model_.pair_friction(pair, *this, block);
}

void PairwiseMemory::linearize_friction(const Poses& now, std::vector<PairBlock>& out) {
    model_.check(now);
    linearized_ = false;
    poses = now;
    out.resize(with_friction_.size());
    for_each(with_friction_, [&](int slot, int pair) {
        PairBlock& block = out[at(slot)];
        block.a = model_.pair(pair).a;
        block.b = model_.pair(pair).b;
        add_friction(pair, block);
    });
    if (multiplier == Multiplier::Extrapolated) multiplier = Multiplier::Kept;
}

void PairwiseMemory::accept() {
    if (mode == StepMode::Forward) multiplier = Multiplier::Extrapolated;
}

void PairwiseMemory::vjp(std::span<const Twists> directions, std::span<ContactGradient> out) {
    const std::string& name = model_.model_name_;
    if (mode != StepMode::Backward) fail(name, ": vjp of a step that was not begun with StepMode::Backward");
    if (!linearized_) fail(name, ": vjp without linearize at poses where no bodies touch or cross");
    if (out.size() != directions.size())
        fail(name, ": room for ", out.size(), " results, expected one per direction: ", directions.size());
    for (const Twists& twists : directions) {
        if (twists.size() != model_.num_bodies())
            fail(name, ": ", twists.size(), " twists, expected ", model_.num_bodies());
    }
    if (adjoints_.size() < directions.size() * weights.size()) adjoints_.resize(directions.size() * weights.size());
    for_each(active, [&](int, int pair) {
        for (std::size_t k = 0; k < directions.size(); ++k) adjoint(pair, k).clear();
        model_.pair_vjp(pair, directions, *this);
    });
    for (std::size_t k = 0; k < directions.size(); ++k) {
        ContactGradient& gradient = out[k];
        gradient.previous_wrench.assign(model_.num_bodies(), Vector6d::Zero());
        gradient.friction.setZero(friction_.size());
        gradient.contact_stiffness = 0.0;
        gradient.hull_vertices.setZero(model_.reads_vertices_ ? model_.default_vertices_->rows() : 0, 3);
        for (const int index : active) {
            const PairAdjoint& back = adjoint(index, k);
            const ContactPair& pair = model_.pair(index);
            const double coefficient = coefficients[at(index)];
            gradient.previous_wrench[at(pair.a)] += coefficient * back.start.a;
            gradient.previous_wrench[at(pair.b)] += coefficient * back.start.b;
            if (!pair.friction) {
                const double difference = friction_[pair.a] - friction_[pair.b];
                if (difference >= 0.0) gradient.friction[pair.a] += difference > 0.0 ? back.phi : 0.5 * back.phi;
                if (difference <= 0.0) gradient.friction[pair.b] += difference < 0.0 ? back.phi : 0.5 * back.phi;
            }
            const Vector12d& wrench =
                results_[at(index)].gradient;  // the whole energy is proportional to the stiffness
            gradient.contact_stiffness +=
                (directions[k][at(pair.a)].dot(wrench.head<6>()) + directions[k][at(pair.b)].dot(wrench.tail<6>())) /
                stiffness_;
            for (const auto& [row, bar] : back.vertices) gradient.hull_vertices.row(row) += bar.transpose();
            for (const auto& [row, bar] : back.friction_vertices)
                gradient.hull_vertices.row(row) += coefficient * bar.transpose();
        }
    }
}

}  // namespace farfield::contact
