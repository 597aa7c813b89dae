// SPDX-License-Identifier: Apache-2.0
/// @file  What every contact model must do, asked of all of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/contact_models.hpp"
#include "contact/longrange/random_scene.hpp"
#include "farfield/model/closest_points.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::ContactPotential;

namespace {

constexpr double kSceneSize = 1.6;  // no two vertices of bodies in the air are farther apart [m]
constexpr double kNear = 0.1;       // gaps of the scenes, in radii: within reach of every model

/// Wrench about the world's origin.
Vector6d at_origin(const Vector6d& wrench, const Pose& pose) {
    Vector6d moved = wrench;
    moved.tail<3>() += pose.position.cross(wrench.head<3>());
    return moved;
}

double exact_gap(const testing::Scene& scene) {
    double gap = std::numeric_limits<double>::infinity();
    for (const ContactPair& pair : scene.geometry.pairs)
        gap = std::min(gap, closest_points(scene.geometry, pair, scene.poses).distance);
    return gap;
}

}  // namespace

TEST_CASE("contact models: gradient and Hessian agree with differences") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(51);
        int jumps = 0;  // rounds whose differences reach over a change of the nearest feature
        for (int round = 0; round < 12; ++round) {
            CAPTURE(round);
            const testing::Scene scene = random_scene(random, round % 2 == 0, kNear);
            const auto model = entry.make(scene.geometry, {});
            const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.0);
            const auto memory = model->make_memory();
            contact::ContactStep& step = frictionless(*model, scene.poses, parameters, *memory);
            ContactLinearization d;
            step.linearize(scene.poses, d);
            REQUIRE(std::isfinite(d.energy));
            CHECK(step.energy(scene.poses) == doctest::Approx(d.energy).epsilon(1e-12));
            CHECK((assembled(d) - assembled(d).transpose()).norm() <= 1e-13 * assembled(d).norm());
            const LadderOptions ladder{.scale = scene.scale, .floor = 1e-14};
            const DerivativeReport gradient = check_tangent_gradient(
                [&](const Eigen::VectorXd& twist) { return step.energy(moved(scene.poses, twist)); }, stacked(d.wrench),
                ladder, random);
            if (!entry.smooth && !gradient.passes(1e-6)) {
                CHECK_MESSAGE(gradient.passes(1e-4), gradient);
                ++jumps;
                continue;
            }
            CHECK_MESSAGE(gradient.passes(1e-6), gradient);
            const DerivativeReport hessian = check_jacobian(
                [&](const Eigen::VectorXd& twist) {
                    ContactLinearization there;
                    step.linearize(moved(scene.poses, twist), there);
                    return stacked(there.wrench);
                },
                Eigen::VectorXd::Zero(18), wrench_jacobian(d), ladder, random);
            CHECK_MESSAGE(hessian.passes(1e-6), hessian);
        }
        CHECK(jumps <= 1);
    }
}

