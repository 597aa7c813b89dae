// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/long_range.hpp"

#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/placed.hpp"
#include "farfield/contact/pairwise/step_check.hpp"

namespace farfield::contact::longrange {

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

}  // namespace

void validate(const LongRangeOptions& options, int num_bodies) {
    const std::size_t blends = options.blend.size();
    if (blends > 1 && blends != at(num_bodies)) {
        fail("LongRangeOptions: blend has ", blends, " entries, expected none, one, or ", num_bodies);
    }
    for (const double value : options.blend) {
        if (!(value >= 0.0) || !std::isfinite(value)) fail("LongRangeOptions: blend ", value, ", expected >= 0");
    }
    const auto positive = [](const char* name, double value) {
        if (!(value > 0.0) || !std::isfinite(value)) fail("LongRangeOptions: ", name, " ", value, ", expected > 0");
    };
    positive("length_scale", options.length_scale);
    positive("slip_speed", options.slip_speed);
    positive("energy_tolerance", options.energy_tolerance);
    positive("derivative_tolerance", options.derivative_tolerance);
}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options)
    : LongRange(geometry, options, true) {}

LongRange::LongRange(const CollisionGeometry& geometry, const LongRangeOptions& options, bool hierarchy)
    : options_(options), pairs_(geometry.pairs) {
    const int num_bodies = static_cast<int>(geometry.bodies.size());
    validate(options, num_bodies);
    form_ = {options.zero_offset ? 0.0 : kFarValue, options.area_weights, hierarchy};
    for (std::size_t body = 0; body < geometry.bodies.size(); ++body) {
        const double blend = options.blend.empty() ? 0.0 : options.blend[options.blend.size() == 1 ? 0 : body];
        shapes_.push_back(make_shape(geometry.bodies[body], blend, options.length_scale));
        names_.push_back(geometry.bodies[body].name);
    }
    for (const ContactPair& pair : pairs_) {
        if (pair.a < 0 || pair.a >= pair.b || pair.b >= num_bodies) {
            fail("LongRange: pair (", pair.a, ", ", pair.b, "), expected 0 <= a < b < ", num_bodies);
        }
        if (pair.friction_body != pair.a && pair.friction_body != pair.b) {
            fail("LongRange: friction_body ", pair.friction_body, " of pair (", pair.a, ", ", pair.b,
                 ") is not in the pair");
        }
    }
}

std::unique_ptr<ContactMemory> LongRange::make_memory(ThreadPool* pool) const {
    auto memory = std::make_unique<Memory>(*this, pool);
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    return memory;
}

Memory& LongRange::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || &mine->model != this) fail("LongRange: memory was made by another contact model");
    return *mine;
}

void LongRange::check(const Poses& poses) const {
    if (poses.size() != shapes_.size()) fail("LongRange: ", poses.size(), " poses, expected ", shapes_.size());
}

void LongRange::check(const Parameters& parameters) const {
    if (parameters.friction.size() != static_cast<Eigen::Index>(shapes_.size())) {
        fail("LongRange: ", parameters.friction.size(),
             " friction coefficients, expected one per body: ", shapes_.size());
    }
    if (!(parameters.weight > 0.0)) fail("LongRange: weight ", parameters.weight, ", expected > 0 [J]");
}

void LongRange::prepare(const Poses& poses, Poses& scaled, std::vector<RotatedShape>& rotated) const {
    scaled.resize(poses.size());
    for (std::size_t body = 0; body < poses.size(); ++body) {
        scaled[body] = {poses[body].rotation, poses[body].position / options_.length_scale};
        rotated[body].update(shapes_[body], poses[body].rotation);
    }
}

LongRange::Placed LongRange::place(int pair, const Poses& poses, const std::vector<RotatedShape>& rotated) const {
    const std::size_t a = at(pairs_[at(pair)].a), b = at(pairs_[at(pair)].b);
    return {pair,        pairs_[at(pair)].a, pairs_[at(pair)].b, &shapes_[a], &shapes_[b],
            &rotated[a], &rotated[b],        &poses[a],          &poses[b]};
}

SlipModel LongRange::slip_model(double dt, bool fixed_plane) const {
    const double speed = options_.slip_speed / options_.length_scale;
    // A free plane splits the slip over both its sides, so each side needs half the speed.
    return {dt, fixed_plane ? speed * speed : 0.25 * speed * speed, 0.0};
}

