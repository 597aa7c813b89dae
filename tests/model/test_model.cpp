// SPDX-License-Identifier: Apache-2.0
/// @file  Layout, reduction, time step, defaults and masses of a built model.
#include "farfield/model/model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "farfield/geometry/primitives.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/kinematics.hpp"
#include "support/error_text.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

Moments unit_mass() { return moments_from_inertia(1.0, Vector3d::Zero(), 0.1 * Eigen::Matrix3d::Identity(), "unit"); }

Body body(const std::string& name, int parent, std::vector<Joint> joints, const Vector3d& position = Vector3d::Zero()) {
    return Body{
        .name = name, .parent = parent, .position = position, .joints = std::move(joints), .moments = unit_mass()};
}

Joint joint(const std::string& name, JointType type) { return Joint{.name = name, .type = type}; }

Shape box(const std::string& name, int owner, double half = 0.1) {
    return Shape{.name = name, .body = owner, .type = ShapeType::Box, .size = Vector3d::Constant(half)};
}

TEST_CASE("model: coordinates and degrees of freedom are laid out joint by joint") {
    Scene scene;
    const Eigen::Quaterniond tilt(Eigen::AngleAxisd(0.5, Vector3d::UnitX()));
    scene.bodies = {
        scene.bodies[0],
        body("a", 0, {joint("free", JointType::Free)}, {1.0, 2.0, 3.0}),
        body("b", 1, {joint("ball", JointType::Ball)}),
        body("c", 2, {joint("uni", JointType::Universal)}),
        body("d", 3,
             {joint("weld", JointType::Fixed), joint("slide", JointType::Slide), joint("hinge", JointType::Hinge)}),
        Body{.name = "e", .position = {4.0, 5.0, 6.0}, .motion = BodyMotion::Kinematic}};
    scene.bodies[1].orientation = tilt;
    scene.bodies[4].joints[1].reference = 0.25;
    scene.bodies[4].joints[2].reference = -0.5;
    const auto model = build_model(scene);
    CHECK(model->num_bodies() == 6);
    CHECK(model->num_q() == 7 + 4 + 2 + 1 + 1 + 7);
    CHECK(model->num_dofs() == 6 + 3 + 2 + 1 + 1 + 6);
    CHECK(model->num_unknowns() == 13);
    CHECK(model->num_kinematic() == 1);
    const std::vector<std::string> names{"free", "ball", "uni", "weld", "slide", "hinge", "e (scripted)"};
    const std::vector<int> q{0, 7, 11, 13, 13, 14, 15}, dof{0, 6, 9, 11, 11, 12, 13};
    REQUIRE(model->joints().size() == names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
        CHECK(model->joints()[k].name == names[k]);
        CHECK(model->joints()[k].q == q[k]);
        CHECK(model->joints()[k].dof == dof[k]);
        CHECK(model->find_joint(names[k]) == static_cast<int>(k));
    }
    CHECK(model->find_body("d") == 4);
    CHECK_FALSE(model->find_body("nobody"));
    VectorXd expected(22);
    expected << 1, 2, 3, tilt.w(), tilt.vec(), 1, 0, 0, 0, 0, 0, 0.25, -0.5, 4, 5, 6, 1, 0, 0, 0;
    CHECK(model->default_state().q.isApprox(expected, 1e-15));
    CHECK(model->default_state().v.isZero(0.0));
    // references: in the described pose every body sits where its attachments put it
    Kinematics kinematics;
    forward_kinematics(*model, model->default_parameters(), model->default_state().q, kinematics);
    CHECK(kinematics.poses[4].position.isApprox(Vector3d(1.0, 2.0, 3.0), 1e-15));
    CHECK(kinematics.poses[4].rotation.isApprox(tilt.toRotationMatrix(), 1e-15));
    // parents of degrees of freedom follow the path to the root
    for (int k = 1; k < 13; ++k) CHECK(model->dofs()[static_cast<std::size_t>(k)].parent == k - 1);
    CHECK(model->dofs()[13].parent == -1);
}

TEST_CASE("model: ties reduce exactly, through chains, and scripts leave no unknowns") {
    Scene scene;
    for (const char* name : {"a", "b", "c", "d"})
        scene.bodies.push_back(body(name, 0, {joint(name, JointType::Hinge)}));
    scene.bodies.push_back(Body{.name = "k", .motion = BodyMotion::Kinematic});
    scene.ties = {{.joint = "c", .source = "b", .ratio = 3.0, .offset = 0.1},
                  {.joint = "b", .source = "a", .ratio = -2.0, .offset = 0.5}};
    const auto model = build_model(scene);
    CHECK_FALSE(model->reduction().identity);
    Eigen::MatrixXd E = Eigen::MatrixXd::Zero(10, 2);
    E(0, 0) = 1.0;
    E(1, 0) = -2.0;
    E(2, 0) = -6.0;
    E(3, 1) = 1.0;
    CHECK(model->reduction().E == E);
    CHECK(model->default_state().q.head<4>().isApprox(Eigen::Vector4d(0.0, 0.5, 1.6, 0.0)));
    scene.ties.clear();
    scene.bodies.pop_back();
    CHECK(build_model(scene)->reduction().identity);
}

