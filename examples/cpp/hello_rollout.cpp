// SPDX-License-Identifier: Apache-2.0
/// @file  A box thrown along the ground: how far it slides, and how that changes with the throw.
#include <iostream>

#include "farfield/farfield.hpp"

using namespace farfield;

int main() {
    Scene scene;
    scene.bodies.push_back({.name = "box", .joints = {{.name = "free", .type = JointType::Free}}});
    scene.shapes.push_back({.name = "ground", .type = ShapeType::HalfSpace});
    scene.shapes.push_back({.name = "box", .body = 1, .size = {0.1, 0.1, 0.05}});
    const std::shared_ptr<const Model> model = build_model(scene);
    const contact::longrange::LongRangeOptions options{.slip_speed = 1e-2};
    const ContactSetup contact = make_contact_setup(*model, contact::make_contact(*model, options), "longrange");

    const auto thrown = [&](double speed) {
        State start = model->default_state();
        start.q[2] = 0.06;   // height of the centre [m]
        start.v[0] = speed;  // [m/s]
        const RolloutInput input{.state0 = start, .controls = RowMatrix::Zero(60, model->num_controls())};
        return rollout(model, model->default_parameters(), input, {.dt = 0.01}, contact);
    };
    const Trajectory motion = thrown(2.0);
    const Eigen::Index last = motion.q.rows() - 1;

    // The loss is where the box ends; its partial by the last state is 1 in the direction of the throw.
    RowMatrix dL_dq = RowMatrix::Zero(last + 1, model->num_dofs());
    dL_dq(last, 0) = 1.0;
    const RolloutGradient gradient = rollout_vjp(motion, {.dL_dq = view(dL_dq)});
    const double step = 1e-4,
                 difference = (thrown(2.0 + step).q(last, 0) - thrown(2.0 - step).q(last, 0)) / (2.0 * step);

    std::cout << "converged: " << motion.converged() << ", lowest gap " << motion.reports.back().min_gap << " m\n"
              << "slides to x = " << motion.q(last, 0) << " m\n"
              << "by the speed of the throw: " << gradient.v0[0] << " s, by differences " << difference << " s\n"
              << "by the friction of the box: " << gradient.parameters.friction.transpose() << " m\n";
    return motion.converged() ? 0 : 1;
}
