// SPDX-License-Identifier: Apache-2.0
/// @file  One pair of bodies of the polyhedral model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "farfield/base/index.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"
#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/math/dense.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr double kEnergyTolerance = 1e-11;      // of Phi, on Newton's decrement
constexpr double kDerivativeTolerance = 1e-22;  // derivatives err by its square root
constexpr double kGapRounding = 1e-13;          // of the bodies' sizes and positions, taken off every gap

/// How a body has moved since the start of the step. Poses scaled.
BodyMotion motion(const Vector3d& origin, const Pose& start, const Pose& now) {
    return {origin, now.rotation * start.rotation.transpose(), now.position - start.position};
}

Vector12d swapped(const Vector12d& x) {
    Vector12d out;
    out << x.tail<6>(), x.head<6>();
    return out;
}

/// The motions of the contact's bodies, and what they do to its friction.
struct ContactFriction {
    const LaggedContact& contact;
    BodyMotion a, b;
    SlipModel slip;

    ContactFriction(const LaggedContact& lagged, const Pose& start_a, const Pose& now_a, const Pose& start_b,
                    const Pose& now_b, const SlipModel& model)
        : contact(lagged),
          a(lagged.swapped ? motion(lagged.origin_a, start_b, now_b) : motion(lagged.origin_a, start_a, now_a)),
          b(lagged.swapped ? motion(lagged.origin_b, start_a, now_a) : motion(lagged.origin_b, start_b, now_b)),
          slip(model) {}

    [[nodiscard]] double energy() const {
        return contact.half_space ? fixed_friction_energy(contact.plane(), a, b, slip)
                                  : friction_energy(contact.plane(), a, b, slip);
    }
    [[nodiscard]] FrictionSum sum(const SlipDuals& duals) const {
        FrictionSum out;
        (contact.half_space ? add_fixed_friction : add_friction)(contact.plane(), a, b, slip, out, duals);
        return out;
    }
    [[nodiscard]] FrictionAdjoint vjp(const Vector6d& twist_a, const Vector6d& twist_b,
                                      std::span<FrictionPoint> points) const {
        return contact.half_space ? fixed_friction_vjp(contact.plane(), a, b, slip, twist_a, twist_b, points)
                                  : contact::friction_vjp(contact.plane(), a, b, slip, twist_a, twist_b, points);
    }
};

}  // namespace

Pose Polyhedral::PairView::b_in_a() const {
    const Eigen::Matrix3d turn = pose_a.rotation.transpose();
    return {turn * pose_b.rotation, turn * (pose_b.position - pose_a.position)};
}

void Polyhedral::refuse(int pair) const {
    refuse_touching(pair, nullptr,
                    ": their convex hulls do; expected a gap (concave meshes must be decomposed into convex parts)");
}

template <class Work>
void Polyhedral::for_each_half_space(const PairView& at_poses, const PairMemory& cache, Work&& work) const {
    for (const int k : cache.half_spaces) {
        const HalfSpaceSide& side = half_space_sides(at_poses.index)[at(k)];
        const bool first = side.surface_first;
        const Pose &pose = first ? at_poses.pose_a : at_poses.pose_b,
                   &ground = first ? at_poses.pose_b : at_poses.pose_a;
        work(make_frame(side.half_space, ground, pose), first ? at_poses.a : at_poses.b, pose, first);
    }
}

bool Polyhedral::add_body_above(const HalfSpaceFrame& frame, int body, int index, const Pose& pose,
                                const Memory& memory, HullSums& sums) const {
    bool clear = true;
    for (const int hull : hulls_of_[at(body)])
        clear = add_hull_above(columns(hull, index, memory), frame, pose.rotation, options_.margin, sums) && clear;
    return clear;
}

void Polyhedral::lag(int index, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p = view(index, memory.previous);
    const PairScale scale = this->scale(index, memory);
    const Pose b_in_a = p.b_in_a();
    for (HullPair& near : cache.near) {
        const HullColumns a = columns(near.a, index, memory), b = columns(near.b, index, memory);
        const HullPairSolution solution = solve_hull_pair(a, b, b_in_a, scale.margin, kDerivativeTolerance, near.warm);
        if (solution.status == PairStatus::Touching) refuse(index);
        if (solution.status == PairStatus::Apart) continue;
        cache.lagged.push_back(lag_hull_pair(solution, a, b, hulls_[at(near.a)].first, hulls_[at(near.b)].first,
                                             p.pose_a, p.pose_b, scale, options_.friction));
    }
    for_each_half_space(p, cache, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool first) {
        LaggedContact contact = begin_half_space(frame, !first);
        for (const int hull : hulls_of_[at(body)]) {
            HullSums sums;
            if (!add_hull_above(columns(hull, index, memory), frame, pose.rotation, scale.margin, sums)) refuse(index);
            if (sums.value > 0.0)
                lag_hull_above(columns(hull, index, memory), hulls_[at(hull)].first, pose.rotation, scale,
                               options_.friction, contact);
        }
        if (!contact.points.empty()) cache.lagged.push_back(std::move(contact));
    });
    for (LaggedContact& contact : cache.lagged) contact.duals.resize(contact.points.size());
}

