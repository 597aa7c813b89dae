// SPDX-License-Identifier: Apache-2.0
/// @file  What every force law must do, asked of all of them.
#include <doctest/doctest.h>

#include <functional>
#include <ostream>

#include "contact/contact_scene.hpp"
#include "contact/softmin/push_scene.hpp"
#include "contact/spring_law.hpp"
#include "farfield/contact/softmin/softmin.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

/// A law with three bodies that it acts on, body 0 the world, which the law does not know to stand still.
struct Setup {
    std::shared_ptr<const Model> model;
    std::shared_ptr<const contact::ForceLaw> law;
    Poses poses{3};
    Twists twists{3};
    Parameters parameters;
    double scale = 1.0;       ///< on which the law varies [m]
    double rounding = 1e-12;  ///< of wrenches under rigid motions, relative

    [[nodiscard]] ForceLinearization at(const Poses& p, const Twists& v) const {
        const auto memory = law->make_memory();
        ForceLinearization out;
        law->begin_step(parameters, *memory).linearize(p, v, out);
        return out;
    }
    [[nodiscard]] VectorXd wrench(const Poses& p, const Twists& v) const {
        const auto memory = law->make_memory();
        std::vector<Vector6d> out;
        law->begin_step(parameters, *memory).wrench(p, v, out);
        return stacked(out);
    }
};

/// `swapped`: the second and third body are declared the other way round.
struct LawCase {
    std::string name;
    std::function<Setup(Random&, bool swapped)> make;
};
std::ostream& operator<<(std::ostream& out, const LawCase& entry) { return out << entry.name; }

Setup springs(Random& random, bool swapped) {
    Setup setup;
    std::vector<Spring> of;
    const auto name = [&](int body) { return swapped && body > 0 ? 3 - body : body; };
    for (const auto& [a, b] : {std::pair(0, 1), std::pair(1, 2), std::pair(0, 2), std::pair(1, 2)}) {
        const Vector3d first = 0.2 * normal_vector(random, 3), second = 0.2 * normal_vector(random, 3);
        const bool turned = name(a) > name(b);
        of.push_back(
            {std::min(name(a), name(b)), std::max(name(a), name(b)), turned ? second : first, turned ? first : second});
    }
    setup.law = std::make_shared<Springs>(of);
    setup.parameters.friction.setZero(3);
    for (int body = 0; body < 3; ++body) {
        const auto k = static_cast<std::size_t>(name(body));
        setup.poses[k] = {random_rotation(random), normal_vector(random, 3)};
        setup.twists[k] = normal_vector(random, 6);
        setup.parameters.friction[name(body)] = body == 0 ? 0.4 : body == 1 ? 0.9 : 0.6;
    }
    setup.parameters.contact_stiffness = 1.7;
    return setup;
}

/// A T on a table, pressed by a finger.
Setup push(Random& random, bool swapped, contact::softmin::ForceForm form, int finger_points) {
    Setup setup;
    farfield::Scene scene = t_scene();
    if (swapped) {
        std::swap(scene.bodies[1], scene.bodies[2]);
        for (Shape& shape : scene.shapes) shape.body = shape.body == 0 ? 0 : 3 - shape.body;
    }
    setup.model = build_model(scene);
    contact::softmin::SoftminOptions options =
        t_options(form == contact::softmin::ForceForm::MeanPlane ? 2 : 1, true, finger_points);
    options.forces = form;
    options.tolerance = 1e-15;
    setup.law = std::make_shared<contact::softmin::Softmin>(*setup.model, options);
    setup.parameters = setup.model->default_parameters();
    setup.parameters.contact_stiffness = 1.3;
    const std::size_t t = swapped ? 2 : 1, finger = 3 - t;
    for (const auto& [body, friction] : {std::pair(std::size_t{0}, 0.1), std::pair(t, 0.3), std::pair(finger, 0.5)})
        setup.parameters.friction[static_cast<Eigen::Index>(body)] = friction;  // equal ones have no derivative
    setup.poses[t] = {exp_rotation(0.02 * normal_vector(random, 3)),
                      Vector3d(0.0, 0.0, 0.0245) + 2e-4 * normal_vector(random, 3).head<3>()};
    const Vector3d place(uniform(random, -0.02, 0.02), -0.1575 + uniform(random, -0.003, 0.004),
                         uniform(random, -0.01, 0.01));
    setup.poses[finger] = {exp_rotation(normal_vector(random, 3)), setup.poses[t] * place};
    for (const std::size_t body : {std::size_t{0}, t, finger}) setup.twists[body] = 0.1 * normal_vector(random, 6);
    setup.scale = 1e-3;
    setup.rounding = 1e-10;  // coordinates of some metres, forces that vary over a millimetre
    return setup;
}

