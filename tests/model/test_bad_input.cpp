// SPDX-License-Identifier: Apache-2.0
/// @file  Every mistake a caller can make is an error that names the element, the value and the expectation.
#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "farfield/dynamics/rollout.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/scene/shape_surface.hpp"
#include "support/error_text.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using testing::contains;
using testing::error_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// Free body "base" with a box, "arm" on a universal joint with a mesh, "hand" on a hinge, "tail" on a tied hinge.
Scene good_scene() {
    Scene scene;
    scene.name = "robot";
    const Moments moments = moments_from_inertia(1.0, Vector3d::Zero(), 0.1 * Eigen::Matrix3d::Identity(), "unit");
    scene.bodies.push_back({.name = "base", .joints = {{.name = "root", .type = JointType::Free}}, .moments = moments});
    scene.bodies.push_back({.name = "arm",
                            .parent = 1,
                            .position = {1, 0, 0},
                            .joints = {{.name = "shoulder", .type = JointType::Universal}},
                            .moments = moments});
    scene.bodies.push_back({.name = "hand",
                            .parent = 2,
                            .position = {1, 0, 0},
                            .joints = {{.name = "wrist", .range = Range{-1, 1}}},
                            .moments = moments});
    scene.bodies.push_back(
        {.name = "tail", .parent = 1, .position = {-1, 0, 0}, .joints = {{.name = "tail"}}, .moments = moments});
    scene.bodies.push_back({.name = "cart", .position = {0, 9, 0}, .motion = BodyMotion::Kinematic});
    scene.meshes = {make_box({0.1, 0.1, 0.1})};
    scene.meshes[0].name = "cube";
    scene.shapes = {{.name = "ground", .type = ShapeType::HalfSpace, .position = {0, 0, -5}},
                    {.name = "trunk", .body = 1, .type = ShapeType::Capsule, .size = {0.1, 0.1, 0.1}},
                    {.name = "fist", .body = 3, .type = ShapeType::Mesh, .mesh = 0}};
    scene.actuators = {{.name = "drive", .joint = "wrist", .kp = 1.0, .gear = {1.0}, .control_range = Range{-1, 1}}};
    scene.ties = {{.joint = "tail", .source = "wrist", .ratio = 0.5}};
    scene.keyframes = {
        {.name = "home", .q = VectorXd::Zero(18), .v = VectorXd::Zero(16), .control = VectorXd::Zero(2)}};
    scene.keyframes[0].q[3] = scene.keyframes[0].q[14] = 1.0;
    return scene;
}

/// Spoils the good scene; the error must carry all of `parts`.
void refused(const std::function<void(Scene&)>& spoil, const std::vector<std::string>& parts) {
    Scene scene = good_scene();
    spoil(scene);
    const std::string error = error_of([&] { (void)build_model(scene); });
    CHECK_MESSAGE(!error.empty(), "accepted, expected an error with: " << parts[0]);
    for (const std::string& part : parts)
        CHECK_MESSAGE(contains(error, part), "'" << error << "' lacks '" << part << "'");
}

TEST_CASE("bad input: the good scene is good") {
    const auto model = build_model(good_scene());
    CHECK(model->num_q() == 18);
    CHECK(model->num_dofs() == 16);
    CHECK(model->num_controls() == 2);
}

