// SPDX-License-Identifier: Apache-2.0
/// @file  Time of one collision filter call on racked billiard balls: median and maximum over random and axis-aligned
/// motions, as JSON.
///
///     collision_filter [MOTIONS]          default 1000
///     collision_filter --dump FILE        vertices, triangles and motions of the scenes, for other libraries to be
///     timed on
///
/// 16 balls of radius 0.1 m, 15 racked and a cue ball, closest gap 1e-3 m, on a half-space. 32 and 128 triangles:
/// octahedron subdivided once and twice;
/// 388 triangles: hull of 196 Fibonacci points.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/dynamics/collision_filter.hpp"
#include "farfield/geometry/primitives.hpp"

namespace {

using namespace farfield;
using Eigen::Vector3d;
using Eigen::Vector3i;
using Eigen::VectorXd;

constexpr double kRadius = 0.1, kGap = 1e-3;

TriangleMesh to_mesh(const std::vector<Vector3d>& vertices, const std::vector<Vector3i>& triangles) {
    TriangleMesh mesh;
    mesh.name = "ball";
    mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t i = 0; i < vertices.size(); ++i)
        mesh.vertices.row(static_cast<Eigen::Index>(i)) = kRadius * vertices[i].transpose();
    for (std::size_t i = 0; i < triangles.size(); ++i)
        mesh.triangles.row(static_cast<Eigen::Index>(i)) = triangles[i].transpose();
    return mesh;
}

