// SPDX-License-Identifier: Apache-2.0
// One pair of bodies of the long-range model.
#include <algorithm>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/longrange/placed.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

BodyMotion motion(const Pose& start, const Pose& now, const Vector3d& origin) {
    return {origin, now.rotation * start.rotation.transpose(), now.position - start.position};
}

/// Twist of a body with its linear part divided by the length scale.
Vector6d scaled_twist(const Vector6d& twist, double length_scale) {
    Vector6d scaled = twist;
    scaled.head<3>() /= length_scale;
    return scaled;
}

}  // namespace

void LongRange::refuse_touching(const Placed& at_pair, const Vector3d& where) const {
    const Vector3d place = options_.length_scale * where;
    fail("bodies '", names_[at(at_pair.a)], "' and '", names_[at(at_pair.b)],
         "' touch or cross at the start of a step, near (", place.x(), ", ", place.y(), ", ", place.z(), ") [m]");
}

void LongRange::pair_energy(const Placed& p, bool with_friction, Memory& memory, PairScratch& scratch,
                            PairResult& result) const {
    result = {};
    PairMemory& own = memory.pairs[at(p.pair)];
    for_each_half_space(p, [&](std::size_t index, const Facing& facing) {
        if (!result.finite) return;
        HalfSpaceWork& work = scratch.half_space_work;
        result.finite = traverse(*facing.mesh, *facing.rotated, facing.frame, form_, work);
        if (!result.finite) return;
        result.energy += sum_values(form_, work);
        if (!with_friction) return;
        const LaggedHalfSpace& lagged = own.half_space_friction[index];
        const std::size_t mesh = at(facing.mesh_is_a ? p.a : p.b), plane = at(facing.mesh_is_a ? p.b : p.a);
        result.friction += fixed_friction_energy(
            lagged.plane(), motion(memory.previous[mesh], memory.scaled[mesh], lagged.frame.origin_mesh),
            motion(memory.previous[plane], memory.scaled[plane], lagged.frame.origin_plane),
            slip_model(memory.dt, true));
    });
    if (!p.meshes() || !result.finite) return;
    const PairFrame frame = make_frame(*p.rotated_a, *p.rotated_b, p.pose_a->position, p.pose_b->position);
    PairWork& work = scratch.work;
    traverse(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, form_, Wanted::Values, work);
    result.finite = solve_leaves(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, options_.energy_tolerance,
                                 own.planes, work);
    if (!result.finite) return;
    result.energy += sum_values(form_, work);
    if (!with_friction) return;
    const BodyMotion a = motion(memory.previous[at(p.a)], *p.pose_a, own.mesh_friction.frame.origin_a);
    const BodyMotion b = motion(memory.previous[at(p.b)], *p.pose_b, own.mesh_friction.frame.origin_b);
    result.friction += solve_planes(own.mesh_friction.planes, a, b, slip_model(memory.dt, false),
                                    {.of_energy = options_.energy_tolerance});
}

