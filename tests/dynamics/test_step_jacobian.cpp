// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_jacobian.hpp"

#include <doctest/doctest.h>

#include "support/one_step.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;
using testing::check_all;
using testing::OneStep;

TEST_CASE("step jacobian: every joint and actuator, ties and a script, against differences and the vjp") {
    OneStep one(testing::zoo_with_kinematic(4));
    Random random(5);
    one.start = testing::random_state(*one.model, random);
    one.control += 0.3 * normal_vector(random, one.model->num_controls());
    const ModelBody& body = one.model->bodies()[static_cast<std::size_t>(one.model->kinematic_bodies()[0])];
    const int index = one.model->joints()[static_cast<std::size_t>(body.first_joint)].q;
    one.script = one.start.q.segment<7>(index);
    one.script = one.script_moved(0.02 * normal_vector(random, 6));
    check_all(one, {"attachment", "kp", "damping", "gravity"}, 1e-6);
}

TEST_CASE("step jacobian: of a step that was cut") {
    OneStep one(testing::zoo_with_kinematic(4));
    one.options = {.dt = 0.02, .tolerance = 1e-9, .max_iterations = 4};  // too few for a whole step
    Random random(5);
    one.start = testing::random_state(*one.model, random);
    one.control += 0.3 * normal_vector(random, one.model->num_controls());
    const ModelBody& body = one.model->bodies()[static_cast<std::size_t>(one.model->kinematic_bodies()[0])];
    const int index = one.model->joints()[static_cast<std::size_t>(body.first_joint)].q;
    one.script = one.start.q.segment<7>(index);
    one.script = one.script_moved(0.02 * normal_vector(random, 6));
    REQUIRE(one.run().reports[0].pieces > 1);
    check_all(one, {"attachment", "kp", "damping", "gravity"}, 1e-6);
}

TEST_CASE("step jacobian: boxes that rub and roll") {
    Scene scene;
    testing::add_ground(scene);
    testing::add_free_box(scene, "box", {0.2, 0.2, 0.1}, 1.0, {0.0, 0.0, 0.1005});
    testing::add_free_mesh(scene, "ball", make_sphere(0.1), {0.31, 0.02, 0.105});
    OneStep one(scene);
    one.contact = testing::long_range(*one.model);
    one.start.v[0] = 0.8;
    one.start.v[5] = 1.0;
    check_all(one, {"friction", "contact_stiffness", "gravity"}, 1e-5);
}

TEST_CASE("step jacobian: refuses steps that are not there and parameters that are none") {
    const OneStep one(testing::zoo(1));
    const Trajectory t = one.run();
    CHECK_THROWS_WITH_AS((void)step_jacobian(t, 1), doctest::Contains("step 1, expected 0 to 0"),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)step_jacobian(t, 0, Eigen::VectorXi::Constant(1, 100000)),
                         doctest::Contains("parameter 100000"), std::invalid_argument);
    CHECK(step_jacobian(t, 0).C.cols() == 0);
}

}  // namespace
}  // namespace farfield
