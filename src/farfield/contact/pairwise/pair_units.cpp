// SPDX-License-Identifier: Apache-2.0
#include "farfield/contact/pairwise/pair_units.hpp"

#include <algorithm>
#include <limits>

#include "farfield/base/index.hpp"

namespace farfield::contact {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kStepsThroughLength = 10.0;

/// Per body; infinite for one without a surface.
std::vector<double> areas_of(const CollisionGeometry& geometry) {
    std::vector<double> areas;
    for (const CollisionBody& body : geometry.bodies)
        areas.push_back(body.mesh.triangles.rows() > 0 ? surface_area(body.mesh) : kUnbounded);
    return areas;
}

double length_of(const std::vector<double>& areas, const ContactPair& pair) {
    const double area = std::min(areas[at(pair.a)], areas[at(pair.b)]);
    return area < kUnbounded ? std::sqrt(area / 6.0) : 1.0;
}

/// Per body, with everything that hangs on it.
std::vector<double> subtree_masses(const Model& model) {
    std::vector<double> masses(at(model.num_bodies()), 0.0);
    for (int body = model.num_bodies() - 1; body > 0; --body) {
        masses[at(body)] += model.default_parameters().moments(body, 0);
        masses[at(model.bodies()[at(body)].parent)] += masses[at(body)];
    }
    return masses;
}

/// The nearest link towards the root that something but a script moves, itself included; 0: there is none.
int solved_link(const Model& model, int body) {
    for (int k = model.bodies()[at(body)].last_dof; k >= 0; k = model.dofs()[at(k)].parent) {
        if (!model.dofs()[at(k)].prescribed) return model.dofs()[at(k)].body;
    }
    return 0;
}

}  // namespace

std::vector<PairUnits> pair_units(const Model& model, const std::vector<ContactPair>& pairs) {
    const std::vector<double> masses = subtree_masses(model), areas = areas_of(model.collision());
    const double gravity = model.default_parameters().gravity.norm();
    std::vector<PairUnits> units;
    for (const ContactPair& pair : pairs) {
        PairUnits own{.length = length_of(areas, pair), .mass = kUnbounded};
        for (const int body : {pair.a, pair.b}) {
            const double mass = masses[at(solved_link(model, body))];
            if (solved_link(model, body) > 0 && mass > 0.0) own.mass = std::min(own.mass, mass);
        }
        if (!(own.mass < kUnbounded)) own.mass = masses[0] > 0.0 ? masses[0] : 1.0;  // nothing here answers to a force
        const double time = kStepsThroughLength * model.default_dt();
        own.acceleration = gravity > 0.0 ? gravity : own.length / (time * time);
        units.push_back(own);
    }
    return units;
}

std::vector<PairUnits> pair_units(const CollisionGeometry& geometry, const std::vector<ContactPair>& pairs) {
    const std::vector<double> areas = areas_of(geometry);
    std::vector<PairUnits> units;
    for (const ContactPair& pair : pairs) units.push_back({.length = length_of(areas, pair)});
    return units;
}

}  // namespace farfield::contact
