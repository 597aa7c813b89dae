// SPDX-License-Identifier: Apache-2.0
/// @file  A warm step and its vjp take nothing from the heap, with and without contact. Counts operator new, also for aligned types,
///        and Eigen's storage.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "contact/softmin/push_scene.hpp"
#include "farfield/contact/softmin/softmin.hpp"
#include "farfield/dynamics/explicit_step.hpp"
#include "farfield/dynamics/implicit_step.hpp"
#include "support/contact_rollouts.hpp"
#include "support/test_scenes.hpp"

#if defined(__has_feature)
#define FARFIELD_HAS_SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FARFIELD_HAS_SANITIZER 1
#else
#define FARFIELD_HAS_SANITIZER 0
#endif

// The sanitizers bring their own allocator. Elsewhere, those of the C library are wrapped: Eigen allocates through them, and so does
// the default operator new.
#if !FARFIELD_HAS_SANITIZER && defined(__GLIBC__)
extern "C" void* __libc_malloc(std::size_t size) noexcept;
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;
extern "C" void* __libc_realloc(void* block, std::size_t size) noexcept;

namespace {
thread_local bool counting = false;
thread_local long allocations = 0;
}  // namespace

extern "C" void* malloc(std::size_t size) noexcept {
    if (counting) ++allocations;
    return __libc_malloc(size);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    if (counting) ++allocations;
    return __libc_memalign(alignment, size);
}
extern "C" void* realloc(void* block, std::size_t size) noexcept {
    if (counting) ++allocations;
    return __libc_realloc(block, size);
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
    std::vector<StepGradient> gradients(3);
    std::vector<Parameters> parameter_gradients(gradients.size(), zero_parameters(*model));
    State now = model->default_state(), next;
    now.v = model->reduction().E * Eigen::VectorXd::LinSpaced(model->num_unknowns(), -0.5, 0.5);
    StepInput input{model->default_control(), Eigen::VectorXd::Zero(7 * model->num_kinematic())};
    for (int k = 0; k < model->num_kinematic(); ++k) {
        const ModelBody& body =
            model->bodies()[static_cast<std::size_t>(model->kinematic_bodies()[static_cast<std::size_t>(k)])];
        input.script.segment<7>(7 * k) =
            now.q.segment<7>(model->joints()[static_cast<std::size_t>(body.first_joint)].q);
    }
    const Eigen::VectorXd ones = Eigen::VectorXd::Ones(model->num_dofs());
    const std::vector<StateGradient> bars(gradients.size(), {ones, ones});
    allocations = 0;
    for (int step = 0; step < 20; ++step) {
        counting = step >= 10;
        const StepReport report = implicit_step(context, now, input, memory, scratch, next);
        implicit_step_vjp(context, now, input, next, bars, memory, scratch, gradients, parameter_gradients);
        counting = false;
        REQUIRE(report.status == StepStatus::Converged);
        REQUIRE(report.iterations > 1);
        std::swap(now, next);
    }
    return allocations;
}

