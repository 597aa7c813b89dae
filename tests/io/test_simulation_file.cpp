// SPDX-License-Identifier: Apache-2.0
/// @file  A simulation that was saved and loaded goes on bit for bit; a damaged file of one is refused by name.
#include "farfield/io/simulation_file.hpp"

#include <doctest/doctest.h>

#include "farfield/contact/make_contact.hpp"
#include "farfield/io/contact_json.hpp"
#include "farfield/io/safetensors.hpp"
#include "support/contact_rollouts.hpp"
#include "support/error_text.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

using namespace testing;
using Eigen::VectorXd;

std::shared_ptr<const Model> falling_bodies() {
    farfield::Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", {0.1, 0.08, 0.05}, 1.0, {0.0, 0.0, 0.06});
    add_free_box(scene, "second", {0.05, 0.05, 0.05}, 0.5, {0.02, 0.01, 0.18});
    return build_model(scene);
}

Simulation simulation_of(const std::string& name, const FilterOptions& filter = {}) {
    const auto model = falling_bodies();
    const auto options = contact::default_options(name);
    Simulation simulation(
        model, model->default_parameters(),
        make_contact_setup(*model, contact::make_contact(*model, options), contact_to_json(options), filter),
        {.dt = 0.008, .tolerance = 1e-9});
    State state = model->default_state();
    state.v[0] = 0.5;
    state.v[8] = -1.0;
    simulation.reset(state);
    return simulation;
}

void step(Simulation& simulation, int count) {
    for (int k = 0; k < count; ++k) {
        REQUIRE(simulation.step({.control = VectorXd(0), .script = VectorXd(0)}).status == StepStatus::Converged);
    }
}

}  // namespace

TEST_CASE("simulation files: a loaded one goes on bit for bit, options of step and filter included") {
    for (const std::string name : {"longrange", "polyhedral", "ipc", "ipc-global"}) {
        CAPTURE(name);
        Simulation first = simulation_of(name, {.keep = 0.25});
        step(first, 12);
        Simulation second = simulation_from_bytes(simulation_to_bytes(first));
        CHECK(second.options().dt == 0.008);
        CHECK(second.options().tolerance == 1e-9);
        CHECK(second.contact().filter->options().keep == 0.25);
        CHECK(second.num_steps() == 12);
        CHECK(second.last_report().iterations == first.last_report().iterations);
        REQUIRE(second.contacts().size() == first.contacts().size());
        CHECK(second.contacts()[0].force == first.contacts()[0].force);
        for (int k = 0; k < 12; ++k) {
            step(first, 1);
            step(second, 1);
            CHECK(second.last_report().iterations == first.last_report().iterations);
            REQUIRE(second.state().q == first.state().q);
            REQUIRE(second.state().v == first.state().v);
        }
    }
}

TEST_CASE("simulation files: what is wrong with one is refused by name") {
    Simulation simulation = simulation_of("longrange");
    step(simulation, 2);
    const TensorFile good = decode_tensors(simulation_to_bytes(simulation), "test");
    const auto error_after = [&](const auto& change) {
        TensorFile file = good;
        change(file);
        return error_of([&] { (void)simulation_from_bytes(encode_tensors(file, "test")); });
    };
    CHECK(contains(error_after([](TensorFile& f) { f.tensors.erase("memory"); }), "'memory'"));
    CHECK(contains(error_after([](TensorFile& f) { f.tensors["memory"] = f.tensors["v"]; }), "memory"));
    CHECK(contains(error_after([](TensorFile& f) { f.tensors["q"] = f.tensors["v"]; }), "12"));
    CHECK(contains(error_after([](TensorFile& f) { f.metadata["contact"] = R"({"engine": "mujoco"})"; }),
                   "expected a contact model of this engine"));
    CHECK(contains(error_after([](TensorFile& f) { f.metadata["contact"] = "{"; }), "simulation_from_bytes"));
}

}  // namespace farfield
