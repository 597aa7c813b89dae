// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/memory.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::contact::softmin {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix12d = Eigen::Matrix<double, 12, 12>;
using Rows = Eigen::Matrix<double, 6, 12>;

/// A side in the world: the surface belongs to a body at (R, o), the queries to one at s; r = s - o.
/// Both the displacement (a, b) and the velocity (u, w) of the querying body relative to the other, in the frame of the surface, are
///     a = R^T (v_m - v_c + r x w_m),   b = R^T (w_m - w_c)
/// of the charts or twists (v, w) of both bodies.
struct SideFrame {
    const Pose& surface;
    Vector3d r;
    Vector6d surface_twist, query_twist;
    int c, m;  ///< where the columns of the surface's and the querying body begin

    SideFrame(const SoftPair& pair, const Side& side, const Poses& poses, const Twists& twists)
        : surface(poses[at(side.first_asks ? pair.bodies.b : pair.bodies.a)]),
          r(poses[at(side.first_asks ? pair.bodies.a : pair.bodies.b)].position - surface.position),
          surface_twist(twists[at(side.first_asks ? pair.bodies.b : pair.bodies.a)]),
          query_twist(twists[at(side.first_asks ? pair.bodies.a : pair.bodies.b)]),
          c(side.first_asks ? 6 : 0),
          m(side.first_asks ? 0 : 6) {}

    [[nodiscard]] Vector6d relative(const Vector6d& of_surface, const Vector6d& of_query) const {
        const Vector3d w_m = of_query.tail<3>();
        Vector6d out;
        out << surface.rotation.transpose() * (of_query.head<3>() - of_surface.head<3>() + r.cross(w_m)),
            surface.rotation.transpose() * (w_m - of_surface.tail<3>());
        return out;
    }
    [[nodiscard]] Vector6d relative_velocity() const { return relative(surface_twist, query_twist); }
    /// (a, b) by the charts, and (u, w) by the twists.
    [[nodiscard]] Rows relative() const {
        const Matrix3d turn = surface.rotation.transpose();
        Rows out = Rows::Zero();
        out.block<3, 3>(0, m) = turn;
        out.block<3, 3>(0, c) = -turn;
        out.block<3, 3>(0, m + 3) = turn * hat(r);
        out.block<3, 3>(3, m + 3) = turn;
        out.block<3, 3>(3, c + 3) = -turn;
        return out;
    }
    /// (u, w) by the charts.
    [[nodiscard]] Rows velocity_by_pose() const {
        const Matrix3d turn = surface.rotation.transpose();
        const Vector3d w_m = query_twist.tail<3>(), w = w_m - surface_twist.tail<3>();
        const Vector3d y = query_twist.head<3>() - surface_twist.head<3>() + r.cross(w_m);
        Rows out = Rows::Zero();
        out.block<3, 3>(0, c + 3) = turn * hat(y);
        out.block<3, 3>(0, m) = -turn * hat(w_m);
        out.block<3, 3>(0, c) = turn * hat(w_m);
        out.block<3, 3>(3, c + 3) = turn * hat(w);
        return out;
    }
    /// Bars of (a, b) of the charts, or of (u, w) of the twists, on to both bodies.
    void add_relative_bar(const Vector6d& bar, Vector12d& out) const {
        const Vector3d by_a = surface.rotation * bar.head<3>(), by_b = surface.rotation * bar.tail<3>();
        out.segment<3>(m) += by_a;
        out.segment<3>(c) -= by_a;
        out.segment<3>(m + 3) += by_a.cross(r) + by_b;
        out.segment<3>(c + 3) -= by_b;
    }
    /// Bars of (u, w), that of velocities `of_surface` and `of_query` kept in the world, on to the charts of both bodies.
    void add_velocity_bar(const Vector6d& of_surface, const Vector6d& of_query, const Vector6d& bar,
                          Vector12d& out) const {
        const Vector3d by_u = surface.rotation * bar.head<3>(), by_w = surface.rotation * bar.tail<3>();
        const Vector3d w_m = of_query.tail<3>(), w = w_m - of_surface.tail<3>();
        const Vector3d y = of_query.head<3>() - of_surface.head<3>() + r.cross(w_m), moved = w_m.cross(by_u);
        out.segment<3>(c + 3) += by_u.cross(y) + by_w.cross(w);
        out.segment<3>(m) += moved;
        out.segment<3>(c) -= moved;
    }
    /// A wrench on the querying body, about o in the frame of the surface, as wrenches on both bodies in the world.
    [[nodiscard]] Vector12d on_bodies(const Vector6d& wrench) const {
        const Vector3d force = surface.rotation * wrench.head<3>(), torque = surface.rotation * wrench.tail<3>();
        Vector12d out;
        out.segment<3>(m) = force;
        out.segment<3>(m + 3) = torque - r.cross(force);
        out.segment<3>(c) = -force;
        out.segment<3>(c + 3) = -torque;
        return out;
    }
    /// The same for columns of derivatives.
    [[nodiscard]] Matrix12d on_bodies(const Rows& rows) const {
        const Eigen::Matrix<double, 3, 12> force = surface.rotation * rows.topRows<3>(),
                                           torque = surface.rotation * rows.bottomRows<3>();
        Matrix12d out;
        out.middleRows<3>(m) = force;
        out.middleRows<3>(m + 3) = torque - hat(r) * force;
        out.middleRows<3>(c) = -force;
        out.middleRows<3>(c + 3) = -torque;
        return out;
    }
    /// What on_bodies(wrench) changes by when the bodies move and the wrench keeps its components.
    void add_frame_terms(const Vector6d& wrench, Matrix12d& by_pose) const {
        const Matrix3d force = hat(surface.rotation * wrench.head<3>()),
                       torque = hat(surface.rotation * wrench.tail<3>());
        by_pose.block<3, 3>(m, c + 3) -= force;
        by_pose.block<3, 3>(m + 3, c + 3) -= torque - hat(r) * force;
        by_pose.block<3, 3>(m + 3, m) += force;
        by_pose.block<3, 3>(m + 3, c) -= force;
        by_pose.block<3, 3>(c, c + 3) += force;
        by_pose.block<3, 3>(c + 3, c + 3) += torque;
    }
};

