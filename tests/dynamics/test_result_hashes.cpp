// SPDX-License-Identifier: Apache-2.0
/// @file  Prints a hash of states and gradients of the scenes that other tests use; tools/regression.py keeps and compares them.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

#include "contact/contact_models.hpp"
#include "support/contact_rollouts.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using namespace testing;

class Hash {
 public:
    template <class Values>
    void add(const Values& values) {
        for (Eigen::Index r = 0; r < values.rows(); ++r) {
            for (Eigen::Index c = 0; c < values.cols(); ++c) add_number(values(r, c));
        }
    }
    [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
    void add_number(double number) {  // FNV-1a
        unsigned char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        for (const unsigned char byte : bytes) value_ = (value_ ^ byte) * 1099511628211u;
    }
    std::uint64_t value_ = 14695981039346656037u;
};

/// Rolls out and back with a loss on all states; prints name, hash, and two numbers that show how far apart unequal bits are.
void print_result(const std::string& name, const std::shared_ptr<const Model>& model, const State& start, int steps,
                  const ContactSetup& contact) {
    Random random(7);
    RowMatrix controls(steps, model->num_controls());
    for (int k = 0; k < steps; ++k) controls.row(k) = 0.3 * normal_vector(random, model->num_controls()).transpose();
    const Trajectory t =
        rollout(model, model->default_parameters(), {.state0 = start, .controls = controls}, {.dt = 0.01}, contact);
    Hash states, gradients;
    states.add(t.q);
    states.add(t.v);
    double squared = 0.0;
    if (t.converged()) {
        RowMatrix dL_dq(t.q.rows(), model->num_dofs());
        for (Eigen::Index k = 0; k < dL_dq.rows(); ++k)
            dL_dq.row(k) = normal_vector(random, model->num_dofs()).transpose();
        const RolloutGradient g = rollout_vjp(t, {.dL_dq = view(dL_dq)});
        gradients.add(g.q0);
        gradients.add(g.v0);
        gradients.add(g.controls);
        gradients.add(g.parameters.moments);
        gradients.add(g.parameters.friction);
        squared = g.q0.squaredNorm() + g.v0.squaredNorm() + g.parameters.friction.squaredNorm();
    }
    std::printf("%s\t%016llx\t%016llx\t%.17g\t%.17g\n", name.c_str(), static_cast<unsigned long long>(states.value()),
                static_cast<unsigned long long>(gradients.value()), t.q.bottomRows(1).squaredNorm(), squared);
}

State thrown_state(const Model& model, double speed) {
    Random random(1);
    State start = model.default_state();
    start.v = speed * normal_vector(random, start.v.size());
    return start;
}

}  // namespace

TEST_CASE("result hashes" * doctest::skip()) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const auto tree = build_model(zoo(seed)), scripted = build_model(zoo_with_kinematic(seed));
        Random random(seed);
        print_result("zoo " + std::to_string(seed), tree, random_state(*tree, random), 30, {});
        print_result("zoo with a script " + std::to_string(seed), scripted, scripted->default_state(), 30, {});
    }
    farfield::Scene heap;
    add_ground(heap);
    add_free_box(heap, "box", {0.1, 0.08, 0.05}, 1.0, {0.0, 0.0, 0.1});
    add_free_mesh(heap, "ball", make_sphere(0.08, 0), {0.02, 0.01, 0.3});
    add_free_mesh(heap, "roller", make_cylinder(0.05, 0.12, 6), {0.05, -0.03, 0.55});
    add_free_mesh(heap, "tetrahedron", make_tetrahedron(0.1), {0.0, 0.02, 0.8});
    farfield::Scene hollow;
    hollow.gravity.setZero();
    add_free_mesh(hollow, "hollow", make_hollow_ball(0.4, 0.3, 1), Eigen::Vector3d::Zero());
    add_free_mesh(hollow, "bead", make_sphere(0.08, 0), {0.05, 0.0, 0.0});
    for (const ContactCase& entry : contact_cases()) {
        const auto model = build_model(heap);
        print_result("heap, " + entry.name, model, thrown_state(*model, 1.0), 40,
                     make_contact_setup(*model, entry.make_default(*model), entry.name));
        if (entry.name == "polyhedral") continue;  // a hollow ball is not convex
        const auto shells = build_model(hollow);
        print_result("bead in a hollow ball, " + entry.name, shells, thrown_state(*shells, 0.5), 40,
                     make_contact_setup(*shells, entry.make_default(*shells), entry.name));
    }
}

}  // namespace farfield
