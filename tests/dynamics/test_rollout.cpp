// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/rollout.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "support/derivative_check.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using Eigen::VectorXd;
using testing::DerivativeReport;

/// A seeded linear functional of all poses and velocities of a rollout.
struct Experiment {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    RolloutInput input;
    StepOptions options{.dt = 0.01, .tolerance = 1e-14};
    RowMatrix weight_p, weight_R, weight_v;

    Experiment(const Scene& scene, std::uint64_t seed, int steps)
        : model(build_model(scene)), parameters(model->default_parameters()) {
        Random random(seed);
        input.state0 = testing::random_state(*model, random);
        input.controls.resize(steps, model->num_controls());
        for (Eigen::Index r = 0; r < steps; ++r)
            input.controls.row(r) = 0.3 * normal_vector(random, model->num_controls()).transpose();
        if (model->num_kinematic() > 0) {
            input.script.resize(steps, 7 * model->num_kinematic());
            Eigen::VectorXd q = input.state0.q;
            VectorXd delta = VectorXd::Zero(model->num_dofs());
            const ModelBody& body = model->bodies()[static_cast<std::size_t>(model->kinematic_bodies()[0])];
            delta.segment<6>(body.first_dof) << 0.01, 0.02, -0.01, 0.03, -0.02, 0.05;
            const int index = model->joints()[static_cast<std::size_t>(body.first_joint)].q;
            for (Eigen::Index r = 0; r < steps; ++r) {
                VectorXd moved;
                retract(*model, q, delta, moved);
                q = moved;
                input.script.row(r) = q.segment<7>(index).transpose();
            }
        }
        const auto fill = [&](Eigen::Index cols) {
            RowMatrix m(steps + 1, cols);
            for (Eigen::Index r = 0; r <= steps; ++r) m.row(r) = normal_vector(random, cols).transpose();
            return m;
        };
        weight_p = fill(3 * model->num_bodies());
        weight_R = fill(9 * model->num_bodies());
        weight_v = 0.1 * fill(model->num_dofs());
    }

    [[nodiscard]] Trajectory run() const { return rollout(model, parameters, input, options); }

    [[nodiscard]] double loss(const Trajectory& t) const {
        REQUIRE_MESSAGE(t.converged(), "step ", t.num_steps(), ": ", std::string(to_string(t.reports.back().status)),
                        ", residual ", t.reports.back().residual);
        double value = weight_v.cwiseProduct(t.v).sum();
        Kinematics kinematics;
        for (Eigen::Index r = 0; r < t.q.rows(); ++r) {
            forward_kinematics(*model, parameters, t.q.row(r).transpose(), kinematics);
            for (int i = 0; i < model->num_bodies(); ++i) {
                const Pose& pose = kinematics.poses[static_cast<std::size_t>(i)];
                value += weight_p.row(r).segment<3>(3 * i).dot(pose.position) +
                         matrix(r, i).cwiseProduct(pose.rotation).sum();
            }
        }
        return value;
    }

    /// Gradient of the loss by the poses; the rest of the partials is weight_v.
    [[nodiscard]] RowMatrix pose_partials(const Trajectory& t) const {
        RowMatrix out = RowMatrix::Zero(t.q.rows(), 6 * model->num_bodies());
        Kinematics kinematics;
        for (Eigen::Index r = 0; r < t.q.rows(); ++r) {
            forward_kinematics(*model, parameters, t.q.row(r).transpose(), kinematics);
            for (int i = 0; i < model->num_bodies(); ++i) {
                const Eigen::Matrix3d M =
                    matrix(r, i) * kinematics.poses[static_cast<std::size_t>(i)].rotation.transpose();
                out.row(r).segment<3>(6 * i) = weight_p.row(r).segment<3>(3 * i);
                out.row(r).segment<3>(6 * i + 3) << M(2, 1) - M(1, 2), M(0, 2) - M(2, 0), M(1, 0) - M(0, 1);
            }
        }
        return out;
    }

 private:
    [[nodiscard]] Eigen::Matrix3d matrix(Eigen::Index row, int body) const {
        return Eigen::Map<const Eigen::Matrix3d>(weight_R.row(row).data() + 9 * body);
    }
};