RelativePose relative_pose(const Pose& surface, const Pose& query) {
    const Matrix3d turn = surface.rotation.transpose();
    return {turn * query.rotation, turn * (query.position - surface.position)};
}

}  // namespace

SoftminMemory::SoftminMemory(const Softmin& law, ThreadPool* pool) : law_(law), pool_(pool) {
    numbers_.resize(law.pairs().size());
    evaluation(0);
}

void SoftminMemory::restore(const std::vector<double>& values) {
    if (!values.empty()) fail("softmin: memory of ", values.size(), " numbers, expected none");
}

SoftminMemory::Evaluation& SoftminMemory::evaluation(int kept) {
    while (kept_.size() <= at(kept)) {
        Evaluation& made = kept_.emplace_back(law_.pairs().size());
        for (std::size_t k = 0; k < made.size(); ++k) {
            made[k].sides.resize(law_.pairs()[k].sides.size());
            made[k].sums.resize(law_.pairs()[k].sides.size());
        }
    }
    return kept_[at(kept)];
}

void SoftminMemory::begin(const Parameters& parameters) {
    contact_stiffness_ = parameters.contact_stiffness;
    friction_ = parameters.friction;
    const SoftminOptions& options = law_.options();
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
        const SoftPair& pair = law_.pairs()[k];
        numbers_[k] = {
            .stiffness = contact_stiffness_ * pair.stiffness,
            .friction = pair.bodies.friction.value_or(std::max(friction_[pair.bodies.a], friction_[pair.bodies.b])),
            .sharing = pair.sharing,
            .ramp = pair.ramp,
            .damping_speed = options.damping_speed,
            .slip_speed = options.slip_speed,
            .printed_damping = options.damping == DampingForm::Paper};
    }
}

template <class Work>
void SoftminMemory::for_each_pair(const Work& work) {
    const int count = static_cast<int>(numbers_.size());
    if (pool_ && count > 1) {
        pool_->run(count, [&](int k) { work(at(k)); });
    } else {
        for (int k = 0; k < count; ++k) work(at(k));
    }
}

