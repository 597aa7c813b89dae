// SPDX-License-Identifier: Apache-2.0
/// @file  What the polyhedral model takes from a Model: hulls, pairs, weights, range.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/geometry/gjk.hpp"
#include "farfield/geometry/hull_triangles.hpp"
#include "farfield/geometry/principal_axes.hpp"
#include "farfield/model/contact_pairs.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/scene/shape_surface.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Vertices = decltype(Parameters::hull_vertices);

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kActiveVertices = 4.0;
constexpr double kForceAtHalfRange = 30.0;  // F s^2 l/kappa of one vertex halfway through the range, about

/// The hulls where the model describes them.
class Reference {
 public:
    explicit Reference(const Model& model) : model_(model), hulls_of_(at(model.num_bodies())) {
        forward_kinematics(model, model.default_parameters(), model.default_state().q, kinematics_);
        for (const ModelHull& hull : model.hulls()) {
            const Pose& pose = kinematics_.poses[at(hull.body)];
            const Eigen::Matrix3Xd local =
                model.default_parameters().hull_vertices.middleRows(hull.first_vertex, hull.num_vertices).transpose();
            points_.emplace_back((pose.rotation * local).colwise() + pose.position);
            const Eigen::Vector3d low = points_.back().rowwise().minCoeff(), high = points_.back().rowwise().maxCoeff();
            boxes_.push_back({0.5 * (low + high), 0.5 * (high - low)});
            hulls_of_[at(hull.body)].push_back(boxes_.size() - 1);
        }
    }

    /// Smallest distance of the hulls of two bodies, half-spaces included, when below `limit`; 0 when they overlap.
    [[nodiscard]] double gap(const ContactPair& pair, double limit) const {
        limit = std::min(above(pair.a, pair.b, limit), above(pair.b, pair.a, limit));
        for (const std::size_t a : hulls_of_[at(pair.a)]) {
            for (const std::size_t b : hulls_of_[at(pair.b)]) {
                if (box_distance(boxes_[a], boxes_[b]) >= limit) continue;
                const GjkResult found = gjk_distance(points_[a], points_[b], {.tolerance = 1e-3, .stop_above = limit});
                limit = std::min(limit, std::max(0.0, found.lower));
            }
        }
        return limit;
    }

 private:
    [[nodiscard]] double above(int body, int ground, double limit) const {
        const Pose& pose = kinematics_.poses[at(ground)];
        for (const HalfSpace& half : model_.collision().bodies[at(ground)].half_spaces) {
            const Eigen::RowVector3d n = (pose.rotation * half.normal).transpose();
            for (const std::size_t hull : hulls_of_[at(body)]) {
                const double height = (n * (points_[hull].colwise() - pose.position)).minCoeff() - half.offset;
                limit = std::min(limit, std::max(0.0, height));
            }
        }
        return limit;
    }

    const Model& model_;
    Kinematics kinematics_;
    std::vector<Eigen::Matrix3Xd> points_;
    std::vector<Box> boxes_;
    std::vector<std::vector<std::size_t>> hulls_of_;
};

/// The triangles with the vertices that they use; a design's hulls have others inside.
TriangleMesh used_part(const Vertices& vertices, const HullTriangles& triangles) {
    std::vector<int> place(at(static_cast<int>(vertices.rows())), -1), used;
    TriangleMesh part{.triangles = triangles};
    for (const int row : triangles.reshaped<Eigen::RowMajor>()) place[at(row)] = 0;
    for (int row = 0; row < static_cast<int>(vertices.rows()); ++row) {
        if (place[at(row)] < 0) continue;
        place[at(row)] = static_cast<int>(used.size());
        used.push_back(row);
    }
    part.vertices = vertices(used, Eigen::all);
    for (int& row : part.triangles.reshaped<Eigen::RowMajor>()) row = place[at(row)];
    return part;
}

}  // namespace

void validate(const PolyhedralOptions& options) {
    if (!(options.stiffness > 0.0) || !std::isfinite(options.stiffness))
        fail("PolyhedralOptions: stiffness ", options.stiffness, ", expected > 0");
    if (options.weight_in_joules && (!(*options.weight_in_joules > 0.0) || !std::isfinite(*options.weight_in_joules)))
        fail("PolyhedralOptions: weight_in_joules ", *options.weight_in_joules, ", expected > 0 [J]");
    if (options.range && (!(*options.range > 0.0) || !std::isfinite(*options.range)))
        fail("PolyhedralOptions: range ", *options.range, ", expected > 0 [m]");
    if (!(options.margin > 0.0 && options.margin <= 0.5))
        fail("PolyhedralOptions: margin ", options.margin, ", expected in (0, 0.5]");
    if (options.slip_speed && (!(*options.slip_speed > 0.0) || !std::isfinite(*options.slip_speed)))
        fail("PolyhedralOptions: slip_speed ", *options.slip_speed, ", expected > 0 [m/s]");
}

