// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/contact_forces.hpp"

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/model/closest_points.hpp"

namespace farfield {
namespace {

using contact::ContactLinearization;
using contact::PairBlock;
using contact::StepMode;
using Eigen::Vector3d;

ContactLinearization linearized(const StepContext& context, const Poses& previous, const Poses& poses, StepMode mode) {
    const auto memory = context.contact->make_memory();
    ContactLinearization out;
    context.contact->begin_step(previous, context.options.dt, context.parameters, *memory, mode).linearize(poses, out);
    if (!std::isfinite(out.energy)) fail("contact_forces: bodies touch or cross, expected surfaces that are apart");
    return out;
}

/// The point on the line along which the force acts that is as far along the normal as the middle between the surfaces.
Vector3d centre_of_pressure(const Vector3d& origin, const Vector3d& force, const Vector3d& torque,
                            const ClosestPoints& closest) {
    const Vector3d middle = 0.5 * (closest.point_a + closest.point_b);
    const double squared = force.squaredNorm();
    if (!(squared > 0.0)) return middle;
    const Vector3d foot = origin + force.cross(torque) / squared;
    return foot + force * (force.dot(middle - foot) / squared);
}

ContactForce describe(const CollisionGeometry& geometry, const ContactPair& pair, const Poses& poses,
                      const PairBlock& normal, const PairBlock& total) {
    const ClosestPoints closest = closest_points(geometry, pair, poses);
    ContactForce out{.a = pair.a, .b = pair.b, .gap = closest.distance};
    const Vector3d push = -normal.gradient.head<3>();
    out.normal_force = push.norm();
    if (out.normal_force > 0.0) out.normal = push / out.normal_force;
    out.force = -total.gradient.head<3>();
    out.friction = out.force - push;
    out.torque_a = -total.gradient.segment<3>(3);
    out.torque_b = -total.gradient.tail<3>();
    out.point = centre_of_pressure(poses[static_cast<std::size_t>(pair.a)].position, push,
                                   -normal.gradient.segment<3>(3), closest);
    return out;
}

std::vector<ContactForce> list_forces(const StepContext& context, const Poses& poses,
                                      const ContactLinearization& normal, const ContactLinearization& total) {
    const auto surfaces = context.contact->surfaces(context.parameters);
    const CollisionGeometry& geometry = surfaces ? *surfaces : context.model.collision();
    std::vector<ContactForce> out;
    std::size_t with = 0;
    for (const PairBlock& alone : normal.blocks) {  // in pair order in both
        while (with < total.blocks.size() &&
               std::pair(total.blocks[with].a, total.blocks[with].b) < std::pair(alone.a, alone.b))
            ++with;
        const bool listed =
            with < total.blocks.size() && total.blocks[with].a == alone.a && total.blocks[with].b == alone.b;
        out.push_back(
            describe(geometry, {.a = alone.a, .b = alone.b}, poses, alone, listed ? total.blocks[with] : alone));
    }
    return out;
}

}  // namespace

std::vector<ContactForce> contact_forces(const StepContext& context, const Poses& previous, const Poses& poses) {
    if (!context.contact) return {};
    return list_forces(context, poses, linearized(context, previous, poses, StepMode::Frictionless),
                       linearized(context, previous, poses, StepMode::Forward));
}

std::vector<ContactForce> contact_forces(const StepContext& context, const State& state) {
    Kinematics kinematics;
    contact::Twists twists;
    forward_kinematics(context.model, context.parameters, state.q, kinematics);
    body_twists(context.model, kinematics, state.v, twists);
    const auto memory = context.law->make_memory();
    contact::ForceLinearization at;
    context.law->begin_step(context.parameters, *memory).linearize(kinematics.poses, twists, at);
    std::vector<ContactForce> out;
    for (const contact::ForceBlock& block : at.blocks) {
        ContactForce force{.a = block.a, .b = block.b, .gap = block.gap};
        const Vector3d push = block.wrench.head<3>() - block.friction.head<3>(),
                       turn = block.wrench.segment<3>(3) - block.friction.segment<3>(3);
        force.normal_force = push.norm();
        if (!(force.normal_force > 0.0)) continue;
        force.normal = push / force.normal_force;
        force.force = block.wrench.head<3>();
        force.friction = block.friction.head<3>();
        force.torque_a = block.wrench.segment<3>(3);
        force.torque_b = block.wrench.tail<3>();
        // on the line along which the force acts, as far along it as the middle of both bodies' closest points
        ClosestPoints closest =
            closest_points(context.model.collision(), {.a = block.a, .b = block.b}, kinematics.poses);
        force.point =
            centre_of_pressure(kinematics.poses[static_cast<std::size_t>(block.a)].position, push, turn, closest);
        out.push_back(force);
    }
    return out;
}

std::vector<ContactForce> contact_forces(const StepContext& context, const Poses& poses) {
    if (!context.contact) return {};
    const ContactLinearization alone = linearized(context, poses, poses, StepMode::Frictionless);
    return list_forces(context, poses, alone, alone);
}

}  // namespace farfield
