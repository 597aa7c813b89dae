// SPDX-License-Identifier: Apache-2.0
/// @file  Joints, ties, limits, scripts and actuators against closed forms and against chains built by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "farfield/dynamics/step_problem.hpp"
#include "support/error_text.hpp"
#include "support/motion.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::simulate;

constexpr double kDt = 0.01;

/// A point mass on a slide along x: everything about it is linear, so an implicit Euler step has a closed form.
Scene slider_scene(const Joint& joint, double mass = 1.5) {
    Scene scene;
    scene.gravity = {2.0, 0.0, -9.81};
    Joint slide = joint;
    slide.name = "slide";
    slide.type = JointType::Slide;
    slide.axis = Vector3d::UnitX();
    Body body{.name = "slider", .joints = {slide}};
    body.moments = moments_from_inertia(mass, Vector3d(0.1, 0.2, 0.0), 0.01 * Eigen::Matrix3d::Identity(), "slider");
    scene.bodies.push_back(body);
    return scene;
}

State at(const Model& model, const VectorXd& q, const VectorXd& v) {
    State state = model.default_state();
    state.q = q;
    state.v = v;
    return state;
}

VectorXd numbers(std::initializer_list<double> values) {
    VectorXd out(static_cast<Eigen::Index>(values.size()));
    Eigen::Index k = 0;
    for (const double value : values) out[k++] = value;
    return out;
}

double step_once(const Scene& scene, double q, double v, const VectorXd& control = {},
                 PdConvention convention = PdConvention::Standard) {
    const auto model = build_model(scene);
    StepOptions options{.tolerance = 1e-10, .pd_convention = convention};
    return simulate(model, at(*model, numbers({q}), numbers({v})), kDt, kDt, control, options).q(1, 0);
}

/// Solution of mass/dt^2 (q+ - q - dt v) + stiffness (q+ - rest) + damping/dt (q+ - q) = force.
double closed_form(double q, double v, double mass, double stiffness, double rest, double damping, double force) {
    const double m = mass / (kDt * kDt), c = damping / kDt;
    return (m * (q + kDt * v) + stiffness * rest + c * q + force) / (m + stiffness + c);
}

TEST_CASE("joints: spring, damper, armature and gravity make the closed-form implicit Euler step") {
    const Joint joint{.damping = 3.0, .armature = 0.7, .stiffness = 40.0, .spring_reference = 0.3};
    const double q = 0.2, v = -1.1, next = step_once(slider_scene(joint), q, v);
    CHECK(std::abs(next - closed_form(q, v, 1.5 + 0.7, 40.0, 0.3, 3.0, 1.5 * 2.0)) < 1e-12);
    CHECK(std::abs(next - (q + kDt * v)) > 1e-4);  // the forces do act
}

TEST_CASE("joints: motor force and gear") {
    Scene scene = slider_scene({});
    scene.actuators = {{.name = "motor", .type = ActuatorType::Motor, .joint = "slide", .gear = {-4.0}}};
    CHECK(std::abs(step_once(scene, 0.2, 0.5, numbers({2.5})) -
                   closed_form(0.2, 0.5, 1.5, 0.0, 0.0, 0.0, 1.5 * 2.0 - 10.0)) < 1e-12);
}

TEST_CASE("joints: PD drives in both conventions") {
    Scene scene = slider_scene({});
    scene.actuators = {{.name = "pd", .type = ActuatorType::Pd, .joint = "slide", .kp = 30.0, .kd = 2.0}};
    const double q = 0.2, v = 0.5, target = 0.6, speed = -0.4;
    const auto expected = [&](double kp, double kd) {
        return closed_form(q, v, 1.5, kp, target, kd, 1.5 * 2.0 + kd * speed);
    };
    const VectorXd control = numbers({target, speed});
    CHECK(std::abs(step_once(scene, q, v, control) - expected(30.0, 2.0)) < 1e-12);
    // [SDRS2025, Eq. (5)] has neither the halves nor the dt: twice kp, and 2/dt times kd.
    CHECK(std::abs(step_once(scene, q, v, control, PdConvention::Paper) - expected(60.0, 2.0 * 2.0 / kDt)) < 1e-12);
    SUBCASE("with a gear, the drive acts on gear * q") {
        scene.actuators[0].gear = {3.0};
        const double next = closed_form(q, v, 1.5, 9.0 * 30.0, target / 3.0, 9.0 * 2.0, 1.5 * 2.0 + 3.0 * 2.0 * speed);
        CHECK(std::abs(step_once(scene, q, v, control) - next) < 1e-12);
    }
    SUBCASE("a missing input is a target of zero") {
        scene.actuators[0].velocity_input = false;
        CHECK(std::abs(step_once(scene, q, v, numbers({target})) - closed_form(q, v, 1.5, 30.0, target, 2.0, 3.0)) <
              1e-12);
        scene.actuators[0].velocity_input = true;
        scene.actuators[0].position_input = false;
        CHECK(std::abs(step_once(scene, q, v, numbers({speed})) -
                       closed_form(q, v, 1.5, 30.0, 0.0, 2.0, 3.0 + 2.0 * speed)) < 1e-12);
    }
}

