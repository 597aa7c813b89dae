// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/hull_mass.hpp"

#include <array>

#include "farfield/base/error.hpp"

namespace farfield {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// One triangle of the fan.
struct Fan {
    std::array<Eigen::Index, 3> rows;
    std::array<Vector3d, 3> x;
    Vector3d sum;
    double volume6;  // D

    Fan(const ModelHull& hull, Eigen::Index triangle, const VertexRows& vertices) {
        for (std::size_t k = 0; k < 3; ++k) {
            rows[k] = hull.first_vertex + hull.triangles(triangle, static_cast<Eigen::Index>(k));
            x[k] = vertices.row(rows[k]).transpose();
        }
        sum = x[0] + x[1] + x[2];
        volume6 = x[0].dot(x[1].cross(x[2]));
    }
};

template <class Work>
void for_each_fan(const Model& model, int body, const VertexRows& vertices, Work&& work) {
    for (const ModelHull& hull : model.hulls()) {
        if (hull.body != body) continue;
        for (Eigen::Index t = 0; t < hull.triangles.rows(); ++t) work(Fan(hull, t, vertices));
    }
}

/// Of unit density, mass = volume.
Moments solid(const Model& model, int body, const VertexRows& vertices) {
    Moments out;
    for_each_fan(model, body, vertices, [&](const Fan& fan) {
        Matrix3d square = fan.sum * fan.sum.transpose();
        for (const Vector3d& x : fan.x) square += x * x.transpose();
        out.mass += fan.volume6 / 6.0;
        out.first += fan.volume6 / 24.0 * fan.sum;
        out.second += fan.volume6 / 120.0 * square;
    });
    return out;
}

/// The derivative of bar . moments as a symmetric matrix on second moments and a vector on first ones.
struct MomentBar {
    double mass;
    Vector3d first;
    Matrix3d second;

    explicit MomentBar(const MomentVector& bar) : mass(bar[0]), first(bar.segment<3>(1)) {
        second << bar[4], 0.5 * bar[7], 0.5 * bar[8], 0.5 * bar[7], bar[5], 0.5 * bar[9], 0.5 * bar[8], 0.5 * bar[9],
            bar[6];
    }
    [[nodiscard]] double dot(const Moments& m) const {
        return mass * m.mass + first.dot(m.first) + second.cwiseProduct(m.second).sum();
    }
};

int num_vertices(const Model& model, int body) {
    int count = 0;
    for (const ModelHull& hull : model.hulls()) count += hull.body == body ? hull.num_vertices : 0;
    return count;
}

/// How one body's moments follow from its hulls.
struct Rule {
    bool applies = false;
    double mass = 0.0;    // of the default parameters
    double volume = 0.0;  // of the default shape
};

Rule rule_of(const Model& model, int body, HullMass mass) {
    Rule rule;
    rule.mass = model.default_parameters().moments(body, 0);
    if (body == 0 || !(rule.mass > 0.0) || num_vertices(model, body) == 0) return rule;
    if (mass != HullMass::Lumped) rule.volume = solid(model, body, model.default_parameters().hull_vertices).mass;
    rule.applies = mass == HullMass::Lumped || rule.volume > 0.0;
    return rule;
}

Moments checked_solid(const Model& model, int body, const VertexRows& vertices) {
    const Moments unit = solid(model, body, vertices);
    if (!(unit.mass > 0.0)) {
        fail("hull_moments: body '", model.bodies()[static_cast<std::size_t>(body)].name, "' has volume ", unit.mass,
             ", expected > 0 [m^3]");
    }
    return unit;
}

}  // namespace

MomentRows hull_moments(const Model& model, const Parameters& parameters, HullMass mass) {
    validate(model, parameters, "hull_moments: parameters");
    const VertexRows& vertices = parameters.hull_vertices;
    MomentRows out = parameters.moments;
    for (int body = 1; body < model.num_bodies(); ++body) {
        const Rule rule = rule_of(model, body, mass);
        if (!rule.applies) continue;
        Moments moments;
        if (mass == HullMass::Lumped) {
            const double share = rule.mass / num_vertices(model, body);
            for (const ModelHull& hull : model.hulls()) {
                if (hull.body != body) continue;
                for (int m = hull.first_vertex; m < hull.first_vertex + hull.num_vertices; ++m) {
                    const Vector3d x = vertices.row(m).transpose();
                    moments += Moments{share, share * x, share * x * x.transpose()};
                }
            }
        } else {
            const Moments unit = checked_solid(model, body, vertices);
            const double density = rule.mass / (mass == HullMass::Solid ? unit.mass : rule.volume);
            moments = {density * unit.mass, density * unit.first, density * unit.second};
        }
        out.row(body) = to_vector(moments).transpose();
    }
    return out;
}

VertexRows hull_moments_vjp(const Model& model, const Parameters& parameters, HullMass mass,
                            const MomentRows& moments_bar) {
    validate(model, parameters, "hull_moments_vjp: parameters");
    if (moments_bar.rows() != model.num_bodies())
        fail("hull_moments_vjp: moments_bar has ", moments_bar.rows(), " rows, expected ", model.num_bodies());
    const VertexRows& vertices = parameters.hull_vertices;
    VertexRows out = VertexRows::Zero(vertices.rows(), 3);
    for (int body = 1; body < model.num_bodies(); ++body) {
        const Rule rule = rule_of(model, body, mass);
        if (!rule.applies) continue;
        MomentBar bar(moments_bar.row(body).transpose());
        if (mass == HullMass::Lumped) {
            const double share = rule.mass / num_vertices(model, body);
            for (const ModelHull& hull : model.hulls()) {
                if (hull.body != body) continue;
                for (int m = hull.first_vertex; m < hull.first_vertex + hull.num_vertices; ++m)
                    out.row(m) += share * (bar.first + 2.0 * (bar.second * vertices.row(m).transpose())).transpose();
            }
            continue;
        }
        const Moments unit = checked_solid(model, body, vertices);
        const double density = rule.mass / (mass == HullMass::Solid ? unit.mass : rule.volume);
        if (mass == HullMass::Solid) bar.mass -= bar.dot(unit) / unit.mass;  // density falls as the volume grows
        for_each_fan(model, body, vertices, [&](const Fan& fan) {
            double inner = bar.mass / 6.0 + bar.first.dot(fan.sum) / 24.0 + fan.sum.dot(bar.second * fan.sum) / 120.0;
            for (const Vector3d& x : fan.x) inner += x.dot(bar.second * x) / 120.0;
            for (std::size_t k = 0; k < 3; ++k) {
                const Vector3d area = fan.x[(k + 1) % 3].cross(fan.x[(k + 2) % 3]);
                out.row(fan.rows[k]) +=
                    density *
                    (inner * area + fan.volume6 * (bar.second * (fan.sum + fan.x[k]) / 60.0 + bar.first / 24.0))
                        .transpose();
            }
        });
    }
    return out;
}

}  // namespace farfield