TEST_CASE("contact models: vjp agrees with differences") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(52);
        int rubbing = 0;
        for (int round = 0; round < 10; ++round) {
            CAPTURE(round);
            const testing::Scene scene = random_scene(random, round % 2 == 0, kNear);
            const auto model = entry.make(scene.geometry, {});
            Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
            Eigen::Vector3d rubs = Eigen::Vector3d::Zero();  // a body in no pair has no coefficient to change
            for (const ContactPair& pair : scene.geometry.pairs) rubs[pair.a] = rubs[pair.b] = 1.0;
            parameters.friction += Eigen::Vector3d(0.0, 0.05, 0.1).cwiseProduct(rubs);  // equal ones have no derivative
            const auto memory = model->make_memory();
            const double dt = 0.01;
            // from well inside the smoothing of friction to well outside
            const Poses poses =
                moved(scene.poses, std::pow(10.0, uniform(random, -4.5, -3.0)) * normal_vector(random, 18));
            contact::Twists twists(3);
            for (Vector6d& twist : twists) twist = normal_vector(random, 6);
            ContactLinearization here;
            contact::ContactGradient gradient;
            contact::ContactStep& step =
                model->begin_step(scene.poses, dt, parameters, *memory, contact::StepMode::Backward);
            step.linearize(poses, here);
            step.vjp({&twists, 1}, {&gradient, 1});
            const auto phi = [&](const Poses& previous, const Parameters& p) {
                ContactLinearization there;
                model->begin_step(previous, dt, p, *memory).linearize(poses, there);
                double sum = 0.0;
                for (std::size_t body = 0; body < 3; ++body) sum += twists[body].dot(there.wrench[body]);
                return sum;
            };
            Eigen::VectorXd by_parameter(4);
            by_parameter << gradient.friction, gradient.contact_stiffness * parameters.contact_stiffness;
            const DerivativeReport parameter = check_tangent_gradient(
                [&](const Eigen::VectorXd& values) {
                    Parameters p = parameters;
                    p.friction += values.head(3).cwiseProduct(rubs);
                    p.contact_stiffness *= 1.0 + values[3];
                    return phi(scene.poses, p);
                },
                by_parameter, {.floor = 1e-14}, random);
            if (!entry.far && gradient.friction.isZero(0.0) &&
                gradient.contact_stiffness == 0.0) {  // out of range: nothing acts
                CHECK(parameter.numeric == 0.0);
                continue;
            }
            CHECK_MESSAGE(parameter.passes(), parameter);
            // Differences of phi, most of which is the normal force, carry noise: too far apart, friction drowns in it.
            const double size = stacked(gradient.previous_wrench).norm() * scene.scale;
            if (size < 1e-7 * std::abs(phi(scene.poses, parameters))) continue;
            const DerivativeReport previous = check_tangent_gradient(
                [&](const Eigen::VectorXd& twist) { return phi(moved(scene.poses, twist), parameters); },
                stacked(gradient.previous_wrench), {.scale = scene.scale, .floor = 1e-14}, random);
            CHECK_MESSAGE(previous.passes(5e-6), previous);
            ++rubbing;
        }
        CHECK(rubbing >= 5);
    }
}

TEST_CASE("contact models: a rigid motion of everything changes nothing but the axes") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(53);
        for (int round = 0; round < 8; ++round) {
            const testing::Scene scene = random_scene(random, false, kNear);
            const auto model = entry.make(scene.geometry, {});
            const Parameters parameters = entry.parameters(scene.geometry, 1.0, 0.0);
            const Pose motion{random_rotation(random), 10.0 * normal_vector(random, 3)};
            const ContactLinearization before = evaluate(*model, scene.poses, parameters);
            const ContactLinearization after = evaluate(*model, transformed(scene.poses, motion), parameters);
            REQUIRE(before.energy > 0.0);
            CHECK(after.energy == doctest::Approx(before.energy).epsilon(1e-11));
            CHECK(after.blocks[0].gap == doctest::Approx(before.blocks[0].gap).epsilon(1e-9));
            for (std::size_t body = 1; body < 3; ++body) {
                Vector6d turned;
                turned << motion.rotation * before.wrench[body].head<3>(),
                    motion.rotation * before.wrench[body].tail<3>();
                CHECK((after.wrench[body] - turned).norm() < 1e-10 * stacked(before.wrench).norm());
            }
            Eigen::MatrixXd turn = Eigen::MatrixXd::Zero(12, 12);
            for (int k = 0; k < 4; ++k) turn.block<3, 3>(3 * k, 3 * k) = motion.rotation;
            CHECK((after.blocks[0].hessian - turn * before.blocks[0].hessian * turn.transpose()).norm() <
                  1e-8 * before.blocks[0].hessian.norm());
        }
    }
}

