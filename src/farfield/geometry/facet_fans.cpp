// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/facet_fans.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "farfield/base/index.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using PointsRef = Eigen::Ref<const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>>;

constexpr double kFlat = 1e-9;  // of the hull's size

class Facets {
 public:
    Facets(const PointsRef& points, const HullTriangles& triangles) : points_(points), triangles_(triangles) {
        size_ = (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
        for (int t = 0; t < static_cast<int>(triangles.rows()); ++t) {
            const Vector3d a = point(t, 0), b = point(t, 1), c = point(t, 2);
            normals_.emplace_back((b - a).cross(c - a));
            for (int k = 0; k < 3; ++k) edges_.push_back({{corner(t, k), corner(t, (k + 1) % 3)}, t});
        }
        std::sort(edges_.begin(), edges_.end());
        facet_.assign(normals_.size(), -1);
    }

    std::vector<WeightedTriangle> fans() {
        std::vector<int> order(normals_.size());
        std::iota(order.begin(), order.end(), 0);
        // From the largest down, so that slivers join a face and never make one.
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return normals_[at(a)].squaredNorm() > normals_[at(b)].squaredNorm(); });
        for (const int seed : order) {
            if (facet_[at(seed)] >= 0) continue;
            const std::vector<int> members = grow(seed);
            const std::vector<int> loop = members.size() > 1 ? boundary(members) : std::vector<int>{};
            if (loop.empty()) {
                for (const int t : members) out_.push_back({{corner(t, 0), corner(t, 1), corner(t, 2)}, 1.0});
            } else {
                add_fans(loop);
            }
        }
        return std::move(out_);
    }

 private:
    [[nodiscard]] int corner(int t, int k) const { return triangles_(t, k); }
    [[nodiscard]] Vector3d point(int t, int k) const { return points_.row(corner(t, k)).transpose(); }

    /// The triangle on the other side of an edge; -1 where there is none.
    [[nodiscard]] int across(int from, int to) const {
        const std::pair<std::pair<int, int>, int> key{{to, from}, -1};
        const auto found = std::lower_bound(edges_.begin(), edges_.end(), key);
        return found != edges_.end() && found->first == key.first ? found->second : -1;
    }

    std::vector<int> grow(int seed) {
        const double area = normals_[at(seed)].norm();
        std::vector<int> members{seed};
        facet_[at(seed)] = seed;
        if (!(area > 1e-14 * size_ * size_)) return members;  // no plane of its own
        const Vector3d normal = normals_[at(seed)] / area, origin = point(seed, 0);
        for (std::size_t next = 0; next < members.size(); ++next) {
            for (int k = 0; k < 3; ++k) {
                const int other = across(corner(members[next], k), corner(members[next], (k + 1) % 3));
                if (other < 0 || facet_[at(other)] >= 0 || normal.dot(normals_[at(other)]) < -kFlat * area) continue;
                bool flat = true;
                for (int j = 0; j < 3; ++j) flat &= std::abs(normal.dot(point(other, j) - origin)) <= kFlat * size_;
                if (!flat) continue;
                facet_[at(other)] = seed;
                members.push_back(other);
            }
        }
        return members;
    }

    /// Corners of a face in order; empty when its edge is not one closed line.
    [[nodiscard]] std::vector<int> boundary(const std::vector<int>& members) const {
        std::vector<std::pair<int, int>> edges;
        for (const int t : members) {
            for (int k = 0; k < 3; ++k) {
                const int from = corner(t, k), to = corner(t, (k + 1) % 3), other = across(from, to);
                if (other < 0 || facet_[at(other)] != facet_[at(t)]) edges.emplace_back(from, to);
            }
        }
        std::sort(edges.begin(), edges.end());
        std::vector<int> loop;
        for (int k = edges.front().first; loop.size() <= edges.size();) {
            loop.push_back(k);
            const auto next = std::lower_bound(edges.begin(), edges.end(), std::pair(k, -1));
            if (next == edges.end() || next->first != k) return {};
            k = next->second;
            if (k == loop.front()) break;
        }
        return loop.size() == edges.size() ? loop : std::vector<int>{};
    }

    void add_fans(const std::vector<int>& loop) {
        const std::size_t count = loop.size();
        for (std::size_t j = 0; j < count; ++j) {
            for (std::size_t k = 1; k + 1 < count; ++k)
                out_.push_back(
                    {{loop[j], loop[(j + k) % count], loop[(j + k + 1) % count]}, 1.0 / static_cast<double>(count)});
        }
    }

    PointsRef points_;
    const HullTriangles& triangles_;
    double size_ = 0.0;
    std::vector<Vector3d> normals_;  // twice the area long
    std::vector<std::pair<std::pair<int, int>, int>> edges_;
    std::vector<int> facet_;  // the seed of its face, by triangle
    std::vector<WeightedTriangle> out_;
};

}  // namespace

std::vector<WeightedTriangle> facet_fans(const PointsRef& points, const HullTriangles& triangles) {
    return Facets(points, triangles).fans();
}

}  // namespace farfield