std::vector<LawCase> law_cases() {
    using contact::softmin::ForceForm;
    return {
        {"springs", springs},
        {"softmin", [](Random& random, bool swapped) { return push(random, swapped, ForceForm::MeanPlane, 100); }},
        {"softmin, exact sphere",
         [](Random& random, bool swapped) { return push(random, swapped, ForceForm::MeanPlane, 0); }},
        {"softmin, planes", [](Random& random, bool swapped) { return push(random, swapped, ForceForm::Planes, 30); }},
    };
}

constexpr int kRounds = 4;

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

TEST_CASE("force laws: forces and torques balance, and friction dissipates") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        Random random(71);
        for (int round = 0; round < kRounds; ++round) {
            Setup setup = entry.make(random, false);
            const ForceLinearization d = setup.at(setup.poses, setup.twists);
            Vector6d total = Vector6d::Zero();
            double size = 0.0;
            for (std::size_t body = 0; body < 3; ++body) {
                total.head<3>() += d.wrench[body].head<3>();
                total.tail<3>() +=
                    d.wrench[body].tail<3>() + setup.poses[body].position.cross(d.wrench[body].head<3>());
                size += d.wrench[body].norm();
            }
            CHECK(size > 0.1);
            CHECK(total.norm() < 1e-13 * size);
            const double all = setup.wrench(setup.poses, setup.twists).dot(stacked(setup.twists));
            setup.parameters.friction.setZero();
            CHECK(all < setup.wrench(setup.poses, setup.twists).dot(stacked(setup.twists)));
        }
    }
}

TEST_CASE("force laws: a rigid motion of everything, at any constant velocity, changes nothing but the axes") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        Random random(72);
        for (int round = 0; round < kRounds; ++round) {
            const Setup setup = entry.make(random, false);
            const Pose motion{random_rotation(random), normal_vector(random, 3)};
            const Vector3d drift = normal_vector(random, 3);
            Twists twists = setup.twists;
            for (Vector6d& twist : twists) {
                twist.head<3>() = (motion.rotation * twist.head<3>() + drift).eval();
                twist.tail<3>() = (motion.rotation * twist.tail<3>()).eval();
            }
            const VectorXd before = setup.wrench(setup.poses, setup.twists),
                           after = setup.wrench(transformed(setup.poses, motion), twists);
            for (int third = 0; third < 6; ++third) {
                const Vector3d turned = motion.rotation * before.segment<3>(3 * third);
                CHECK((after.segment<3>(3 * third) - turned).norm() < setup.rounding * (1.0 + before.norm()));
            }
        }
    }
}

TEST_CASE("force laws: Jacobians by poses and twists agree with differences") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        Random random(73);
        for (int round = 0; round < kRounds; ++round) {
            const Setup setup = entry.make(random, false);
            const ForceLinearization d = setup.at(setup.poses, setup.twists);
            CHECK(setup.wrench(setup.poses, setup.twists) == stacked(d.wrench));
            const DerivativeReport by_pose = check_jacobian(
                [&](const VectorXd& change) { return setup.wrench(moved(setup.poses, change), setup.twists); },
                VectorXd::Zero(18), assembled(d, &ForceBlock::by_pose), {.scale = setup.scale}, random);
            CHECK_MESSAGE(by_pose.passes(), by_pose);
            const DerivativeReport by_twist = check_jacobian(
                [&](const VectorXd& change) { return setup.wrench(setup.poses, with(setup.twists, change)); },
                VectorXd::Zero(18), assembled(d, &ForceBlock::by_twist), {.scale = 0.01}, random);
            CHECK_MESSAGE(by_twist.passes(), by_twist);
        }
    }
}

