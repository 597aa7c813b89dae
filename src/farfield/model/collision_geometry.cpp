// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/collision_geometry.hpp"

#include <algorithm>

namespace farfield {

std::shared_ptr<const CollisionGeometry> round_geometry(const CollisionGeometry& geometry) {
    const auto is_round = [](const CollisionBody& body) { return body.round_mesh.triangles.rows() > 0; };
    if (std::none_of(geometry.bodies.begin(), geometry.bodies.end(), is_round)) return nullptr;
    auto round = std::make_shared<CollisionGeometry>(geometry);
    for (CollisionBody& body : round->bodies) {
        if (is_round(body)) body.mesh = std::move(body.round_mesh);
        body.round_mesh = {};
    }
    return round;
}

}  // namespace farfield