/// Checks d loss / d(h) where `move(experiment, h)` displaces the experiment along a direction with analytic slope `expected`.
template <class Move>
DerivativeReport check_slope(const Experiment& e, double expected, Move&& move) {
    const auto plus_minus = [&](double h) {
        Experiment plus = e, minus = e;
        move(plus, h);
        move(minus, -h);
        return std::pair(VectorXd::Constant(1, plus.loss(plus.run())).eval(),
                         VectorXd::Constant(1, minus.loss(minus.run())).eval());
    };
    return testing::check_ladder(plus_minus, VectorXd::Constant(1, expected), {.first = 1e-2, .last = 1e-8});
}

void check_all(const Experiment& e, double tolerance) {
    const Trajectory t = e.run();
    const RowMatrix pose = e.pose_partials(t);
    const RolloutGradient g = rollout_vjp(t, {.dL_dv = view(e.weight_v), .dL_dpose = view(pose)});
    Random random(99);
    const Model& model = *e.model;
    const auto direction = [&](Eigen::Index n) { return testing::random_direction(random, n); };
    const auto check = [&](const char* what, const DerivativeReport& report) {
        CHECK_MESSAGE(report.passes(tolerance), what, ": ", report);
    };
    {
        VectorXd s = model.reduction().E * direction(model.num_unknowns());
        check("q0", check_slope(e, g.q0.dot(s), [&](Experiment& x, double h) {
                  retract(model, e.input.state0.q, h * s, x.input.state0.q);
              }));
        check("v0", check_slope(e, g.v0.dot(s), [&](Experiment& x, double h) { x.input.state0.v += h * s; }));
    }
    {
        RowMatrix s = e.input.controls;
        for (double& value : s.reshaped()) value = normal(random);
        check("controls", check_slope(e, g.controls.cwiseProduct(s).sum(),
                                      [&](Experiment& x, double h) { x.input.controls += h * s; }));
    }
    const auto parameter = [&](const char* what, auto member) {
        auto s = e.parameters.*member;
        for (double& value : s.reshaped()) value = normal(random);
        check(what, check_slope(e, (g.parameters.*member).cwiseProduct(s).sum(),
                                [&](Experiment& x, double h) { x.parameters.*member += h * s; }));
    };
    parameter("attachment", &Parameters::attachment);
    parameter("kp", &Parameters::kp);
    parameter("kd", &Parameters::kd);
    parameter("damping", &Parameters::damping);
    parameter("armature", &Parameters::armature);
    parameter("stiffness", &Parameters::stiffness);
    parameter("gravity", &Parameters::gravity);
    {  // moments: move along realisable directions, a random positive multiple plus a shifted point mass
        Parameters s = zero_parameters(model);
        for (int i = 1; i < model.num_bodies(); ++i) {
            const Eigen::Vector3d x = 0.2 * normal_vector(random, 3);
            const Moments point{.mass = 0.1, .first = 0.1 * x, .second = 0.1 * x * x.transpose()};
            if (model.bodies()[static_cast<std::size_t>(i)].kinematic < 0)
                s.moments.row(i) = to_vector(point).transpose() + 0.1 * uniform(random) * e.parameters.moments.row(i);
        }
        check("moments", check_slope(e, g.parameters.moments.cwiseProduct(s.moments).sum(),
                                     [&](Experiment& x, double h) { x.parameters.moments += h * s.moments; }));
    }
    if (model.num_kinematic() > 0) {
        const RowMatrix s = RowMatrix::NullaryExpr(e.input.script.rows(), 6, [&] { return normal(random); });
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(model.kinematic_bodies()[0])];
        const int index = model.joints()[static_cast<std::size_t>(body.first_joint)].q;
        check("script", check_slope(e, g.script.cwiseProduct(s).sum(), [&](Experiment& x, double h) {
                  for (Eigen::Index r = 0; r < s.rows(); ++r) {
                      VectorXd q = e.input.state0.q, delta = VectorXd::Zero(model.num_dofs()), moved;
                      q.segment<7>(index) = e.input.script.row(r).transpose();
                      delta.segment<6>(body.first_dof) = h * s.row(r).transpose();
                      retract(model, q, delta, moved);
                      x.input.script.row(r) = moved.segment<7>(index).transpose();
                  }
              }));
    }
}

