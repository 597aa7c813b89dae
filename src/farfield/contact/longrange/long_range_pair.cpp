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

/// Bodies of a half-space contact are (mesh, plane), those of a pair (a, b).
template <class Vector, class Block>
void add_in_pair_order(bool mesh_is_a, double scale, const Vector& gradient, const Block& hessian,
                       Vector& pair_gradient, Block& pair_hessian) {
    const Eigen::Index first = mesh_is_a ? 0 : 6, second = 6 - first;
    pair_gradient.template segment<6>(first) += scale * gradient.template head<6>();
    pair_gradient.template segment<6>(second) += scale * gradient.template tail<6>();
    pair_hessian.template block<6, 6>(first, first) += scale * hessian.template block<6, 6>(0, 0);
    pair_hessian.template block<6, 6>(first, second) += scale * hessian.template block<6, 6>(0, 6);
    pair_hessian.template block<6, 6>(second, first) += scale * hessian.template block<6, 6>(6, 0);
    pair_hessian.template block<6, 6>(second, second) += scale * hessian.template block<6, 6>(6, 6);
}

Eigen::Matrix<double, 12, 1> stacked(const Vector6d& a, const Vector6d& b) {
    Eigen::Matrix<double, 12, 1> both;
    both << a, b;
    return both;
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
    result.friction +=
        solve_planes(own.mesh_friction.planes, a, b, slip_model(memory.dt, false), options_.energy_tolerance);
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
        add_in_pair_order(facing.mesh_is_a, weight, stacked(d.wrench_a, d.wrench_b), d.hessian, gradient,
                          block.hessian);
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
        add_in_pair_order(true, weight, stacked(d.wrench_a, d.wrench_b), d.hessian, gradient, block.hessian);
        result.energy += sum.value;
        block.gap = std::min(block.gap, work.gap);
        if (coefficient != 0.0) {
            FrictionSum friction;
            const BodyMotion a = motion(memory.previous[at(p.a)], *p.pose_a, own.mesh_friction.frame.origin_a);
            const BodyMotion b = motion(memory.previous[at(p.b)], *p.pose_b, own.mesh_friction.frame.origin_b);
            const SlipModel model = slip_model(memory.dt, false);
            friction.energy = solve_planes(own.mesh_friction.planes, a, b, model, kPlaneTolerance);
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
        if (own.half_space_friction.size() <= index) own.half_space_friction.resize(index + 1);
        HalfSpaceWork& work = scratch.half_space_work;
        if (!traverse(*facing.mesh, *facing.rotated, facing.frame, form_, work)) {
            refuse_touching(p, (facing.mesh_is_a ? p.pose_a : p.pose_b)->position);
        }
        lag_half_space(facing.frame, work, form_, options_.friction, own.half_space_friction[index]);
    });
    if (!p.meshes()) return;
    const PairFrame frame = make_frame(*p.rotated_a, *p.rotated_b, p.pose_a->position, p.pose_b->position);
    PairWork& work = scratch.work;
    traverse(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, form_, Wanted::Derivatives, work);
    if (!solve_leaves(*p.shape_a, *p.rotated_a, *p.shape_b, *p.rotated_b, frame, options_.derivative_tolerance,
                      own.planes, work)) {
        refuse_touching(p, 0.5 * (p.pose_a->position + p.pose_b->position - frame.origin_a - frame.origin_b));
    }
    lag_mesh_pair(frame, work, options_.friction, own.mesh_friction);
}

void LongRange::pair_contact_vjp(const Placed& p, const std::vector<Vector6d>& twists, Memory& memory,
                                 PairScratch& scratch, PairResult& result) const {
    PairBlock block;
    PairResult contact;
    pair_derivatives(p, 1.0, 0.0, memory, scratch, contact, block);
    if (!contact.finite) refuse_touching(p, p.pose_a->position);
    result.phi = twists[at(p.a)].dot(contact.wrench_a) + twists[at(p.b)].dot(contact.wrench_b);
}

void LongRange::pair_friction_vjp(const Placed& now, const Placed& start, double dt,
                                  const std::vector<Vector6d>& twists, Memory& memory, PairScratch& scratch,
                                  PairResult& result) const {
    pair_lag(start, memory, scratch);  // leaves the mesh pair's work in the scratch
    PairMemory& own = memory.pairs[at(start.pair)];
    const Vector6d twist_a = scaled_twist(twists[at(now.a)], options_.length_scale);
    const Vector6d twist_b = scaled_twist(twists[at(now.b)], options_.length_scale);
    PreviousAdjoint& previous = result.previous;
    if (start.meshes()) {
        const PairFrame& frame = own.mesh_friction.frame;
        const BodyMotion a = motion(*start.pose_a, *now.pose_a, frame.origin_a);
        const BodyMotion b = motion(*start.pose_b, *now.pose_b, frame.origin_b);
        const SlipModel model = slip_model(dt, false);
        PlaneBatch& planes = own.mesh_friction.planes;
        static_cast<void>(solve_planes(planes, a, b, model, kPlaneTolerance));
        scratch.band_weights.assign(scratch.work.bands.size(), 0.0);
        for (std::size_t k = 0; k < planes.size(); ++k) {
            const std::array<FrictionPoint, 6> lagged = planes.points(k);
            std::array<FrictionPoint, 6> points;
            const FrictionAdjoint adjoint =
                friction_vjp_at(planes.motion(k), {planes.normal(k), lagged, 3}, a, b, model, twist_a, twist_b, points);
            result.friction_phi += adjoint.phi;
            previous.a += adjoint.previous_a;
            previous.b += adjoint.previous_b;
            double weight = 0.0;
            pull_back_contact(scratch.work, k, frame, options_.friction, adjoint, points, previous, weight);
            const int parent = scratch.work.leaves[k].parent;
            if (parent >= 0) scratch.band_weights[at(parent)] += weight;
        }
        pull_back_bands(scratch.work, frame, scratch.band_weights, previous);
    }
    for_each_half_space(start, [&](std::size_t index, const Facing& facing) {
        const LaggedHalfSpace& lagged = own.half_space_friction[index];
        const bool first = facing.mesh_is_a;
        const BodyMotion mesh =
            motion(first ? *start.pose_a : *start.pose_b, first ? *now.pose_a : *now.pose_b, lagged.frame.origin_mesh);
        const BodyMotion plane =
            motion(first ? *start.pose_b : *start.pose_a, first ? *now.pose_b : *now.pose_a, lagged.frame.origin_plane);
        scratch.points.resize(lagged.points.size());
        const FrictionAdjoint adjoint =
            fixed_friction_vjp(lagged.plane(), mesh, plane, slip_model(dt, true), first ? twist_a : twist_b,
                               first ? twist_b : twist_a, scratch.points);
        result.friction_phi += adjoint.phi;
        PreviousAdjoint back{adjoint.previous_a, adjoint.previous_b};
        HalfSpaceWork& work = scratch.half_space_work;
        if (!traverse(*facing.mesh, *facing.rotated, facing.frame, form_, work))
            return;  // pair_lag has refused it already
        scratch.band_weights.assign(work.bands.size(), 0.0);
        pull_back_half_space(facing.frame, work, form_, options_.friction, adjoint, scratch.points,
                             scratch.band_weights, back);
        previous.a += first ? back.a : back.b;
        previous.b += first ? back.b : back.a;
    });
    previous.a.head<3>() /= options_.length_scale;
    previous.b.head<3>() /= options_.length_scale;
}

}  // namespace farfield::contact::longrange