TEST_CASE("contact models: forces and torques balance, with and without the ground") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(54);
        for (int round = 0; round < 12; ++round) {
            const testing::Scene scene = random_scene(random, round % 2 == 0, kNear);
            const auto model = entry.make(scene.geometry, {});
            const ContactLinearization d = evaluate(*model, scene.poses, entry.parameters(scene.geometry, 1.0, 0.0));
            Vector6d total = Vector6d::Zero();
            double size = 0.0;
            for (std::size_t body = 0; body < 3; ++body) {
                total += at_origin(d.wrench[body], scene.poses[body]);
                size += d.wrench[body].norm();
            }
            CHECK(size > 0.0);
            CHECK(total.norm() < 1e-12 * size);
        }
    }
}

TEST_CASE("contact models: friction of two bodies in the air conserves momentum") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(55);
        int rubbing = 0;
        for (int round = 0; round < 10; ++round) {
            const testing::Scene scene = random_scene(random, false, kNear);
            const auto model = entry.make(scene.geometry, {});
            const Parameters with = entry.parameters(scene.geometry, 1e-3, 0.5),
                             without = entry.parameters(scene.geometry, 1e-3, 0.0);
            const auto memory = model->make_memory();
            // translation of body 1: displaced points carry the force along, so torques are taken where it acted
            Poses next = scene.poses;
            next[1].position += 1e-4 * unit_vector(random);
            ContactLinearization rough, smooth;
            model->begin_step(scene.poses, 0.01, with, *memory).linearize(next, rough);
            model->begin_step(scene.poses, 0.01, without, *memory).linearize(next, smooth);
            Vector6d total = Vector6d::Zero();
            for (std::size_t body = 1; body < 3; ++body)
                total += at_origin(rough.wrench[body] - smooth.wrench[body], scene.poses[body]);
            const double size = (rough.wrench[1] - smooth.wrench[1]).head<3>().norm();
            if (size == 0.0) continue;
            ++rubbing;
            const double noise = 1e-12 * size + 1e-15 * stacked(smooth.wrench).norm();
            CHECK(total.head<3>().norm() < noise);
            // the two forces of a pair act in its nearest points, up to its distance apart
            const double lever = entry.far ? kSceneSize : kTestRange;
            CHECK(total.tail<3>().norm() < noise + (entry.balanced_torque ? 0.0 : lever * size));
        }
        CHECK(rubbing > 5);
    }
}

TEST_CASE("contact models: exchanging the bodies exchanges the blocks") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(56);
        for (int round = 0; round < 8; ++round) {
            const testing::Scene scene = random_scene(random, false, kNear);
            CollisionGeometry swapped = scene.geometry;
            std::swap(swapped.bodies[1], swapped.bodies[2]);
            Poses poses = scene.poses;
            std::swap(poses[1], poses[2]);
            const ContactLinearization one =
                evaluate(*entry.make(scene.geometry, {}), scene.poses, entry.parameters(scene.geometry, 1.0, 0.0));
            const ContactLinearization two =
                evaluate(*entry.make(swapped, {}), poses, entry.parameters(swapped, 1.0, 0.0));
            CHECK(two.energy == doctest::Approx(one.energy).epsilon(1e-12));
            CHECK((one.wrench[1] - two.wrench[2]).norm() < 1e-10 * one.wrench[1].norm());
            const auto &h = one.blocks[0].hessian, &k = two.blocks[0].hessian;
            CHECK((h.topLeftCorner<6, 6>() - k.bottomRightCorner<6, 6>()).norm() < 1e-9 * h.norm());
            CHECK((h.topRightCorner<6, 6>() - k.bottomLeftCorner<6, 6>()).norm() < 1e-9 * h.norm());
        }
    }
}

