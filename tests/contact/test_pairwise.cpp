// SPDX-License-Identifier: Apache-2.0
/// @file  What parameters and options mean to every contact model: weights, friction, and what is refused.
#include <doctest/doctest.h>

#include "contact/contact_models.hpp"
#include "contact/longrange/random_scene.hpp"
#include "farfield/contact/make_contact.hpp"
#include "farfield/model/kinematics.hpp"

using namespace farfield;
using namespace farfield::testing;
using contact::ContactLinearization;
using contact::ContactOptions;

namespace {

constexpr double kDt = 0.01;

/// Two boxes, one above the other, above the ground, neighbours within reach of every model. A third body is in no pair.
struct Stack {
    std::shared_ptr<const Model> model;
    Poses poses, next;

    Stack() {
        farfield::Scene scene;
        for (int k = 0; k < 3; ++k) {
            const std::string name(1, static_cast<char>('a' + k));
            scene.bodies.push_back(Body{.name = name,
                                        .position = {0.0, 0.0, 0.11 + 0.22 * k},
                                        .joints = {Joint{.name = name, .type = JointType::Free}},
                                        .moments = ellipsoid_moments(Eigen::Vector3d::Constant(0.2), 30.0)});
            if (k < 2) {
                scene.shapes.push_back(
                    Shape{.name = name, .body = k + 1, .type = ShapeType::Box, .size = Eigen::Vector3d::Constant(0.1)});
            }
        }
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        scene.exclude_contacts = {{"world", "b"}};
        model = build_model(scene);
        Kinematics kinematics;
        forward_kinematics(*model, model->default_parameters(), model->default_state().q, kinematics);
        poses = next = kinematics.poses;
        next[1].position.x() += 1e-4;
    }

    [[nodiscard]] ContactLinearization at(const contact::ContactPotential& potential, const Parameters& p) const {
        const auto memory = potential.make_memory();
        ContactLinearization out;
        potential.begin_step(poses, kDt, p, *memory).linearize(next, out);
        return out;
    }
    [[nodiscard]] contact::ContactGradient gradient(const contact::ContactPotential& potential, const Parameters& p,
                                                    const contact::Twists& twists) const {
        const auto memory = potential.make_memory();
        ContactLinearization out;
        contact::ContactGradient gradient;
        contact::ContactStep& step = potential.begin_step(poses, kDt, p, *memory, contact::StepMode::Backward);
        step.linearize(next, out);
        step.vjp({&twists, 1}, {&gradient, 1});
        return gradient;
    }
};

/// Every model with a range that reaches across the gaps of the stack.
std::vector<ContactOptions> all_options() {
    return {contact::longrange::LongRangeOptions{}, contact::polyhedral::PolyhedralOptions{.range = 0.05},
            contact::ipc::IpcOptions{.range = 0.05}, contact::ipc::IpcOptions{.form = contact::ipc::Form::Global}};
}

}  // namespace

TEST_CASE("contact models: friction follows the current parameters, and a tie shares the gradient") {
    const Stack stack;
    contact::Twists twists(4, Vector6d::Zero());
    twists[1][0] = 1.0;
    for (const ContactOptions& options : all_options()) {
        CAPTURE(contact::name_of(options));
        const auto potential = contact::make_contact(*stack.model, options);
        Parameters p = stack.model->default_parameters();
        REQUIRE(p.friction[0] == 0.5);
        REQUIRE(p.friction[1] == 0.5);
        const double before = stack.at(*potential, p).friction_energy;
        REQUIRE(before > 0.0);
        const contact::ContactGradient tie = stack.gradient(*potential, p, twists);
        // body 1 rubs on the ground and on body 2: all three coefficients are equal
        CHECK(tie.friction[0] != 0.0);
        CHECK(tie.friction[0] + tie.friction[2] == doctest::Approx(tie.friction[1]).epsilon(1e-14));
        CHECK(tie.friction[3] == 0.0);
        p.friction[1] = 0.9;
        CHECK(stack.at(*potential, p).friction_energy == doctest::Approx(before * 0.9 / 0.5).epsilon(1e-12));
        const contact::ContactGradient larger = stack.gradient(*potential, p, twists);
        CHECK(larger.friction[1] == doctest::Approx(2.0 * tie.friction[1]).epsilon(1e-12));
        CHECK(larger.friction[0] == 0.0);
        CHECK(larger.friction[2] == 0.0);
        p.friction[1] = 0.1;  // below its partners: nothing changes
        CHECK(stack.at(*potential, p).friction_energy == before);
        CHECK(stack.gradient(*potential, p, twists).friction[1] == 0.0);
    }
}