TEST_CASE("bad input: masses") {
    const auto mass = [](double value) { return [value](Scene& s) { s.bodies[1].moments->mass = value; }; };
    refused(mass(-1.0), {"body 'base'", "mass -1", "expected > 0"});
    refused(mass(0.0), {"body 'base'", "mass 0", "expected > 0"});
    refused(mass(kNan), {"body 'base'", "mass nan", "expected > 0"});
    refused(mass(kInf), {"body 'base'", "mass inf", "finite"});
    refused([](Scene& s) { s.bodies[1].moments->second(2, 2) = -0.1; },
            {"body 'base'", "second moment about the centre of mass has eigenvalue -0.1", "expected >= 0"});
    refused([](Scene& s) { s.bodies[1].moments->second(0, 1) = 0.3; }, {"body 'base'", "not symmetric", "0.29"});
    refused(
        [](Scene& s) {
            s.bodies[1].moments->first = {5.0, 0.0, 0.0};
        },
        {"body 'base'", "eigenvalue -24.9", "expected >= 0"});
    refused(
        [](Scene& s) {
            s.bodies[1].moments.reset();
            s.shapes[1].density = 0.0;
        },
        {"body 'base'", "mass 0", "expected > 0"});
    const auto inertia = [](const Vector3d& diagonal, double m = 1.0) {
        return error_of([&] { (void)moments_from_inertia(m, Vector3d::Zero(), diagonal.asDiagonal(), "body 'x'"); });
    };
    CHECK(contains(inertia({1.0, 1.0, 2.5}),
                   "body 'x': principal inertias (1, 1, 2.5), expected none negative and none larger than the sum"));
    CHECK(contains(inertia({1.0, -1.0, 1.0}), "expected none negative"));
    CHECK(contains(inertia({1.0, 1.0, 1.0}, -2.0), "body 'x': mass -2, expected > 0"));
    CHECK(contains(inertia({1.0, kNan, 1.0}), "inertia[1, 1] = nan, expected a finite number"));
    CHECK(inertia({1.0, 1.0, 2.0}).empty());
}

TEST_CASE("bad input: NaN and infinity in every number of a scene") {
    struct Spot {
        std::string element, field;
        std::function<double&(Scene&)> number;
    };
    std::vector<Spot> spots;
    const auto add = [&](const std::string& element, const std::string& field, std::function<double&(Scene&)> number) {
        spots.push_back({element, field, std::move(number)});
    };
    for (int k = 0; k < 3; ++k) {
        const std::string at = "[" + std::to_string(k) + "]";
        add("scene 'robot'", "gravity" + at, [k](Scene& s) -> double& { return s.gravity[k]; });
        add("body 'arm'", "position" + at, [k](Scene& s) -> double& { return s.bodies[2].position[k]; });
        add("body 'arm'", "orientation" + at, [k](Scene& s) -> double& { return s.bodies[2].orientation.coeffs()[k]; });
        add("body 'arm'", "first moment", [k](Scene& s) -> double& { return s.bodies[2].moments->first[k]; });
        add("body 'arm'", "second moment[" + std::to_string(k) + ", 0]",
            [k](Scene& s) -> double& { return s.bodies[2].moments->second(k, 0); });
        add("joint 'shoulder'", "anchor" + at, [k](Scene& s) -> double& { return s.bodies[2].joints[0].anchor[k]; });
        add("joint 'shoulder'", "axis" + at, [k](Scene& s) -> double& { return s.bodies[2].joints[0].axis[k]; });
        add("joint 'shoulder'", "axis2" + at, [k](Scene& s) -> double& { return s.bodies[2].joints[0].axis2[k]; });
        add("shape 'trunk'", "size", [k](Scene& s) -> double& { return s.shapes[1].size[k]; });
        add("shape 'trunk'", "position", [k](Scene& s) -> double& { return s.shapes[1].position[k]; });
        add("shape 'trunk'", "orientation", [k](Scene& s) -> double& { return s.shapes[1].orientation.coeffs()[k]; });
        add("shape 'trunk'", "color", [k](Scene& s) -> double& { return s.shapes[1].color[k]; });
        add("mesh 'cube'", "vertex 4: coordinate " + std::to_string(k),
            [k](Scene& s) -> double& { return s.meshes[0].vertices(4, k); });
    }
    add("joint 'wrist'", "reference", [](Scene& s) -> double& { return s.bodies[3].joints[0].reference; });
    add("joint 'wrist'", "spring_reference",
        [](Scene& s) -> double& { return s.bodies[3].joints[0].spring_reference; });
    add("joint 'wrist'", "limit_stiffness", [](Scene& s) -> double& { return s.bodies[3].joints[0].limit_stiffness; });
    add("joint 'wrist'", "damping", [](Scene& s) -> double& { return s.bodies[3].joints[0].damping; });
    add("joint 'wrist'", "armature", [](Scene& s) -> double& { return s.bodies[3].joints[0].armature; });
    add("joint 'wrist'", "stiffness", [](Scene& s) -> double& { return s.bodies[3].joints[0].stiffness; });
    add("shape 'trunk'", "density", [](Scene& s) -> double& { return s.shapes[1].density; });
    add("shape 'trunk'", "friction", [](Scene& s) -> double& { return s.shapes[1].friction; });
    add("actuator 'drive'", "kp", [](Scene& s) -> double& { return s.actuators[0].kp; });
    add("actuator 'drive'", "kd", [](Scene& s) -> double& { return s.actuators[0].kd; });
    add("actuator 'drive'", "gear[0]", [](Scene& s) -> double& { return s.actuators[0].gear[0]; });
    add("tie of joint 'tail' to 'wrist'", "ratio", [](Scene& s) -> double& { return s.ties[0].ratio; });
    add("tie of joint 'tail' to 'wrist'", "offset", [](Scene& s) -> double& { return s.ties[0].offset; });
    add("keyframe 'home'", "q[9]", [](Scene& s) -> double& { return s.keyframes[0].q[9]; });
    add("keyframe 'home'", "v[2]", [](Scene& s) -> double& { return s.keyframes[0].v[2]; });
    add("keyframe 'home'", "control[1]", [](Scene& s) -> double& { return s.keyframes[0].control[1]; });
    for (const Spot& spot : spots) {
        refused([&](Scene& s) { spot.number(s) = kNan; }, {spot.element, spot.field, "nan", "expected"});
        refused([&](Scene& s) { spot.number(s) = -kInf; }, {spot.element, spot.field, "-inf", "expected"});
        refused([&](Scene& s) { spot.number(s) = kInf; }, {spot.element, spot.field, "inf", "expected"});
    }
    for (const bool upper : {false, true}) {  // ranges may be open, but not the wrong way round
        refused(
            [&](Scene& s) { (upper ? s.bodies[3].joints[0].range->upper : s.bodies[3].joints[0].range->lower) = kNan; },
            {"joint 'wrist': range [", "nan", "expected lower <= upper"});
        refused(
            [&](Scene& s) {
                (upper ? s.actuators[0].control_range->upper : s.actuators[0].control_range->lower) = kNan;
            },
            {"actuator 'drive': control_range [", "nan", "expected lower <= upper"});
    }
    refused([](Scene& s) { s.bodies[3].joints[0].range = Range{kInf, kInf}; }, {"joint 'wrist': range [inf, inf]"});
    refused(
        [](Scene& s) {
            s.bodies[2].joints[0].range2 = Range{0.5, -0.5};
        },
        {"joint 'shoulder': range2 [0.5, -0.5], expected lower <= upper"});
}