TEST_CASE(
    "force laws: the vjp of any evaluation that was kept is that of its Jacobians, and by parameters that of "
    "differences") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        Random random(74);
        for (int round = 0; round < kRounds; ++round) {
            const Setup setup = entry.make(random, false);
            Twists direction(3);
            for (Vector6d& twist : direction) twist = normal_vector(random, 6);
            const auto memory = setup.law->make_memory();
            contact::ForceStep& step = setup.law->begin_step(setup.parameters, *memory);
            const Poses elsewhere = moved(setup.poses, 1e-3 * normal_vector(random, 18));
            std::vector<Vector6d> out;
            contact::ForceBars bars, other;
            step.wrench(elsewhere, setup.twists, out, 1);
            step.wrench(setup.poses, setup.twists, out, 0);
            step.vjp(1, elsewhere, setup.twists, direction, other);
            step.vjp(0, setup.poses, setup.twists, direction, bars);
            for (const bool there : {false, true}) {
                const ForceLinearization d = setup.at(there ? elsewhere : setup.poses, setup.twists);
                const contact::ForceBars& found = there ? other : bars;
                const VectorXd by_pose = assembled(d, &ForceBlock::by_pose).transpose() * stacked(direction),
                               by_twist = assembled(d, &ForceBlock::by_twist).transpose() * stacked(direction);
                CHECK(by_pose.norm() > 0.0);
                CHECK((stacked(found.poses) - by_pose).norm() < 1e-11 * by_pose.norm());
                CHECK((stacked(found.twists) - by_twist).norm() < 1e-11 * by_twist.norm());
            }
            VectorXd analytic(4);
            analytic << bars.friction, bars.contact_stiffness;
            const DerivativeReport report = check_tangent_gradient(
                [&](const VectorXd& change) {
                    Setup changed = setup;
                    changed.parameters.friction += change.head(3);
                    changed.parameters.contact_stiffness += change[3];
                    return changed.wrench(setup.poses, setup.twists).dot(stacked(direction));
                },
                analytic, {.scale = 0.1}, random);
            CHECK_MESSAGE(report.passes(), report);
        }
    }
}

TEST_CASE("force laws: exchanging the bodies exchanges the wrenches") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        for (unsigned seed = 76; seed < 76 + kRounds; ++seed) {
            Random first(seed), second(seed);
            const Setup setup = entry.make(first, false), swapped = entry.make(second, true);
            const VectorXd here = setup.wrench(setup.poses, setup.twists),
                           there = swapped.wrench(swapped.poses, swapped.twists);
            CHECK(here.norm() > 0.1);
            CHECK((here.head<6>() - there.head<6>()).norm() < 1e-12 * here.norm());
            CHECK((here.segment<6>(6) - there.segment<6>(12)).norm() < 1e-12 * here.norm());
            CHECK((here.segment<6>(12) - there.segment<6>(6)).norm() < 1e-12 * here.norm());
        }
    }
}

TEST_CASE("force laws: the same bits for 1, 2 and 4 threads, and whatever was evaluated before [threads]") {
    for (const LawCase& entry : law_cases()) {
        CAPTURE(entry);
        Random random(75);
        const Setup setup = entry.make(random, false);
        const ForceLinearization serial = setup.at(setup.poses, setup.twists);
        Twists direction(3, Vector6d::Ones());
        for (const int threads : {1, 2, 4}) {
            ThreadPool pool(threads);
            const auto memory = setup.law->make_memory(&pool);
            ForceLinearization d;
            std::vector<Vector6d> out;
            contact::ForceBars bars, again;
            contact::ForceStep& step = setup.law->begin_step(setup.parameters, *memory);
            step.linearize(setup.poses, setup.twists, d);
            CHECK(stacked(d.wrench) == stacked(serial.wrench));
            CHECK(assembled(d, &ForceBlock::by_pose) == assembled(serial, &ForceBlock::by_pose));
            step.wrench(setup.poses, setup.twists, out, 0);
            step.vjp(0, setup.poses, setup.twists, direction, bars);
            step.wrench(moved(setup.poses, 1e-2 * normal_vector(random, 18)), setup.twists, out, 0);
            step.wrench(setup.poses, setup.twists, out, 0);
            step.vjp(0, setup.poses, setup.twists, direction, again);
            CHECK(stacked(out) == stacked(serial.wrench));
            CHECK(stacked(bars.poses) == stacked(again.poses));
            CHECK(bars.friction == again.friction);
        }
    }
}
