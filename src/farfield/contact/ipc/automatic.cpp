// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/automatic.hpp"

#include <algorithm>
#include <limits>

#include "farfield/model/kinematics.hpp"

namespace farfield::contact::ipc {

namespace {

constexpr double kShareOfScene = 1e-2;
constexpr double kTerms = 4.0;             // that carry a body
constexpr double kStandardGravity = 9.81;  // where there is none
constexpr double kRestingDistance = 0.5;   // in units of the range
constexpr double kGlobalWeight = 1e-7;     // [J]

}  // namespace

double automatic_range(const CollisionGeometry& geometry, const Poses& poses) {
    Eigen::AlignedBox3d box;
    for (std::size_t body = 0; body < geometry.bodies.size(); ++body) {
        const auto& vertices = geometry.bodies[body].mesh.vertices;
        for (Eigen::Index v = 0; v < vertices.rows(); ++v) box.extend(poses[body] * vertices.row(v).transpose());
    }
    return kShareOfScene * (box.isEmpty() ? 1.0 : box.diagonal().norm());
}

double automatic_range(const Model& model) {
    Kinematics kinematics;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, kinematics);
    return automatic_range(model.collision(), kinematics.poses);
}

std::vector<double> automatic_weights(const CollisionGeometry& geometry, const Parameters& parameters, Form form,
                                      double range) {
    if (form == Form::Global) return std::vector<double>(geometry.pairs.size(), kGlobalWeight);
    const double gravity = parameters.gravity.norm() > 0.0 ? parameters.gravity.norm() : kStandardGravity;
    const double distance = kRestingDistance * range;
    const double force = -2.0 * distance * Barrier(Form::Clamped, range).taylor(distance * distance).first;
    const auto mass = [&](int body) {
        return geometry.bodies[static_cast<std::size_t>(body)].moves ? parameters.moments(body, 0)
                                                                     : std::numeric_limits<double>::infinity();
    };
    std::vector<double> weights;
    for (const ContactPair& pair : geometry.pairs) {
        const double lighter = std::min(mass(pair.a), mass(pair.b));
        // Bodies without mass are carried by others, and two bodies that never move need no force.
        const double carried = lighter > 0.0 && lighter < std::numeric_limits<double>::infinity() ? lighter : 1.0;
        weights.push_back(carried * gravity / (kTerms * force));
    }
    return weights;
}

}  // namespace farfield::contact::ipc