TEST_CASE("bad input: names, trees and indices") {
    refused([](Scene& s) { s.bodies[2].name = "base"; }, {"body 'base'", "used twice", "expected unique"});
    refused([](Scene& s) { s.bodies[2].name.clear(); }, {"body 2", "empty name", "expected"});
    refused([](Scene& s) { s.bodies[3].joints[0].name = "root"; }, {"joint 'root'", "used twice", "expected unique"});
    refused([](Scene& s) { s.bodies[3].joints[0].name.clear(); }, {"body 'hand'", "empty name", "expected"});
    refused([](Scene& s) { s.actuators.push_back(s.actuators[0]); },
            {"actuator 'drive'", "used twice", "expected unique"});
    refused([](Scene& s) { s.keyframes.push_back(s.keyframes[0]); },
            {"keyframe 'home'", "used twice", "expected unique"});
    refused([](Scene& s) { s.actuators[0].joint = "nowhere"; },
            {"actuator 'drive'", "unknown joint 'nowhere'", "expected"});
    refused([](Scene& s) { s.ties[0].source = "nowhere"; },
            {"tie of joint 'tail' to 'nowhere'", "unknown joint", "expected"});
    refused([](Scene& s) { s.ties[0].joint = "nowhere"; }, {"tie of joint 'nowhere'", "unknown joint", "expected"});
    refused(
        [](Scene& s) {
            s.exclude_contacts = {{"base", "ghost"}};
        },
        {"exclude_contacts", "unknown body 'ghost'", "expected"});
    refused(
        [](Scene& s) {
            s.pair_friction = {{"ghost", "base", 0.5}};
        },
        {"pair_friction", "unknown body 'ghost'", "expected"});
    refused(
        [](Scene& s) {
            s.pair_contact = {{"base", "ghost", ContactPolicy::Near}};
        },
        {"pair_contact", "unknown body 'ghost'", "expected"});
    refused([](Scene& s) { s.pair_friction = {{"base", "world", -0.5}}; }, {"pair_friction", "-0.5", "expected >= 0"});
    refused(
        [](Scene& s) {
            s.include_contacts = {{"ghost", "base"}};
        },
        {"include_contacts", "unknown body 'ghost'", "expected"});
    refused([](Scene& s) { s.bodies.clear(); }, {"no bodies", "expected at least the world"});
    refused(
        [](Scene& s) {
            s.bodies[2].parent = 3;
            s.bodies[3].parent = 2;
        },
        {"body 'arm'", "parent 'hand' makes a cycle", "expected a tree"});
    refused([](Scene& s) { s.bodies[2].parent = 2; }, {"body 'arm'", "parent 'arm' makes a cycle", "expected a tree"});
    refused([](Scene& s) { s.bodies[2].parent = 4; },
            {"body 'arm'", "parent 'tail' comes later", "expected parents before children"});
    refused([](Scene& s) { s.bodies[2].parent = -1; }, {"body 'arm'", "parent index -1", "expected 0 to 5"});
    refused([](Scene& s) { s.bodies[2].parent = 77; }, {"body 'arm'", "parent index 77", "expected 0 to 5"});
    refused([](Scene& s) { s.shapes[1].body = 6; }, {"shape 'trunk'", "body index 6", "expected 0 to 5"});
    refused([](Scene& s) { s.shapes[2].mesh = 1; },
            {"shape 'fist'", "mesh index 1", "expected the index of one of the 1 meshes"});
    refused([](Scene& s) { s.shapes[2].mesh = -1; }, {"shape 'fist'", "mesh index -1", "expected"});
}

