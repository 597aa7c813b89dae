// SPDX-License-Identifier: Apache-2.0
#include "farfield/model/contact_filter.hpp"

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

/// The nearest body towards the root that moves relative to its parent, or the root of a welded group.
int welded_root(const Model& model, int body) {
    while (body > 0 && model.bodies()[static_cast<std::size_t>(body)].num_dofs == 0)
        body = model.bodies()[static_cast<std::size_t>(body)].parent;
    return body;
}

bool joined(const Model& model, int a, int b) {
    const auto is_parent = [&](int parent, int child) {
        const int root = welded_root(model, child);
        if (root == 0 || has_free_joint(model, model.bodies()[static_cast<std::size_t>(root)])) return false;
        return welded_root(model, model.bodies()[static_cast<std::size_t>(root)].parent) == welded_root(model, parent);
    };
    return is_parent(a, b) || is_parent(b, a);
}

bool floats(const Model& model, int body) {
    const int root = model.bodies()[static_cast<std::size_t>(body)].root;
    return body > 0 && has_free_joint(model, model.bodies()[static_cast<std::size_t>(root)]);
}

std::optional<Eigen::Vector3d> reference_overlap(const CollisionBody& a, const Pose& pose_a, const CollisionBody& b,
                                                 const Pose& pose_b) {
    if (auto x = overlap_point(a.mesh, pose_a, b.mesh, pose_b)) return x;
    const auto below = [](const CollisionBody& ground, const Pose& ground_pose, const CollisionBody& body,
                          const Pose& pose) -> std::optional<Eigen::Vector3d> {
        for (const HalfSpace& half : ground.half_spaces) {
            for (Eigen::Index v = 0; v < body.mesh.vertices.rows(); ++v) {
                const Eigen::Vector3d x = pose * Eigen::Vector3d(body.mesh.vertices.row(v).transpose());
                if (half.normal.dot(ground_pose.inverse() * x) <= half.offset) return x;
            }
        }
        return std::nullopt;
    };
    if (auto x = below(a, pose_a, b, pose_b)) return x;
    return below(b, pose_b, a, pose_a);
}

}  // namespace

bool placed_together(const Model& model, int a, int b) {
    if (model.bodies()[static_cast<std::size_t>(a)].root == model.bodies()[static_cast<std::size_t>(b)].root)
        return true;
    return !floats(model, a) && !floats(model, b);
}

ContactFilterResult filter_contacts(const Model& model) {
    ContactFilterResult result;
    const auto& bodies = model.collision().bodies;
    const std::vector<Masks> masks = body_masks(model);
    Kinematics reference;
    forward_kinematics(model, model.default_parameters(), model.default_state().q, reference);
    const auto exclude = [&](std::size_t a, std::size_t b, const char* reason) {
        result.excluded.push_back(bodies[a].name + ", " + bodies[b].name + ": " + reason);
    };
    for (std::size_t a = 0; a < bodies.size(); ++a) {
        for (std::size_t b = a + 1; b < bodies.size(); ++b) {
            const int ia = static_cast<int>(a), ib = static_cast<int>(b);
            const bool surfaces_a = bodies[a].mesh.triangles.rows() > 0,
                       surfaces_b = bodies[b].mesh.triangles.rows() > 0;
            const bool meet = (surfaces_a && surfaces_b) || (surfaces_a && !bodies[b].half_spaces.empty()) ||
                              (surfaces_b && !bodies[a].half_spaces.empty());
            if (!meet || welded_root(model, ia) == welded_root(model, ib)) continue;
            const bool included = listed(model.scene().include_contacts, bodies[a].name, bodies[b].name);
            if (!included) {
                if (listed(model.scene().exclude_contacts, bodies[a].name, bodies[b].name)) {
                    exclude(a, b, "excluded by the user");
                    continue;
                }
                if (!((masks[a].group & masks[b].collides_with) | (masks[b].group & masks[a].collides_with))) {
                    exclude(a, b, "groups do not match");
                    continue;
                }
                if (joined(model, ia, ib)) {
                    exclude(a, b, "joined");
                    continue;
                }
            }
            if (const auto x = reference_overlap(bodies[a], reference.poses[a], bodies[b], reference.poses[b])) {
                if (!included && placed_together(model, ia, ib)) {
                    exclude(a, b, "overlap in the reference pose");
                    continue;
                }
                std::ostringstream text;
                text << "bodies '" << bodies[a].name << "' and '" << bodies[b].name
                     << "' overlap in the reference pose near (" << x->transpose()
                     << "): a rollout with contact cannot start there";
                result.warnings.push_back(text.str());
            }
            result.pairs.push_back({ia, ib});
        }
    }
    return result;
}

}  // namespace farfield
