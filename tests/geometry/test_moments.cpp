// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/moments.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "farfield/base/random.hpp"
#include "farfield/geometry/primitives.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using farfield::testing::contains;
using farfield::testing::error_of;

namespace {

double relative_difference(const Moments& a, const Moments& b) {
    return (to_vector(a) - to_vector(b)).cwiseAbs().maxCoeff() / to_vector(b).cwiseAbs().maxCoeff();
}

/// Point masses: the definition itself.
Moments of_points(const Eigen::MatrixX3d& points, const Eigen::VectorXd& masses) {
    Moments sum;
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
        const Vector3d x = points.row(i).transpose();
        sum += Moments{masses(i), masses(i) * x, masses(i) * x * x.transpose()};
    }
    return sum;
}

TriangleMesh moved(TriangleMesh mesh, const Vector3d& position, const Matrix3d& rotation) {
    mesh.vertices = ((mesh.vertices * rotation.transpose()).rowwise() + position.transpose()).eval();
    return mesh;
}

}  // namespace

TEST_CASE("inertia, matrix and vector agree with the definition for point masses") {
    Random random(1);
    Eigen::MatrixX3d points(6, 3);
    Eigen::VectorXd masses(6);
    for (double& value : points.reshaped()) value = normal(random);
    for (double& value : masses) value = uniform(random, 0.5, 2.0);
    const Moments m = of_points(points, masses);
    const Vector3d center = points.transpose() * masses / masses.sum();
    Matrix3d inertia = Matrix3d::Zero();
    Eigen::Matrix4d s = Eigen::Matrix4d::Zero();
    for (int i = 0; i < 6; ++i) {
        const Vector3d r = points.row(i).transpose() - center;
        inertia += masses(i) * (r.squaredNorm() * Matrix3d::Identity() - r * r.transpose());
        const Eigen::Vector4d x(points(i, 0), points(i, 1), points(i, 2), 1.0);
        s += masses(i) * x * x.transpose();
    }
    CHECK((m.center() - center).norm() < 1e-14);
    CHECK((m.inertia() - inertia).norm() < 1e-13);
    CHECK((m.matrix() - s).norm() < 1e-14);
    const MomentVector v = to_vector(m);
    CHECK(v(0) == m.mass);
    CHECK(v.segment<3>(1) == m.first);
    CHECK(v(4) == m.second(0, 0));
    CHECK(v(6) == m.second(2, 2));
    CHECK(v(7) == m.second(0, 1));
    CHECK(v(8) == m.second(0, 2));
    CHECK(v(9) == m.second(1, 2));
    CHECK(from_vector(v).matrix() == m.matrix());

    const Moments back = moments_from_inertia(m.mass, m.center(), m.inertia(), "test");
    CHECK(relative_difference(back, m) < 1e-14);
}

TEST_CASE("transformed moves every point") {
    Random random(2);
    for (int i = 0; i < 20; ++i) {
        Eigen::MatrixX3d points(5, 3);
        for (double& value : points.reshaped()) value = normal(random);
        const Eigen::VectorXd masses = Eigen::VectorXd::Constant(5, 0.7);
        const Matrix3d r = random_rotation(random);
        const Vector3d p = normal_vector(random, 3);
        const Eigen::MatrixX3d there = (points * r.transpose()).rowwise() + p.transpose();
        const Moments a = of_points(points, masses), b = transformed(a, p, r);
        CHECK(relative_difference(b, of_points(there, masses)) < 1e-14);
        CHECK(b.second == b.second.transpose());
        // Parallel axes: the inertia about the centre only turns, the centre moves along.
        CHECK((b.inertia() - r * a.inertia() * r.transpose()).norm() < 1e-13 * (1.0 + b.second.norm()));
        CHECK((b.center() - (r * a.center() + p)).norm() < 1e-14 * (1.0 + p.norm()) * 4);
        // There and back.
        CHECK(relative_difference(transformed(b, -(r.transpose() * p), r.transpose()), a) < 1e-13);
    }
}

TEST_CASE("a box as a mesh has the moments of the box formula, wherever it is") {
    Random random(3);
    for (int i = 0; i < 20; ++i) {
        const Vector3d half(uniform(random, 0.1, 1.0), uniform(random, 0.1, 1.0), uniform(random, 0.1, 1.0));
        const double density = uniform(random, 100.0, 5000.0);
        const Moments exact = box_moments(half, density);
        CHECK(relative_difference(solid_moments(make_box(half), density), exact) < 1e-14);
        const Matrix3d r = random_rotation(random);
        const Vector3d p = 10.0 * normal_vector(random, 3);
        const Moments there = solid_moments(moved(make_box(half), p, r), density);
        CHECK(relative_difference(there, transformed(exact, p, r)) < 1e-13);
        CHECK(there.mass == doctest::Approx(exact.mass).epsilon(1e-13));
    }
    const Matrix3d inertia = box_moments(Vector3d(0.5, 1.0, 1.5), 2.0).inertia();              // 1 x 2 x 3, mass 12
    CHECK((inertia - Vector3d(13.0, 10.0, 5.0).asDiagonal().toDenseMatrix()).norm() < 1e-14);  // m/12 (b^2 + c^2)
}