/// Allocations of a rollout and of its way back, [0] the first time, [1] when both have been done before with the same memories.
struct ContactCount {
    long forward[2] = {0, 0}, backward[2] = {0, 0};
    double friction = 0.0;  ///< gradient by the friction coefficients
};
ContactCount count_contact_allocations(const Scene& scene, const Eigen::VectorXd& v0, int steps) {
    const std::shared_ptr<const Model> model = build_model(scene);
    const Parameters parameters = model->default_parameters();
    const ContactSetup setup = testing::long_range(*model);
    const StepContext context{.model = *model,
                              .parameters = parameters,
                              .contact = setup.potential.get(),
                              .filter = setup.filter.get(),
                              .options = {.dt = 0.01}};
    StepMemory there = make_memory(context), back = make_memory(context);
    StepScratch scratch;
    std::vector<StepGradient> gradients(2);
    std::vector<Parameters> parameter_gradients(gradients.size(), zero_parameters(*model));
    const StepInput input{model->default_control(), {}};
    std::vector<State> states(static_cast<std::size_t>(steps) + 1, model->default_state());
    states[0].v = v0;
    std::vector<StateGradient> bars(gradients.size());
    ContactCount count;
    for (const int warm : {0, 1}) {
        allocations = 0;
        counting = true;
        int unconverged = 0;
        for (std::size_t k = 0; k + 1 < states.size(); ++k) {
            const StepReport report = implicit_step(context, states[k], input, there, scratch, states[k + 1]);
            if (report.status != StepStatus::Converged) ++unconverged;
        }
        counting = false;
        REQUIRE(unconverged == 0);
        count.forward[warm] = allocations;
        allocations = 0;
        for (StateGradient& bar : bars) {
            bar.q.setOnes(model->num_dofs());
            bar.v.setZero(model->num_dofs());
        }
        counting = true;
        for (std::size_t k = states.size() - 1; k > 0; --k) {
            implicit_step_vjp(context, states[k - 1], input, states[k], bars, back, scratch, gradients,
                              parameter_gradients);
            for (std::size_t d = 0; d < bars.size(); ++d) std::swap(bars[d], gradients[d].state);
        }
        counting = false;
        count.backward[warm] = allocations;
    }
    count.friction = parameter_gradients[1].friction.norm();
    return count;
}

}  // namespace

TEST_CASE("steps and their vjp do not allocate once warm, in contact and with friction") {
    Scene scene;
    testing::add_ground(scene);
    testing::add_free_box(scene, "box", {0.2, 0.2, 0.1}, 1.0, {0.0, 0.0, 0.102});
    testing::add_free_box(scene, "rod", {0.03, 0.03, 0.2}, 0.5, {0.25, 0.02, 0.21});
    testing::add_free_mesh(scene, "ball", make_sphere(0.1), {0.0, 0.35, 0.105});
    Eigen::VectorXd v0 = Eigen::VectorXd::Zero(18);
    v0[0] = 0.8, v0[5] = 1.0, v0[13] = -1.0;  // the box slides and spins towards the rod, the ball towards the box
    const ContactCount count = count_contact_allocations(scene, v0, 30);
    CHECK(count.forward[0] > 0);
    CHECK(count.backward[0] > 0);
    CHECK(count.forward[1] == 0);
    CHECK(count.backward[1] == 0);
    CHECK(count.friction > 0.0);
}

TEST_CASE("explicit steps under a force law and their vjp do not allocate once warm") {
    const std::shared_ptr<const Model> model = build_model(testing::t_scene());
    const Parameters parameters = model->default_parameters();
    const contact::softmin::Softmin law(*model, testing::t_options(3));
    for (const Integrator integrator : {Integrator::Euler, Integrator::Rk4}) {
        const StepContext context{
            .model = *model, .parameters = parameters, .options = {.dt = 0.002, .integrator = integrator}, .law = &law};
        StepMemory memory = make_memory(context);
        ExplicitScratch scratch;
        std::vector<StepGradient> gradients(2);
        std::vector<Parameters> parameter_gradients(gradients.size(), zero_parameters(*model));
        const Eigen::VectorXd ones = Eigen::VectorXd::Ones(model->num_dofs());
        const std::vector<StateGradient> bars(gradients.size(), {ones, ones});
        State now = model->default_state(), next;
        now.q[8] = -0.1375 - 0.02 + 0.22;
        const StepInput input{Eigen::VectorXd(Eigen::Vector2d(0.0, 0.08)), {}};
        allocations = 0;
        for (int step = 0; step < 20; ++step) {
            counting = step >= 10;
            const StepReport report = explicit_step(context, now, input, memory, scratch, next);
            explicit_step_vjp(context, now, input, bars, memory, scratch, gradients, parameter_gradients);
            counting = false;
            REQUIRE(report.status == StepStatus::Converged);
            std::swap(now, next);
        }
        CHECK(allocations == 0);
    }
}

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
