// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/pair_certifier.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "farfield/geometry/distance.hpp"
#include "farfield/geometry/separation_search.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Node = CollisionShape::Node;

constexpr int kMaxPairAdvances = 64;
constexpr double kRepose = 0.8;      // cut an interval back to alpha when alpha covers less than this of it
constexpr double kBendSplit = 0.2;   // bisect time when the bending exceeds this fraction of the radii,
constexpr double kChordSplit = 0.5;  // or the chord this one
constexpr double kDoubtfulStop =
    1.5;  // a hull search that stops although the distance may exceed this times the stopping gap is doubted

/// Candidate planes of one search.
struct Candidates {
    std::array<Vector3d, 12> n;
    int size = 0;

    void add(const Vector3d& direction) {
        const double length = direction.norm();
        if (length > 0.0 && std::isfinite(length)) n[static_cast<std::size_t>(size++)] = direction / length;
    }
    void add_both(const Vector3d& direction) {
        add(direction);
        add(-direction);
    }
};

/// Two triangles, the second placed by a pose.
struct TriangleSurface {
    const Triangle& fixed;
    const Triangle& moving;
    double fixed_radius, moving_radius;  ///< of the balls that sweep them
    const Vector3d& fixed_normal;
    const Vector3d& moving_normal;
    double reach;
    Vector3d last = Vector3d::Zero();

    using Placed = Triangle;
    [[nodiscard]] Placed place(const Pose& pose) const {
        return {pose * moving[0], pose * moving[1], pose * moving[2]};
    }
    [[nodiscard]] double margin(const Vector3d& n, const Placed& y) const {
        return std::min({n.dot(y[0]), n.dot(y[1]), n.dot(y[2])}) -
               std::max({n.dot(fixed[0]), n.dot(fixed[1]), n.dot(fixed[2])}) - (fixed_radius + moving_radius);
    }
    void candidates(const Pose& pose, const Placed& y, Candidates& out) const {
        const TriangleTriangleDistance nearest = core_distance(fixed, fixed_radius, y, moving_radius);
        out.add(nearest.on_b - nearest.on_a);
        out.add_both(fixed_normal);
        out.add_both(pose.rotation * moving_normal);
        if (nearest.feature_a.kind == FeatureKind::Edge && nearest.feature_b.kind == FeatureKind::Edge) {
            const auto i = static_cast<std::size_t>(nearest.feature_a.index),
                       j = static_cast<std::size_t>(nearest.feature_b.index);
            out.add_both((fixed[(i + 1) % 3] - fixed[i]).cross(y[(j + 1) % 3] - y[j]));
        }
        out.add(last);
    }
};

/// Two convex hulls, the second placed by a pose.
struct HullSurface {
    const CollisionShape& fixed;
    const CollisionShape& moving;
    double reach;
    double stop;
    Vector3d last = Vector3d::Zero();
    double distance = std::numeric_limits<double>::infinity();  ///< upper bound where the last search was made

    using Placed = Pose;
    [[nodiscard]] static Placed place(const Pose& pose) { return pose; }
    [[nodiscard]] double margin(const Vector3d& n, const Placed& pose) const {
        const Vector3d local = pose.rotation.transpose() * n;
        return n.dot(pose.position) - moving.hull().support(-local) - fixed.hull().support(n);
    }
    [[nodiscard]] double support(const Vector3d& n, const Pose& pose, Vector3d& point) const {
        int x = 0, y = 0;
        const Vector3d local = pose.rotation.transpose() * n;
        const double far = fixed.hull().support(n, x), near = n.dot(pose.position) - moving.hull().support(-local, y);
        point = pose * moving.hull().extreme(y, -local) - fixed.hull().extreme(x, n);
        return near - far;
    }
    void candidates(const Pose& pose, const Placed&, Candidates& out) {
        const Vector3d guess =
            last.isZero() ? Vector3d((pose.position - fixed.root().centre).stableNormalized()) : last;
        const SeparationSearch found = search_separation(
            guess.isZero() ? Vector3d::UnitZ() : guess, 0.0,
            [&](const Vector3d& n, Vector3d& point) { return support(n, pose, point); },
            [](const Vector3d&, double) { return false; });
        distance = found.distance;
        out.add(found.direction);
        out.add(last);
    }
};

}  // namespace

