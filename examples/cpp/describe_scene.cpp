// SPDX-License-Identifier: Apache-2.0
/// @file  A box hinged to the world, described in C++ and printed; then a mistake, and the message it gives.
#include <iostream>
#include <stdexcept>

#include "farfield/farfield.hpp"

namespace {

/// The caller's mistakes are exceptions that name place, value and expectation.
void require_positive_sizes(const farfield::Scene& scene) {
    for (const farfield::Shape& shape : scene.shapes)
        if (!(shape.size.minCoeff() > 0.0))
            farfield::fail("shape '", shape.name, "': smallest size ", shape.size.minCoeff(), ", expected > 0 [m]");
}

}  // namespace

int main() {
    farfield::Scene scene;
    scene.bodies.push_back({.name = "door", .joints = {{.name = "hinge", .axis = Eigen::Vector3d::UnitZ()}}});
    scene.shapes.push_back({.name = "panel", .body = 1, .size = {0.4, 0.02, 1.0}});
    require_positive_sizes(scene);
    for (const farfield::Body& body : scene.bodies)
        std::cout << body.name << ": " << body.joints.size() << " joint(s)\n";

    scene.shapes.front().size.y() = -0.02;
    try {
        require_positive_sizes(scene);
    } catch (const std::invalid_argument& error) {
        std::cout << "refused: " << error.what() << "\n";
        return 0;
    }
    return 1;
}
