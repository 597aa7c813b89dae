// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/cloud_sampling.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>
#include <utility>

#include "farfield/base/error.hpp"
#include "farfield/base/random.hpp"
#include "farfield/geometry/soft_distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr double kSharpCosine = 0.8660254037844386;  // edges that bend by more than 30 degrees, and chains as well
constexpr double kInsideGap = 0.95, kDartGap = 0.78, kMerge = 0.3;  // in spacings
constexpr int kCandidates = 40;                                     // per squared spacing
constexpr int kMaxCandidates = 400000, kRounds = 8;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

double segment_distance(const Vector3d& p, const Vector3d& a, const Vector3d& b) {
    const Vector3d along = b - a;
    const double t = std::clamp(along.dot(p - a) / along.squaredNorm(), 0.0, 1.0);
    return (p - a - t * along).norm();
}

Vector3d nearest_on_triangle(const Vector3d& p, const Vector3d& a, const Vector3d& b, const Vector3d& c) {
    const Vector3d n = (b - a).cross(c - a);
    const Vector3d foot = p - n * (n.dot(p - a) / n.squaredNorm());
    const auto left = [&](const Vector3d& from, const Vector3d& to) {
        return n.dot((to - from).cross(foot - from)) >= 0.0;
    };
    if (left(a, b) && left(b, c) && left(c, a)) return foot;
    Vector3d best = a;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
        const double t = std::clamp((to - from).dot(p - from) / (to - from).squaredNorm(), 0.0, 1.0);
        const Vector3d candidate = from + t * (to - from);
        if ((candidate - p).squaredNorm() < least) {
            least = (candidate - p).squaredNorm();
            best = candidate;
        }
    }
    return best;
}

struct Sample {
    Vector3d point, normal;
    int patch;
};

