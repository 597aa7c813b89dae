// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  A tree with every kind of joint in a random state of motion, and its dynamics as functions of one argument at a time.
#include <memory>

#include "farfield/model/forward_dynamics.hpp"
#include "farfield/model/mass_matrix.hpp"
#include "support/test_scenes.hpp"

namespace farfield::testing {

struct RigidBodyCase {
    std::shared_ptr<const Model> model;
    Parameters parameters;
    State state;
    Eigen::VectorXd a, tau;  ///< random
    Wrenches wrenches;       ///< random, also on the bodies that do not move

    RigidBodyCase(const Scene& scene, std::uint64_t seed)
        : model(build_model(scene)), parameters(model->default_parameters()) {
        Random random(seed);
        state = random_state(*model, random, 0.7);
        retract(*model, Eigen::VectorXd(state.q), 0.3 * normal_vector(random, model->num_dofs()),
                state.q);  // off the ties, moving scripted bodies
        state.v = normal_vector(random, model->num_dofs());
        a = 3.0 * normal_vector(random, model->num_dofs());
        tau = 3.0 * normal_vector(random, model->num_dofs());
        for (int i = 0; i < model->num_bodies(); ++i) wrenches.push_back(normal_vector(random, 6));
        parameters.gravity += 2.0 * unit_vector(random);
    }

    [[nodiscard]] Kinematics kinematics() const {
        Kinematics out;
        forward_kinematics(*model, parameters, state.q, out);
        return out;
    }
    [[nodiscard]] Eigen::MatrixXd mass() const {
        RigidBodyScratch scratch;
        Eigen::MatrixXd out;
        mass_matrix(*model, parameters, kinematics(), scratch, out);
        return out;
    }
    [[nodiscard]] Eigen::VectorXd inverse() const {
        RigidBodyScratch scratch;
        Eigen::VectorXd out;
        inverse_dynamics(*model, parameters, kinematics(), state.v, a, wrenches, scratch, out);
        return out;
    }
    /// `a` gives the accelerations of scripted bodies.
    [[nodiscard]] ForwardDynamicsInput forward_input() const { return {state.v, tau, &wrenches, &a}; }
    [[nodiscard]] Eigen::VectorXd forward() const {
        ForwardDynamicsScratch scratch;
        Eigen::VectorXd out;
        forward_dynamics(*model, parameters, kinematics(), forward_input(), scratch, out);
        return out;
    }
    /// The same case a tangent step away.
    [[nodiscard]] RigidBodyCase moved(const Eigen::VectorXd& delta) const {
        RigidBodyCase out = *this;
        retract(*model, state.q, delta, out.state.q);
        return out;
    }
};

/// A free robot with a tie, one that hangs on the world, and one beside a scripted body that carries a pendulum.
inline std::vector<RigidBodyCase> rigid_body_cases() {
    std::vector<RigidBodyCase> out;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        out.emplace_back(zoo(seed), seed);
        out.emplace_back(zoo(seed, false), seed);
        out.emplace_back(zoo_with_kinematic(seed), seed);
    }
    return out;
}

}  // namespace farfield::testing
