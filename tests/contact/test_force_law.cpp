// SPDX-License-Identifier: Apache-2.0
/// @file  The door for force laws, proven by the simplest one: damped springs between points of two bodies.
#include <doctest/doctest.h>

#include "contact/contact_scene.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/force_law.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ForceBlock;
using contact::ForceLinearization;
using contact::Twists;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

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

    void wrench(const Poses& poses, const Twists& twists, std::vector<Vector6d>& out) override {
        linearize(poses, twists, unused_);
        out = unused_.wrench;
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
    ForceLinearization unused_;
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

struct Setup {
    Springs law{{}};
    Poses poses{3};
    Twists twists{3};
    Parameters parameters;

    explicit Setup(Random& random) {
        std::vector<Spring> springs;
        for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2), std::pair(1, 2)})
            springs.push_back({a, b, 0.2 * normal_vector(random, 3), 0.2 * normal_vector(random, 3)});
        law = Springs(springs);
        for (std::size_t body = 0; body < 3; ++body) {
            poses[body] = {random_rotation(random), normal_vector(random, 3)};
            twists[body] = normal_vector(random, 6);
        }
        parameters.contact_stiffness = 1.7;
        parameters.friction = Vector3d(0.4, 0.9, 0.6);
    }

    [[nodiscard]] ForceLinearization at(const Poses& p, const Twists& v) const {
        const auto memory = law.make_memory();
        ForceLinearization out;
        law.begin_step(parameters, *memory).linearize(p, v, out);
        return out;
    }
};

Twists with(const Twists& twists, const VectorXd& change) {
    Twists out = twists;
    for (std::size_t body = 0; body < out.size(); ++body) out[body] += change.segment<6>(6 * static_cast<int>(body));
    return out;
}

/// All blocks as one matrix.
Eigen::MatrixXd assembled(const ForceLinearization& d, const Eigen::Matrix<double, 12, 12> ForceBlock::*part) {
    const auto size = 6 * static_cast<Eigen::Index>(d.wrench.size());
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(size, size);
    for (const ForceBlock& block : d.blocks) {
        const Eigen::Index first[2] = {6 * block.a, 6 * block.b};
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) out.block<6, 6>(first[i], first[j]) += (block.*part).block<6, 6>(6 * i, 6 * j);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("force law: forces and torques balance, and damping dissipates") {
    Random random(71);
    for (int round = 0; round < 10; ++round) {
        Setup setup(random);
        const ForceLinearization d = setup.at(setup.poses, setup.twists);
        Vector6d total = Vector6d::Zero();
        double size = 0.0;
        for (std::size_t body = 0; body < 3; ++body) {
            total.head<3>() += d.wrench[body].head<3>();
            total.tail<3>() += d.wrench[body].tail<3>() + setup.poses[body].position.cross(d.wrench[body].head<3>());
            size += d.wrench[body].norm();
        }
        CHECK(size > 0.1);
        CHECK(total.norm() < 1e-13 * size);
        const auto power = [&](const ForceLinearization& f) {
            double sum = 0.0;
            for (std::size_t body = 0; body < 3; ++body) sum += f.wrench[body].dot(setup.twists[body]);
            return sum;
        };
        const double all = power(d);
        setup.parameters.friction.setZero();
        CHECK(all < power(setup.at(setup.poses, setup.twists)));
    }
}

TEST_CASE("force law: a rigid motion of everything, at any constant velocity, changes nothing but the axes") {
    Random random(72);
    for (int round = 0; round < 10; ++round) {
        const Setup setup(random);
        const Pose motion{random_rotation(random), normal_vector(random, 3)};
        const Vector3d drift = normal_vector(random, 3);
        Twists twists = setup.twists;
        for (Vector6d& twist : twists) {
            twist.head<3>() = (motion.rotation * twist.head<3>() + drift).eval();
            twist.tail<3>() = (motion.rotation * twist.tail<3>()).eval();
        }
        const ForceLinearization before = setup.at(setup.poses, setup.twists),
                                 after = setup.at(transformed(setup.poses, motion), twists);
        for (std::size_t body = 0; body < 3; ++body) {
            Vector6d turned;
            turned << motion.rotation * before.wrench[body].head<3>(), motion.rotation * before.wrench[body].tail<3>();
            CHECK((after.wrench[body] - turned).norm() < 1e-12 * (1.0 + turned.norm()));
        }
    }
}

TEST_CASE("force law: Jacobians by poses and twists agree with differences") {
    Random random(73);
    for (int round = 0; round < 10; ++round) {
        const Setup setup(random);
        const ForceLinearization d = setup.at(setup.poses, setup.twists);
        const auto memory = setup.law.make_memory();
        contact::ForceStep& step = setup.law.begin_step(setup.parameters, *memory);
        std::vector<Vector6d> out;
        step.wrench(setup.poses, setup.twists, out);
        CHECK(stacked(out) == stacked(d.wrench));
        const DerivativeReport by_pose = check_jacobian(
            [&](const VectorXd& change) {
                step.wrench(moved(setup.poses, change), setup.twists, out);
                return stacked(out);
            },
            VectorXd::Zero(18), assembled(d, &ForceBlock::by_pose), {.scale = 0.3}, random);
        CHECK_MESSAGE(by_pose.passes(), by_pose);
        const DerivativeReport by_twist = check_jacobian(
            [&](const VectorXd& change) {
                step.wrench(setup.poses, with(setup.twists, change), out);
                return stacked(out);
            },
            VectorXd::Zero(18), assembled(d, &ForceBlock::by_twist), {}, random);
        CHECK_MESSAGE(by_twist.passes(), by_twist);
    }
}

TEST_CASE("force law: the vjp by parameters agrees with differences") {
    Random random(74);
    for (int round = 0; round < 10; ++round) {
        const Setup setup(random);
        Twists direction(3);
        for (Vector6d& twist : direction) twist = normal_vector(random, 6);
        Parameters gradient;
        gradient.friction.setZero(3);
        gradient.contact_stiffness = 0.0;
        add_parameter_vjp(setup.at(setup.poses, setup.twists), direction, gradient);
        VectorXd analytic(4);
        analytic << gradient.friction, gradient.contact_stiffness;
        const DerivativeReport report = check_tangent_gradient(
            [&](const VectorXd& change) {
                Setup other = setup;
                other.parameters.friction += change.head(3);
                other.parameters.contact_stiffness += change[3];
                return stacked(other.at(setup.poses, setup.twists).wrench).dot(stacked(direction));
            },
            analytic, {.scale = 0.1}, random);
        CHECK_MESSAGE(report.passes(), report);
    }
}

TEST_CASE("force law: the same bits for 1, 2 and 4 threads [threads]") {
    Random random(75);
    const Setup setup(random);
    const ForceLinearization serial = setup.at(setup.poses, setup.twists);
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        const auto memory = setup.law.make_memory(&pool);
        ForceLinearization d;
        setup.law.begin_step(setup.parameters, *memory).linearize(setup.poses, setup.twists, d);
        CHECK(stacked(d.wrench) == stacked(serial.wrench));
        CHECK(assembled(d, &ForceBlock::by_pose) == assembled(serial, &ForceBlock::by_pose));
    }
}
