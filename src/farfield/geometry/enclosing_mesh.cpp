// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/enclosing_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/geometry/distance.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr std::size_t kMaxPlanes = 14;   // whose corners are tried; around an edge there are seldom more different ones
constexpr double kSamePlane = 1e-9;      // of sines and sizes
constexpr double kLeastCosine = 0.2;     // between a triangle's normals before and after
constexpr double kLeastAltitude = 1e-3;  // of a new triangle, over its longest side
constexpr double kPlay = 1e-12;          // of the size: rounding of plane distances
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Plane {
    Vector3d normal;  ///< unit
    double offset = 0.0;
    [[nodiscard]] double height(const Vector3d& x) const { return normal.dot(x) - offset; }
};

struct Candidate {
    double cost = 0.0;
    int from = 0, to = 0, version = 0;
    Vector3d place;

    bool operator<(const Candidate& other) const {  // the cheapest on top, ties by index: same mesh, same result
        if (cost != other.cost) return cost > other.cost;
        return from != other.from ? from > other.from : to > other.to;
    }
};

class Collapser {
 public:
    Collapser(const TriangleMesh& mesh, const Simplification& wanted) : wanted_(wanted) {
        for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) points_.emplace_back(mesh.vertices.row(v));
        size_ = std::max(1e-300, (mesh.vertices.colwise().maxCoeff() - mesh.vertices.colwise().minCoeff()).norm());
        faces_of_.resize(points_.size());
        off_.assign(points_.size(), 0.0);
        version_.assign(points_.size(), 0);
        for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
            for (int k = 0; k < 3; ++k) faces_of_[at(mesh.triangles(t, k))].push_back(static_cast<int>(t));
            faces_.emplace_back(mesh.triangles.row(t));
        }
        num_faces_ = static_cast<int>(faces_.size());
        for (const Eigen::Vector3i& face : faces_) {
            for (int k = 0; k < 3; ++k) {
                if (face[k] < face[(k + 1) % 3]) consider(face[k], face[(k + 1) % 3]);
            }
        }
    }

    void run() {
        while (num_faces_ > wanted_.max_triangles && !queue_.empty()) {
            const Candidate best = queue_.top();
            queue_.pop();
            if (removed(best.from) || removed(best.to)) continue;
            if (best.version !=
                version_[at(best.from)] + version_[at(best.to)]) {  // something around it has moved since
                const std::vector<int> near = neighbours(best.from);
                if (std::binary_search(near.begin(), near.end(), best.to)) consider(best.from, best.to);
                continue;
            }
            collapse(best);
        }
    }

    [[nodiscard]] TriangleMesh result(const std::string& name) const {
        TriangleMesh mesh{.name = name, .vertices = {}, .triangles = {}};
        std::vector<int> index(points_.size(), -1);
        std::vector<int> used;
        mesh.triangles.resize(num_faces_, 3);
        Eigen::Index row = 0;
        for (const Eigen::Vector3i& face : faces_) {
            if (face[0] < 0) continue;
            for (int k = 0; k < 3; ++k) {
                if (index[at(face[k])] < 0) {
                    index[at(face[k])] = static_cast<int>(used.size());
                    used.push_back(face[k]);
                }
                mesh.triangles(row, k) = index[at(face[k])];
            }
            ++row;
        }
        mesh.vertices.resize(static_cast<Eigen::Index>(used.size()), 3);
        for (std::size_t v = 0; v < used.size(); ++v)
            mesh.vertices.row(static_cast<Eigen::Index>(v)) = points_[at(used[v])].transpose();
        return mesh;
    }

 private:
    [[nodiscard]] bool removed(int vertex) const { return faces_of_[at(vertex)].empty(); }
    [[nodiscard]] Triangle corners(const Eigen::Vector3i& face) const {
        return {points_[at(face[0])], points_[at(face[1])], points_[at(face[2])]};
    }
    [[nodiscard]] static Vector3d area_normal(const Triangle& t) { return (t[1] - t[0]).cross(t[2] - t[0]); }

    /// Triangles around an edge, each once.
    [[nodiscard]] std::vector<int> patch_of(int a, int b) const {
        std::vector<int> patch = faces_of_[at(a)];
        patch.insert(patch.end(), faces_of_[at(b)].begin(), faces_of_[at(b)].end());
        std::sort(patch.begin(), patch.end());
        patch.erase(std::unique(patch.begin(), patch.end()), patch.end());
        return patch;
    }

    [[nodiscard]] std::vector<int> neighbours(int vertex) const {
        std::vector<int> found;
        for (const int f : faces_of_[at(vertex)]) {
            for (int k = 0; k < 3; ++k) {
                if (faces_[at(f)][k] != vertex) found.push_back(faces_[at(f)][k]);
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    /// The surface stays a manifold: both ends have exactly the two vertices opposite the edge in common.
    [[nodiscard]] bool may_collapse(int a, int b) const {
        const std::vector<int> near_a = neighbours(a), near_b = neighbours(b);
        std::vector<int> common;
        std::set_intersection(near_a.begin(), near_a.end(), near_b.begin(), near_b.end(), std::back_inserter(common));
        return common.size() == 2 && near_a.size() + near_b.size() > 7;
    }

    /// New triangles keep their sides and are no slivers.
    [[nodiscard]] bool keeps_sides(const std::vector<int>& patch, int a, int b, const Vector3d& place) const {
        for (const int f : patch) {
            const Eigen::Vector3i& face = faces_[at(f)];
            Triangle moved = corners(face);
            int ends = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                if (face[static_cast<int>(k)] != a && face[static_cast<int>(k)] != b) continue;
                moved[k] = place;
                ++ends;
            }
            if (ends == 2) continue;  // vanishes
            const Vector3d before = area_normal(corners(face)), after = area_normal(moved);
            const double side = std::max({(moved[1] - moved[0]).squaredNorm(), (moved[2] - moved[1]).squaredNorm(),
                                          (moved[0] - moved[2]).squaredNorm()});
            if (!(after.norm() > kLeastAltitude * side) ||
                !(before.dot(after) > kLeastCosine * before.norm() * after.norm()))
                return false;
        }
        return true;
    }

    void collect_planes(const std::vector<int>& patch, std::vector<Plane>& planes, Vector3d& slope,
                        double& base) const {
        slope.setZero();
        base = 0.0;
        for (const int f : patch) {
            const Triangle t = corners(faces_[at(f)]);
            const Vector3d n = area_normal(t);
            slope += n / 6.0;  // of the volume between the patch and a point
            base -= n.dot(t[0]) / 6.0;
            if (!(n.norm() > 0.0)) continue;
            const Plane plane{n.normalized(), n.normalized().dot(t[0])};
            const bool known = std::any_of(planes.begin(), planes.end(), [&](const Plane& other) {
                return (other.normal - plane.normal).norm() < kSamePlane &&
                       std::abs(other.height(t[0])) < kSamePlane * size_;
            });
            if (!known) planes.push_back(plane);
        }
    }

    /// The least volume over corners of the planes and points of the edge, among those outside all planes.
    [[nodiscard]] std::optional<Vector3d> best_place(const std::vector<int>& patch, int a, int b, double& cost) const {
        std::vector<Plane> planes;
        Vector3d slope;
        double base = 0.0;
        collect_planes(patch, planes, slope, base);
        std::optional<Vector3d> best;
        cost = kInfinity;
        const auto offer = [&](const Vector3d& x) {
            const double volume = slope.dot(x) + base;
            if (!(volume < cost)) return;
            for (const Plane& plane : planes) {
                if (plane.height(x) < -kPlay * size_) return;
            }
            if (!keeps_sides(patch, a, b, x)) return;
            cost = volume;
            best = x;
        };
        const Vector3d &first = points_[at(a)], &second = points_[at(b)];
        for (const double s : {0.0, 1.0, 0.5}) offer(first + s * (second - first));
        const std::size_t count = std::min(planes.size(), kMaxPlanes);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = i + 1; j < count; ++j) {
                const Vector3d line = planes[i].normal.cross(planes[j].normal);
                for (std::size_t k = j + 1; k < count; ++k) {
                    const double det = line.dot(planes[k].normal);
                    if (std::abs(det) < 1e-4) continue;
                    offer((planes[i].offset * planes[j].normal.cross(planes[k].normal) +
                           planes[j].offset * planes[k].normal.cross(planes[i].normal) + planes[k].offset * line) /
                          det);
                }
            }
        }
        return best;
    }

    /// How far a point is from the patch, and the patch from the original surface.
    [[nodiscard]] double distance_of(const std::vector<int>& patch, const Vector3d& point) const {
        double nearest = kInfinity;
        for (const int f : patch) {
            const Eigen::Vector3i& face = faces_[at(f)];
            const double off = std::max({off_[at(face[0])], off_[at(face[1])], off_[at(face[2])]});
            nearest =
                std::min(nearest, off + std::sqrt(point_triangle_distance(point, corners(face)).squared_distance));
        }
        return nearest;
    }

    /// Of the new vertex and the middles of its edges: where a patch is hollow, these are farther away.
    [[nodiscard]] double distance_of(const std::vector<int>& patch, int a, int b, const Vector3d& place) const {
        double farthest = distance_of(patch, place);
        for (const int end : {a, b}) {
            for (const int v : neighbours(end)) {
                if (v != a && v != b) farthest = std::max(farthest, distance_of(patch, 0.5 * (place + points_[at(v)])));
            }
        }
        return farthest;
    }

    void consider(int a, int b) {
        if (!may_collapse(a, b)) return;
        const std::vector<int> patch = patch_of(a, b);
        double cost = 0.0;
        const std::optional<Vector3d> place = best_place(patch, a, b, cost);
        if (!place || distance_of(patch, a, b, *place) > wanted_.max_distance) return;
        const double length = (points_[at(a)] - points_[at(b)]).norm();
        queue_.push(
            {std::max(0.0, cost) + 1e-6 * length * length * length, a, b, version_[at(a)] + version_[at(b)], *place});
    }

    void collapse(const Candidate& edge) {
        const int a = edge.from, b = edge.to;
        const std::vector<int> patch = patch_of(a, b);
        if (!may_collapse(a, b) || !keeps_sides(patch, a, b, edge.place)) return;
        off_[at(a)] = distance_of(patch, a, b, edge.place);
        for (const int f : patch) {
            Eigen::Vector3i& face = faces_[at(f)];
            const bool has_a = (face.array() == a).any(), has_b = (face.array() == b).any();
            if (has_a && has_b) {
                for (int k = 0; k < 3; ++k) std::erase(faces_of_[at(face[k])], f);
                face.setConstant(-1);
                --num_faces_;
            } else if (has_b) {
                for (int k = 0; k < 3; ++k) {
                    if (face[k] == b) face[k] = a;
                }
                faces_of_[at(a)].push_back(f);
            }
        }
        faces_of_[at(b)].clear();
        points_[at(a)] = edge.place;
        // Everything around has new planes; edges further out are looked at again when their turn comes.
        const std::vector<int> ring = neighbours(a);
        ++version_[at(a)];
        for (const int v : ring) ++version_[at(v)];
        for (const int v : ring) consider(std::min(a, v), std::max(a, v));
    }

    Simplification wanted_;
    double size_ = 1.0;
    std::vector<Vector3d> points_;
    std::vector<Eigen::Vector3i> faces_;  ///< (-1, -1, -1) when removed
    std::vector<std::vector<int>> faces_of_;
    std::vector<double> off_;  ///< per vertex: bound of its distance to the original surface
    std::vector<int> version_;
    int num_faces_ = 0;
    std::priority_queue<Candidate> queue_;
};

}  // namespace

TriangleMesh enclosing_mesh(const TriangleMesh& mesh, const Simplification& wanted) {
    validate(mesh);
    if (!is_watertight(mesh)) fail("enclosing_mesh: mesh '", mesh.name, "' is not closed, expected a watertight one");
    if (wanted.max_triangles < 4) fail("enclosing_mesh: max_triangles ", wanted.max_triangles, ", expected >= 4");
    if (!(wanted.max_distance >= 0.0))
        fail("enclosing_mesh: max_distance ", wanted.max_distance, ", expected >= 0 [m]");
    Collapser collapser(mesh, wanted);
    collapser.run();
    return collapser.result(mesh.name);
}

}  // namespace farfield
