// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/ipc/automatic.hpp"

#include <algorithm>
#include <limits>

#include "farfield/contact/ipc/barrier.hpp"

namespace farfield::contact::ipc {

namespace {

constexpr double kShareOfScene = 1e-2;
constexpr double kTerms = 4.0;             // that carry a body
constexpr double kStandardGravity = 9.81;  // where there is none
constexpr double kRestingPlace = 0.5;      // in units of the range

}  // namespace

double automatic_range(const CollisionGeometry& geometry, const Poses& poses) {
    Eigen::AlignedBox3d box;
    for (std::size_t body = 0; body < geometry.bodies.size(); ++body) {
        const auto& vertices = geometry.bodies[body].mesh.vertices;
        for (Eigen::Index v = 0; v < vertices.rows(); ++v) box.extend(poses[body] * vertices.row(v).transpose());
    }
    return kShareOfScene * (box.isEmpty() ? 1.0 : box.diagonal().norm());
}

std::vector<double> automatic_scale(const CollisionGeometry& geometry, const Parameters& parameters, double range) {
    const double gravity = parameters.gravity.norm() > 0.0 ? parameters.gravity.norm() : kStandardGravity;
    const double distance = kRestingPlace * range;
    const double force = -2.0 * distance * Barrier(Form::Clamped, range).taylor(distance * distance).first;
    const auto mass = [&](int body) {
        return geometry.bodies[static_cast<std::size_t>(body)].moves ? parameters.moments(body, 0)
                                                                     : std::numeric_limits<double>::infinity();
    };
    std::vector<double> scale;
    for (const ContactPair& pair : geometry.pairs) {
        const double lighter = std::min(mass(pair.a), mass(pair.b));
        // Bodies without mass are carried by others, and two bodies that never move need no force.
        const double carried = lighter > 0.0 && lighter < std::numeric_limits<double>::infinity() ? lighter : 1.0;
        scale.push_back(carried * gravity / (kTerms * force * Parameters{}.weight));
    }
    return scale;
}

}  // namespace farfield::contact::ipc
