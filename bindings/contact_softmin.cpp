// SPDX-License-Identifier: Apache-2.0
/// @file  Point clouds, soft distances and the soft-minimum contact law in Python.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "bindings.hpp"
#include "contact_model.hpp"
#include "farfield/base/error.hpp"
#include "farfield/contact/softmin/memory.hpp"
#include "farfield/contact/softmin/separation.hpp"
#include "farfield/contact/softmin/softmin.hpp"
#include "farfield/dynamics/stable_step.hpp"
#include "farfield/geometry/cloud_check.hpp"
#include "farfield/geometry/cloud_sampling.hpp"
#include "farfield/geometry/soft_distance.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using namespace contact::softmin;

namespace {

using ModelPtr = std::shared_ptr<Model>;

PointCloud cloud_of(const PointRows& points, const PointRows& normals, double spacing,
                    std::optional<double> temperature) {
    PointCloud cloud{points, normals, spacing, temperature.value_or(0.1 * spacing * spacing)};
    validate(cloud, "PointCloud");
    return cloud;
}

std::shared_ptr<const Softmin> law_of(ContactModel& contact, const ModelPtr& model) {
    return std::static_pointer_cast<const Softmin>(contact.setup(model).law);
}

struct Placed {
    Kinematics kinematics;
    contact::Twists twists;
};

Placed place(const Model& model, const Parameters& parameters, const Eigen::VectorXd& q,
             const std::optional<Eigen::VectorXd>& v, const char* where) {
    const State state{q, v.value_or(Eigen::VectorXd::Zero(model.num_dofs()))};
    validate(model, state, where);
    validate(model, parameters, where);
    Placed out;
    forward_kinematics(model, parameters, q, out.kinematics);
    body_twists(model, out.kinematics, state.v, out.twists);
    return out;
}

contact::ForceLinearization forces(ContactModel& contact, const ModelPtr& model, const Parameters& parameters,
                                   const Eigen::VectorXd& q, const std::optional<Eigen::VectorXd>& v) {
    const Placed at = place(*model, parameters, q, v, "forces");
    const auto law = law_of(contact, model);
    const auto memory = law->make_memory();
    contact::ForceLinearization out;
    law->begin_step(parameters, *memory).linearize(at.kinematics.poses, at.twists, out);
    return out;
}

Separation field_of(ContactModel& contact, const ModelPtr& model, const Parameters& parameters,
                    const Eigen::VectorXd& q, const std::string& a, const std::string& b) {
    const Placed at = place(*model, parameters, q, {}, "separation");
    const auto law = law_of(contact, model);
    for (std::size_t k = 0; k < law->pairs().size(); ++k) {
        const ContactPair& pair = law->pairs()[k].bodies;
        const std::string &first = law->name(pair.a), &second = law->name(pair.b);
        if ((first == a && second == b) || (first == b && second == a)) return separation(*law, k, at.kinematics.poses);
    }
    fail("separation: bodies '", a, "' and '", b, "' are no contact pair of the model");
}

PointRows rows_of(const std::vector<Vector6d>& wrenches, int from) {
    PointRows out(static_cast<Eigen::Index>(wrenches.size()), 3);
    for (std::size_t k = 0; k < wrenches.size(); ++k)
        out.row(static_cast<Eigen::Index>(k)) = wrenches[k].segment<3>(from).transpose();
    return out;
}

void bind_clouds(nb::module_& m) {
    nb::class_<PointCloud>(m, "PointCloud", "A surface as points with outward unit normals.")
        .def(
            "__init__",
            [](PointCloud* self, const PointRows& points, const PointRows& normals, double spacing,
               std::optional<double> temperature) {
                new (self) PointCloud(cloud_of(points, normals, spacing, temperature));
            },
            "points"_a, "normals"_a, nb::kw_only(), "spacing"_a, "temperature"_a.none() = nb::none(),
            "spacing: mean distance of neighbours [m]. temperature [m^2]: 0.1 squared spacings unless given.")
        .def_ro("points", &PointCloud::points, "Shape (n, 3) [m].")
        .def_ro("normals", &PointCloud::normals, "Shape (n, 3).")
        .def_ro("spacing", &PointCloud::spacing, "[m]")
        .def_ro("temperature", &PointCloud::temperature, "[m^2]")
        .def("__len__", &PointCloud::size)
        .def_prop_ro("inradius", &inradius, "Half the thickness of the body [m].")
        .def_static(
            "from_mesh",
            [](const PointRows& vertices, const Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>& triangles,
               double spacing, double temperature) {
                const TriangleMesh mesh{"mesh", vertices, triangles};
                return mesh_cloud({&mesh, 1}, spacing, temperature);
            },
            "vertices"_a, "triangles"_a, nb::kw_only(), "spacing"_a, "temperature"_a = 0.1,
            "Points about `spacing` apart [m], mirrored about sharp edges, of a closed mesh. temperature in squared "
            "spacings.")
        .def_static("sphere", &sphere_cloud, "radius"_a, "count"_a, nb::kw_only(), "temperature"_a = 0.5,
                    "`count` points on a sphere; temperature in squared spacings.")
        .def(
            "sign_errors",
            [](const PointCloud& cloud, const PointRows& vertices,
               const Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor>& triangles, int samples) {
                const TriangleMesh mesh{"mesh", vertices, triangles};
                validate(mesh);
                return sign_errors(cloud, {&mesh, 1}, samples);
            },
            "vertices"_a, "triangles"_a, nb::kw_only(), "samples"_a = 20000,
            "Share of points within three spacings of a mesh at which the soft distance has the wrong sign.");
    nb::class_<SoftDistance>(m, "SoftDistance",
                             "Soft signed distance of points from a cloud: smooth, with exact gradient and Hessian.")
        .def(nb::init<PointCloud, double>(), "cloud"_a, nb::kw_only(), "tolerance"_a = 1e-12,
             "tolerance: share of weights that truncation may leave out.")
        .def_prop_ro("cloud", &SoftDistance::cloud, "The cloud it is the distance of.")
        .def(
            "__call__",
            [](const SoftDistance& self, const PointRows& points) { return self.evaluate(points, 0).value; },
            "points"_a, "Shape (n, 3) -> (n,) [m], negative inside.")
        .def(
            "gradient",
            [](const SoftDistance& self, const PointRows& points) { return self.evaluate(points, 1).gradient; },
            "points"_a, "Shape (n, 3) -> (n, 3).")
        .def(
            "hessian",
            [](const SoftDistance& self, const PointRows& points) { return self.evaluate(points, 2).hessian; },
            "points"_a, "Shape (n, 3) -> (n, 9), rows of the symmetric 3 x 3 matrices [1/m].")
        .def(
            "vjp",
            [](const SoftDistance& self, const PointRows& points, const Eigen::VectorXd& bars) {
                if (bars.size() != points.rows())
                    fail("SoftDistance.vjp: ", bars.size(), " bars for ", points.rows(), " points, expected as many");
                return PointRows(bars.asDiagonal() * self.evaluate(points, 1).gradient);
            },
            "points"_a, "bars"_a,
            "Gradient of the sum of bars times distances by the points, shapes (n, 3) and (n,) -> (n, 3).")
        .def(
            "error", [](const SoftDistance& self, const PointRows& points) { return self.evaluate(points, 0).error; },
            "points"_a, "Certified bound of what truncation leaves out, shape (n, 3) -> (n,) [m].");
}

void bind_separation(nb::module_& m) {
    nb::class_<contact::ForceBlock>(m, "ForceBlock", "Wrenches of one pair of bodies and their derivatives.")
        .def_ro("a", &contact::ForceBlock::a, "Body index.")
        .def_ro("b", &contact::ForceBlock::b, "Body index, above a.")
        .def_ro("wrench", &contact::ForceBlock::wrench, "Shape (12,): force and torque on a, then on b, world axes.")
        .def_ro("by_pose", &contact::ForceBlock::by_pose, "Shape (12, 12): by linear and angular motion of a, then b.")
        .def_ro("by_twist", &contact::ForceBlock::by_twist, "Shape (12, 12): by both velocities.");
    nb::class_<contact::ForceLinearization>(m, "ForceLinearization", "What a force law does, and its derivatives.")
        .def_prop_ro(
            "force", [](const contact::ForceLinearization& d) { return rows_of(d.wrench, 0); },
            "Shape (num_bodies, 3) [N].")
        .def_prop_ro(
            "torque", [](const contact::ForceLinearization& d) { return rows_of(d.wrench, 3); },
            "About each body's origin, shape (num_bodies, 3) [N m].")
        .def_ro("blocks", &contact::ForceLinearization::blocks, "One ForceBlock per contact pair.");
    nb::class_<Separation>(m, "Separation",
                           "The separation field of a pair: every point of both bodies against the other.")
        .def_ro("soft", &Separation::soft, "Soft minimum [m].")
        .def_ro("least", &Separation::least, "Least separation, negative: penetration [m].")
        .def_ro("points", &Separation::points, "World, shape (n, 3) [m].")
        .def_ro("normals", &Separation::normals, "Of the surface asked, shape (n, 3).")
        .def_ro("phi", &Separation::phi, "Soft distances, shape (n,) [m].")
        .def_ro("weights", &Separation::weights, "Shape (n,), sum 1.")
        .def_ro("loads", &Separation::loads, "Weights times soft penetration, shape (n,) [m].")
        .def_ro("body", &Separation::body, "The body each point belongs to, shape (n,).")
        .def_ro("centre_of_pressure", &Separation::centre, "Shape (3,) [m].")
        .def_ro("patch_covariance", &Separation::covariance, "Shape (3, 3) [m^2].")
        .def("contacts", &support_points, "count"_a,
             "Support points of the patch, shape (count, 3) [m], without iteration.");
}

}  // namespace

