// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/cloud_sampling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/base/random.hpp"
#include "farfield/geometry/distance.hpp"
#include "farfield/geometry/mesh_patches.hpp"
#include "farfield/geometry/winding_number.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr double kInsideGap = 0.95, kDartGap = 0.78, kMerge = 0.3;  // in spacings
constexpr int kCandidates = 40;                                     // per squared spacing
constexpr int kMaxCandidates = 400000, kRounds = 8;

struct Sample {
    Vector3d point, normal;
    int patch;
};

/// Cells of one spacing, for neighbours within it.
class Grid {
 public:
    explicit Grid(double size) : size_(size) {}
    void add(const Vector3d& p, int index) { cells_[key(p, 0, 0, 0)].push_back(index); }
    template <class Use>
    void near(const Vector3d& p, Use&& use) const {
        for (int i = -1; i <= 1; ++i) {
            for (int j = -1; j <= 1; ++j) {
                for (int k = -1; k <= 1; ++k) {
                    const auto cell = cells_.find(key(p, i, j, k));
                    if (cell == cells_.end()) continue;
                    for (const int index : cell->second) use(index);
                }
            }
        }
    }

 private:
    using Key = std::tuple<int, int, int>;
    [[nodiscard]] Key key(const Vector3d& p, int i, int j, int k) const {
        return {static_cast<int>(std::floor(p.x() / size_)) + i, static_cast<int>(std::floor(p.y() / size_)) + j,
                static_cast<int>(std::floor(p.z() / size_)) + k};
    }
    double size_;
    std::map<Key, std::vector<int>> cells_;
};

class Sampler {
 public:
    Sampler(const TriangleMesh& mesh, double spacing) : mesh_(mesh), h_(spacing) {
        place_along_chains();
        place_inside();
    }
    std::vector<Sample> samples;

 private:
    /// Distance of the first station from the end of a chain.
    [[nodiscard]] double first_station(int edge, int v) const {
        double most = 0.0;
        for (const int t : {mesh_.edge(edge).left, mesh_.edge(edge).right}) {
            const double half = 0.5 * mesh_.angle_at(v, mesh_.patch(t));
            most = std::max(most, 0.5 * h_ * std::cos(half) / std::sin(half));
        }
        return most;
    }

    void place_along_chains() {
        for (std::size_t c = 0; c < mesh_.chains().size(); ++c) {
            for (const double s : stations(mesh_.chains()[c])) place_station(static_cast<int>(c), s);
        }
    }

    /// Ways along a chain at which points are placed on both sides [m].
    [[nodiscard]] std::vector<double> stations(const EdgeChain& chain) const {
        double length = 0.0;
        for (const auto& [edge, v] : chain.edges)
            length += (mesh_.vertex(mesh_.edge(edge).to) - mesh_.vertex(mesh_.edge(edge).from)).norm();
        std::vector<double> out;
        if (chain.closed) {
            const int count = std::max(3, static_cast<int>(std::lround(length / h_)));
            for (int k = 0; k < count; ++k) out.push_back(length * (k + 0.5) / count);
            return out;
        }
        const auto& [last, last_v] = chain.edges.back();
        double first = first_station(chain.edges.front().first, chain.edges.front().second),
               rest = first_station(last, mesh_.other_end(last, last_v));
        const double scale = std::min(1.0, length / (first + rest));
        first *= scale;
        rest *= scale;
        const double between = length - first - rest;
        const int gaps = static_cast<int>(std::lround(between / h_));
        if (gaps == 0) out.push_back(first + 0.5 * between);
        for (int k = 0; k <= gaps && gaps > 0; ++k) out.push_back(first + between * k / gaps);
        // acute corners, where rows of both sides come too near to reach the tip
        if (first > 0.6 * h_) out.insert(out.end(), {0.5 * first, 0.25 * first});
        if (rest > 0.6 * h_) out.insert(out.end(), {length - 0.5 * rest, length - 0.25 * rest});
        return out;
    }

