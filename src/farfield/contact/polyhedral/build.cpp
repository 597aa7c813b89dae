// SPDX-License-Identifier: Apache-2.0
/// @file  What the polyhedral model takes from a Model: hulls, pairs, weights, range.
#include <algorithm>
#include <cmath>
#include <limits>

#include "farfield/base/error.hpp"
#include "farfield/contact/polyhedral/polyhedral.hpp"
#include "farfield/geometry/convex_hull.hpp"
#include "farfield/geometry/gjk.hpp"
#include "farfield/geometry/principal_axes.hpp"
#include "farfield/model/contact_pairs.hpp"
#include "farfield/model/kinematics.hpp"
#include "farfield/scene/shape_surface.hpp"

namespace farfield::contact::polyhedral {

namespace {

using Vertices = decltype(Parameters::hull_vertices);

constexpr double kActiveVertices = 4.0;
constexpr double kForceAtHalfRange = 30.0;  // F s^2 l/kappa of one vertex halfway through the range, about

std::size_t at(int k) { return static_cast<std::size_t>(k); }

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

/// Mass of everything that hangs on the root of a body's tree.
double tree_mass(const Model& model, int body) {
    double mass = 0.0;
    const int root = model.bodies()[at(body)].root;
    for (std::size_t i = 1; i < model.bodies().size(); ++i) {
        if (model.bodies()[i].root == root) mass += model.default_parameters().moments(static_cast<Eigen::Index>(i), 0);
    }
    return mass;
}

bool is_solved(const Model& model, int body) {
    for (int k = model.bodies()[at(body)].last_dof; k >= 0; k = model.dofs()[at(k)].parent) {
        if (!model.dofs()[at(k)].prescribed) return true;
    }
    return false;
}

}  // namespace

void validate(const PolyhedralOptions& options) {
    if (!(options.range >= 0.0) || !std::isfinite(options.range))
        fail("PolyhedralOptions: range ", options.range, ", expected > 0 [m], or 0 for automatic");
    if (!(options.margin > 0.0 && options.margin <= 0.5))
        fail("PolyhedralOptions: margin ", options.margin, ", expected in (0, 0.5]");
    if (!(options.slip_speed > 0.0) || !std::isfinite(options.slip_speed))
        fail("PolyhedralOptions: slip_speed ", options.slip_speed, ", expected > 0 [m/s]");
}

double automatic_range(const Model& model) {
    std::vector<Eigen::Vector3d> low(at(model.num_bodies()), Eigen::Vector3d::Constant(1e300)),
        high(at(model.num_bodies()), Eigen::Vector3d::Constant(-1e300));
    for (const ModelHull& hull : model.hulls()) {
        const auto rows = model.default_parameters().hull_vertices.middleRows(hull.first_vertex, hull.num_vertices);
        low[at(hull.body)] = low[at(hull.body)].cwiseMin(rows.colwise().minCoeff().transpose());
        high[at(hull.body)] = high[at(hull.body)].cwiseMax(rows.colwise().maxCoeff().transpose());
    }
    double size = 0.0;
    for (int body = 1; body < model.num_bodies(); ++body) {
        if (is_solved(model, body) && high[at(body)].x() >= low[at(body)].x())
            size = std::max(size, (high[at(body)] - low[at(body)]).norm());
    }
    if (!(size > 0.0)) return 1e-2;
    const Reference reference(model);
    double gap = 5e-3 * size;
    for (const ContactPair& pair : model.collision().pairs) {
        const double here = reference.gap(pair, gap);
        if (here > 0.0) gap = here;
    }
    return std::max(2.0 * gap, 1e-3 * size);
}

Polyhedral::Polyhedral(const Model& model, const PolyhedralOptions& options) : options_(options) {
    validate(options);
    default_weight_ = model.default_parameters().weight;
    default_vertices_ = model.default_parameters().hull_vertices;
    set_bodies(model);
    set_pairs(model);
    range_ = options.range > 0.0 ? options.range : automatic_range(model);
    length_ = range_ * (1.0 - options.margin) / (2.0 * options.margin);
    set_weights(model);
    default_surfaces_ = std::make_shared<const CollisionGeometry>(surfaces_of(default_vertices_, false));
}

void Polyhedral::set_bodies(const Model& model) {
    hulls_of_.resize(at(model.num_bodies()));
    for (const ModelHull& hull : model.hulls()) {
        hulls_of_[at(hull.body)].push_back(static_cast<int>(hulls_.size()));
        const auto rows = default_vertices_.middleRows(hull.first_vertex, hull.num_vertices);
        hulls_.push_back({hull.body, hull.first_vertex, hull.num_vertices, hull.triangles, is_flat(rows)});
    }
    for (const CollisionBody& body : model.collision().bodies) {
        half_spaces_.push_back(body.half_spaces);
        names_.push_back(body.name);
        bodies_.push_back({.name = body.name, .half_spaces = body.half_spaces, .moves = body.moves});
    }
}

void Polyhedral::set_pairs(const Model& model) {
    const Reference reference(model);
    partners_.resize(names_.size());
    for (const ContactPair& pair : model.collision().pairs) {
        if (placed_together(model, pair.a, pair.b) && reference.gap(pair, 1.0) <= 0.0) {
            excluded_.push_back(names_[at(pair.a)] + ", " + names_[at(pair.b)] +
                                ": convex hulls overlap in the reference pose");
            continue;
        }
        const auto index = static_cast<int>(pairs_.size());
        pairs_.push_back(pair);
        partners_[at(pair.a)].emplace_back(pair.b, index);
        if (!half_spaces_[at(pair.a)].empty() || !half_spaces_[at(pair.b)].empty()) half_space_pairs_.push_back(index);
    }
    for (auto& partners : partners_) std::sort(partners.begin(), partners.end());
}

void Polyhedral::set_weights(const Model& model) {
    const double gravity = model.default_parameters().gravity.norm();
    for (const ContactPair& pair : pairs_) {
        double mass = std::numeric_limits<double>::infinity();
        for (const int body : {pair.a, pair.b}) {
            if (is_solved(model, body)) mass = std::min(mass, tree_mass(model, body));
        }
        if (!std::isfinite(mass)) mass = 1.0;  // nothing in the pair is solved for
        const double weight = mass * (gravity > 0.0 ? gravity : 9.81);
        weights_.push_back(weight * length_ * options_.margin * options_.margin /
                           (kForceAtHalfRange * kActiveVertices));
    }
}

CollisionGeometry Polyhedral::surfaces_of(const Vertices& vertices, bool reshaped) const {
    CollisionGeometry geometry{.bodies = bodies_, .pairs = pairs_};
    for (const Hull& hull : hulls_) {
        TriangleMesh part{.vertices = vertices.middleRows(hull.first, hull.count), .triangles = hull.triangles};
        // New vertices may span new faces.
        if (reshaped && !hull.flat) part = convex_hull_mesh(part);
        append(part, geometry.bodies[at(hull.body)].mesh);
    }
    return geometry;
}

std::shared_ptr<const CollisionGeometry> Polyhedral::surfaces(const Parameters& parameters) const {
    if (parameters.hull_vertices == default_vertices_) return default_surfaces_;
    return std::make_shared<const CollisionGeometry>(surfaces_of(parameters.hull_vertices, true));
}

}  // namespace farfield::contact::polyhedral
