// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/plane_friction/slip_dual.hpp"

#include <doctest/doctest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/contact/plane_friction/fixed_plane_friction.hpp"
#include "farfield/contact/plane_friction/plane_lanes.hpp"
#include "farfield/math/rotation.hpp"

using namespace farfield;
using namespace farfield::contact;
using Eigen::Vector2d;
using Eigen::Vector3d;

namespace {

using Points = std::array<FrictionPoint, 6>;
using Duals = std::array<SlipDual<2>, 6>;

constexpr double kEps = 1e-6;

Vector2d look(SlipDual<2>& dual, Multiplier multiplier, const Vector2d& w) {
    const double r = 1.0 / std::sqrt(w.squaredNorm() + kEps);
    return dual.move_to(multiplier, w, r, r * w);
}

struct Contact {
    Vector3d normal;
    Points points;

    explicit Contact(Random& random) : normal(unit_vector(random)) {
        for (FrictionPoint& point : points) {
            point.position = 0.1 * tangents(normal) * normal_vector(random, 2) + 0.3 * normal;
            point.load = uniform(random, 0.5, 2.0);
        }
    }
    [[nodiscard]] PlaneContact plane() const { return {normal, points, 3}; }
    [[nodiscard]] PlaneBatch batch() const {
        PlaneBatch planes;
        planes.add(normal, points);
        prepare_planes(planes);
        return planes;
    }
};

BodyMotion random_motion(Random& random, double distance, double angle) {
    return {normal_vector(random, 3), exp_rotation(angle * normal_vector(random, 3)),
            distance * normal_vector(random, 3)};
}

FrictionSum add_batch(PlaneBatch& batch, const BodyMotion& a, const BodyMotion& b, const SlipModel& model,
                      Multiplier multiplier) {
    FrictionSum sum;
    sum.energy = solve_planes(batch, a, b, model, kPlaneDerivatives);
    add_planes(batch, a, b, model, sum, multiplier);
    return sum;
}

Vector2d random_multiplier(Random& random) {
    const Vector2d z = normal_vector(random, 2);
    return z / std::max(1.0, z.norm());
}

/// What a Hessian of bodies that have not turned owes to the curvature of psi: the rest, which moves with the arms, knows no dt.
using Hessian = Eigen::Matrix<double, 12, 12>;
double smallest_curvature(const std::function<Hessian(double)>& hessian_of_dt) {
    const Hessian curvature = hessian_of_dt(0.01) - hessian_of_dt(0.02);
    const auto eigenvalues = Eigen::SelfAdjointEigenSolver<Hessian>(curvature).eigenvalues();
    CHECK(eigenvalues.maxCoeff() > 0.0);
    return eigenvalues.minCoeff() / eigenvalues.maxCoeff();
}

}  // namespace

TEST_CASE("slip dual: exact at first, and again where a point is looked at twice") {
    Random random(71);
    for (int round = 0; round < 100; ++round) {
        SlipDual<2> dual;
        const double speed = std::pow(10.0, uniform(random, -5.0, 1.0));
        const Vector2d first = speed * normal_vector(random, 2), second = speed * normal_vector(random, 2);
        CHECK(look(dual, Multiplier::Exact, first) == Vector2d::Zero());
        CHECK(look(dual, Multiplier::Extrapolated, first) == Vector2d::Zero());
        CHECK(look(dual, Multiplier::Extrapolated, second).norm() > 0.0);
        const Vector2d z = dual.z;
        CHECK(z.norm() <= 1.0 + 1e-15);
        static_cast<void>(look(dual, Multiplier::Kept, first));
        CHECK(dual.z == z);
        CHECK(look(dual, Multiplier::Extrapolated, first) == Vector2d::Zero());
    }
}

TEST_CASE("slip dual: an extrapolated multiplier errs by the square of the way") {
    Random random(72);
    for (int round = 0; round < 50; ++round) {
        const double slip = std::pow(10.0, uniform(random, -4.0, -2.0));
        const Vector2d from = slip * normal_vector(random, 2), along = normal_vector(random, 2);
        double last = 0.0;
        for (const double way : {1e-5, 5e-6, 2.5e-6}) {
            SlipDual<2> dual;
            static_cast<void>(look(dual, Multiplier::Exact, from));
            const double error = look(dual, Multiplier::Extrapolated, from + way * along).norm();
            CHECK(error > 0.0);
            if (last > 0.0) CHECK(error / last == doctest::Approx(0.25).epsilon(0.15));
            last = error;
        }
    }
}

