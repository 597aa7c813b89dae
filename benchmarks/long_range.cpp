// SPDX-License-Identifier: Apache-2.0
/// @file  Time of the long-range contact model: one evaluation of value, gradient and Hessian, and whole time steps. Prints JSON.
///
///     long_range billiards [--brute] [--repeats N]   16 balls of 32, 128 and 388 triangles; growth exponent in the triangles
///     long_range grids [--repeats N]                 two parallel square grids, unit squares at unit distance, T = 32 .. 8192 triangles each
///     long_range step [THREADS]                      whole steps of the billiards scene after the break
///     long_range push [STEPS]                        a rod pushes a box on the ground
///
/// Warm: planes of the last evaluation at poses a hundredth of the gap away. Cold: no planes. Minimum and median over repeats; thread CPU
/// time on one thread, wall time on several. The hash covers energy, wrenches and blocks (or the final state), so that a faster kernel
/// shows whether it still computes the same bits.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "billiards_scene.hpp"
#include "farfield/base/random.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/longrange/pair_lanes.hpp"
#include "farfield/dynamics/rollout.hpp"

namespace {

using namespace farfield;
using namespace farfield::benchmarks;
using contact::longrange::BruteForce;
using contact::longrange::LongRange;
using contact::longrange::LongRangeOptions;

double cpu_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double wall_milliseconds() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Hash {
 public:
    void add(const double* values, Eigen::Index count) {
        for (Eigen::Index i = 0; i < count; ++i) {
            std::uint64_t word = 0;
            std::memcpy(&word, values + i, sizeof(word));
            hash_ = (hash_ ^ word) * 1099511628211ull;
        }
    }
    void add(const contact::ContactLinearization& d) {
        add(&d.energy, 1);
        for (const Vector6d& w : d.wrench) add(w.data(), 6);
        for (const contact::PairBlock& block : d.blocks) add(block.hessian.data(), 144);
    }
    [[nodiscard]] unsigned long long value() const { return hash_; }

 private:
    std::uint64_t hash_ = 1469598103934665603ull;
};

struct Spread {
    double least = 0.0, median = 0.0;
};
Spread spread(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return {times.front(), times[times.size() / 2]};
}

struct Evaluation {
    Spread warm, cold, energy;
    double value = 0.0, gradient = 0.0;
    unsigned long long hash = 0;
};

Poses displaced(const Poses& poses, double size) {
    Random random(5);
    Poses out = poses;
    for (std::size_t i = 1; i < out.size(); ++i) {
        out[i].position += size * unit_vector(random);
        out[i].rotation = Eigen::AngleAxisd(size, unit_vector(random)) * out[i].rotation;
    }
    return out;
}

Evaluation evaluate(const contact::ContactPotential& potential, const Poses& poses, const Parameters& parameters,
                    double nudge, int repeats) {
    const Poses near = displaced(poses, nudge);
    contact::ContactLinearization out;
    std::vector<double> warm, cold, energy;
    const auto begin = [&](contact::ContactMemory& memory) -> contact::ContactStep& {
        return potential.begin_step(poses, 0.01, parameters, memory, contact::StepMode::Frictionless);
    };
    const auto memory = potential.make_memory();
    contact::ContactStep& step = begin(*memory);
    Evaluation result;
    for (int i = 0; i < repeats + 1; ++i) {  // one to warm up
        auto fresh = potential.make_memory();
        double start = cpu_milliseconds();
        begin(*fresh).linearize(near, out);
        cold.push_back(cpu_milliseconds() - start);
        step.linearize(near, out);
        start = cpu_milliseconds();
        step.linearize(poses, out);
        warm.push_back(cpu_milliseconds() - start);
        start = cpu_milliseconds();
        static_cast<void>(step.energy(near));
        energy.push_back(cpu_milliseconds() - start);
    }
    warm.erase(warm.begin()), cold.erase(cold.begin()), energy.erase(energy.begin());
    Hash hash;
    hash.add(out);
    result = {spread(warm), spread(cold), spread(energy), out.energy, 0.0, hash.value()};
    for (const Vector6d& w : out.wrench) result.gradient += w.squaredNorm();
    result.gradient = std::sqrt(result.gradient);
    return result;
}

void print(const Evaluation& e, int triangles) {
    std::printf(
        "  {\"triangles\": %d, \"warm_ms\": %.4f, \"warm_median_ms\": %.4f, \"cold_ms\": %.4f, \"energy_ms\": %.4f,\n"
        "   \"value\": %.17g, \"gradient_norm\": %.17g, \"hash\": \"%016llx\"",
        triangles, e.warm.least, e.warm.median, e.cold.least, e.energy.least, e.value, e.gradient, e.hash);
}

Poses start_poses(const Model& model) {
    Kinematics kinematics;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, kinematics);
    return kinematics.poses;
}