double plane_reach(double first, double last, double bending, double required) {
    const double above = first - required;
    if (bending <= 0.0) return last >= required ? 1.0 : above / (first - last);
    const double slope = last - first - bending;
    const double discriminant = slope * slope - 4.0 * bending * above;
    if (slope >= 0.0 || discriminant < 0.0) return 1.0;
    return std::min(1.0, 2.0 * above / (std::sqrt(discriminant) - slope));
}

PairCertifier::PairCertifier(const CollisionShape& fixed, const CollisionShape& moving, const RelativeMotion& motion,
                             const GapTargets& targets, const FilterOptions& options)
    : fixed_(fixed), moving_(moving), motion_(motion), targets_(targets), options_(options) {
    isotropic_ = motion.any_direction();
    isotropic_.base *= options.curvature_scale;
    isotropic_.slope *= options.curvature_scale;
    for (std::size_t k = 0; k < 3; ++k) axis_[k] = bend(Vector3d::Unit(static_cast<Eigen::Index>(k)));
    direction_.setZero();
    leaf_direction_.setZero();
}

CurvatureBound PairCertifier::bend(const Vector3d& n) const {
    CurvatureBound bound = motion_.along(n);
    bound.base *= options_.curvature_scale;
    bound.slope *= options_.curvature_scale;
    return bound;
}

double PairCertifier::hull_margin(const Vector3d& n, const Pose& pose) const {
    return n.dot(pose.position) - moving_.hull().support(-(pose.rotation.transpose() * n)) - fixed_.hull().support(n);
}

bool PairCertifier::accept(const Vector3d& n, double margin, double reach, double length) {
    if (margin < targets_.required) return false;
    body_gap_ = margin - bend(n).at(reach) * length * length / 8.0;
    return body_gap_ >= targets_.required;
}

bool PairCertifier::try_direction(const Interval& interval, const Vector3d& n) {
    const double first = hull_margin(n, interval.pose_begin);
    if (first < targets_.required) return false;
    if (!accept(n, std::min(first, hull_margin(n, interval.pose_end)), moving_.root().reach, interval.length()))
        return false;
    direction_ = n;
    return true;
}

/// Axes of the fixed box, then of the moving box at the start, both signs.
bool PairCertifier::try_boxes(const Interval& interval) {
    const Node& fixed = fixed_.root();
    const Node& moving = moving_.root();
    const auto& [begin, end, p0, p1] = interval;
    const Vector3d d0 = p0 * moving.box_centre - fixed.box_centre, d1 = p1 * moving.box_centre - fixed.box_centre;
    for (int k = 0; k < 6; ++k) {
        const Vector3d n = k < 3 ? Vector3d(Vector3d::Unit(k)) : Vector3d(p0.rotation.col(k - 3));
        const double own = n.cwiseAbs().dot(fixed.box_half);
        const double e0 = (p0.rotation.transpose() * n).cwiseAbs().dot(moving.box_half);
        const double e1 = (p1.rotation.transpose() * n).cwiseAbs().dot(moving.box_half);
        const double c0 = n.dot(d0), c1 = n.dot(d1);
        const double sign = c0 < 0.0 ? -1.0 : 1.0;
        if (!accept(n, std::min(sign * c0 - e0, sign * c1 - e1) - own, moving.reach, end - begin)) continue;
        direction_ = sign * n;
        return true;
    }
    return false;
}

