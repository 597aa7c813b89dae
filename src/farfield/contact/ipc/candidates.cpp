// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/candidates.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/index.hpp"
#include "farfield/contact/ipc/closest.hpp"
#include "farfield/geometry/distance.hpp"

namespace farfield::contact::ipc {

namespace {

using Eigen::Vector3d;
using Node = CollisionShape::Node;

constexpr double kMargin = 0.5;  // in units of the range

class Search {
 public:
    Search(const Shape& a, const Shape& b, const Pose& b_in_a, double cutoff, double margin, CandidateList& out)
        : a_(a),
          b_(b),
          pose_(b_in_a),
          spread_(b_in_a.rotation.cwiseAbs()),
          cutoff_(cutoff),
          cutoff2_(cutoff * cutoff),
          margin_(margin),
          out_(out) {}

    /// Splits the larger node, whatever the pose, so that the order of what is found never changes.
    void visit(int i, int j) {
        const Node &m = a_.tree.nodes()[at(i)], &n = b_.tree.nodes()[at(j)];
        const double apart = bound(m, n);
        if (apart > cutoff_) return;
        if (m.right < 0 && n.right < 0) {
            if (apart <= margin_) out_.triangles.push_back({m.triangle, n.triangle});
            add(m.triangle, n.triangle);
        } else if (n.right < 0 || (m.right >= 0 && m.radius >= n.radius)) {
            visit(i + 1, j);
            visit(m.right, j);
        } else {
            visit(i, j + 1);
            visit(i, n.right);
        }
    }

 private:
    /// A lower bound of the distance: spheres, then boxes seen along the axes of both.
    [[nodiscard]] double bound(const Node& m, const Node& n) const {
        const double spheres = (pose_ * n.centre - m.centre).norm() - m.radius - n.radius;
        if (spheres > cutoff_) return spheres;
        const Vector3d between = pose_ * n.box_centre - m.box_centre;
        const double by_a = (between.cwiseAbs() - m.box_half - spread_ * n.box_half).maxCoeff();
        const double by_b =
            ((pose_.rotation.transpose() * between).cwiseAbs() - n.box_half - spread_.transpose() * m.box_half)
                .maxCoeff();
        return std::max({spheres, by_a, by_b});
    }

    void add(int t, int u) {
        const Eigen::Vector3i &corners_a = a_.triangles[at(t)], &corners_b = b_.triangles[at(u)];
        const Owned &own_a = a_.owned[at(t)], &own_b = b_.owned[at(u)];
        const auto on_a = [&](int v) -> const Vector3d& { return a_.vertices[at(v)]; };
        const auto on_b = [&](int v) -> Vector3d { return pose_ * b_.vertices[at(v)]; };
        const Vector3d y[3] = {on_b(corners_b[0]), on_b(corners_b[1]), on_b(corners_b[2])};
        Closest closest;
        for (int k = 0; k < own_a.num_vertices; ++k) {
            const int v = own_a.vertices[at(k)];
            vertex_face(on_a(v), y[0], y[1], y[2], closest);
            if (closest.squared < cutoff2_) out_.vertex_face.push_back({v, u});
        }
        for (int k = 0; k < own_b.num_vertices; ++k) {
            const int v = own_b.vertices[at(k)];
            face_vertex(on_a(corners_a[0]), on_a(corners_a[1]), on_a(corners_a[2]), on_b(v), closest);
            if (closest.squared < cutoff2_) out_.face_vertex.push_back({t, v});
        }
        for (int k = 0; k < own_a.num_edges; ++k) {
            const Eigen::Vector2i& e = a_.edges[at(own_a.edges[at(k)])];
            for (int l = 0; l < own_b.num_edges; ++l) {
                const Eigen::Vector2i& f = b_.edges[at(own_b.edges[at(l)])];
                edge_edge(on_a(e[0]), on_a(e[1]), on_b(f[0]), on_b(f[1]), closest);
                if (closest.squared < cutoff2_) out_.edge_edge.push_back({own_a.edges[at(k)], own_b.edges[at(l)]});
            }
        }
    }

    const Shape &a_, &b_;
    const Pose& pose_;
    Eigen::Matrix3d spread_;
    double cutoff_, cutoff2_, margin_;
    CandidateList& out_;
};

}  // namespace

void CandidateList::update(const Shape& a, const Shape& b, const Pose& now, double range) {
    if (margin >= 0.0) {
        // |R - R0| as a map is its Frobenius norm over sqrt(2)
        const double moved = (now.position - b_in_a.position).norm() +
                             (now.rotation - b_in_a.rotation).norm() * std::sqrt(0.5) * b.reach;
        if (moved <= margin) return;
    }
    vertex_face.clear();
    face_vertex.clear();
    edge_edge.clear();
    triangles.clear();
    b_in_a = now;
    margin = kMargin * range;
    // a little more than asked for covers the rounding of bounds and distances
    const double rounding = 1e-12 * (a.reach + b.reach + now.position.norm());
    Search(a, b, now, range + margin + rounding, margin + rounding, *this).visit(0, 0);
}

bool any_crossing(const Shape& a, const Shape& b, const Pose& b_in_a, const std::vector<FeaturePair>& triangles) {
    for (const FeaturePair& pair : triangles) {
        const Eigen::Vector3i &t = a.triangles[at(pair.a)], &u = b.triangles[at(pair.b)];
        const Triangle x{a.vertices[at(t[0])], a.vertices[at(t[1])], a.vertices[at(t[2])]};
        const Triangle y{b_in_a * b.vertices[at(u[0])], b_in_a * b.vertices[at(u[1])], b_in_a * b.vertices[at(u[2])]};
        const auto apart = [](const Triangle& plane, const Triangle& other) {
            const Vector3d normal = (plane[1] - plane[0]).cross(plane[2] - plane[0]);
            const double size = 1e-14 * normal.norm() * (plane[0].norm() + other[0].norm());
            const double h0 = normal.dot(other[0] - plane[0]), h1 = normal.dot(other[1] - plane[0]),
                         h2 = normal.dot(other[2] - plane[0]);
            return std::min({h0, h1, h2}) > size || std::max({h0, h1, h2}) < -size;
        };
        if (apart(x, y) || apart(y, x)) continue;
        if (triangles_intersect(x, y)) return true;
    }
    return false;
}

}  // namespace farfield::contact::ipc
