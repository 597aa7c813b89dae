// SPDX-License-Identifier: Apache-2.0
/// @file  One pair of bodies of the polyhedral model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"
#include "farfield/contact/polyhedral/barrier.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/math/ldlt.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;

constexpr double kEnergyTolerance = 1e-11;      // of Phi, on Newton's decrement
constexpr double kDerivativeTolerance = 1e-22;  // derivatives err by its square root
constexpr double kGapRounding = 1e-13;          // of the bodies' sizes and positions, taken off every gap

std::size_t at(int k) { return static_cast<std::size_t>(k); }

Pose relative(const Pose& a, const Pose& b) {
    return {a.rotation.transpose() * b.rotation, a.rotation.transpose() * (b.position - a.position)};
}

/// How a body has moved since the start of the step. Poses scaled.
BodyMotion motion(const Vector3d& origin, const Pose& start, const Pose& now, double length) {
    return {origin, now.rotation * start.rotation.transpose(), length * (now.position - start.position)};
}

Vector12d swapped(const Vector12d& x) {
    Vector12d out;
    out << x.tail<6>(), x.head<6>();
    return out;
}

Matrix12d swapped(const Matrix12d& m) {
    Matrix12d out;
    out << m.bottomRightCorner<6, 6>(), m.bottomLeftCorner<6, 6>(), m.topRightCorner<6, 6>(), m.topLeftCorner<6, 6>();
    return out;
}

/// The two motions in the order of the contact's own bodies.
struct ContactMotion {
    BodyMotion a, b;

    ContactMotion(const LaggedContact& contact, const Pose& start_a, const Pose& now_a, const Pose& start_b,
                  const Pose& now_b, double length)
        : a(contact.swapped ? motion(contact.origin_a, start_b, now_b, length)
                            : motion(contact.origin_a, start_a, now_a, length)),
          b(contact.swapped ? motion(contact.origin_b, start_a, now_a, length)
                            : motion(contact.origin_b, start_b, now_b, length)) {}
};

}  // namespace

void Polyhedral::refuse_touching(int pair) const {
    fail("Polyhedral: the convex hulls of bodies '", names_[at(pairs_[at(pair)].a)], "' and '",
         names_[at(pairs_[at(pair)].b)],
         "' touch or cross at the start of a step; expected a gap (concave meshes must be decomposed into convex "
         "parts)");
}

template <class Work>
void Polyhedral::for_each_half_space(const Placed& at_poses, const PairMemory& pair, Work&& work) const {
    const ContactPair& bodies = pairs_[at(at_poses.pair)];
    const auto first = static_cast<int>(half_spaces_[at(bodies.a)].size());
    for (const int k : pair.half_spaces) {
        const bool ground_is_a = k < first;
        const int ground = ground_is_a ? bodies.a : bodies.b, body = ground_is_a ? bodies.b : bodies.a;
        const HalfSpace& half = half_spaces_[at(ground)][at(ground_is_a ? k : k - first)];
        const Pose &ground_pose = ground_is_a ? *at_poses.a : *at_poses.b,
                   &pose = ground_is_a ? *at_poses.b : *at_poses.a;
        work(make_frame(half, ground_pose, pose, length_), body, pose, ground_is_a);
    }
}

