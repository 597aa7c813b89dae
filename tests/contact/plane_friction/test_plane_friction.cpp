// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <functional>

#include "farfield/base/random.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"
#include "farfield/contact/plane_friction/plane_friction.hpp"
#include "farfield/math/rotation.hpp"
#include "support/derivative_check.hpp"

using namespace farfield;
using namespace farfield::contact;
using namespace farfield::testing;
using Eigen::Vector3d;

namespace {

using Points = std::array<FrictionPoint, 6>;

struct Setup {
    Vector3d normal;
    Points points;
    Pose start_a, start_b, now_a, now_b;
    SlipModel model;

    [[nodiscard]] PlaneContact contact() const { return {normal, points, 3}; }
    [[nodiscard]] BodyMotion a() const { return between(start_a, now_a); }
    [[nodiscard]] BodyMotion b() const { return between(start_b, now_b); }
    static BodyMotion between(const Pose& start, const Pose& now) {
        return {start.position, now.rotation * start.rotation.transpose(), now.position - start.position};
    }
};

/// Loads of a plane in equilibrium: equal sums and first moments on both sides (three loads on each, matched by least squares).
Setup random_setup(Random& random, double speed) {
    Setup setup;
    setup.normal = unit_vector(random);
    const auto basis = tangents(setup.normal);
    for (FrictionPoint& point : setup.points) {
        point.position = 0.1 * basis * normal_vector(random, 2) + 0.3 * setup.normal;
        point.load = uniform(random, 0.5, 2.0);
    }
    setup.start_a = {random_rotation(random), normal_vector(random, 3)};
    setup.start_b = {random_rotation(random), normal_vector(random, 3)};
    setup.model = {0.01, 1e-4, 0.0};
    const auto step = [&](const Pose& pose) -> Pose {
        const Eigen::VectorXd twist = speed * setup.model.dt * normal_vector(random, 6);
        return {exp_rotation(twist.tail<3>()) * pose.rotation, pose.position + twist.head<3>()};
    };
    setup.now_a = step(setup.start_a);
    setup.now_b = step(setup.start_b);
    return setup;
}

Pose shifted(const Pose& pose, const Eigen::VectorXd& twist, Eigen::Index first) {
    return {exp_rotation(twist.segment<3>(first + 3)) * pose.rotation, pose.position + twist.segment<3>(first)};
}

using Energy = std::function<double(const PlaneContact&, const BodyMotion&, const BodyMotion&, const SlipModel&)>;
using Add =
    std::function<void(const PlaneContact&, const BodyMotion&, const BodyMotion&, const SlipModel&, FrictionSum&)>;
using Vjp = std::function<FrictionAdjoint(const PlaneContact&, const BodyMotion&, const BodyMotion&, const SlipModel&,
                                          const Vector6d&, const Vector6d&, std::span<FrictionPoint>)>;

void check_derivatives(const Energy& energy, const Add& add, const Vjp& vjp, double spin) {
    Random random(21);
    for (int round = 0; round < 30; ++round) {
        Setup setup = random_setup(random, std::pow(10.0, uniform(random, -3.0, 0.0)));
        setup.model.spin = spin;
        const LadderOptions ladder{.scale = 1e-2 * setup.model.dt, .floor = 1e-14};
        FrictionSum sum;
        add(setup.contact(), setup.a(), setup.b(), setup.model, sum);
        CHECK(sum.energy == doctest::Approx(energy(setup.contact(), setup.a(), setup.b(), setup.model)).epsilon(1e-14));
        const auto at_twist = [&](const Eigen::VectorXd& twist) {
            Setup there = setup;
            there.now_a = shifted(setup.now_a, twist, 0);
            there.now_b = shifted(setup.now_b, twist, 6);
            return there;
        };
        const DerivativeReport gradient = check_tangent_gradient(
            [&](const Eigen::VectorXd& twist) {
                const Setup there = at_twist(twist);
                return energy(there.contact(), there.a(), there.b(), there.model);
            },
            sum.gradient, ladder, random);
        CHECK_MESSAGE(gradient.passes(1e-6), gradient);
        Eigen::MatrixXd jacobian = sum.hessian;  // the wrench of a turned body: see contact_scene.hpp
        jacobian.block<3, 3>(3, 3) -= 0.5 * hat(sum.gradient.segment<3>(3));
        jacobian.block<3, 3>(9, 9) -= 0.5 * hat(sum.gradient.segment<3>(9));
        const DerivativeReport hessian = check_jacobian(
            [&](const Eigen::VectorXd& twist) {
                const Setup there = at_twist(twist);
                FrictionSum other;
                add(there.contact(), there.a(), there.b(), there.model, other);
                return Eigen::VectorXd(other.gradient);
            },
            Eigen::VectorXd::Zero(12), jacobian, ladder, random);
        CHECK_MESSAGE(hessian.passes(1e-6), hessian);

        const Vector6d twist_a = normal_vector(random, 6), twist_b = normal_vector(random, 6);
        Points bars;
        const FrictionAdjoint adjoint = vjp(setup.contact(), setup.a(), setup.b(), setup.model, twist_a, twist_b, bars);
        CHECK(adjoint.phi ==
              doctest::Approx(twist_a.dot(sum.gradient.head<6>()) + twist_b.dot(sum.gradient.tail<6>())));
        // parameters: tangential turn of the normal (3), start poses (12), points (18), loads (6)
        Eigen::VectorXd bar(39);
        bar.head<3>() = setup.normal.cross(adjoint.normal);
        bar.segment<6>(3) = adjoint.previous_a;
        bar.segment<6>(9) = adjoint.previous_b;
        for (int m = 0; m < 6; ++m) {
            bar.segment<3>(15 + 3 * m) = bars[static_cast<std::size_t>(m)].position;
            bar[33 + m] = bars[static_cast<std::size_t>(m)].load;
        }
        const DerivativeReport lagged = check_tangent_gradient(
            [&](const Eigen::VectorXd& change) {
                Setup there = setup;
                there.normal = exp_rotation(change.head<3>()) * setup.normal;
                there.start_a = shifted(setup.start_a, change, 3);
                there.start_b = shifted(setup.start_b, change, 9);
                for (int m = 0; m < 6; ++m) {
                    there.points[static_cast<std::size_t>(m)].position += change.segment<3>(15 + 3 * m);
                    there.points[static_cast<std::size_t>(m)].load += change[33 + m];
                }
                FrictionSum other;
                add(there.contact(), there.a(), there.b(), there.model, other);
                return twist_a.dot(other.gradient.head<6>()) + twist_b.dot(other.gradient.tail<6>());
            },
            bar, ladder, random);
        CHECK_MESSAGE(lagged.passes(1e-6), lagged);
    }
}

template <auto Function>
void exactly(const PlaneContact& contact, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
             FrictionSum& sum) {
    Function(contact, a, b, model, sum, {});
}

}  // namespace