TEST_CASE("joints: motor torque on a wheel") {
    // The planar inertia term has gradient I/dt^2 (2 sin d+ - sin(d+ + d)), d = q - q-, d+ = q+ - q; it balances the torque.
    Scene scene;
    scene.gravity.setZero();
    const double inertia = 0.03, torque = 0.4, v = 2.0;
    Body wheel{.name = "wheel", .joints = {{.name = "axle", .type = JointType::Hinge, .axis = {0.0, 0.0, 5.0}}}};
    wheel.moments = moments_from_inertia(2.0, Vector3d::Zero(), Vector3d(0.02, 0.02, inertia).asDiagonal(), "wheel");
    scene.bodies.push_back(wheel);
    scene.actuators = {{.name = "motor", .type = ActuatorType::Motor, .joint = "axle"}};
    const double d = step_once(scene, 0.3, v, numbers({torque})) - 0.3;
    CHECK(std::abs(inertia / (kDt * kDt) * (2.0 * std::sin(d) - std::sin(d + kDt * v)) - torque) < 1e-9);
    CHECK((d / kDt - v) / kDt == doctest::Approx(torque / inertia).epsilon(0.02));
}

// ---- the same mechanism described in several ways -----------------------------------------------------------------------

/// Poses of the last body. Motions from rest depend on poses alone, not on coordinates, so different descriptions agree.
std::vector<Pose> tip_path(const Scene& scene, const VectorXd& q0 = {}) {
    const auto model = build_model(scene);
    State start = model->default_state();
    if (q0.size()) start.q = q0;
    const Trajectory t = simulate(model, start, 0.3, kDt);
    std::vector<Pose> path;
    Kinematics kinematics;
    for (Eigen::Index s = 0; s < t.q.rows(); ++s) {
        forward_kinematics(*model, t.parameters, t.q.row(s).transpose(), kinematics);
        path.push_back(kinematics.poses.back());
    }
    return path;
}

double distance(const std::vector<Pose>& a, const std::vector<Pose>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (std::size_t s = 0; s < a.size(); ++s) {
        largest = std::max({largest, (a[s].position - b[s].position).norm(), (a[s].rotation - b[s].rotation).norm()});
    }
    return largest;
}

/// A body on the world with the given joints; anchors and placement are the same for every use.
Scene mounted(std::vector<Joint> joints) {
    Random random(21);
    Scene scene;
    Body body = testing::random_body(random, "tip", 0);
    body.joints = std::move(joints);
    scene.bodies.push_back(body);
    return scene;
}

/// The same joints one by one on a chain of nearly massless frames that all sit where the body sits.
Scene as_chain(const Scene& scene) {
    Scene chain = scene;
    const Body tip = scene.bodies.back();
    chain.bodies.pop_back();
    for (std::size_t k = 0; k < tip.joints.size(); ++k) {
        Body link{.name = "frame " + std::to_string(k),
                  .parent = static_cast<int>(chain.bodies.size()) - 1,
                  .joints = {tip.joints[k]}};
        link.moments = moments_from_inertia(1e-10, Vector3d::Zero(), 1e-12 * Eigen::Matrix3d::Identity(), link.name);
        if (k == 0) {
            link.position = tip.position;
            link.orientation = tip.orientation;
        }
        if (k + 1 == tip.joints.size()) link.moments = tip.moments;
        chain.bodies.push_back(link);
    }
    return chain;
}