void Polyhedral::pair_energy(const Placed& at_poses, bool rubs, Memory& memory, PairResult& result) const {
    PairMemory& mine = memory.pairs[at(at_poses.pair)];
    const PairScale scale = this->scale(at_poses.pair);
    result.finite = true;
    result.energy = result.friction = 0.0;
    const Pose b_in_a = relative(*at_poses.a, *at_poses.b);
    for (HullPair& near : mine.near) {
        const HullPairSolution solution = solve_hull_pair(columns(near.a, memory), columns(near.b, memory), b_in_a,
                                                          scale.margin, kEnergyTolerance, near.warm);
        result.finite = solution.status != PairStatus::Touching;
        if (!result.finite) return;
        result.energy += scale.weight * solution.value;
    }
    for_each_half_space(at_poses, mine, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool) {
        HullSums sums;
        for (const int hull : hulls_of_[at(body)])
            result.finite =
                add_hull_above(columns(hull, memory), frame, pose.rotation, scale.margin, sums) && result.finite;
        result.energy += scale.weight * sums.value;
    });
    if (!std::isfinite(result.energy)) result.finite = false;
    if (!result.finite || !rubs || mine.lagged.empty()) return;
    const Placed start = place(at_poses.pair, memory.previous);
    for (const LaggedContact& contact : mine.lagged) {
        const ContactMotion moved(contact, *start.a, *at_poses.a, *start.b, *at_poses.b, length_);
        const SlipModel slip = slip_model(memory.dt, contact.half_space);
        result.friction += contact.half_space ? fixed_friction_energy(contact.plane(), moved.a, moved.b, slip)
                                              : friction_energy(contact.plane(), moved.a, moved.b, slip);
    }
}

void Polyhedral::pair_derivatives(const Placed& at_poses, double coefficient, Memory& memory, PairResult& result,
                                  PairBlock& block) const {
    PairMemory& mine = memory.pairs[at(at_poses.pair)];
    const PairScale scale = this->scale(at_poses.pair);
    result.finite = true;
    result.energy = result.friction = 0.0;
    result.gradient.setZero();
    block.hessian.setZero();
    double gap = std::numeric_limits<double>::infinity();
    const Pose b_in_a = relative(*at_poses.a, *at_poses.b);
    for (HullPair& near : mine.near) {
        const HullPairSolution& solution = near.solution = solve_hull_pair(
            columns(near.a, memory), columns(near.b, memory), b_in_a, scale.margin, kDerivativeTolerance, near.warm);
        result.finite = solution.status != PairStatus::Touching;
        if (!result.finite) return;
        gap = std::min(gap, solution.gap);
        if (solution.status == PairStatus::Apart) continue;
        const WorldPair pair = in_world(solution, *at_poses.a, *at_poses.b);
        result.energy += scale.weight * solution.value;
        result.gradient += unscaled_gradient(pair_gradient(pair), scale.weight, length_);
        block.hessian += unscaled_hessian(pair_hessian(pair), scale.weight, length_);
    }
    for_each_half_space(at_poses, mine, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool ground_is_a) {
        HullSums sums;
        for (const int hull : hulls_of_[at(body)])
            result.finite =
                add_hull_above(columns(hull, memory), frame, pose.rotation, scale.margin, sums) && result.finite;
        gap = std::min(gap, sums.lowest / height_factor(scale.margin));
        if (!result.finite || sums.value == 0.0) return;
        const Vector12d gradient =
            unscaled_gradient(half_space_gradient(sums, frame, scale.margin), scale.weight, length_);
        const Matrix12d hessian =
            unscaled_hessian(half_space_hessian(sums, frame, scale.margin), scale.weight, length_);
        result.energy += scale.weight * sums.value;
        result.gradient += ground_is_a ? swapped(gradient) : gradient;
        block.hessian += ground_is_a ? swapped(hessian) : hessian;
    });
    if (!std::isfinite(result.energy)) result.finite = false;
    if (!result.finite) return;
    const double size = at_poses.a->position.norm() + at_poses.b->position.norm() + 1.0;
    result.gap = std::min(mine.box_gap, std::max(0.0, length_ * (gap - kGapRounding * size)));
    if (coefficient == 0.0 || mine.lagged.empty()) return;
    const Placed start = place(at_poses.pair, memory.previous);
    for (const LaggedContact& contact : mine.lagged) {
        const ContactMotion moved(contact, *start.a, *at_poses.a, *start.b, *at_poses.b, length_);
        const SlipModel slip = slip_model(memory.dt, contact.half_space);
        FrictionSum sum;
        if (contact.half_space) {
            add_fixed_friction(contact.plane(), moved.a, moved.b, slip, sum);
        } else {
            add_friction(contact.plane(), moved.a, moved.b, slip, sum);
        }
        result.friction += sum.energy;
        result.gradient += coefficient * (contact.swapped ? swapped(sum.gradient) : sum.gradient);
        block.hessian += coefficient * (contact.swapped ? swapped(sum.hessian) : sum.hessian);
    }
}

