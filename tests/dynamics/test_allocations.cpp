// SPDX-License-Identifier: Apache-2.0
/// @file  A warm step and its vjp take nothing from the heap. Counts operator new and malloc-backed Eigen storage.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "farfield/dynamics/implicit_step.hpp"
#include "support/test_scenes.hpp"

#if defined(__has_feature)
#define FARFIELD_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FARFIELD_HAS_SANITIZER 1
#else
#define FARFIELD_HAS_SANITIZER 0
#endif

// The sanitizers bring their own allocator. Elsewhere, malloc of the C library is wrapped: Eigen allocates through it, and so does
// the default operator new.
#if !FARFIELD_HAS_SANITIZER && defined(__GLIBC__)
extern "C" void* __libc_malloc(std::size_t size) noexcept;

namespace {
thread_local bool counting = false;
thread_local long allocations = 0;
}  // namespace

extern "C" void* malloc(std::size_t size) noexcept {
    if (counting) ++allocations;
    return __libc_malloc(size);
}

namespace farfield {
namespace {

/// Allocations in steps 10 to 20 of a rollout, and of as many adjoint steps.
long count_allocations(const Scene& scene) {
    const std::shared_ptr<const Model> model = build_model(scene);
    const Parameters parameters = model->default_parameters();
    const StepContext context{.model = *model, .parameters = parameters, .options = {.dt = 0.005}};
    StepMemory memory = make_memory(context);
    StepScratch scratch;
    StepBars bars;
    Parameters gradient = zero_parameters(*model);
    State now = model->default_state(), next;
    now.v = model->reduction().E * Eigen::VectorXd::LinSpaced(model->num_unknowns(), -0.5, 0.5);
    StepInput input{model->default_control(), Eigen::VectorXd::Zero(7 * model->num_kinematic())};
    for (int k = 0; k < model->num_kinematic(); ++k) {
        const ModelBody& body =
            model->bodies()[static_cast<std::size_t>(model->kinematic_bodies()[static_cast<std::size_t>(k)])];
        input.script.segment<7>(7 * k) =
            now.q.segment<7>(model->joints()[static_cast<std::size_t>(body.first_joint)].q);
    }
    const Eigen::VectorXd bar = Eigen::VectorXd::Ones(model->num_dofs());
    allocations = 0;
    for (int step = 0; step < 20; ++step) {
        counting = step >= 10;
        const StepReport report = implicit_step(context, now, input, memory, scratch, next);
        implicit_step_vjp(context, now, input, next, bar, bar, memory, scratch, bars, gradient);
        counting = false;
        REQUIRE(report.status == StepStatus::Converged);
        REQUIRE(report.iterations > 1);
        std::swap(now, next);
    }
    return allocations;
}

}  // namespace

TEST_CASE("steps and their vjp do not allocate once warm") {
    counting = true;
    Eigen::VectorXd seen(1000);  // the counter does count
    counting = false;
    REQUIRE(allocations > 0);
    CHECK(seen.size() == 1000);
    CHECK(count_allocations(testing::zoo(1)) == 0);
    CHECK(count_allocations(testing::zoo_with_kinematic(2)) == 0);
}

}  // namespace farfield
#endif
