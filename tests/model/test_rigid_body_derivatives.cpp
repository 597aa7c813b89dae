// SPDX-License-Identifier: Apache-2.0
/// @file  Derivatives of inverse and forward dynamics and of passive forces, by ladders of central differences on the manifold.
#include <doctest/doctest.h>

#include "farfield/math/rotation.hpp"
#include "farfield/model/passive_force.hpp"
#include "support/derivative_check.hpp"
#include "support/rigid_body_case.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

void check(const char* what, const DerivativeReport& report) { CHECK_MESSAGE(report.passes(), what, ": ", report); }

VectorXd flat(const Wrenches& wrenches) {
    VectorXd out(static_cast<Eigen::Index>(6 * wrenches.size()));
    for (std::size_t i = 0; i < wrenches.size(); ++i) out.segment<6>(static_cast<Eigen::Index>(6 * i)) = wrenches[i];
    return out;
}

Wrenches unflat(const VectorXd& values) {
    Wrenches out;
    for (Eigen::Index i = 0; i < values.size(); i += 6) out.emplace_back(values.segment<6>(i));
    return out;
}

/// `value(case)` is differentiated by everything that a case holds: Jacobians where given, and for the direction `bar` the vjp.
struct Expected {
    VectorXd q, v, a, tau, wrenches;  ///< gradients; empty: not asked
    const Parameters& parameters;
};
template <class Value>
void check_gradients(const RigidBodyCase& c, const Expected& expected, Random& random, Value&& value) {
    const int n = c.model->num_dofs();
    const auto of = [&](auto&& set) {
        return [&c, &value, set](const VectorXd& x) {
            RigidBodyCase changed = c;
            set(changed, x);
            return value(changed);
        };
    };
    const auto ladder = [&](const char* what, auto&& set, const VectorXd& x, const VectorXd& gradient) {
        if (gradient.size()) check(what, check_gradient(of(set), x, gradient, {}, random));
    };
    using Case = RigidBodyCase;
    ladder(
        "q", [](Case& k, const VectorXd& x) { k = k.moved(x); }, VectorXd::Zero(n), expected.q);
    ladder(
        "v", [](Case& k, const VectorXd& x) { k.state.v = x; }, c.state.v, expected.v);
    ladder(
        "a", [](Case& k, const VectorXd& x) { k.a = x; }, c.a, expected.a);
    ladder(
        "tau", [](Case& k, const VectorXd& x) { k.tau = x; }, c.tau, expected.tau);
    ladder(
        "wrenches", [](Case& k, const VectorXd& x) { k.wrenches = unflat(x); }, flat(c.wrenches), expected.wrenches);
    const Parameters& g = expected.parameters;
    ladder(
        "moments", [](Case& k, const VectorXd& x) { k.parameters.moments.reshaped<Eigen::RowMajor>() = x; },
        c.parameters.moments.reshaped<Eigen::RowMajor>(), g.moments.reshaped<Eigen::RowMajor>());
    ladder(
        "attachment", [](Case& k, const VectorXd& x) { k.parameters.attachment.reshaped<Eigen::RowMajor>() = x; },
        c.parameters.attachment.reshaped<Eigen::RowMajor>(), g.attachment.reshaped<Eigen::RowMajor>());
    ladder(
        "gravity", [](Case& k, const VectorXd& x) { k.parameters.gravity = x; }, c.parameters.gravity, g.gravity);
    ladder(
        "armature", [](Case& k, const VectorXd& x) { k.parameters.armature = x; }, c.parameters.armature, g.armature);
}

}  // namespace

TEST_CASE("rigid-body dynamics: derivatives of inverse dynamics by q, v, a") {
    Random random(1);
    for (const RigidBodyCase& c : rigid_body_cases()) {
        RigidBodyScratch scratch;
        InverseDynamicsDerivatives d;
        inverse_dynamics_derivatives(*c.model, c.parameters, c.kinematics(), c.state.v, c.a, c.wrenches, scratch, d);
        CHECK((d.a - c.mass()).norm() <= 1e-15 * d.a.norm());
        const VectorXd zero = VectorXd::Zero(c.model->num_dofs());
        for (int repeat = 0; repeat < 3; ++repeat) {
            check("q", check_jacobian([&](const VectorXd& x) { return c.moved(x).inverse(); }, zero, d.q, {}, random));
            check("v", check_jacobian(
                           [&](const VectorXd& x) {
                               RigidBodyCase changed = c;
                               changed.state.v = x;
                               return changed.inverse();
                           },
                           c.state.v, d.v, {}, random));
        }
    }
}

TEST_CASE("rigid-body dynamics: the vjp of inverse dynamics is the transposed derivative, and has all parameters") {
    Random random(2);
    for (const RigidBodyCase& c : rigid_body_cases()) {
        RigidBodyScratch scratch;
        InverseDynamicsDerivatives d;
        inverse_dynamics_derivatives(*c.model, c.parameters, c.kinematics(), c.state.v, c.a, c.wrenches, scratch, d);
        const VectorXd lambda = normal_vector(random, c.model->num_dofs());
        InverseDynamicsGradient bars;
        Parameters gradient = zero_parameters(*c.model);
        set_rigid_bodies(*c.model, c.parameters, c.kinematics(), scratch);
        inverse_dynamics_vjp(*c.model, c.parameters, c.kinematics(), c.state.v, c.a, c.wrenches, lambda, scratch, bars,
                             gradient);
        CHECK((bars.q - d.q.transpose() * lambda).norm() < 1e-12 * bars.q.norm());
        CHECK((bars.v - d.v.transpose() * lambda).norm() < 1e-12 * bars.v.norm());
        CHECK((bars.a - d.a.transpose() * lambda).norm() < 1e-12 * bars.a.norm());
        check_gradients(c, {bars.q, bars.v, bars.a, {}, flat(bars.wrenches), gradient}, random,
                        [&](const RigidBodyCase& x) { return lambda.dot(x.inverse()); });
    }
}

