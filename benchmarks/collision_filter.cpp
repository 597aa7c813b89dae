// SPDX-License-Identifier: Apache-2.0
/// @file  Time of one collision filter call on racked billiard balls: median and maximum over random and axis-aligned
/// motions, as JSON.
///
///     collision_filter [MOTIONS]          default 1000
///     collision_filter --dump FILE        vertices, triangles and motions of the scenes, for other libraries to be
///     timed on
///
/// The scene is that of billiards_scene.hpp.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "billiards_scene.hpp"
#include "farfield/base/random.hpp"
#include "farfield/dynamics/collision_filter.hpp"

namespace {

using namespace farfield;
using namespace farfield::benchmarks;
using Eigen::VectorXd;

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
