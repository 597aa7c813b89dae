// SPDX-License-Identifier: Apache-2.0
/// @file  Parameters as a vector with names: layout, arithmetic, masks, masses.
#include "farfield/model/parameters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "farfield/model/parameter_names.hpp"
#include "support/error_text.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;
using testing::contains;
using testing::error_of;

/// The zoo with colliding boxes on two bodies: every kind of row is there.
std::shared_ptr<const Model> zoo_model() {
    Scene scene = testing::zoo_with_kinematic(3);
    for (const int owner : {1, 4}) {
        scene.shapes.push_back(
            Shape{.name = "box", .body = owner, .type = ShapeType::Box, .size = Eigen::Vector3d::Constant(0.01)});
    }
    return build_model(scene);
}

Parameters random_parameters(const Model& model, Random& random) {
    return unflatten(model.default_parameters(), normal_vector(random, num_entries(model.default_parameters())));
}

TEST_CASE("parameters: flatten and unflatten are inverse, and rows stand behind each other") {
    const auto model = zoo_model();
    Random random(1);
    const VectorXd flat = normal_vector(random, num_entries(model->default_parameters()));
    const Parameters p = unflatten(model->default_parameters(), flat);
    CHECK(flatten(p) == flat);
    CHECK(p.moments(0, 9) == flat[9]);
    CHECK(p.moments(1, 0) == flat[10]);
    CHECK(p.attachment(0, 0) == flat[p.moments.size()]);
    CHECK(p.hull_vertices(15, 2) == flat[flat.size() - 1]);
    const Eigen::Index bodies = model->num_bodies(), dofs = model->num_dofs(), actuators = 8, vertices = 16;
    CHECK(flat.size() == 10 * bodies + 3 * bodies + 2 * actuators + 4 * dofs + 3 + bodies + 1 + 3 * vertices);
    CHECK(contains(error_of([&] { (void)unflatten(p, VectorXd::Zero(3)); }), "unflatten: 3 numbers, expected "));
    CHECK(flatten(zero_parameters(*model)).isZero(0.0));
    CHECK(num_entries(zero_parameters(*model)) == flat.size());
}

TEST_CASE("parameters: a vector space") {
    const auto model = zoo_model();
    Random random(2);
    const Parameters a = random_parameters(*model, random), b = random_parameters(*model, random);
    const VectorXd x = flatten(a), y = flatten(b);
    CHECK(flatten(a + b) == x + y);
    CHECK(flatten(a - b) == x - y);
    CHECK(flatten(0.3 * a) == 0.3 * x);
    CHECK(dot(a, b) == doctest::Approx(x.dot(y)).epsilon(1e-13));
    Parameters sum = a;
    add_scaled(sum, -0.7, b);
    CHECK(flatten(sum) == x - 0.7 * y);
    const Parameters other = build_model(Scene{})->default_parameters();
    CHECK(contains(error_of([&] { (void)(a + other); }), "moments has "));
    CHECK(contains(error_of([&] { (void)dot(a, other); }), "expected parameters of one model"));
}

TEST_CASE("parameters: every entry has a name of its own") {
    const auto model = zoo_model();
    const std::vector<std::string> names = parameter_names(*model);
    REQUIRE(names.size() == static_cast<std::size_t>(num_entries(model->default_parameters())));
    CHECK(std::set(names.begin(), names.end()).size() == names.size());
    Parameters marked = zero_parameters(*model);
    const auto name_of = [&](double& entry) {
        entry = 1.0;
        Eigen::Index index = 0;
        flatten(marked).maxCoeff(&index);
        entry = 0.0;
        return names[static_cast<std::size_t>(index)];
    };
    const int hinge = *model->find_body("hinge");
    CHECK(name_of(marked.moments(hinge, 0)) == "moments[hinge].mass");
    CHECK(name_of(marked.moments(hinge, 8)) == "moments[hinge].Sxz");
    CHECK(name_of(marked.attachment(hinge, 1)) == "attachment[hinge].y");
    CHECK(name_of(marked.kd[5]) == "kd[geared]");
    CHECK(name_of(marked.damping[model->joints()[static_cast<std::size_t>(*model->find_joint("hinge joint 0"))].dof]) ==
          "damping[hinge joint 0]");
    CHECK(name_of(marked.armature[2]) == "armature[root joint 0.2]");
    CHECK(name_of(marked.gravity[2]) == "gravity.z");
    CHECK(name_of(marked.friction[hinge]) == "friction[hinge]");
    CHECK(name_of(marked.contact_stiffness) == "contact_stiffness");
    CHECK(name_of(marked.hull_vertices(9, 0)) == "hull_vertices[fixed:9].x");
}

TEST_CASE("parameters: a mask picks fields, rows and entries") {
    const auto model = zoo_model();
    const std::vector<std::string> names = parameter_names(*model);
    const auto picked = [&](const std::vector<std::string>& selection) {
        std::vector<std::string> out;
        for (const int index : parameter_mask(*model, selection)) out.push_back(names[static_cast<std::size_t>(index)]);
        return out;
    };
    CHECK(picked({"friction"}).size() == static_cast<std::size_t>(model->num_bodies()));
    CHECK(picked({"contact_stiffness", "friction[hinge]", "contact_stiffness"}) ==
          std::vector<std::string>{"friction[hinge]", "contact_stiffness"});
    CHECK(picked({"moments[hinge]"}).size() == 10);
    CHECK(picked({"moments[hinge].mass", "gravity.x"}) == std::vector<std::string>{"moments[hinge].mass", "gravity.x"});
    CHECK(picked({}).empty());
    const std::string error = error_of([&] { (void)parameter_mask(*model, {"mass"}); });
    CHECK(contains(error, "'mass' is no parameter"));
    CHECK(contains(error, "moments, attachment, kp, kd"));
    CHECK(parameter_mask(*build_model(Scene{}), {"kp"}).size() == 0);
}

TEST_CASE("parameters: a mass brings its inertia along") {
    const auto model = zoo_model();
    Parameters p = model->default_parameters();
    const int hinge = *model->find_body("hinge");
    const Moments before = from_vector(p.moments.row(hinge).transpose());
    set_mass(p, hinge, 3.5);
    const Moments after = from_vector(p.moments.row(hinge).transpose());
    CHECK(after.mass == 3.5);
    CHECK(after.center().isApprox(before.center(), 1e-14));
    CHECK(after.inertia().isApprox(3.5 / before.mass * before.inertia(), 1e-13));
    p.moments.row(hinge) = model->default_parameters().moments.row(hinge);
    CHECK(flatten(p) == flatten(model->default_parameters()));
    CHECK(contains(error_of([&] { set_mass(p, 99, 1.0); }), "set_mass: body 99, expected 0 to "));
    CHECK(contains(error_of([&] { set_mass(p, 0, 1.0); }), "has mass 0, expected > 0"));
    for (const double mass :
         {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        CHECK(contains(error_of([&] { set_mass(p, hinge, mass); }), "expected > 0 [kg]"));
}

}  // namespace
}  // namespace farfield