TEST_CASE("bad input: joints, actuators and ties") {
    refused([](Scene& s) { s.bodies[0].joints = {{.name = "w"}}; }, {"body 'world'", "1 joints", "expected none"});
    refused([](Scene& s) { s.bodies[2].joints[0].type = JointType::Free; },
            {"joint 'shoulder'", "child of 'base'", "expected a child of the world"});
    refused([](Scene& s) { s.bodies[1].joints.push_back({.name = "more"}); },
            {"joint 'root'", "body 'base'", "expected it alone"});
    refused([](Scene& s) { s.bodies[5].joints.push_back({.name = "more"}); },
            {"body 'cart'", "joint 'more'", "expected no joints"});
    refused([](Scene& s) { s.bodies[5].parent = 1; }, {"body 'cart'", "parent 'base'", "expected the world"});
    refused([](Scene& s) { s.bodies[3].joints[0].axis.setZero(); },
            {"joint 'wrist'", "axis is zero", "expected a direction"});
    refused([](Scene& s) { s.bodies[2].joints[0].axis2 = -2.0 * s.bodies[2].joints[0].axis; },
            {"joint 'shoulder'", "parallel", "expected two different directions"});
    refused(
        [](Scene& s) {
            s.bodies[2].joints[0] = {.name = "b", .type = JointType::Ball, .range = Range{0.1, 1.0}};
        },
        {"joint 'b'", "range lower = 0.1", "expected 0"});
    refused(
        [](Scene& s) {
            s.bodies[3].joints[0].range = Range{1.0, -1.0};
        },
        {"joint 'wrist'", "range [1, -1]", "expected lower <= upper"});
    refused([](Scene& s) { s.bodies[3].joints[0].damping = -0.5; },
            {"joint 'wrist'", "damping = -0.5", "expected >= 0"});
    refused([](Scene& s) { s.actuators[0].kp = -1.0; }, {"actuator 'drive'", "kp = -1", "expected >= 0"});
    refused(
        [](Scene& s) {
            s.actuators[0].gear = {1.0, 2.0};
        },
        {"actuator 'drive'", "gear has 2 entries", "expected 1"});
    refused(
        [](Scene& s) {
            s.actuators[0] = {.name = "u", .joint = "shoulder", .gear = {1.0, 2.0}};
        },
        {"actuator 'u'", "2 degrees of freedom", "expected 1"});
    refused([](Scene& s) { s.actuators[0].position_input = s.actuators[0].velocity_input = false; },
            {"actuator 'drive'", "expected at least one"});
    refused([](Scene& s) { s.actuators[0].joint = "cart (scripted)"; },
            {"actuator 'drive'", "'cart (scripted)' has no degree of freedom to drive", "expected"});
    refused([](Scene& s) { s.ties.push_back({.joint = "tail", .source = "wrist"}); },
            {"tie of joint 'tail'", "tied twice", "expected"});
    refused([](Scene& s) { s.ties.push_back({.joint = "wrist", .source = "tail"}); },
            {"tie of joint 'wrist' to 'tail'", "cycle", "expected"});
    refused([](Scene& s) { s.ties[0].source = "tail"; }, {"tie of joint 'tail' to 'tail'", "cycle", "expected"});
    refused([](Scene& s) { s.ties[0].source = "shoulder"; },
            {"'shoulder' has 2 degrees of freedom", "expected a hinge or slide"});
    refused([](Scene& s) { s.keyframes[0].q = VectorXd::Zero(3); },
            {"keyframe 'home'", "q has 3 entries", "expected 18"});
    refused([](Scene& s) { s.keyframes[0].v = VectorXd::Zero(3); },
            {"keyframe 'home'", "v has 3 entries", "expected 16"});
    refused([](Scene& s) { s.keyframes[0].control = VectorXd::Zero(3); },
            {"keyframe 'home'", "control has 3 entries", "expected 2"});
    refused([](Scene& s) { s.bodies[2].orientation.coeffs().setZero(); },
            {"body 'arm'", "orientation quaternion is zero", "expected a rotation"});
}