TEST_CASE(
    "contact models: energies are proportional to the stiffness of parameters and options, and to the weight in "
    "joules") {
    const Stack stack;
    const Parameters p = stack.model->default_parameters();
    CHECK(p.contact_stiffness == 1.0);
    Parameters twice = p;
    twice.contact_stiffness = 2.0;
    for (const ContactOptions& options : all_options()) {
        CAPTURE(contact::name_of(options));
        const auto potential = contact::make_contact(*stack.model, options);
        const double energy = stack.at(*potential, p).energy;
        // Friction begins at a load that the weight of bodies gives, not that of contact.
        const auto pushing = [&](const contact::ContactPotential& of) {
            const ContactLinearization at = stack.at(of, p);
            return at.energy - at.friction_energy;
        };
        REQUIRE(energy > 0.0);
        CHECK(stack.at(*potential, twice).energy == doctest::Approx(2.0 * energy).epsilon(1e-13));
        std::visit(
            [&](auto own) {
                if constexpr (requires { own.weight_in_joules; }) {  // force laws have no energy
                    own.stiffness = 3.0;
                    const auto stiffer = contact::make_contact(*stack.model, own);
                    CHECK(pushing(*stiffer) == doctest::Approx(3.0 * pushing(*potential)).epsilon(1e-12));
                    for (std::size_t k = 0; k < potential->pair_weights().size(); ++k)
                        CHECK(stiffer->pair_weights()[k] == 3.0 * potential->pair_weights()[k]);
                    own.weight_in_joules = 2e-5;
                    const auto given = contact::make_contact(*stack.model, own);
                    CHECK(given->pair_weights() == std::vector<double>(2, 3.0 * 2e-5));
                    own.weight_in_joules = 4e-5;
                    CHECK(pushing(*contact::make_contact(*stack.model, own)) ==
                          doctest::Approx(2.0 * pushing(*given)).epsilon(1e-12));
                    own.weight_in_joules = -1.0;
                    CHECK_THROWS_WITH_AS(static_cast<void>(contact::make_contact(*stack.model, own)),
                                         doctest::Contains("weight_in_joules"), std::invalid_argument);
                    own.weight_in_joules.reset();
                    own.stiffness = 0.0;
                    CHECK_THROWS_WITH_AS(static_cast<void>(contact::make_contact(*stack.model, own)),
                                         doctest::Contains("stiffness"), std::invalid_argument);
                }
            },
            options);
    }
}

TEST_CASE("contact models: what a model does not honour it refuses by name") {
    const Stack stack;
    for (const ContactOptions& options : all_options()) {
        CAPTURE(contact::name_of(options));
        const auto potential = contact::make_contact(*stack.model, options);
        const std::string name = std::holds_alternative<contact::longrange::LongRangeOptions>(options) ? "LongRange"
                                 : std::holds_alternative<contact::ipc::IpcOptions>(options)           ? "Ipc"
                                                                                                       : "Polyhedral";
        Parameters p = stack.model->default_parameters();
        p.friction[3] = 0.9;  // the third body is in no pair
        CHECK_THROWS_WITH_AS(static_cast<void>(stack.at(*potential, p)), doctest::Contains("friction[3]"),
                             std::invalid_argument);
        CHECK_THROWS_WITH_AS(static_cast<void>(stack.at(*potential, p)), doctest::Contains(name.c_str()),
                             std::invalid_argument);
        p = stack.model->default_parameters();
        p.hull_vertices(0, 0) += 1e-3;
        if (name == "Polyhedral") {
            CHECK(stack.at(*potential, p).energy > 0.0);
        } else {
            CHECK_THROWS_WITH_AS(static_cast<void>(stack.at(*potential, p)), doctest::Contains("hull_vertices"),
                                 std::invalid_argument);
            CHECK_THROWS_WITH_AS(static_cast<void>(stack.at(*potential, p)), doctest::Contains(name.c_str()),
                                 std::invalid_argument);
        }
    }
    CHECK_THROWS_WITH_AS(static_cast<void>(contact::default_options("magnetic")),
                         doctest::Contains("longrange, polyhedral, ipc, ipc-global"), std::invalid_argument);
}