void SoftminMemory::evaluate(std::size_t index, const Poses& poses, const Twists& twists, bool derivatives,
                             PairWork& work) {
    if (law_.options().forces != ForceForm::MeanPlane)
        return evaluate_by_formula(index, poses, twists, derivatives, work);
    const SoftPair& pair = law_.pairs()[index];
    work.least = std::numeric_limits<double>::infinity();
    work.deep = false;
    work.weight = work.soft = 0.0;
    work.wrench.setZero();
    for (std::size_t s = 0; s < pair.sides.size(); ++s) {
        const Side& side = pair.sides[s];
        const Pose &first = poses[at(pair.bodies.a)], &second = poses[at(pair.bodies.b)];
        double least = work.least;
        find_field(*side.queries, *side.surface,
                   side.first_asks ? relative_pose(second, first) : relative_pose(first, second), pair.cut, derivatives,
                   least, work.sides[s]);
        work.deep = work.deep || (least < work.least && least < -0.5 * side.surface->inradius);
        work.least = least;
    }
    for (std::size_t s = 0; s < pair.sides.size(); ++s) {
        const SideFrame frame(pair, pair.sides[s], poses, twists);
        sum_forces(work.sides[s], pair.sides[s].queries->radius, numbers_[index], frame.relative_velocity(),
                   {work.least, pair.cut}, work.sums[s]);
        work.weight += work.sums[s].weight;
    }
    if (!(work.weight > 0.0)) return;
    for (std::size_t s = 0; s < pair.sides.size(); ++s) {
        work.soft += work.sums[s].phi / work.weight;
        const SideFrame frame(pair, pair.sides[s], poses, twists);
        work.wrench += frame.on_bodies(Vector6d(work.sums[s].wrench / work.weight));
    }
}

void SoftminMemory::linearize(std::size_t index, const Poses& poses, const Twists& twists, const PairWork& work,
                              ForceBlock& block) const {
    if (law_.options().forces != ForceForm::MeanPlane) {
        block = work.block;
        return;
    }
    const SoftPair& pair = law_.pairs()[index];
    const ForceNumbers& numbers = numbers_[index];
    const SoftCut cut{work.least, pair.cut};
    block = ForceBlock{.a = pair.bodies.a, .b = pair.bodies.b, .gap = work.least};
    if (!(work.weight > 0.0)) return;
    Vector12d slope = Vector12d::Zero(), by_friction = Vector12d::Zero();
    for (std::size_t s = 0; s < pair.sides.size(); ++s) {
        const SideFrame frame(pair, pair.sides[s], poses, twists);
        const Vector6d velocity = frame.relative_velocity();
        Eigen::Matrix<double, 6, 6> by_motion, by_velocity;
        Vector6d friction_wrench;
        for (int k = 0; k < 6; ++k) {  // the power of a unit motion is one entry of the wrench
            SideBars bars;
            sum_bars(work.sides[s], pair.sides[s].queries->radius, numbers, velocity, Vector6d::Unit(k), 0.0, cut,
                     bars);
            by_motion.row(k) = bars.by_motion.transpose() / work.weight;
            by_velocity.row(k) = bars.by_velocity.transpose() / work.weight;
            friction_wrench[k] = bars.by_friction / work.weight;
        }
        const Rows relative = frame.relative();
        const Rows moved = by_motion * relative + by_velocity * frame.velocity_by_pose(), sped = by_velocity * relative;
        block.by_pose += frame.on_bodies(moved);
        block.by_twist += frame.on_bodies(sped);
        frame.add_frame_terms(work.sums[s].wrench / work.weight, block.by_pose);
        slope += relative.transpose() * (sum_slopes(work.sides[s], cut) / work.weight);
        by_friction += frame.on_bodies(friction_wrench);
    }
    block.by_pose += work.wrench * (slope / numbers.sharing).transpose();
    block.wrench = work.wrench;
    block.friction = numbers.friction * by_friction;
    block.by_stiffness = work.wrench / contact_stiffness_;
    set_friction_share(pair.bodies, by_friction, block);
}

