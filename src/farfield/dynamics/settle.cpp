// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/settle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "farfield/base/error.hpp"
#include "farfield/base/index.hpp"
#include "farfield/dynamics/collision_filter.hpp"
#include "farfield/model/kinematics.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;

constexpr int kOverlapRounds = 20;  // of resolving one overlap after the other, per free tree
constexpr int kScan = 32;           // translations tried along a direction before bisection
constexpr int kBisections = 24;     // of a length, and of a gap
constexpr double kTooNear = 1.02;   // of its weight: a force of contact that moves a tree

struct Tree {
    int root = 0;
    int q = -1;  ///< of the free joint's position; -1: not free
    double mass = 0.0, size = 0.0;
};

class Settling {
 public:
    Settling(const Model& model, const Parameters& parameters, const State& state, const ContactSetup& contact,
             const SettleOptions& options)
        : model_(model), parameters_(parameters), contact_(contact), options_(options) {
        result_.state = state;
        Kinematics kinematics;
        forward_kinematics(model, parameters, state.q, kinematics);
        poses_ = kinematics.poses;
        trees_.resize(model.bodies().size());
        for (int body = 0; body < model.num_bodies(); ++body) add_to_tree(body);
        moves_.resize(trees_.size());
        memory_ = contact.potential->make_memory();
    }

    void resolve_overlaps() {
        const int limit = kOverlapRounds * static_cast<int>(trees_.size());
        for (int round = 0; round < limit; ++round) {
            std::optional<Intersection> hit = contact_.filter->find_intersection(poses_);
            if (!hit || hit->inside) return;
            resolve(*hit);
        }
        fail("settle: bodies still overlap after ", limit, " translations; expected a start where they fit");
    }

    void find_rest() {
        const double gravity = parameters_.gravity.norm();
        if (!(gravity > 0.0)) return;
        for (int round = 0; round < 3; ++round) {
            for (const Tree& tree : trees_) {
                if (tree.q >= 0 && tree.mass > 0.0) rest(tree, tree.mass * gravity);
            }
        }
    }

    [[nodiscard]] Settled result() {
        for (const SettleMove& move : moves_) {
            if (!move.shift.isZero(0.0)) result_.moves.push_back(move);
        }
        return std::move(result_);
    }

 private:
    void add_to_tree(int body) {
        const ModelBody& own = model_.bodies()[at(body)];
        Tree& tree = trees_[at(own.root)];
        tree.root = own.root;
        tree.mass += parameters_.moments(body, 0);
        if (body == own.root && own.motion == BodyMotion::Dynamic && has_free_joint(model_, own))
            tree.q = model_.joints()[at(own.first_joint)].q;
        const auto& vertices = model_.collision().bodies[at(body)].mesh.vertices;
        for (Eigen::Index v = 0; v < vertices.rows(); ++v) {
            const Vector3d x = poses_[at(body)] * Vector3d(vertices.row(v).transpose());
            tree.size = std::max(tree.size, 2.0 * (x - poses_[at(own.root)].position).norm());
        }
    }

    [[nodiscard]] int root(int body) const { return model_.bodies()[at(body)].root; }
    [[nodiscard]] const std::string& name(int body) const { return model_.bodies()[at(body)].name; }

    [[nodiscard]] Poses shifted(const Tree& tree, const Vector3d& by) const {
        Poses moved = poses_;
        for (int body = 0; body < model_.num_bodies(); ++body) {
            if (root(body) == tree.root) moved[at(body)].position += by;
        }
        return moved;
    }

    void move(const Tree& tree, const Vector3d& by) {
        poses_ = shifted(tree, by);
        result_.state.q.segment<3>(tree.q) += by;
        moves_[at(tree.root)].body = tree.root;
        moves_[at(tree.root)].shift += by;
    }