TEST_CASE("rollout vjp: every quantity against differences, all joints and actuators") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) check_all(Experiment(testing::zoo(seed), seed, 10), 1e-6);
    check_all(Experiment(testing::zoo_with_kinematic(4), 4, 10), 1e-6);
}

TEST_CASE("rollout vjp: 100 steps on a smooth scene") { check_all(Experiment(testing::zoo(7, false), 7, 100), 1e-6); }

TEST_CASE("rollout vjp refuses an unconverged trajectory, and says where") {
    Experiment e(testing::zoo(1), 1, 5);
    e.options.max_iterations = 1;
    const Trajectory t = e.run();
    CHECK_FALSE(t.converged());
    CHECK(t.reports.back().status == StepStatus::MaxIterations);
    CHECK_THROWS_WITH_AS((void)rollout_vjp(t, LossPartials{}), doctest::Contains("step 0: max_iterations"),
                         std::invalid_argument);
    const RowMatrix ones = RowMatrix::Ones(t.q.rows(), t.model->num_dofs());
    CHECK_NOTHROW((void)rollout_vjp(t, {.dL_dq = view(ones)}, {.allow_unconverged = true}));
}

TEST_CASE("rollout vjp refuses to differentiate nothing") {
    const Experiment e(testing::zoo(1), 1, 2);
    CHECK_THROWS_WITH_AS((void)rollout_vjp(e.run(), LossPartials{}), doctest::Contains("no partials of the loss"),
                         std::invalid_argument);
}

TEST_CASE("rollout vjp: many losses at once have the bits of each alone") {
    for (const Scene& scene : {testing::zoo(2), testing::zoo_with_kinematic(3)}) {
        const Experiment e(scene, 2, 12);
        const Trajectory t = e.run();
        const RowMatrix pose = e.pose_partials(t), half = 0.5 * e.weight_v;
        const std::vector<LossPartials> losses{{.dL_dv = view(e.weight_v), .dL_dpose = view(pose)},
                                               {.dL_dq = view(half)},
                                               {.dL_dq = view(e.weight_v), .dL_dv = view(half)}};
        const std::vector<RolloutGradient> together = rollout_vjp(t, std::span<const LossPartials>(losses));
        REQUIRE(together.size() == 3);
        for (std::size_t k = 0; k < losses.size(); ++k) {
            const RolloutGradient alone = rollout_vjp(t, losses[k]);
            CHECK(together[k].q0 == alone.q0);
            CHECK(together[k].v0 == alone.v0);
            CHECK(together[k].controls == alone.controls);
            CHECK(together[k].script == alone.script);
            CHECK(flatten(together[k].parameters) == flatten(alone.parameters));
        }
        CHECK(together[0].q0 != together[1].q0);
    }
}