TEST_CASE("joints: several joints on one body move like a chain of frames") {
    const Vector3d anchor(0.05, -0.1, 0.08), a(1.0, 0.2, -0.3), b(0.1, -0.4, 1.0);
    const Scene several =
        mounted({{.name = "slide", .type = JointType::Slide, .axis = a, .stiffness = 30.0},
                 {.name = "hinge", .type = JointType::Hinge, .anchor = anchor, .axis = b, .damping = 0.1},
                 {.name = "ball", .type = JointType::Ball, .anchor = 0.5 * anchor}});
    const auto path = tip_path(several);
    CHECK((path.back().position - path.front().position).norm() > 0.02);
    CHECK(distance(path, tip_path(as_chain(several))) < 1e-7);
}

TEST_CASE("joints: a universal joint is two hinges") {
    const Vector3d anchor(0.05, -0.1, 0.08), a(1.0, 0.2, -0.3), b(0.1, -0.4, 1.0);
    const Scene universal = mounted({{.name = "u",
                                      .type = JointType::Universal,
                                      .anchor = anchor,
                                      .axis = a,
                                      .axis2 = b,
                                      .damping = 0.05,
                                      .stiffness = 0.3}});
    const Scene hinges = mounted(
        {{.name = "a", .type = JointType::Hinge, .anchor = anchor, .axis = a, .damping = 0.05, .stiffness = 0.3},
         {.name = "b", .type = JointType::Hinge, .anchor = anchor, .axis = b, .damping = 0.05, .stiffness = 0.3}});
    const VectorXd start = numbers({0.4, -0.3});
    const auto path = tip_path(universal, start);
    CHECK((path.back().rotation - path.front().rotation).norm() > 0.1);
    CHECK(distance(path, tip_path(hinges, start)) < 1e-12);
    CHECK(distance(path, tip_path(as_chain(hinges), start)) < 1e-7);
}

TEST_CASE("joints: ball and free joints move like hinges and slides") {
    const Vector3d anchor(0.15, -0.1, 0.18), x = Vector3d::UnitX(), y = Vector3d::UnitY(), z = Vector3d::UnitZ();
    const auto hinge = [&](const char* name, const Vector3d& axis) {
        return Joint{.name = name, .type = JointType::Hinge, .anchor = anchor, .axis = axis};
    };
    const auto ball = tip_path(mounted({{.name = "ball", .type = JointType::Ball, .anchor = anchor}}));
    CHECK((ball.back().rotation - ball.front().rotation).norm() > 0.1);
    CHECK(distance(ball, tip_path(mounted({hinge("x", x), hinge("y", y), hinge("z", z)}))) < 1e-9);
    // A free body against slides along the world's axes, then a ball, on a body whose frame is the world's. A skew spring makes both turn.
    const auto spun = [&](std::vector<Joint> joints, const VectorXd& lever) {
        Scene scene = mounted(std::move(joints));
        scene.bodies[1].position.setZero();
        scene.bodies[1].orientation.setIdentity();
        scene.actuators = {{.name = "lever",
                            .type = ActuatorType::Motor,
                            .joint = scene.bodies[1].joints.back().name,
                            .gear = std::vector<double>(lever.begin(), lever.end())}};
        const auto model = build_model(scene);
        const Trajectory t = simulate(model, model->default_state(), 0.3, kDt, numbers({0.5}));
        std::vector<Pose> path;
        Kinematics kinematics;
        for (Eigen::Index s = 0; s < t.q.rows(); ++s) {
            forward_kinematics(*model, t.parameters, t.q.row(s).transpose(), kinematics);
            path.push_back(kinematics.poses.back());
        }
        return path;
    };
    const auto slide = [](const char* name, const Vector3d& axis) {
        return Joint{.name = name, .type = JointType::Slide, .axis = axis};
    };
    const auto free = spun({{.name = "free", .type = JointType::Free}}, numbers({0.0, 0.0, 0.0, 0.1, -0.2, 0.3}));
    const auto slides = spun({slide("x", x), slide("y", y), slide("z", z), {.name = "ball", .type = JointType::Ball}},
                             numbers({0.1, -0.2, 0.3}));
    CHECK((free.back().rotation - free.front().rotation).norm() > 0.1);
    CHECK(distance(free, slides) < 1e-9);
}

// ---- ties ------------------------------------------------------------------------------------------------------------------