TEST_CASE("plane friction: forces balance, and so do torques about the lagged points if these lie on the plane") {
    Random random(20);
    for (int round = 0; round < 200; ++round) {
        Setup setup = random_setup(random, std::pow(10.0, uniform(random, -3.0, 1.0)));
        setup.now_a.rotation = setup.start_a.rotation;  // translations: displacements da, db are those of the bodies
        setup.now_b.rotation = setup.start_b.rotation;
        const auto torque_at_lagged_points = [&] {
            FrictionSum sum;
            add_friction(setup.contact(), setup.a(), setup.b(), setup.model, sum);
            const Vector3d force_a = sum.gradient.segment<3>(0), force_b = sum.gradient.segment<3>(6);
            CHECK(force_a.norm() > 1e-3);
            CHECK((force_a + force_b).norm() < 1e-12);
            CHECK(std::abs(force_a.dot(setup.normal)) < 1e-12);
            return Vector3d(sum.gradient.segment<3>(3) + setup.start_a.position.cross(force_a) +
                            sum.gradient.segment<3>(9) + setup.start_b.position.cross(force_b));
        };
        CHECK(torque_at_lagged_points().norm() < 1e-12);
        for (std::size_t m = 0; m < 6; ++m) setup.points[m].position += (m < 3 ? 0.05 : -0.05) * setup.normal;
        CHECK(torque_at_lagged_points().norm() > 1e-4);
    }
}

