// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Every contact model, for tests that ask the same of all of them. A new model is one more entry.
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "farfield/contact/ipc/ipc.hpp"
#include "farfield/contact/longrange/long_range.hpp"

namespace farfield::testing {

struct ModelOptions {
    double slip_speed = 0.05;  ///< [m/s]
    int threads = 1;
};

struct ContactCase {
    std::string name;
    std::function<std::unique_ptr<contact::ContactPotential>(const CollisionGeometry&, const ModelOptions&)> make;
    bool far = true;              ///< acts at every distance
    bool balanced_torque = true;  ///< of friction, exactly; otherwise only up to the gap times the force
    bool smooth = true;  ///< twice differentiable; otherwise the Hessian jumps where the nearest feature changes
};

inline std::ostream& operator<<(std::ostream& out, const ContactCase& model) { return out << model.name; }

inline constexpr double kTestRange =
    0.4;  ///< of models that have one: more than the gaps of the scenes in these tests [m]

inline const std::vector<ContactCase>& contact_cases() {
    static const std::vector<ContactCase> cases = {
        {"longrange",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::longrange::LongRange>(
                 geometry, contact::longrange::LongRangeOptions{
                               .slip_speed = o.slip_speed, .energy_tolerance = 1e-12, .threads = o.threads});
         },
         true, true, true},
        {"ipc",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::ipc::Ipc>(
                 geometry,
                 contact::ipc::IpcOptions{.range = kTestRange, .slip_speed = o.slip_speed, .threads = o.threads});
         },
         false, false, false},
        {"ipc-global",
         [](const CollisionGeometry& geometry, const ModelOptions& o) {
             return std::make_unique<contact::ipc::Ipc>(
                 geometry, contact::ipc::IpcOptions{
                               .form = contact::ipc::Form::Global, .slip_speed = o.slip_speed, .threads = o.threads});
         },
         true, false, false},
    };
    return cases;
}

}  // namespace farfield::testing