TEST_CASE("contact models: the same bits for 1, 2 and 4 threads, friction and vjp included [threads]") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(57);
        std::vector<TriangleMesh> meshes;
        Poses poses(5);
        for (int body = 1; body <= 4; ++body) {
            meshes.push_back(body % 2 == 0 ? make_box({0.1, 0.1, 0.1}) : make_ellipsoid({0.1, 0.08, 0.09}));
            poses[static_cast<std::size_t>(body)] = {random_rotation(random),
                                                     {0.36 * (body % 2), 0.36 * (body / 2), 0.2}};
        }
        const CollisionGeometry geometry = make_geometry(meshes, true);
        const Parameters parameters = entry.parameters(geometry, 1e-3, 0.5);
        const Poses next = moved(poses, 1e-4 * normal_vector(random, 30));
        contact::Twists twists(5);
        for (Vector6d& twist : twists) twist = normal_vector(random, 6);
        ContactLinearization first;
        contact::ContactGradient first_gradient;
        for (const int threads : {1, 2, 4}) {
            ThreadPool pool(threads);
            const auto model = entry.make(geometry, {});
            const auto memory = model->make_memory(&pool);
            ContactLinearization d;
            contact::ContactGradient gradient;
            contact::ContactStep& step =
                model->begin_step(poses, 0.01, parameters, *memory, contact::StepMode::Backward);
            step.linearize(next, d);
            step.vjp({&twists, 1}, {&gradient, 1});
            CHECK(d.friction_energy > 0.0);
            if (threads == 1) {
                first = d;
                first_gradient = gradient;
                continue;
            }
            CHECK(d.energy == first.energy);
            CHECK(stacked(d.wrench) == stacked(first.wrench));
            CHECK(assembled(d) == assembled(first));
            CHECK(stacked(gradient.previous_wrench) == stacked(first_gradient.previous_wrench));
            CHECK(gradient.friction == first_gradient.friction);
        }
    }
}

TEST_CASE("contact models: accepted points change the Hessian of friction and nothing else, going forward [threads]") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(63);
        double change = 0.0;
        for (int round = 0; round < 8; ++round) {
            CAPTURE(round);
            const testing::Scene scene = random_scene(random, round % 2 == 0, kNear);
            const auto model = entry.make(scene.geometry, {.slip_speed = 1e-3});
            const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
            const double way = std::pow(10.0, uniform(random, -5.0, -4.0));  // from creeping to sliding
            const Poses first = moved(scene.poses, way * normal_vector(random, 18)),
                        second = moved(scene.poses, way * normal_vector(random, 18));
            ThreadPool pool(3);
            const auto memory = model->make_memory(), other = model->make_memory(&pool), cold = model->make_memory(),
                       smooth = model->make_memory();
            contact::ContactStep& step = model->begin_step(scene.poses, 0.01, parameters, *memory);
            contact::ContactStep& threaded = model->begin_step(scene.poses, 0.01, parameters, *other);
            contact::ContactStep& backward =
                model->begin_step(scene.poses, 0.01, parameters, *cold, contact::StepMode::Backward);
            ContactLinearization d, on_threads, exact, potential;
            const auto look = [&](const Poses& poses) {
                step.linearize(poses, d);
                threaded.linearize(poses, on_threads);
                backward.linearize(poses, exact);
                CHECK(assembled(d) == assembled(on_threads));
                CHECK(d.energy == doctest::Approx(exact.energy).epsilon(1e-12));
                CHECK((stacked(d.wrench) - stacked(exact.wrench)).norm() < 1e-10 * stacked(exact.wrench).norm());
                frictionless(*model, scene.poses, parameters, *smooth).linearize(poses, potential);
                for (const contact::PairBlock& block : d.blocks) {  // a pair whose friction alone acts is out of range
                    const auto alone = std::find_if(potential.blocks.begin(), potential.blocks.end(),
                                                    [&](const auto& p) { return p.a == block.a && p.b == block.b; });
                    if (alone == potential.blocks.end()) continue;
                    CHECK((block.normal_gradient() - alone->gradient).norm() <= 1e-10 * stacked(exact.wrench).norm());
                    CHECK((block.normal_hessian() - alone->hessian).norm() <= 1e-8 * assembled(exact).norm());
                }
                return (assembled(d) - assembled(exact)).norm() / assembled(exact).norm();
            };
            const auto accept = [&] {
                for (contact::ContactStep* one : {&step, &threaded, &backward}) one->accept();
            };
            CHECK(look(first) < 1e-8);
            CHECK(look(second) < 1e-8);  // nothing was accepted
            accept();
            change = std::max(change, look(first));
            change = std::max(change, look(second));  // as if first were rejected
            accept();
            CHECK(look(second) < 1e-8);  // the same point again
            accept();
            change = std::max(change, look(first));
            model->begin_step(scene.poses, 0.01, parameters, *memory);  // forgets
            step.linearize(first, d);
            CHECK((assembled(d) - assembled(exact)).norm() < 1e-8 * assembled(exact).norm());
        }
        CHECK(change > 1e-4);
    }
}

