// SPDX-License-Identifier: Apache-2.0
/// @file  One step of a System: forces of pairs, then walls, sums and integration grain by grain.
#include <algorithm>
#include <array>
#include <cmath>

#include "farfield/grains/system_data.hpp"

namespace farfield::grains {
namespace {

struct PairBuffers {
    std::array<Relative, kPairChunk> poses;
    std::array<MapValue, kPairChunk> values;
    std::array<std::int32_t, kPairChunk> index;
};

/// A contact so deep that the map is flat: keep the normal of the last step, or push the centres apart.
void guard_direction(const Relative& pose, const Body& a, const Spring& spring, MapValue& value) {
    value.g_theta = 0.0;
    if (spring.touching()) {
        value.g_x = a.cos * spring.normal_x + a.sin * spring.normal_y;
        value.g_y = a.cos * spring.normal_y - a.sin * spring.normal_x;
        return;
    }
    const double length = std::hypot(pose.x, pose.y);
    value.g_x = length > 0.0 ? pose.x / length : 1.0;
    value.g_y = length > 0.0 ? pose.y / length : 0.0;
}

/// Force and torque of a wall on a grain.
Wrench wall_force(const Wall& wall, const WallContact& c, const Body& b, const ContactLaw& law, double dt,
                  Spring& spring) {
    const double arm_x = c.px - b.x, arm_y = c.py - b.y;
    const double wall_vx = wall.velocity.x() - wall.spin * (c.py - wall.centre.y());
    const double wall_vy = wall.velocity.y() + wall.spin * (c.px - wall.centre.x());
    // A wall's surface moves along itself or away as a whole: its part in d' is that of the contact point.
    const double rate = c.g_x * (b.vx - wall_vx) + c.g_y * (b.vy - wall_vy) + c.g_theta * b.omega;
    const double normal = std::max(0.0, -law.normal_stiffness * c.distance - law.normal_damping * rate);
    const double inverse = 1.0 / std::sqrt(c.g_x * c.g_x + c.g_y * c.g_y);
    const double nx = c.g_x * inverse, ny = c.g_y * inverse;
    const double slip = nx * (b.vy + b.omega * arm_x - wall_vy) - ny * (b.vx - b.omega * arm_y - wall_vx);
    const double tangent = friction_force(law, wall.friction, normal, slip, dt, nx, ny, spring);
    const double fx = normal * c.g_x - tangent * ny, fy = normal * c.g_y + tangent * nx;
    return {fx, fy, normal * c.g_theta + tangent * (nx * arm_x + ny * arm_y)};
}

void drive(Body& body, const Motion& motion, double dt) {
    const double turn = motion.spin * dt, c = turn != 0.0 ? std::cos(turn) : 1.0,
                 s = turn != 0.0 ? std::sin(turn) : 0.0;
    const double rx = body.x - motion.pivot.x(), ry = body.y - motion.pivot.y();
    const Eigen::Vector2d pivot = motion.pivot + dt * motion.velocity;
    const double x = c * rx - s * ry, y = s * rx + c * ry;
    body.x = pivot.x() + x;
    body.y = pivot.y() + y;
    body.theta += turn;
    body.vx = motion.velocity.x() - motion.spin * y;
    body.vy = motion.velocity.y() + motion.spin * x;
    body.omega = motion.spin;
}

}  // namespace

Relative System::Data::relative(const ListPair& pair) const {
    const Body &a = bodies[static_cast<std::size_t>(pair.a)], &b = bodies[static_cast<std::size_t>(pair.b)];
    const double dx = b.x - a.x, dy = b.y - a.y;
    return {b.theta - a.theta, a.cos * dx + a.sin * dy, a.cos * dy - a.sin * dx};
}

int System::Data::push_run(const MapRun& run) {
    thread_local PairBuffers buffers;
    auto& [poses, values, index] = buffers;
    const auto begin = static_cast<std::size_t>(run.begin), size = static_cast<std::size_t>(run.end) - begin;
    const double reach = reach_of(run.map);
    const auto apart = [&](std::size_t p) {
        if (springs[p].touching()) springs[p] = {};
    };
    relative_poses(bodies.data(), pairs.data() + begin, size, poses.data());
    std::size_t near = 0;
    for (std::size_t k = 0; k < size; ++k) {
        const std::size_t p = begin + k;
        forces[p] = {};
        if (poses[k].x * poses[k].x + poses[k].y * poses[k].y >= reach * reach) {
            apart(p);
            continue;
        }
        poses[near] = poses[k];
        index[near++] = static_cast<std::int32_t>(p);
    }
    maps[static_cast<std::size_t>(run.map)]->evaluate({poses.data(), near}, values.data());
    std::size_t touching = 0;
    int clamped = 0;
    for (std::size_t k = 0; k < near; ++k) {
        const auto p = static_cast<std::size_t>(index[k]);
        MapValue& value = values[k];
        if (value.distance >= 0.0) {
            apart(p);
            continue;
        }
        if (value.g_x * value.g_x + value.g_y * value.g_y < 0.01) {
            guard_direction(poses[k], bodies[static_cast<std::size_t>(pairs[p].a)], springs[p], value);
            ++clamped;
        }
        poses[touching] = poses[k];
        values[touching] = value;
        index[touching++] = static_cast<std::int32_t>(p);
    }
    pair_forces(bodies.data(), pairs.data(), index.data(), touching, poses.data(), values.data(), options.law, dt,
                springs.data(), forces.data());
    return clamped;
}

void System::Data::push_pairs() {
    const int chunks = static_cast<int>(chunk_runs.size()) - 1;
    std::vector<std::int64_t> clamped(static_cast<std::size_t>(chunks), 0);
    pool->run(chunks, [&](int chunk) {
        const auto c = static_cast<std::size_t>(chunk);
        for (std::int32_t r = chunk_runs[c]; r < chunk_runs[c + 1]; ++r)
            clamped[c] += push_run(runs[static_cast<std::size_t>(r)]);
    });
    for (const std::int64_t count : clamped) counters.clamped += count;
}

void System::Data::step() {
    ensure_list();
    push_pairs();
    const int n = num_grains(), grain_chunks = (n + kGrainChunk - 1) / kGrainChunk;
    std::vector<double> moved(static_cast<std::size_t>(grain_chunks), 0.0);
    pool->run(grain_chunks, [&](int chunk) {
        const auto begin = static_cast<std::size_t>(chunk) * kGrainChunk;
        moved[static_cast<std::size_t>(chunk)] =
            move_grains(begin, std::min(static_cast<std::size_t>(n), begin + kGrainChunk));
    });
    for (Motion& motion : motions) motion.pivot += dt * motion.velocity;
    for (Wall& wall : walls) advance(wall, dt);
    ++steps;
    const double limit = 0.25 * skin() * skin();
    for (const double square : moved) {
        if (!(square <= limit)) list_valid = false;
    }
}

Wrench System::Data::wrench_on(std::size_t s) {
    Wrench sum;
    for (std::int32_t k = incident_first[s]; k < incident_first[s + 1]; ++k) {
        const std::int32_t entry = incident[static_cast<std::size_t>(k)];
        const PairForce& force = forces[static_cast<std::size_t>(entry >> 1)];
        const bool is_b = (entry & 1) != 0;
        sum.fx += is_b ? force.fx : -force.fx;
        sum.fy += is_b ? force.fy : -force.fy;
        sum.torque += is_b ? force.torque_b : force.torque_a;
    }
    if (near_wall[s] && !held[s]) add_walls(s, sum);
    return sum;
}

/// Sums the forces on grains begin .. end - 1, moves them, and returns the largest squared distance from where the list
/// was made.
double System::Data::move_grains(std::size_t begin, std::size_t end) {
    double farthest = 0.0;
    std::array<double, kGrainChunk> angles{}, sines, cosines;
    for (std::size_t s = begin; s < end; ++s) {
        Body& body = bodies[s];
        const Wrench sum = wrench_on(s);
        if (driver[s] == kRemoved) {
            reactions[s] = {};
        } else if (held[s]) {
            reactions[s] = sum;
            drive(body, motions[static_cast<std::size_t>(driver[s])], dt);
        } else {
            body.vx += dt * (options.gravity.x() + sum.fx * inverse_mass[s]);
            body.vy += dt * (options.gravity.y() + sum.fy * inverse_mass[s]);
            body.omega += dt * sum.torque * inverse_inertia[s];
            body.x += dt * body.vx;
            body.y += dt * body.vy;
            body.theta += dt * body.omega;
        }
        angles[s - begin] = body.theta;
        const double dx = body.x - reference_x[s], dy = body.y - reference_y[s];
        const double square = dx * dx + dy * dy + 0.0 * body.theta;  // NaN when a coordinate is not finite
        farthest = square <= farthest ? farthest : square;           // and passes on
    }
    sin_cos(angles.data(), end - begin, sines.data(), cosines.data());
    for (std::size_t s = begin; s < end; ++s) {
        bodies[s].sin = sines[s - begin];
        bodies[s].cos = cosines[s - begin];
    }
    return farthest;
}

/// Adds the forces of walls on the grain in slot s.
void System::Data::add_walls(std::size_t s, Wrench& sum) {
    const GrainShape& outline = shapes[static_cast<std::size_t>(shape[s])];
    for (std::size_t w = 0; w < walls.size(); ++w) {
        Spring& spring = wall_springs[s * walls.size() + w];
        const WallContact contact = walls[w].enabled
                                        ? wall_contact(walls[w], outline, bodies[s], options.smoothing * outline.radius)
                                        : WallContact{};
        if (contact.distance >= 0.0) {
            spring = {};
            continue;
        }
        const Wrench wrench = wall_force(walls[w], contact, bodies[s], options.law, dt, spring);
        sum.fx += wrench.fx;
        sum.fy += wrench.fy;
        sum.torque += wrench.torque;
    }
}

bool System::Data::finite() const {
    return std::all_of(bodies.begin(), bodies.end(), [](const Body& body) {
        return std::isfinite(body.x) && std::isfinite(body.y) && std::isfinite(body.theta);
    });
}

RunStatus System::Data::run(int count) {
    for (int k = 0; k < count; ++k) {
        // A coordinate that is not finite has moved too far for the list.
        if (!list_valid && !finite()) return RunStatus::NonFinite;
        step();
    }
    return list_valid || finite() ? RunStatus::Done : RunStatus::NonFinite;
}

}  // namespace farfield::grains