void LongRange::pair_derivatives(const Placed& p, double weight, double coefficient, Memory& memory,
                                 PairScratch& scratch, PairResult& result, PairBlock& block) const {
    result = {};
    block.a = p.a;
    block.b = p.b;
    block.hessian.setZero();
    block.gap = std::numeric_limits<double>::infinity();
    PairMemory& own = memory.pairs[at(p.pair)];
    Eigen::Matrix<double, 12, 1> gradient = Eigen::Matrix<double, 12, 1>::Zero();

    for_each_half_space(p, [&](std::size_t index, const Facing& facing) {
        if (!result.finite) return;
        HalfSpaceWork& work = scratch.half_space_work;
        result.finite = traverse(*facing.mesh, *facing.rotated, facing.frame, form_, work);
        if (!result.finite) return;
        RelativeSum sum;
        sum_derivatives(facing.frame, form_, work, sum);
        const PairDerivatives d = to_body_charts(sum, facing.frame.origin_mesh, facing.frame.origin_plane);
        add_in_pair_order(facing.mesh_is_a, weight, d.gradient, d.hessian, gradient, block.hessian);
        result.energy += sum.value;
        block.gap = std::min(block.gap, work.gap);
        if (coefficient == 0.0) return;
        const LaggedHalfSpace& lagged = own.half_space_friction[index];
        const std::size_t mesh = at(facing.mesh_is_a ? p.a : p.b), plane = at(facing.mesh_is_a ? p.b : p.a);
        FrictionSum friction;
        add_fixed_friction(lagged.plane(), motion(memory.previous[mesh], memory.scaled[mesh], lagged.frame.origin_mesh),
                           motion(memory.previous[plane], memory.scaled[plane], lagged.frame.origin_plane),
                           slip_model(memory.dt, true), friction);
        add_in_pair_order(facing.mesh_is_a, weight * coefficient, friction.gradient, friction.hessian, gradient,
                          block.hessian);
        result.friction += friction.energy;
    });
    if (p.meshes() && result.finite) {
        const PairFrame frame = make_frame(*p.rotated_a, *p.rotated_b, p.pose_a->position, p.pose_b->position);
        PairWork& work = scratch.work;
        traverse(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, form_, Wanted::Derivatives, work);
        result.finite = solve_leaves(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame,
                                     options_.derivative_tolerance, own.planes, work);
        if (!result.finite) return;
        RelativeSum sum;
        sum_derivatives(form_, work, sum);
        const PairDerivatives d = to_body_charts(sum, frame.origin_a, frame.origin_b);
        add_in_pair_order(true, weight, d.gradient, d.hessian, gradient, block.hessian);
        result.energy += sum.value;
        block.gap = std::min(block.gap, work.gap);
        if (coefficient != 0.0) {
            FrictionSum friction;
            const BodyMotion a = motion(memory.previous[at(p.a)], *p.pose_a, own.mesh_friction.frame.origin_a);
            const BodyMotion b = motion(memory.previous[at(p.b)], *p.pose_b, own.mesh_friction.frame.origin_b);
            const SlipModel model = slip_model(memory.dt, false);
            friction.energy = solve_planes(own.mesh_friction.planes, a, b, model, kPlaneDerivatives);
            add_planes(own.mesh_friction.planes, a, b, model, friction);
            add_in_pair_order(true, weight * coefficient, friction.gradient, friction.hessian, gradient, block.hessian);
            result.friction += friction.energy;
        }
    }
    if (options_.length_scale != 1.0) {
        Eigen::Matrix<double, 12, 1> unit = Eigen::Matrix<double, 12, 1>::Ones();
        unit.segment<3>(0) /= options_.length_scale;
        unit.segment<3>(6) /= options_.length_scale;
        gradient = gradient.cwiseProduct(unit).eval();
        block.hessian = unit.asDiagonal() * block.hessian * unit.asDiagonal();
        block.gap *= options_.length_scale;
    }
    result.wrench_a = gradient.head<6>();
    result.wrench_b = gradient.tail<6>();
}

void LongRange::pair_lag(const Placed& p, Memory& memory, PairScratch& scratch) const {
    PairMemory& own = memory.pairs[at(p.pair)];
    for_each_half_space(p, [&](std::size_t index, const Facing& facing) {
        if (own.half_space_friction.size() <= index) {
            own.half_space_friction.resize(index + 1);
            own.start_half_work.resize(index + 1);
        }
        HalfSpaceWork& work = memory.mode == StepMode::Backward ? own.start_half_work[index] : scratch.half_space_work;
        if (!traverse(*facing.mesh, *facing.rotated, facing.frame, form_, work)) {
            refuse_touching(p, (facing.mesh_is_a ? p.pose_a : p.pose_b)->position);
        }
        lag_half_space(facing.frame, work, form_, options_.friction, own.half_space_friction[index]);
    });
    if (!p.meshes()) return;
    const PairFrame frame = make_frame(*p.rotated_a, *p.rotated_b, p.pose_a->position, p.pose_b->position);
    PairWork& work = memory.mode == StepMode::Backward ? own.start_work : scratch.work;
    traverse(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, form_, Wanted::Derivatives, work);
    if (!solve_leaves(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, options_.derivative_tolerance,
                      own.planes, work)) {
        refuse_touching(p, 0.5 * (p.pose_a->position + p.pose_b->position - frame.origin_a - frame.origin_b));
    }
    lag_mesh_pair(frame, work, options_.friction, own.mesh_friction);
}

