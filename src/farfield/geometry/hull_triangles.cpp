// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/hull_triangles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/predicates.hpp"

namespace farfield {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Corners3 = std::array<int, 3>;

constexpr Eigen::Index kManyPoints = 256;  // more are Qhull's, whose work does not grow with their square

/// The hull of the points inserted so far.
class Growing {
 public:
    explicit Growing(std::vector<Vector3d> points) : points_(std::move(points)) {
        // Differences are at most 2 sizes, their determinant has six products, each rounded less than 16 times.
        double size = 0.0;
        for (const Vector3d& x : points_) size = std::max(size, (x - points_[0]).cwiseAbs().maxCoeff());
        bound_ = 1000.0 * 2.3e-16 * size * size * size;
        face_of_.assign(points_.size() * points_.size(), -1);
    }

    void add(const Corners3& corners) {
        const Vector3d &a = at(corners[0]), &b = at(corners[1]), &c = at(corners[2]);
        for (std::size_t k = 0; k < 3; ++k) edge(corners[k], corners[(k + 1) % 3]) = static_cast<int>(faces_.size());
        faces_.push_back({corners, a, (b - a).cross(c - a), true, false});
    }

    void insert(int point) {
        std::vector<std::size_t> visible;
        for (std::size_t f = 0; f < faces_.size(); ++f) {
            if (faces_[f].alive && sees(point, faces_[f])) visible.push_back(f);
        }
        for (const std::size_t f : visible) faces_[f].visible = true;
        std::vector<std::array<int, 2>> horizon;
        for (const std::size_t f : visible) {
            const Corners3& v = faces_[f].corners;
            for (std::size_t k = 0; k < 3; ++k) {
                const int from = v[k], to = v[(k + 1) % 3];
                if (!faces_[static_cast<std::size_t>(edge(to, from))].visible) horizon.push_back({from, to});
            }
        }
        for (const std::size_t f : visible) faces_[f].alive = faces_[f].visible = false;
        for (const auto& [from, to] : horizon) add({from, to, point});
    }

    [[nodiscard]] HullTriangles triangles() const {
        const auto alive = std::count_if(faces_.begin(), faces_.end(), [](const Face& f) { return f.alive; });
        HullTriangles out(alive, 3);
        Eigen::Index row = 0;
        for (const Face& f : faces_) {
            if (f.alive) out.row(row++) << f.corners[0], f.corners[1], f.corners[2];
        }
        return out;
    }

 private:
    struct Face {
        Corners3 corners;
        Vector3d origin, normal;
        bool alive = true, visible = false;
    };
    [[nodiscard]] const Vector3d& at(int k) const { return points_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] int& edge(int from, int to) {
        return face_of_[static_cast<std::size_t>(from) * points_.size() + static_cast<std::size_t>(to)];
    }
    [[nodiscard]] bool sees(int point, const Face& face) const {
        const double height = face.normal.dot(at(point) - face.origin);
        if (std::abs(height) > bound_) return height > 0.0;
        return orientation(at(face.corners[0]), at(face.corners[1]), at(face.corners[2]), at(point)) > 0;
    }

    std::vector<Vector3d> points_;
    std::vector<Face> faces_;
    std::vector<int> face_of_;  // by directed edge, for the face on its left
    double bound_ = 0.0;
};

template <class Measure>
int largest(const std::vector<Vector3d>& points, Measure&& measure) {
    int best = 0;
    double most = -1.0;
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (const double value = measure(points[k]); value > most) {
            most = value;
            best = static_cast<int>(k);
        }
    }
    return best;
}

/// The convex polygon of points in one plane, fanned on both sides.
HullTriangles polygon(const std::vector<Vector3d>& points, const Vector3d& normal) {
    int axis = 0;
    (void)normal.cwiseAbs().maxCoeff(&axis);
    const int u = (axis + 1) % 3, w = (axis + 2) % 3;
    const auto flat = [&](int k) {
        return Vector2d(points[static_cast<std::size_t>(k)][u], points[static_cast<std::size_t>(k)][w]);
    };
    std::vector<int> order(points.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        const Vector2d x = flat(a), y = flat(b);
        return x.x() != y.x() ? x.x() < y.x() : x.y() < y.y();
    });
    std::vector<int> ring;
    for (const bool upper : {false, true}) {  // lower chain from left to right, then the upper one back
        if (upper) std::reverse(order.begin(), order.end());
        const std::size_t base = ring.size();
        for (const int k : order) {
            while (ring.size() >= base + 2 && orientation(flat(ring[ring.size() - 2]), flat(ring.back()), flat(k)) <= 0)
                ring.pop_back();
            ring.push_back(k);
        }
        ring.pop_back();  // the first of the other chain
    }
    if (ring.size() < 3) return HullTriangles{{0, 1, 2}};
    const auto count = static_cast<Eigen::Index>(ring.size()) - 2;
    HullTriangles out(2 * count, 3);
    for (Eigen::Index t = 0; t < count; ++t) {
        const auto k = static_cast<std::size_t>(t);
        out.row(2 * t) << ring[0], ring[k + 1], ring[k + 2];
        out.row(2 * t + 1) << ring[0], ring[k + 2], ring[k + 1];
    }
    return out;
}

}  // namespace

HullTriangles hull_triangles(const Eigen::Ref<const Points>& rows) {
    if (rows.rows() < 3) fail("hull_triangles: ", rows.rows(), " points, expected at least 3");
    std::vector<Vector3d> points;
    for (Eigen::Index k = 0; k < rows.rows(); ++k) points.emplace_back(rows.row(k).transpose());
    const Vector3d a = points[0];
    const int second = largest(points, [&](const Vector3d& x) { return (x - a).squaredNorm(); });
    const Vector3d along = points[static_cast<std::size_t>(second)] - a;
    const int third = largest(points, [&](const Vector3d& x) { return along.cross(x - a).squaredNorm(); });
    const Vector3d c = points[static_cast<std::size_t>(third)], normal = along.cross(c - a);
    if (normal.isZero(0.0)) return HullTriangles{{0, 1, 2}};
    const auto side = [&](int k) {
        return orientation(a, points[static_cast<std::size_t>(second)], c, points[static_cast<std::size_t>(k)]);
    };
    int fourth = largest(points, [&](const Vector3d& x) { return std::abs(normal.dot(x - a)); });
    for (int k = 0; side(fourth) == 0; ++k) {
        if (k == static_cast<int>(points.size())) return polygon(points, normal);
        fourth = side(k) != 0 ? k : fourth;
    }
    if (rows.rows() > kManyPoints) {
        const ConvexHull found = convex_hull(rows, "hull of a changed shape");
        return found.triangles.unaryExpr([&](int k) { return found.vertices[static_cast<std::size_t>(k)]; });
    }
    const int apex = fourth;
    const Corners3 base = side(apex) < 0 ? Corners3{0, second, third} : Corners3{0, third, second};
    Growing hull(std::move(points));
    hull.add(base);
    for (std::size_t k = 0; k < 3; ++k) hull.add({base[(k + 1) % 3], base[k], apex});
    for (int k = 0; k < static_cast<int>(rows.rows()); ++k) hull.insert(k);
    return hull.triangles();
}

}  // namespace farfield