template <class Surface>
double PairCertifier::advance(Surface& surface, const Interval& interval) {
    double t = interval.begin;
    Pose pose = interval.pose_begin;
    auto now = surface.place(pose);
    const auto last = surface.place(interval.pose_end);
    for (int iteration = 0; iteration < kMaxPairAdvances; ++iteration) {
        Candidates candidates;
        surface.candidates(pose, now, candidates);
        const double remaining = interval.end - t;
        double best_step = 0.0, best_margin = 0.0, chosen_margin = 0.0, chosen_bend = 0.0;
        for (int k = 0; k < candidates.size; ++k) {
            const Vector3d& n = candidates.n[static_cast<std::size_t>(k)];
            const double margin = surface.margin(n, now);
            best_margin = std::max(best_margin, margin);
            if (margin <= targets_.required) continue;
            const double bending = bend(n).at(surface.reach);
            const double step = remaining * plane_reach(margin, surface.margin(n, last),
                                                        0.5 * bending * remaining * remaining, targets_.required);
            if (step > best_step) {  // the plane that reaches farthest, not the one with the largest margin
                best_step = step;
                surface.last = n;
                chosen_margin = margin;
                chosen_bend = bending;
            }
        }
        if (best_step >= remaining) return interval.end;
        if (best_margin <= targets_.stop || best_step <= 0.0) return t;
        // Where bending limits the plane, a shorter chord has less of it.
        double length = std::sqrt(16.0 * (chosen_margin - targets_.required) / std::max(chosen_bend, 1e-300));
        const Vector3d n = surface.last;
        for (int k = 0; k < 2 && length < remaining; ++k, length *= 0.5) {
            if (length <= best_step) break;
            const double margin = surface.margin(n, surface.place(motion_.at(t + length)));
            best_step = std::max(
                best_step,
                length * plane_reach(chosen_margin, margin, 0.5 * chosen_bend * length * length, targets_.required));
        }
        t += best_step;
        if (t >= alpha_) return t;
        pose = motion_.at(t);
        now = surface.place(pose);
    }
    return t;
}

double PairCertifier::advance_hulls(const Interval& interval, bool& exact) {
    HullSurface surface{
        .fixed = fixed_, .moving = moving_, .reach = moving_.root().reach, .stop = targets_.stop, .last = direction_};
    const double reached = advance(surface, interval);
    direction_ = surface.last;
    // No progress at all: one body lies in the hollow of the other, which hulls cannot see.
    exact = reached >= interval.end || (reached > interval.begin && surface.distance <= kDoubtfulStop * targets_.stop);
    return reached;
}

PairCertificate PairCertifier::certify(double alpha, Vector3d& direction) {
    alpha_ = alpha;
    Interval whole{.begin = 0.0, .end = alpha, .pose_begin = motion_.start(), .pose_end = motion_.at(alpha)};
    if (!options_.body_tests) {
        descend(0, 0, whole, true);
        return {alpha_, targets_.required};
    }
    direction_ = direction;
    bool clear = (!direction_.isZero() && try_direction(whole, direction_)) || try_boxes(whole);
    if (!clear) {
        const Vector3d offset = whole.pose_begin * moving_.root().centre - fixed_.root().centre;
        const Vector3d guess = !direction_.isZero() ? direction_ : Vector3d(offset.stableNormalized());
        const double reach = moving_.root().reach;
        const SeparationSearch found = search_separation(
            guess.isZero() ? Vector3d::UnitZ() : guess, targets_.required,
            [&](const Vector3d& n, Vector3d& point) {
                int x = 0, y0 = 0, y1 = 0;
                const double far = fixed_.hull().support(n, x);
                const double first = n.dot(whole.pose_begin.position) -
                                     moving_.hull().support(-(whole.pose_begin.rotation.transpose() * n), y0);
                const double last = n.dot(whole.pose_end.position) -
                                    moving_.hull().support(-(whole.pose_end.rotation.transpose() * n), y1);
                const Pose& pose = first <= last ? whole.pose_begin : whole.pose_end;
                const Vector3d near = moving_.hull().extreme(first <= last ? y0 : y1, -(pose.rotation.transpose() * n));
                point = pose * near - fixed_.hull().extreme(x, n);
                return std::min(first, last) - far;
            },
            [&](const Vector3d& n, double margin) { return accept(n, margin, reach, alpha); });
        clear = found.accepted;
        direction_ = found.margin > 0.0 ? found.direction : Vector3d::Zero();
    }
    if (clear) {
        direction = direction_;
        return {alpha, body_gap_};
    }
    if (fixed_.convex() && moving_.convex()) {
        bool exact = false;
        const double reached = advance_hulls(whole, exact);
        direction = direction_;
        if (exact) return {std::min(alpha, reached), targets_.required};
        whole.begin = reached;
        whole.pose_begin = motion_.at(reached);
    }
    direction = direction_;
    descend(0, 0, whole, true);
    return {alpha_, targets_.required};
}