TEST_CASE("ties: two tied slides are one slide") {
    Scene scene = slider_scene({.stiffness = 20.0, .spring_reference = 0.1}, 1.5);
    Body other{.name = "other",
               .joints = {{.name = "follower",
                           .type = JointType::Slide,
                           .axis = Vector3d::UnitZ(),
                           .damping = 0.6,
                           .stiffness = 7.0}}};
    other.moments = moments_from_inertia(0.8, Vector3d::Zero(), 0.01 * Eigen::Matrix3d::Identity(), "other");
    scene.bodies.push_back(other);
    scene.ties = {{.joint = "follower", .source = "slide", .ratio = -0.7, .offset = 0.25}};
    const auto model = build_model(scene);
    CHECK(model->num_unknowns() == 1);
    const double r = -0.7, o = 0.25, q = 0.3, v = 1.2;
    const Trajectory t = simulate(model, at(*model, numbers({q, o + r * q}), numbers({v, r * v})), kDt, kDt);
    // q2 = o + r q: mass m1 + r^2 m2, damping r^2 c, springs k1 (q - a) + r k2 (o + r q), gravity m1 gx + r m2 gz.
    const double stiffness = 20.0 + r * r * 7.0, force = 1.5 * 2.0 + r * 0.8 * -9.81 + 20.0 * 0.1 - r * 7.0 * o;
    CHECK(std::abs(t.q(1, 0) - closed_form(q, v, 1.5 + r * r * 0.8, stiffness, 0.0, r * r * 0.6, force)) < 1e-12);
    CHECK(std::abs(t.q(1, 1) - (o + r * t.q(1, 0))) < 1e-14);
}

TEST_CASE("ties: a hinge tied to keep a bob upright moves it like a point mass") {
    Random random(31);
    const Vector3d axis(0.2, 1.0, 0.1), end(0.1, 0.0, -0.5);
    Scene scene;
    Body arm = testing::random_body(random, "arm", 0);
    arm.orientation.setIdentity();
    arm.joints = {{.name = "shoulder", .type = JointType::Hinge, .axis = axis}};
    Body bob = testing::random_body(random, "bob", 1);
    bob.position = end;
    bob.orientation.setIdentity();
    bob.joints = {{.name = "wrist", .type = JointType::Hinge, .axis = axis}};
    scene.bodies.insert(scene.bodies.end(), {arm, bob});
    scene.ties = {{.joint = "wrist", .source = "shoulder", .ratio = -1.0}};
    const auto tied = build_model(scene);
    Scene lumped;
    const double m = bob.moments->mass;
    *arm.moments += Moments{.mass = m, .first = m * end, .second = m * end * end.transpose()};
    lumped.bodies.push_back(arm);
    const auto single = build_model(lumped);
    const Trajectory a = simulate(tied, at(*tied, numbers({0.8, -0.8}), numbers({1.0, -1.0})), 0.5, kDt);
    const Trajectory b = simulate(single, at(*single, numbers({0.8}), numbers({1.0})), 0.5, kDt);
    CHECK((a.q.col(0) - b.q.col(0)).cwiseAbs().maxCoeff() < 1e-9);
    CHECK((a.q.col(0) + a.q.col(1)).cwiseAbs().maxCoeff() < 1e-13);
    CHECK(std::abs(b.q(50, 0) - b.q(0, 0)) > 0.5);
}

// ---- limits ----------------------------------------------------------------------------------------------------------------

TEST_CASE("limits: nothing inside, a finite push back outside, and the stated stiffness at rest") {
    Joint joint{.range = Range{-0.2, 0.4}, .limit_stiffness = 500.0, .damping = 20.0};
    Scene scene = slider_scene(joint);
    scene.gravity.setZero();
    const auto model = build_model(scene);
    CHECK(model->warnings().empty());
    // inside: the limit is not felt
    CHECK(step_once(scene, 0.3, 1.0) == closed_form(0.3, 1.0, 1.5, 0.0, 0.0, 20.0, 0.0));
    // outside: pushed back towards the range, above and below alike
    const double above = step_once(scene, 0.9, 0.0), below = step_once(scene, -0.7, 0.0);
    CHECK(above < 0.9);
    CHECK(above > 0.4);
    CHECK(std::abs((0.9 - above) - (below + 0.7)) < 1e-12);
    // held against the limit by a constant force F, it rests at excess x with limit_stiffness/2 x^2 = F
    scene.gravity = {8.0, 0.0, 0.0};
    const auto pressed = build_model(scene);
    const Trajectory t = simulate(pressed, at(*pressed, numbers({0.0}), numbers({0.0})), 20.0, 0.05);
    CHECK(t.q(t.num_steps(), 0) == doctest::Approx(0.4 + std::sqrt(2.0 * 1.5 * 8.0 / 500.0)).epsilon(1e-9));
    const double x = t.q(t.num_steps(), 0) - 0.4;
    CHECK(t.reports.back().potential ==
          doctest::Approx(500.0 / 6.0 * x * x * x - 1.5 * 8.0 * (0.4 + x + 0.1)).epsilon(1e-9));
}