TEST_CASE("rollout vjp: a loss of the centre of mass depends on moments and attachments, too") {
    // L = weight . sum m x at the last state, p_i + R_i c_i for each body: by the states through dL_dpose, and by the moments directly.
    Experiment e(testing::zoo(3), 3, 5);
    const Eigen::Vector3d weight(0.3, -0.7, 1.1);
    const auto loss = [&](const Experiment& x) {
        const Trajectory t = x.run();
        Kinematics kinematics;
        forward_kinematics(*x.model, x.parameters, t.q.bottomRows(1).transpose(), kinematics);
        double sum = 0.0;
        for (int i = 1; i < x.model->num_bodies(); ++i) {
            const Pose& pose = kinematics.poses[static_cast<std::size_t>(i)];
            sum += weight.dot(x.parameters.moments(i, 0) * pose.position +
                              pose.rotation * x.parameters.moments.row(i).segment<3>(1).transpose());
        }
        return sum;
    };
    const Trajectory t = e.run();
    Kinematics kinematics;
    forward_kinematics(*e.model, e.parameters, t.q.bottomRows(1).transpose(), kinematics);
    RowMatrix pose = RowMatrix::Zero(t.q.rows(), 6 * e.model->num_bodies());
    Parameters direct = zero_parameters(*e.model);
    for (int i = 1; i < e.model->num_bodies(); ++i) {
        const Pose& at = kinematics.poses[static_cast<std::size_t>(i)];
        const Eigen::Vector3d h = at.rotation * e.parameters.moments.row(i).segment<3>(1).transpose();
        pose.bottomRows(1).middleCols<3>(6 * i) = e.parameters.moments(i, 0) * weight.transpose();
        pose.bottomRows(1).middleCols<3>(6 * i + 3) = h.cross(weight).transpose();
        direct.moments(i, 0) = weight.dot(at.position);
        direct.moments.row(i).segment<3>(1) = (at.rotation.transpose() * weight).transpose();
    }
    const RolloutGradient g = rollout_vjp(t, {.dL_dpose = view(pose), .dL_dparameters = &direct});
    Random random(8);
    for (const bool moments : {true, false}) {
        Parameters s = zero_parameters(*e.model);
        for (int i = 1; i < e.model->num_bodies(); ++i) {
            if (moments) {
                s.moments.row(i) = uniform(random, 0.5, 1.5) * e.parameters.moments.row(i);
            } else {
                s.attachment.row(i) = normal_vector(random, 3).transpose();
            }
        }
        const auto plus_minus = [&](double h) {
            Experiment plus = e, minus = e;
            add_scaled(plus.parameters, h, s);
            add_scaled(minus.parameters, -h, s);
            return std::pair(VectorXd::Constant(1, loss(plus)).eval(), VectorXd::Constant(1, loss(minus)).eval());
        };
        const DerivativeReport report = testing::check_ladder(plus_minus, VectorXd::Constant(1, dot(g.parameters, s)),
                                                              {.first = 1e-2, .last = 1e-8});
        CHECK_MESSAGE(report.passes(1e-6), report);
    }
    // alone, it is the whole gradient
    CHECK(flatten(rollout_vjp(t, {.dL_dparameters = &direct}).parameters) == flatten(direct));
    direct.kp.resize(0);
    CHECK_THROWS_WITH_AS((void)rollout_vjp(t, {.dL_dparameters = &direct}),
                         doctest::Contains("dL_dparameters: kp has 0 entries"), std::invalid_argument);
}

TEST_CASE("rollout batches have the same bits for 1, 2 and 4 threads [threads]") {
    const Experiment e(testing::zoo(2), 2, 20);
    std::vector<RolloutJob> jobs;
    Random random(3);
    for (int k = 0; k < 9; ++k) {
        jobs.push_back({e.model, e.parameters, {}, e.input});
        jobs.back().input.state0 = testing::random_state(*e.model, random);
    }
    std::vector<Trajectory> reference;
    std::vector<RolloutGradient> reference_gradients;
    for (const int threads : {1, 2, 4}) {
        ThreadPool pool(threads);
        const auto batch = rollout_batch(jobs, e.options, pool);
        std::vector<RowMatrix> poses;
        for (const Trajectory& t : batch) poses.push_back(e.pose_partials(t));
        std::vector<LossPartials> partials;
        for (const RowMatrix& pose : poses) partials.push_back({.dL_dv = view(e.weight_v), .dL_dpose = view(pose)});
        const auto gradients = rollout_vjp_batch(batch, partials, pool);
        if (threads == 1) {
            reference = batch;
            reference_gradients = gradients;
            continue;
        }
        for (std::size_t k = 0; k < batch.size(); ++k) {
            CHECK(std::memcmp(batch[k].q.data(), reference[k].q.data(),
                              sizeof(double) * static_cast<std::size_t>(batch[k].q.size())) == 0);
            CHECK(std::memcmp(gradients[k].parameters.moments.data(), reference_gradients[k].parameters.moments.data(),
                              sizeof(double) * static_cast<std::size_t>(gradients[k].parameters.moments.size())) == 0);
            CHECK(gradients[k].q0 == reference_gradients[k].q0);
        }
    }
}

}  // namespace
}  // namespace farfield
