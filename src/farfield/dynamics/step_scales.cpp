// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/step_scales.hpp"

#include <algorithm>
#include <cmath>

namespace farfield {

using Eigen::Vector3d;

void StepScales::set(const Model& model, const Parameters& parameters, const Kinematics& now, const Eigen::VectorXd& q,
                     const Eigen::VectorXd& ahead) {
    const auto count = static_cast<std::size_t>(model.num_bodies());
    // Moments of every subtree about the root of its tree: mass, first, trace of the second.
    sums_.setZero(5, static_cast<Eigen::Index>(count));
    body_size_.assign(count, 0.0);
    for (std::size_t i = count - 1; i > 0; --i) {
        const ModelBody& body = model.bodies()[i];
        const auto row = static_cast<Eigen::Index>(i);
        const Vector3d origin = now.poses[i].position - now.poses[static_cast<std::size_t>(body.root)].position;
        const auto m = parameters.moments.row(row);
        const Vector3d first = now.poses[i].rotation * m.segment<3>(1).transpose();
        auto sum = sums_.col(row);
        sum[0] += m[0];
        sum.segment<3>(1) += m[0] * origin + first;
        sum[4] += m[0] * origin.squaredNorm() + 2.0 * origin.dot(first) + m.segment<3>(4).sum();
        const double about_origin = sum[4] - 2.0 * origin.dot(sum.segment<3>(1)) + sum[0] * origin.squaredNorm();
        if (sum[0] > 0.0) body_size_[i] = std::sqrt(std::max(about_origin, 0.0) / sum[0]);
        if (body.parent > 0) sums_.col(body.parent) += sum;
    }
    size_.resize(model.num_dofs());
    place_.resize(model.num_dofs());
    for (Eigen::Index k = 0; k < size_.size(); ++k) {
        const Dof& dof = model.dofs()[static_cast<std::size_t>(k)];
        const ModelBody& body = model.bodies()[static_cast<std::size_t>(dof.body)];
        const double distance = now.poses[static_cast<std::size_t>(dof.body)].position.norm();
        const double tree = body_size_[static_cast<std::size_t>(body.root)];
        size_[k] = dof.rotates ? 1.0 : body_size_[static_cast<std::size_t>(dof.body)];
        place_[k] = size_[k] + std::abs(ahead[k]);
        if (!dof.rotates) {
            place_[k] += distance;
        } else if (tree > 0.0 && !has_free_joint(model, model.bodies()[static_cast<std::size_t>(body.root)])) {
            place_[k] += distance / tree;  // no coordinate says how far away the tree stands
        }
    }
    for (const ScalarCoordinate& c : model.scalars()) {
        if (model.dofs()[static_cast<std::size_t>(c.dof)].rotates) place_[c.dof] += std::abs(q[c.q]);
    }
}

double StepScales::contact_noise(const Model& model, const Poses& poses, const std::vector<Vector6d>& wrenches) const {
    double noise = 0.0;
    for (std::size_t i = 1; i < wrenches.size(); ++i) {
        if (model.bodies()[i].last_dof < 0) continue;
        noise +=
            wrenches[i].head<3>().norm() * (poses[i].position.norm() + body_size_[i]) + wrenches[i].tail<3>().norm();
    }
    return 4.0 * kEpsilon * noise;
}

}  // namespace farfield
