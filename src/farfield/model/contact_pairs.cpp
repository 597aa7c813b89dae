// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/contact_pairs.hpp"

#include <algorithm>
#include <sstream>

#include "farfield/geometry/mesh_overlap.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {
namespace {

struct Masks {
    unsigned group = 0, collides_with = 0;
};

std::vector<Masks> body_masks(const Model& model) {
    std::vector<Masks> masks(static_cast<std::size_t>(model.num_bodies()));
    for (const Shape& shape : model.scene().shapes) {
        if (!shape.collides) continue;
        masks[static_cast<std::size_t>(shape.body)].group |= shape.group;
        masks[static_cast<std::size_t>(shape.body)].collides_with |= shape.collides_with;
    }
    return masks;
}

bool listed(const std::vector<std::pair<std::string, std::string>>& pairs, const std::string& a, const std::string& b) {
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto& p) {
        return (p.first == a && p.second == b) || (p.first == b && p.second == a);
    });
}

const ModelBody& body_at(const Model& model, int body) { return model.bodies()[static_cast<std::size_t>(body)]; }

/// The nearest body towards the root that moves relative to its parent; the world for what cannot move.
int welded_root(const Model& model, int body) {
    while (body > 0 && body_at(model, body).num_dofs == 0) body = body_at(model, body).parent;
    return body;
}

/// What the joints of a body's welded group hang on; the world for the world.
int welded_parent(const Model& model, int body) {
    return welded_root(model, body_at(model, welded_root(model, body)).parent);
}

/// A joint between two moving parts keeps them apart or makes them overlap by construction. One to the world does not: what slides on a
/// rail still meets the floor.
bool joined(const Model& model, int a, int b) {
    const int root_a = welded_root(model, a), root_b = welded_root(model, b);
    if (root_a == 0 || root_b == 0) return false;
    return welded_parent(model, a) == root_b || welded_parent(model, b) == root_a;
}

bool can_meet(const CollisionBody& a, const CollisionBody& b) {
    const bool surfaces_a = a.mesh.triangles.rows() > 0, surfaces_b = b.mesh.triangles.rows() > 0;
    return (surfaces_a && surfaces_b) || (surfaces_a && !b.half_spaces.empty()) ||
           (surfaces_b && !a.half_spaces.empty());
}

std::optional<Eigen::Vector3d> reference_overlap(const CollisionBody& a, const Pose& pose_a, const CollisionBody& b,
                                                 const Pose& pose_b) {
    const auto surface = [](const CollisionBody& body) -> const TriangleMesh& {
        return body.round_mesh.radii.empty() ? body.mesh : body.round_mesh;
    };
    if (auto x = overlap_point(surface(a), pose_a, surface(b), pose_b)) return x;
    const auto below = [&](const CollisionBody& ground, const Pose& ground_pose, const CollisionBody& body,
                           const Pose& pose) -> std::optional<Eigen::Vector3d> {
        const TriangleMesh& mesh = surface(body);
        const std::vector<double> radii = vertex_radii(mesh);
        for (const HalfSpace& half : ground.half_spaces) {
            for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
                const Eigen::Vector3d x = pose * Eigen::Vector3d(mesh.vertices.row(v).transpose());
                if (half.normal.dot(ground_pose.inverse() * x) <= half.offset + radii[static_cast<std::size_t>(v)])
                    return x;
            }
        }
        return std::nullopt;
    };
    if (auto x = below(a, pose_a, b, pose_b)) return x;
    return below(b, pose_b, a, pose_a);
}

std::optional<double> friction_of(const Scene& scene, const std::string& a, const std::string& b) {
    for (const PairFriction& pair : scene.pair_friction) {
        if ((pair.a == a && pair.b == b) || (pair.a == b && pair.b == a)) return pair.friction;
    }
    return std::nullopt;
}

/// The last one stated for the pair; else that of its tree, or All.
ContactPolicy policy_of(const Model& model, int a, int b) {
    const Scene& scene = model.scene();
    const std::string &name_a = body_at(model, a).name, &name_b = body_at(model, b).name;
    ContactPolicy policy = placed_together(model, a, b) ? scene.self_contact : ContactPolicy::All;
    for (const PairContact& pair : scene.pair_contact) {
        if ((pair.a == name_a && pair.b == name_b) || (pair.a == name_b && pair.b == name_a)) policy = pair.policy;
    }
    return policy;
}

}  // namespace

bool placed_together(const Model& model, int a, int b) { return body_at(model, a).root == body_at(model, b).root; }

ContactPairs find_contact_pairs(const Model& model) {
    ContactPairs result;
    const Scene& scene = model.scene();
    const auto& bodies = model.collision().bodies;
    const std::vector<Masks> masks = body_masks(model);
    Kinematics reference;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, reference);
    const auto consider = [&](std::size_t a, std::size_t b) {
        const int ia = static_cast<int>(a), ib = static_cast<int>(b);
        const ContactPolicy policy = policy_of(model, ia, ib);
        const bool included = listed(scene.include_contacts, bodies[a].name, bodies[b].name);
        const auto exclude = [&](const char* reason) {
            result.excluded.push_back(bodies[a].name + ", " + bodies[b].name + ": " + reason);
        };
        const auto warn = [&](const auto&... parts) {
            std::ostringstream text;
            text << "bodies '" << bodies[a].name << "' and '" << bodies[b].name << "' ";
            (text << ... << parts);
            result.warnings.push_back(text.str());
        };
        const bool moves = bodies[a].moves || bodies[b].moves, meet = can_meet(bodies[a], bodies[b]);
        const bool welded = welded_root(model, ia) == welded_root(model, ib);
        if (included && (!meet || welded)) {
            warn("are included among the contacts, but ",
                 !meet ? "have no surfaces that could touch" : "cannot move relative to each other");
        }
        if (!meet || (welded && !moves)) return;
        if (welded) return exclude("welded together");
        if (!included) {
            if (listed(scene.exclude_contacts, bodies[a].name, bodies[b].name)) return exclude("excluded by the user");
            if (!((masks[a].group & masks[b].collides_with) | (masks[b].group & masks[a].collides_with)))
                return exclude("groups do not match");
            if (joined(model, ia, ib)) return exclude("joined");
            if (policy == ContactPolicy::None) return exclude("contact policy 'none'");
        }
        if (const auto x = reference_overlap(bodies[a], reference.poses[a], bodies[b], reference.poses[b])) {
            if (!included && placed_together(model, ia, ib)) return exclude("overlap in the reference pose");
            warn("overlap in the reference pose near (", x->transpose(),
                 "): a rollout with contact cannot start there; exclude the pair if they belong together");
        }
        result.pairs.push_back({.a = ia,
                                .b = ib,
                                .friction = friction_of(scene, bodies[a].name, bodies[b].name),
                                .near = policy == ContactPolicy::Near});
    };
    for (std::size_t a = 0; a < bodies.size(); ++a) {
        for (std::size_t b = a + 1; b < bodies.size(); ++b) consider(a, b);
    }
    return result;
}

}  // namespace farfield
