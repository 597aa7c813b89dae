// SPDX-License-Identifier: Apache-2.0
// One pair of bodies of the IPC model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/index.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/contact/ipc/pair_view.hpp"
#include "farfield/contact/ipc/term.hpp"

namespace farfield::contact::ipc {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// E = b(z^2) of a vertex at x.
void add_height(const Barrier& barrier, const Vector3d& normal, const Vector3d& x, double z, RelativeSum& sum) {
    const BarrierTaylor b = barrier.taylor(z * z);
    Vector6d dz;
    dz << normal, x.cross(normal);
    sum.value += b.value;
    sum.gradient += 2.0 * z * b.first * dz;
    sum.hessian.noalias() += (2.0 * b.first + 4.0 * z * z * b.second) * dz * dz.transpose();
    sum.hessian.bottomRightCorner<3, 3>() += rotation_term(2.0 * z * b.first * normal, x);
}

Closest turned(const Matrix3d& rotation, const Closest& closest) {
    Closest out = closest;
    out.a = rotation * closest.a;
    out.b = rotation * closest.b;
    for (int k = 0; k < closest.free; ++k) {
        out.da[k] = rotation * closest.da[k];
        out.db[k] = rotation * closest.db[k];
    }
    return out;
}

Mollifier turned(const Matrix3d& rotation, const Mollifier& mollifier) {
    Mollifier out = mollifier;
    if (!mollifier.active) return out;
    out.ea = rotation * mollifier.ea;
    out.eb = rotation * mollifier.eb;
    return out;
}

/// Of two features; `closest` in world axes.
LaggedContact lagged(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier) {
    return {closest.a, closest.b, (closest.a - closest.b) / std::sqrt(closest.squared),
            normal_force(closest, mollifier, barrier)};
}

void pull_back_contact(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier,
                       const SlipAdjoint& slip, const Vector3d& origin_a, const Vector3d& origin_b,
                       StartAdjoint& start) {
    const double distance = std::sqrt(closest.squared);
    const Vector3d normal = (closest.a - closest.b) / distance;
    const Vector3d by_r = (slip.normal - normal.dot(slip.normal) * normal) / distance;
    ClosestAdjoint adjoint;
    adjoint.a = slip.a + by_r;
    adjoint.b = slip.b - by_r;
    adjoint.squared = -mollifier.value * slip.load * (barrier.first / distance + 2.0 * distance * barrier.second);
    adjoint.mollifier = -2.0 * distance * barrier.first * slip.load;
    pull_back(closest, mollifier, adjoint, origin_a, origin_b, start);
}

}  // namespace

Slip Ipc::slip(int index, const Memory& memory) const {
    const PairView start(pair(index), shapes_, memory.start, memory.previous);
    return {body_motion(*start.pose_a, memory.poses[at(start.a)], start.origin_a),
            body_motion(*start.pose_b, memory.poses[at(start.b)], start.origin_b), slip_speed(index) * memory.dt};
}

void Ipc::refuse(int index, const PairView& p) const {
    const Vector3d where = 0.5 * (p.pose_a->position + p.pose_b->position + p.world_a->center + p.world_b->center);
    refuse_touching(index, &where);
}

void Ipc::lag(int index, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p(pair(index), shapes_, memory.start, memory.previous);
    for (const HalfSpaceSide& half_space : half_space_sides(index)) {
        const SideView side(half_space, p);
        const Vector3d shift = (side.surface_first ? p.origin_a : p.origin_b) - side.origin_mesh;
        const auto add = [&](const Vector3d& local, double z) {
            const Vector3d x = side.world->rotation * local + shift, foot = x - z * side.normal;
            const double load = -2.0 * z * barrier(index).taylor(z * z).first;
            cache.friction.push_back({side.surface_first ? x : foot, side.surface_first ? foot : x, side.normal, load});
        };
        if (!for_each_height(barrier(index), side, add).finite) refuse(index, p);
    }
    if (!p.meshes()) return;
    const auto add = [&](const Closest& closest, const Mollifier& mollifier) {
        cache.friction.push_back(
            lagged(turned(p.world_a->rotation, closest), mollifier, barrier(index).taylor(closest.squared)));
    };
    if (!for_each_term(barrier(index), p, cache, add).finite) refuse(index, p);
}

void Ipc::pair_energy(int index, PairwiseMemory& step, PairResult& result) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p(pair(index), shapes_, memory.now, memory.poses);
    double energy = 0.0, friction = 0.0;
    for (const HalfSpaceSide& side : half_space_sides(index)) {
        const auto add = [&](const Vector3d&, double z) { energy += barrier(index).value(z * z); };
        result.finite = result.finite && for_each_height(barrier(index), SideView(side, p), add).finite;
    }
    if (p.meshes() && result.finite) {
        const auto add = [&](const Closest& closest, const Mollifier& mollifier) {
            energy += mollifier.value * barrier(index).value(closest.squared);
        };
        result.finite = for_each_term(barrier(index), p, cache, add).finite;
    }
    if (!result.finite) return;
    const double coefficient = memory.coefficients[at(index)];
    if (coefficient != 0.0 && !cache.friction.empty()) {
        const Slip moved = slip(index, memory);
        for (const LaggedContact& contact : cache.friction) friction += slip_energy(contact, moved);
    }
    result.energy = memory.weights[at(index)] * (energy + coefficient * friction);
}