TEST_CASE("plane friction: Coulomb's force on a balanced contact, creep as sqrt(eps) k / sqrt(1 - k^2) per side") {
    // Both sides carry the same loads at the same places: then translation gives exactly mu N.
    const Vector3d normal = Vector3d::UnitZ();
    Points points;
    for (std::size_t m = 0; m < 3; ++m) {
        points[m] = {{std::cos(2.1 * static_cast<double>(m)), std::sin(2.1 * static_cast<double>(m)), 0.0},
                     1.0 + 0.5 * static_cast<double>(m)};
        points[m + 3] = points[m];
    }
    const double load = 4.5, speed = 1e-3;
    for (const double slip : {0.3e-3, 1e-3, 5e-3, 0.1, 10.0}) {
        const double dt = 0.01;
        BodyMotion a, b;
        a.shift = {slip * dt, 0.0, 0.0};
        FrictionSum free, fixed;
        add_friction({normal, points, 3}, a, b, {dt, 0.25 * speed * speed, 0.0}, free);
        add_fixed_friction({normal, std::span(points).first(3), 3}, a, b, {dt, speed * speed, 0.0}, fixed);
        const double expected = load * slip / std::sqrt(slip * slip + speed * speed);
        CHECK(free.gradient[0] == doctest::Approx(expected).epsilon(1e-10));
        CHECK(fixed.gradient[0] == doctest::Approx(expected).epsilon(1e-10));
        const double k = expected / load;  // the balance of an incline with tan / mu = k creeps at this slip
        CHECK(slip == doctest::Approx(speed * k / std::sqrt(1.0 - k * k)).epsilon(1e-6));
    }
}

TEST_CASE("plane friction: the energy is convex in the points' positions, the plane's motion a minimum") {
    Random random(23);
    for (int round = 0; round < 50; ++round) {
        const Setup setup = random_setup(random, 0.1);
        FrictionSum sum;
        add_friction(setup.contact(), setup.a(), setup.b(), setup.model, sum);
        // translations of both bodies: no chart curvature there
        Eigen::Matrix<double, 6, 6> linear;
        linear << sum.hessian.block<3, 3>(0, 0), sum.hessian.block<3, 3>(0, 6), sum.hessian.block<3, 3>(6, 0),
            sum.hessian.block<3, 3>(6, 6);
        const Eigen::Matrix<double, 6, 1> eigenvalues =
            Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, 6, 6>>(linear).eigenvalues();
        CHECK(eigenvalues.minCoeff() > -1e-12 * eigenvalues.maxCoeff());
        CHECK(eigenvalues.maxCoeff() > 0.0);
    }
}

TEST_CASE("plane friction: derivatives and adjoints of a free plane") {
    check_derivatives(friction_energy, exactly<add_friction>, friction_vjp, 0.0);
}

TEST_CASE("plane friction: derivatives and adjoints with spin damping") {
    check_derivatives(friction_energy, exactly<add_friction>, friction_vjp, 1e-3);
}

TEST_CASE("plane friction: derivatives and adjoints of a plane that belongs to a body") {
    check_derivatives(fixed_friction_energy, exactly<add_fixed_friction>, fixed_friction_vjp, 0.0);
}

TEST_CASE("plane friction: one point on each side needs spin damping and then works") {
    const std::array<FrictionPoint, 2> points{{{Vector3d::Zero(), 2.0}, {Vector3d::Zero(), 2.0}}};
    BodyMotion a, b;
    a.shift = {1e-3, 0.0, 0.0};
    FrictionSum sum;
    add_friction({Vector3d::UnitZ(), points, 1}, a, b, {0.01, 1e-8, 1e-6}, sum);
    CHECK(sum.gradient[0] == doctest::Approx(2.0).epsilon(1e-4));
    CHECK(sum.hessian.allFinite());
}