TEST_CASE("slip dual: any multiplier of at most 1 leaves the curvature positive, on every kind of plane") {
    Random random(73);
    double worst = 0.0, worst_fixed = 0.0, agreement = 0.0;
    for (int round = 0; round < 200; ++round) {
        const Contact contact(random);
        const double speed = std::pow(10.0, uniform(random, -4.0, 1.0));
        const BodyMotion unit_a = random_motion(random, speed, 0.0), unit_b = random_motion(random, speed, 0.0);
        Duals duals;
        for (SlipDual<2>& dual : duals) dual.z = random_multiplier(random);
        const auto evaluated =
            [&](double dt,
                const std::function<FrictionSum(const BodyMotion&, const BodyMotion&, const SlipModel&)>& sum) {
                BodyMotion a = unit_a, b = unit_b;
                a.shift *= dt, b.shift *= dt;
                return sum(a, b, {dt, kEps, 0.0}).hessian;
            };
        const auto fixed = [&](const BodyMotion& a, const BodyMotion& b, const SlipModel& model) {
            FrictionSum sum;
            add_fixed_friction(contact.plane(), a, b, model, sum, {duals, Multiplier::Kept});
            return sum;
        };
        const auto free = [&](const BodyMotion& a, const BodyMotion& b, const SlipModel& model) {
            FrictionSum sum;
            add_friction(contact.plane(), a, b, model, sum, {duals, Multiplier::Kept});
            return sum;
        };
        const auto lanes = [&](const BodyMotion& a, const BodyMotion& b, const SlipModel& model) {
            PlaneBatch batch = contact.batch();
            for (std::size_t m = 0; m < 6; ++m)
                batch.duals()->z[2 * m][0] = duals[m].z.x(), batch.duals()->z[2 * m + 1][0] = duals[m].z.y();
            return add_batch(batch, a, b, model, Multiplier::Kept);
        };
        worst_fixed = std::min(worst_fixed, smallest_curvature([&](double dt) { return evaluated(dt, fixed); }));
        worst = std::min(worst, smallest_curvature([&](double dt) { return evaluated(dt, free); }));
        worst = std::min(worst, smallest_curvature([&](double dt) { return evaluated(dt, lanes); }));
        const Hessian one = evaluated(0.01, free), other = evaluated(0.01, lanes);
        agreement = std::max(agreement, (one - other).norm() / one.norm());
    }
    MESSAGE("smallest eigenvalue over the largest " << worst_fixed << ", free planes " << worst
                                                    << ", lanes against scalar planes " << agreement);
    CHECK(worst_fixed > -1e-14);
    CHECK(worst > -1e-11);  // the plane's own motion is taken out by a difference; the exact Hessian rounds as much
    CHECK(agreement < 1e-9);
}

TEST_CASE("slip dual: multipliers change the Hessian alone, in lanes as in scalar planes") {
    Random random(74);
    double agreement = 0.0, change = 0.0;
    for (int round = 0; round < 100; ++round) {
        const Contact contact(random);
        const SlipModel model{0.01, kEps, 0.0};
        const double distance = model.dt * std::pow(10.0, uniform(random, -4.0, 0.0));
        PlaneBatch batch = contact.batch();
        Duals free_duals, fixed_duals;
        for (const Multiplier multiplier : {Multiplier::Exact, Multiplier::Extrapolated, Multiplier::Extrapolated,
                                            Multiplier::Kept, Multiplier::Extrapolated}) {
            const BodyMotion a = random_motion(random, distance, distance);
            const BodyMotion b = random_motion(random, distance, distance);
            FrictionSum free, free_exact, fixed, fixed_exact;
            add_friction(contact.plane(), a, b, model, free, {free_duals, multiplier});
            add_friction(contact.plane(), a, b, model, free_exact);
            add_fixed_friction(contact.plane(), a, b, model, fixed, {fixed_duals, multiplier});
            add_fixed_friction(contact.plane(), a, b, model, fixed_exact);
            const FrictionSum lanes = add_batch(batch, a, b, model, multiplier);
            CHECK(free.energy == free_exact.energy);
            CHECK(free.gradient == free_exact.gradient);
            CHECK(fixed.energy == fixed_exact.energy);
            CHECK(fixed.gradient == fixed_exact.gradient);
            CHECK((lanes.gradient - free.gradient).norm() < 1e-9 * free.gradient.norm());
            agreement = std::max(agreement, (lanes.hessian - free.hessian).norm() / free.hessian.norm());
            if (multiplier == Multiplier::Exact) {
                CHECK(free.hessian == free_exact.hessian);
                CHECK(fixed.hessian == fixed_exact.hessian);
            } else {
                change = std::max(change, (free.hessian - free_exact.hessian).norm() / free_exact.hessian.norm());
            }
        }
    }
    MESSAGE("lanes against scalar planes " << agreement << ", largest change of a Hessian " << change);
    CHECK(agreement < 1e-7);
    CHECK(change > 0.1);
}
