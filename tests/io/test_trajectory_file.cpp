// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/trajectory_file.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "farfield/base/random.hpp"
#include "farfield/io/safetensors.hpp"
#include "io/full_scene.hpp"
#include "support/contact_rollouts.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

Trajectory full_trajectory(const StepOptions& options = {.dt = 1.0 / 240.0, .pd_convention = PdConvention::Paper}) {
    const auto model = build_model(full_scene());
    Random random(3);
    RolloutInput input{.state0 = model->default_state()};
    input.state0.v = 0.1 * normal_vector(random, model->num_dofs());
    input.state0.v = model->reduction().E * (model->reduction().E.transpose() * input.state0.v);
    input.controls = RowMatrix::NullaryExpr(6, model->num_controls(), [&] { return 0.1 * normal(random); });
    return rollout(model, full_parameters(*model), input, options);
}

bool same_report(const StepReport& a, const StepReport& b) {
    return same(a.status, b.status) && same(a.iterations, b.iterations) && same(a.residual, b.residual) &&
           same(a.min_gap, b.min_gap) && same(a.shortest_step, b.shortest_step) && same(a.detour, b.detour) &&
           same(a.conditioning, b.conditioning) && same(a.kinetic, b.kinetic) && same(a.potential, b.potential) &&
           same(a.contact, b.contact);
}

void check_same(const Trajectory& a, const Trajectory& b) {
    CHECK(same(a.model->scene(), b.model->scene()));
    CHECK(same(a.parameters, b.parameters));
    CHECK(same(a.options.dt, b.options.dt));
    CHECK(same(a.options.tolerance, b.options.tolerance));
    CHECK(same(a.options.max_iterations, b.options.max_iterations));
    CHECK(same(a.options.pd_convention, b.options.pd_convention));
    CHECK(same(a.q, b.q));
    CHECK(same(a.v, b.v));
    CHECK(same(a.controls, b.controls));
    CHECK(same(a.script, b.script));
    REQUIRE(a.reports.size() == b.reports.size());
    for (std::size_t i = 0; i < a.reports.size(); ++i) CHECK(same_report(a.reports[i], b.reports[i]));
}

/// What loading the trajectory says after `change` of its tensors and texts.
template <class Change>
std::string error_after(const Trajectory& trajectory, Change&& change) {
    TensorFile file = decode_tensors(trajectory_to_bytes(trajectory), "x");
    change(file);
    return error_of([&] { (void)trajectory_from_bytes(encode_tensors(file, "x")); });
}

void set_double(TensorFile& file, const std::string& name, std::size_t index, double value) {
    std::memcpy(file.tensors.at(name).data.data() + 8 * index, &value, 8);
}

}  // namespace

TEST_SUITE_BEGIN("io");

TEST_CASE("a trajectory comes back bit for bit and has the same gradient") {
    Trajectory trajectory = full_trajectory();
    REQUIRE(trajectory.converged());
    REQUIRE(trajectory.num_steps() == 6);
    REQUIRE(trajectory.script.cols() == 7);
    double scale = 1.0;  // a different number in every field: a mix-up shows
    for (StepReport& report : trajectory.reports) {
        report.shortest_step = 0.1 / scale;
        report.contact = 0.3 * scale;
        scale += 1.0;
    }
    trajectory.reports[2].min_gap = 0.1 / 3.0;
    trajectory.reports[3].detour = true;
    const TemporaryFolder folder;
    save_trajectory(folder / "t", trajectory);
    const Trajectory loaded = load_trajectory(folder / "t");
    check_same(loaded, trajectory);
    CHECK(loaded.contact.potential == nullptr);
    CHECK(read_bytes(folder / "t") == trajectory_to_bytes(loaded));

    const RowMatrix ones = RowMatrix::Ones(7, trajectory.model->num_dofs());
    const LossPartials partials{.dL_dq = view(ones)};
    const RolloutGradient a = rollout_vjp(trajectory, partials), b = rollout_vjp(loaded, partials);
    CHECK(a.q0.norm() > 0.0);
    CHECK(same(a.q0, b.q0));
    CHECK(same(a.controls, b.controls));
    CHECK(same(a.parameters, b.parameters));
}

TEST_CASE("a trajectory with contact comes back with its contact model and the same gradient") {
    Scene scene;
    add_ground(scene);
    add_free_box(scene, "box", Eigen::Vector3d::Constant(0.1), 1.0, {0.0, 0.0, 0.102});
    const auto model = build_model(scene);
    State start = model->default_state();
    start.v[0] = 0.3;
    for (const contact::ContactOptions& options :
         {contact::ContactOptions(contact::longrange::LongRangeOptions{.stiffness = 2.0, .blend = {0.7}}),
          contact::ContactOptions(contact::polyhedral::PolyhedralOptions{.weight_in_joules = 1e-3, .range = 0.01}),
          contact::ContactOptions(contact::ipc::IpcOptions{.range = 0.01}),
          contact::ContactOptions(contact::ipc::IpcOptions{.form = contact::ipc::Form::Global, .slip_speed = 0.01})}) {
        const std::string text = contact_to_json(options);
        CAPTURE(text);
        CHECK(contact_to_json(contact_from_json(text, "x").value()) == text);
        farfield::Trajectory t =
            rollout(model, model->default_parameters(), {.state0 = start, .controls = RowMatrix::Zero(5, 0)}, {},
                    make_contact_setup(*model, contact::make_contact(*model, options), text));
        REQUIRE(t.converged());
        const Trajectory loaded = trajectory_from_bytes(trajectory_to_bytes(t));
        REQUIRE(loaded.contact.potential != nullptr);
        CHECK(loaded.contact.description == text);
        CHECK(loaded.contact.potential->pair_weights() == t.contact.potential->pair_weights());
        const RowMatrix ones = RowMatrix::Ones(6, 6);
        const RolloutGradient a = rollout_vjp(t, {.dL_dq = view(ones)}), b = rollout_vjp(loaded, {.dL_dq = view(ones)});
        CHECK(a.parameters.contact_stiffness != 0.0);
        CHECK(same(a.q0, b.q0));
        CHECK(same(a.parameters, b.parameters));
        t.contact.potential = nullptr;  // its gradient would be that of another motion
        CHECK(contains(error_of([&] { (void)rollout_vjp(t, {.dL_dq = view(ones)}); }), "carries no contact model"));
    }
    for (const char* text : {"{}", "[1]", "{\"model\": \"longrange\"}", "{\"model\": \"magnetic\"}"})
        CHECK(contains(error_of([&] { (void)contact_from_json(text, "here"); }), "here"));
}

