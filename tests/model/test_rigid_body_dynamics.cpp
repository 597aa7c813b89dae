// SPDX-License-Identifier: Apache-2.0
/// @file  Identities of mass matrix, inverse and forward dynamics: against energies and momenta written from textbook formulas.
#include <doctest/doctest.h>

#include "support/derivative_check.hpp"
#include "support/error_text.hpp"
#include "support/motion.hpp"
#include "support/rigid_body_case.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// The case at time t on a motion that has velocity v and acceleration a at t = 0.
RigidBodyCase at_time(const RigidBodyCase& c, double t) {
    RigidBodyCase out = c.moved(t * c.state.v + 0.5 * t * t * c.a);
    out.state.v += t * c.a;
    return out;
}

/// Rate of a quantity along that motion must be `analytic`.
template <class Quantity>
void check_rate(const RigidBodyCase& c, const VectorXd& analytic, Quantity&& quantity) {
    const DerivativeReport report = check_ladder(
        [&](double h) { return std::pair(VectorXd(quantity(at_time(c, h))), VectorXd(quantity(at_time(c, -h)))); },
        analytic, {});
    CHECK_MESSAGE(report.passes(), report);
}

VectorXd one(double value) { return VectorXd::Constant(1, value); }

Momenta momenta_of(const RigidBodyCase& c) { return momenta(*c.model, c.parameters, c.state); }

double relative(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / (a.norm() + b.norm()); }

}  // namespace

TEST_CASE("rigid-body dynamics: the mass matrix is symmetric, positive definite and that of the kinetic energy") {
    for (const RigidBodyCase& c : rigid_body_cases()) {
        const MatrixXd M = c.mass();
        CHECK(M == MatrixXd(M.transpose()));
        CHECK(M.llt().info() == Eigen::Success);
        const double armature = 0.5 * c.parameters.armature.dot(c.state.v.cwiseAbs2());
        CHECK(0.5 * c.state.v.dot(M * c.state.v) == doctest::Approx(momenta_of(c).kinetic + armature).epsilon(1e-13));
    }
}

TEST_CASE("rigid-body dynamics: inverse dynamics is linear in acceleration, with the mass matrix") {
    for (RigidBodyCase c : rigid_body_cases()) {
        const MatrixXd M = c.mass();
        c.a.setZero();
        const VectorXd bias = c.inverse();
        for (int k = 0; k < c.model->num_dofs(); ++k) {
            c.a = VectorXd::Unit(c.model->num_dofs(), k);
            CHECK((c.inverse() - bias - M.col(k)).norm() < 1e-12 * (bias.norm() + M.norm()));
        }
    }
}

TEST_CASE("rigid-body dynamics: the power of the forces is the rate of the energy") {
    for (RigidBodyCase c : rigid_body_cases()) {
        c.wrenches.clear();
        check_rate(c, one(c.state.v.dot(c.inverse())), [](const RigidBodyCase& x) {
            return one(momenta_of(x).energy() + 0.5 * x.parameters.armature.dot(x.state.v.cwiseAbs2()));
        });
    }
}

TEST_CASE("rigid-body dynamics: forces inside a free robot do not change its momenta, gravity and wrenches do") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Scene scene = zoo(seed);
        scene.ties.clear();
        RigidBodyCase c(scene, seed);
        c.parameters.armature.setZero();
        c.tau.head<6>().setZero();
        c.a = c.forward();
        const Momenta now = momenta_of(c);
        Vector3d force = Vector3d::Zero(), torque = Vector3d::Zero();
        const Kinematics kinematics = c.kinematics();
        for (std::size_t i = 1; i < c.wrenches.size(); ++i) {
            const Vector3d F = c.wrenches[i].head<3>(), T = c.wrenches[i].tail<3>();
            force += F + c.parameters.moments(static_cast<Eigen::Index>(i), 0) * c.parameters.gravity;
            torque += kinematics.poses[i].position.cross(F) + T;
        }
        torque += mass_times_center(*c.model, c.parameters, c.state.q).cross(c.parameters.gravity);
        CHECK(now.linear.norm() > 0.1);
        check_rate(c, force, [](const RigidBodyCase& x) { return VectorXd(momenta_of(x).linear); });
        check_rate(c, torque, [](const RigidBodyCase& x) { return VectorXd(momenta_of(x).angular); });
    }
}

