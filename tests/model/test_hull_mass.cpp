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

TEST_CASE("hull mass: a cube's second moments, exact and lumped") {
    const auto model = two_solids();
    const Parameters& p = model->default_parameters();
    const MomentRows exact = hull_moments(*model, p, HullMass::Exact),
                     lumped = hull_moments(*model, p, HullMass::Lumped);
    CHECK((exact.row(1) - p.moments.row(1)).norm() <= 1e-14 * p.moments.row(1).norm());
    CHECK(lumped(1, 0) == doctest::Approx(3.0));
    CHECK(lumped(1, 4) == doctest::Approx(3.0 * p.moments(1, 4)));  // 1/4 against 1/12
    CHECK(exact(2, 0) == doctest::Approx(p.moments(2, 0)));         // the polyhedron takes over the ball's mass
    CHECK((exact.row(2).segment<3>(1) / exact(2, 0) - Eigen::RowVector3d(0.1, -0.2, 0.3)).norm() < 1e-12);
    Parameters moved = p;
    moved.hull_vertices *= 2.0;
    CHECK(hull_moments(*model, moved, HullMass::Fixed) == p.moments);
}

TEST_CASE("hull mass: constant density follows the volume, constant mass does not") {
    const auto model = two_solids();
    Parameters p = model->default_parameters();
    p.hull_vertices *= 2.0;
    for (const HullMass kind : {HullMass::Exact, HullMass::Lumped}) {
        CHECK(hull_moments(*model, p, kind, MassTotal::Density)(1, 0) == doctest::Approx(8.0 * 3.0));
        CHECK(hull_moments(*model, p, kind, MassTotal::Constant)(1, 0) == doctest::Approx(3.0));
    }
}

TEST_CASE("hull mass: blocks turned inside out or squeezed flat keep their mass and are reported") {
    const auto model = two_solids();
    Parameters p = model->default_parameters();
    const MomentRows before = hull_moments(*model, p, HullMass::Exact);
    p.hull_vertices *= -1.0;  // the cube is symmetric: the hull of its points is the same
    CHECK((hull_moments(*model, p, HullMass::Exact).row(1) - before.row(1)).norm() < 1e-12);
    CHECK(current_hulls(*model, p.hull_vertices)[0].inverted);
    CHECK_FALSE(current_hulls(*model, p.hull_vertices)[0].clamped);

    p = model->default_parameters();
    p.hull_vertices.topRows(8).col(2).setConstant(0.1);
    const CurrentHull flat = current_hulls(*model, p.hull_vertices)[0];
    CHECK(flat.volume == 0.0);
    CHECK(flat.clamped);
    const MomentRows squeezed = hull_moments(*model, p, HullMass::Exact);
    CHECK(squeezed(1, 0) == doctest::Approx(3.0));
    CHECK(squeezed(1, 3) == doctest::Approx(0.3));
    validate(from_vector(squeezed.row(1).transpose()), "flat");
    CHECK(hull_moments(*model, p, HullMass::Exact, MassTotal::Density)(1, 0) == doctest::Approx(3e-6));
}

TEST_CASE("hull mass: a dented face loses its dent and inner vertices are counted") {
    Scene scene;
    TriangleMesh box = make_box({1.0, 1.0, 1.0});
    box.name = "box";
    box.vertices.conservativeResize(9, 3);
    box.vertices.row(8) << 0.0, 0.0, 1.0;  // the middle of a face
    const HullTriangles closed = hull_triangles(box.vertices);
    box.triangles = closed;
    scene.meshes.push_back(box);
    scene.bodies.push_back(Body{.name = "box", .joints = {Joint{.name = "box", .type = JointType::Free}}});
    scene.shapes.push_back({.body = 1, .type = ShapeType::Mesh, .mesh = 0, .density = 1.0, .keep_vertices = true});
    const auto model = build_model(scene);
    Parameters p = model->default_parameters();
    REQUIRE(p.hull_vertices.rows() == 9);
    const auto volume = [&](double height) {
        p.hull_vertices(8, 2) = height;
        return hull_moments(*model, p, HullMass::Exact, MassTotal::Density)(1, 0);
    };
    CHECK(volume(1.0) == doctest::Approx(8.0));
    CHECK(volume(0.2) == doctest::Approx(8.0));  // a remembered triangulation would say 6.93
    CHECK(current_hulls(*model, p.hull_vertices)[0].interior == std::vector<int>{8});
    CHECK(volume(1.3) == doctest::Approx(8.0 + 0.3 * 4.0 / 3.0));
    CHECK(current_hulls(*model, p.hull_vertices)[0].interior.empty());
}

TEST_CASE("hull mass: derivatives by vertices agree with differences") {
    const auto model = two_solids();
    Random random(5);
    Parameters p = model->default_parameters();
    for (Eigen::Index m = 0; m < p.hull_vertices.rows(); ++m)
        p.hull_vertices.row(m) += 0.02 * normal_vector(random, 3).transpose();
    MomentRows bar(model->num_bodies(), 10);
    for (Eigen::Index i = 0; i < bar.rows(); ++i) bar.row(i) = normal_vector(random, 10).transpose();
    const auto check = [&](HullMass mass, MassTotal total, double scale, double tolerance) {
        const VertexRows gradient = hull_moments_vjp(*model, p, mass, total, bar);
        const DerivativeReport report = check_tangent_gradient(
            [&](const Eigen::VectorXd& shift) {
                Parameters moved = p;
                moved.hull_vertices += shift.reshaped<Eigen::RowMajor>(p.hull_vertices.rows(), 3);
                return hull_moments(*model, moved, mass, total).cwiseProduct(bar).sum();
            },
            gradient.reshaped<Eigen::RowMajor>(), {.scale = scale}, random);
        CHECK_MESSAGE(report.passes(tolerance), report);
    };
    for (const MassTotal total : {MassTotal::Constant, MassTotal::Density}) {
        for (const HullMass mass : {HullMass::Lumped, HullMass::Exact}) check(mass, total, 0.1, 1e-7);
    }
    // Shrunk to below the smallest volume: the lumped rest has a derivative as well.
    p.hull_vertices.topRows(8) *= 7e-3;
    REQUIRE(current_hulls(*model, p.hull_vertices)[0].clamped);
    for (const MassTotal total : {MassTotal::Constant, MassTotal::Density}) check(HullMass::Exact, total, 7e-4, 1e-6);
}

TEST_CASE("hull mass: at the kink of a box the derivative is the mean of both sides, whatever the diagonals") {
    const auto model = two_solids();
    const Parameters& p = model->default_parameters();
    MomentRows bar = MomentRows::Zero(model->num_bodies(), 10);
    bar(1, 0) = 1.0;
    const VertexRows gradient = hull_moments_vjp(*model, p, HullMass::Exact, MassTotal::Density, bar);
    for (int m = 0; m < 8; ++m) {
        const Eigen::RowVector3d outward = p.hull_vertices.row(m).cwiseSign();
        CHECK((gradient.row(m) - 3.0 * 0.25 * outward).norm() < 1e-12);  // density 3, 1/6 and 1/3 on the two sides
    }
}
