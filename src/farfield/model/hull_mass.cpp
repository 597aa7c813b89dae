// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/hull_mass.hpp"

#include "farfield/base/error.hpp"
#include "farfield/geometry/hull_integral.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr double kSmallestVolume = 1e-6;  // of the described one
constexpr double kInside = 1e-9;          // of a hull's size, from every face

/// Of unit mass, in equal parts in the points.
Moments lumped(const Eigen::Ref<const HullPoints>& points) {
    Moments out{.mass = 1.0};
    out.first = points.colwise().mean().transpose();
    out.second = points.transpose() * points / static_cast<double>(points.rows());
    return out;
}

void lumped_vjp(const Eigen::Ref<const HullPoints>& points, const MomentBar& bar, double factor,
                Eigen::Ref<HullPoints> out) {
    const double share = factor / static_cast<double>(points.rows());
    out += share * ((2.0 * points * bar.second).rowwise() + bar.first.transpose());
}

Moments scaled(const Moments& m, double factor) { return {factor * m.mass, factor * m.first, factor * m.second}; }

/// One hull of a body: its points, its surface and its moments at unit density.
struct Part {
    const ModelHull* hull;
    HullPoints points;
    std::vector<WeightedTriangle> fans;
    Moments solid;       ///< with at least the smallest volume
    double missing = 0;  ///< what was lumped in to reach it [m^3]

    Part(const ModelHull& source, const VertexRows& vertices)
        : hull(&source), points(vertices.middleRows(source.first_vertex, source.num_vertices)) {
        if (!(source.volume > 0.0)) return;  // described flat: it has no mass
        fans = facet_fans(points, hull_triangles(points));
        solid = hull_integral(points, fans);
        missing = std::max(0.0, kSmallestVolume * source.volume - solid.mass);
        if (missing > 0.0) solid += scaled(lumped(points), missing);
    }

    void vjp(MomentBar bar, double factor, VertexRows& out) const {
        auto rows = out.middleRows(hull->first_vertex, hull->num_vertices);
        if (missing > 0.0) {
            lumped_vjp(points, bar, factor * missing, rows);
            bar.mass -= bar.dot(lumped(points));  // what the solid gains the lumps lose
        }
        hull_integral_vjp(points, fans, bar, factor, rows);
    }
};

/// All hulls of one body.
struct Solid {
    std::vector<Part> parts;
    Moments unit;         ///< of unit density
    double volume = 0.0;  ///< of the described shape
    double mass = 0.0;    ///< of the default parameters
    HullPoints points;    ///< of all hulls, for lumped mass

    Solid(const Model& model, int body, const VertexRows& vertices)
        : mass(model.default_parameters().moments(body, 0)) {
        Eigen::Index count = 0;
        for (const ModelHull& hull : model.hulls()) {
            if (hull.body != body) continue;
            parts.emplace_back(hull, vertices);
            unit += parts.back().solid;
            volume += hull.volume;
            count += hull.num_vertices;
        }
        points.resize(count, 3);
        count = 0;
        for (const Part& part : parts) {
            points.middleRows(count, part.points.rows()) = part.points;
            count += part.points.rows();
        }
    }
    [[nodiscard]] bool follows(HullMass kind, MassTotal total) const {
        const bool by_volume = kind == HullMass::Exact || total == MassTotal::Density;
        return mass > 0.0 && !parts.empty() && (volume > 0.0 || !by_volume);
    }
    [[nodiscard]] double total_mass(MassTotal total) const {
        return total == MassTotal::Density ? mass * unit.mass / volume : mass;
    }
};

bool turned_inside_out(const ModelHull& hull, const HullPoints& points) {
    double volume6 = 0.0;
    for (Eigen::Index t = 0; t < hull.triangles.rows(); ++t) {
        const Vector3d a = points.row(hull.triangles(t, 0)), b = points.row(hull.triangles(t, 1)),
                       c = points.row(hull.triangles(t, 2));
        volume6 += a.dot(b.cross(c));
    }
    return hull.volume > 0.0 && volume6 < 0.0;
}

