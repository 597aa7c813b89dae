// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/triangle_mesh.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "farfield/geometry/primitives.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using farfield::testing::error_of;

namespace {

TriangleMesh tetrahedron() {
    TriangleMesh mesh;
    mesh.name = "tet";
    mesh.vertices.resize(4, 3);
    mesh.vertices << 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1;
    mesh.triangles.resize(4, 3);
    mesh.triangles << 0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3;
    return mesh;
}

std::string complaint(const TriangleMesh& mesh) {
    return error_of([&] { validate(mesh); });
}

}  // namespace

TEST_CASE("a sound mesh is accepted, an open one too") {
    TriangleMesh mesh = tetrahedron();
    CHECK(complaint(mesh) == "");
    CHECK(is_watertight(mesh));
    mesh.triangles.conservativeResize(3, 3);
    CHECK(complaint(mesh) == "");
    CHECK_FALSE(is_watertight(mesh));
}

TEST_CASE("mesh mistakes are named") {
    TriangleMesh mesh = tetrahedron();
    mesh.vertices.resize(0, 3);
    CHECK(complaint(mesh) == "mesh 'tet': no vertices, expected at least 3");
    mesh = tetrahedron();
    mesh.triangles.resize(0, 3);
    CHECK(complaint(mesh) == "mesh 'tet': no triangles, expected at least 1");
    mesh = tetrahedron();
    mesh.vertices(2, 1) = std::numeric_limits<double>::quiet_NaN();
    CHECK(complaint(mesh) == "mesh 'tet': vertex 2: coordinate 1 is nan, expected a finite number");
    mesh.vertices(2, 1) = std::numeric_limits<double>::infinity();
    CHECK(complaint(mesh) == "mesh 'tet': vertex 2: coordinate 1 is inf, expected a finite number");
    mesh = tetrahedron();
    mesh.triangles(3, 2) = 4;
    CHECK(complaint(mesh) == "mesh 'tet': triangle 3: vertex index 4, expected 0 to 3");
    mesh.triangles(3, 2) = -1;
    CHECK(complaint(mesh) == "mesh 'tet': triangle 3: vertex index -1, expected 0 to 3");
    mesh = tetrahedron();
    mesh.triangles.row(1) << 0, 1, 1;
    CHECK(complaint(mesh).find("mesh 'tet': triangle 1 (vertices 0, 1, 1): area 0, expected > ") == 0);
}

TEST_CASE("degenerate is relative to the size of the mesh") {
    for (const double size : {1e-6, 1.0, 1e6}) {
        TriangleMesh mesh = tetrahedron();
        mesh.vertices *= size;
        CHECK(complaint(mesh) == "");
        mesh.vertices.row(3) << 0.5 * size, 0.5 * size, 1e-15 * size;  // next to the edge of vertices 1 and 2
        CHECK(complaint(mesh).find("triangle 3 (vertices 1, 2, 3): area ") != std::string::npos);
        mesh.vertices.row(3) << 0.5 * size, 0.5 * size, 1e-12 * size;
        CHECK(complaint(mesh) == "");
    }
}

TEST_CASE("what is not watertight") {
    TriangleMesh mesh = tetrahedron();
    mesh.triangles.row(0) << 0, 1, 2;  // one triangle turned round
    CHECK_FALSE(is_watertight(mesh));
    mesh = tetrahedron();
    mesh.triangles.conservativeResize(5, 3);
    mesh.triangles.row(4) = mesh.triangles.row(0);  // a triangle twice
    CHECK_FALSE(is_watertight(mesh));
    mesh = tetrahedron();
    mesh.triangles.row(2) << 0, 0, 0;
    CHECK_FALSE(is_watertight(mesh));
    CHECK_FALSE(is_watertight(TriangleMesh{}));
    mesh = tetrahedron();
    mesh.triangles.col(1).swap(mesh.triangles.col(2));  // all turned round: closed, inside out
    CHECK(is_watertight(mesh));
}
