// SPDX-License-Identifier: Apache-2.0
/// @file  What is evaluated by the formula itself: forces of single planes, printed forms, second derivatives.
#include "farfield/base/index.hpp"
#include "farfield/contact/softmin/formula.hpp"
#include "farfield/contact/softmin/memory.hpp"

namespace farfield::contact::softmin {
namespace {

constexpr int kMotion = 24;  // charts of a and b, then their twists

/// A body at a pose and twist, both with the derivatives that `slope(k)` gives for entry k of (chart, twist).
template <class S, class Slope>
MovingBody<S> moving(const Pose& pose, const Vector6d& twist, const Slope& slope) {
    const Matrix3<S> rotation = pose.rotation.template cast<S>();
    // exp(w) R to second order: enough for two derivatives
    const Vector3<S> w(slope(3), slope(4), slope(5));
    Matrix3<S> hat;
    hat << S(0.0), -w[2], w[1], w[2], S(0.0), -w[0], -w[1], w[0], S(0.0);
    MovingBody<S> out;
    out.rotation = rotation + hat * rotation + S(0.5) * (hat * (hat * rotation));
    for (int k = 0; k < 3; ++k) {
        out.position[k] = S(pose.position[k]) + slope(k);
        out.velocity[k] = S(twist[k]) + slope(6 + k);
        out.spin[k] = S(twist[3 + k]) + slope(9 + k);
    }
    return out;
}

/// Entry k of (chart, twist) of the first or second body, among the derivatives.
int entry(bool second, int k) { return (k < 6 ? k : 6 + k) + (second ? 6 : 0); }

}  // namespace

void SoftminMemory::evaluate_by_formula(std::size_t index, const Poses& poses, const Twists& twists, bool derivatives,
                                        PairWork& work) {
    using Number = Dual<double, kMotion + 1>;
    const SoftPair& pair = law_.pairs()[index];
    const Pose &first = poses[at(pair.bodies.a)], &second = poses[at(pair.bodies.b)];
    const Vector6d &twist_a = twists[at(pair.bodies.a)], &twist_b = twists[at(pair.bodies.b)];
    const auto none = [](int) { return 0.0; };
    const FormulaNumbers<double> values(numbers_[index]);
    const PairForce<double> plain =
        pair_force(pair, law_.options().forces, values, moving<double>(first, twist_a, none),
                   moving<double>(second, twist_b, none));
    work.wrench = plain.wrench;
    work.least = work.soft = plain.soft;
    work.deep = false;
    if (!derivatives) return;
    ForceBlock& block = work.block;
    const auto unit = [](int k) {
        Number x;
        x.slope[at(k)] = 1.0;
        return x;
    };
    FormulaNumbers<Number> numbers(numbers_[index]);
    numbers.friction = numbers.friction + unit(kMotion);
    const PairForce<Number> found =
        pair_force(pair, law_.options().forces, numbers,
                   moving<Number>(first, twist_a, [&](int k) { return unit(entry(false, k)); }),
                   moving<Number>(second, twist_b, [&](int k) { return unit(entry(true, k)); }));
    Vector12d by_friction;
    for (int i = 0; i < 12; ++i) {
        for (int k = 0; k < 12; ++k) {
            block.by_pose(i, k) = found.wrench[i].slope[at(k)];
            block.by_twist(i, k) = found.wrench[i].slope[at(12 + k)];
        }
        by_friction[i] = found.wrench[i].slope[kMotion];
    }
    block.a = pair.bodies.a;
    block.b = pair.bodies.b;
    block.gap = work.least;
    block.wrench = work.wrench;
    block.friction = numbers_[index].friction * by_friction;
    block.by_stiffness = work.wrench / contact_stiffness_;
    set_friction_share(pair.bodies, by_friction, block);
}

ForceBlock SoftminMemory::second_derivative(std::size_t index, const Poses& poses, const Twists& twists,
                                            const Vector12d& moved, const Vector12d& sped) const {
    using Along = Dual<double, 1>;  // along the motion
    using Number = Dual<Along, kMotion>;
    const SoftPair& pair = law_.pairs()[index];
    // The chart of each body is that at the place the motion has led to: exp(w) exp(s w_0) R.
    const auto place = [&](const Pose& pose, const Vector6d& twist, bool second) {
        const int body = second ? 6 : 0;
        const MovingBody<Along> there = moving<Along>(pose, twist, [&](int k) {
            Along s;
            s.slope[0] = k < 6 ? moved[body + k] : sped[body + k - 6];
            return s;
        });
        const auto unit = [&](int k) {
            Number x;
            x.slope[at(entry(second, k))] = Along(1.0);
            return x;
        };
        const auto lift = [](const Along& s) { return Number(s); };
        const Vector3<Number> w(unit(3), unit(4), unit(5));
        Matrix3<Number> hat, rotation;
        hat << Number(0.0), -w[2], w[1], w[2], Number(0.0), -w[0], -w[1], w[0], Number(0.0);
        MovingBody<Number> out;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) rotation(i, j) = lift(there.rotation(i, j));
            out.position[i] = lift(there.position[i]) + unit(i);
            out.velocity[i] = lift(there.velocity[i]) + unit(6 + i);
            out.spin[i] = lift(there.spin[i]) + unit(9 + i);
        }
        out.rotation = rotation + hat * rotation;
        return out;
    };
    const PairForce<Number> found = pair_force(pair, law_.options().forces, FormulaNumbers<Number>(numbers_[index]),
                                               place(poses[at(pair.bodies.a)], twists[at(pair.bodies.a)], false),
                                               place(poses[at(pair.bodies.b)], twists[at(pair.bodies.b)], true));
    ForceBlock out{.a = pair.bodies.a, .b = pair.bodies.b};
    for (int i = 0; i < 12; ++i) {
        for (int k = 0; k < 12; ++k) {
            out.by_pose(i, k) = found.wrench[i].slope[at(k)].slope[0];
            out.by_twist(i, k) = found.wrench[i].slope[at(12 + k)].slope[0];
        }
    }
    return out;
}

}  // namespace farfield::contact::softmin
