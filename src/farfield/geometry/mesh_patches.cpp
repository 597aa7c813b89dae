// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/mesh_patches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr double kSharpCosine = 0.8660254037844386;  // edges that bend by more than 30 degrees, and chains as well

double segment_distance(const Vector3d& p, const Vector3d& a, const Vector3d& b) {
    const Vector3d along = b - a;
    const double t = std::clamp(along.dot(p - a) / along.squaredNorm(), 0.0, 1.0);
    return (p - a - t * along).norm();
}

}  // namespace

MeshPatches::MeshPatches(const TriangleMesh& mesh) {
    weld(mesh);
    find_patches(mesh);
    chain_edges();
}

void MeshPatches::weld(const TriangleMesh& mesh) {
    std::map<std::tuple<double, double, double>, int> known;
    std::vector<int> to;
    for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
        const Vector3d p = mesh.vertices.row(v).transpose();
        const auto [entry, fresh] = known.try_emplace({p.x(), p.y(), p.z()}, static_cast<int>(points_.size()));
        if (fresh) points_.push_back(p);
        to.push_back(entry->second);
    }
    for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
        triangles_.push_back(
            {to[at(mesh.triangles(t, 0))], to[at(mesh.triangles(t, 1))], to[at(mesh.triangles(t, 2))]});
        const int last = static_cast<int>(t);
        const Vector3d n = (corner(last, 1) - corner(last, 0)).cross(corner(last, 2) - corner(last, 0));
        areas_.push_back(0.5 * n.norm());
        normals_.push_back(n.normalized());
    }
}

int MeshPatches::root(int t) {
    while (patch_[at(t)] != t) t = patch_[at(t)] = patch_[at(patch_[at(t)])];
    return t;
}

void MeshPatches::find_patches(const TriangleMesh& mesh) {
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
            fail("mesh_cloud: mesh '", mesh.name, "' is open at the edge of vertices near (",
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

double MeshPatches::angle_at(int v, int patch) const {
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
int MeshPatches::next_edge(int edge, int v) const {
    int found = -1, count = 0;
    for (const int other : around_[at(v)]) {
        ++count;
        if (other != edge) found = other;
    }
    if (count != 2 || found < 0) return -1;
    const Vector3d in = vertex(v) - vertex(other_end(edge, v)), out = vertex(other_end(found, v)) - vertex(v);
    return in.normalized().dot(out.normalized()) >= kSharpCosine ? found : -1;
}

void MeshPatches::chain_edges() {
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
            v = other_end(edge, v);
        }
        EdgeChain chain;
        while (edge >= 0 && edges_[at(edge)].chain < 0) {
            edges_[at(edge)].chain = static_cast<int>(chains_.size());
            chain.edges.emplace_back(edge, v);
            v = other_end(edge, v);
            edge = next_edge(edge, v);
        }
        chain.closed = edge >= 0;
        chains_.push_back(std::move(chain));
    }
}

Vector3d MeshPatches::smooth_normal(int t, const Vector3d& p) const {
    const int patch = patch_[at(t)];
    if (flat_[at(patch)]) return normals_[at(t)];
    const Vector3d a = corner(t, 0), b = corner(t, 1), c = corner(t, 2), n = normals_[at(t)];
    const double weight[3] = {n.dot((b - p).cross(c - p)), n.dot((c - p).cross(a - p)), n.dot((a - p).cross(b - p))};
    Vector3d sum = Vector3d::Zero();
    for (std::size_t k = 0; k < 3; ++k) sum += std::max(weight[k], 0.0) * corner_normal(triangles_[at(t)][k], patch);
    return sum.normalized();
}

Vector3d MeshPatches::corner_normal(int v, int patch) const {
    const auto known = corner_normals_.find({v, patch});
    if (known != corner_normals_.end()) return known->second;
    Vector3d sum = Vector3d::Zero();
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
        if (patch_[t] == patch && (triangles_[t][0] == v || triangles_[t][1] == v || triangles_[t][2] == v))
            sum += areas_[t] * normals_[t];
    }
    return corner_normals_[{v, patch}] = sum.normalized();
}

double MeshPatches::distance_to_edges(const Vector3d& p, int but_chain) const {
    double least = std::numeric_limits<double>::infinity();
    for (const SharpEdge& e : edges_) {
        if (but_chain < 0 || e.chain != but_chain)
            least = std::min(least, segment_distance(p, vertex(e.from), vertex(e.to)));
    }
    return least;
}

}  // namespace farfield