TEST_CASE("limits: a joint described outside its range is a warning, not an error") {
    const auto model = build_model(slider_scene({.reference = 0.7, .range = Range{-0.2, 0.4}}));
    REQUIRE(model->warnings().size() == 1);
    CHECK(testing::contains(model->warnings()[0], "joint 'slide' starts at 0.7, outside its range [-0.2, 0.4]"));
    const Trajectory t = simulate(model, model->default_state(), 1.0, kDt);
    CHECK(t.q(100, 0) < 0.7);
}

/// Slope of the objective along the first degree of freedom at coordinate x of a hinge-free scene.
template <class Place>
double objective_slope(const Model& model, Place&& place, double x) {
    const State now = model.default_state();
    const StepInput input{VectorXd::Zero(model.num_controls()), {}};
    const StepOptions options{.dt = 1.0};
    const StepContext context{.model = model, .parameters = model.default_parameters(), .options = options};
    StepMemory memory = make_memory(context);
    StepProblem problem;
    problem.begin(context, now, input, memory);
    VectorXd q;
    VectorXd delta = VectorXd::Zero(model.num_dofs());
    place(x, delta);
    retract(model, now.q, delta, q);
    problem.linearize(q);
    return problem.linearization().gradient[0];
}

TEST_CASE("limits: the spring is twice continuously differentiable at the switch") {
    const double kappa = 500.0, edge = 0.4;
    const Joint limited{.range = Range{-0.2, edge}, .limit_stiffness = kappa};
    const Joint ball{.name = "ball", .type = JointType::Ball, .range = Range{0.0, edge}, .limit_stiffness = kappa};
    const auto along_first = [](double x, VectorXd& delta) { delta[0] = x; };
    const auto check = [&](const Model& limited_model, const Model& unlimited_model) {
        // one-sided second differences just outside and inside; the rest of the objective is taken out
        const auto slope = [&](double x) {
            return objective_slope(limited_model, along_first, x) - objective_slope(unlimited_model, along_first, x);
        };
        double previous = 0.0;
        for (const double h : {1e-2, 5e-3, 2.5e-3}) {
            const double jump = (slope(edge + h) - slope(edge)) / h - (slope(edge) - slope(edge - h)) / h;
            CHECK(jump == doctest::Approx(0.5 * kappa * h).epsilon(1e-6));  // linear in h, so no jump of the curvature
            if (previous > 0.0) CHECK(previous / jump == doctest::Approx(2.0).epsilon(1e-6));
            previous = jump;
        }
    };
    check(*build_model(slider_scene(limited)), *build_model(slider_scene({})));
    Joint unlimited_ball = ball;
    unlimited_ball.range.reset();
    check(*build_model(mounted({ball})), *build_model(mounted({unlimited_ball})));
}

// ---- scripts ---------------------------------------------------------------------------------------------------------------