TEST_CASE("contact models: friction alone is the friction of the whole") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(61);
        int rubbing = 0;
        for (int round = 0; round < 8; ++round) {
            const testing::Scene scene = random_scene(random, round % 2 == 0, kNear);
            const auto model = entry.make(scene.geometry, {});
            const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
            const Poses first = moved(scene.poses, 1e-5 * normal_vector(random, 18)),
                        second = moved(scene.poses, 1e-4 * normal_vector(random, 18));
            ThreadPool pool(3);
            const auto memory = model->make_memory(&pool), other = model->make_memory();
            contact::ContactStep& step = model->begin_step(scene.poses, 0.01, parameters, *memory);
            contact::ContactStep& whole = model->begin_step(scene.poses, 0.01, parameters, *other);
            ContactLinearization d, expected;
            std::vector<contact::PairBlock> alone;
            step.linearize(first, d);
            whole.linearize(first, d);
            step.linearize_friction(second, alone);
            whole.linearize(second, expected);
            std::size_t k = 0;
            for (const contact::PairBlock& block : expected.blocks) {
                if (!block.has_friction) continue;
                ++rubbing;
                REQUIRE(k < alone.size());
                const contact::PairBlock& part = alone[k++];
                CHECK(part.a == block.a);
                CHECK(part.b == block.b);
                CHECK(part.friction_energy == doctest::Approx(block.friction_energy).epsilon(1e-10));
                CHECK((part.friction_gradient - block.friction_gradient).norm() <=
                      1e-8 * block.friction_gradient.norm());
                CHECK((part.friction_hessian - block.friction_hessian).norm() <= 1e-6 * block.friction_hessian.norm());
            }
            CHECK(k == alone.size());
            step.linearize(second, d);  // and leaves no trace
            CHECK(d.energy == doctest::Approx(expected.energy).epsilon(1e-12));
            CHECK((stacked(d.wrench) - stacked(expected.wrench)).norm() <= 1e-9 * stacked(expected.wrench).norm());
        }
        CHECK(rubbing >= 4);
    }
}

TEST_CASE("contact models: a vjp of several directions has the bits of one vjp each, and is linear in them") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(62);
        const testing::Scene scene = random_scene(random, true, kNear);
        const auto model = entry.make(scene.geometry, {});
        const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
        const auto memory = model->make_memory();
        const Poses next = moved(scene.poses, 1e-4 * normal_vector(random, 18));
        std::vector<contact::Twists> directions(3, contact::Twists(3));
        for (std::size_t body = 0; body < 3; ++body) {
            directions[0][body] = normal_vector(random, 6);
            directions[1][body] = normal_vector(random, 6);
            directions[2][body] = 2.0 * directions[0][body] - directions[1][body];
        }
        ContactLinearization d;
        contact::ContactStep& step =
            model->begin_step(scene.poses, 0.01, parameters, *memory, contact::StepMode::Backward);
        step.linearize(next, d);
        std::vector<contact::ContactGradient> all(3);
        step.vjp(directions, all);
        for (std::size_t k = 0; k < 3; ++k) {
            contact::ContactGradient one;
            step.vjp({&directions[k], 1}, {&one, 1});
            CHECK(stacked(one.previous_wrench) == stacked(all[k].previous_wrench));
            CHECK(one.friction == all[k].friction);
            CHECK(one.contact_stiffness == all[k].contact_stiffness);
            CHECK(one.hull_vertices == all[k].hull_vertices);
        }
        const Eigen::VectorXd sum = 2.0 * all[0].friction - all[1].friction;
        CHECK(sum.norm() > 0.0);
        CHECK((all[2].friction - sum).norm() < 1e-12 * (all[0].friction.norm() + all[1].friction.norm()));
        CHECK(
            (2.0 * stacked(all[0].previous_wrench) - stacked(all[1].previous_wrench) - stacked(all[2].previous_wrench))
                .norm() < 1e-11 * stacked(all[0].previous_wrench).norm());
    }
}

