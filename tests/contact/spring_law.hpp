// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The simplest force law: damped springs between points of two bodies.
#include <Eigen/Dense>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/contact/force_law.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::testing {

using contact::ForceBlock;
using contact::ForceLinearization;
using contact::Twists;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

struct Spring {
    int a = 0, b = 0;
    Vector3d point_a, point_b;  ///< body frames [m]
    double length = 0.3;        ///< at rest [m]
};

class Springs;

/// Force on A: -(k (d - L) + c n . s) n with u = x_a - x_b, d = |u|, n = u/d, s = du/dt; k = 5 contact_stiffness, c = max friction.
class SpringStep final : public contact::ContactMemory, public contact::ForceStep {
 public:
    SpringStep(const std::vector<Spring>& springs, ThreadPool* pool) : springs_(springs), pool_(pool) {}
    [[nodiscard]] std::vector<double> save() const override { return {}; }
    void restore(const std::vector<double>& values) override {
        if (!values.empty()) fail("springs: ", values.size(), " values, expected none");
    }

    void wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out, int kept = -1) override {
        kept_.resize(std::max(kept_.size(), at(std::max(kept, 0)) + 1));
        linearize(poses, twists, kept_[at(std::max(kept, 0))]);
        out = kept_[at(std::max(kept, 0))].wrench;
    }
    void vjp(int kept, const Poses& poses, const Twists&, const Twists& direction, contact::ForceBars& bars) override {
        bars.set_zero(poses.size());
        for (const ForceBlock& block : kept_[at(kept)].blocks) add_vjp(block, direction, bars);
    }

    void linearize(const Poses& poses, const Twists& twists, ForceLinearization& out) override {
        poses_ = poses;
        twists_ = twists;
        out.blocks.resize(springs_.size());
        forces_.resize(springs_.size());
        const auto one = [&](int k) { forces_[at(k)] = linearize(k, out.blocks[at(k)]); };
        if (pool_) {
            pool_->run(static_cast<int>(springs_.size()), one);
        } else {
            for (int k = 0; k < static_cast<int>(springs_.size()); ++k) one(k);
        }
        out.wrench.assign(poses.size(), Vector6d::Zero());
        for (std::size_t k = 0; k < springs_.size(); ++k) {  // in order, whatever the threads
            out.wrench[at(springs_[k].a)] += forces_[k].head<6>();
            out.wrench[at(springs_[k].b)] += forces_[k].tail<6>();
        }
    }

    void add_number_vjp(const Poses&, const Twists&, const Twists&, VectorXd&) override {}
    [[nodiscard]] const contact::ForceReport& report() const override { return report_; }

    VectorXd friction;
    double stiffness = 1.0;

 private:
    static std::size_t at(int k) { return static_cast<std::size_t>(k); }
    static constexpr double kStiffness = 5.0;  // [N/m]

    /// Where the ends are and how they move.
    struct Ends {
        Vector3d arm_a, arm_b, n, s;
        double d;

        Ends(const Spring& spring, const Poses& poses, const Twists& twists)
            : arm_a(poses[at(spring.a)].rotation * spring.point_a),
              arm_b(poses[at(spring.b)].rotation * spring.point_b) {
            const Vector3d u = poses[at(spring.a)].position + arm_a - poses[at(spring.b)].position - arm_b;
            d = u.norm();
            n = u / d;
            s = slip(spring, twists);
        }
        [[nodiscard]] Vector3d slip(const Spring& spring, const Twists& twists) const {
            const Vector6d &a = twists[at(spring.a)], &b = twists[at(spring.b)];
            return a.head<3>() + a.tail<3>().cross(arm_a) - b.head<3>() - b.tail<3>().cross(arm_b);
        }
    };

    [[nodiscard]] Eigen::Matrix<double, 12, 1> linearize(int k, ForceBlock& block) const {
        const Spring& spring = springs_[at(k)];
        const Ends e(spring, poses_, twists_);
        const double stiff = stiffness * kStiffness, damping = std::max(friction[spring.a], friction[spring.b]);
        const double tension = stiff * (e.d - spring.length) + damping * e.n.dot(e.s);
        const Vector3d force = -tension * e.n, w_a = twists_[at(spring.a)].tail<3>(),
                       w_b = twists_[at(spring.b)].tail<3>();
        using Rows = Eigen::Matrix<double, 3, 12>;
        Rows du, ds, turn_a = Rows::Zero(), turn_b = Rows::Zero();  // by the charts
        du << Matrix3d::Identity(), -hat(e.arm_a), -Matrix3d::Identity(), hat(e.arm_b);
        ds << Matrix3d::Zero(), -hat(w_a) * hat(e.arm_a), Matrix3d::Zero(), hat(w_b) * hat(e.arm_b);
        turn_a.middleCols<3>(3) = -hat(e.arm_a);
        turn_b.middleCols<3>(9) = -hat(e.arm_b);
        const Rows dn = (Matrix3d::Identity() - e.n * e.n.transpose()) / e.d * du;
        const Rows by_pose =
            -e.n * (stiff * e.n.transpose() * du + damping * (e.s.transpose() * dn + e.n.transpose() * ds)) -
            tension * dn;
        const Rows by_twist = -e.n * (damping * e.n.transpose() * du);  // s is to twists what u is to the charts
        const auto fill = [&](const Rows& d_force, const Rows& d_arm_a, const Rows& d_arm_b, auto& out) {
            out << d_force, hat(e.arm_a) * d_force - hat(force) * d_arm_a, -d_force,
                -hat(e.arm_b) * d_force + hat(force) * d_arm_b;
        };
        block.a = spring.a;
        block.b = spring.b;
        fill(by_pose, turn_a, turn_b, block.by_pose);
        fill(by_twist, Rows::Zero(), Rows::Zero(), block.by_twist);
        const auto wrench_of = [&](const Vector3d& f) {
            Eigen::Matrix<double, 12, 1> both;
            both << f, e.arm_a.cross(f), -f, -e.arm_b.cross(f);
            return both;
        };
        const bool first = friction[spring.a] >= friction[spring.b];
        block.by_friction.setZero();
        block.by_friction.col(first ? 0 : 1) = wrench_of(-e.n.dot(e.s) * e.n);
        block.by_stiffness = wrench_of(-kStiffness * (e.d - spring.length) * e.n);
        return wrench_of(force);
    }

    const std::vector<Spring>& springs_;
    ThreadPool* pool_;
    Poses poses_;
    Twists twists_;
    std::vector<Eigen::Matrix<double, 12, 1>> forces_;
    std::vector<ForceLinearization> kept_;
    contact::ForceReport report_;
};

class Springs final : public contact::ForceLaw {
 public:
    explicit Springs(std::vector<Spring> springs) : springs_(std::move(springs)) {}
    [[nodiscard]] std::unique_ptr<contact::ContactMemory> make_memory(ThreadPool* pool = nullptr) const override {
        return std::make_unique<SpringStep>(springs_, pool);
    }
    contact::ForceStep& begin_step(const Parameters& parameters, contact::ContactMemory& memory) const override {
        auto& step = dynamic_cast<SpringStep&>(memory);
        step.friction = parameters.friction;
        step.stiffness = parameters.contact_stiffness;
        return step;
    }
    [[nodiscard]] std::vector<std::string> number_names() const override { return {}; }
    [[nodiscard]] std::vector<contact::PairStiffness> pair_stiffness(const Parameters&) const override { return {}; }

 private:
    std::vector<Spring> springs_;
};

}  // namespace farfield::testing