void LongRange::mesh_friction_vjp(PairMemory& own, const BodyMotion& a, const BodyMotion& b, const Vector6d& twist_a,
                                  const Vector6d& twist_b, PairScratch& scratch, double dt,
                                  PairAdjoint& adjoint) const {
    PlaneAdjointSums sums;
    planes_vjp(own.mesh_friction.planes, a, b, slip_model(dt, false), twist_a, twist_b, scratch.plane_adjoints, sums);
    adjoint.friction_phi += sums.phi;
    adjoint.previous.a += sums.previous_a;
    adjoint.previous.b += sums.previous_b;
    const PairFrame& frame = own.mesh_friction.frame;
    scratch.band_weights.assign(own.start_work.bands.size(), 0.0);
    pull_back_leaves(own.start_work, frame, options_.friction, scratch.plane_adjoints, scratch.band_weights,
                     adjoint.previous);
    pull_back_bands(own.start_work, frame, scratch.band_weights, adjoint.previous);
}

void LongRange::pair_vjp(int pair, std::span<const Twists> directions, Memory& memory, PairScratch& scratch) const {
    PairMemory& own = memory.pairs[at(pair)];
    const Placed start = place(pair, memory.previous, memory.start);
    if (start.meshes() && memory.coefficients[at(pair)] == 0.0) {  // else linearize has done it
        const PairFrame& frame = own.mesh_friction.frame;
        static_cast<void>(solve_planes(own.mesh_friction.planes,
                                       motion(*start.pose_a, memory.scaled[at(start.a)], frame.origin_a),
                                       motion(*start.pose_b, memory.scaled[at(start.b)], frame.origin_b),
                                       slip_model(memory.dt, false), kPlaneDerivatives));
    }
    for (std::size_t k = 0; k < directions.size(); ++k)
        direction_vjp(start, directions[k], memory, scratch, memory.adjoints[k * pairs_.size() + at(pair)]);
}

void LongRange::direction_vjp(const Placed& start, const Twists& twists, Memory& memory, PairScratch& scratch,
                              PairAdjoint& adjoint) const {
    adjoint = {};
    PairMemory& own = memory.pairs[at(start.pair)];
    const std::size_t body_a = at(start.a), body_b = at(start.b);
    const Vector6d twist_a = scaled_twist(twists[body_a], options_.length_scale);
    const Vector6d twist_b = scaled_twist(twists[body_b], options_.length_scale);
    if (start.meshes()) {
        const PairFrame& frame = own.mesh_friction.frame;
        const BodyMotion a = motion(memory.previous[body_a], memory.scaled[body_a], frame.origin_a);
        const BodyMotion b = motion(memory.previous[body_b], memory.scaled[body_b], frame.origin_b);
        mesh_friction_vjp(own, a, b, twist_a, twist_b, scratch, memory.dt, adjoint);
    }
    for_each_half_space(start, [&](std::size_t index, const Facing& facing) {
        const LaggedHalfSpace& lagged = own.half_space_friction[index];
        const bool first = facing.mesh_is_a;
        const std::size_t mesh = first ? body_a : body_b, plane = first ? body_b : body_a;
        scratch.points.resize(lagged.points.size());
        const FrictionAdjoint friction = fixed_friction_vjp(
            lagged.plane(), motion(memory.previous[mesh], memory.scaled[mesh], lagged.frame.origin_mesh),
            motion(memory.previous[plane], memory.scaled[plane], lagged.frame.origin_plane),
            slip_model(memory.dt, true), first ? twist_a : twist_b, first ? twist_b : twist_a, scratch.points);
        adjoint.friction_phi += friction.phi;
        PreviousAdjoint back{friction.previous_a, friction.previous_b};
        const HalfSpaceWork& work = own.start_half_work[index];
        scratch.band_weights.assign(work.bands.size(), 0.0);
        pull_back_half_space(lagged.frame, work, form_, options_.friction, friction, scratch.points,
                             scratch.band_weights, back);
        adjoint.previous.a += first ? back.a : back.b;
        adjoint.previous.b += first ? back.b : back.a;
    });
    adjoint.previous.a.head<3>() /= options_.length_scale;
    adjoint.previous.b.head<3>() /= options_.length_scale;
}

}  // namespace farfield::contact::longrange
