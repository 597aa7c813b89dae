// SPDX-License-Identifier: Apache-2.0
/// @file  Point clouds, their sampling from meshes, and the soft distance.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "contact/softmin/push_scene.hpp"
#include "farfield/base/error.hpp"
#include "farfield/geometry/cloud_check.hpp"
#include "farfield/geometry/cloud_sampling.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/geometry/soft_distance.hpp"
#include "support/derivative_check.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::testing;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

namespace {

/// Every point against every plane, nothing left out.
double full_sum(const PointCloud& cloud, const Vector3d& p) {
    const VectorXd squared = (cloud.points.rowwise() - p.transpose()).rowwise().squaredNorm();
    const VectorXd weights = (-(squared.array() - squared.minCoeff()) / cloud.temperature).exp();
    double sum = 0.0;
    for (Eigen::Index k = 0; k < weights.size(); ++k)
        sum += weights[k] * cloud.normals.row(k).dot(p.transpose() - cloud.points.row(k));
    return sum / weights.sum();
}

}  // namespace

TEST_CASE("soft distance: gradient and Hessian agree with differences") {
    Random random(1);
    const PointCloud cloud = t_cloud(3, 0.3);
    const SoftDistance distance(cloud, 1e-16);
    for (int round = 0; round < 20; ++round) {
        const int k = uniform_index(random, cloud.size());
        const Vector3d p = cloud.points.row(k).transpose() + 0.01 * normal_vector(random, 3).head<3>();
        const SoftDistanceAt at = distance.hessian(p);
        CHECK((at.hessian - at.hessian.transpose()).norm() <= 1e-12 * at.hessian.norm());
        const auto value = [&](const VectorXd& x) { return distance.value(x.head<3>()).value; };
        const DerivativeReport gradient = check_gradient(value, p, at.gradient, {.scale = 1e-2}, random);
        CHECK_MESSAGE(gradient.passes(), gradient);
        const DerivativeReport hessian =
            check_jacobian([&](const VectorXd& x) { return VectorXd(distance.gradient(x.head<3>()).gradient); }, p,
                           at.hessian, {.scale = 1e-2}, random);
        CHECK_MESSAGE(hessian.passes(1e-6), hessian);
    }
}

TEST_CASE("soft distance: what truncation leaves out is below the certificate, and there is something to leave out") {
    Random random(2);
    double largest = 0.0;
    for (const double tolerance : {1e-3, 1e-6, 1e-12}) {
        for (const double temperature : {0.1, 1.0}) {
            const PointCloud cloud = t_cloud(5, temperature);
            const SoftDistance distance(cloud, tolerance);
            for (int round = 0; round < 100; ++round) {
                const Vector3d p = 0.15 * normal_vector(random, 3).head<3>();
                const SoftDistanceAt at = distance.value(p);
                const double error = std::abs(at.value - full_sum(cloud, p));
                CHECK(error <= at.error + 1e-15);
                CHECK(at.error <= 2.0 * tolerance);
                largest = std::max(largest, error);
            }
        }
    }
    CHECK(largest > 1e-9);
}

TEST_CASE("soft distance: a sphere swells by eps/(2 R), and sphere_cloud takes that back") {
    const double radius = 0.1;
    for (const double temperature : {1.0, 2.0}) {
        PointCloud cloud = sphere_cloud(radius, 2000, temperature);
        const auto zero_radius = [&](const PointCloud& of) {
            const SoftDistance distance(of);
            double mean = 0.0;
            Random random(3);
            for (int round = 0; round < 50; ++round) {
                const Vector3d u = unit_vector(random);
                double low = 0.5 * radius, high = 2.0 * radius;
                for (int k = 0; k < 60; ++k) {
                    const double middle = 0.5 * (low + high);
                    (distance.value(middle * u).value < 0.0 ? low : high) = middle;
                }
                mean += low / 50.0;
            }
            return mean;
        };
        const double swelling = cloud.temperature / (2.0 * radius);
        CHECK(std::abs(zero_radius(cloud) - radius) < 0.02 * swelling);
        cloud.points = radius * cloud.normals;
        CHECK(zero_radius(cloud) - radius == doctest::Approx(swelling).epsilon(0.01));
    }
}

TEST_CASE("cloud sampling: edges of a T are mirrored, signs are right, cells come out as cells") {
    TriangleMesh bar = make_box({0.125, 0.025, 0.025}), stem = make_box({0.025, 0.075, 0.025});
    bar.vertices.rowwise() += Eigen::RowVector3d(0.0, kBar, 0.0);
    stem.vertices.rowwise() += Eigen::RowVector3d(0.0, kBar - 2.0 * kCell, 0.0);
    const std::vector<TriangleMesh> parts{bar, stem};
    const PointCloud coarse = mesh_cloud(parts, kCell);
    CHECK(coarse.size() == 34);
    CHECK(coarse.spacing == doctest::Approx(kCell).epsilon(0.05));
    for (const double spacing : {0.05, 0.015, 0.006}) {
        CAPTURE(spacing);
        const PointCloud cloud = mesh_cloud(parts, spacing, spacing == 0.05 ? 0.03 : 0.1);
        CHECK(cloud.spacing == doctest::Approx(spacing).epsilon(0.12));
        CHECK(sign_errors(cloud, parts, 4000) <= 1e-3);
    }
    // the same points pushed off their mirrors get signs wrong
    PointCloud askew = coarse;
    for (int k = 0; k < askew.size(); ++k) {
        if (std::abs(askew.normals(k, 2)) > 0.5) askew.points.row(k).head<2>() *= 0.5;
    }
    CHECK(sign_errors(askew, parts, 4000) > 0.01);
}

TEST_CASE("cloud sampling: curved surfaces are even, and open meshes are refused") {
    const TriangleMesh can = make_cylinder(0.03, 0.05, 48);
    const PointCloud cloud = mesh_cloud({&can, 1}, 0.008);
    CHECK(sign_errors(cloud, {&can, 1}, 2000) <= 2e-3);
    for (int k = 0; k < cloud.size(); ++k) {
        double nearest = 1.0;
        for (int j = 0; j < cloud.size(); ++j) {
            if (j != k) nearest = std::min(nearest, (cloud.points.row(j) - cloud.points.row(k)).norm());
        }
        CHECK(nearest > 0.3 * cloud.spacing);
        CHECK(nearest < 1.6 * cloud.spacing);
    }
    TriangleMesh open = make_box({0.1, 0.1, 0.1});
    open.triangles.conservativeResize(11, 3);
    CHECK(contains(error_of([&] { static_cast<void>(mesh_cloud({&open, 1}, 0.05)); }), "expected a closed surface"));
    PointCloud bad = sphere_cloud(0.1, 50);
    bad.normals.row(7) << 2.0, 0.0, 0.0;
    CHECK(contains(error_of([&] { validate(bad, "cloud"); }), "normal 7 has length 2"));
}