bool PairCertifier::spheres_clear(const Node& fixed, const Node& moving, const Interval& interval, double& bending,
                                  double& chord) const {
    const Vector3d first = interval.pose_begin * moving.centre, last = interval.pose_end * moving.centre;
    const Vector3d along = last - first, offset = fixed.centre - first;
    const double squared = along.squaredNorm();
    const double s = squared > 0.0 ? std::clamp(offset.dot(along) / squared, 0.0, 1.0) : 0.0;
    bending = isotropic_.at(moving.centre.norm()) * interval.length() * interval.length() / 8.0;
    chord = std::sqrt(squared);
    return (offset - s * along).norm() > fixed.radius + moving.radius + bending + targets_.required;
}

bool PairCertifier::boxes_clear(const Node& fixed, const Node& moving, const Interval& interval) const {
    const Vector3d d0 = interval.pose_begin * moving.box_centre - fixed.box_centre;
    const Vector3d d1 = interval.pose_end * moving.box_centre - fixed.box_centre;
    const Vector3d e0 = interval.pose_begin.rotation.cwiseAbs() * moving.box_half;
    const Vector3d e1 = interval.pose_end.rotation.cwiseAbs() * moving.box_half;
    const double square = interval.length() * interval.length() / 8.0;
    for (Eigen::Index k = 0; k < 3; ++k) {
        const double needed =
            fixed.box_half[k] + axis_[static_cast<std::size_t>(k)].at(moving.reach) * square + targets_.required;
        if (std::min(d0[k] - e0[k], d1[k] - e1[k]) >= needed || std::min(-d0[k] - e0[k], -d1[k] - e1[k]) >= needed)
            return true;
    }
    return false;
}

bool PairCertifier::clusters_clear(const Node& fixed, const Node& moving, const Interval& interval) {
    const PointColumns a = fixed_.points(fixed), b = moving_.points(moving);
    const double reach = moving.reach;
    const auto support = [&](const Vector3d& n, Vector3d& point) {
        int x = 0, y0 = 0, y1 = 0;
        const double far = a.support(n, x);
        const double first =
            n.dot(interval.pose_begin.position) - b.support(-(interval.pose_begin.rotation.transpose() * n), y0);
        const double last =
            n.dot(interval.pose_end.position) - b.support(-(interval.pose_end.rotation.transpose() * n), y1);
        const Pose& pose = first <= last ? interval.pose_begin : interval.pose_end;
        point = pose * b.extreme(first <= last ? y0 : y1, -(pose.rotation.transpose() * n)) - a.extreme(x, n);
        return std::min(first, last) - far;
    };
    const auto enough = [&](const Vector3d& n, double margin) {
        return margin >= targets_.required &&
               margin - bend(n).at(reach) * interval.length() * interval.length() / 8.0 >= targets_.required;
    };
    Vector3d guess = leaf_direction_;
    if (guess.isZero()) guess = (interval.pose_begin * moving.centre - fixed.centre).stableNormalized();
    const SeparationSearch found =
        search_separation(guess.isZero() ? Vector3d::UnitZ() : guess, targets_.required, support, enough);
    if (found.accepted) leaf_direction_ = found.direction;
    return found.accepted;
}

void PairCertifier::descend(int fixed_node, int moving_node, const Interval& interval, bool try_cluster) {
    if (interval.begin >= alpha_) return;
    if (alpha_ - interval.begin < kRepose * interval.length()) {
        const Interval shorter{
            .begin = interval.begin, .end = alpha_, .pose_begin = interval.pose_begin, .pose_end = motion_.at(alpha_)};
        split(fixed_node, moving_node, shorter, try_cluster);
    } else {
        split(fixed_node, moving_node, interval, try_cluster);
    }
}