void Polyhedral::pair_lag(const Placed& at_poses, Memory& memory) const {
    PairMemory& mine = memory.pairs[at(at_poses.pair)];
    const PairScale scale = this->scale(at_poses.pair);
    const Pose b_in_a = relative(*at_poses.a, *at_poses.b);
    for (HullPair& near : mine.near) {
        const HullColumns a = columns(near.a, memory), b = columns(near.b, memory);
        const HullPairSolution solution = solve_hull_pair(a, b, b_in_a, scale.margin, kDerivativeTolerance, near.warm);
        if (solution.status == PairStatus::Touching) refuse_touching(at_poses.pair);
        if (solution.status == PairStatus::Apart) continue;
        mine.lagged.push_back(lag_hull_pair(solution, a, b, hulls_[at(near.a)].first, hulls_[at(near.b)].first,
                                            *at_poses.a, *at_poses.b, scale, options_.friction));
    }
    for_each_half_space(at_poses, mine, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool ground_is_a) {
        LaggedContact contact = begin_half_space(frame, scale, ground_is_a);
        for (const int hull : hulls_of_[at(body)]) {
            HullSums sums;
            if (!add_hull_above(columns(hull, memory), frame, pose.rotation, scale.margin, sums))
                refuse_touching(at_poses.pair);
            if (sums.value > 0.0)
                lag_hull_above(columns(hull, memory), hulls_[at(hull)].first, pose.rotation, scale, options_.friction,
                               contact);
        }
        if (!contact.points.empty()) mine.lagged.push_back(std::move(contact));
    });
}

void Polyhedral::add_pair_vertices(const Placed& at_poses, const HullPair& near, const Vector12d& twist,
                                   const Memory& memory, PairAdjoint& adjoint) const {
    const PairScale scale = this->scale(at_poses.pair);
    const WorldPair pair = in_world(near.solution, *at_poses.a, *at_poses.b);
    const Vector3d& n = pair.plane.normal;
    const Vector4d y = solve_ldlt(pair.hessian, Vector4d(plane_coupling(pair) * twist));
    const auto one_side = [&](int hull, double side, const Pose& pose, const Vector3d& from, const Vector6d& own) {
        const HullColumns points = columns(hull, memory);
        const Vector3d centre = pose.rotation.transpose() * from, local = pose.rotation.transpose() * n;
        for (int m = 0; m < points.size; ++m) {
            const Vector3d inner = points.point(m) - centre;
            const double q = side * (local.dot(inner) + pair.plane.offset);
            if (!(q < scale.margin)) continue;
            const BarrierTaylor p = barrier(q, scale.margin);
            const Vector3d x = pose.rotation * inner, w = own.tail<3>();
            const Vector3d moved = own.head<3>() + w.cross(x + from);
            const Vector3d bar =
                p.second * (n.dot(moved) - x.dot(y.head<3>()) - y[3]) * n - side * p.first * (y.head<3>() - n.cross(w));
            adjoint.vertices.emplace_back(hulls_[at(hull)].first + m,
                                          scale.weight / length_ * (pose.rotation.transpose() * bar));
        }
    };
    one_side(near.a, -1.0, *at_poses.a, pair.from_a, twist.head<6>());
    one_side(near.b, 1.0, *at_poses.b, pair.from_b, twist.tail<6>());
}