TEST_CASE("an unconverged trajectory comes back, whatever its last state holds") {
    Trajectory trajectory = full_trajectory({.dt = 0.01, .tolerance = 1e-300, .max_iterations = 1});
    REQUIRE_FALSE(trajectory.converged());
    REQUIRE(trajectory.num_steps() == 1);
    REQUIRE(trajectory.controls.rows() == 6);
    trajectory.q(1, 0) = std::numeric_limits<double>::quiet_NaN();
    trajectory.reports[0].status = StepStatus::Intersecting;
    trajectory.reports[0].residual = std::numeric_limits<double>::quiet_NaN();
    trajectory.reports[0].min_gap = -kInfinity;
    check_same(trajectory_from_bytes(trajectory_to_bytes(trajectory)), trajectory);
}

TEST_CASE("a trajectory of no steps, and one without joints, come back") {
    const auto model = build_model(full_scene());
    const RolloutInput none{.state0 = model->default_state(), .controls = RowMatrix(0, model->num_controls())};
    const Trajectory short_one = rollout(model, model->default_parameters(), none, {});
    check_same(trajectory_from_bytes(trajectory_to_bytes(short_one)), short_one);
    const auto world = build_model(Scene{});
    const RolloutInput still{.state0 = world->default_state(), .controls = RowMatrix(3, 0)};
    const Trajectory empty = rollout(world, world->default_parameters(), still, {});
    REQUIRE(empty.num_steps() == 3);
    check_same(trajectory_from_bytes(trajectory_to_bytes(empty)), empty);
}

TEST_CASE("trajectory arrays that do not fit each other are refused") {
    const Trajectory t = full_trajectory();
    CHECK(error_after(t, [](TensorFile&) {}).empty());
    CHECK(contains(error_after(t, [](TensorFile& f) { set_double(f, "q", 30, kInfinity); }), "trajectory: q["));
    CHECK(contains(error_after(t, [](TensorFile& f) { set_double(f, "controls", 0, kInfinity); }),
                   "trajectory_from_bytes: trajectory: controls[0, 0] = inf, expected a finite number"));
    CHECK(contains(error_after(t, [](TensorFile& f) { set_double(f, "options.dt", 0, -0.5); }), "dt"));
    CHECK(contains(error_after(t, [](TensorFile& f) { f.tensors["report.status"].data[0] = 9; }),
                   "tensor 'report.status': 9, expected 0 to 6"));
    CHECK(contains(error_after(t, [](TensorFile& f) { f.tensors["report.status"].data[0] = 1; }),
                   "step 0 of 6 is max_iterations, expected only the last not to converge"));
    CHECK(contains(error_after(t,
                               [](TensorFile& f) {
                                   f.tensors["report.residual"] = {TensorType::F64, {1}, std::string(8, '\0')};
                               }),
                   "tensor 'report.residual': 1 entries, expected 6"));
    CHECK(contains(error_after(t,
                               [](TensorFile& f) {
                                   f.tensors["script"] = {TensorType::F64, {0, 7}, ""};
                               }),
                   "script has shape (0, 7), expected (6, 7)"));
    CHECK(contains(error_after(t,
                               [](TensorFile& f) {
                                   f.tensors["script"] = {TensorType::F64, {7, 7}, std::string(8 * 49, '\0')};
                                   f.tensors["controls"].shape[0] = 7;
                                   f.tensors["controls"].data +=
                                       f.tensors["controls"].data.substr(0, f.tensors["controls"].data.size() / 6);
                               }),
                   "6 steps taken with 7 rows of controls"));
    CHECK(contains(error_after(t, [](TensorFile& f) { f.metadata.erase("contact"); }), "no text 'contact'"));
    CHECK(contains(error_after(t, [](TensorFile& f) { f.metadata["format"] = "farfield.model"; }),
                   "expected 'farfield.trajectory'"));
    Trajectory odd = t;
    odd.v.conservativeResize(3, Eigen::NoChange);
    const TemporaryFolder folder;
    CHECK(contains(error_of([&] { save_trajectory(folder / "t", odd); }), "v has shape (3, "));
    CHECK(folder.num_files() == 0);
}

TEST_CASE("a state comes back bit for bit") {
    const State state{.q = Eigen::Vector4d(1.0 / 3.0, -0.0, 5e-324, kInfinity), .v = Eigen::VectorXd()};
    const TemporaryFolder folder;
    save_state(folder / "s", state);
    const State back = load_state(folder / "s");
    CHECK(same(back.q, state.q));
    CHECK(same(back.v, state.v));
    CHECK(contains(error_of([&] { (void)load_trajectory(folder / "s"); }),
                   "format 'farfield.state', expected 'farfield.trajectory'"));
}

TEST_SUITE_END();