TEST_CASE("scripts: a kinematic body carries what is welded to it and drags what slides on it") {
    Scene scene;
    scene.gravity.setZero();
    const Eigen::Quaterniond tilt(Eigen::AngleAxisd(0.4, Vector3d(1.0, 2.0, 0.5).normalized()));
    Body carrier{.name = "carrier", .position = {0.3, 0.1, 1.0}, .motion = BodyMotion::Kinematic};
    Body welded{
        .name = "welded", .parent = 1, .position = {0.2, 0.0, 0.1}, .orientation = tilt, .motion = BodyMotion::Fixed};
    Body slider{
        .name = "slider",
        .parent = 1,
        .joints = {
            {.name = "slide", .type = JointType::Slide, .axis = Vector3d::UnitX(), .damping = 0.5, .stiffness = 9.0}}};
    slider.moments = moments_from_inertia(1.2, Vector3d::Zero(), 0.01 * Eigen::Matrix3d::Identity(), "slider");
    scene.bodies.insert(scene.bodies.end(), {carrier, welded, slider});
    const auto model = build_model(scene);
    CHECK(model->num_unknowns() == 1);
    const int steps = 30;
    RolloutInput input{
        .state0 = model->default_state(), .controls = RowMatrix::Zero(steps, 0), .script = RowMatrix::Zero(steps, 7)};
    const auto place = [&](int s) { return Vector3d(0.3 + 0.2 * std::sin(0.1 * s), 0.1 + 0.01 * s, 1.0); };
    for (int s = 1; s <= steps; ++s) input.script.row(s - 1) << place(s).transpose(), 1.0, 0.0, 0.0, 0.0;
    const Trajectory t = rollout(model, model->default_parameters(), input, {.dt = kDt, .tolerance = 1e-10});
    REQUIRE(t.converged());
    const int slide = model->joints()[static_cast<std::size_t>(*model->find_joint("slide"))].q;
    Kinematics kinematics;
    double s_before = 0.0, s_now = 0.0;  // m (X+ - 2 X + X-)/dt^2 + c (s+ - s)/dt + k s+ = 0 with X = carrier + s
    for (int s = 1; s <= steps; ++s) {
        const double drive = place(s).x() - 2.0 * place(s - 1).x() + place(std::max(s - 2, 0)).x();
        const double m = 1.2 / (kDt * kDt);
        const double s_next = (m * (2.0 * s_now - s_before - drive) + 0.5 / kDt * s_now) / (m + 0.5 / kDt + 9.0);
        CHECK(std::abs(t.q(s, slide) - s_next) < 1e-12);
        s_before = s_now;
        s_now = s_next;
        forward_kinematics(*model, t.parameters, t.q.row(s).transpose(), kinematics);
        CHECK((kinematics.poses[1].position - place(s)).norm() < 1e-15);
        CHECK((kinematics.poses[2].position - (place(s) + Vector3d(0.2, 0.0, 0.1))).norm() < 1e-14);
        CHECK((kinematics.poses[2].rotation - tilt.toRotationMatrix()).norm() < 1e-14);
        CHECK((kinematics.poses[3].position - (place(s) + Vector3d(s_next, 0.0, 0.0))).norm() < 1e-12);
    }
    CHECK(std::abs(s_now) > 1e-3);
}

TEST_CASE("scripts: a turning carrier") {
    Scene scene;
    scene.gravity.setZero();
    scene.bodies.push_back({.name = "carrier", .motion = BodyMotion::Kinematic});
    scene.bodies.push_back({.name = "welded", .parent = 1, .position = {0.5, 0.0, 0.0}, .motion = BodyMotion::Fixed});
    const auto model = build_model(scene);
    const int steps = 20;
    RolloutInput input{
        .state0 = model->default_state(), .controls = RowMatrix::Zero(steps, 0), .script = RowMatrix::Zero(steps, 7)};
    for (int s = 1; s <= steps; ++s)
        input.script.row(s - 1) << 0.0, 0.0, 0.0, std::cos(0.1 * s), 0.0, 0.0, std::sin(0.1 * s);
    const Trajectory t = rollout(model, model->default_parameters(), input, {.dt = kDt});
    REQUIRE(t.converged());  // nothing is left to solve for
    Kinematics kinematics;
    for (int s = 0; s <= steps; ++s) {
        forward_kinematics(*model, t.parameters, t.q.row(s).transpose(), kinematics);
        CHECK((kinematics.poses[2].position - 0.5 * Vector3d(std::cos(0.2 * s), std::sin(0.2 * s), 0.0)).norm() <
              1e-14);
        if (s > 0) CHECK(t.v(s, 5) == doctest::Approx(0.2 / kDt).epsilon(1e-12));
    }
    const RowMatrix partials = RowMatrix::Ones(steps + 1, 6 * model->num_bodies());
    const RolloutGradient g = rollout_vjp(t, {.dL_dpose = view(partials)});
    CHECK(g.script.row(steps - 1).head<3>().isApprox(Eigen::RowVector3d::Constant(2.0)));  // both bodies follow it
}

}  // namespace
}  // namespace farfield
