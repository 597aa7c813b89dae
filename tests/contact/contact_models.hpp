// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Every contact model, for tests that ask the same of all of them. A new model is one more entry.
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "contact/contact_scene.hpp"
#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/contact/longrange/long_range.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/model/model.hpp"

namespace farfield::testing {

struct ModelOptions {
    double slip_speed = 0.05;  ///< [m/s]
};

struct ContactCase {
    std::string name;
    std::function<std::unique_ptr<contact::ContactPotential>(const CollisionGeometry&, const ModelOptions&)> make;
    /// With the defaults of its options.
    std::function<std::shared_ptr<contact::ContactPotential>(const Model&)> make_default;
    std::function<Parameters(const CollisionGeometry&, double weight, double friction)> parameters = make_parameters;
    bool far = true;              ///< acts at every distance
    bool balanced_torque = true;  ///< of friction, exactly; otherwise only up to the gap times the force
    bool smooth = true;       ///< twice differentiable; otherwise the Hessian jumps where the nearest feature changes
    bool takes_pairs = true;  ///< is built from pairs as given; otherwise from a Model, which makes its own
};

inline std::ostream& operator<<(std::ostream& out, const ContactCase& model) { return out << model.name; }

inline constexpr double kTestRange =
    0.4;  ///< of models that have one: more than the gaps of the scenes in these tests [m]

/// Free bodies of the given meshes, far apart, and the ground if body 0 has one: for models that are built from a Model.
inline std::shared_ptr<const Model> model_of(const CollisionGeometry& geometry) {
    farfield::Scene scene;
    for (std::size_t body = 1; body < geometry.bodies.size(); ++body) {
        const CollisionBody& given = geometry.bodies[body];
        scene.bodies.push_back(Body{.name = given.name,
                                    .position = {0.0, 0.0, 10.0 * static_cast<double>(body)},
                                    .joints = {Joint{.name = given.name, .type = JointType::Free}},
                                    .moments = ellipsoid_moments(Eigen::Vector3d::Constant(0.2), 30.0)});
        scene.meshes.push_back(given.mesh);
        scene.shapes.push_back(Shape{.name = given.name,
                                     .body = static_cast<int>(body),
                                     .type = ShapeType::Mesh,
                                     .mesh = static_cast<int>(scene.meshes.size()) - 1});
    }
    if (!geometry.bodies[0].half_spaces.empty())
        scene.shapes.push_back(Shape{.name = "ground", .body = 0, .type = ShapeType::HalfSpace});
    return build_model(scene);
}

inline const std::vector<ContactCase>& contact_cases() {
    static const std::vector<ContactCase> cases = {
        {"longrange",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::longrange::LongRange>(
                 geometry, contact::longrange::LongRangeOptions{.slip_speed = o.slip_speed, .energy_tolerance = 1e-12});
         },
         [](const Model& model) {
             return std::make_shared<contact::longrange::LongRange>(model, contact::longrange::LongRangeOptions{});
         },
         make_parameters, true, true, true},
        {"longrange-near",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             CollisionGeometry near = geometry;
             for (ContactPair& pair : near.pairs) pair.near = true;
             return std::make_unique<contact::longrange::LongRange>(
                 near, contact::longrange::LongRangeOptions{
                           .slip_speed = o.slip_speed, .near_range = 10.0 * kTestRange, .energy_tolerance = 1e-12});
         },
         [](const Model& model) {
             farfield::Scene scene = model.scene();
             for (const ContactPair& pair : model.collision().pairs)
                 scene.pair_contact.push_back({model.collision().bodies[static_cast<std::size_t>(pair.a)].name,
                                               model.collision().bodies[static_cast<std::size_t>(pair.b)].name,
                                               ContactPolicy::Near});
             return std::make_shared<contact::longrange::LongRange>(*build_model(scene),
                                                                    contact::longrange::LongRangeOptions{});
         },
         make_parameters, false, true, true},
        {"ipc",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::ipc::Ipc>(
                 geometry, contact::ipc::IpcOptions{.range = kTestRange, .slip_speed = o.slip_speed});
         },
         [](const Model& model) { return std::make_shared<contact::ipc::Ipc>(model, contact::ipc::IpcOptions{}); },
         make_parameters, false, false, false},
        {"ipc-global",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::ipc::Ipc>(
                 geometry, contact::ipc::IpcOptions{.form = contact::ipc::Form::Global, .slip_speed = o.slip_speed});
         },
         [](const Model& model) {
             return std::make_shared<contact::ipc::Ipc>(model,
                                                        contact::ipc::IpcOptions{.form = contact::ipc::Form::Global});
         },
         make_parameters, true, false, false},
        {"polyhedral",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::polyhedral::Polyhedral>(
                 *model_of(geometry),
                 contact::polyhedral::PolyhedralOptions{.range = kTestRange, .slip_speed = o.slip_speed});
         },
         [](const Model& model) {
             return std::make_shared<contact::polyhedral::Polyhedral>(model, contact::polyhedral::PolyhedralOptions{});
         },
         [](const CollisionGeometry& geometry, double weight, double friction) {
             Parameters parameters = model_of(geometry)->default_parameters();
             parameters.contact_stiffness *= weight;
             set_friction(geometry.pairs, friction, parameters);
             return parameters;
         },
         false, true, true, false},
    };
    return cases;
}

}  // namespace farfield::testing