/// An edge between two patches, or one that bends sharply: its ends, and the triangle on either side.
struct SharpEdge {
    int from, to;
    int left, right;  ///< triangles; `left` runs from -> to
    int chain = -1;
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
        weld();
        find_patches();
        chain_edges();
        place_along_chains();
        place_inside();
    }
    std::vector<Sample> samples;

 private:
    [[nodiscard]] Vector3d vertex(int v) const { return points_[at(v)]; }
    [[nodiscard]] Vector3d corner(int t, int k) const { return vertex(triangles_[at(t)][at(k)]); }

    void weld() {
        std::map<std::tuple<double, double, double>, int> known;
        std::vector<int> to;
        for (Eigen::Index v = 0; v < mesh_.vertices.rows(); ++v) {
            const Vector3d p = mesh_.vertices.row(v).transpose();
            const auto [entry, fresh] = known.try_emplace({p.x(), p.y(), p.z()}, static_cast<int>(points_.size()));
            if (fresh) points_.push_back(p);
            to.push_back(entry->second);
        }
        for (Eigen::Index t = 0; t < mesh_.triangles.rows(); ++t) {
            triangles_.push_back(
                {to[at(mesh_.triangles(t, 0))], to[at(mesh_.triangles(t, 1))], to[at(mesh_.triangles(t, 2))]});
            const int last = static_cast<int>(t);
            const Vector3d n = (corner(last, 1) - corner(last, 0)).cross(corner(last, 2) - corner(last, 0));
            areas_.push_back(0.5 * n.norm());
            normals_.push_back(n.normalized());
        }
    }

    int root(int t) {
        while (patch_[at(t)] != t) t = patch_[at(t)] = patch_[at(patch_[at(t)])];
        return t;
    }

    void find_patches() {
        patch_.resize(triangles_.size());
        std::iota(patch_.begin(), patch_.end(), 0);
        std::map<std::pair<int, int>, int> directed;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            for (std::size_t k = 0; k < 3; ++k)
                directed[{triangles_[t][k], triangles_[t][(k + 1) % 3]}] = static_cast<int>(t);
        }
        for (const auto& [edge, t] : directed) {
            const auto other = directed.find({edge.second, edge.first});
            if (other == directed.end()) {
                fail("mesh_cloud: mesh '", mesh_.name, "' is open at the edge of vertices near (",
                     vertex(edge.first).transpose(), ") and (", vertex(edge.second).transpose(),
                     "), expected a closed surface");
            }
            if (edge.first > edge.second) continue;
            if (normals_[at(t)].dot(normals_[at(other->second)]) >= kSharpCosine) {
                patch_[at(root(t))] = root(other->second);
            } else {
                edges_.push_back({edge.first, edge.second, t, other->second});
            }
        }
        for (std::size_t t = 0; t < triangles_.size(); ++t) patch_[t] = root(static_cast<int>(t));
        flat_.assign(triangles_.size(), true);
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            if (normals_[t].dot(normals_[at(patch_[t])]) < 1.0 - 1e-9) flat_[at(patch_[t])] = false;
        }
    }

    /// Angle of a patch around a vertex.
    [[nodiscard]] double angle_at(int v, int patch) const {
        double sum = 0.0;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            if (patch_[t] != patch) continue;
            for (std::size_t k = 0; k < 3; ++k) {
                if (triangles_[t][k] != v) continue;
                const Vector3d a = vertex(triangles_[t][(k + 1) % 3]) - vertex(v),
                               b = vertex(triangles_[t][(k + 2) % 3]) - vertex(v);
                sum += std::atan2(a.cross(b).norm(), a.dot(b));
            }
        }
        return sum;
    }

    /// The edge that goes on from `edge` at vertex v without a corner; -1 when the chain ends there.
    [[nodiscard]] int next_edge(int edge, int v) const {
        int found = -1, count = 0;
        for (const int other : around_[at(v)]) {
            ++count;
            if (other != edge) found = other;
        }
        if (count != 2 || found < 0) return -1;
        const SharpEdge &e = edges_[at(edge)], &f = edges_[at(found)];
        const Vector3d in = vertex(v) - vertex(e.from == v ? e.to : e.from),
                       out = vertex(f.from == v ? f.to : f.from) - vertex(v);
        return in.normalized().dot(out.normalized()) >= kSharpCosine ? found : -1;
    }

    void chain_edges() {
        around_.resize(points_.size());
        for (std::size_t k = 0; k < edges_.size(); ++k) {
            around_[at(edges_[k].from)].push_back(static_cast<int>(k));
            around_[at(edges_[k].to)].push_back(static_cast<int>(k));
        }
        for (std::size_t k = 0; k < edges_.size(); ++k) {
            if (edges_[k].chain >= 0) continue;
            // back to where the chain begins, or once around
            int edge = static_cast<int>(k), v = edges_[k].from;
            for (int before = next_edge(edge, v); before >= 0 && before != static_cast<int>(k);
                 before = next_edge(edge, v)) {
                edge = before;
                v = edges_[at(edge)].from == v ? edges_[at(edge)].to : edges_[at(edge)].from;
            }
            std::vector<std::pair<int, int>> chain;  // edge, vertex where it begins
            while (edge >= 0 && edges_[at(edge)].chain < 0) {
                edges_[at(edge)].chain = static_cast<int>(chains_.size());
                chain.emplace_back(edge, v);
                v = edges_[at(edge)].from == v ? edges_[at(edge)].to : edges_[at(edge)].from;
                edge = next_edge(edge, v);
            }
            chains_.push_back(std::move(chain));
            closed_.push_back(edge >= 0);
        }
    }

    /// Distance of the first station from the end of a chain.
    [[nodiscard]] double first_station(int edge, int v) const {
        double most = 0.0;
        for (const int t : {edges_[at(edge)].left, edges_[at(edge)].right}) {
            const double half = 0.5 * angle_at(v, patch_[at(t)]);
            most = std::max(most, 0.5 * h_ * std::cos(half) / std::sin(half));
        }
        return most;
    }

    void place_along_chains() {
        for (std::size_t c = 0; c < chains_.size(); ++c) {
            double length = 0.0;
            for (const auto& [edge, v] : chains_[c])
                length += (vertex(edges_[at(edge)].to) - vertex(edges_[at(edge)].from)).norm();
            std::vector<double> stations;
            if (closed_[c]) {
                const int count = std::max(3, static_cast<int>(std::lround(length / h_)));
                for (int k = 0; k < count; ++k) stations.push_back(length * (k + 0.5) / count);
            } else {
                const auto& [last, last_v] = chains_[c].back();
                const int end = edges_[at(last)].from == last_v ? edges_[at(last)].to : edges_[at(last)].from;
                double first = first_station(chains_[c].front().first, chains_[c].front().second),
                       rest = first_station(last, end);
                const double scale = std::min(1.0, length / (first + rest));
                first *= scale;
                rest *= scale;
                const double between = length - first - rest;
                const int gaps = static_cast<int>(std::lround(between / h_));
                if (gaps == 0) stations.push_back(first + 0.5 * between);
                for (int k = 0; k <= gaps && gaps > 0; ++k) stations.push_back(first + between * k / gaps);
                // acute corners, where rows of both sides come too near to reach the tip
                if (first > 0.6 * h_) stations.insert(stations.end(), {0.5 * first, 0.25 * first});
                if (rest > 0.6 * h_) stations.insert(stations.end(), {length - 0.5 * rest, length - 0.25 * rest});
            }
            for (const double s : stations) place_station(c, s);
        }
    }

    void place_station(std::size_t chain, double s) {
        for (std::size_t k = 0; k < chains_[chain].size(); ++k) {
            const auto& [edge, v] = chains_[chain][k];
            const SharpEdge& e = edges_[at(edge)];
            const Vector3d from = vertex(v), to = vertex(e.from == v ? e.to : e.from);
            const double length = (to - from).norm();
            if (s > length && k + 1 < chains_[chain].size()) {
                s -= length;
                continue;
            }
            const Vector3d station = from + (to - from) * (s / length);
            const Vector3d along = (vertex(e.to) - vertex(e.from)).normalized();
            double inset = 0.5 * h_;
            Sample left, right;
            for (int tries = 0; tries < 40; ++tries, inset *= 0.85) {
                left = inset_point(station, along, e.left, inset);
                right = inset_point(station, -along, e.right, inset);
                if (clear_of_others(left.point, inset, static_cast<int>(chain)) &&
                    clear_of_others(right.point, inset, static_cast<int>(chain)))
                    break;
            }
            merge(left);
            merge(right);
            return;
        }
    }

    [[nodiscard]] Sample inset_point(const Vector3d& station, const Vector3d& along, int triangle, double inset) const {
        const int patch = patch_[at(triangle)];
        const Vector3d straight = station + inset * normals_[at(triangle)].cross(along);
        if (flat_[at(patch)]) return {straight, normals_[at(triangle)], patch};
        Vector3d best = straight;
        double least = std::numeric_limits<double>::infinity();
        int where = triangle;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            if (patch_[t] != patch) continue;
            const int k = static_cast<int>(t);
            const Vector3d p = nearest_on_triangle(straight, corner(k, 0), corner(k, 1), corner(k, 2));
            if ((p - straight).squaredNorm() < least) {
                least = (p - straight).squaredNorm();
                best = p;
                where = k;
            }
        }
        return {best, smooth_normal(where, best), patch};
    }

    /// Mean of the normals of a patch around the corners of a triangle, blended.
    [[nodiscard]] Vector3d smooth_normal(int t, const Vector3d& p) const {
        const int patch = patch_[at(t)];
        if (flat_[at(patch)]) return normals_[at(t)];
        const Vector3d a = corner(t, 0), b = corner(t, 1), c = corner(t, 2), n = normals_[at(t)];
        const double weight[3] = {n.dot((b - p).cross(c - p)), n.dot((c - p).cross(a - p)),
                                  n.dot((a - p).cross(b - p))};
        Vector3d sum = Vector3d::Zero();
        for (std::size_t k = 0; k < 3; ++k)
            sum += std::max(weight[k], 0.0) * corner_normal(triangles_[at(t)][k], patch);
        return sum.normalized();
    }

    [[nodiscard]] Vector3d corner_normal(int v, int patch) const {
        const auto known = corner_normals_.find({v, patch});
        if (known != corner_normals_.end()) return known->second;
        Vector3d sum = Vector3d::Zero();
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            if (patch_[t] == patch && (triangles_[t][0] == v || triangles_[t][1] == v || triangles_[t][2] == v))
                sum += areas_[t] * normals_[t];
        }
        return corner_normals_[{v, patch}] = sum.normalized();
    }

    [[nodiscard]] bool clear_of_others(const Vector3d& p, double inset, int chain) const {
        return std::all_of(edges_.begin(), edges_.end(), [&](const SharpEdge& e) {
            return e.chain == chain || segment_distance(p, vertex(e.from), vertex(e.to)) >= inset * (1.0 - 1e-9);
        });
    }

    void merge(const Sample& sample) {
        const bool known = std::any_of(samples.begin(), samples.end(), [&](const Sample& s) {
            return s.patch == sample.patch && (s.point - sample.point).norm() < kMerge * h_;
        });
        if (!known) samples.push_back(sample);
    }

    [[nodiscard]] double to_edges(const Vector3d& p) const {
        double least = std::numeric_limits<double>::infinity();
        for (const SharpEdge& e : edges_) least = std::min(least, segment_distance(p, vertex(e.from), vertex(e.to)));
        return least;
    }

    void place_inside() {
        Random random(1);
        const std::size_t fixed = samples.size();
        std::vector<Sample> candidates;
        const double area = std::accumulate(areas_.begin(), areas_.end(), 0.0);
        const double density = std::min(kCandidates / (h_ * h_), kMaxCandidates / area);
        double owed = 0.0;
        for (std::size_t t = 0; t < triangles_.size(); ++t) {
            const int k = static_cast<int>(t);
            for (owed += density * areas_[t]; owed >= 1.0; owed -= 1.0) {
                double u = uniform(random), v = uniform(random);
                if (u + v > 1.0) std::tie(u, v) = std::pair(1.0 - u, 1.0 - v);
                const Vector3d p = corner(k, 0) + u * (corner(k, 1) - corner(k, 0)) + v * (corner(k, 2) - corner(k, 0));
                candidates.push_back({p, smooth_normal(k, p), patch_[t]});
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
            if (!free || to_edges(c.point) < kInsideGap * h_) return;
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

    const TriangleMesh& mesh_;
    double h_;
    std::vector<Vector3d> points_, normals_;
    std::vector<std::array<int, 3>> triangles_;
    std::vector<double> areas_;
    std::vector<int> patch_;
    std::vector<bool> flat_, closed_;
    std::vector<SharpEdge> edges_;
    std::vector<std::vector<int>> around_;
    std::vector<std::vector<std::pair<int, int>>> chains_;
    mutable std::map<std::pair<int, int>, Vector3d> corner_normals_;
};

}  // namespace

double winding_number(const TriangleMesh& mesh, const Vector3d& p) {
    double sum = 0.0;
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        const Vector3d a = mesh.vertices.row(mesh.triangles(t, 0)).transpose() - p;
        const Vector3d b = mesh.vertices.row(mesh.triangles(t, 1)).transpose() - p;
        const Vector3d c = mesh.vertices.row(mesh.triangles(t, 2)).transpose() - p;
        const double x = a.norm(), y = b.norm(), z = c.norm();
        sum += 2.0 * std::atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y);
    }
    return sum / (4.0 * std::numbers::pi);
}

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

