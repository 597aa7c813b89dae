// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "farfield/geometry/primitives.hpp"
#include "farfield/geometry/sphere_tree.hpp"

using namespace farfield;

namespace {

std::size_t at(int k) { return static_cast<std::size_t>(k); }

/// Vertices below a node, collected the slow way.
void collect(const SphereTree& tree, const TriangleMesh& mesh, bool triangles, int node, std::set<int>& vertices) {
    if (tree.is_leaf(node)) {
        if (!triangles) vertices.insert(tree.item[at(node)]);
        for (int k = 0; triangles && k < 3; ++k) vertices.insert(mesh.triangles(tree.item[at(node)], k));
        return;
    }
    collect(tree, mesh, triangles, node + 1, vertices);
    collect(tree, mesh, triangles, tree.right[at(node)], vertices);
}

void check_tree(const SphereTree& tree, const TriangleMesh& mesh, bool triangles) {
    std::set<int> items;
    for (int node = 0; node < tree.size(); ++node) {
        std::set<int> vertices;
        collect(tree, mesh, triangles, node, vertices);
        Eigen::Vector3d mean = Eigen::Vector3d::Zero();
        for (const int v : vertices) mean += mesh.vertices.row(v).transpose();
        mean /= static_cast<double>(vertices.size());
        CHECK((tree.center[at(node)] - mean).norm() < 1e-14);
        double farthest = 0.0;
        for (const int v : vertices) farthest = std::max(farthest, (mesh.vertices.row(v).transpose() - mean).norm());
        CHECK(tree.tight[at(node)] == doctest::Approx(farthest).epsilon(1e-13));
        CHECK(tree.tight[at(node)] <= tree.radius[at(node)] * (1.0 + 1e-14));
        if (tree.is_leaf(node)) {
            CHECK(tree.radius[at(node)] == tree.tight[at(node)]);
            CHECK(tree.spread[at(node)] == 0.0);
            items.insert(tree.item[at(node)]);
            continue;
        }
        double radius = 0.0, spread = 0.0;
        for (const int child : {node + 1, tree.right[at(node)]}) {
            const double shift = (tree.center[at(node)] - tree.center[at(child)]).norm();
            radius = std::max(radius, shift + tree.radius[at(child)]);
            spread = std::max(spread, shift + tree.spread[at(child)]);
            CHECK(tree.path[at(child)] >= tree.path[at(node)]);
        }
        CHECK(tree.radius[at(node)] == radius);
        CHECK(tree.spread[at(node)] == spread);
    }
    CHECK(static_cast<int>(items.size()) == tree.num_leaves);
    CHECK(tree.size() == 2 * tree.num_leaves - 1);
}

}  // namespace

TEST_CASE("sphere tree: centres, layered and tight radii") {
    for (const TriangleMesh& mesh : {make_box({0.3, 0.2, 0.1}), make_sphere(0.5), make_capsule(0.1, 0.4)}) {
        const SphereTree triangles = build_triangle_tree(mesh), vertices = build_vertex_tree(mesh);
        CHECK(triangles.num_leaves == mesh.triangles.rows());
        CHECK(vertices.num_leaves == mesh.vertices.rows());
        check_tree(triangles, mesh, true);
        check_tree(vertices, mesh, false);
        for (int node = 0; node < vertices.size(); ++node) {
            if (vertices.is_leaf(node)) CHECK(vertices.radius[at(node)] == 0.0);
        }
    }
}

TEST_CASE("sphere tree: the same mesh gives the same tree, vertices without triangles are left out") {
    TriangleMesh mesh = make_sphere(1.0);
    const SphereTree first = build_triangle_tree(mesh), second = build_triangle_tree(mesh);
    CHECK(first.item == second.item);
    CHECK(first.radius == second.radius);
    CHECK(first.path == second.path);
    const int used = build_vertex_tree(mesh).num_leaves;
    mesh.vertices.conservativeResize(mesh.vertices.rows() + 1, 3);
    mesh.vertices.bottomRows<1>() << 100.0, 0.0, 0.0;
    CHECK(build_vertex_tree(mesh).num_leaves == used);
    CHECK(build_triangle_tree(mesh).radius == first.radius);
    mesh.triangles.resize(0, 3);
    CHECK_THROWS_AS(static_cast<void>(build_triangle_tree(mesh)), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(build_vertex_tree(mesh)), std::invalid_argument);
}
