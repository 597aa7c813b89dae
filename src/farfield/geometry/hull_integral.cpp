// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/hull_integral.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using HullPointsRef = Eigen::Ref<const HullPoints>;

struct Corners {
    std::array<Vector3d, 3> x;
    Vector3d sum;
    double volume6;  // w D

    Corners(const HullPointsRef& points, const WeightedTriangle& triangle) {
        for (std::size_t k = 0; k < 3; ++k) x[k] = points.row(triangle.corners[k]).transpose();
        sum = x[0] + x[1] + x[2];
        volume6 = triangle.weight * x[0].dot(x[1].cross(x[2]));
    }
};

}  // namespace

MomentBar::MomentBar(const MomentVector& bar) : mass(bar[0]), first(bar.segment<3>(1)) {
    second << bar[4], 0.5 * bar[7], 0.5 * bar[8], 0.5 * bar[7], bar[5], 0.5 * bar[9], 0.5 * bar[8], 0.5 * bar[9],
        bar[6];
}

double MomentBar::dot(const Moments& moments) const {
    return mass * moments.mass + first.dot(moments.first) + second.cwiseProduct(moments.second).sum();
}

Moments hull_integral(const HullPointsRef& points, const std::vector<WeightedTriangle>& triangles) {
    Moments out;
    for (const WeightedTriangle& triangle : triangles) {
        const Corners t(points, triangle);
        Matrix3d square = t.sum * t.sum.transpose();
        for (const Vector3d& x : t.x) square += x * x.transpose();
        out.mass += t.volume6 / 6.0;
        out.first += t.volume6 / 24.0 * t.sum;
        out.second += t.volume6 / 120.0 * square;
    }
    return out;
}

void hull_integral_vjp(const HullPointsRef& points, const std::vector<WeightedTriangle>& triangles,
                       const MomentBar& bar, double factor, Eigen::Ref<HullPoints> out) {
    for (const WeightedTriangle& triangle : triangles) {
        const Corners t(points, triangle);
        double inner = bar.mass / 6.0 + bar.first.dot(t.sum) / 24.0 + t.sum.dot(bar.second * t.sum) / 120.0;
        for (const Vector3d& x : t.x) inner += x.dot(bar.second * x) / 120.0;
        for (std::size_t k = 0; k < 3; ++k) {
            const Vector3d area = triangle.weight * t.x[(k + 1) % 3].cross(t.x[(k + 2) % 3]);
            const Vector3d lever = bar.second * (t.sum + t.x[k]) / 60.0 + bar.first / 24.0;
            out.row(triangle.corners[k]) += factor * (inner * area + t.volume6 * lever).transpose();
        }
    }
}

}  // namespace farfield