TEST_CASE("solids add up: two halves make a box") {
    const Vector3d half(0.2, 0.3, 0.4);
    Moments sum = transformed(box_moments({0.1, 0.3, 0.4}, 500.0), {-0.1, 0, 0}, Matrix3d::Identity());
    sum += transformed(box_moments({0.1, 0.3, 0.4}, 500.0), {0.1, 0, 0}, Matrix3d::Identity());
    CHECK(relative_difference(sum, box_moments(half, 500.0)) < 1e-15);
}

TEST_CASE("a body far from the origin keeps its inertia") {
    const TriangleMesh far = moved(make_box({0.1, 0.2, 0.3}), {1000.0, -2000.0, 500.0}, Matrix3d::Identity());
    const Moments moments = solid_moments(far, 1000.0);
    CHECK(moments.mass == doctest::Approx(48.0).epsilon(1e-11));
    CHECK((moments.center() - Vector3d(1000.0, -2000.0, 500.0)).norm() < 1e-11);
    CHECK(error_of([&] { validate(moments, "far"); }) == "");
}

TEST_CASE("mistakes in moments are named") {
    const Matrix3d good = Vector3d(1.0, 1.5, 2.0).asDiagonal();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto from = [&](double mass, const Vector3d& center, const Matrix3d& inertia) {
        return error_of([&] { (void)moments_from_inertia(mass, center, inertia, "body 'box'"); });
    };
    CHECK(from(1.0, Vector3d::Zero(), good) == "");
    CHECK(from(-1.0, Vector3d::Zero(), good) == "body 'box': mass -1, expected > 0 and finite [kg]");
    CHECK(from(0.0, Vector3d::Zero(), good) == "body 'box': mass 0, expected > 0 and finite [kg]");
    CHECK(from(nan, Vector3d::Zero(), good) == "body 'box': mass nan, expected > 0 and finite [kg]");
    CHECK(contains(from(1.0, Vector3d(0, nan, 0), good), "body 'box': centre of mass"));
    Matrix3d bad = good;
    bad(0, 1) = nan;
    CHECK(from(1.0, Vector3d::Zero(), bad) == "body 'box': inertia[0, 1] = nan, expected a finite number [kg m^2]");
    bad = good;
    bad(0, 1) = 0.25;
    CHECK(from(1.0, Vector3d::Zero(), bad) ==
          "body 'box': inertia is not symmetric: entries differ by 0.25 from their mirror images [kg m^2]");
    // No body has one principal inertia above the sum of the others.
    const std::string triangle = from(1.0, Vector3d::Zero(), Vector3d(1.0, 1.0, 3.0).asDiagonal());
    CHECK(contains(triangle, "body 'box': principal inertias (1, 1, 3), expected"));
    CHECK(contains(triangle, "eigenvalue -0.5"));
    CHECK(
        contains(from(1.0, Vector3d::Zero(), Vector3d(-1.0, 1.0, 1.0).asDiagonal()), "principal inertias (-1, 1, 1)"));
    // The edge cases are bodies: a plate, a rod, a point; and a plate with rounded numbers.
    for (const Vector3d& diagonal :
         {Vector3d(1, 1, 2), Vector3d(1, 1, 0), Vector3d(0, 0, 0), Vector3d(1, 1, 2 + 1e-10)}) {
        CHECK(from(1.0, Vector3d(1, 2, 3), diagonal.asDiagonal()) == "");
    }

    Moments moments = box_moments({1, 1, 1}, 1.0);
    const auto complaint = [&] { return error_of([&] { validate(moments, "body 3"); }); };
    CHECK(complaint() == "");
    moments.mass = -2.0;
    CHECK(complaint() == "body 3: mass -2, expected > 0 and finite [kg]");
    moments = box_moments({1, 1, 1}, 1.0);
    moments.first.y() = nan;
    CHECK(contains(complaint(), "body 3: first moment"));
    moments = box_moments({1, 1, 1}, 1.0);
    moments.second(1, 1) = std::numeric_limits<double>::infinity();
    CHECK(contains(complaint(), "body 3: second moment[1, 1] = inf"));
    moments = box_moments({1, 1, 1}, 1.0);
    moments.second(1, 2) = 1.0;
    CHECK(contains(complaint(), "body 3: second moment is not symmetric"));
    moments = box_moments({1, 1, 1}, 1.0);
    moments.first = Vector3d(8.0, 0.0, 0.0);  // centre at x = 1 but sum m x^2 only 8/3
    CHECK(contains(complaint(), "body 3: second moment about the centre of mass has eigenvalue -5.33"));
}

TEST_CASE("mistakes in solids are named") {
    TriangleMesh mesh = make_box({1, 1, 1});
    mesh.name = "crate";
    CHECK(contains(error_of([&] { (void)solid_moments(mesh, 0.0); }), "mesh 'crate': density 0, expected > 0"));
    CHECK(contains(error_of([&] { (void)solid_moments(mesh, -1.0); }), "density -1"));
    TriangleMesh open = mesh;
    open.triangles.conservativeResize(11, 3);
    CHECK(contains(error_of([&] { (void)solid_moments(open, 1.0); }), "mesh 'crate' is not watertight"));
    TriangleMesh inside_out = mesh;
    inside_out.triangles.col(0).swap(inside_out.triangles.col(1));
    CHECK(contains(error_of([&] { (void)solid_moments(inside_out, 1.0); }), "mesh 'crate': volume -8"));
}