TEST_CASE("contact models: saved memory gives the same bits, a foreign one is refused") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(58);
        const testing::Scene scene = random_scene(random, true, kNear);
        const auto model = entry.make(scene.geometry, {});
        const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
        const auto memory = model->make_memory(), copy = model->make_memory();
        static_cast<void>(frictionless(*model, scene.poses, parameters, *memory).energy(scene.poses));
        copy->restore(memory->save());
        const Poses next = moved(scene.poses, 1e-4 * normal_vector(random, 18));
        ContactLinearization one, two;
        frictionless(*model, scene.poses, parameters, *memory).linearize(next, one);
        frictionless(*model, scene.poses, parameters, *copy).linearize(next, two);
        CHECK(one.energy == two.energy);
        CHECK(stacked(one.wrench) == stacked(two.wrench));
        CHECK(assembled(one) == assembled(two));
        CHECK(one.blocks[0].gap == two.blocks[0].gap);
        CHECK_THROWS_AS(copy->restore({}), std::invalid_argument);
        CHECK_THROWS_AS(copy->restore({99.0}), std::invalid_argument);
    }
}

TEST_CASE("contact models: gaps are lower bounds, and energies of crossing bodies are infinite") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(59);
        for (int round = 0; round < 30; ++round) {
            const bool ground = round % 2 == 0;
            testing::Scene scene = random_scene(random, ground, round % 3 == 0 ? 3.0 : kNear);
            const auto model = entry.make(scene.geometry, {});
            const Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.0);
            const Parameters rubbing =
                entry.parameters(scene.geometry, 1e-3, 0.5);  // without friction nothing is to be fixed
            const ContactLinearization d = evaluate(*model, scene.poses, parameters);
            for (std::size_t k = 0; k < scene.geometry.pairs.size(); ++k) {
                const double exact = closest_points(scene.geometry, scene.geometry.pairs[k], scene.poses).distance;
                const double gap = d.gaps.empty() ? d.blocks.at(k).gap : d.gaps.at(k);
                CHECK(gap > 0.0);
                CHECK(gap <= exact * (1.0 + 1e-12));
            }
            CHECK((d.energy > 0.0 || !entry.far));
            const auto memory = model->make_memory();
            // from apart to crossing in one evaluation, warm and cold
            const ContactPair& pair = scene.geometry.pairs.back();
            const ClosestPoints nearest = closest_points(scene.geometry, pair, scene.poses);
            const Eigen::Vector3d toward = (nearest.point_a - nearest.point_b).normalized();
            CHECK(std::isfinite(frictionless(*model, scene.poses, parameters, *memory).energy(scene.poses)));
            for (const double depth : {1e-9, 1e-3}) {
                Poses crossing = scene.poses;
                crossing[static_cast<std::size_t>(pair.b)].position += (nearest.distance + depth) * toward;
                CHECK(frictionless(*model, scene.poses, parameters, *memory).energy(crossing) ==
                      std::numeric_limits<double>::infinity());
                CHECK(evaluate(*model, crossing, parameters).energy == std::numeric_limits<double>::infinity());
                CHECK_THROWS_WITH_AS(model->begin_step(crossing, 0.01, rubbing, *memory),
                                     doctest::Contains("touch or cross"), std::invalid_argument);
            }
            CHECK(exact_gap(scene) > 0.0);
        }
    }
}

