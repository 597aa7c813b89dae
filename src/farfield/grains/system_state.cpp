// SPDX-License-Identifier: Apache-2.0
/// @file  What can be asked of a System between steps: its state, energies and momenta, contacts, reactions.
#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/grains/system_data.hpp"

namespace farfield::grains {
namespace {

using Index = Eigen::Index;

void check_rows(Index rows, std::size_t expected, const char* what) {
    if (rows != static_cast<Index>(expected))
        fail("grains: state has ", rows, " rows of ", what, ", expected ", expected);
}

Eigen::RowVector3d row_of(const Spring& spring) { return {spring.stretch, spring.normal_x, spring.normal_y}; }
Spring spring_of(const Eigen::RowVector3d& row) { return {row[0], row[1], row[2]}; }

}  // namespace

void System::Data::collect_springs(SystemState& state) const {
    std::vector<std::array<std::int32_t, 3>> keys;  // lower and higher grain number, pair
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (!springs[k].touching()) continue;
        const std::int32_t a = id[static_cast<std::size_t>(pairs[k].a)], b = id[static_cast<std::size_t>(pairs[k].b)];
        keys.push_back({std::min(a, b), std::max(a, b), static_cast<std::int32_t>(k)});
    }
    std::sort(keys.begin(), keys.end());
    state.contacts.resize(static_cast<Index>(keys.size()), 2);
    state.springs.resize(static_cast<Index>(keys.size()), 3);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        state.contacts.row(static_cast<Index>(k)) << keys[k][0], keys[k][1];
        state.springs.row(static_cast<Index>(k)) = row_of(springs[static_cast<std::size_t>(keys[k][2])]);
    }
}

void System::Data::restore_springs(const SystemState& state) {
    pairs.clear();
    springs.clear();
    for (Index k = 0; k < state.contacts.rows(); ++k) {
        // The next list takes its springs from this one, by grain numbers.
        pairs.push_back({slot[static_cast<std::size_t>(state.contacts(k, 0))],
                         slot[static_cast<std::size_t>(state.contacts(k, 1))]});
        springs.push_back(spring_of(state.springs.row(k)));
    }
    list_valid = false;
}

SystemState System::state() const {
    const Data& d = *data_;
    SystemState out;
    out.steps = d.steps;
    const auto n = static_cast<Index>(d.bodies.size());
    out.poses.resize(n, 3);
    out.velocities.resize(n, 3);
    out.wall_springs.resize(n * static_cast<Index>(d.walls.size()), 3);
    for (Index i = 0; i < n; ++i) {
        const auto s = static_cast<std::size_t>(d.slot[static_cast<std::size_t>(i)]);
        const Body& body = d.bodies[s];
        out.poses.row(i) << body.x, body.y, body.theta;
        out.velocities.row(i) << body.vx, body.vy, body.omega;
        for (std::size_t w = 0; w < d.walls.size(); ++w)
            out.wall_springs.row(i * static_cast<Index>(d.walls.size()) + static_cast<Index>(w)) =
                row_of(d.wall_springs[s * d.walls.size() + w]);
    }
    out.walls.resize(static_cast<Index>(d.walls.size()), 3);
    for (std::size_t w = 0; w < d.walls.size(); ++w)
        out.walls.row(static_cast<Index>(w)) << d.walls[w].centre.x(), d.walls[w].centre.y(), d.walls[w].offset;
    out.pivots.resize(static_cast<Index>(d.motions.size()), 2);
    for (std::size_t m = 0; m < d.motions.size(); ++m)
        out.pivots.row(static_cast<Index>(m)) = d.motions[m].pivot.transpose();
    d.collect_springs(out);
    return out;
}

void System::set_state(const SystemState& state) {
    Data& d = *data_;
    const std::size_t n = d.bodies.size();
    check_rows(state.poses.rows(), n, "poses");
    check_rows(state.velocities.rows(), n, "velocities");
    check_rows(state.wall_springs.rows(), n * d.walls.size(), "wall_springs");
    check_rows(state.walls.rows(), d.walls.size(), "walls");
    check_rows(state.pivots.rows(), d.motions.size(), "pivots");
    check_rows(state.springs.rows(), static_cast<std::size_t>(state.contacts.rows()), "springs");
    if (!state.poses.allFinite() || !state.velocities.allFinite() || !state.springs.allFinite() ||
        !state.wall_springs.allFinite() || !state.walls.allFinite() || !state.pivots.allFinite())
        fail("grains: state holds a value that is not finite");
    for (Index k = 0; k < state.contacts.rows(); ++k) {
        const std::int32_t a = state.contacts(k, 0), b = state.contacts(k, 1);
        if (a < 0 || b <= a || b >= static_cast<std::int32_t>(n))
            fail("grains: state has a contact of grains ", a, " and ", b, ", expected 0 <= first < second < ", n);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const auto s = static_cast<std::size_t>(d.slot[i]);
        const auto row = static_cast<Index>(i);
        Body& body = d.bodies[s];
        body.x = state.poses(row, 0);
        body.y = state.poses(row, 1);
        body.set_angle(state.poses(row, 2));
        body.vx = state.velocities(row, 0);
        body.vy = state.velocities(row, 1);
        body.omega = state.velocities(row, 2);
        for (std::size_t w = 0; w < d.walls.size(); ++w)
            d.wall_springs[s * d.walls.size() + w] =
                spring_of(state.wall_springs.row(row * static_cast<Index>(d.walls.size()) + static_cast<Index>(w)));
    }
    for (std::size_t w = 0; w < d.walls.size(); ++w) {
        d.walls[w].centre = state.walls.row(static_cast<Index>(w)).head<2>().transpose();
        d.walls[w].offset = state.walls(static_cast<Index>(w), 2);
    }
    for (std::size_t m = 0; m < d.motions.size(); ++m)
        d.motions[m].pivot = state.pivots.row(static_cast<Index>(m)).transpose();
    d.steps = state.steps;
    d.restore_springs(state);
    d.checked = true;
}