/// Slope of log(time) by log(triangles), least squares.
double exponent(const std::vector<double>& triangles, const std::vector<double>& times) {
    double mx = 0.0, my = 0.0, xy = 0.0, xx = 0.0;
    const auto n = static_cast<double>(times.size());
    for (std::size_t i = 0; i < times.size(); ++i) mx += std::log(triangles[i]) / n, my += std::log(times[i]) / n;
    for (std::size_t i = 0; i < times.size(); ++i) {
        xy += (std::log(triangles[i]) - mx) * (std::log(times[i]) - my);
        xx += (std::log(triangles[i]) - mx) * (std::log(triangles[i]) - mx);
    }
    return xy / xx;
}

std::vector<TriangleMesh> balls() { return {octahedron_ball(1), octahedron_ball(2), fibonacci_ball(196)}; }

int run_billiards(bool brute, int repeats) {
    std::vector<double> triangles, warm, cold;
    std::printf("{\"target\": \"%s\", \"threads\": 1, \"rows\": [\n", contact::longrange::lanes_target().c_str());
    const std::vector<TriangleMesh> meshes = balls();
    for (const TriangleMesh& mesh : meshes) {
        const auto model = build_model(billiards(mesh));
        const Poses poses = start_poses(*model);
        const LongRange potential(model->collision(), LongRangeOptions{});
        const Evaluation e = evaluate(potential, poses, model->default_parameters(), 1e-5, repeats);
        triangles.push_back(static_cast<double>(mesh.triangles.rows()));
        warm.push_back(e.warm.least), cold.push_back(e.cold.least);
        print(e, static_cast<int>(mesh.triangles.rows()));
        if (brute) {
            const BruteForce all(model->collision(), LongRangeOptions{});
            const Evaluation b = evaluate(all, poses, model->default_parameters(), 1e-5, 2);
            std::printf(",\n   \"brute_warm_ms\": %.2f, \"brute_cold_ms\": %.2f", b.warm.least, b.cold.least);
        }
        std::printf("}%s\n", &mesh == &meshes.back() ? "" : ",");
    }
    std::printf("], \"exponent_warm\": %.3f, \"exponent_cold\": %.3f}\n", exponent(triangles, warm),
                exponent(triangles, cold));
    return 0;
}

TriangleMesh grid(int side) {
    TriangleMesh mesh;
    mesh.name = "grid";
    mesh.vertices.resize((side + 1) * (side + 1), 3);
    mesh.triangles.resize(2 * side * side, 3);
    for (int i = 0; i <= side; ++i) {
        for (int j = 0; j <= side; ++j) mesh.vertices.row(i * (side + 1) + j) << i, j, 0.0;
    }
    for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
            const int v = i * (side + 1) + j, w = v + side + 1;
            mesh.triangles.row(2 * (i * side + j)) << v, w, w + 1;
            mesh.triangles.row(2 * (i * side + j) + 1) << v, w + 1, v + 1;
        }
    }
    return mesh;
}

int run_grids(int repeats) {
    std::vector<double> triangles, warm, cold;
    std::printf("{\"target\": \"%s\", \"threads\": 1, \"rows\": [\n", contact::longrange::lanes_target().c_str());
    for (int side = 4; side <= 64; side *= 2) {
        CollisionGeometry geometry;
        geometry.bodies.resize(3);
        geometry.bodies[1].mesh = geometry.bodies[2].mesh = grid(side);
        geometry.pairs = {{1, 2, 1}};
        LongRangeOptions options;
        options.blend = {0.5};
        const LongRange potential(geometry, options);
        Poses poses(3);
        poses[2].position.z() = 1.0;
        Parameters parameters;
        parameters.friction = Eigen::VectorXd::Zero(3);
        const Evaluation e = evaluate(potential, poses, parameters, 1e-3, repeats);
        triangles.push_back(2.0 * side * side);
        warm.push_back(e.warm.least), cold.push_back(e.cold.least);
        print(e, 2 * side * side);
        std::printf("}%s\n", side == 64 ? "" : ",");
    }
    std::printf("], \"exponent_warm\": %.3f, \"exponent_cold\": %.3f}\n", exponent(triangles, warm),
                exponent(triangles, cold));
    return 0;
}

struct Rollouts {
    Spread step;  ///< [ms]
    double iterations = 0.0;
    bool converged = false;
    unsigned long long hash = 0;
};

