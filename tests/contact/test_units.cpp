// SPDX-License-Identifier: Apache-2.0
/// @file  No unit is built into a contact model: a scene told in other units of length, mass and time has the same contact.
#include <doctest/doctest.h>

#include <cmath>

#include "contact/contact_models.hpp"
#include "farfield/contact/make_contact.hpp"
#include "farfield/model/kinematics.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;

namespace {

/// What one unit of the other system is worth in ours, inverted: lengths are multiplied by `length`.
struct Units {
    double length = 1.0, mass = 1.0, time = 1.0;

    [[nodiscard]] double speed() const { return length / time; }
    [[nodiscard]] double force() const { return mass * length / (time * time); }
    [[nodiscard]] double energy() const { return force() * length; }
};

/// Boxes, a ball and a hull in a loose heap on a slab and the ground, neighbours a few resting gaps apart.
struct Heap {
    std::shared_ptr<const Model> model;
    Poses start, now;
    double dt = 0.0;

    explicit Heap(const Units& u, bool gravity = true) {
        farfield::Scene scene;
        scene.dt = dt = 0.01 * u.time;
        scene.gravity = {0.0, 0.0, gravity ? -9.81 * u.length / (u.time * u.time) : 0.0};
        const auto add = [&](const char* name, TriangleMesh mesh, const Eigen::Vector3d& place, double mass) {
            const int body = static_cast<int>(scene.bodies.size());
            mesh.vertices *= u.length;
            // a ball of uniform density
            Moments moments = ellipsoid_moments(Eigen::Vector3d::Constant(0.05), 1.0);
            const double factor = mass / moments.mass * u.mass;
            moments.mass *= factor;
            moments.second *= factor * u.length * u.length;
            scene.bodies.push_back(Body{.name = name,
                                        .position = u.length * place,
                                        .joints = {Joint{.name = name, .type = JointType::Free}},
                                        .moments = moments});
            scene.meshes.push_back(mesh);
            scene.shapes.push_back(Shape{.name = name,
                                         .body = body,
                                         .type = ShapeType::Mesh,
                                         .mesh = static_cast<int>(scene.meshes.size()) - 1});
        };
        add("slab", make_box({0.3, 0.2, 0.02}), {0.0, 0.0, 0.0213}, 3.0);
        add("box", make_box({0.05, 0.04, 0.03}), {0.03, 0.02, 0.0723}, 0.7);
        add("ball", make_sphere(0.03, 1), {-0.07, 0.03, 0.0717}, 0.2);
        add("bead", make_sphere(0.004, 1), {0.03, 0.02, 0.10636}, 0.001);
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        model = build_model(scene);
        Kinematics kinematics;
        forward_kinematics(*model, model->default_parameters(), model->default_state().q, kinematics);
        start = now = kinematics.poses;
        for (std::size_t body = 1; body < now.size(); ++body) {
            const double k = static_cast<double>(body);
            now[body].position += u.length * 1e-5 * Eigen::Vector3d(k, 2.0 - k, -0.3 * k);
            now[body].rotation = exp_rotation(1e-4 * Eigen::Vector3d(0.3 * k, -0.2, 0.1 + k)) * now[body].rotation;
        }
    }
};

struct Result {
    ContactLinearization d;
    double energy = 0.0;
    contact::ContactGradient gradient;
};

Result contact_of(const Heap& heap, const contact::ContactOptions& options, const Units& u) {
    const auto potential = contact::make_contact(*heap.model, options);
    const auto memory = potential->make_memory();
    contact::Twists twists(heap.now.size());
    for (std::size_t body = 0; body < twists.size(); ++body) {
        const double k = static_cast<double>(body);
        twists[body] << u.length * Eigen::Vector3d(1.0, k, -0.5), Eigen::Vector3d(0.2 * k, -1.0, 0.4);
    }
    Result out;
    auto& step = potential->begin_step(heap.start, heap.dt, heap.model->default_parameters(), *memory,
                                       contact::StepMode::Backward);
    out.energy = step.energy(heap.now);
    step.linearize(heap.now, out.d);
    step.vjp({&twists, 1}, {&out.gradient, 1});
    return out;
}

Vector6d scaled(Vector6d wrench, const Units& u) {
    wrench.head<3>() *= u.force();
    wrench.tail<3>() *= u.energy();
    return wrench;
}

Eigen::Matrix<double, 12, 12> scaled(const Eigen::Matrix<double, 12, 12>& hessian, const Units& u) {
    Eigen::Matrix<double, 12, 1> unit = Eigen::Matrix<double, 12, 1>::Ones();
    unit.segment<3>(0) /= u.length;
    unit.segment<3>(6) /= u.length;
    return u.energy() * (unit.asDiagonal() * hessian * unit.asDiagonal());
}

const std::vector<contact::ContactOptions>& every_model() {
    static const std::vector<contact::ContactOptions> all = {
        contact::longrange::LongRangeOptions{},
        contact::longrange::LongRangeOptions{.leaf_weights = contact::longrange::LeafWeights::Paper},
        contact::polyhedral::PolyhedralOptions{}, contact::ipc::IpcOptions{},
        contact::ipc::IpcOptions{.form = contact::ipc::Form::Global}};
    return all;
}

}  // namespace