TEST_CASE("rigid-body dynamics: without forces everything falls, and nothing turns") {
    Scene scene = zoo(5);
    scene.ties.clear();
    RigidBodyCase c(scene, 5);
    c.state.v.setZero();
    c.tau.setZero();
    c.wrenches.clear();
    VectorXd expected = VectorXd::Zero(c.model->num_dofs());
    expected.head<3>() = c.parameters.gravity;
    c.parameters.armature.setZero();
    CHECK((c.forward() - expected).norm() < 1e-11);
}

TEST_CASE("rigid-body dynamics: inverse undoes forward; ties and scripts are held exactly") {
    for (RigidBodyCase c : rigid_body_cases()) {
        const MatrixXd& E = c.model->reduction().E;
        const VectorXd script = c.a;
        c.a = c.forward();
        CHECK((E.transpose() * (c.inverse() - c.tau)).norm() < 1e-11 * c.tau.norm());
        VectorXd free = c.a;
        for (int k = 0; k < c.model->num_dofs(); ++k) {
            if (!c.model->dofs()[static_cast<std::size_t>(k)].prescribed) continue;
            CHECK(c.a[k] == script[k]);
            free[k] = 0.0;
        }
        CHECK((free - E * E.colPivHouseholderQr().solve(free)).norm() < 1e-12 * free.norm());
    }
    Scene scene = zoo(3);
    scene.ties.clear();
    RigidBodyCase c(scene, 3);
    c.a = c.forward();
    CHECK((c.inverse() - c.tau).norm() < 1e-11 * c.tau.norm());
}

TEST_CASE("rigid-body dynamics: the Jacobian of a point moves it and pulls wrenches back") {
    Random random(7);
    for (RigidBodyCase c : rigid_body_cases()) {
        const Kinematics kinematics = c.kinematics();
        const VectorXd loaded = c.inverse();
        VectorXd pulled = VectorXd::Zero(c.model->num_dofs());
        MatrixXd J;
        for (int body = 0; body < c.model->num_bodies(); ++body) {
            const auto i = static_cast<std::size_t>(body);
            body_jacobian(*c.model, kinematics, body, Vector3d::Zero(), J);
            pulled += J.transpose() * c.wrenches[i];
            const Vector3d point = normal_vector(random, 3);
            body_jacobian(*c.model, kinematics, body, point, J);
            if (c.model->bodies()[i].last_dof < 0) {
                CHECK(J.isZero(0.0));
                continue;
            }
            check_rate(c, J.topRows(3) * c.state.v,
                       [&](const RigidBodyCase& x) { return VectorXd(x.kinematics().poses[i] * point); });
        }
        c.wrenches.clear();
        CHECK(relative(loaded, c.inverse() - pulled) < 1e-13);
    }
}

TEST_CASE("rigid-body dynamics: a robot far from the origin loses no digits") {
    RigidBodyCase c(zoo(4), 4);
    const MatrixXd M = c.mass();
    const VectorXd tau = c.inverse();
    c.state.q.head<3>() += Vector3d(0x1p20, -0x1p21, 0x1p19);
    CHECK(relative(M, c.mass()) < 1e-9);
    CHECK(relative(tau, c.inverse()) < 1e-9);
}

TEST_CASE("rigid-body dynamics: a joint that moves no mass is refused by name") {
    Scene scene = zoo(2);
    scene.ties.clear();
    RigidBodyCase c(scene, 2);
    c.parameters.moments.row(*c.model->find_body("left")).setZero();
    c.parameters.armature.setZero();
    CHECK(contains(error_of([&] { (void)c.forward(); }), "joint 'left joint 0'"));
}

}  // namespace farfield
