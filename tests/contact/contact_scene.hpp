// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Small worlds of free bodies for contact tests, and motion in the charts of contact_potential.hpp.
#include <Eigen/Dense>
#include <string>
#include <vector>

#include "farfield/base/random.hpp"
#include "farfield/contact/contact_potential.hpp"
#include "farfield/geometry/primitives.hpp"
#include "farfield/math/rotation.hpp"
#include "farfield/model/collision_geometry.hpp"

namespace farfield::testing {

/// Body 0 is the world, with or without the ground z <= 0; then one body per mesh. All pairs may meet.
inline CollisionGeometry make_geometry(const std::vector<TriangleMesh>& meshes, bool ground) {
    CollisionGeometry geometry;
    CollisionBody world;
    world.name = "world";
    world.moves = false;
    if (ground) world.half_spaces.push_back({});
    geometry.bodies.push_back(world);
    for (const TriangleMesh& mesh : meshes) {
        CollisionBody body;
        body.name = "body" + std::to_string(geometry.bodies.size());
        body.mesh = mesh;
        geometry.bodies.push_back(body);
    }
    const int count = static_cast<int>(geometry.bodies.size());
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            if (a > 0 || ground) geometry.pairs.push_back({a, b, b});
        }
    }
    return geometry;
}

inline Parameters make_parameters(const CollisionGeometry& geometry, double weight, double friction) {
    Parameters parameters;
    parameters.friction = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(geometry.bodies.size()), friction);
    parameters.weight = weight;
    return parameters;
}

/// A step in which nothing is lagged: the potential alone.
inline contact::ContactStep& frictionless(const contact::ContactPotential& model, const Poses& poses,
                                          const Parameters& parameters, contact::ContactMemory& memory) {
    return model.begin_step(poses, 0.01, parameters, memory, contact::StepMode::Frictionless);
}

inline contact::ContactLinearization evaluate(const contact::ContactPotential& model, const Poses& poses,
                                              const Parameters& parameters) {
    const auto memory = model.make_memory();
    contact::ContactLinearization out;
    frictionless(model, poses, parameters, *memory).linearize(poses, out);
    return out;
}

/// Each body by its part (v, w) of the stacked twist: p -> p + v, R -> exp(w) R.
inline Poses moved(const Poses& poses, const Eigen::VectorXd& twist) {
    Poses result = poses;
    for (std::size_t body = 0; body < poses.size(); ++body) {
        const auto first = 6 * static_cast<Eigen::Index>(body);
        result[body].position += twist.segment<3>(first);
        result[body].rotation = exp_rotation(twist.segment<3>(first + 3)) * poses[body].rotation;
    }
    return result;
}

inline Eigen::VectorXd stacked(const std::vector<Vector6d>& wrenches) {
    Eigen::VectorXd all(6 * static_cast<Eigen::Index>(wrenches.size()));
    for (std::size_t body = 0; body < wrenches.size(); ++body)
        all.segment<6>(6 * static_cast<Eigen::Index>(body)) = wrenches[body];
    return all;
}

/// The sum of all pair blocks as one matrix.
inline Eigen::MatrixXd assembled(const contact::ContactLinearization& derivatives) {
    const auto size = 6 * static_cast<Eigen::Index>(derivatives.wrench.size());
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(size, size);
    for (const contact::PairBlock& block : derivatives.blocks) {
        const Eigen::Index first[2] = {6 * block.a, 6 * block.b};
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j)
                hessian.block<6, 6>(first[i], first[j]) += block.hessian.block<6, 6>(6 * i, 6 * j);
        }
    }
    return hessian;
}

/// The derivative of dE/d(v, w), taken in the chart of the moved body, by the twist that moves it: exp(w') exp(w) = exp(w + J^-1 w'),
/// so the torque turns by half the rotation: d(tau) = H dw + dw x tau / 2.
inline Eigen::MatrixXd wrench_jacobian(const contact::ContactLinearization& derivatives) {
    Eigen::MatrixXd jacobian = assembled(derivatives);
    for (std::size_t body = 0; body < derivatives.wrench.size(); ++body) {
        const Eigen::Index first = 6 * static_cast<Eigen::Index>(body) + 3;
        jacobian.block<3, 3>(first, first) -= 0.5 * hat(derivatives.wrench[body].tail<3>());
    }
    return jacobian;
}

/// x -> Q x + t for every body.
inline Poses transformed(const Poses& poses, const Pose& motion) {
    Poses result;
    for (const Pose& pose : poses) result.push_back(motion * pose);
    return result;
}

}  // namespace farfield::testing