void Polyhedral::pair_energy(int index, PairwiseMemory& step, PairResult& result) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p = view(index, memory.poses);
    const PairScale scale = this->scale(index, memory);
    const Pose b_in_a = p.b_in_a();
    for (HullPair& near : cache.near) {
        const HullPairSolution solution =
            solve_hull_pair(columns(near.a, index, memory), columns(near.b, index, memory), b_in_a, scale.margin,
                            kEnergyTolerance, near.warm);
        result.finite = solution.status != PairStatus::Touching;
        if (!result.finite) return;
        result.energy += scale.weight * solution.value;
    }
    for_each_half_space(p, cache, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool) {
        HullSums sums;
        result.finite = add_body_above(frame, body, index, pose, memory, sums) && result.finite;
        result.energy += scale.weight * sums.value;
    });
    if (!std::isfinite(result.energy)) result.finite = false;
    const double coefficient = memory.coefficients[at(index)];
    if (!result.finite || coefficient == 0.0 || cache.lagged.empty()) return;
    const PairView start = view(index, memory.previous);
    double friction = 0.0;
    for (const LaggedContact& contact : cache.lagged) {
        friction += ContactFriction(contact, start.pose_a, p.pose_a, start.pose_b, p.pose_b,
                                    slip_model(index, memory.dt, contact.half_space))
                        .energy();
    }
    result.energy += coefficient * friction;
}

void Polyhedral::pair_linearize(int index, PairwiseMemory& step, PairResult& result, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    const PairView p = view(index, memory.poses);
    const PairScale scale = this->scale(index, memory);
    double gap = std::numeric_limits<double>::infinity();
    const Pose b_in_a = p.b_in_a();
    for (HullPair& near : cache.near) {
        const HullPairSolution& solution = near.solution =
            solve_hull_pair(columns(near.a, index, memory), columns(near.b, index, memory), b_in_a, scale.margin,
                            kDerivativeTolerance, near.warm);
        result.finite = solution.status != PairStatus::Touching;
        if (!result.finite) return;
        gap = std::min(gap, solution.gap);
        if (solution.status == PairStatus::Apart) continue;
        const WorldPair world = in_world(solution, p.pose_a, p.pose_b);
        result.energy += scale.weight * solution.value;
        result.gradient += unscaled_gradient(pair_gradient(world), scale.weight, length(index));
        block.hessian += unscaled_hessian(pair_hessian(world), scale.weight, length(index));
    }
    for_each_half_space(p, cache, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool first) {
        HullSums sums;
        result.finite = add_body_above(frame, body, index, pose, memory, sums) && result.finite;
        gap = std::min(gap, sums.lowest / height_factor(scale.margin));
        if (!result.finite || sums.value == 0.0) return;
        result.energy += scale.weight * sums.value;
        add_in_pair_order(
            first, 1.0, unscaled_gradient(half_space_gradient(sums, frame, scale.margin), scale.weight, length(index)),
            unscaled_hessian(half_space_hessian(sums, frame, scale.margin), scale.weight, length(index)),
            result.gradient, block.hessian);
    });
    if (!std::isfinite(result.energy)) result.finite = false;
    if (!result.finite) return;
    const double size = p.pose_a.position.norm() + p.pose_b.position.norm() + 1.0;
    block.gap = std::min(cache.box_gap, std::max(0.0, length(index) * (gap - kGapRounding * size)));
}

bool Polyhedral::pair_friction(int index, PairwiseMemory& step, PairBlock& block) const {
    auto& memory = static_cast<Memory&>(step);
    PairMemory& cache = memory.pairs[at(index)];
    if (cache.lagged.empty()) return false;
    const double coefficient = memory.coefficients[at(index)];
    const PairView start = view(index, memory.previous), p = view(index, memory.poses);
    for (LaggedContact& contact : cache.lagged) {
        const FrictionSum sum = ContactFriction(contact, start.pose_a, p.pose_a, start.pose_b, p.pose_b,
                                                slip_model(index, memory.dt, contact.half_space))
                                    .sum({contact.duals, memory.multiplier});
        block.friction_energy += coefficient * sum.energy;
        add_in_pair_order(!contact.swapped, 1.0, unscaled_gradient(sum.gradient, coefficient, length(index)),
                          unscaled_hessian(sum.hessian, coefficient, length(index)), block.friction_gradient,
                          block.friction_hessian);
    }
    return true;
}

