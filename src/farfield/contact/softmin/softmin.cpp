// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/softmin/softmin.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/contact/softmin/memory.hpp"

namespace farfield::contact::softmin {
namespace {

constexpr double kSinkShare = 1.0 / 150.0;  // of its size that the lighter body of a pair sinks under its weight
constexpr double kTemperatureShare = 1.0 / 250.0;
constexpr double kGravity = 9.81;  // of scenes without any [m/s^2]

/// Mass of everything that moves with the body [kg]; infinite when it is fixed or scripted.
double moving_mass(const Model& model, int body) {
    const ModelBody& of = model.bodies()[static_cast<std::size_t>(body)];
    if (of.last_dof < 0 || of.motion == BodyMotion::Kinematic) return std::numeric_limits<double>::infinity();
    double mass = 0.0;
    for (std::size_t i = 1; i < model.bodies().size(); ++i) {
        if (model.bodies()[i].root == of.root)
            mass += model.default_parameters().moments(static_cast<Eigen::Index>(i), 0);
    }
    return mass;
}

}  // namespace

Softmin::Softmin(const Model& model, const SoftminOptions& options)
    : options_(options), hull_vertices_(model.default_parameters().hull_vertices) {
    validate(options);
    for (const ModelBody& body : model.bodies()) names_.push_back(body.name);
    shapes_ = make_shapes(model, options);
    int numbers = 2;
    for (const BodyShape& shape : shapes_) {
        first_number_.push_back(shape.cloud ? numbers : -1);
        if (shape.cloud) numbers += 1 + 3 * shape.cloud->size();
    }
    const double given_gravity = model.default_parameters().gravity.norm();
    const double gravity = given_gravity > 0.0 ? given_gravity : kGravity;
    for (const ContactPair& bodies : model.collision().pairs) {
        SoftPair pair{.bodies = bodies};
        double size = std::numeric_limits<double>::infinity();
        int points = 0;
        for (const bool first : {true, false}) {
            const BodyShape& asks = shapes_[static_cast<std::size_t>(first ? bodies.a : bodies.b)];
            const BodyShape& has = shapes_[static_cast<std::size_t>(first ? bodies.b : bodies.a)];
            if (asks.surface) size = std::min(size, asks.size);
            if (!asks.queries.empty() && has.surface) pair.sides.push_back({first, &asks.queries, &*has.surface});
            for (const Surface& plane : has.half_spaces) {
                if (!asks.support.empty()) pair.sides.push_back({first, &asks.support, &plane});
            }
        }
        // Few points first: what they find narrows the search among many.
        std::stable_sort(pair.sides.begin(), pair.sides.end(),
                         [](const Side& s, const Side& t) { return s.queries->tree.count < t.queries->tree.count; });
        for (const Side& side : pair.sides) points += side.queries->tree.count;
        const double mass = std::min(moving_mass(model, bodies.a), moving_mass(model, bodies.b));
        const double automatic = std::isfinite(mass) ? mass * gravity / (kSinkShare * size) : 1.0;
        pair.stiffness = options.stiffness * options.newtons_per_metre.value_or(automatic);
        pair.sharing = options.separation_temperature.value_or(kTemperatureShare * size);
        pair.ramp = options.force_temperature.value_or(kTemperatureShare * size);
        pair.cut = pair.sharing * truncation(points, options.tolerance);
        pairs_.push_back(std::move(pair));
    }
}

std::unique_ptr<ContactMemory> Softmin::make_memory(ThreadPool* pool) const {
    return std::make_unique<SoftminMemory>(*this, pool);
}

ForceStep& Softmin::begin_step(const Parameters& parameters, ContactMemory& memory) const {
    auto* step = dynamic_cast<SoftminMemory*>(&memory);
    if (step == nullptr || &step->law() != this) fail("softmin: memory was made by another contact model");
    if (parameters.friction.size() != static_cast<Eigen::Index>(names_.size()))
        fail("softmin: ", parameters.friction.size(), " friction coefficients, expected one per body: ", names_.size());
    if (!(parameters.contact_stiffness > 0.0))
        fail("softmin: contact_stiffness ", parameters.contact_stiffness, ", expected > 0");
    if (parameters.hull_vertices != hull_vertices_) {
        fail("softmin: hull_vertices differ from the model's; expected the same, since clouds do not follow them");
    }
    step->begin(parameters);
    return *step;
}

std::vector<std::string> Softmin::number_names() const {
    std::vector<std::string> names{"separation_temperature", "force_temperature"};
    for (std::size_t body = 0; body < shapes_.size(); ++body) {
        if (!shapes_[body].cloud) continue;
        names.push_back("temperature[" + names_[body] + "]");
        for (int k = 0; k < shapes_[body].cloud->size(); ++k) {
            for (const char* axis : kAxisNames)
                names.push_back("points[" + names_[body] + ":" + std::to_string(k) + "]." + axis);
        }
    }
    return names;
}

std::vector<PairStiffness> Softmin::pair_stiffness(const Parameters& parameters) const {
    std::vector<PairStiffness> out;
    for (const SoftPair& pair : pairs_) {
        const double friction = pair.bodies.friction.value_or(
            std::max(parameters.friction[pair.bodies.a], parameters.friction[pair.bodies.b]));
        out.push_back({pair.bodies.a, pair.bodies.b, parameters.contact_stiffness * pair.stiffness, pair.sharing,
                       options_.damping_speed, friction, options_.slip_speed});
    }
    return out;
}

}  // namespace farfield::contact::softmin