TEST_CASE("contact models: energy and force grow without bound as the gap closes") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(60);
        const testing::Scene scene = random_scene(random, false, kNear);
        const auto model = entry.make(scene.geometry, {});
        const Parameters parameters = entry.parameters(scene.geometry, 1.0, 0.0);
        const ClosestPoints nearest = closest_points(scene.geometry, scene.geometry.pairs[0], scene.poses);
        const Eigen::Vector3d toward = (nearest.point_a - nearest.point_b).normalized();
        double last_energy = 0.0, last_force = 0.0;
        for (const double gap : {1e-3, 1e-5, 1e-7, 1e-9}) {
            Poses close = scene.poses;
            close[2].position += (nearest.distance - gap) * toward;
            const ContactLinearization d = evaluate(*model, close, parameters);
            const double force = d.wrench[1].head<3>().norm();
            CHECK(d.energy > last_energy);
            CHECK(force > (last_force > 0.0 ? 10.0 : 0.0) * last_force);
            last_energy = d.energy;
            last_force = force;
        }
    }
}

TEST_CASE("contact models: mistakes are refused by name") {
    for (const ContactCase& entry : contact_cases()) {
        CAPTURE(entry);
        Random random(61);
        const testing::Scene scene = random_scene(random, true, kNear);
        CollisionGeometry bad = scene.geometry;
        bad.pairs[0].b = 9;
        if (entry.takes_pairs) CHECK_THROWS_AS(static_cast<void>(entry.make(bad, {})), std::invalid_argument);
        const auto model = entry.make(scene.geometry, {});
        Parameters parameters = entry.parameters(scene.geometry, 1e-3, 0.5);
        const auto memory = model->make_memory();
        CHECK_THROWS_AS(model->begin_step({}, 0.01, parameters, *memory), std::invalid_argument);
        contact::ContactStep& step = model->begin_step(scene.poses, 0.01, parameters, *memory);
        ContactLinearization d;
        contact::Twists twists(scene.poses.size(), Vector6d::Ones());
        contact::ContactGradient gradient;
        CHECK_THROWS_AS(static_cast<void>(step.energy({})), std::invalid_argument);
        CHECK_THROWS_AS(step.linearize({}, d), std::invalid_argument);
        step.linearize(scene.poses, d);
        CHECK_THROWS_WITH_AS(step.vjp({&twists, 1}, {&gradient, 1}), doctest::Contains("StepMode::Backward"),
                             std::invalid_argument);
        contact::ContactStep& backward =
            model->begin_step(scene.poses, 0.01, parameters, *memory, contact::StepMode::Backward);
        CHECK_THROWS_WITH_AS(backward.vjp({&twists, 1}, {&gradient, 1}), doctest::Contains("linearize"),
                             std::invalid_argument);
        backward.linearize(scene.poses, d);
        CHECK_THROWS_AS(backward.vjp({&twists, 1}, {}), std::invalid_argument);
        twists.pop_back();
        CHECK_THROWS_AS(backward.vjp({&twists, 1}, {&gradient, 1}), std::invalid_argument);
        CHECK_THROWS_AS(entry.make(scene.geometry, {})->begin_step(scene.poses, 0.01, parameters, *memory),
                        std::invalid_argument);
        CHECK_THROWS_AS(model->begin_step(scene.poses, 0.0, parameters, *memory), std::invalid_argument);
        parameters.contact_stiffness = 0.0;
        CHECK_THROWS_AS(model->begin_step(scene.poses, 0.01, parameters, *memory), std::invalid_argument);
    }
}
