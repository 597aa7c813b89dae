// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/longrange/long_range.hpp"

#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/placed.hpp"

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
    if (options.threads < 1) fail("LongRangeOptions: threads ", options.threads, ", expected >= 1");
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
    if (options.threads > 1) pool_ = std::make_unique<ThreadPool>(options.threads);
}

std::unique_ptr<ContactMemory> LongRange::make_memory() const {
    auto memory = std::make_unique<Memory>();
    memory->pairs.resize(pairs_.size());
    memory->results.resize(pairs_.size());
    memory->adjoints.resize(pairs_.size());
    memory->now.resize(shapes_.size());
    memory->start.resize(shapes_.size());
    return memory;
}

Memory& LongRange::own(ContactMemory& memory) const {
    auto* mine = dynamic_cast<Memory*>(&memory);
    if (mine == nullptr || mine->pairs.size() != pairs_.size() || mine->now.size() != shapes_.size()) {
        fail("LongRange: memory was made by another contact model");
    }
    return *mine;
}

void LongRange::check(const Poses& poses, const Parameters& parameters) const {
    if (poses.size() != shapes_.size()) fail("LongRange: ", poses.size(), " poses, expected ", shapes_.size());
    if (parameters.friction.size() != static_cast<Eigen::Index>(shapes_.size())) {
        fail("LongRange: ", parameters.friction.size(),
             " friction coefficients, expected one per body: ", shapes_.size());
    }
    if (!(parameters.weight > 0.0)) fail("LongRange: weight ", parameters.weight, ", expected > 0 [J]");
}

double LongRange::coefficient(int pair, const Parameters& parameters) const {
    return parameters.friction[pairs_[at(pair)].friction_body];
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
    const int count = static_cast<int>(pairs_.size());
    if (pool_) {
        pool_->run(count, std::cref(one));
    } else {
        for (int pair = 0; pair < count; ++pair) one(pair);
    }
}

void LongRange::begin_step(const Poses& previous, double dt, const Parameters& parameters,
                           ContactMemory& memory) const {
    check(previous, parameters);
    if (!(dt > 0.0)) fail("LongRange: dt ", dt, ", expected > 0 [s]");
    Memory& mine = own(memory);
    mine.dt = dt;
    mine.evaluated = false;
    prepare(previous, mine.previous, mine.start);
    for_each_pair(mine, [&](int pair, PairScratch& scratch) {
        // Without friction there is nothing to lag; only the way back, which tells what friction would do, asks for it.
        if (!mine.keeps_start && coefficient(pair, parameters) == 0.0) return;
        pair_lag(place(pair, mine.previous, mine.start), mine, scratch);
    });
}

double LongRange::energy(const Poses& poses, const Parameters& parameters, ContactMemory& memory) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    mine.evaluated = false;
    prepare(poses, mine.scaled, mine.now);
    for_each_pair(mine, [&](int pair, PairScratch& scratch) {
        const bool rubs = !mine.previous.empty() && coefficient(pair, parameters) != 0.0;
        pair_energy(place(pair, mine.scaled, mine.now), rubs, mine, scratch, mine.results[at(pair)]);
    });
    double total = 0.0;
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        const PairResult& result = mine.results[pair];
        if (!result.finite) return std::numeric_limits<double>::infinity();
        total +=
            parameters.weight * (result.energy + coefficient(static_cast<int>(pair), parameters) * result.friction);
    }
    return total;
}

void LongRange::derivatives(const Poses& poses, const Parameters& parameters, ContactMemory& memory,
                            ContactDerivatives& out) const {
    check(poses, parameters);
    Memory& mine = own(memory);
    mine.evaluated = false;
    prepare(poses, mine.scaled, mine.now);
    out.blocks.resize(pairs_.size());
    for_each_pair(mine, [&](int pair, PairScratch& scratch) {
        const double rubs = mine.previous.empty() ? 0.0 : coefficient(pair, parameters);
        pair_derivatives(place(pair, mine.scaled, mine.now), parameters.weight, rubs, mine, scratch,
                         mine.results[at(pair)], out.blocks[at(pair)]);
    });
    out.energy = out.friction_energy = 0.0;
    out.wrench.assign(shapes_.size(), Vector6d::Zero());
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        const PairResult& result = mine.results[pair];
        if (!result.finite) {
            out.energy = std::numeric_limits<double>::infinity();
            return;
        }
        const double friction = parameters.weight * coefficient(static_cast<int>(pair), parameters) * result.friction;
        out.energy += parameters.weight * result.energy + friction;
        out.friction_energy += friction;
        out.wrench[at(pairs_[pair].a)] += result.wrench_a;
        out.wrench[at(pairs_[pair].b)] += result.wrench_b;
    }
    mine.evaluated = true;
    mine.weight = parameters.weight;
    mine.friction = parameters.friction;
}

bool LongRange::has_begun(const Poses& previous, double dt, const Memory& memory) const {
    if (memory.dt != dt || memory.previous.size() != previous.size()) return false;
    for (std::size_t body = 0; body < previous.size(); ++body) {
        if (memory.previous[body].rotation != previous[body].rotation ||
            memory.previous[body].position != previous[body].position / options_.length_scale)
            return false;
    }
    return true;
}

bool LongRange::has_evaluated(const Poses& poses, const Parameters& parameters, const Memory& memory) const {
    if (!memory.evaluated || memory.weight != parameters.weight || memory.friction != parameters.friction) return false;
    for (std::size_t body = 0; body < poses.size(); ++body) {
        if (memory.scaled[body].rotation != poses[body].rotation ||
            memory.scaled[body].position != poses[body].position / options_.length_scale)
            return false;
    }
    return true;
}

void LongRange::vjp(const Poses& poses, const Poses& previous, double dt, const Parameters& parameters,
                    ContactMemory& memory, const std::vector<Vector6d>& twists, ContactGradient& out) const {
    check(poses, parameters);
    check(previous, parameters);
    if (twists.size() != shapes_.size()) fail("LongRange: ", twists.size(), " twists, expected ", shapes_.size());
    Memory& mine = own(memory);
    if (!mine.keeps_start || !has_begun(previous, dt, mine)) {
        mine.keeps_start = true;
        begin_step(previous, dt, parameters, memory);
    }
    if (!has_evaluated(poses, parameters, mine)) derivatives(poses, parameters, memory, mine.unused);
    if (!mine.evaluated) fail("LongRange: vjp at poses where bodies touch or cross");
    for_each_pair(mine, [&](int pair, PairScratch& scratch) {
        pair_vjp(pair, coefficient(pair, parameters), twists, mine, scratch, mine.adjoints[at(pair)]);
    });
    out.previous_wrench.assign(shapes_.size(), Vector6d::Zero());
    out.friction.setZero(static_cast<Eigen::Index>(shapes_.size()));
    out.weight = 0.0;
    out.hull_vertices.resize(0, 3);
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
        const PairAdjoint& adjoint = mine.adjoints[pair];
        const PairResult& result = mine.results[pair];
        const std::size_t a = at(pairs_[pair].a), b = at(pairs_[pair].b);
        const double scale = parameters.weight * coefficient(static_cast<int>(pair), parameters);
        out.previous_wrench[a] += scale * adjoint.previous.a;
        out.previous_wrench[b] += scale * adjoint.previous.b;
        out.friction[pairs_[pair].friction_body] += parameters.weight * adjoint.friction_phi;
        // The whole energy is proportional to the weight.
        out.weight += (twists[a].dot(result.wrench_a) + twists[b].dot(result.wrench_b)) / parameters.weight;
    }
}

}  // namespace farfield::contact::longrange