TEST_CASE("model: default controls hold the reference pose") {
    Scene scene;
    scene.bodies.push_back(body("a", 0, {joint("hinge", JointType::Hinge)}));
    scene.bodies.push_back(body("b", 0, {joint("free", JointType::Free)}, {1.0, 2.0, 3.0}));
    const Vector3d turn(0.3, -0.2, 0.5);
    scene.bodies[2].orientation = Eigen::Quaterniond(exp_rotation(turn));
    scene.bodies[1].joints[0].reference = 0.4;
    scene.actuators = {{.name = "motor", .type = ActuatorType::Motor, .joint = "hinge"},
                       {.name = "pd", .joint = "hinge", .kp = 1.0, .gear = {2.5}},
                       {.name = "velocity", .joint = "hinge", .kd = 1.0, .position_input = false},
                       {.name = "hold", .joint = "free", .kp = 1.0, .velocity_input = false}};
    const auto model = build_model(scene);
    REQUIRE(model->num_controls() == 1 + 2 + 1 + 6);
    VectorXd expected(10);
    expected << 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 3.0, turn;
    CHECK(model->default_control().isApprox(expected, 1e-12));
    CHECK(model->actuators()[3].control == 4);
    CHECK(model->actuators()[3].num_controls == 6);
}

TEST_CASE("model: masses come from the body, else from its shapes") {
    Scene scene;
    scene.bodies.push_back(Body{.name = "made", .joints = {joint("made", JointType::Free)}});
    scene.bodies.push_back(body("given", 0, {joint("given", JointType::Free)}, {9.0, 0.0, 0.0}));
    Shape first = box("first", 1, 0.2), second = box("second", 1, 0.1), drawn = box("drawn", 1, 0.3),
          weightless = box("weightless", 1, 0.4);
    first.density = 500.0;
    second.position = {0.6, 0.0, 0.0};
    second.orientation = Eigen::Quaterniond(Eigen::AngleAxisd(0.7, Vector3d(1.0, 1.0, 0.0).normalized()));
    drawn.collides = false;
    drawn.density = 10.0;
    weightless.density = 0.0;
    scene.shapes = {first, second, drawn, weightless, box("other", 2)};
    const auto model = build_model(scene);
    Moments expected = box_moments(Vector3d::Constant(0.2), 500.0);
    expected += transformed(box_moments(Vector3d::Constant(0.1), 1000.0), second.position,
                            second.orientation.toRotationMatrix());
    expected += box_moments(Vector3d::Constant(0.3), 10.0);  // drawn only, but it weighs what its density says
    CHECK(model->default_parameters().moments.row(1).transpose().isApprox(to_vector(expected), 1e-14));
    CHECK(model->default_parameters().moments.row(2).transpose().isApprox(to_vector(unit_mass()), 1e-15));
    CHECK(model->default_parameters().moments.row(0).isZero(0.0));
}

TEST_CASE("model: frames without mass are welded parts, or refused when something must move them") {
    Scene scene;
    scene.bodies.push_back(body("link", 0, {joint("hinge", JointType::Hinge)}));
    scene.bodies.push_back(
        Body{.name = "sensor", .parent = 1, .position = {0.0, 0.0, 0.3}, .motion = BodyMotion::Fixed});
    CHECK_NOTHROW((void)build_model(scene));
    SUBCASE("a moving frame gets its mass from what is welded to it") {
        scene.bodies[2].moments = scene.bodies[1].moments;
        scene.bodies[1].moments.reset();
        CHECK_NOTHROW((void)build_model(scene));
    }
    SUBCASE("a frame with armature needs no mass") {
        scene.bodies[1].moments.reset();
        scene.bodies[1].joints[0].armature = 0.1;
        CHECK_NOTHROW((void)build_model(scene));
    }
    SUBCASE("nothing at all") {
        scene.bodies[1].moments.reset();
        CHECK(testing::error_of([&] { (void)build_model(scene); }).find("body 'link': mass 0, expected > 0 [kg]") !=
              std::string::npos);
    }
}

TEST_CASE("model: the time step of the scene is the default of its rollouts") {
    Scene scene;
    CHECK(build_model(scene)->default_dt() == 0.01);
    scene.dt = 0.004;
    CHECK(build_model(scene)->default_dt() == 0.004);
    for (const double dt :
         {0.0, -0.01, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        scene.dt = dt;
        CHECK(testing::contains(testing::error_of([&] { (void)build_model(scene); }), "dt = "));
    }
}

TEST_CASE("model: a mesh stays the mesh that was given") {
    Scene scene;
    scene.bodies.push_back(body("bowl", 0, {joint("bowl", JointType::Free)}));
    TriangleMesh mesh = make_box({0.1, 0.2, 0.3});
    mesh.vertices.row(0) *= 0.1;  // dent it: no longer convex
    mesh.name = "dented";
    scene.meshes = {mesh};
    scene.shapes = {Shape{.name = "bowl", .body = 1, .type = ShapeType::Mesh, .mesh = 0}};
    const auto model = build_model(scene);
    CHECK(model->collision().bodies[1].mesh.vertices == mesh.vertices);
    CHECK(model->collision().bodies[1].mesh.triangles == mesh.triangles);
}

}  // namespace
}  // namespace farfield