TEST_CASE("bad input: shapes and meshes") {
    refused([](Scene& s) { s.shapes[1].size[1] = -0.1; }, {"shape 'trunk'", "size[1] = -0.1", "expected > 0"});
    refused([](Scene& s) { s.shapes[1].size[0] = 0.0; }, {"shape 'trunk'", "size[0] = 0", "expected > 0"});
    refused([](Scene& s) { s.shapes[1].density = -1.0; }, {"shape 'trunk'", "density -1", "expected >= 0"});
    refused([](Scene& s) { s.shapes[1].friction = -1.0; }, {"shape 'trunk'", "friction -1", "expected >= 0"});
    refused([](Scene& s) { s.shapes[1].resolution = -1; }, {"shape 'trunk'", "resolution -1", "expected >= 0"});
    refused([](Scene& s) { s.shapes[1].resolution = 2; },
            {"shape 'trunk'", "resolution 2", "expected 0 (the default) or 3 to 4096"});
    refused(
        [](Scene& s) {
            s.shapes[1].type = ShapeType::Sphere;
            s.shapes[1].resolution = 9;
        },
        {"shape 'trunk'", "resolution 9", "at most 8"});
    refused([](Scene& s) { s.shapes[1].orientation.coeffs().setZero(); },
            {"shape 'trunk'", "orientation quaternion", "expected a rotation"});
    refused([](Scene& s) { s.shapes[0].body = 3; },
            {"shape 'ground'", "half-space on moving body 'hand'", "expected the world or a fixed or kinematic body"});
    refused([](Scene& s) { s.meshes[0].vertices.resize(0, 3); }, {"mesh 'cube'", "no vertices", "expected"});
    refused([](Scene& s) { s.meshes[0].triangles.resize(0, 3); }, {"mesh 'cube'", "no triangles", "expected"});
    refused([](Scene& s) { s.meshes[0].triangles(3, 1) = s.meshes[0].triangles(3, 0); },
            {"mesh 'cube'", "triangle 3", "area 0", "expected >"});
    refused([](Scene& s) { s.meshes[0].triangles(3, 1) = 8; },
            {"mesh 'cube'", "triangle 3", "vertex index 8", "expected 0 to 7"});
    refused([](Scene& s) { s.meshes[0].triangles(3, 1) = -1; }, {"mesh 'cube'", "vertex index -1", "expected 0 to 7"});
    refused(
        [](Scene& s) {
            s.bodies[3].moments.reset();
            s.meshes[0].triangles.conservativeResize(11, 3);
        },
        {"mesh 'cube' is not watertight", "expected"});
    CHECK_NOTHROW((void)[] {
        Scene s = good_scene();
        s.shapes[0].body = 5;
        return build_model(s);
    }());
}

// ---- rollouts ------------------------------------------------------------------------------------------------------------

struct Call {
    std::shared_ptr<const Model> model = build_model(good_scene());
    Parameters parameters = model->default_parameters();
    RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Zero(3, 2)};
    StepOptions options{};
    [[nodiscard]] Trajectory run() const { return rollout(model, parameters, input, options); }
};