    void place_station(int chain, double s) {
        const auto& edges = mesh_.chains()[at(chain)].edges;
        for (std::size_t k = 0; k < edges.size(); ++k) {
            const auto& [edge, v] = edges[k];
            const SharpEdge& e = mesh_.edge(edge);
            const Vector3d from = mesh_.vertex(v), to = mesh_.vertex(mesh_.other_end(edge, v));
            const double length = (to - from).norm();
            if (s > length && k + 1 < edges.size()) {
                s -= length;
                continue;
            }
            const Vector3d station = from + (to - from) * (s / length);
            const Vector3d along = (mesh_.vertex(e.to) - mesh_.vertex(e.from)).normalized();
            double inset = 0.5 * h_;
            Sample left, right;
            for (int tries = 0; tries < 40; ++tries, inset *= 0.85) {
                left = inset_point(station, along, e.left, inset);
                right = inset_point(station, -along, e.right, inset);
                const double clear = inset * (1.0 - 1e-9);
                if (mesh_.distance_to_edges(left.point, chain) >= clear &&
                    mesh_.distance_to_edges(right.point, chain) >= clear)
                    break;
            }
            merge(left);
            merge(right);
            return;
        }
    }

    [[nodiscard]] Sample inset_point(const Vector3d& station, const Vector3d& along, int triangle, double inset) const {
        const int patch = mesh_.patch(triangle);
        const Vector3d straight = station + inset * mesh_.normal(triangle).cross(along);
        if (mesh_.flat(patch)) return {straight, mesh_.normal(triangle), patch};
        PointTriangleDistance best{.squared_distance = std::numeric_limits<double>::infinity()};
        int where = triangle;
        for (int t = 0; t < mesh_.num_triangles(); ++t) {
            if (mesh_.patch(t) != patch) continue;
            const PointTriangleDistance found = point_triangle_distance(straight, corners(t));
            if (found.squared_distance < best.squared_distance) {
                best = found;
                where = t;
            }
        }
        return {best.point, mesh_.smooth_normal(where, best.point), patch};
    }

    [[nodiscard]] Triangle corners(int t) const { return {mesh_.corner(t, 0), mesh_.corner(t, 1), mesh_.corner(t, 2)}; }

    void merge(const Sample& sample) {
        const bool known = std::any_of(samples.begin(), samples.end(), [&](const Sample& s) {
            return s.patch == sample.patch && (s.point - sample.point).norm() < kMerge * h_;
        });
        if (!known) samples.push_back(sample);
    }

    [[nodiscard]] double total_area() const {
        double sum = 0.0;
        for (int t = 0; t < mesh_.num_triangles(); ++t) sum += mesh_.area(t);
        return sum;
    }

    void place_inside() {
        Random random(1);
        const std::size_t fixed = samples.size();
        std::vector<Sample> candidates;
        const double area = total_area();
        const double density = std::min(kCandidates / (h_ * h_), kMaxCandidates / area);
        double owed = 0.0;
        for (int t = 0; t < mesh_.num_triangles(); ++t) {
            for (owed += density * mesh_.area(t); owed >= 1.0; owed -= 1.0) {
                double u = uniform(random), v = uniform(random);
                if (u + v > 1.0) std::tie(u, v) = std::pair(1.0 - u, 1.0 - v);
                const Vector3d a = mesh_.corner(t, 0), b = mesh_.corner(t, 1), c = mesh_.corner(t, 2);
                const Vector3d p = a + u * (b - a) + v * (c - a);
                candidates.push_back({p, mesh_.smooth_normal(t, p), mesh_.patch(t)});
            }
        }
        Grid grid(h_);
        for (std::size_t k = 0; k < samples.size(); ++k) grid.add(samples[k].point, static_cast<int>(k));
        std::vector<int> order(candidates.size());
        std::iota(order.begin(), order.end(), 0);
        for (std::size_t k = order.size(); k > 1; --k)
            std::swap(order[k - 1], order[at(uniform_index(random, static_cast<int>(k)))]);
        std::map<int, int> points_of;
        for (const Sample& s : samples) ++points_of[s.patch];
        const auto throw_dart = [&](const Sample& c) {
            bool free = true;
            grid.near(c.point, [&](int k) {
                const Sample& s = samples[at(k)];
                free = free && !(s.patch == c.patch && (s.point - c.point).norm() < kDartGap * h_);
            });
            if (!free || mesh_.distance_to_edges(c.point) < kInsideGap * h_) return;
            grid.add(c.point, static_cast<int>(samples.size()));
            samples.push_back(c);
            ++points_of[c.patch];
        };
        for (const int k : order) throw_dart(candidates[at(k)]);
        for (const int k : order) {  // at least one on every patch
            if (points_of[candidates[at(k)].patch]++ == 0) samples.push_back(candidates[at(k)]);
        }
        for (int round = 0; round < kRounds && samples.size() > fixed; ++round) even_out(candidates, fixed);
    }

