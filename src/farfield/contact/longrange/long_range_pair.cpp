// SPDX-License-Identifier: Apache-2.0
// One pair of bodies of the long-range model.
#include <algorithm>

#include "farfield/base/index.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"

namespace farfield::contact::longrange {

namespace {

using Eigen::Vector3d;

/// Twist of a body with its linear part divided by l0.
Vector6d scaled_twist(const Vector6d& twist, double length) {
    Vector6d scaled = twist;
    scaled.head<3>() /= length;
    return scaled;
}

/// Derivatives by positions divided by l0 become those by positions [m].
void unscale(double length, Vector12d& gradient, Matrix12d& hessian) {
    const double scale = 1.0 / length;
    for (const Eigen::Index first : {0, 6}) {
        gradient.segment<3>(first) *= scale;
        hessian.middleRows<3>(first) *= scale;
        hessian.middleCols<3>(first) *= scale;
    }
}

}  // namespace

LongRange::PairView LongRange::view(int index, const Poses& poses, const std::vector<RotatedShape>& rotated) const {
    const std::size_t a = at(pair(index).a), b = at(pair(index).b);
    return {a,
            b,
            &shapes_[a],
            &shapes_[b],
            &rotated[a],
            &rotated[b],
            scaled(poses[a], index),
            scaled(poses[b], index),
            &forms_[at(index)]};
}

LongRange::SideView LongRange::view(const HalfSpaceSide& side, const PairView& pair) {
    const bool first = side.surface_first;
    const RotatedShape& rotated = first ? *pair.rotated_a : *pair.rotated_b;
    const Pose &pose = first ? pair.pose_a : pair.pose_b, &other = first ? pair.pose_b : pair.pose_a;
    return {first ? pair.shape_a : pair.shape_b, &rotated,
            make_frame(rotated, pose.position, side.half_space, other, pair.form->scale)};
}

LongRange::Motions LongRange::mesh_motions(const PairView& start, const PairView& now, const LaggedMeshPair& lagged) {
    return {body_motion(start.pose_a, now.pose_a, lagged.frame.origin_a),
            body_motion(start.pose_b, now.pose_b, lagged.frame.origin_b)};
}

LongRange::Motions LongRange::half_space_motions(const HalfSpaceSide& side, const PairView& start, const PairView& now,
                                                 const LaggedHalfSpace& lagged) {
    const bool first = side.surface_first;
    const Vector3d &mesh = lagged.frame.origin_mesh, &plane = lagged.frame.origin_plane;
    const BodyMotion a = body_motion(start.pose_a, now.pose_a, first ? mesh : plane),
                     b = body_motion(start.pose_b, now.pose_b, first ? plane : mesh);
    return first ? Motions{a, b} : Motions{b, a};
}

bool LongRange::solve(const PairView& pair, const PairFrame& frame, Wanted wanted, double tolerance, PlaneTable& planes,
                      PairWork& work) const {
    traverse(*pair.shape_a, *pair.rotated_a, *pair.shape_b, *pair.rotated_b, frame, *pair.form, wanted, work);
    return solve_leaves(*pair.shape_a, *pair.rotated_a, *pair.shape_b, *pair.rotated_b, frame, *pair.form, tolerance,
                        planes, work);
}

void LongRange::lag(int index, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    const Memory::Scratch scratch = memory.borrow();
    PairMemory& cache = memory.pairs[at(index)];
    const PairView pair = view(index, memory.previous, memory.start);
    const bool keep = memory.mode == StepMode::Backward;
    const auto& sides = half_space_sides(index);
    if (cache.half_space_friction.size() < sides.size()) {
        cache.half_space_friction.resize(sides.size());
        cache.start_half_work.resize(sides.size());
    }
    for (std::size_t k = 0; k < sides.size(); ++k) {
        const SideView side = view(sides[k], pair);
        HalfSpaceWork& work = keep ? cache.start_half_work[k] : scratch->half_space_work;
        if (!traverse(*side.mesh, *side.rotated, side.frame, *pair.form, work)) {
            const ContactPair& bodies = this->pair(index);
            const Vector3d where = memory.previous[at(sides[k].surface_first ? bodies.a : bodies.b)].position;
            refuse_touching(index, &where);
        }
        lag_half_space(side.frame, work, *pair.form, options_.friction, ramps_[at(index)],
                       cache.half_space_friction[k]);
    }
    if (!pair.meshes()) return;
    const PairFrame frame = pair.frame();
    PairWork& work = keep ? cache.start_work : scratch->work;
    if (!solve(pair, frame, Wanted::Derivatives, options_.derivative_tolerance, cache.planes, work)) {
        const Vector3d where =
            length(index) * 0.5 * (pair.pose_a.position + pair.pose_b.position - frame.origin_a - frame.origin_b);
        refuse_touching(index, &where);
    }
    lag_mesh_pair(frame, work, options_.friction, ramps_[at(index)], cache.mesh_friction);
}

void LongRange::pair_energy(int index, PairwiseMemory& step, PairResult& result) const {
    auto& memory = static_cast<Memory&>(step);
    const Memory::Scratch scratch = memory.borrow();
    PairMemory& cache = memory.pairs[at(index)];
    const double coefficient = memory.coefficients[at(index)];
    const PairView pair = view(index, memory.poses, memory.now);
    const PairView start = coefficient != 0.0 ? view(index, memory.previous, memory.start) : pair;
    double energy = 0.0, friction = 0.0;
    const auto& sides = half_space_sides(index);
    for (std::size_t k = 0; k < sides.size(); ++k) {
        const SideView side = view(sides[k], pair);
        HalfSpaceWork& work = scratch->half_space_work;
        result.finite = traverse(*side.mesh, *side.rotated, side.frame, *pair.form, work);
        if (!result.finite) return;
        energy += sum_values(*pair.form, work);
        if (coefficient == 0.0) continue;
        const LaggedHalfSpace& lagged = cache.half_space_friction[k];
        const Motions motions = half_space_motions(sides[k], start, pair, lagged);
        friction += fixed_friction_energy(lagged.plane(), motions.a, motions.b, slip_model(index, memory.dt, true));
    }
    if (pair.meshes()) {
        PairWork& work = scratch->work;
        result.finite = solve(pair, pair.frame(), Wanted::Values, options_.energy_tolerance, cache.planes, work);
        if (!result.finite) return;
        energy += sum_values(*pair.form, work);
        if (coefficient != 0.0 && cache.mesh_friction.planes.size() > 0) {
            const Motions motions = mesh_motions(start, pair, cache.mesh_friction);
            friction += solve_planes(cache.mesh_friction.planes, motions.a, motions.b,
                                     slip_model(index, memory.dt, false), {.of_energy = options_.energy_tolerance});
        }
    }
    result.energy = memory.weights[at(index)] * (energy + coefficient * friction);
}

void LongRange::pair_linearize(int index, PairwiseMemory& step, PairResult& result, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    const Memory::Scratch scratch = memory.borrow();
    PairMemory& cache = memory.pairs[at(index)];
    const double weight = memory.weights[at(index)];
    const PairView pair = view(index, memory.poses, memory.now);
    double energy = 0.0;
    const auto add = [&](bool same_order, const RelativeSum& sum, const Vector3d& s_a, const Vector3d& s_b,
                         double gap) {
        const PairDerivatives d = to_body_charts(sum, s_a, s_b);
        add_in_pair_order(same_order, weight, d.gradient, d.hessian, result.gradient, block.hessian);
        energy += sum.value;
        block.gap = std::min(block.gap, gap);
    };
    for (const HalfSpaceSide& half_space : half_space_sides(index)) {
        const SideView side = view(half_space, pair);
        HalfSpaceWork& work = scratch->half_space_work;
        result.finite = traverse(*side.mesh, *side.rotated, side.frame, *pair.form, work);
        if (!result.finite) return;
        RelativeSum sum;
        sum_derivatives(side.frame, *pair.form, work, sum);
        add(half_space.surface_first, sum, side.frame.origin_mesh, side.frame.origin_plane, work.gap);
    }
    if (pair.meshes()) {
        const PairFrame frame = pair.frame();
        PairWork& work = scratch->work;
        result.finite = solve(pair, frame, Wanted::Derivatives, options_.derivative_tolerance, cache.planes, work);
        if (!result.finite) return;
        RelativeSum sum;
        sum_derivatives(*pair.form, work, sum);
        add(true, sum, frame.origin_a, frame.origin_b, work.gap);
    }
    unscale(length(index), result.gradient, block.hessian);
    block.gap *= length(index);
    result.energy = weight * energy;
}

bool LongRange::pair_friction(int index, PairwiseMemory& step, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const double weight = memory.weights[at(index)] * memory.coefficients[at(index)];
    const auto& sides = half_space_sides(index);
    const auto add = [&](bool same_order, const FrictionSum& sum) {
        add_in_pair_order(same_order, weight, sum.gradient, sum.hessian, block.friction_gradient,
                          block.friction_hessian);
        block.friction_energy += weight * sum.energy;
    };
    bool has_friction = cache.mesh_friction.planes.size() > 0;
    for (std::size_t k = 0; k < sides.size(); ++k)
        has_friction = has_friction || !cache.half_space_friction[k].points.empty();
    if (!has_friction) return false;
    const PairView start = view(index, memory.previous, memory.start), now = view(index, memory.poses, memory.now);
    for (std::size_t k = 0; k < sides.size(); ++k) {
        LaggedHalfSpace& lagged = cache.half_space_friction[k];
        const Motions motions = half_space_motions(sides[k], start, now, lagged);
        FrictionSum sum;
        add_fixed_friction(lagged.plane(), motions.a, motions.b, slip_model(index, memory.dt, true), sum,
                           {lagged.duals, memory.multiplier});
        add(sides[k].surface_first, sum);
    }
    if (PlaneBatch& planes = cache.mesh_friction.planes; planes.size() > 0) {
        const Motions motions = mesh_motions(start, now, cache.mesh_friction);
        const SlipModel slip = slip_model(index, memory.dt, false);
        FrictionSum sum;
        sum.energy = solve_planes(planes, motions.a, motions.b, slip, kPlaneDerivatives);
        add_planes(planes, motions.a, motions.b, slip, sum, memory.multiplier);
        add(true, sum);
    }
    unscale(length(index), block.friction_gradient, block.friction_hessian);
    return true;
}

void LongRange::mesh_vjp(const Motions& motions, const Vector6d& twist_a, const Vector6d& twist_b,
                         const SlipModel& slip, PairMemory& cache, PairScratch& scratch, PairAdjoint& adjoint) const {
    PlaneAdjointSums sums;
    planes_vjp(cache.mesh_friction.planes, motions.a, motions.b, slip, twist_a, twist_b, scratch.plane_adjoints, sums);
    adjoint.phi += sums.phi;
    adjoint.start.add({sums.previous_a, sums.previous_b});
    scratch.band_weights.assign(cache.start_work.bands.size(), 0.0);
    pull_back_leaves(cache.start_work, cache.mesh_friction, options_.friction, scratch.plane_adjoints,
                     scratch.band_weights, adjoint.start);
    pull_back_bands(cache.start_work, cache.mesh_friction.frame, scratch.band_weights, adjoint.start);
}

void LongRange::half_space_vjp(const Motions& motions, const Vector6d& twist_mesh, const Vector6d& twist_plane,
                               const SlipModel& slip, const LaggedHalfSpace& lagged, const HalfSpaceWork& work,
                               int pair, PairScratch& scratch, bool surface_first, PairAdjoint& adjoint) const {
    scratch.points.resize(lagged.points.size());
    const FrictionAdjoint friction =
        fixed_friction_vjp(lagged.plane(), motions.a, motions.b, slip, twist_mesh, twist_plane, scratch.points);
    adjoint.phi += friction.phi;
    StartAdjoint back{friction.previous_a, friction.previous_b};
    scratch.band_weights.assign(work.bands.size(), 0.0);
    pull_back_half_space(lagged.frame, work, forms_[at(pair)], options_.friction, ramps_[at(pair)], friction,
                         scratch.points, scratch.band_weights, back);
    adjoint.start.add(back, surface_first);
}

void LongRange::pair_vjp(int index, std::span<const Twists> directions, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    const Memory::Scratch scratch = memory.borrow();
    PairMemory& cache = memory.pairs[at(index)];
    const PairView start = view(index, memory.previous, memory.start), now = view(index, memory.poses, memory.now);
    const Motions meshes = mesh_motions(start, now, cache.mesh_friction);
    const SlipModel free = slip_model(index, memory.dt, false), fixed = slip_model(index, memory.dt, true);
    if (start.meshes() && memory.coefficients[at(index)] == 0.0)  // else linearize has done it
        static_cast<void>(solve_planes(cache.mesh_friction.planes, meshes.a, meshes.b, free, kPlaneDerivatives));
    const auto& sides = half_space_sides(index);
    for (std::size_t direction = 0; direction < directions.size(); ++direction) {
        PairAdjoint& adjoint = memory.adjoint(index, direction);
        const Vector6d twist_a = scaled_twist(directions[direction][start.a], length(index));
        const Vector6d twist_b = scaled_twist(directions[direction][start.b], length(index));
        if (cache.mesh_friction.planes.size() > 0) mesh_vjp(meshes, twist_a, twist_b, free, cache, *scratch, adjoint);
        for (std::size_t k = 0; k < sides.size(); ++k) {
            const bool first = sides[k].surface_first;
            const LaggedHalfSpace& lagged = cache.half_space_friction[k];
            half_space_vjp(half_space_motions(sides[k], start, now, lagged), first ? twist_a : twist_b,
                           first ? twist_b : twist_a, fixed, lagged, cache.start_half_work[k], index, *scratch, first,
                           adjoint);
        }
        const double weight = memory.weights[at(index)];
        adjoint.phi *= weight;
        for (Vector6d* wrench : {&adjoint.start.a, &adjoint.start.b}) {
            wrench->head<3>() /= length(index);
            *wrench *= weight;
        }
    }
}

}  // namespace farfield::contact::longrange
