// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "farfield/geometry/primitives.hpp"
#include "farfield/model/hull_mass.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

std::shared_ptr<const Model> two_solids() {
    Scene scene;
    const auto add = [&](const std::string& name, const Shape& shape) {
        scene.bodies.push_back(Body{.name = name, .joints = {Joint{.name = name, .type = JointType::Free}}});
        scene.bodies.back().position.x() = static_cast<double>(scene.bodies.size());
        scene.shapes.push_back(shape);
        scene.shapes.back().name = name;
        scene.shapes.back().body = static_cast<int>(scene.bodies.size()) - 1;
    };
    add("cube", {.type = ShapeType::Box, .size = Eigen::Vector3d::Constant(0.5), .density = 3.0});
    add("ball", {.type = ShapeType::Sphere, .size = {0.2, 0.0, 0.0}, .position = {0.1, -0.2, 0.3}, .density = 500.0});
    return build_model(scene);
}

}  // namespace

TEST_CASE("hull mass: a cube's second moments, solid and lumped") {
    const auto model = two_solids();
    const Parameters& p = model->default_parameters();
    const MomentRows solid = hull_moments(*model, p, HullMass::Solid),
                     lumped = hull_moments(*model, p, HullMass::Lumped);
    CHECK((solid.row(1) - p.moments.row(1)).norm() <= 1e-14 * p.moments.row(1).norm());
    CHECK(lumped(1, 0) == doctest::Approx(3.0));
    CHECK(lumped(1, 4) == doctest::Approx(3.0 * p.moments(1, 4)));  // 1/4 against 1/12
    CHECK(solid(2, 0) == doctest::Approx(p.moments(2, 0)));         // the polyhedron takes over the ball's mass
    CHECK((solid.row(2).segment<3>(1) / solid(2, 0) - Eigen::RowVector3d(0.1, -0.2, 0.3)).norm() < 1e-12);
}

TEST_CASE("hull mass: constant density follows the volume, constant mass does not") {
    const auto model = two_solids();
    Parameters p = model->default_parameters();
    p.hull_vertices *= 2.0;
    CHECK(hull_moments(*model, p, HullMass::ConstantDensity)(1, 0) == doctest::Approx(8.0 * 3.0));
    CHECK(hull_moments(*model, p, HullMass::Solid)(1, 0) == doctest::Approx(3.0));
    p.hull_vertices *= -1.0;  // turned inside out
    CHECK_THROWS_WITH_AS((void)hull_moments(*model, p, HullMass::Solid), doctest::Contains("body 'cube' has volume"),
                         std::invalid_argument);
}

TEST_CASE("hull mass: derivatives by vertices agree with differences") {
    const auto model = two_solids();
    Random random(5);
    Parameters p = model->default_parameters();
    for (Eigen::Index m = 0; m < p.hull_vertices.rows(); ++m)
        p.hull_vertices.row(m) += 0.02 * normal_vector(random, 3).transpose();
    MomentRows bar(model->num_bodies(), 10);
    for (Eigen::Index i = 0; i < bar.rows(); ++i) bar.row(i) = normal_vector(random, 10).transpose();
    for (const HullMass mass : {HullMass::Lumped, HullMass::Solid, HullMass::ConstantDensity}) {
        const VertexRows gradient = hull_moments_vjp(*model, p, mass, bar);
        const DerivativeReport report = check_tangent_gradient(
            [&](const Eigen::VectorXd& shift) {
                Parameters moved = p;
                moved.hull_vertices += shift.reshaped<Eigen::RowMajor>(p.hull_vertices.rows(), 3);
                return hull_moments(*model, moved, mass).cwiseProduct(bar).sum();
            },
            gradient.reshaped<Eigen::RowMajor>(), {.scale = 0.1}, random);
        CHECK_MESSAGE(report.passes(1e-7), report);
    }
}
