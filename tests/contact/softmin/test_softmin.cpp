// SPDX-License-Identifier: Apache-2.0
/// @file  The soft-minimum law: against its formula, against complex steps, and where the printed forms fail.
#include <doctest/doctest.h>

#include <complex>

#include "contact/contact_scene.hpp"
#include "contact/softmin/push_scene.hpp"
#include "farfield/contact/softmin/formula.hpp"
#include "farfield/contact/softmin/memory.hpp"
#include "farfield/contact/softmin/separation.hpp"
#include "support/derivative_check.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::testing;
using namespace farfield::contact::softmin;
using contact::ForceBlock;
using contact::ForceLinearization;
using contact::Twists;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Complex = std::complex<double>;

namespace {

/// A T, a finger that presses it and the table, near contact and at random velocities.
struct Push {
    std::shared_ptr<const Model> model = build_model(t_scene());
    Poses poses{3};
    Twists twists{3};
    std::unique_ptr<Softmin> law;
    std::unique_ptr<contact::ContactMemory> memory;
    Parameters parameters = model->default_parameters();

    Push(Random& random, const SoftminOptions& options)
        : law(std::make_unique<Softmin>(*model, options)), memory(law->make_memory()) {
        poses[1] = {exp_rotation(0.02 * normal_vector(random, 3)),
                    Vector3d(0.0, 0.0, 0.0245) + 2e-4 * normal_vector(random, 3).head<3>()};
        poses[2] = {exp_rotation(normal_vector(random, 3)),
                    poses[1] * Vector3d(uniform(random, -0.02, 0.02), -0.1375 - 0.02 + uniform(random, -0.003, 0.004),
                                        uniform(random, -0.01, 0.01))};
        for (Vector6d& twist : twists) twist = 0.1 * normal_vector(random, 6);
        twists[0].setZero();
        parameters.contact_stiffness = 1.3;
    }
    ForceLinearization linearize() {
        ForceLinearization out;
        law->begin_step(parameters, *memory).linearize(poses, twists, out);
        return out;
    }
    std::vector<Vector6d> wrench(const Poses& p, const Twists& t) {
        std::vector<Vector6d> out;
        law->begin_step(parameters, *memory).wrench(p, t, out);
        return out;
    }
    const ForceNumbers& numbers(std::size_t pair) { return dynamic_cast<SoftminMemory&>(*memory).numbers(pair); }
    const PairWork& work(std::size_t pair) { return dynamic_cast<SoftminMemory&>(*memory).work(pair); }
    template <class S>
    MovingBody<S> motion(int body) const {
        const Pose& pose = poses[static_cast<std::size_t>(body)];
        const Vector6d& twist = twists[static_cast<std::size_t>(body)];
        return {pose.rotation.template cast<S>(), pose.position.template cast<S>(), twist.head<3>().template cast<S>(),
                twist.tail<3>().template cast<S>()};
    }
};

SoftminOptions options_with(ForceForm form, int finger = 100, DampingForm damping = DampingForm::Smooth) {
    SoftminOptions options = t_options(2, true, finger);
    options.forces = form;
    options.damping = damping;
    return options;
}

/// About the world's origin.
Vector6d total(const std::vector<Vector6d>& wrenches, const Poses& poses) {
    Vector6d sum = Vector6d::Zero();
    for (std::size_t body = 0; body < poses.size(); ++body) {
        sum += wrenches[body];
        sum.tail<3>() += poses[body].position.cross(wrenches[body].head<3>());
    }
    return sum;
}

}  // namespace

