// SPDX-License-Identifier: Apache-2.0
/// @file  A rollout that goes on with a saved memory has the bits of one that never stopped.
#include <doctest/doctest.h>

#include "farfield/dynamics/implicit_step.hpp"
#include "support/contact_rollouts.hpp"
#include "support/test_scenes.hpp"

namespace farfield {
namespace {

struct Run {
    std::vector<State> states;
    std::vector<int> iterations;
};

Run take(const StepContext& context, const StepInput& input, const State& start, int steps, StepMemory& memory) {
    StepScratch scratch;
    Run run;
    State now = start, next;
    for (int step = 0; step < steps; ++step) {
        const StepReport report = implicit_step(context, now, input, memory, scratch, next);
        REQUIRE(report.status == StepStatus::Converged);
        run.states.push_back(next);
        run.iterations.push_back(report.iterations);
        now = next;
    }
    return run;
}

/// `warm_matters`: that a memory which starts cold in the middle does show.
void check_continuation(const StepContext& context, const StepInput& input, const State& start, bool warm_matters) {
    StepMemory whole = make_memory(context), first = make_memory(context), second = make_memory(context),
               cold = make_memory(context);
    const Run all = take(context, input, start, 30, whole);
    const Run begin = take(context, input, start, 12, first);
    second.restore(first.save());
    const Run rest = take(context, input, begin.states.back(), 18, second);
    const Run forgetful = take(context, input, begin.states.back(), 18, cold);
    for (std::size_t k = 0; k < rest.states.size(); ++k) {
        CHECK(rest.states[k].q == all.states[12 + k].q);
        CHECK(rest.states[k].v == all.states[12 + k].v);
        CHECK(rest.iterations[k] == all.iterations[12 + k]);
    }
    CHECK((forgetful.states.back().q != all.states.back().q) == warm_matters);
    std::vector<double> foreign = first.save();
    foreign.push_back(1.0);
    CHECK_THROWS_AS(second.restore(foreign), std::invalid_argument);
    CHECK_THROWS_AS(second.restore({}), std::invalid_argument);
}

TEST_CASE("step memory: a robot goes on with the same bits") {
    const auto model = build_model(testing::zoo(2));
    const Parameters parameters = model->default_parameters();
    const StepContext context{.model = *model, .parameters = parameters};
    Random random(2);
    check_continuation(context, {model->default_control(), {}}, testing::random_state(*model, random), true);
}

TEST_CASE("step memory: contact goes on with the same bits") {
    Scene scene;
    testing::add_ground(scene);
    testing::add_free_box(scene, "box", {0.2, 0.2, 0.1}, 1.0, {0.0, 0.0, 0.102});
    testing::add_free_mesh(scene, "ball", make_sphere(0.1), {0.33, 0.02, 0.105});
    const auto model = build_model(scene);
    const Parameters parameters = model->default_parameters();
    const ContactSetup contact = testing::long_range(*model);
    const StepContext context{*model, parameters, contact.potential.get(), contact.filter.get(), {}};
    State start = model->default_state();
    start.v[0] = 0.8;
    start.v[5] = 1.0;
    check_continuation(context, {}, start, true);
}

}  // namespace
}  // namespace farfield
