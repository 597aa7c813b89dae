// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/separation.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "farfield/base/error.hpp"
#include "farfield/math/dense.hpp"

namespace farfield::contact::softmin {

using Eigen::Vector3d;

Separation separation(const Softmin& law, std::size_t index, const Poses& poses) {
    if (index >= law.pairs().size()) fail("separation: pair ", index, ", expected below ", law.pairs().size());
    const SoftPair& pair = law.pairs()[index];
    int count = 0;
    for (const Side& side : pair.sides) count += side.queries->tree.count;
    Separation out;
    out.least = std::numeric_limits<double>::infinity();
    out.points.resize(count, 3);
    out.normals.resize(count, 3);
    out.phi.resize(count);
    out.body.resize(count);
    int first = 0;
    for (const Side& side : pair.sides) {
        const int asks = side.first_asks ? pair.bodies.a : pair.bodies.b,
                  has = side.first_asks ? pair.bodies.b : pair.bodies.a;
        const Pose &query = poses[static_cast<std::size_t>(asks)], &surface = poses[static_cast<std::size_t>(has)];
        const Pose relative = surface.inverse() * query;
        SideWork work;
        double least = std::numeric_limits<double>::infinity();
        find_field(*side.queries, *side.surface, {relative.rotation, relative.position},
                   std::numeric_limits<double>::infinity(), false, least, work);
        out.least = std::min(out.least, least);
        for (int g = 0; g < work.count; ++g) {
            const QueryGroup& group = work.groups[static_cast<std::size_t>(g)];
            for (int lane = 0; lane < group.count; ++lane) {
                const int row =
                    first + side.queries->tree.order[static_cast<std::size_t>(kLeafPoints * group.leaf + lane)];
                const Vector3d p(group.p[0][lane], group.p[1][lane], group.p[2][lane]),
                    n(group.n[0][lane], group.n[1][lane], group.n[2][lane]);
                out.points.row(row) = (surface * Vector3d(p - side.queries->radius * n)).transpose();
                out.normals.row(row) = (surface.rotation * n).transpose();
                out.phi[row] = group.phi[lane];
                out.body[row] = asks;
            }
        }
        first += side.queries->tree.count;
    }
    out.weights = (-(out.phi.array() - out.least) / pair.sharing).exp();
    out.weights /= out.weights.sum();
    out.soft = out.weights.dot(out.phi);
    out.loads.resize(count);
    for (int k = 0; k < count; ++k) {
        const double x = -out.phi[k] / pair.ramp;
        out.loads[k] = out.weights[k] * pair.ramp * (std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
    }
    const double total = out.loads.sum();
    const Eigen::VectorXd share = total > 0.0 ? Eigen::VectorXd(out.loads / total) : out.weights;
    out.centre = out.points.transpose() * share;
    const PointRows from = out.points.rowwise() - out.centre.transpose();
    out.covariance = from.transpose() * share.asDiagonal() * from;
    out.spacing = std::numeric_limits<double>::infinity();
    for (const int body : {pair.bodies.a, pair.bodies.b}) {
        const auto& cloud = law.shapes()[static_cast<std::size_t>(body)].cloud;
        if (cloud) out.spacing = std::min(out.spacing, cloud->spacing);
    }
    if (!std::isfinite(out.spacing)) out.spacing = 4.0 * pair.sharing;
    return out;
}

PointRows support_points(const Separation& field, int count) {
    if (count < 1) fail("contacts: ", count, " points, expected at least 1");
    const auto axes = symmetric_eigen<3>(field.covariance);
    const Vector3d u = axes.vectors.col(2), w = axes.vectors.col(1);
    PointRows out(count, 3);
    for (int k = 0; k < count; ++k) {
        const double angle = std::numbers::pi * (2.0 * k + 1.0) / count;
        const Vector3d along = std::cos(angle) * u + std::sin(angle) * w;
        const Eigen::VectorXd reach =
            (field.points.rowwise() - field.centre.transpose()) * along / (0.25 * field.spacing);
        const Eigen::VectorXd score = reach.array() + field.loads.array().max(std::numeric_limits<double>::min()).log();
        const Eigen::VectorXd weights = (score.array() - score.maxCoeff()).exp();
        out.row(k) = (field.points.transpose() * weights / weights.sum()).transpose();
    }
    return out;
}

}  // namespace farfield::contact::softmin