TEST_CASE("softmin: the fast evaluation is the formula, for clouds, exact spheres and the table") {
    Random random(11);
    for (const int finger : {100, 0}) {
        for (int round = 0; round < 6; ++round) {
            SoftminOptions options = options_with(ForceForm::MeanPlane, finger);
            options.tolerance = 1e-15;
            Push push(random, options);
            const ForceLinearization at = push.linearize();
            for (std::size_t k = 0; k < at.blocks.size(); ++k) {
                const FormulaNumbers<double> numbers(push.numbers(k));
                const PairForce<double> formula =
                    pair_force(push.law->pairs()[k], ForceForm::MeanPlane, numbers, push.motion<double>(at.blocks[k].a),
                               push.motion<double>(at.blocks[k].b));
                CHECK(formula.wrench.norm() > 1e-3);
                CHECK((at.blocks[k].wrench - formula.wrench).norm() < 1e-12 * formula.wrench.norm());
                CHECK(push.work(k).soft == doctest::Approx(formula.soft).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE(
    "softmin: what both minima leave out of a wrench is within the tolerance, and there is something to leave out") {
    double largest = 0.0;
    for (const double tolerance : {5e-4, 1e-5, 1e-7}) {
        for (const int m : {2, 7}) {
            Random random(41);
            SoftminOptions options = t_options(m);
            options.tolerance = 1e-15;
            Push push(random, options);
            options.tolerance = tolerance;
            const Softmin cut(*push.model, options);
            const auto memory = cut.make_memory();
            for (int round = 0; round < 30; ++round) {
                Push next(random, options);
                if (round % 3 == 1) next.poses[2].position.y() -= std::abs(0.02 * normal(random));  // apart
                if (round % 3 == 2) next.poses[2].position.y() += 0.006;                            // deep
                ForceLinearization whole, found;
                push.law->begin_step(push.parameters, *push.memory).linearize(next.poses, next.twists, whole);
                cut.begin_step(push.parameters, *memory).linearize(next.poses, next.twists, found);
                for (std::size_t k = 0; k < whole.blocks.size(); ++k) {
                    const double size = whole.blocks[k].wrench.norm();
                    const double error = (found.blocks[k].wrench - whole.blocks[k].wrench).norm();
                    CHECK(error <= tolerance * size);
                    largest = std::max(largest, error / (tolerance * size));
                }
            }
        }
    }
    CHECK(largest > 1e-4);
}

TEST_CASE("softmin: Jacobians agree with complex steps to 1e-10") {
    Random random(12);
    for (const int finger : {100, 0}) {
        for (int round = 0; round < 3; ++round) {
            SoftminOptions options = options_with(ForceForm::MeanPlane, finger);
            options.tolerance = 1e-16;
            Push push(random, options);
            const ForceLinearization at = push.linearize();
            for (std::size_t k = 0; k < at.blocks.size(); ++k) {
                const ForceBlock& block = at.blocks[k];
                const FormulaNumbers<Complex> numbers(push.numbers(k));
                for (int column = 0; column < 24; ++column) {
                    constexpr double kStep = 1e-30;
                    MovingBody<Complex> bodies[2] = {push.motion<Complex>(block.a), push.motion<Complex>(block.b)};
                    MovingBody<Complex>& body = bodies[column / 6 % 2];
                    const Complex step(0.0, kStep);
                    const int entry = column % 6;
                    if (column >= 12) {
                        (entry < 3 ? body.velocity : body.spin)[entry % 3] += step;
                    } else if (entry < 3) {
                        body.position[entry] += step;
                    } else {
                        body.rotation += step * (hat(Vector3d::Unit(entry - 3)) * body.rotation.real()).cast<Complex>();
                    }
                    const VectorXd slope =
                        pair_force(push.law->pairs()[k], ForceForm::MeanPlane, numbers, bodies[0], bodies[1])
                            .wrench.imag() /
                        kStep;
                    const VectorXd found = column < 12 ? block.by_pose.col(column) : block.by_twist.col(column - 12);
                    const double size = (column < 12 ? block.by_pose : block.by_twist).norm();
                    CHECK(size > 0.0);
                    CHECK((found - slope).norm() < 1e-10 * size);
                }
            }
        }
    }
}

TEST_CASE("softmin: derivatives by friction and stiffness, and of plane forces, agree with differences") {
    Random random(13);
    for (const ForceForm form : {ForceForm::MeanPlane, ForceForm::Planes, ForceForm::Paper}) {
        for (int round = 0; round < 3; ++round) {
            SoftminOptions options = options_with(form, 40);
            options.tolerance = 1e-15;
            Push push(random, options);
            push.parameters.friction += Vector3d(0.1, 0.0, 0.0);  // equal ones have no derivative
            const ForceLinearization at = push.linearize();
            Twists direction(3);
            for (Vector6d& twist : direction) twist = normal_vector(random, 6);
            std::vector<Vector6d> wrenches;
            contact::ForceBars gradient;
            contact::ForceStep& step = push.law->begin_step(push.parameters, *push.memory);
            step.wrench(push.poses, push.twists, wrenches, 0);
            step.vjp(0, push.poses, push.twists, direction, gradient);
            VectorXd analytic(4);
            analytic << gradient.friction, gradient.contact_stiffness;
            const DerivativeReport by_parameters = check_tangent_gradient(
                [&](const VectorXd& change) {
                    const Parameters kept = push.parameters;
                    push.parameters.friction += change.head<3>();
                    push.parameters.contact_stiffness += change[3];
                    const double phi = stacked(push.wrench(push.poses, push.twists)).dot(stacked(direction));
                    push.parameters = kept;
                    return phi;
                },
                analytic, {.scale = 0.1}, random);
            CHECK_MESSAGE(by_parameters.passes(), by_parameters);
            Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(18, 18);
            for (const ForceBlock& block : at.blocks) {
                const int first[2] = {6 * block.a, 6 * block.b};
                for (int i = 0; i < 2; ++i) {
                    for (int j = 0; j < 2; ++j)
                        jacobian.block<6, 6>(first[i], first[j]) += block.by_pose.block<6, 6>(6 * i, 6 * j);
                }
            }
            const DerivativeReport by_pose = check_jacobian(
                [&](const VectorXd& change) { return stacked(push.wrench(moved(push.poses, change), push.twists)); },
                VectorXd::Zero(18), jacobian, {.scale = 1e-3}, random);
            CHECK_MESSAGE(by_pose.passes(), by_pose);
        }
    }
}

TEST_CASE("softmin: derivatives by temperatures and points of clouds agree with differences") {
    for (const int finger : {30, 0}) {
        SoftminOptions options = options_with(ForceForm::MeanPlane, finger);
        options.tolerance = 1e-15;
        Random random(27);
        Push push(random, options);
        Twists direction(3);
        for (Vector6d& twist : direction) twist = normal_vector(random, 6);
        const auto numbers = static_cast<Eigen::Index>(push.law->number_names().size());
        CHECK(numbers == 2 + 1 + 3 * 136 + (finger ? 1 + 3 * finger : 0));
        VectorXd gradient = VectorXd::Zero(numbers);
        push.law->begin_step(push.parameters, *push.memory)
            .add_number_vjp(push.poses, push.twists, direction, gradient);
        // one direction for temperatures, one for points: their sizes differ
        for (const bool points : {false, true}) {
            VectorXd along = VectorXd::Zero(numbers);
            Eigen::Index first = 2;
            if (!points) along.head<2>() << 1e-3 * normal(random), 1e-3 * normal(random);
            for (const BodyCloud& given : options.clouds) {
                if (points) {
                    along.segment(first + 1, 3 * given.cloud.size()) =
                        1e-2 * normal_vector(random, 3 * given.cloud.size());
                } else {
                    along[first] = given.cloud.temperature * normal(random);
                }
                first += 1 + 3 * given.cloud.size();
            }
            const auto value = [&](double h) {
                SoftminOptions changed = options;
                *changed.separation_temperature += h * along[0];
                *changed.force_temperature += h * along[1];
                Eigen::Index start = 2;
                for (BodyCloud& given : changed.clouds) {
                    const Eigen::Index size = 3 * given.cloud.size();
                    given.cloud.temperature += h * along[start];
                    given.cloud.points.reshaped<Eigen::RowMajor>() += h * along.segment(start + 1, size);
                    start += 1 + size;
                }
                const Softmin law(*push.model, changed);
                const auto memory = law.make_memory();
                std::vector<Vector6d> out;
                law.begin_step(push.parameters, *memory).wrench(push.poses, push.twists, out);
                return VectorXd(VectorXd::Constant(1, stacked(out).dot(stacked(direction))));
            };
            const DerivativeReport report =
                check_ladder([&](double h) { return std::pair(value(h), value(-h)); },
                             VectorXd::Constant(1, gradient.dot(along)), {.scale = points ? 0.1 : 1.0});
            CHECK_MESSAGE(report.passes(), report);
        }
    }
}

TEST_CASE("softmin: second derivatives agree with differences of the Jacobian") {
    Random random(14);
    SoftminOptions options = options_with(ForceForm::MeanPlane, 30);
    options.tolerance = 1e-15;
    Push push(random, options);
    const ForceLinearization at = push.linearize();
    auto& memory = dynamic_cast<SoftminMemory&>(*push.memory);
    for (std::size_t k = 0; k < at.blocks.size(); ++k) {
        const Vector12d moves = normal_vector(random, 12), sped = normal_vector(random, 12);
        const ForceBlock second = memory.second_derivative(k, push.poses, push.twists, moves, sped);
        Eigen::MatrixXd both(12, 24);
        both << second.by_pose, second.by_twist;
        const auto jacobian = [&](double s) {
            Poses poses = push.poses;
            Twists twists = push.twists;
            const int body[2] = {at.blocks[k].a, at.blocks[k].b};
            for (int i = 0; i < 2; ++i) {
                const auto b = static_cast<std::size_t>(body[i]);
                poses[b].position += s * moves.segment<3>(6 * i);
                poses[b].rotation = exp_rotation(s * moves.segment<3>(6 * i + 3)) * poses[b].rotation;
                twists[b] += s * sped.segment<6>(6 * i);
            }
            ForceLinearization there;
            push.law->begin_step(push.parameters, *push.memory).linearize(poses, twists, there);
            Eigen::MatrixXd out(12, 24);
            out << there.blocks[k].by_pose, there.blocks[k].by_twist;
            return VectorXd(out.reshaped());
        };
        const DerivativeReport report = check_ladder([&](double h) { return std::pair(jacobian(h), jacobian(-h)); },
                                                     both.reshaped(), {.scale = 1e-3});
        CHECK_MESSAGE(report.passes(1e-6), report);
    }
}

TEST_CASE("softmin: wrenches of a pair balance to rounding; as printed they leave a torque") {
    Random random(15);
    for (const ForceForm form : {ForceForm::MeanPlane, ForceForm::Planes, ForceForm::Paper}) {
        double worst = 0.0;
        for (int round = 0; round < 4; ++round) {
            Push push(random, options_with(form));
            const std::vector<Vector6d> wrenches = push.wrench(push.poses, push.twists);
            worst = std::max(worst, total(wrenches, push.poses).norm() / stacked(wrenches).norm());
        }
        CHECK((form == ForceForm::Paper ? worst > 1e-4 : worst < 1e-13));
    }
}

TEST_CASE("softmin: penetrating bodies are pushed apart; as printed they attract") {
    Random random(16);
    for (const ForceForm form : {ForceForm::MeanPlane, ForceForm::Planes, ForceForm::Paper}) {
        Push push(random, options_with(form));
        push.poses[1] = {};
        push.poses[1].position.z() = 1.0;
        push.poses[2].position = Vector3d(0.0, -0.1375 - 0.017, 1.0);  // 3 mm deep, below the stem
        for (Vector6d& twist : push.twists) twist.setZero();
        const double push_away = -push.wrench(push.poses, push.twists)[2][1];
        CHECK((form == ForceForm::Paper ? push_away < -1.0 : push_away > 1.0));
    }
}

TEST_CASE("softmin: bodies that turn together feel no friction; as printed they do") {
    Random random(17);
    for (const ForceForm form : {ForceForm::MeanPlane, ForceForm::Planes, ForceForm::Paper}) {
        Push push(random, options_with(form));
        const auto pair_force_on_finger = [&] { return push.linearize().blocks[1]; };
        for (Vector6d& twist : push.twists) twist.setZero();
        const ForceBlock still = pair_force_on_finger();
        const Vector3d spin(0.3, -1.0, 2.0);
        for (std::size_t body = 0; body < 3; ++body) push.twists[body] << spin.cross(push.poses[body].position), spin;
        const double change = (pair_force_on_finger().wrench - still.wrench).norm() / still.wrench.norm();
        CHECK((form == ForceForm::Paper ? change > 1e-3 : change < 1e-12));
    }
}

TEST_CASE("softmin: damping has two continuous derivatives; as printed its second one jumps") {
    for (const double kink : {0.0, 2.0}) {
        for (const bool printed : {false, true}) {
            const auto second = [&](double x, double h) {
                return (damping(x + h, printed) - 2.0 * damping(x, printed) + damping(x - h, printed)) / (h * h);
            };
            const double jump = std::abs(second(kink + 2e-4, 1e-4) - second(kink - 2e-4, 1e-4));
            CHECK((printed ? jump == doctest::Approx(0.5).epsilon(1e-3) : jump < 2e-3));
            const auto first = [&](double x) {
                return (damping(x + 1e-6, printed) - damping(x - 1e-6, printed)) / 2e-6;
            };
            CHECK(std::abs(first(kink + 1e-5) - first(kink - 1e-5)) < 1e-4);
        }
    }
}

TEST_CASE("softmin: exact shapes agree with fine clouds of them") {
    Scene scene;
    scene.gravity.setZero();
    const auto add = [&](const std::string& name, const Shape& shape) {
        scene.bodies.push_back(Body{.name = name,
                                    .position = {0.0, 0.0, 0.3 * static_cast<double>(scene.bodies.size())},
                                    .joints = {Joint{.name = name, .type = JointType::Free}}});
        scene.shapes.push_back(shape);
        scene.shapes.back().name = name;
        scene.shapes.back().body = static_cast<int>(scene.bodies.size()) - 1;
    };
    SUBCASE("box") { add("first", Shape{.type = ShapeType::Box, .size = {0.04, 0.05, 0.06}}); }
    SUBCASE("sphere") { add("first", Shape{.type = ShapeType::Sphere, .size = {0.05, 0.0, 0.0}}); }
    SUBCASE("capsule") { add("first", Shape{.type = ShapeType::Capsule, .size = {0.04, 0.03, 0.0}}); }
    add("second", Shape{.type = ShapeType::Sphere, .size = {0.03, 0.0, 0.0}});
    const auto model = build_model(scene);
    SoftminOptions options{.newtons_per_metre = 1000.0,
                           .separation_temperature = 1e-3,
                           .force_temperature = 1e-3,
                           .spacing = 0.01,
                           .exact_boxes = true};
    const Softmin law(*model, options);
    Random random(18);
    for (int round = 0; round < 5; ++round) {
        // 2 mm deep at one face of the box, along a random direction otherwise
        const double reach = scene.shapes[0].type == ShapeType::Box      ? 0.04
                             : scene.shapes[0].type == ShapeType::Sphere ? 0.05
                                                                         : 0.04;
        const Vector3d along(1.0, 0.0, 0.0);
        Poses poses(3);
        poses[1].rotation = random_rotation(random);
        poses[2].rotation = random_rotation(random);
        poses[2].position = poses[1].rotation * ((reach + 0.03 - 0.002) * along);
        const auto memory = law.make_memory();
        std::vector<Vector6d> out;
        law.begin_step(model->default_parameters(), *memory).wrench(poses, Twists(3, Vector6d::Zero()), out);
        const double pushes = out[2].head<3>().dot(poses[1].rotation * along);
        CHECK(pushes > 1.0);
        CHECK(pushes < 3.0);
        CHECK((out[2].head<3>() - pushes * (poses[1].rotation * along)).norm() < 0.03 * pushes);
    }
}

TEST_CASE("softmin: box on box has the soft separation, the centre and the corners of the overlap") {
    Scene scene;
    scene.gravity.setZero();
    constexpr double kSide = 0.1, kShift = 0.03, kDeep = 1e-3;
    for (int k = 0; k < 2; ++k) {
        const std::string name = k == 0 ? "low" : "high";
        scene.bodies.push_back(Body{.name = name,
                                    .position = {0.05 + kShift * k, 0.05, 0.05 + (kSide - kDeep) * k},
                                    .joints = {Joint{.name = name, .type = JointType::Free}}});
        scene.shapes.push_back(
            Shape{.name = name, .body = k + 1, .type = ShapeType::Box, .size = Vector3d::Constant(0.05)});
    }
    SoftminOptions options{.separation_temperature = 5e-4, .force_temperature = 5e-4};
    for (const char* name : {"low", "high"}) {
        PointCloud cloud;
        cloud.points.resize(600, 3);
        cloud.normals.resize(600, 3);
        int row = 0;
        for (int axis = 0; axis < 3; ++axis) {
            for (const double sign : {-1.0, 1.0}) {
                for (int i = 0; i < 100; ++i, ++row) {
                    Vector3d p;
                    p[axis] = 0.05 * sign;
                    p[(axis + 1) % 3] = kSide * ((i / 10 + 0.5) / 10 - 0.5);
                    p[(axis + 2) % 3] = kSide * ((i % 10 + 0.5) / 10 - 0.5);
                    cloud.points.row(row) = p.transpose();
                    cloud.normals.row(row) = sign * Vector3d::Unit(axis).transpose();
                }
            }
        }
        cloud.spacing = 0.01;
        cloud.temperature = 0.03 * 1e-4;
        options.clouds.push_back({name, cloud});
    }
    const auto model = build_model(scene);
    const Softmin law(*model, options);
    Poses poses(3);
    for (std::size_t body = 1; body < 3; ++body) poses[body].position = scene.bodies[body].position;
    const Separation field = separation(law, 0, poses);
    CHECK(field.soft == doctest::Approx(-kDeep).epsilon(0.02));
    CHECK(field.least == doctest::Approx(-kDeep).epsilon(0.02));
    CHECK(field.weights.sum() == doctest::Approx(1.0));
    CHECK((field.centre - Vector3d(0.065, 0.05, 0.0995)).norm() < 2e-3);
    const PointRows corners = support_points(field, 4);
    for (const double x : {kShift, kSide}) {
        for (const double y : {0.0, kSide}) {
            const double nearest = (corners.rowwise() - Eigen::RowVector3d(x, y, 0.0995)).rowwise().norm().minCoeff();
            CHECK(nearest < 0.0125);
        }
    }
}

TEST_CASE("softmin: the same bits for 1, 2 and 4 threads [threads]") {
    Random random(19);
    Push push(random, options_with(ForceForm::MeanPlane));
    const ForceLinearization serial = push.linearize();
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        push.memory = push.law->make_memory(&pool);
        const ForceLinearization at = push.linearize();
        CHECK(stacked(at.wrench) == stacked(serial.wrench));
        for (std::size_t k = 0; k < at.blocks.size(); ++k) CHECK(at.blocks[k].by_pose == serial.blocks[k].by_pose);
    }
}

TEST_CASE("softmin: bad options are refused by name") {
    const auto model = build_model(t_scene());
    const auto refused = [&](SoftminOptions options, const char* text) {
        CHECK_MESSAGE(contains(error_of([&] { Softmin(*model, options); }), text), text);
    };
    refused({.newtons_per_metre = -1.0}, "newtons_per_metre -1, expected > 0");
    refused({.slip_speed = 0.0}, "slip_speed 0");
    refused({.tolerance = 0.5}, "tolerance 0.5");
    refused({.clouds = {{"nobody", sphere_cloud(0.1, 20)}}}, "body 'nobody'");
}