void PairCertifier::split(int fixed_node, int moving_node, const Interval& interval, bool try_cluster) {
    const Node& fixed = fixed_.nodes()[static_cast<std::size_t>(fixed_node)];
    const Node& moving = moving_.nodes()[static_cast<std::size_t>(moving_node)];
    double bending = 0.0, chord = 0.0;
    if (spheres_clear(fixed, moving, interval, bending, chord) || boxes_clear(fixed, moving, interval)) return;
    const bool fixed_leaf = fixed.right < 0, moving_leaf = moving.right < 0;
    if (fixed_leaf && moving_leaf) return leaf(fixed, moving, interval);
    if (try_cluster && fixed.num_points > 0 && moving.num_points > 0) {
        if (clusters_clear(fixed, moving, interval)) return;
        try_cluster = false;
    }
    const double radii = fixed.radius + moving.radius;
    if (bending > kBendSplit * radii || chord > kChordSplit * radii) {
        const double middle = 0.5 * (interval.begin + interval.end);
        const Pose pose = motion_.at(middle);
        descend(fixed_node, moving_node, {interval.begin, middle, interval.pose_begin, pose}, true);
        descend(fixed_node, moving_node, {middle, interval.end, pose, interval.pose_end}, true);
        return;
    }
    const Vector3d centre = interval.pose_begin * moving.centre;
    if (moving_leaf || (!fixed_leaf && fixed.radius >= moving.radius)) {
        int near = fixed_node + 1, far = fixed.right;
        const auto distance = [&](int k) {
            return (fixed_.nodes()[static_cast<std::size_t>(k)].centre - centre).squaredNorm();
        };
        if (distance(far) < distance(near)) std::swap(near, far);
        descend(near, moving_node, interval, try_cluster);
        descend(far, moving_node, interval, try_cluster);
    } else {
        int near = moving_node + 1, far = moving.right;
        const auto distance = [&](int k) {
            return (interval.pose_begin * moving_.nodes()[static_cast<std::size_t>(k)].centre - fixed.centre)
                .squaredNorm();
        };
        if (distance(far) < distance(near)) std::swap(near, far);
        descend(fixed_node, near, interval, try_cluster);
        descend(fixed_node, far, interval, try_cluster);
    }
}

void PairCertifier::leaf(const Node& fixed, const Node& moving, const Interval& interval) {
    TriangleSurface surface{.fixed = fixed_.triangle(fixed.triangle),
                            .moving = moving_.triangle(moving.triangle),
                            .fixed_radius = fixed_.radius(fixed.triangle),
                            .moving_radius = moving_.radius(moving.triangle),
                            .fixed_normal = fixed_.normal(fixed.triangle),
                            .moving_normal = moving_.normal(moving.triangle),
                            .reach = moving.reach,
                            .last = leaf_direction_};
    const Triangle first = surface.place(interval.pose_begin), last = surface.place(interval.pose_end);
    const double square = interval.length() * interval.length() / 8.0;
    const auto clear = [&](const Vector3d& n) {
        const double margin = std::min(surface.margin(n, first), surface.margin(n, last));
        return margin >= targets_.required && margin - bend(n).at(surface.reach) * square >= targets_.required;
    };
    Candidates quick;
    quick.add(leaf_direction_);
    quick.add_both(surface.fixed_normal);
    quick.add_both(interval.pose_begin.rotation * surface.moving_normal);
    for (int k = 0; k < quick.size; ++k) {
        if (!clear(quick.n[static_cast<std::size_t>(k)])) continue;
        leaf_direction_ = quick.n[static_cast<std::size_t>(k)];
        return;
    }
    const double reached = advance(surface, interval);
    if (reached < interval.end) alpha_ = std::min(alpha_, reached);
    leaf_direction_ = surface.last;
}

}  // namespace farfield
