// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/friction_direction.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/base/random.hpp"
#include "support/contact_rollouts.hpp"

namespace farfield {
namespace {

using contact::PairBlock;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Every body rubs against the world: phi = load sqrt(|p - p_0 + slip|^2 + eps), p where its origin is.
class FrictionPair final : public contact::ContactStep {
 public:
    Poses start;
    std::vector<Vector3d> slips;
    std::vector<double> loads;
    double eps = 1e-8;
    int looked = 0;

    [[nodiscard]] double energy(const Poses&) override { fail("not asked"); }
    void linearize(const Poses&, contact::ContactLinearization&) override { fail("not asked"); }
    void accept() override {}
    void vjp(std::span<const contact::Twists>, std::span<contact::ContactGradient>) override { fail("not asked"); }
    void linearize_friction(const Poses& poses, std::vector<PairBlock>& out) override {
        ++looked;
        out.assign(slips.size(), {});
        for (std::size_t k = 0; k < slips.size(); ++k) {
            PairBlock& block = out[k];
            const Vector3d w = poses[k + 1].position - start[k + 1].position + slips[k];
            const double psi = std::sqrt(w.squaredNorm() + eps);
            const Matrix3d curvature = loads[k] / psi * (Matrix3d::Identity() - w * w.transpose() / (psi * psi));
            block.a = 0, block.b = static_cast<int>(k) + 1;
            block.has_friction = true;
            block.friction_energy = loads[k] * psi;
            block.friction_gradient.segment<3>(6) = loads[k] / psi * w;
            block.friction_hessian.block<3, 3>(6, 6) = curvature;
        }
    }
};

/// Free bodies of mass `inertia` in this step, pulled and rubbing.
struct Sliding {
    std::shared_ptr<const Model> model;
    Kinematics kinematics;
    StepLinearization at;
    FrictionPair rubbing;
    FrictionDirection friction;
    std::vector<BarrierDirection::Barrier> barriers;
    double inertia = 1e4;
    VectorXd pull;

    Sliding(int count, Random& random, double load) {
        farfield::Scene scene;
        for (int k = 0; k < count; ++k)
            testing::add_free_box(scene, "box " + std::to_string(k), {0.1, 0.1, 0.1}, 1.0, {0.0, 0.5 * k, 1.0});
        model = build_model(scene);
        forward_kinematics(*model, model->default_parameters(), model->default_state().q, kinematics);
        rubbing.start = kinematics.poses;
        for (int k = 0; k < count; ++k) {
            rubbing.slips.push_back(std::pow(10.0, uniform(random, -5.0, -1.0)) * normal_vector(random, 3));
            rubbing.loads.push_back(load);
        }
        pull = 30.0 * normal_vector(random, model->num_dofs());
        rubbing.linearize_friction(rubbing.start, at.contact.blocks);
        const std::vector<int> groups(static_cast<std::size_t>(model->num_dofs()), 0);
        at.gradient = pull;
        at.hessian.set_zero(groups);
        for (Eigen::Index i = 0; i < pull.size(); ++i) at.hessian.block(0, 0)(i, i) = inertia;
        for (int k = 0; k < count; ++k) {
            const PairBlock& block = at.contact.blocks[static_cast<std::size_t>(k)];
            at.gradient.segment<3>(6 * k) += block.friction_gradient.segment<3>(6);
            for (Eigen::Index i = 0; i < 3; ++i) {
                for (Eigen::Index j = 0; j <= i; ++j)
                    at.hessian.block(0, 0)(6 * k + i, 6 * k + j) += block.friction_hessian(6 + i, 6 + j);
            }
        }
        at.reduce(model->reduction(), nullptr);
        REQUIRE(at.factor());
    }
    /// The function itself, friction followed, at `step`.
    [[nodiscard]] double value(const VectorXd& step) const {
        double sum = pull.dot(step) + 0.5 * inertia * step.squaredNorm();
        for (std::size_t k = 0; k < rubbing.slips.size(); ++k) {
            const Vector3d w = rubbing.slips[k] + step.segment<3>(6 * static_cast<Eigen::Index>(k));
            sum += rubbing.loads[k] * std::sqrt(w.squaredNorm() + rubbing.eps);
        }
        return sum;
    }
    /// Its minimum, with psi held and renewed: slow and sure.
    [[nodiscard]] double least() const {
        VectorXd step = -pull / inertia;
        for (std::size_t k = 0; k < rubbing.slips.size(); ++k) {
            auto part = step.segment<3>(6 * static_cast<Eigen::Index>(k));
            const Vector3d force = pull.segment<3>(6 * static_cast<Eigen::Index>(k));
            for (int round = 0; round < 5000; ++round) {
                const double hold = rubbing.loads[k] / std::sqrt((rubbing.slips[k] + part).squaredNorm() + rubbing.eps);
                part = -(force + hold * rubbing.slips[k]) / (inertia + hold);
            }
        }
        return value(step);
    }
};

TEST_CASE("friction direction: ends where friction that has turned holds or brakes") {
    Random random(83);
    int turned = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        Sliding bodies(1 + round % 4, random, round % 3 == 0 ? 100.0 : 10.0);
        VectorXd newton, step;
        const double promised = bodies.at.newton_step(newton);
        step = newton;
        const double slope = bodies.friction.follow(*bodies.model, bodies.kinematics, bodies.rubbing, bodies.at,
                                                    bodies.barriers, promised, step);
        CHECK(slope < 0.0);
        CHECK(slope == doctest::Approx(bodies.at.gradient.dot(step)).epsilon(1e-9));
        const double least = bodies.least(), start = bodies.value(VectorXd::Zero(step.size())) - least,
                     before = bodies.value(newton) - least, after = bodies.value(step) - least;
        CHECK(after >= -1e-9 * start);
        CHECK(after <= before + 1e-9 * start);
        CHECK(after < 0.1 * start);
        turned += before > 0.3 * start;  // Newton's step has not seen it
    }
    CHECK(turned >= 10);
}

TEST_CASE("friction direction: a parabola that holds is left alone after one look") {
    Random random(84);
    Sliding bodies(2, random, 1e-3);  // next to nothing
    VectorXd newton, step;
    const double promised = bodies.at.newton_step(newton);
    step = newton;
    const int looked = bodies.rubbing.looked;
    CHECK(bodies.friction.follow(*bodies.model, bodies.kinematics, bodies.rubbing, bodies.at, bodies.barriers, promised,
                                 step) == promised);
    CHECK(step == newton);
    CHECK(bodies.rubbing.looked == looked + 1);
}

TEST_CASE("friction direction: walls of barriers are kept away from") {
    Random random(85);
    for (int round = 0; round < 20; ++round) {
        CAPTURE(round);
        Sliding bodies(1, random, 50.0);
        VectorXd newton, step;
        CHECK(bodies.at.newton_step(newton) < 0.0);
        PairBlock::Vector12d gradient = PairBlock::Vector12d::Zero();
        gradient.segment<3>(6) = newton.head<3>().normalized();
        const double wall = 0.5 * newton.head<3>().norm();  // t = 1 half-way
        bodies.barriers.push_back({0, 1, gradient, wall, 2.0 * wall});
        step = 0.9 * newton * 0.5;  // what barriers have left of it
        const double slope = bodies.friction.follow(*bodies.model, bodies.kinematics, bodies.rubbing, bodies.at,
                                                    bodies.barriers, bodies.at.gradient.dot(step), step);
        CHECK(slope < 0.0);
        CHECK(gradient.segment<3>(6).dot(step.head<3>()) < wall);
    }
}

}  // namespace
}  // namespace farfield