double sign_errors(const PointCloud& cloud, std::span<const TriangleMesh> parts, int samples) {
    const SoftDistance distance(cloud);
    Random random(2);
    int wrong = 0, counted = 0;
    while (counted < samples) {
        const int k = uniform_index(random, cloud.size());
        const Vector3d p = cloud.points.row(k).transpose() +
                           cloud.spacing * (uniform(random, -3.0, 3.0) * cloud.normals.row(k).transpose() +
                                            0.5 * normal_vector(random, 3).head<3>());
        double inside = 0.0, near = std::numeric_limits<double>::infinity();
        for (const TriangleMesh& part : parts) {
            inside = std::max(inside, winding_number(part, p));
            for (Eigen::Index t = 0; t < part.triangles.rows(); ++t) {
                near = std::min(near, (nearest_on_triangle(p, part.vertices.row(part.triangles(t, 0)).transpose(),
                                                           part.vertices.row(part.triangles(t, 1)).transpose(),
                                                           part.vertices.row(part.triangles(t, 2)).transpose()) -
                                       p)
                                          .norm());
            }
        }
        if (near < 0.1 * cloud.spacing || near > 3.0 * cloud.spacing) continue;
        ++counted;
        if ((distance.value(p).value < 0.0) != (inside > 0.5)) ++wrong;
    }
    return static_cast<double>(wrong) / counted;
}

}  // namespace farfield