void refused_call(const std::function<void(Call&)>& spoil, const std::vector<std::string>& parts) {
    Call call;
    spoil(call);
    const std::string error = error_of([&] { (void)call.run(); });
    CHECK_MESSAGE(!error.empty(), "accepted, expected an error with: " << parts[0]);
    for (const std::string& part : parts)
        CHECK_MESSAGE(contains(error, part), "'" << error << "' lacks '" << part << "'");
}

TEST_CASE("bad input: step options") {
    for (const double dt : {0.0, -0.01, kNan, kInf})
        refused_call([dt](Call& c) { c.options.dt = dt; }, {"dt ", "expected > 0"});
    for (const double tolerance : {0.0, -1.0, kNan, kInf})
        refused_call([tolerance](Call& c) { c.options.tolerance = tolerance; }, {"tolerance ", "expected > 0"});
    refused_call([](Call& c) { c.options.max_iterations = 0; }, {"max_iterations 0", "expected >= 1"});
    refused_call([](Call& c) { c.model = nullptr; }, {"no model"});
}

TEST_CASE("bad input: states, controls and scripts") {
    CHECK(Call{}.run().converged());
    refused_call([](Call& c) { c.input.state0.q[2] = kNan; }, {"state0", "q[2] = nan", "expected a finite number"});
    refused_call([](Call& c) { c.input.state0.v[2] = kInf; }, {"state0", "v[2] = inf", "expected a finite number"});
    refused_call([](Call& c) { c.input.state0.q.conservativeResize(5); }, {"state0", "q has 5 rows", "expected 18"});
    refused_call([](Call& c) { c.input.state0.v.conservativeResize(5); }, {"state0", "v has 5 rows", "expected 16"});
    refused_call([](Call& c) { c.input.state0.q.segment<4>(3) *= 1.1; },
                 {"joint 'root'", "quaternion q[3:7] has norm 1.1", "expected 1"});
    refused_call([](Call& c) { c.input.state0.q.segment<4>(3).setZero(); }, {"joint 'root'", "norm 0", "expected 1"});
    refused_call([](Call& c) { c.input.state0.q[10] = 0.3; },
                 {"joint 'tail' is at 0.29", "expected 0", "tie to 'wrist'"});
    refused_call([](Call& c) { c.input.controls(1, 1) = kNan; }, {"controls[1, 1] = nan", "expected a finite number"});
    refused_call([](Call& c) { c.input.controls.setZero(3, 1); }, {"controls has shape (3, 1)", "expected (3, 2)"});
    refused_call([](Call& c) { c.input.script.setZero(3, 6); }, {"script has shape (3, 6)", "expected (3, 7)"});
    refused_call([](Call& c) { c.input.script.setZero(2, 7); }, {"script has shape (2, 7)", "expected (3, 7)"});
    refused_call([](Call& c) { c.input.script.setZero(3, 7); }, {"script[0]", "body 'cart'", "norm 0", "expected 1"});
    refused_call([](Call& c) { c.input.script.setConstant(3, 7, kNan); },
                 {"script[0, 0] = nan", "expected a finite number"});
}