std::vector<int> inner_vertices(const HullPoints& points, const HullTriangles& triangles) {
    std::vector<char> corner(static_cast<std::size_t>(points.rows()), 0);
    for (const int row : triangles.reshaped<Eigen::RowMajor>()) corner[static_cast<std::size_t>(row)] = 1;
    const double size = (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
    std::vector<int> out;
    for (int row = 0; row < static_cast<int>(points.rows()); ++row) {
        bool inside = !corner[static_cast<std::size_t>(row)];
        for (Eigen::Index t = 0; inside && t < triangles.rows(); ++t) {
            const Vector3d a = points.row(triangles(t, 0)), b = points.row(triangles(t, 1)),
                           c = points.row(triangles(t, 2)), x = points.row(row);
            const Vector3d normal = (b - a).cross(c - a);
            inside = normal.dot(x - a) < -kInside * size * normal.norm();
        }
        if (inside) out.push_back(row);
    }
    return out;
}

}  // namespace

std::vector<CurrentHull> current_hulls(const Model& model, const VertexRows& vertices) {
    if (vertices.rows() != model.default_parameters().hull_vertices.rows())
        fail("current_hulls: ", vertices.rows(), " vertices, expected ",
             model.default_parameters().hull_vertices.rows());
    std::vector<CurrentHull> out;
    for (const ModelHull& hull : model.hulls()) {
        const HullPoints points = vertices.middleRows(hull.first_vertex, hull.num_vertices);
        CurrentHull& now = out.emplace_back();
        now.triangles = hull.volume > 0.0 ? hull_triangles(points) : hull.triangles;
        if (!(hull.volume > 0.0)) continue;
        now.volume = hull_integral(points, facet_fans(points, now.triangles)).mass;
        now.clamped = now.volume < kSmallestVolume * hull.volume;
        now.inverted = turned_inside_out(hull, points);
        now.interior = inner_vertices(points, now.triangles);
    }
    return out;
}

MomentRows hull_moments(const Model& model, const Parameters& parameters, HullMass kind, MassTotal total) {
    validate(model, parameters, "hull_moments: parameters");
    MomentRows out = parameters.moments;
    if (kind == HullMass::Fixed) return out;
    for (int body = 1; body < model.num_bodies(); ++body) {
        const Solid solid(model, body, parameters.hull_vertices);
        if (!solid.follows(kind, total)) continue;
        const double mass = solid.total_mass(total);
        const Moments moments =
            kind == HullMass::Lumped ? scaled(lumped(solid.points), mass) : scaled(solid.unit, mass / solid.unit.mass);
        out.row(body) = to_vector(moments).transpose();
    }
    return out;
}

VertexRows hull_moments_vjp(const Model& model, const Parameters& parameters, HullMass kind, MassTotal total,
                            const MomentRows& moments_bar) {
    validate(model, parameters, "hull_moments_vjp: parameters");
    if (moments_bar.rows() != model.num_bodies())
        fail("hull_moments_vjp: moments_bar has ", moments_bar.rows(), " rows, expected ", model.num_bodies());
    VertexRows out = VertexRows::Zero(parameters.hull_vertices.rows(), 3);
    if (kind == HullMass::Fixed) return out;
    for (int body = 1; body < model.num_bodies(); ++body) {
        const Solid solid(model, body, parameters.hull_vertices);
        if (!solid.follows(kind, total)) continue;
        MomentBar bar(moments_bar.row(body).transpose());
        const double mass = solid.total_mass(total);
        if (kind == HullMass::Lumped) {
            const Moments unit = lumped(solid.points);
            HullPoints rows = HullPoints::Zero(solid.points.rows(), 3);
            lumped_vjp(solid.points, bar, mass, rows);
            Eigen::Index first = 0;
            for (const Part& part : solid.parts) {
                out.middleRows(part.hull->first_vertex, part.hull->num_vertices) +=
                    rows.middleRows(first, part.points.rows());
                first += part.points.rows();
            }
            MomentBar by_volume;
            by_volume.mass = bar.dot(unit) * solid.mass / std::max(solid.volume, 1e-300);
            if (total == MassTotal::Density)
                for (const Part& part : solid.parts) part.vjp(by_volume, 1.0, out);
            continue;
        }
        // Constant mass: the density falls as the volume grows.
        if (total == MassTotal::Constant) bar.mass -= bar.dot(solid.unit) / solid.unit.mass;
        for (const Part& part : solid.parts) part.vjp(bar, mass / solid.unit.mass, out);
    }
    return out;
}

}  // namespace farfield
