// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The T of [SCM2025, Sec. IV-C]: 25 x 20 x 5 cm in cells of 5 cm, on a table, with a spherical finger on two slides.
#include <Eigen/Dense>
#include <algorithm>
#include <string>
#include <vector>

#include "farfield/contact/softmin/options.hpp"
#include "farfield/geometry/point_cloud.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

inline constexpr double kCell = 0.05;
inline constexpr double kBar = 0.0375;  ///< height of the bar's middle above the centre of mass, in the plane

/// Centres of the cells, relative to the centre of mass.
inline std::vector<Eigen::Vector2d> t_cells() {
    std::vector<Eigen::Vector2d> cells;
    for (int k = -2; k <= 2; ++k) cells.emplace_back(kCell * k, kBar);
    for (int k = 1; k <= 3; ++k) cells.emplace_back(0.0, kBar - kCell * k);
    return cells;
}

/// m x m points in the middle of equal squares on every outer side of a cell: 34 m^2 in all.
inline PointCloud t_cloud(int m, double temperature, bool top = true) {
    std::vector<Eigen::Vector3d> points, normals;
    const std::vector<Eigen::Vector2d> cells = t_cells();
    const auto filled = [&](const Eigen::Vector2d& at) {
        return std::any_of(cells.begin(), cells.end(),
                           [&](const Eigen::Vector2d& c) { return (c - at).norm() < 1e-6; });
    };
    const auto add_side = [&](const Eigen::Vector3d& centre, const Eigen::Vector3d& n) {
        const Eigen::Vector3d u = n.unitOrthogonal().cwiseAbs().maxCoeff() > 0.999
                                      ? n.unitOrthogonal()
                                      : Eigen::Vector3d(n.y(), n.z(), n.x());
        const Eigen::Vector3d w = n.cross(u);
        for (int i = 0; i < m; ++i) {
            for (int j = 0; j < m; ++j) {
                points.push_back(centre + 0.5 * kCell * n + kCell * ((i + 0.5) / m - 0.5) * u +
                                 kCell * ((j + 0.5) / m - 0.5) * w);
                normals.push_back(n);
            }
        }
    };
    for (const Eigen::Vector2d& cell : cells) {
        const Eigen::Vector3d centre(cell.x(), cell.y(), 0.0);
        if (top) add_side(centre, Eigen::Vector3d::UnitZ());
        add_side(centre, -Eigen::Vector3d::UnitZ());
        for (const Eigen::Vector2d& n :
             {Eigen::Vector2d(1, 0), Eigen::Vector2d(-1, 0), Eigen::Vector2d(0, 1), Eigen::Vector2d(0, -1)}) {
            if (!filled(cell + kCell * n)) add_side(centre, {n.x(), n.y(), 0.0});
        }
    }
    PointCloud cloud;
    cloud.points.resize(static_cast<Eigen::Index>(points.size()), 3);
    cloud.normals.resize(static_cast<Eigen::Index>(points.size()), 3);
    for (std::size_t k = 0; k < points.size(); ++k) {
        cloud.points.row(static_cast<Eigen::Index>(k)) = points[k].transpose();
        cloud.normals.row(static_cast<Eigen::Index>(k)) = normals[k].transpose();
    }
    cloud.spacing = kCell / m;
    cloud.temperature = temperature * cloud.spacing * cloud.spacing;
    return cloud;
}

/// The two boxes, a table z <= 0 and the finger; gravity may be off.
inline Scene t_scene(double finger_radius = 0.02) {
    Scene scene;
    scene.name = "t-push";
    Body t{.name = "t", .position = {0.0, 0.0, 0.025}, .joints = {Joint{.name = "t", .type = JointType::Free}}};
    t.moments = transformed(box_moments({0.125, 0.025, 0.025}, 0.5 / 8 / (kCell * kCell * kCell)), {0.0, kBar, 0.0},
                            Eigen::Matrix3d::Identity());
    const Moments stem = transformed(box_moments({0.025, 0.075, 0.025}, 0.5 / 8 / (kCell * kCell * kCell)),
                                     {0.0, kBar - 2.0 * kCell, 0.0}, Eigen::Matrix3d::Identity());
    *t.moments += stem;
    scene.bodies.push_back(t);
    Body finger{.name = "finger", .position = {0.0, -0.22, 0.025}};
    finger.joints = {Joint{.name = "x", .type = JointType::Slide, .axis = {1.0, 0.0, 0.0}},
                     Joint{.name = "y", .type = JointType::Slide, .axis = {0.0, 1.0, 0.0}}};
    finger.moments =
        ellipsoid_moments(Eigen::Vector3d::Constant(finger_radius),
                          0.5 / (4.0 / 3.0 * 3.14159265358979 * finger_radius * finger_radius * finger_radius));
    scene.bodies.push_back(finger);
    scene.shapes = {
        Shape{.name = "bar",
              .body = 1,
              .type = ShapeType::Box,
              .size = {0.125, 0.025, 0.025},
              .position = {0.0, kBar, 0.0},
              .friction = 0.3},
        Shape{.name = "stem",
              .body = 1,
              .type = ShapeType::Box,
              .size = {0.025, 0.075, 0.025},
              .position = {0.0, kBar - 2.0 * kCell, 0.0},
              .friction = 0.3},
        Shape{
            .name = "finger", .body = 2, .type = ShapeType::Sphere, .size = {finger_radius, 0.0, 0.0}, .friction = 0.5},
        Shape{.name = "table", .body = 0, .type = ShapeType::HalfSpace, .friction = 0.3}};
    scene.exclude_contacts = {{"world", "finger"}};
    for (const char* axis : {"x", "y"})
        scene.actuators.push_back(Actuator{
            .name = axis, .type = ActuatorType::Pd, .joint = axis, .kp = 500.0, .kd = 30.0, .velocity_input = false});
    return scene;
}

/// The recommended numbers of a push: soft enough for steps of 8 ms.
inline contact::softmin::SoftminOptions t_options(int m, bool top = true, int finger_points = 100) {
    contact::softmin::SoftminOptions options;
    options.newtons_per_metre = 3e3;
    options.separation_temperature = options.force_temperature = 1e-3;
    options.clouds.push_back({"t", t_cloud(m, m == 1 ? 0.03 : 0.1, top)});
    if (finger_points > 0) options.clouds.push_back({"finger", sphere_cloud(0.02, finger_points)});
    return options;
}

}  // namespace farfield::testing