TEST_CASE("rigid-body dynamics: derivatives of forward dynamics and their vjp") {
    Random random(3);
    for (const RigidBodyCase& c : rigid_body_cases()) {
        ForwardDynamicsScratch scratch;
        ForwardDynamicsDerivatives d;
        forward_dynamics_derivatives(*c.model, c.parameters, c.kinematics(), c.forward_input(), scratch, d);
        CHECK(d.a == c.forward());
        const VectorXd zero = VectorXd::Zero(c.model->num_dofs()), bar = normal_vector(random, c.model->num_dofs());
        for (int repeat = 0; repeat < 2; ++repeat)
            check("q", check_jacobian([&](const VectorXd& x) { return c.moved(x).forward(); }, zero, d.q, {}, random));
        ForwardDynamicsGradient bars;
        Parameters gradient = zero_parameters(*c.model);
        VectorXd a;
        forward_dynamics(*c.model, c.parameters, c.kinematics(), c.forward_input(), scratch, a);
        forward_dynamics_vjp(*c.model, c.parameters, c.kinematics(), c.forward_input(), a, bar, scratch, bars,
                             gradient);
        CHECK((bars.q - d.q.transpose() * bar).norm() < 1e-11 * bars.q.norm());
        CHECK((bars.v - d.v.transpose() * bar).norm() < 1e-11 * bars.v.norm());
        CHECK((bars.tau - d.tau.transpose() * bar).norm() < 1e-11 * bars.tau.norm());
        CHECK((flat(bars.wrenches) - d.wrenches.transpose() * bar).norm() < 1e-11 * bars.tau.norm());
        const VectorXd scripted = c.model->num_kinematic() ? bars.scripted : VectorXd();
        check_gradients(c, {bars.q, bars.v, scripted, bars.tau, flat(bars.wrenches), gradient}, random,
                        [&](const RigidBodyCase& x) { return bar.dot(x.forward()); });
    }
}

TEST_CASE("rigid-body dynamics: passive forces are the gradient of their energy, and their derivatives") {
    Random random(4);
    for (RigidBodyCase c : rigid_body_cases()) {
        const Model& model = *c.model;
        c.parameters.stiffness += normal_vector(random, model.num_dofs()).cwiseAbs();
        c.parameters.damping += normal_vector(random, model.num_dofs()).cwiseAbs();
        const auto force = [&](const RigidBodyCase& x) {
            VectorXd tau;
            passive_force(model, x.parameters, x.state.q, x.state.v, tau);
            return tau;
        };
        const auto energy = [&](const RigidBodyCase& x) {
            double sum = 0.0;
            for (const ScalarCoordinate& s : model.scalars()) {
                if (model.dofs()[static_cast<std::size_t>(s.dof)].prescribed) continue;
                sum += 0.5 * x.parameters.stiffness[s.dof] * std::pow(x.state.q[s.q] - s.spring_reference, 2);
            }
            for (const BallCoordinate& b : model.balls()) {
                if (model.dofs()[static_cast<std::size_t>(b.dof)].prescribed) continue;
                const Eigen::Vector3d e = log_rotation(rotation_from_quaternion(x.state.q.segment<4>(b.q)));
                sum += 0.5 * x.parameters.stiffness.segment<3>(b.dof).dot(e.cwiseAbs2());
            }
            return sum;
        };
        RigidBodyCase still = c;
        still.state.v.setZero();
        check("energy", check_tangent_gradient([&](const VectorXd& x) { return energy(still.moved(x)); },
                                               VectorXd(-force(still)), {}, random));
        MatrixXd dq, dv;
        passive_force_derivatives(model, c.parameters, c.state.q, dq, dv);
        const VectorXd zero = VectorXd::Zero(model.num_dofs()), lambda = normal_vector(random, model.num_dofs());
        check("q", check_jacobian([&](const VectorXd& x) { return force(c.moved(x)); }, zero, dq, {}, random));
        VectorXd q_bar = zero, v_bar = zero;
        Parameters gradient = zero_parameters(model);
        add_passive_force_vjp(model, c.parameters, c.state.q, c.state.v, lambda, q_bar, v_bar, gradient);
        CHECK((q_bar - dq.transpose() * lambda).norm() < 1e-13 * q_bar.norm());
        CHECK((v_bar - dv.transpose() * lambda).norm() < 1e-13 * v_bar.norm());
        const auto scalar = [&](auto&& set) {
            return [&, set](const VectorXd& x) {
                RigidBodyCase changed = c;
                set(changed) = x;
                return lambda.dot(force(changed));
            };
        };
        const auto v = [](RigidBodyCase& x) -> VectorXd& { return x.state.v; };
        const auto k = [](RigidBodyCase& x) -> VectorXd& { return x.parameters.stiffness; };
        const auto d = [](RigidBodyCase& x) -> VectorXd& { return x.parameters.damping; };
        check("v", check_gradient(scalar(v), c.state.v, v_bar, {}, random));
        check("stiffness", check_gradient(scalar(k), c.parameters.stiffness, gradient.stiffness, {}, random));
        check("damping", check_gradient(scalar(d), c.parameters.damping, gradient.damping, {}, random));
    }
}

}  // namespace farfield
