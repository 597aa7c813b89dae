// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Momenta, energies and convergence orders of rollouts, written from textbook formulas.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "farfield/dynamics/rollout.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield::testing {

/// Of the whole scene, about the world's origin, from the rigid motion (q, v).
struct Momenta {
    Eigen::Vector3d linear = Eigen::Vector3d::Zero(), angular = Eigen::Vector3d::Zero();
    double kinetic = 0.0, potential = 0.0;
    [[nodiscard]] double energy() const { return kinetic + potential; }
};

inline Momenta momenta(const Model& model, const Parameters& parameters, const State& state) {
    Kinematics kinematics;
    forward_kinematics(model, parameters, state.q, kinematics);
    std::vector<Vector6d> twists;
    body_twists(model, kinematics, state.v, twists);
    Momenta sum;
    for (std::size_t i = 1; i < twists.size(); ++i) {
        const Pose& pose = kinematics.poses[i];
        const Moments body = from_vector(parameters.moments.row(static_cast<Eigen::Index>(i)).transpose());
        const Eigen::Vector3d v = twists[i].head<3>(), w = twists[i].tail<3>(), h = pose.rotation * body.first;
        const Eigen::Matrix3d second = pose.rotation * body.second * pose.rotation.transpose();
        const Eigen::Vector3d spin = second.trace() * w - second * w;  // inertia about the body's origin times w
        const Eigen::Vector3d p = body.mass * v + w.cross(h);
        sum.linear += p;
        sum.angular += pose.position.cross(p) + h.cross(v) + spin;
        sum.kinetic += 0.5 * (body.mass * v.squaredNorm() + 2.0 * v.dot(w.cross(h)) + w.dot(spin));
        sum.potential -= parameters.gravity.dot(body.mass * pose.position + h);
    }
    return sum;
}

/// Sum of m x over the scene [kg m].
inline Eigen::Vector3d mass_times_center(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q) {
    Kinematics kinematics;
    forward_kinematics(model, parameters, q, kinematics);
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    for (int i = 1; i < model.num_bodies(); ++i) {
        const Pose& pose = kinematics.poses[static_cast<std::size_t>(i)];
        sum += parameters.moments(i, 0) * pose.position +
               pose.rotation * parameters.moments.row(i).segment<3>(1).transpose();
    }
    return sum;
}

/// A rollout of `seconds` with constant controls; must converge.
inline Trajectory simulate(const std::shared_ptr<const Model>& model, const State& state0, double seconds, double dt,
                           const Eigen::VectorXd& control = {}, StepOptions options = {.tolerance = 1e-10}) {
    options.dt = dt;
    const auto steps = static_cast<Eigen::Index>(std::lround(seconds / dt));
    RolloutInput input{.state0 = state0, .controls = RowMatrix::Zero(steps, model->num_controls())};
    if (control.size()) input.controls.rowwise() = control.transpose();
    Trajectory t = rollout(model, model->default_parameters(), input, options);
    REQUIRE_MESSAGE(t.converged(), "step ", t.num_steps(), ": ", std::string(to_string(t.reports.back().status)));
    return t;
}

/// error(dt), error(dt/2), error(dt/4) must halve each time, within 0.8 to 1.2 orders, and not be zero.
inline void check_first_order(const char* what, double dt, const std::function<double(double)>& error) {
    const double e1 = std::abs(error(dt)), e2 = std::abs(error(dt / 2)), e3 = std::abs(error(dt / 4));
    const double order12 = std::log2(e1 / e2), order23 = std::log2(e2 / e3);
    CAPTURE(e1);
    CAPTURE(e2);
    CAPTURE(e3);
    CHECK_MESSAGE((order12 > 0.8 && order12 < 1.2), what, ": order ", order12);
    CHECK_MESSAGE((order23 > 0.8 && order23 < 1.2), what, ": order ", order23);
}

}  // namespace farfield::testing