Audit System::audit() {
    Data& d = *data_;
    d.ensure_list();
    Audit out;
    // Velocities stand half a step before the positions: half of the next step's change belongs to the energy.
    const std::vector<Spring> springs = d.springs, wall_springs = d.wall_springs;
    const Counters counters = d.counters;
    d.push_pairs();
    for (std::size_t i = 0; i < d.bodies.size(); ++i) {
        const auto s = static_cast<std::size_t>(d.slot[i]);
        const Body& body = d.bodies[s];
        const GrainShape& shape = d.shapes[static_cast<std::size_t>(d.shape[s])];
        const double mass = d.options.density * shape.area, inertia = mass * shape.gyration2;
        for (std::size_t w = 0; w < d.walls.size() && !d.held[s]; ++w) {
            if (!d.walls[w].enabled) continue;
            const double distance = wall_contact(d.walls[w], shape, body, d.options.smoothing * shape.radius).distance;
            if (distance >= 0.0) continue;
            const double stretch = wall_springs[s * d.walls.size() + w].stretch;
            out.elastic += 0.5 * d.options.law.normal_stiffness * distance * distance +
                           0.5 * d.options.law.tangent_stiffness * stretch * stretch;
            out.deepest = std::max(out.deepest, -distance);
            ++out.wall_contacts;
        }
        if (d.held[s]) continue;
        const Wrench pull = d.wrench_on(s);
        const double half = 0.5 * d.dt, vx = body.vx + half * (d.options.gravity.x() + pull.fx / mass),
                     vy = body.vy + half * (d.options.gravity.y() + pull.fy / mass),
                     omega = body.omega + half * pull.torque / inertia;
        out.kinetic += 0.5 * mass * (vx * vx + vy * vy) + 0.5 * inertia * omega * omega;
        out.gravitational -= mass * (d.options.gravity.x() * body.x + d.options.gravity.y() * body.y);
        out.momentum_x += mass * body.vx;
        out.momentum_y += mass * body.vy;
        out.angular_momentum += inertia * body.omega + mass * (body.x * body.vy - body.y * body.vx);
    }
    for (const MapRun& run : d.runs) {
        for (std::int32_t k = run.begin; k < run.end; ++k) {
            const auto p = static_cast<std::size_t>(k);
            const double distance = d.maps[static_cast<std::size_t>(run.map)]->at(d.relative(d.pairs[p])).distance;
            if (distance >= 0.0) continue;
            const double stretch = springs[p].stretch;
            out.elastic += 0.5 * d.options.law.normal_stiffness * distance * distance +
                           0.5 * d.options.law.tangent_stiffness * stretch * stretch;
            out.deepest = std::max(out.deepest, -distance);
            ++out.contacts;
        }
    }
    d.springs = springs;
    d.wall_springs = wall_springs;
    d.counters = counters;
    return out;
}

std::vector<std::array<double, 3>> System::touching() {
    Data& d = *data_;
    d.ensure_list();
    std::vector<std::array<double, 3>> out;
    for (const MapRun& run : d.runs) {
        for (std::int32_t k = run.begin; k < run.end; ++k) {
            const ListPair& pair = d.pairs[static_cast<std::size_t>(k)];
            const double distance = d.maps[static_cast<std::size_t>(run.map)]->at(d.relative(pair)).distance;
            const double a = d.id[static_cast<std::size_t>(pair.a)], b = d.id[static_cast<std::size_t>(pair.b)];
            if (distance < 0.0) out.push_back({std::min(a, b), std::max(a, b), distance});
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

Wrench System::reaction(int motion) const {
    const Data& d = *data_;
    (void)this->motion(motion);
    Wrench out;
    for (std::size_t i = 0; i < d.bodies.size(); ++i) {
        const auto s = static_cast<std::size_t>(d.slot[i]);
        if (d.driver[s] != motion) continue;
        const Wrench& part = d.reactions[s];
        const Eigen::Vector2d& pivot = d.motions[static_cast<std::size_t>(motion)].pivot;
        out.fx += part.fx;
        out.fy += part.fy;
        out.torque += part.torque + (d.bodies[s].x - pivot.x()) * part.fy - (d.bodies[s].y - pivot.y()) * part.fx;
    }
    return out;
}

}  // namespace farfield::grains