void Polyhedral::add_pair_vertices(const PairView& p, const HullPair& near, const Vector12d& twist,
                                   const Memory& memory, PairAdjoint& adjoint) const {
    const PairScale scale = this->scale(p.index, memory);
    const WorldPair pair = in_world(near.solution, p.pose_a, p.pose_b);
    const Vector3d& n = pair.plane.normal;
    const Vector4d y = solve_ldlt(pair.hessian, Vector4d(plane_coupling(pair) * twist));
    const auto one_side = [&](int hull, double side, const Pose& pose, const Vector3d& from, const Vector6d& motion) {
        const HullColumns points = columns(hull, p.index, memory);
        const Vector3d centre = pose.rotation.transpose() * from, local = pose.rotation.transpose() * n;
        for (int m = 0; m < points.size; ++m) {
            const Vector3d inner = points.point(m) - centre;
            const double q = side * (local.dot(inner) + pair.plane.offset);
            if (!(q < scale.margin)) continue;
            const BarrierTaylor value = barrier(q, scale.margin);
            const Vector3d x = pose.rotation * inner, w = motion.tail<3>();
            const Vector3d moved = motion.head<3>() + w.cross(x + from);
            const Vector3d bar = value.second * (n.dot(moved) - x.dot(y.head<3>()) - y[3]) * n -
                                 side * value.first * (y.head<3>() - n.cross(w));
            adjoint.vertices.emplace_back(hulls_[at(hull)].first + m,
                                          scale.weight / length(p.index) * (pose.rotation.transpose() * bar));
        }
    };
    one_side(near.a, -1.0, p.pose_a, pair.from_a, twist.head<6>());
    one_side(near.b, 1.0, p.pose_b, pair.from_b, twist.tail<6>());
}

void Polyhedral::add_height_vertices(const HalfSpaceFrame& frame, int body, const Pose& pose, int pair,
                                     const Vector12d& twist, const Memory& memory, PairAdjoint& adjoint) const {
    const PairScale scale = this->scale(pair, memory);
    const Vector3d n = height_factor(scale.margin) * frame.normal;
    const Vector3d v = twist.segment<3>(0), w = twist.segment<3>(3), v_h = twist.segment<3>(6),
                   w_h = twist.segment<3>(9);
    for (const int hull : hulls_of_[at(body)]) {
        const HullColumns points = columns(hull, pair, memory);
        for (int m = 0; m < points.size; ++m) {
            const Vector3d x = pose.rotation * points.point(m);
            const double q = n.dot(x) + height_factor(scale.margin) * frame.height;
            if (!(q < scale.margin)) continue;
            const BarrierTaylor value = barrier(q, scale.margin);
            const double rate = n.dot(v - v_h + w.cross(x) - w_h.cross(x + frame.apart));
            const Vector3d bar = value.second * rate * n + value.first * n.cross(w - w_h);
            adjoint.vertices.emplace_back(hulls_[at(hull)].first + m,
                                          scale.weight / length(pair) * (pose.rotation.transpose() * bar));
        }
    }
}

void Polyhedral::potential_vjp(const PairView& p, const Twists& twists, const Memory& memory,
                               PairAdjoint& adjoint) const {
    const PairMemory& cache = memory.pairs[at(p.index)];
    const Vector12d twist = scaled_twists(twists[at(p.a)], twists[at(p.b)], length(p.index));
    for (const HullPair& near : cache.near) {
        if (near.solution.status == PairStatus::Active) add_pair_vertices(p, near, twist, memory, adjoint);
    }
    for_each_half_space(p, cache, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool first) {
        add_height_vertices(frame, body, pose, p.index, first ? twist : swapped(twist), memory, adjoint);
    });
}

void Polyhedral::friction_vjp(const PairView& p, const PairView& start, const Twists& twists, const Memory& memory,
                              PairAdjoint& adjoint) const {
    const Vector12d twist = scaled_twists(twists[at(p.a)], twists[at(p.b)], length(p.index));
    std::vector<FrictionPoint> bars;
    for (const LaggedContact& contact : memory.pairs[at(p.index)].lagged) {
        bars.resize(contact.points.size());
        const ContactFriction friction(contact, start.pose_a, p.pose_a, start.pose_b, p.pose_b,
                                       slip_model(p.index, memory.dt, contact.half_space));
        const FrictionAdjoint direct = contact.swapped ? friction.vjp(twist.tail<6>(), twist.head<6>(), bars)
                                                       : friction.vjp(twist.head<6>(), twist.tail<6>(), bars);
        const ContactAdjoint back = pull_back(contact, direct, bars, scale(p.index, memory), options_.friction);
        adjoint.phi += direct.phi;
        StartAdjoint start_bar{direct.previous_a + back.start.a, direct.previous_b + back.start.b};
        start_bar.a.head<3>() /= length(p.index);
        start_bar.b.head<3>() /= length(p.index);
        adjoint.start.add(start_bar, !contact.swapped);
        for (std::size_t m = 0; m < contact.vertices.size(); ++m) {
            const bool on_first = contact.half_space ? !contact.swapped : m < contact.split;
            const Pose& pose = on_first ? start.pose_a : start.pose_b;
            adjoint.friction_vertices.emplace_back(contact.vertices[m].row,
                                                   pose.rotation.transpose() * back.vertices[m] / length(p.index));
        }
    }
}

void Polyhedral::pair_vjp(int index, std::span<const Twists> directions, PairwiseMemory& step) const {
    auto& memory = static_cast<Memory&>(step);
    const PairView now = view(index, memory.poses), start = view(index, memory.previous);
    for (std::size_t k = 0; k < directions.size(); ++k) {
        potential_vjp(now, directions[k], memory, memory.adjoint(index, k));
        friction_vjp(now, start, directions[k], memory, memory.adjoint(index, k));
    }
}

}  // namespace farfield::contact::polyhedral