TriangleMesh octahedron_ball(int subdivisions) {
    std::vector<Vector3d> vertices{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    std::vector<Vector3i> triangles{{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    for (int level = 0; level < subdivisions; ++level) {
        std::map<std::pair<int, int>, int> middles;
        const auto middle = [&](int a, int b) {
            const auto [entry, fresh] =
                middles.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<int>(vertices.size()));
            if (fresh)
                vertices.push_back(
                    (vertices[static_cast<std::size_t>(a)] + vertices[static_cast<std::size_t>(b)]).normalized());
            return entry->second;
        };
        std::vector<Vector3i> finer;
        for (const Vector3i& t : triangles) {
            const int a = middle(t.x(), t.y()), b = middle(t.y(), t.z()), c = middle(t.z(), t.x());
            for (const Vector3i& s :
                 {Vector3i(t.x(), a, c), Vector3i(a, t.y(), b), Vector3i(c, b, t.z()), Vector3i(a, b, c)})
                finer.push_back(s);
        }
        triangles = finer;
    }
    return to_mesh(vertices, triangles);
}

/// Hull of Fibonacci points by gift wrapping.
TriangleMesh fibonacci_ball(int count) {
    std::vector<Vector3d> points;
    for (int i = 0; i < count; ++i) {
        const double z = 1.0 - (2.0 * i + 1.0) / count, angle = std::numbers::pi * (1.0 + std::sqrt(5.0)) * i;
        points.emplace_back(std::sqrt(1.0 - z * z) * std::cos(angle), std::sqrt(1.0 - z * z) * std::sin(angle), z);
    }
    // Third corner of the hull triangle left of the directed edge a -> b: all other points lie behind its plane.
    const auto third = [&](int a, int b) {
        int best = -1;
        for (int c = 0; c < count; ++c) {
            if (c == a || c == b) continue;
            if (best < 0) {
                best = c;
                continue;
            }
            const Vector3d& p = points[static_cast<std::size_t>(a)];
            const Vector3d normal =
                (points[static_cast<std::size_t>(b)] - p).cross(points[static_cast<std::size_t>(best)] - p);
            if (normal.dot(points[static_cast<std::size_t>(c)] - p) > 0.0) best = c;
        }
        return best;
    };
    int neighbour = 1;  // the point nearest to point 0 makes a hull edge with it
    for (int i = 2; i < count; ++i) {
        if ((points[static_cast<std::size_t>(i)] - points[0]).norm() <
            (points[static_cast<std::size_t>(neighbour)] - points[0]).norm())
            neighbour = i;
    }
    std::vector<Vector3i> triangles;
    std::map<std::pair<int, int>, bool> done;
    std::vector<std::pair<int, int>> open{{0, neighbour}};
    while (!open.empty()) {
        const auto [a, b] = open.back();
        open.pop_back();
        if (done[{a, b}]) continue;
        const int c = third(a, b);
        triangles.emplace_back(a, b, c);
        for (const auto& edge : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
            done[edge] = true;
            if (!done[{edge.second, edge.first}]) open.emplace_back(edge.second, edge.first);
        }
    }
    return to_mesh(points, triangles);
}

Scene billiards(const TriangleMesh& ball) {
    Scene scene;
    scene.meshes.push_back(ball);
    const double pitch = 2.0 * kRadius + kGap;
    const auto add = [&](double x, double y) {
        const std::string name = "ball " + std::to_string(scene.bodies.size());
        scene.shapes.push_back(
            Shape{.name = name, .body = static_cast<int>(scene.bodies.size()), .type = ShapeType::Mesh, .mesh = 0});
        scene.bodies.push_back(Body{.name = name,
                                    .position = {x, y, kRadius + kGap},
                                    .joints = {Joint{.name = name, .type = JointType::Free}}});
    };
    for (int row = 0; row < 5; ++row) {
        for (int k = 0; k <= row; ++k) add(row * pitch * std::sqrt(3.0) / 2.0, (k - 0.5 * row) * pitch);
    }
    add(-pitch, 0.0);
    scene.shapes.push_back(Shape{.name = "table", .body = 0, .type = ShapeType::HalfSpace});
    return scene;
}

/// Kinds of motion: 2 mm and 0.02 rad at random with a cue ball of 2 cm; 5 mm along an axis, all balls alike or each
/// its own.
VectorXd draw(const std::string& kind, Random& random, int balls, int trial) {
    if (kind == "mixed") return draw(trial % 2 == 0 ? "random" : "axis", random, balls, trial / 2);
    VectorXd delta = VectorXd::Zero(6 * balls);
    for (int i = 0; i < balls; ++i) {
        if (kind == "random") {
            delta.segment<3>(6 * i) = (i + 1 == balls ? 0.02 : 0.002) * unit_vector(random);
            delta.segment<3>(6 * i + 3) = 0.02 * unit_vector(random);
        } else {
            const int axis = trial % 2 == 0 ? trial / 2 % 3 : uniform_index(random, 3);
            delta[6 * i + axis] = (trial % 2 == 0 ? trial / 6 % 2 == 0 : uniform(random) < 0.5) ? 0.005 : -0.005;
        }
    }
    return delta;
}

struct Timing {
    double median = 0.0, max = 0.0, alpha = 0.0;
};

/// Best of three calls per motion, so that a maximum tells of the motion and not of the machine.
Timing measure(const Model& model, const std::string& kind, bool warm, int motions) {
    const CollisionFilter filter(model);
    Kinematics start;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, start);
    std::vector<double> gaps, times, alphas;
    for (std::size_t p = 0; p < model.collision().pairs.size(); ++p)
        gaps.push_back(filter.gap_lower_bound(static_cast<int>(p), start.poses));
    FilterMemory memory;
    Random random(11);
    for (int trial = 0; trial < motions; ++trial) {
        const VectorXd delta = draw(kind, random, model.num_dofs() / 6, trial);
        double best = std::numeric_limits<double>::infinity();
        for (int repeat = 0; repeat < 3; ++repeat) {
            if (!warm) memory.forget();
            const auto begin = std::chrono::steady_clock::now();
            const CollisionFilter::Result result = filter.max_step(start, delta, gaps, memory);
            const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            best = std::min(best, time);
            if (repeat == 0) alphas.push_back(result.alpha);
        }
        times.push_back(best);
    }
    std::sort(times.begin(), times.end());
    std::sort(alphas.begin(), alphas.end());
    return {1e6 * times[times.size() / 2], 1e6 * times.back(), alphas[alphas.size() / 2]};
}

void dump(const std::string& file, const std::vector<TriangleMesh>& meshes, int motions) {
    std::FILE* out = std::fopen(file.c_str(), "w");
    if (!out) std::exit(2);
    std::fprintf(out, "{\"scenes\": [");
    for (std::size_t s = 0; s < meshes.size(); ++s) {
        const auto model = build_model(billiards(meshes[s]));
        std::fprintf(out, "%s{\"vertices\": [", s ? ", " : "");
        const auto& v = meshes[s].vertices;
        for (Eigen::Index i = 0; i < v.rows(); ++i)
            std::fprintf(out, "%s[%.17g, %.17g, %.17g]", i ? ", " : "", v(i, 0), v(i, 1), v(i, 2));
        std::fprintf(out, "], \"triangles\": [");
        const auto& t = meshes[s].triangles;
        for (Eigen::Index i = 0; i < t.rows(); ++i)
            std::fprintf(out, "%s[%d, %d, %d]", i ? ", " : "", t(i, 0), t(i, 1), t(i, 2));
        std::fprintf(out, "], \"q\": [");
        const VectorXd& q = model->default_state().q;
        for (Eigen::Index i = 0; i < q.size(); ++i) std::fprintf(out, "%s%.17g", i ? ", " : "", q[i]);
        std::fprintf(out, "]");
        for (const std::string kind : {"random", "axis"}) {
            Random random(11);
            std::fprintf(out, ", \"%s\": [", kind.c_str());
            for (int trial = 0; trial < motions; ++trial) {
                const VectorXd delta = draw(kind, random, model->num_dofs() / 6, trial);
                std::fprintf(out, "%s[", trial ? ", " : "");
                for (Eigen::Index i = 0; i < delta.size(); ++i) std::fprintf(out, "%s%.17g", i ? ", " : "", delta[i]);
                std::fprintf(out, "]");
            }
            std::fprintf(out, "]");
        }
        std::fprintf(out, "}");
    }
    std::fprintf(out, "]}\n");
    std::fclose(out);
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<TriangleMesh> meshes{octahedron_ball(1), octahedron_ball(2), fibonacci_ball(196)};
    if (argc > 2 && std::string(argv[1]) == "--dump") {
        dump(argv[2], meshes, 20);
        return 0;
    }
    const int motions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1000;
    std::printf("{\"motions\": %d, \"rows\": [", motions);
    bool first = true;
    for (const TriangleMesh& mesh : meshes) {
        const auto model = build_model(billiards(mesh));
        for (const std::string kind : {"random", "axis", "mixed"}) {
            for (const bool warm : {false, true}) {
                const Timing timing = measure(*model, kind, warm, motions);
                std::printf(
                    "%s\n  {\"triangles\": %d, \"motion\": \"%s\", \"memory\": \"%s\", \"median_us\": %.3f, "
                    "\"max_us\": %.3f, \"max_over_median\": %.3f, "
                    "\"median_alpha\": %.6f}",
                    first ? "" : ",", static_cast<int>(mesh.triangles.rows()), kind.c_str(), warm ? "warm" : "cold",
                    timing.median, timing.max, timing.max / timing.median, timing.alpha);
                first = false;
            }
        }
    }
    std::printf("\n]}\n");
    return 0;
}