void SoftminMemory::pull_back(std::size_t index, const Poses& poses, const Twists& twists, const Twists& direction,
                              PairWork& work) const {
    const SoftPair& pair = law_.pairs()[index];
    const ForceNumbers& numbers = numbers_[index];
    work.pose_bar.setZero();
    work.twist_bar.setZero();
    work.friction_bar = work.stiffness_bar = 0.0;
    if (!(work.weight > 0.0)) return;
    Vector12d both;
    both << direction[at(pair.bodies.a)], direction[at(pair.bodies.b)];
    const double mean = work.wrench.dot(both);
    work.stiffness_bar = mean / contact_stiffness_;
    for (std::size_t s = 0; s < pair.sides.size(); ++s) {
        if (!(work.sums[s].weight > 0.0)) continue;
        const SideFrame frame(pair, pair.sides[s], poses, twists);
        const Vector6d of_surface = both.segment<6>(frame.c), of_query = both.segment<6>(frame.m);
        SideBars bars;
        sum_bars(work.sides[s], pair.sides[s].queries->radius, numbers, frame.relative_velocity(),
                 frame.relative(of_surface, of_query), mean, {work.least, pair.cut}, bars);
        const Vector6d by_velocity = bars.by_velocity / work.weight;
        frame.add_relative_bar(bars.by_motion / work.weight, work.pose_bar);
        frame.add_relative_bar(by_velocity, work.twist_bar);
        frame.add_velocity_bar(frame.surface_twist, frame.query_twist, by_velocity, work.pose_bar);
        frame.add_velocity_bar(of_surface, of_query, work.sums[s].wrench / work.weight, work.pose_bar);
        work.friction_bar += bars.by_friction / work.weight;
    }
}

double SoftminMemory::first_share(const ContactPair& pair) const {
    const double difference = friction_[pair.a] - friction_[pair.b];  // the larger counts
    return difference > 0.0 ? 1.0 : difference < 0.0 ? 0.0 : 0.5;
}

void SoftminMemory::set_friction_share(const ContactPair& pair, const Vector12d& by_friction, ForceBlock& block) const {
    block.by_friction.setZero();
    if (pair.friction) return;
    const double share = first_share(pair);
    block.by_friction << share * by_friction, (1.0 - share) * by_friction;
}

void SoftminMemory::add_up(const Evaluation& found, std::size_t bodies, std::vector<Vector6d>& out) {
    out.assign(bodies, Vector6d::Zero());
    report_ = {};
    for (std::size_t k = 0; k < found.size(); ++k) {
        const ContactPair& pair = law_.pairs()[k].bodies;
        const PairWork& work = found[k];
        const ForceNumbers& numbers = numbers_[k];
        out[at(pair.a)] += work.wrench.head<6>();
        out[at(pair.b)] += work.wrench.tail<6>();
        const double x = -work.least / numbers.ramp;
        const double depth = numbers.ramp * (std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
        report_.stored += numbers.stiffness * depth * (0.5 * depth + numbers.ramp);  // the tail stores too
        report_.least = std::min(report_.least, work.least);
        if (work.deep && report_.deep_a < 0) {
            report_.deep_a = pair.a;
            report_.deep_b = pair.b;
        }
    }
}

void SoftminMemory::wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out, int kept) {
    Evaluation& found = evaluation(std::max(kept, 0));
    for_each_pair([&](std::size_t k) { evaluate(k, poses, twists, kept >= 0, found[k]); });
    add_up(found, poses.size(), out);
}

void SoftminMemory::vjp(int kept, const Poses& poses, const Twists& twists, const Twists& direction, ForceBars& bars) {
    Evaluation& found = evaluation(kept);
    bars.set_zero(poses.size());
    if (law_.options().forces != ForceForm::MeanPlane) {
        for (const PairWork& work : found) add_vjp(work.block, direction, bars);
        return;
    }
    for_each_pair([&](std::size_t k) { pull_back(k, poses, twists, direction, found[k]); });
    for (std::size_t k = 0; k < found.size(); ++k) {
        const ContactPair& pair = law_.pairs()[k].bodies;
        bars.poses[at(pair.a)] += found[k].pose_bar.head<6>();
        bars.poses[at(pair.b)] += found[k].pose_bar.tail<6>();
        bars.twists[at(pair.a)] += found[k].twist_bar.head<6>();
        bars.twists[at(pair.b)] += found[k].twist_bar.tail<6>();
        bars.contact_stiffness += found[k].stiffness_bar;
        if (pair.friction) continue;
        const double share = first_share(pair);
        bars.friction[pair.a] += share * found[k].friction_bar;
        bars.friction[pair.b] += (1.0 - share) * found[k].friction_bar;
    }
}

void SoftminMemory::linearize(const Poses& poses, const Twists& twists, ForceLinearization& out) {
    Evaluation& found = evaluation(0);
    out.blocks.resize(found.size());
    for_each_pair([&](std::size_t k) {
        evaluate(k, poses, twists, true, found[k]);
        linearize(k, poses, twists, found[k], out.blocks[k]);
    });
    add_up(found, poses.size(), out.wrench);
}

}  // namespace farfield::contact::softmin