void Polyhedral::add_height_vertices(const HalfSpaceFrame& frame, int body, const Pose& pose, int pair,
                                     const Vector12d& twist, const Memory& memory, PairAdjoint& adjoint) const {
    const PairScale scale = this->scale(pair);
    const Vector3d n = height_factor(scale.margin) * frame.normal;
    const Vector3d v = twist.segment<3>(0), w = twist.segment<3>(3), v_h = twist.segment<3>(6),
                   w_h = twist.segment<3>(9);
    for (const int hull : hulls_of_[at(body)]) {
        const HullColumns points = columns(hull, memory);
        for (int m = 0; m < points.size; ++m) {
            const Vector3d x = pose.rotation * points.point(m);
            const double q = n.dot(x) + height_factor(scale.margin) * frame.height;
            if (!(q < scale.margin)) continue;
            const BarrierTaylor p = barrier(q, scale.margin);
            const double rate = n.dot(v - v_h + w.cross(x) - w_h.cross(x + frame.apart));
            const Vector3d bar = p.second * rate * n + p.first * n.cross(w - w_h);
            adjoint.vertices.emplace_back(hulls_[at(hull)].first + m,
                                          scale.weight / length_ * (pose.rotation.transpose() * bar));
        }
    }
}

void Polyhedral::pair_contact_vjp(const Placed& at_poses, const Twists& twists, const Memory& memory,
                                  PairAdjoint& adjoint) const {
    const PairMemory& mine = memory.pairs[at(at_poses.pair)];
    const ContactPair& bodies = pairs_[at(at_poses.pair)];
    const Vector12d twist = scaled_twists(twists[at(bodies.a)], twists[at(bodies.b)], length_);
    for (const HullPair& near : mine.near) {
        if (near.solution.status == PairStatus::Active) add_pair_vertices(at_poses, near, twist, memory, adjoint);
    }
    for_each_half_space(at_poses, mine, [&](const HalfSpaceFrame& frame, int body, const Pose& pose, bool ground_is_a) {
        add_height_vertices(frame, body, pose, at_poses.pair, ground_is_a ? swapped(twist) : twist, memory, adjoint);
    });
}

void Polyhedral::pair_friction_vjp(const Placed& at_poses, const Placed& start, const Twists& twists,
                                   const Memory& memory, PairAdjoint& adjoint) const {
    const ContactPair& bodies = pairs_[at(at_poses.pair)];
    const PairScale scale = this->scale(at_poses.pair);
    std::vector<FrictionPoint> bars;
    for (const LaggedContact& contact : memory.pairs[at(at_poses.pair)].lagged) {
        const ContactMotion moved(contact, *start.a, *at_poses.a, *start.b, *at_poses.b, length_);
        const SlipModel slip = slip_model(memory.dt, contact.half_space);
        const Vector6d &twist_a = twists[at(contact.swapped ? bodies.b : bodies.a)],
                       &twist_b = twists[at(contact.swapped ? bodies.a : bodies.b)];
        bars.resize(contact.points.size());
        const FrictionAdjoint friction =
            contact.half_space ? fixed_friction_vjp(contact.plane(), moved.a, moved.b, slip, twist_a, twist_b, bars)
                               : friction_vjp(contact.plane(), moved.a, moved.b, slip, twist_a, twist_b, bars);
        const StartAdjoint back = pull_back(contact, friction, bars, scale, options_.friction);
        adjoint.friction_phi += friction.phi;
        (contact.swapped ? adjoint.previous_b : adjoint.previous_a) += friction.previous_a + back.a;
        (contact.swapped ? adjoint.previous_a : adjoint.previous_b) += friction.previous_b + back.b;
        for (std::size_t m = 0; m < contact.vertices.size(); ++m) {
            const bool on_first = contact.half_space ? !contact.swapped : m < contact.split;
            const Pose& pose = on_first ? *start.a : *start.b;
            adjoint.friction_vertices.emplace_back(contact.vertices[m].row,
                                                   pose.rotation.transpose() * back.vertices[m]);
        }
    }
}

}  // namespace farfield::contact::polyhedral
