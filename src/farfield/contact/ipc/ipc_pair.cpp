// SPDX-License-Identifier: Apache-2.0
// One pair of bodies of the IPC model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/contact/ipc/placed.hpp"

namespace farfield::contact::ipc {

namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

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

void add_force(const Vector3d& force, const Vector3d& arm, Vector6d& wrench) {
    wrench.head<3>() += force;
    wrench.tail<3>() += arm.cross(force);
}

/// Of two features; `closest` in world axes.
LaggedContact lagged(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier) {
    return {closest.a, closest.b, (closest.a - closest.b) / std::sqrt(closest.squared),
            normal_force(closest, mollifier, barrier)};
}

void pull_back_contact(const Closest& closest, const Mollifier& mollifier, const BarrierTaylor& barrier,
                       const SlipAdjoint& slip, const Vector3d& origin_a, const Vector3d& origin_b,
                       MotionAdjoint& previous) {
    const double distance = std::sqrt(closest.squared);
    const Vector3d normal = (closest.a - closest.b) / distance;
    const Vector3d by_r = (slip.normal - normal.dot(slip.normal) * normal) / distance;
    ClosestAdjoint adjoint;
    adjoint.a = slip.a + by_r;
    adjoint.b = slip.b - by_r;
    adjoint.squared = -mollifier.value * slip.load * (barrier.first / distance + 2.0 * distance * barrier.second);
    adjoint.mollifier = -2.0 * distance * barrier.first * slip.load;
    pull_back(closest, mollifier, adjoint, origin_a, origin_b, previous);
}

}  // namespace

void Ipc::refuse_touching(const Placed& p) const {
    const Vector3d place = 0.5 * (p.pose_a->position + p.pose_b->position + p.placed_a->center + p.placed_b->center);
    fail("bodies '", names_[at(p.a)], "' and '", names_[at(p.b)], "' touch or cross at the start of a step, near (",
         place.x(), ", ", place.y(), ", ", place.z(), ") [m]");
}

void Ipc::pair_energy(const Placed& p, const Slip* slip, Memory& memory, PairResult& result) const {
    result = {};
    PairMemory& own = memory.pairs[at(p.pair)];
    for_each_half_space(p, [&](const Facing& facing) {
        const auto add = [&](const Vector3d&, double z) { result.energy += barrier_.value(z * z); };
        result.finite = result.finite && for_each_height(facing, add).finite;
    });
    if (p.meshes() && result.finite) {
        const auto add = [&](const Closest& closest, const Mollifier& mollifier) {
            result.energy += mollifier.value * barrier_.value(closest.squared);
        };
        result.finite = for_each_term(p, own, add).finite;
    }
    if (!slip || !result.finite) return;
    for (const LaggedContact& contact : own.friction) result.friction += slip_energy(contact, *slip);
}

void Ipc::pair_derivatives(const Placed& p, double weight, double coefficient, const Slip* slip, Memory& memory,
                           PairResult& result, PairBlock& block) const {
    result = {};
    block.a = p.a;
    block.b = p.b;
    block.hessian.setZero();
    block.gap = std::numeric_limits<double>::infinity();
    PairMemory& own = memory.pairs[at(p.pair)];
    Vector12d gradient = Vector12d::Zero();
    for_each_half_space(p, [&](const Facing& facing) {
        RelativeSum sum;
        const Nearest seen = for_each_height(
            facing, [&](const Vector3d& x, double z) { add_height(barrier_, facing.local_normal, x, z, sum); });
        result.finite = result.finite && seen.finite;
        block.gap = std::min(block.gap, seen.gap);
        if (!result.finite || sum.value == 0.0) return;
        sum.turn(facing.placed->rotation);
        const PairDerivatives d = to_body_charts(sum, facing.origin_mesh, facing.origin_plane);
        add_in_pair_order(facing.mesh_is_a, weight, d.gradient, d.hessian, gradient, block.hessian);
        result.energy += sum.value;
    });
    if (p.meshes() && result.finite) {
        RelativeSum sum;
        const Nearest seen = for_each_term(p, own, [&](const Closest& closest, const Mollifier& mollifier) {
            add_term(closest, mollifier, barrier_.taylor(closest.squared), sum);
        });
        result.finite = seen.finite;
        block.gap = std::min(block.gap, seen.gap);
        if (seen.finite && sum.value != 0.0) {
            sum.turn(p.placed_a->rotation);
            const PairDerivatives d = to_body_charts(sum, p.origin_a, p.origin_b);
            add_in_pair_order(true, weight, d.gradient, d.hessian, gradient, block.hessian);
            result.energy += sum.value;
        }
    }
    if (!result.finite) return;
    if (slip) {
        FrictionSum friction;
        for (const LaggedContact& contact : own.friction) add_slip(contact, *slip, friction);
        gradient += weight * coefficient * friction.gradient;
        block.hessian += weight * coefficient * friction.hessian;
        result.friction = friction.energy;
    }
    result.wrench_a = gradient.head<6>();
    result.wrench_b = gradient.tail<6>();
}