TEST_CASE("bad input: parameters") {
    const auto vector = [](const char* name, auto member) {
        refused_call([member](Call& c) { (c.parameters.*member).row(1)[0] = kNan; },
                     {"parameters", std::string(name) + "[1", "nan", "expected a finite number"});
        refused_call([member](Call& c) { (c.parameters.*member).conservativeResize(3, (c.parameters.*member).cols()); },
                     {"parameters", std::string(name) + " has 3 rows", "expected"});
    };
    vector("attachment", &Parameters::attachment);
    vector("moments", &Parameters::moments);
    vector("damping", &Parameters::damping);
    vector("armature", &Parameters::armature);
    vector("stiffness", &Parameters::stiffness);
    vector("friction", &Parameters::friction);
    refused_call([](Call& c) { c.parameters.kp[0] = kNan; }, {"kp[0] = nan", "expected a finite number"});
    refused_call([](Call& c) { c.parameters.kd[0] = kNan; }, {"kd[0] = nan", "expected a finite number"});
    refused_call([](Call& c) { c.parameters.kp.resize(0); }, {"kp has 0 rows", "expected 1"});
    refused_call([](Call& c) { c.parameters.kd.resize(4); }, {"kd has 4 rows", "expected 1"});
    refused_call([](Call& c) { c.parameters.gravity[1] = kInf; }, {"gravity[1] = inf", "expected a finite number"});
    refused_call([](Call& c) { c.parameters.friction[1] = -0.1; }, {"friction[1] = -0.1", "expected >= 0"});
    for (const double stiffness : {0.0, -1.0, kNan, kInf}) {
        refused_call([stiffness](Call& c) { c.parameters.contact_stiffness = stiffness; },
                     {"contact_stiffness ", "expected > 0"});
    }
    refused_call([](Call& c) { c.parameters.moments(2, 0) = -1.0; }, {"body 'arm'", "mass -1", "expected > 0"});
    refused_call([](Call& c) { c.parameters.moments.row(2).setZero(); }, {"body 'arm'", "mass 0", "expected > 0"});
    refused_call([](Call& c) { c.parameters.moments(2, 4) = -1.0; }, {"body 'arm'", "eigenvalue -1", "expected >= 0"});
    refused_call([](Call& c) { c.parameters.hull_vertices.setZero(2, 3); },
                 {"hull_vertices has 2 rows", "expected 42"});
}

TEST_CASE("bad input: loss partials, policies and batches") {
    const Call call;
    const Trajectory t = call.run();
    const auto partial_error = [&](auto member, const RowMatrix& rows) {
        LossPartials partials;
        new (&(partials.*member)) ConstRows(view(rows));
        return error_of([&] { (void)rollout_vjp(t, partials); });
    };
    RowMatrix bad = RowMatrix::Zero(4, 16);
    CHECK(partial_error(&LossPartials::dL_dq, bad).empty());
    bad(2, 5) = kNan;
    CHECK(contains(partial_error(&LossPartials::dL_dq, bad), "dL_dq[2, 5] = nan, expected a finite number"));
    CHECK(contains(partial_error(&LossPartials::dL_dv, bad), "dL_dv[2, 5] = nan, expected a finite number"));
    CHECK(contains(partial_error(&LossPartials::dL_dv, RowMatrix::Zero(3, 16)),
                   "dL_dv has shape (3, 16), expected (4, 16)"));
    CHECK(contains(partial_error(&LossPartials::dL_dq, RowMatrix::Zero(0, 16)),
                   "dL_dq has shape (0, 16), expected (4, 16)"));
    CHECK(contains(partial_error(&LossPartials::dL_dpose, RowMatrix::Zero(4, 16)),
                   "dL_dpose has shape (4, 16), expected (4, 36)"));
    RowMatrix pose = RowMatrix::Zero(4, 36);
    pose(3, 35) = kInf;
    CHECK(contains(partial_error(&LossPartials::dL_dpose, pose), "dL_dpose[3, 35] = inf, expected a finite number"));
    CHECK(contains(error_of([] { (void)rollout_vjp(Trajectory{}, LossPartials{}); }), "empty trajectory"));

    struct Constant : Policy {
        VectorXd value;
        [[nodiscard]] VectorXd control(int, const State&) const override { return value; }
        void vjp(int, const State&, const VectorXd&, VectorXd&, VectorXd&, VectorXd&) const override {}
        [[nodiscard]] int num_parameters() const override { return 0; }
    };
    Constant policy;
    policy.value = VectorXd::Zero(5);
    refused_call([&](Call& c) { c.input.policy = &policy; }, {"policy gave 5 controls", "expected 2"});
    policy.value = VectorXd::Constant(2, kNan);
    refused_call([&](Call& c) { c.input.policy = &policy; },
                 {"policy gave control[0] = nan at step 0", "expected a finite number"});

    ThreadPool pool(2);
    std::vector<RolloutJob> jobs(3, {call.model, call.parameters, {}, call.input});
    jobs[1].input.state0.q[0] = kNan;
    CHECK(contains(error_of([&] { (void)rollout_batch(jobs, call.options, pool); }),
                   "rollout_batch: rollout 1: rollout: state0: q[0] = nan"));
    const std::vector<LossPartials> two(2);
    CHECK(contains(error_of([&] { (void)rollout_vjp_batch({t}, two, pool); }), "2 partials for 1 trajectories"));
}

}  // namespace
}  // namespace farfield