    /// One of Lloyd's rounds: every point moves to the candidate nearest to the middle of those it is nearest to.
    void even_out(const std::vector<Sample>& candidates, std::size_t fixed) {
        Grid grid(h_);
        for (std::size_t k = 0; k < samples.size(); ++k) grid.add(samples[k].point, static_cast<int>(k));
        std::vector<int> owner(candidates.size(), -1);
        std::vector<Vector3d> sum(samples.size(), Vector3d::Zero());
        std::vector<int> count(samples.size(), 0);
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            double least = std::numeric_limits<double>::infinity();
            grid.near(candidates[c].point, [&](int k) {
                const double d = (samples[at(k)].point - candidates[c].point).squaredNorm();
                if (samples[at(k)].patch == candidates[c].patch && d < least) {
                    least = d;
                    owner[c] = k;
                }
            });
            if (owner[c] < 0) continue;
            sum[at(owner[c])] += candidates[c].point;
            ++count[at(owner[c])];
        }
        std::vector<double> best(samples.size(), std::numeric_limits<double>::infinity());
        std::vector<int> chosen(samples.size(), -1);
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            if (owner[c] < 0 || at(owner[c]) < fixed) continue;
            const double d = (candidates[c].point - sum[at(owner[c])] / count[at(owner[c])]).squaredNorm();
            if (d < best[at(owner[c])]) {
                best[at(owner[c])] = d;
                chosen[at(owner[c])] = static_cast<int>(c);
            }
        }
        for (std::size_t k = fixed; k < samples.size(); ++k) {
            if (chosen[k] >= 0) samples[k] = candidates[at(chosen[k])];
        }
    }

    MeshPatches mesh_;
    double h_;
};

}  // namespace

PointCloud mesh_cloud(std::span<const TriangleMesh> parts, double spacing, double temperature) {
    if (!(spacing > 0.0) || !std::isfinite(spacing)) fail("mesh_cloud: spacing ", spacing, ", expected > 0 [m]");
    double total = 0.0;
    for (const TriangleMesh& part : parts) total += surface_area(part);
    if (total / (spacing * spacing) > 1e5) {
        fail("mesh_cloud: about ", total / (spacing * spacing), " points at a spacing of ", spacing,
             " m, expected at most 100000");
    }
    std::vector<Sample> kept;
    double area = 0.0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        validate(parts[k]);
        const Sampler sampler(parts[k], spacing);
        std::size_t outside = 0;
        for (const Sample& s : sampler.samples) {
            bool hidden = false;
            for (std::size_t other = 0; other < parts.size() && parts.size() > 1; ++other)
                hidden =
                    hidden || (other != k && winding_number(parts[other], s.point + 1e-3 * spacing * s.normal) > 0.5);
            if (hidden) continue;
            kept.push_back(s);
            ++outside;
        }
        area += surface_area(parts[k]) * static_cast<double>(outside) / static_cast<double>(sampler.samples.size());
    }
    PointCloud cloud;
    cloud.points.resize(static_cast<Eigen::Index>(kept.size()), 3);
    cloud.normals.resize(static_cast<Eigen::Index>(kept.size()), 3);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        cloud.points.row(static_cast<Eigen::Index>(k)) = kept[k].point.transpose();
        cloud.normals.row(static_cast<Eigen::Index>(k)) = kept[k].normal.transpose();
    }
    cloud.spacing = std::sqrt(area / static_cast<double>(kept.size()));
    cloud.temperature = temperature * cloud.spacing * cloud.spacing;
    return cloud;
}

}  // namespace farfield