/// Times `repeats` rollouts of the same motion; per step.
Rollouts time_rollouts(const Scene& scene, const RowMatrix& controls, double cue_speed, double dt, double tolerance,
                       int threads, int repeats) {
    const auto model = build_model(scene);
    ThreadPool pool(threads);
    ContactSetup contact;
    contact.potential = std::make_shared<LongRange>(model->collision(), LongRangeOptions{});
    contact.filter = std::make_shared<CollisionFilter>(*model);
    RolloutInput input;
    input.state0 = model->default_state();
    if (cue_speed != 0.0) input.state0.v[6 * 15] = cue_speed;
    input.controls = controls;
    Rollouts out;
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        const double start = threads == 1 ? cpu_milliseconds() : wall_milliseconds();
        const Trajectory t =
            rollout(model, model->default_parameters(), input, StepOptions{dt, tolerance}, contact, &pool);
        const double time = (threads == 1 ? cpu_milliseconds() : wall_milliseconds()) - start;
        times.push_back(time / static_cast<double>(controls.rows()));
        out.converged = t.converged();
        out.iterations = 0.0;
        for (const StepReport& report : t.reports) out.iterations += report.iterations;
        out.iterations /= static_cast<double>(t.num_steps());
        Hash hash;
        hash.add(t.q.data(), t.q.size());
        out.hash = hash.value();
    }
    out.step = spread(times);
    return out;
}

void print(const Rollouts& r, int triangles, int threads) {
    std::printf(
        "  {\"triangles\": %d, \"threads\": %d, \"step_ms\": %.4f, \"step_median_ms\": %.4f, \"iterations\": %.2f, "
        "\"converged\": %s, \"hash\": \"%016llx\"}",
        triangles, threads, r.step.least, r.step.median, r.iterations, r.converged ? "true" : "false", r.hash);
}

int run_step(int threads) {
    std::printf("{\"rows\": [\n");
    const std::vector<TriangleMesh> meshes = balls();
    for (const TriangleMesh& mesh : meshes) {
        const Rollouts r = time_rollouts(billiards(mesh), RowMatrix::Zero(10, 0), 1.0, 0.01, 1e-6, threads, 3);
        print(r, 16 * static_cast<int>(mesh.triangles.rows()), threads);
        std::printf("%s\n", &mesh == &meshes.back() ? "" : ",");
    }
    std::printf("]}\n");
    return 0;
}

/// A driven rod of 0.08 x 0.08 x 0.4 m beside a cube of 0.4 m, as scenes/push.xml.
Scene push_scene() {
    Scene scene;
    scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace, .friction = 0.4});
    Body rod{.name = "rod", .position = {0.5, 0.0, 0.25}};
    const auto axis = [](int k) { return Eigen::Vector3d(Eigen::Vector3d::Unit(k)); };
    for (const int k : {0, 1, 2, 5, 4, 3}) {
        const std::string name = "rod " + std::to_string(k);
        rod.joints.push_back(
            Joint{.name = name, .type = k < 3 ? JointType::Slide : JointType::Hinge, .axis = axis(k % 3)});
        scene.actuators.push_back(Actuator{.name = name,
                                           .joint = name,
                                           .kp = k < 3 ? 500.0 : 10.0,
                                           .kd = k < 3 ? 100.0 : 2.0,
                                           .velocity_input = false});
    }
    scene.bodies.push_back(rod);
    scene.bodies.push_back(
        Body{.name = "box", .position = {0.0, 0.0, 0.205}, .joints = {Joint{.name = "box", .type = JointType::Free}}});
    scene.shapes.push_back(Shape{.name = "rod",
                                 .body = 1,
                                 .type = ShapeType::Box,
                                 .size = {0.04, 0.04, 0.2},
                                 .density = 500.0,
                                 .friction = 0.4});
    scene.shapes.push_back(Shape{
        .name = "box", .body = 2, .type = ShapeType::Box, .size = {0.2, 0.2, 0.2}, .density = 100.0, .friction = 0.4});
    return scene;
}

int run_push(int steps) {
    RowMatrix controls = RowMatrix::Zero(steps, 6);
    for (int i = 0; i < steps; ++i) controls(i, 0) = -0.6 * static_cast<double>(i) / static_cast<double>(steps);
    const Rollouts r = time_rollouts(push_scene(), controls, 0.0, 0.04, 1e-8, 1, 5);
    std::printf("{\"rows\": [\n");
    print(r, 24, 1);
    std::printf("\n]}\n");
    return 0;
}

int usage() {
    std::fprintf(stderr, "usage: long_range billiards|grids|step|push ..., see the top of benchmarks/long_range.cpp\n");
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return usage();
    const std::string what = argv[1];
    bool brute = false;
    int number = 0, repeats = 20;
    for (int i = 2; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--brute") {
            brute = true;
        } else if (argument == "--repeats" && i + 1 < argc) {
            repeats = std::max(1, std::atoi(argv[++i]));
        } else {
            number = std::atoi(argv[i]);
        }
    }
    if (what == "billiards") return run_billiards(brute, repeats);
    if (what == "grids") return run_grids(repeats);
    if (what == "step") return run_step(std::max(1, number));
    if (what == "push") return run_push(number > 0 ? number : 100);
    return usage();
}