template <class Work>
void LongRange::for_each_pair(Memory& memory, Work&& work) const {
    const auto one = [&](int pair) {
        std::unique_ptr<PairScratch> scratch = memory.borrow();
        work(pair, *scratch);
        memory.give_back(std::move(scratch));
    };
    run_chunks(memory.pool, static_cast<int>(pairs_.size()), one);
}

ContactStep& LongRange::begin_step(const Poses& previous, double dt, const Parameters& parameters,
                                   ContactMemory& memory, StepMode mode) const {
    check(previous);
    check(parameters);
    if (!(dt > 0.0)) fail("LongRange: dt ", dt, ", expected > 0 [s]");
    Memory& step = own(memory);
    step.mode = mode;
    step.dt = dt;
    step.weight = parameters.weight;
    step.linearized = false;
    step.coefficients.resize(pairs_.size());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        step.coefficients[pair] =
            mode == StepMode::Frictionless ? 0.0 : parameters.friction[pairs_[pair].friction_body];
    }
    if (mode == StepMode::Frictionless) return step;
    prepare(previous, step.previous, step.start);
    for_each_pair(step, [&](int pair, PairScratch& scratch) {
        // Without friction there is nothing to lag; only the way back, which tells what friction would do, asks for it.
        if (mode == StepMode::Forward && step.coefficients[at(pair)] == 0.0) return;
        pair_lag(place(pair, step.previous, step.start), step, scratch);
    });
    return step;
}

double LongRange::energy(const Poses& poses, Memory& step) const {
    check(poses);
    step.linearized = false;
    prepare(poses, step.scaled, step.now);
    for_each_pair(step, [&](int pair, PairScratch& scratch) {
        pair_energy(place(pair, step.scaled, step.now), step.coefficients[at(pair)] != 0.0, step, scratch,
                    step.results[at(pair)]);
    });
    double total = 0.0;
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        const PairResult& result = step.results[pair];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total += step.weight * (result.energy + step.coefficients[pair] * result.friction);
    }
    return total;
}

void LongRange::linearize(const Poses& poses, Memory& step, ContactLinearization& out) const {
    check(poses);
    step.linearized = false;
    prepare(poses, step.scaled, step.now);
    out.blocks.resize(pairs_.size());
    for_each_pair(step, [&](int pair, PairScratch& scratch) {
        pair_derivatives(place(pair, step.scaled, step.now), step.weight, step.coefficients[at(pair)], step, scratch,
                         step.results[at(pair)], out.blocks[at(pair)]);
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(shapes_.size(), Vector6d::Zero());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        const PairResult& result = step.results[pair];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = step.weight * step.coefficients[pair] * result.friction;
        out.energy += step.weight * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[pair].a)] += result.wrench_a;
        out.wrench[at(pairs_[pair].b)] += result.wrench_b;
    }
    step.linearized = true;
}

void LongRange::vjp(std::span<const Twists> directions, Memory& step, std::span<ContactGradient> out) const {
    check_vjp("LongRange", shapes_.size(), step.mode, step.linearized, directions, out.size());
    step.adjoints.resize(directions.size() * pairs_.size());
    for_each_pair(step, [&](int pair, PairScratch& scratch) { pair_vjp(pair, directions, step, scratch); });
    for (std::size_t k = 0; k < directions.size(); ++k) {
        ContactGradient& gradient = out[k];
        gradient.previous_wrench.assign(shapes_.size(), Vector6d::Zero());
        gradient.friction.setZero(static_cast<Eigen::Index>(shapes_.size()));
        gradient.weight = 0.0;
        gradient.hull_vertices.resize(0, 3);
        for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
            const PairAdjoint& adjoint = step.adjoints[k * pairs_.size() + pair];
            const PairResult& result = step.results[pair];
            const std::size_t a = at(pairs_[pair].a), b = at(pairs_[pair].b);
            const double scale = step.weight * step.coefficients[pair];
            gradient.previous_wrench[a] += scale * adjoint.previous.a;
            gradient.previous_wrench[b] += scale * adjoint.previous.b;
            gradient.friction[pairs_[pair].friction_body] += step.weight * adjoint.friction_phi;
            // The whole energy is proportional to the weight.
            gradient.weight +=
                (directions[k][a].dot(result.wrench_a) + directions[k][b].dot(result.wrench_b)) / step.weight;
        }
    }
}

}  // namespace farfield::contact::longrange