double automatic_range(const PairUnits& units, double reference_gap) {
    return std::clamp(2.0 * reference_gap, 0.002 * units.length, 0.02 * units.length);
}

double automatic_weight(const PairUnits& units, double length, double margin) {
    return units.force() * length * margin * margin / (kForceAtHalfRange * kActiveVertices);
}

Polyhedral::PairChoice Polyhedral::choose_pairs(const Model& model) {
    const Reference reference(model);
    const auto name = [&](int body) { return model.collision().bodies[at(body)].name; };
    PairChoice out;
    for (const ContactPair& pair : model.collision().pairs) {
        if (placed_together(model, pair.a, pair.b) && reference.gap(pair, kInfinity) <= 0.0) {
            out.excluded.push_back(name(pair.a) + ", " + name(pair.b) + ": convex hulls overlap in the reference pose");
        } else {
            out.pairs.push_back(pair);
        }
    }
    return out;
}

Polyhedral::Polyhedral(const Model& model, const PolyhedralOptions& options)
    : Polyhedral(model, options, choose_pairs(model)) {}

Polyhedral::Polyhedral(const Model& model, const PolyhedralOptions& options, PairChoice choice)
    : PairwisePotential({.name = "Polyhedral",
                         .geometry = model.collision(),
                         .pairs = std::move(choice.pairs),
                         .model = &model,
                         .reads_vertices = true}),
      options_(options),
      default_vertices_(model.default_parameters().hull_vertices),
      excluded_(std::move(choice.excluded)) {
    validate(options);
    const Reference reference(model);
    std::vector<double> weights, lengths;
    for (int index = 0; index < num_pairs(); ++index) {
        const PairUnits& scale = units(index);
        const double gap = options.range ? 0.0 : reference.gap(pair(index), scale.length);
        ranges_.push_back(options.range.value_or(automatic_range(scale, gap > 0.0 ? gap : scale.length)));
        lengths.push_back(ranges_.back() * (1.0 - options.margin) / (2.0 * options.margin));
        weights.push_back(automatic_weight(scale, lengths.back(), options.margin));
        reach_ = std::max(reach_, ranges_.back());
    }
    set_weights(options.stiffness, options.weight_in_joules, std::move(weights));
    set_lengths(std::move(lengths));
    set_slip_speeds(options.slip_speed);
    set_hulls(model);
    partners_.resize(num_bodies());
    for (int index = 0; index < num_pairs(); ++index) {
        partners_[at(pair(index).a)].emplace_back(pair(index).b, index);
        if (!half_space_sides(index).empty()) half_space_pairs_.push_back(index);
    }
    for (auto& partners : partners_) std::sort(partners.begin(), partners.end());
    default_surfaces_ = std::make_shared<const CollisionGeometry>(surfaces_of(default_vertices_, false));
}

void Polyhedral::set_hulls(const Model& model) {
    hulls_of_.resize(at(model.num_bodies()));
    for (const ModelHull& hull : model.hulls()) {
        hulls_of_[at(hull.body)].push_back(static_cast<int>(hulls_.size()));
        const auto rows = default_vertices_.middleRows(hull.first_vertex, hull.num_vertices);
        hulls_.push_back({hull.body, hull.first_vertex, hull.num_vertices, hull.triangles, is_flat(rows)});
    }
    for (const CollisionBody& body : model.collision().bodies)
        bodies_.push_back({.name = body.name, .half_spaces = body.half_spaces, .moves = body.moves});
}

CollisionGeometry Polyhedral::surfaces_of(const Vertices& vertices, bool reshaped) const {
    CollisionGeometry geometry{.bodies = bodies_, .pairs = pairs()};
    for (const Hull& hull : hulls_) {
        const Vertices corners = vertices.middleRows(hull.first, hull.count);
        // New vertices may span new faces.
        append(used_part(corners, reshaped && !hull.flat ? hull_triangles(corners) : hull.triangles),
               geometry.bodies[at(hull.body)].mesh);
    }
    return geometry;
}

std::shared_ptr<const CollisionGeometry> Polyhedral::surfaces(const Parameters& parameters) const {
    if (parameters.hull_vertices == default_vertices_) return default_surfaces_;
    return std::make_shared<const CollisionGeometry>(surfaces_of(parameters.hull_vertices, true));
}

}  // namespace farfield::contact::polyhedral