void Ipc::pair_linearize(int index, PairwiseMemory& step, PairResult& result, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p(pair(index), shapes_, memory.now, memory.poses);
    const double weight = memory.weights[at(index)];
    double energy = 0.0;
    const auto add = [&](const Nearest& seen, RelativeSum& sum, const Matrix3d& rotation, const Vector3d& s_a,
                         const Vector3d& s_b, bool same_order) {
        result.finite = result.finite && seen.finite;
        block.gap = std::min(block.gap, seen.gap);
        if (!result.finite || sum.value == 0.0) return;
        sum.turn(rotation);
        const PairDerivatives d = to_body_charts(sum, s_a, s_b);
        add_in_pair_order(same_order, weight, d.gradient, d.hessian, result.gradient, block.hessian);
        energy += sum.value;
    };
    for (const HalfSpaceSide& half_space : half_space_sides(index)) {
        const SideView side(half_space, p);
        RelativeSum sum;
        const Nearest seen = for_each_height(barrier(index), side, [&](const Vector3d& x, double z) {
            add_height(barrier(index), side.local_normal, x, z, sum);
        });
        add(seen, sum, side.world->rotation, side.origin_mesh, side.origin_plane, side.surface_first);
    }
    if (p.meshes() && result.finite) {
        RelativeSum sum;
        const Nearest seen =
            for_each_term(barrier(index), p, cache, [&](const Closest& closest, const Mollifier& mollifier) {
                add_term(closest, mollifier, barrier(index).taylor(closest.squared), sum);
            });
        add(seen, sum, p.world_a->rotation, p.origin_a, p.origin_b, true);
    }
    result.energy = weight * energy;
}

bool Ipc::pair_friction(int index, PairwiseMemory& step, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    if (cache.friction.empty()) return false;
    const double weight = memory.weights[at(index)] * memory.coefficients[at(index)];
    const Slip moved = slip(index, memory);
    FrictionSum sum;
    for (LaggedContact& contact : cache.friction) add_slip(contact, moved, memory.multiplier, sum);
    block.friction_gradient = weight * sum.gradient;
    block.friction_hessian = weight * sum.hessian;
    block.friction_energy = weight * sum.energy;
    return true;
}

void Ipc::pair_vjp(int index, std::span<const Twists> directions, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    if (cache.friction.empty()) return;
    const PairView p(pair(index), shapes_, memory.start, memory.previous);
    const Slip moved = slip(index, memory);
    /// back(adjoint, start) for every direction.
    const auto for_each_direction = [&](const LaggedContact& contact, const auto& back) {
        for (std::size_t k = 0; k < directions.size(); ++k) {
            PairAdjoint& out = memory.adjoint(index, k);
            const SlipAdjoint adjoint = slip_vjp(contact, moved, directions[k][at(p.a)], directions[k][at(p.b)]);
            out.phi += adjoint.phi;
            out.start.add({adjoint.previous_a, adjoint.previous_b});
            back(adjoint, out.start);
        }
    };
    for (const HalfSpaceSide& half_space : half_space_sides(index)) {
        const SideView side(half_space, p);
        const bool first = side.surface_first;
        const Vector3d shift = (first ? p.origin_a : p.origin_b) - side.origin_mesh;
        const Vector3d &n = side.normal, &origin_mesh = first ? p.origin_a : p.origin_b,
                       &origin_plane = first ? p.origin_b : p.origin_a;
        static_cast<void>(for_each_height(barrier(index), side, [&](const Vector3d& local, double z) {
            const Vector3d x = side.world->rotation * local + shift, foot = x - z * n;
            const BarrierTaylor b = barrier(index).taylor(z * z);
            const LaggedContact contact{first ? x : foot, first ? foot : x, n, -2.0 * z * b.first};
            for_each_direction(contact, [&](const SlipAdjoint& adjoint, StartAdjoint& start) {
                Vector6d &mesh = first ? start.a : start.b, &plane = first ? start.b : start.a;
                const Vector3d &x_bar = first ? adjoint.a : adjoint.b, &foot_bar = first ? adjoint.b : adjoint.a;
                const double z_bar = -n.dot(foot_bar) - adjoint.load * (2.0 * b.first + 4.0 * z * z * b.second);
                const Vector3d n_bar = adjoint.normal - z * foot_bar + z_bar * (x - origin_plane);
                add_force(x_bar + foot_bar + z_bar * n, x - origin_mesh, mesh);
                plane.head<3>() -= z_bar * n;
                plane.tail<3>() += n.cross(n_bar);
            });
        }));
    }
    if (p.meshes()) {
        const Matrix3d& rotation = p.world_a->rotation;
        static_cast<void>(
            for_each_term(barrier(index), p, cache, [&](const Closest& local, const Mollifier& local_mollifier) {
                const Closest closest = turned(rotation, local);
                const Mollifier mollifier = turned(rotation, local_mollifier);
                const BarrierTaylor taylor = barrier(index).taylor(closest.squared);
                for_each_direction(
                    lagged(closest, mollifier, taylor), [&](const SlipAdjoint& adjoint, StartAdjoint& start) {
                        pull_back_contact(closest, mollifier, taylor, adjoint, p.origin_a, p.origin_b, start);
                    });
            }));
    }
    const double weight = memory.weights[at(index)];
    for (std::size_t k = 0; k < directions.size(); ++k) {
        PairAdjoint& out = memory.adjoint(index, k);
        out.phi *= weight;
        out.start.a *= weight;
        out.start.b *= weight;
    }
}

}  // namespace farfield::contact::ipc