void Ipc::pair_lag(const Placed& p, Memory& memory) const {
    PairMemory& own = memory.pairs[at(p.pair)];
    for_each_half_space(p, [&](const Facing& facing) {
        const Vector3d shift = facing.mesh_is_a ? p.origin_a - facing.origin_mesh : p.origin_b - facing.origin_mesh;
        const auto lag = [&](const Vector3d& local, double z) {
            const Vector3d x = facing.placed->rotation * local + shift, foot = x - z * facing.normal;
            const double load = -2.0 * z * barrier_.taylor(z * z).first;
            own.friction.push_back({facing.mesh_is_a ? x : foot, facing.mesh_is_a ? foot : x, facing.normal, load});
        };
        if (!for_each_height(facing, lag).finite) refuse_touching(p);
    });
    if (!p.meshes()) return;
    const Matrix3d& rotation = p.placed_a->rotation;
    const auto lag = [&](const Closest& closest, const Mollifier& mollifier) {
        own.friction.push_back(lagged(turned(rotation, closest), mollifier, barrier_.taylor(closest.squared)));
    };
    if (!for_each_term(p, own, lag).finite) refuse_touching(p);
}

void Ipc::pair_friction_vjp(const Placed& p, const Slip& slip, std::span<const Twists> directions,
                            Memory& memory) const {
    /// then(adjoint, previous) for every direction.
    const auto for_each_direction = [&](const LaggedContact& contact, const auto& then) {
        for (std::size_t k = 0; k < directions.size(); ++k) {
            PairAdjoint& out = memory.adjoints[k * pairs_.size() + at(p.pair)];
            const SlipAdjoint adjoint = slip_vjp(contact, slip, directions[k][at(p.a)], directions[k][at(p.b)]);
            out.friction_phi += adjoint.phi;
            out.previous.a += adjoint.previous_a;
            out.previous.b += adjoint.previous_b;
            then(adjoint, out.previous);
        }
    };
    for_each_half_space(p, [&](const Facing& facing) {
        const bool first = facing.mesh_is_a;
        const Vector3d shift = (first ? p.origin_a : p.origin_b) - facing.origin_mesh;
        const Vector3d &n = facing.normal, &origin_mesh = first ? p.origin_a : p.origin_b,
                       &origin_plane = first ? p.origin_b : p.origin_a;
        const auto back = [&](const Vector3d& local, double z) {
            const Vector3d x = facing.placed->rotation * local + shift, foot = x - z * n;
            const BarrierTaylor b = barrier_.taylor(z * z);
            const LaggedContact contact{first ? x : foot, first ? foot : x, n, -2.0 * z * b.first};
            for_each_direction(contact, [&](const SlipAdjoint& adjoint, MotionAdjoint& previous) {
                Vector6d &mesh = first ? previous.a : previous.b, &plane = first ? previous.b : previous.a;
                const Vector3d &x_bar = first ? adjoint.a : adjoint.b, &foot_bar = first ? adjoint.b : adjoint.a;
                const double z_bar = -n.dot(foot_bar) - adjoint.load * (2.0 * b.first + 4.0 * z * z * b.second);
                const Vector3d n_bar = adjoint.normal - z * foot_bar + z_bar * (x - origin_plane);
                add_force(x_bar + foot_bar + z_bar * n, x - origin_mesh, mesh);
                plane.head<3>() -= z_bar * n;
                plane.tail<3>() += n.cross(n_bar);
            });
        };
        if (!for_each_height(facing, back).finite) refuse_touching(p);
    });
    if (!p.meshes()) return;
    const Matrix3d& rotation = p.placed_a->rotation;
    const auto back = [&](const Closest& local, const Mollifier& local_mollifier) {
        const Closest closest = turned(rotation, local);
        const Mollifier mollifier = turned(rotation, local_mollifier);
        const BarrierTaylor barrier = barrier_.taylor(closest.squared);
        const LaggedContact contact = lagged(closest, mollifier, barrier);
        for_each_direction(contact, [&](const SlipAdjoint& adjoint, MotionAdjoint& previous) {
            pull_back_contact(closest, mollifier, barrier, adjoint, p.origin_a, p.origin_b, previous);
        });
    };
    if (!for_each_term(p, memory.pairs[at(p.pair)], back).finite) refuse_touching(p);
}

}  // namespace farfield::contact::ipc