TEST_CASE("contact models: units that are powers of two give the same bits") {
    for (const bool gravity : {true, false}) {
        const Heap heap({}, gravity);
        for (const contact::ContactOptions& options : every_model()) {
            const std::string name = contact::name_of(options);
            CAPTURE(name);
            CAPTURE(gravity);
            const Result ours = contact_of(heap, options, {});
            REQUIRE(ours.d.blocks.size() >= 3);
            REQUIRE(ours.d.friction_energy > 0.0);
            for (const Units& u : {Units{1024.0, 1.0, 1.0}, Units{1.0, 0.03125, 1.0}, Units{1.0, 1.0, 256.0},
                                   Units{0.0078125, 4096.0, 0.125}}) {
                CAPTURE(u.length);
                CAPTURE(u.mass);
                CAPTURE(u.time);
                const Result theirs = contact_of(Heap(u, gravity), options, u);
                CHECK(theirs.energy == u.energy() * ours.energy);
                CHECK(theirs.d.energy == u.energy() * ours.d.energy);
                CHECK(theirs.d.friction_energy == u.energy() * ours.d.friction_energy);
                for (std::size_t body = 0; body < heap.now.size(); ++body) {
                    CHECK(theirs.d.wrench[body] == scaled(ours.d.wrench[body], u));
                    Vector6d previous = u.energy() * ours.gradient.previous_wrench[body];  // of an energy, by poses
                    previous.head<3>() /= u.length;
                    CHECK(theirs.gradient.previous_wrench[body] == previous);
                }
                REQUIRE(theirs.d.blocks.size() == ours.d.blocks.size());
                for (std::size_t k = 0; k < ours.d.blocks.size(); ++k)
                    CHECK(theirs.d.blocks[k].hessian == scaled(ours.d.blocks[k].hessian, u));
                for (std::size_t k = 0; k < ours.d.gaps.size(); ++k)
                    CHECK(theirs.d.gaps[k] == u.length * ours.d.gaps[k]);
            }
        }
    }
}

TEST_CASE("contact models: decimal units give the same contact up to rounding") {
    const Heap heap({});
    const Units u{1000.0, 1000.0, 1.0};  // millimetres and grams
    for (const contact::ContactOptions& options : every_model()) {
        const std::string name = contact::name_of(options);
        CAPTURE(name);
        const Result ours = contact_of(heap, options, {}), theirs = contact_of(Heap(u), options, u);
        CHECK(theirs.d.energy == doctest::Approx(u.energy() * ours.d.energy).epsilon(1e-10));
        for (std::size_t body = 0; body < heap.now.size(); ++body)
            CHECK((theirs.d.wrench[body] - scaled(ours.d.wrench[body], u)).norm() <=
                  1e-9 * scaled(ours.d.wrench[body], u).norm());
    }
}
