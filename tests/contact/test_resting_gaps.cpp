// SPDX-License-Identifier: Apache-2.0
/// @file  The automatic weights of the contact models: at which gap a body rests, however it is cut, and what it feels from afar.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "contact/contact_models.hpp"
#include "farfield/contact/make_contact.hpp"
#include "farfield/contact/pairwise/far_forces.hpp"
#include "farfield/model/kinematics.hpp"

using namespace farfield;
using namespace farfield::testing;
using Eigen::Vector3d;

namespace {

/// A box of 12 n^2 triangles.
TriangleMesh cut_box(const Vector3d& half, int n) {
    std::map<std::array<int, 3>, int> index;
    std::vector<Vector3d> vertices;
    std::vector<Eigen::Vector3i> triangles;
    const auto vertex = [&](const Eigen::Vector3i& k) {
        const auto [found, fresh] = index.try_emplace({k[0], k[1], k[2]}, static_cast<int>(vertices.size()));
        if (fresh) vertices.emplace_back((2.0 * k.cast<double>() / n - Vector3d::Ones()).cwiseProduct(half));
        return found->second;
    };
    for (int axis = 0; axis < 3; ++axis) {
        for (const int side : {0, n}) {
            for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j) {
                    const auto corner = [&](int di, int dj) {
                        Eigen::Vector3i k;
                        k[axis] = side;
                        k[(axis + 1) % 3] = i + di;
                        k[(axis + 2) % 3] = j + dj;
                        return vertex(k);
                    };
                    const int a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), d = corner(0, 1);
                    triangles.emplace_back(a, side ? b : c, side ? c : b);
                    triangles.emplace_back(a, side ? c : d, side ? d : c);
                }
            }
        }
    }
    TriangleMesh mesh{.name = "box"};
    mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
    mesh.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
    for (std::size_t k = 0; k < vertices.size(); ++k)
        mesh.vertices.row(static_cast<Eigen::Index>(k)) = vertices[k].transpose();
    for (std::size_t k = 0; k < triangles.size(); ++k)
        mesh.triangles.row(static_cast<Eigen::Index>(k)) = triangles[k].transpose();
    return mesh;
}

int add_mesh(farfield::Scene& scene, TriangleMesh mesh) {
    scene.meshes.push_back(std::move(mesh));
    return static_cast<int>(scene.meshes.size()) - 1;
}

void add_fixed(farfield::Scene& scene, const char* name, TriangleMesh mesh, const Vector3d& place) {
    const int index = add_mesh(scene, std::move(mesh));
    scene.shapes.push_back(
        Shape{.name = name, .body = 0, .type = ShapeType::Mesh, .position = place, .mesh = index, .density = 0.0});
}

void add_free(farfield::Scene& scene, const char* name, TriangleMesh mesh, double mass, const Vector3d& place) {
    const int body = static_cast<int>(scene.bodies.size());
    Moments moments = ellipsoid_moments(Vector3d::Constant(0.5 * std::sqrt(surface_area(mesh) / 6.0)), 1.0);
    moments.second *= mass / moments.mass;
    moments.mass = mass;
    scene.bodies.push_back(Body{
        .name = name, .position = place, .joints = {Joint{.name = name, .type = JointType::Free}}, .moments = moments});
    const int index = add_mesh(scene, std::move(mesh));
    scene.shapes.push_back(Shape{.name = name, .body = body, .type = ShapeType::Mesh, .mesh = index});
}

Poses reference_poses(const Model& model) {
    Kinematics kinematics;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, kinematics);
    return kinematics.poses;
}

/// The gap at which contact carries the last body, whose lowest point is `bottom` below its origin, above the height `top`.
double resting_gap(const Model& model, const contact::ContactOptions& options, double bottom, double top, double size) {
    const auto potential = contact::make_contact(model, options);
    const auto memory = potential->make_memory();
    const Parameters parameters = model.default_parameters();
    Poses poses = reference_poses(model);
    const double weight = parameters.moments(model.num_bodies() - 1, 0) * 9.81;
    contact::ContactLinearization d;
    double low = std::log(1e-5 * size), high = std::log(size);
    while (high - low > 0.01) {
        const double middle = 0.5 * (low + high);
        poses.back().position.z() = top + bottom + std::exp(middle);
        frictionless(*potential, poses, parameters, *memory).linearize(poses, d);
        (-d.wrench.back().z() > weight ? low : high) = middle;
    }
    return std::exp(0.5 * (low + high));
}

}  // namespace

