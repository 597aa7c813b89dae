// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/convex_hull.hpp"

#include <libqhull_r/qhull_ra.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "farfield/base/error.hpp"
#include "farfield/geometry/principal_axes.hpp"

namespace farfield {

namespace {

using Points = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
using PointsRef = Eigen::Ref<const Points>;

void check_points(const PointsRef& points, const std::string& place) {
    if (points.rows() < 4) fail("convex_hull: ", place, ": ", points.rows(), " points, expected at least 4");
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
        if (!points.row(i).allFinite())
            fail("convex_hull: ", place, ": point ", i, " (", points.row(i), "), expected finite numbers");
    }
    const Eigen::Matrix3Xd turned = principal_coordinates(points);
    const Eigen::Vector3d extent = turned.rowwise().maxCoeff() - turned.rowwise().minCoeff();
    if (!(extent.minCoeff() > 1e-10 * extent.maxCoeff())) {
        fail("convex_hull: ", place, ": ", points.rows(), " points lie in one plane (extent ", extent.maxCoeff(),
             ", thickness ", extent.minCoeff(), " [m]), expected a solid");
    }
}

/// Qhull keeps its state in one large struct and reports through a file.
class Qhull {
 public:
    Qhull() : messages_(std::tmpfile(), &std::fclose), state_(std::make_unique<qhT>()) {
        qh_zero(state_.get(), messages_ ? messages_.get() : stderr);
    }
    ~Qhull() {
        int long_left = 0, total_left = 0;
        qh_freeqhull(state_.get(), !qh_ALL);
        qh_memfreeshort(state_.get(), &long_left, &total_left);
    }
    Qhull(const Qhull&) = delete;
    Qhull& operator=(const Qhull&) = delete;

    /// 0 or Qhull's error code.
    int build(Points& points) {
        char command[] = "qhull Qt Pp";  // triangulated, no precision warnings
        return qh_new_qhull(state_.get(), 3, static_cast<int>(points.rows()), points.data(), False, command, nullptr,
                            messages_ ? messages_.get() : stderr);
    }

    /// Corners of all triangles as indices of points, outward.
    std::vector<std::array<int, 3>> triangles() {
        qhT* qh = state_.get();
        std::vector<std::array<int, 3>> result;
        facetT* facet = nullptr;
        FORALLfacets {
            std::array<int, 3> corners{};
            vertexT *vertex = nullptr, **vertexp = nullptr;
            std::size_t k = 0;
            FOREACHvertex_(facet->vertices) {
                FARFIELD_ASSERT(k < 3);
                corners[k++] = qh_pointid(qh, vertex->point);
            }
            // Qhull's order is topological: it holds for triangles without area, too, where a normal would not decide.
            if (facet->toporient) std::swap(corners[1], corners[2]);
            result.push_back(corners);
        }
        return result;
    }

 private:
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> messages_;
    std::unique_ptr<qhT> state_;
};

}  // namespace

ConvexHull convex_hull(const PointsRef& points, const std::string& place) {
    check_points(points, place);
    Points copy = points;  // Qhull takes a mutable pointer
    Qhull qhull;
    if (const int code = qhull.build(copy); code != 0) {
        fail("convex_hull: ", place, ": Qhull failed with code ", code, " on ", points.rows(),
             " points, expected a solid");
    }
    const std::vector<std::array<int, 3>> triangles = qhull.triangles();

    ConvexHull hull;
    for (const auto& corners : triangles) hull.vertices.insert(hull.vertices.end(), corners.begin(), corners.end());
    std::sort(hull.vertices.begin(), hull.vertices.end());
    hull.vertices.erase(std::unique(hull.vertices.begin(), hull.vertices.end()), hull.vertices.end());
    hull.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t t = 0; t < triangles.size(); ++t) {
        for (std::size_t k = 0; k < 3; ++k) {
            const auto position = std::lower_bound(hull.vertices.begin(), hull.vertices.end(), triangles[t][k]);
            hull.triangles(static_cast<Eigen::Index>(t), static_cast<Eigen::Index>(k)) =
                static_cast<int>(position - hull.vertices.begin());
        }
    }
    return hull;
}

TriangleMesh convex_hull_mesh(const TriangleMesh& mesh) {
    const ConvexHull hull = convex_hull(mesh.vertices, "mesh '" + mesh.name + "'");
    TriangleMesh result;
    result.name = mesh.name;
    result.vertices = mesh.vertices(hull.vertices, Eigen::all);
    result.triangles = hull.triangles;
    return result;
}

}  // namespace farfield