    /// Does the tree cross anything outside itself?
    [[nodiscard]] bool crosses(const Tree& tree, const Poses& poses) const {
        const auto& pairs = contact_.filter->pairs();
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if ((root(pairs[p].a) == tree.root) == (root(pairs[p].b) == tree.root)) continue;
            if (contact_.filter->find_intersection(static_cast<int>(p), poses)) return true;
        }
        return false;
    }

    [[nodiscard]] std::vector<Vector3d> directions(const Tree& tree, int other) const {
        std::vector<Vector3d> found;
        for (const HalfSpace& half : model_.collision().bodies[at(other)].half_spaces)
            found.emplace_back(poses_[at(other)].rotation * half.normal);
        if (!found.empty()) return found;
        const Vector3d apart = poses_[at(tree.root)].position - poses_[at(other)].position;
        if (apart.norm() > 0.0) found.push_back(apart.normalized());
        for (int k = 0; k < 27; ++k) {
            const Vector3d side(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
            if (k != 13) found.push_back(side.normalized());
        }
        return found;
    }

    /// The shortest translation along a direction, up to `longest`, after which the tree crosses nothing; infinite when there is none.
    [[nodiscard]] double way_out(const Tree& tree, const Vector3d& direction, double longest) const {
        const auto clear = [&](double length) { return !crosses(tree, shifted(tree, length * direction)); };
        for (int k = 1; k <= kScan; ++k) {
            double out = longest * k / kScan, in = longest * (k - 1) / kScan;
            if (!clear(out)) continue;
            for (int step = 0; step < kBisections && out - in > 1e-6 * longest; ++step)
                (clear(0.5 * (in + out)) ? out : in) = 0.5 * (in + out);
            return out;
        }
        return std::numeric_limits<double>::infinity();
    }

    void resolve(const Intersection& hit) {
        const Tree *a = &trees_[at(root(hit.a))], *b = &trees_[at(root(hit.b))];
        const bool same = a == b, free_a = a->q >= 0, free_b = b->q >= 0;
        if (same || (!free_a && !free_b)) {
            fail("settle: bodies '", name(hit.a), "' and '", name(hit.b), "' overlap near (", hit.point.x(), ", ",
                 hit.point.y(), ", ", hit.point.z(), ") and ",
                 same ? "belong to the same tree" : "neither hangs on a free joint",
                 "; expected another pose of their joints, or the pair excluded");
        }
        const bool first = free_a && (!free_b || a->mass <= b->mass);
        const Tree& tree = first ? *a : *b;
        const int other = first ? hit.b : hit.a, own = first ? hit.a : hit.b;
        const double other_size = trees_[at(root(other))].size;
        const double longest = options_.max_depth * (other_size > 0.0 ? std::min(tree.size, other_size) : tree.size);
        double best = std::numeric_limits<double>::infinity();
        Vector3d way = Vector3d::Zero();
        for (const Vector3d& direction : directions(tree, other)) {
            const double length = way_out(tree, direction, std::min(best, longest));
            if (length < best) best = length, way = direction;
        }
        if (!(best < std::numeric_limits<double>::infinity())) {
            fail("settle: bodies '", name(own), "' and '", name(other), "' overlap near (", hit.point.x(), ", ",
                 hit.point.y(), ", ", hit.point.z(), ") by more than ", longest, " m, ", options_.max_depth,
                 " of their size; expected a smaller overlap, or max_depth above ", options_.max_depth);
        }
        SettleMove& told = moves_[at(tree.root)];
        if (best >= told.overlap) told.overlap = best, told.other = other;
        move(tree, best * way);
    }

    /// Of contact on the tree [N]; infinite when something touches.
    [[nodiscard]] Vector3d force_on(const Tree& tree, const Poses& poses) {
        contact::ContactStep& step = contact_.potential->begin_step(poses, model_.default_dt(), parameters_, *memory_,
                                                                    contact::StepMode::Frictionless);
        step.linearize(poses, linearization_);
        if (!std::isfinite(linearization_.energy)) return Vector3d::Constant(std::numeric_limits<double>::infinity());
        Vector3d force = Vector3d::Zero();
        for (int body = 0; body < model_.num_bodies(); ++body) {
            if (root(body) == tree.root) force -= linearization_.wrench[at(body)].head<3>();
        }
        return force;
    }

    void rest(const Tree& tree, double weight) {
        const Vector3d force = force_on(tree, poses_);
        if (!force.allFinite() || !(force.norm() > kTooNear * weight)) return;
        const Vector3d up = force.normalized();
        const double longest = options_.max_depth * tree.size;
        const auto push = [&](double length) { return force_on(tree, shifted(tree, length * up)); };
        double near = 0.0, far = longest;
        if (const Vector3d there = push(far); !there.allFinite() || there.dot(up) > weight) {
            fail("settle: body '", name(tree.root), "' is pushed with ", force.norm(), " N, ", force.norm() / weight,
                 " of its weight, and still too hard ", longest,
                 " m away; expected a start nearer to rest, or a lower stiffness of contact");
        }
        for (int step = 0; step < kBisections; ++step) {
            const double middle = 0.5 * (near + far);
            (push(middle).dot(up) > weight ? near : far) = middle;
        }
        SettleMove& told = moves_[at(tree.root)];
        told.force = std::max(told.force, force.norm() / weight);
        move(tree, far * up);
    }

    const Model& model_;
    const Parameters& parameters_;
    const ContactSetup& contact_;
    SettleOptions options_;
    Poses poses_;
    std::vector<Tree> trees_;        ///< by root
    std::vector<SettleMove> moves_;  ///< by root
    std::unique_ptr<contact::ContactMemory> memory_;
    contact::ContactLinearization linearization_;
    Settled result_;
};

}  // namespace

Settled settle(const Model& model, const Parameters& parameters, const State& state, const ContactSetup& contact,
               const SettleOptions& options) {
    validate(model, state, "settle: state");
    validate(model, parameters, "settle: parameters");
    if (!(options.max_depth > 0.0) || !std::isfinite(options.max_depth))
        fail("settle: max_depth ", options.max_depth, ", expected > 0, in sizes of the smaller body");
    if (!contact.potential || !contact.filter) return {state, {}};
    Settling settling(model, parameters, state, contact, options);
    settling.resolve_overlaps();
    settling.find_rest();
    return settling.result();
}

}  // namespace farfield