void bind_contact_softmin(nb::module_& m) {
    bind_clouds(m);
    bind_separation(m);
    const SoftminOptions d;
    nb::class_<SoftminModel, ContactModel>(
        m, "Softmin",
        "Soft-minimum contact between point clouds: explicit steps of microseconds, smooth to second order, gradients\n"
        "before contact; bodies may penetrate, and nothing is certified.")
        .def(
            "__init__",
            [](SoftminModel* self, double stiffness, std::optional<double> newtons_per_metre,
               std::optional<double> separation_temperature, std::optional<double> force_temperature,
               double damping_speed, double slip_speed, double normal_smoothing, const std::string& forms,
               const std::string& damping, std::optional<double> spacing, double cloud_temperature, double tolerance,
               bool exact_boxes, const std::map<std::string, PointCloud>& clouds,
               const std::map<std::string, PointRows>& support) {
                SoftminOptions options{.stiffness = stiffness,
                                       .newtons_per_metre = newtons_per_metre,
                                       .separation_temperature = separation_temperature,
                                       .force_temperature = force_temperature,
                                       .damping_speed = damping_speed,
                                       .slip_speed = slip_speed,
                                       .normal_smoothing = normal_smoothing,
                                       .spacing = spacing,
                                       .cloud_temperature = cloud_temperature,
                                       .tolerance = tolerance,
                                       .exact_boxes = exact_boxes};
                if (!from_name(forms, options.forces))
                    fail("Softmin: forces '", forms, "', expected 'mean_plane', 'planes' or 'paper'");
                if (!from_name(damping, options.damping))
                    fail("Softmin: damping '", damping, "', expected 'smooth' or 'paper'");
                for (const auto& [body, cloud] : clouds) {
                    const auto feet = support.find(body);
                    options.clouds.push_back({body, cloud, feet == support.end() ? PointRows() : feet->second});
                }
                for (const auto& [body, points] : support) {
                    if (!clouds.contains(body))
                        fail("Softmin: support of body '", body, "', expected a cloud of it as well");
                }
                validate(options);
                new (self) SoftminModel(options);
            },
            nb::kw_only(), "stiffness"_a = d.stiffness, "newtons_per_metre"_a.none() = nb::none(),
            "separation_temperature"_a.none() = nb::none(), "force_temperature"_a.none() = nb::none(),
            "damping_speed"_a = d.damping_speed, "slip_speed"_a = d.slip_speed,
            "normal_smoothing"_a = d.normal_smoothing, "forces"_a = name_of(d.forces), "damping"_a = name_of(d.damping),
            "spacing"_a.none() = nb::none(), "cloud_temperature"_a = d.cloud_temperature, "tolerance"_a = d.tolerance,
            "exact_boxes"_a = d.exact_boxes, "clouds"_a = std::map<std::string, PointCloud>(),
            "support"_a = std::map<std::string, PointRows>(),
            "stiffness: factor of that of each pair, or newtons_per_metre for all [N/m]. separation_temperature and\n"
            "force_temperature: softness of the minimum over points and of the ramp of the force [m]. damping_speed: "
            "approach at\n"
            "which the force doubles, slip_speed: below it friction fades [m/s]. normal_smoothing: shortens normals "
            "where planes\n"
            "disagree. forces: 'mean_plane', 'planes' or 'paper'; damping: 'smooth' or 'paper'. spacing [m] and "
            "cloud_temperature\n"
            "[squared spacings] of clouds made from shapes. clouds: PointCloud by body instead; support: points that "
            "meet\n"
            "half-spaces, by body. tolerance: of truncation, relative. exact_boxes: bodies that are one box have its "
            "exact surface.")
        .def("forces", &forces, "model"_a, "parameters"_a, "q"_a, "v"_a.none() = nb::none(),
             "Wrenches on all bodies and their Jacobians, a ForceLinearization.")
        .def(
            "number_names",
            [](ContactModel& contact, const ModelPtr& model) { return law_of(contact, model)->number_names(); },
            "model"_a, "What RolloutGradient.contact is by: temperatures and points of clouds.")
        .def(
            "second_derivative",
            [](ContactModel& contact, const ModelPtr& model, const Parameters& parameters, const Eigen::VectorXd& q,
               const Eigen::VectorXd& v, int pair, const Vector12d& moved, const Vector12d& sped) {
                const Placed at = place(*model, parameters, q, v, "second_derivative");
                const auto law = law_of(contact, model);
                if (pair < 0 || pair >= static_cast<int>(law->pairs().size()))
                    fail("second_derivative: pair ", pair, ", expected 0 to ", law->pairs().size() - 1);
                SoftminMemory memory(*law, nullptr);
                law->begin_step(parameters, memory);
                return memory.second_derivative(static_cast<std::size_t>(pair), at.kinematics.poses, at.twists, moved,
                                                sped);
            },
            "model"_a, "parameters"_a, "q"_a, "v"_a, nb::kw_only(), "pair"_a, "moved"_a, "sped"_a,
            "How by_pose and by_twist of a pair change while its bodies move by `moved` and their twists by `sped`, "
            "both of\n"
            "shape (12,): second derivatives of the wrench times a vector, in a ForceBlock.")
        .def("separation", &field_of, "model"_a, "parameters"_a, "q"_a, "a"_a, "b"_a,
             "The Separation field of two bodies, by name.")
        .def(
            "cloud",
            [](ContactModel& contact, const ModelPtr& model, const std::string& body) -> std::optional<PointCloud> {
                const auto index = model->find_body(body);
                if (!index) fail("cloud: body '", body, "' is not in the model");
                return law_of(contact, model)->shapes()[static_cast<std::size_t>(*index)].cloud;
            },
            "model"_a, "body"_a, "The cloud of a body; None where its shape is exact.")
        .def(
            "stable_step",
            [](ContactModel& contact, const ModelPtr& model, const Parameters& parameters,
               const std::string& integrator) {
                if (integrator != "euler" && integrator != "rk4")
                    fail("stable_step: integrator '", integrator, "', expected 'euler' or 'rk4'");
                const Integrator by = integrator == "rk4" ? Integrator::Rk4 : Integrator::Euler;
                return std::min(stable_contact_step(*model, parameters, *law_of(contact, model), by),
                                stable_joint_step(*model, parameters, {}, by));
            },
            "model"_a, "parameters"_a, "integrator"_a = "euler", "The longest step that rollouts accept [s].");
}

}  // namespace farfield::python