TEST_CASE("resting gaps: a cube of 12 to 3072 triangles on grounds of 12 to 12288") {
    constexpr double kSize = 0.1;
    double smallest = 1.0, largest = 0.0;
    const auto rest = [&](int cut, const std::string& ground, int ground_cut) {
        farfield::Scene scene;
        if (ground_cut == 0) {
            scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
        } else {
            const Vector3d half = ground == "block" ? Vector3d(0.1, 0.1, 0.1) : Vector3d(5.0, 5.0, 0.5);
            add_fixed(scene, "ground", cut_box(half, ground_cut), {0.0, 0.0, -half.z()});
        }
        add_free(scene, "cube", cut_box(Vector3d::Constant(0.5 * kSize), cut), 1.0, {0.0, 0.0, kSize});
        const double gap =
            resting_gap(*build_model(scene), contact::longrange::LongRangeOptions{}, 0.5 * kSize, 0.0, kSize) / kSize;
        MESSAGE("cube of ", 12 * cut * cut, " on ", ground, " of ", 12 * ground_cut * ground_cut, ": ", 100.0 * gap,
                " % of its size");
        smallest = std::min(smallest, gap);
        largest = std::max(largest, gap);
    };
    for (const int cut : {1, 2, 16}) {
        rest(cut, "half-space", 0);
        for (const int ground : {1, 4, 32}) rest(cut, "block", ground);
        for (const int ground : {1, 32}) rest(cut, "slab", ground);
    }
    CHECK(smallest > 0.002);
    CHECK(largest < 0.03);
    CHECK(largest / smallest < 2.5);
}

TEST_CASE("resting gaps: every model, at every size and weight, on what is fixed and what is free") {
    struct Case {
        std::string name;
        double size, mass, support, support_mass;  // [m, kg]; mass 0: fixed
    };
    const std::vector<contact::ContactOptions> models = {
        contact::longrange::LongRangeOptions{}, contact::polyhedral::PolyhedralOptions{}, contact::ipc::IpcOptions{}};
    for (const Case& one :
         {Case{"a cube of 1 kg on a block", 0.1, 1.0, 0.2, 0.0}, Case{"8 t on the same", 1.0, 8000.0, 2.0, 0.0},
          Case{"a bead on a box", 0.001, 2.5e-6, 1.0, 0.0}, Case{"a bead on a free box", 0.001, 2.5e-6, 1.0, 1000.0},
          Case{"a feather on a truck", 0.01, 2e-5, 3.0, 8000.0},
          Case{"a heavy cube on a light block", 0.1, 10.0, 0.3, 0.5}}) {
        farfield::Scene scene;
        const Vector3d half = Vector3d::Constant(0.5 * one.support);
        if (one.support_mass == 0.0) {
            add_fixed(scene, "support", make_box(half), {0.0, 0.0, -half.z()});
        } else {
            add_free(scene, "support", make_box(half), one.support_mass, {0.0, 0.0, -half.z()});
        }
        add_free(scene, "body", make_box(Vector3d::Constant(0.5 * one.size)), one.mass, {0.0, 0.0, one.size});
        const auto model = build_model(scene);
        for (const contact::ContactOptions& options : models) {
            const double gap = resting_gap(*model, options, 0.5 * one.size, 0.0, one.size) / one.size;
            MESSAGE(one.name, ", ", std::string(contact::name_of(options)), ": ", 100.0 * gap, " % of its size");
            CHECK(gap > 0.001);
            CHECK(gap < 0.03);
        }
    }
}

TEST_CASE("resting gaps: a ball in a finely meshed hand hardly feels the fingers around it") {
    farfield::Scene scene;
    add_fixed(scene, "palm", cut_box({0.06, 0.06, 0.01}, 12), {0.0, 0.0, -0.01});
    for (int k = 0; k < 5; ++k) {  // fingers 12 mm away from the ball, each a link of its own that moves
        const double angle = 1.2566 * k;
        const int body = static_cast<int>(scene.bodies.size());
        const std::string name = "finger " + std::to_string(k);
        scene.bodies.push_back(Body{.name = name,
                                    .position = {0.052 * std::cos(angle), 0.052 * std::sin(angle), 0.05},
                                    .joints = {Joint{.name = name, .type = JointType::Hinge}},
                                    .moments = ellipsoid_moments(Vector3d(0.01, 0.01, 0.04), 1000.0)});
        const int mesh = add_mesh(scene, cut_box({0.008, 0.008, 0.04}, 8));
        scene.shapes.push_back(Shape{.name = name, .body = body, .type = ShapeType::Mesh, .mesh = mesh});
    }
    add_free(scene, "ball", make_sphere(0.03, 3), 0.1, {0.0, 0.0, 0.05});
    const auto model = build_model(scene);
    const contact::ContactOptions options = contact::longrange::LongRangeOptions{};
    const double gap = resting_gap(*model, options, 0.03, 0.0, 0.06);
    Poses poses = reference_poses(*model);
    poses.back().position.z() = 0.03 + gap;
    const auto forces =
        contact::far_forces(*model, *contact::make_contact(*model, options), model->default_parameters(), poses);
    double sum = 0.0;
    for (std::size_t body = 1; body + 1 < forces.size(); ++body) sum += forces[body].norm();
    const double weight = 0.1 * 9.81;
    MESSAGE("gap ", 1e3 * gap, " mm; from afar ", forces.back().norm() / weight,
            " of the weight, all fingers' forces added ", sum / weight);
    CHECK(sum > 0.0);
    CHECK(forces.back().norm() < 0.02 * weight);
    // as printed the same ball is lifted
    const contact::ContactOptions paper = contact::longrange::LongRangeOptions{
        .weight_in_joules = 1e-7, .leaf_weights = contact::longrange::LeafWeights::Paper};
    const auto lifted =
        contact::far_forces(*model, *contact::make_contact(*model, paper), model->default_parameters(), poses);
    CHECK(lifted.back().norm() > 0.1 * weight);
}
