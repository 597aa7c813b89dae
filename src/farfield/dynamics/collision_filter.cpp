// SPDX-License-Identifier: Apache-2.0
#include "farfield/dynamics/collision_filter.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"
#include "farfield/geometry/mesh_overlap.hpp"
#include "farfield/geometry/shape_distance.hpp"
#include "farfield/math/rotation.hpp"

namespace farfield {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kRounding = 16.0 * kEpsilon;  // of positions and sizes: error allowed for in every margin
constexpr double kStraight = 1e-6;             // [rad]
constexpr double kBow = 0.1;  // of the smaller radius: how far aside a way may lead without being a detour
constexpr double kSmallestGap = 64.0 * kEpsilon;  // of positions and sizes: a kept gap below this is lost in rounding

Pose relative(const Pose& a, const Pose& b) {
    return {a.rotation.transpose() * b.rotation, a.rotation.transpose() * (b.position - a.position)};
}

/// Lowest height of a shape above a half-space.
double height(const HalfSpace& half, const Pose& ground, const CollisionShape& shape, const Pose& frame) {
    const Pose pose = relative(ground, frame);
    return half.normal.dot(pose.position) - shape.hull().support(-(pose.rotation.transpose() * half.normal)) -
           half.offset;
}

/// Does any of the 26 directions towards faces, edges and corners of a cube pass?
template <class Test>
bool any_side(Test&& test) {
    for (int k = 0; k < 27; ++k) {
        const Vector3d side(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
        if (k != 13 && test(side.normalized())) return true;
    }
    return false;
}

/// The screw from `from` to `to`; with next to no rotation, whose axis would be lost, straight on.
void set_screw(const Pose& from, const Pose& to, RelativeMotion& motion) {
    const Vector3d way = to.position - from.position;
    const Vector3d turn = log_rotation(to.rotation * from.rotation.transpose());
    const double angle = turn.norm();
    motion.begin(from);
    if (angle < kStraight) {
        motion.slide(way);
        motion.turn(turn, from.position);
    } else {
        const Vector3d axis = turn / angle, along = axis * axis.dot(way), across = way - along;
        motion.slide(along);
        motion.turn(turn, from.position + 0.5 * across + axis.cross(across) / (2.0 * std::tan(0.5 * angle)));
    }
    motion.finish();
}

}  // namespace

void validate(const FilterOptions& options) {
    if (!(options.keep > 0.0 && options.keep < 1.0))
        fail("collision filter: keep ", options.keep, ", expected in (0, 1)");
    if (!(options.tolerance > 0.0 && options.tolerance < 1.0))
        fail("collision filter: tolerance ", options.tolerance, ", expected in (0, 1)");
    if (!(options.curvature_scale >= 0.0))
        fail("collision filter: curvature_scale ", options.curvature_scale, ", expected >= 0");
}

void FilterMemory::forget() { std::fill(cached_.begin(), cached_.end(), Cached{}); }

std::vector<double> FilterMemory::save() const {
    std::vector<double> values;
    for (const Cached& one : cached_) {
        values.insert(values.end(), one.direction.begin(), one.direction.end());
        values.push_back(one.seen_from_b ? 1.0 : 0.0);
    }
    return values;
}

void FilterMemory::restore(const std::vector<double>& values) {
    if (values.size() % 4 != 0) fail("filter memory: ", values.size(), " numbers, expected four per pair");
    cached_.resize(values.size() / 4);
    for (std::size_t k = 0; k < cached_.size(); ++k)
        cached_[k] = {Vector3d(values[4 * k], values[4 * k + 1], values[4 * k + 2]), values[4 * k + 3] != 0.0};
}

CollisionFilter::CollisionFilter(const Model& model, const FilterOptions& options)
    : CollisionFilter(model, nullptr, options) {}

CollisionFilter::CollisionFilter(const Model& model, std::shared_ptr<const CollisionGeometry> surfaces,
                                 const FilterOptions& options)
    : options_(options), model_(&model), surfaces_(std::move(surfaces)), motions_(model) {
    validate(options);
    FARFIELD_ASSERT(geometry().bodies.size() == model.collision().bodies.size());
    for (const CollisionBody& body : geometry().bodies) shapes_.emplace_back(body.mesh);
}

void CollisionFilter::set_paths(const Kinematics& start, const VectorXd& delta, FilterMemory& memory) const {
    memory.paths_.resize(shapes_.size());
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        FilterMemory::Path& path = memory.paths_[i];
        path.frame = start.poses[i] * shapes_[i].frame();
        if (shapes_[i].empty()) continue;
        motions_.relative(start, delta, 0, static_cast<int>(i), Pose{}, path.frame, memory.motion_);
        const Vector3d& centre = shapes_[i].root().centre;
        path.first = path.frame * centre;
        path.chord = memory.motion_.is_still() ? Vector3d(Vector3d::Zero())
                                               : Vector3d(memory.motion_.at(1.0) * centre - path.first);
        path.turning = memory.motion_.turning();
        path.bending = options_.curvature_scale * memory.motion_.any_direction().at(centre.norm()) / 8.0;
    }
}

CollisionFilter::Result CollisionFilter::max_step(const Kinematics& start, const VectorXd& delta,
                                                  std::span<const double> gaps, FilterMemory& memory,
                                                  std::span<double> fractions) const {
    const auto& pairs = geometry().pairs;
    FARFIELD_ASSERT(gaps.empty() || gaps.size() == pairs.size());
    FARFIELD_ASSERT(fractions.empty() || fractions.size() == pairs.size());
    const auto num_pairs = pairs.size();
    memory.cached_.resize(num_pairs);
    memory.gaps_.resize(num_pairs);
    memory.order_.resize(num_pairs);
    for (std::size_t p = 0; p < num_pairs; ++p) {
        const bool known = !gaps.empty() && std::isfinite(gaps[p]);
        memory.gaps_[p] = known ? gaps[p] : gap_lower_bound(static_cast<int>(p), start.poses);
        memory.order_[p] = static_cast<int>(p);
    }
    // Close pairs are likely to shorten the step, which makes the rest cheaper. Ties by index: the order is the same
    // in every run.
    std::sort(memory.order_.begin(), memory.order_.end(), [&](int p, int q) {
        const double a = memory.gaps_[static_cast<std::size_t>(p)], b = memory.gaps_[static_cast<std::size_t>(q)];
        return a != b ? a < b : p < q;
    });
    set_paths(start, delta, memory);
    Result result;
    for (const int p : memory.order_) {
        const PairCertificate found = certify_pair(p, memory.gaps_[static_cast<std::size_t>(p)],
                                                   fractions.empty() ? result.alpha : 1.0, start, delta, memory);
        if (!fractions.empty()) fractions[static_cast<std::size_t>(p)] = found.alpha;
        result.certified_gap = std::min(result.certified_gap, found.gap);
        if (found.alpha >= result.alpha) continue;
        result.alpha = found.alpha;
        result.limiting_a = pairs[static_cast<std::size_t>(p)].a;
        result.limiting_b = pairs[static_cast<std::size_t>(p)].b;
        if (result.alpha <= 0.0 && fractions.empty()) break;
    }
    return result;
}

PairCertificate CollisionFilter::certify_pair(int pair, double gap, double alpha, const Kinematics& start,
                                              const VectorXd& delta, FilterMemory& memory) const {
    const ContactPair& bodies = geometry().pairs[static_cast<std::size_t>(pair)];
    const auto a = static_cast<std::size_t>(bodies.a), b = static_cast<std::size_t>(bodies.b);
    const FilterMemory::Path& path_a = memory.paths_[a];
    const FilterMemory::Path& path_b = memory.paths_[b];
    const auto size = [&](std::size_t i) {
        return memory.paths_[i].frame.position.norm() + (shapes_[i].empty() ? 0.0 : shapes_[i].root().reach);
    };
    const double scale = size(a) + size(b);
    const double required = options_.keep * gap;
    if (!(required > kSmallestGap * scale)) return {0.0, 0.0};
    const GapTargets targets{
        .required = required + kRounding * scale,
        .stop = gap * (options_.keep + options_.tolerance * (1.0 - options_.keep)) + kRounding * scale};
    PairCertificate certificate{.alpha = alpha, .gap = std::numeric_limits<double>::infinity()};
    const auto merge = [&](const PairCertificate& part) {
        certificate.alpha = std::min(certificate.alpha, part.alpha);
        certificate.gap = std::min(certificate.gap, part.gap - kRounding * scale);
    };
    if (!shapes_[a].empty() && !shapes_[b].empty()) {
        // Bounding spheres: the segment of the relative centre, and how far the true path can be from it.
        const Vector3d first = path_b.first - path_a.first, chord = alpha * (path_b.chord - path_a.chord);
        const double squared = chord.squaredNorm();
        const double s = squared > 0.0 ? std::clamp(-first.dot(chord) / squared, 0.0, 1.0) : 0.0;
        const double clear = (first + s * chord).norm() - shapes_[a].root().radius - shapes_[b].root().radius -
                             path_a.bending - path_b.bending;
        merge(clear >= targets.required ? PairCertificate{alpha, clear}
                                        : certify_meshes(pair, targets, alpha, start, delta, memory));
    }
    const auto ground = [&](std::size_t plane, std::size_t body) {
        const auto& half_spaces = geometry().bodies[plane].half_spaces;
        if (half_spaces.empty() || shapes_[body].empty()) return;
        motions_.relative(start, delta, static_cast<int>(plane), static_cast<int>(body), start.poses[plane],
                          memory.paths_[body].frame, memory.motion_);
        for (const HalfSpace& half : half_spaces) {
            merge(certify_half_space(half, shapes_[body], memory.motion_, targets, options_, certificate.alpha));
        }
    };
    ground(a, b);
    ground(b, a);
    return certificate;
}

PairCertificate CollisionFilter::certify_meshes(int pair, const GapTargets& targets, double alpha,
                                                const Kinematics& start, const VectorXd& delta,
                                                FilterMemory& memory) const {
    const ContactPair& bodies = geometry().pairs[static_cast<std::size_t>(pair)];
    const auto a = static_cast<std::size_t>(bodies.a), b = static_cast<std::size_t>(bodies.b);
    // Seen from the body that turns less, the other's points bend less. Turns common to both count the same on either
    // side.
    const bool from_b = memory.paths_[b].turning < memory.paths_[a].turning;
    const std::size_t fixed = from_b ? b : a, moving = from_b ? a : b;
    motions_.relative(start, delta, static_cast<int>(fixed), static_cast<int>(moving), memory.paths_[fixed].frame,
                      memory.paths_[moving].frame, memory.motion_);
    if (memory.motion_.is_still()) return {alpha, targets.required};
    FilterMemory::Cached& cached = memory.cached_[static_cast<std::size_t>(pair)];
    if (cached.seen_from_b != from_b) {
        cached.direction = -(memory.motion_.start().rotation * cached.direction);
        cached.seen_from_b = from_b;
    }
    PairCertifier certifier(shapes_[fixed], shapes_[moving], memory.motion_, targets, options_);
    return certifier.certify(alpha, cached.direction);
}

std::optional<ContactPair> CollisionFilter::find_detour(const Poses& from, const Poses& to, FilterMemory& memory,
                                                        const Poses* pieces) const {
    const auto& pairs = geometry().pairs;
    const auto apart = [&](const Poses& poses, std::size_t a, std::size_t b) -> Vector3d {
        const auto centre = [&](std::size_t k) { return poses[k] * (shapes_[k].frame() * shapes_[k].root().centre); };
        return centre(b) - centre(a);
    };
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto a = static_cast<std::size_t>(pairs[p].a), b = static_cast<std::size_t>(pairs[p].b);
        if (shapes_[a].empty() || shapes_[b].empty()) continue;
        const Pose first = relative(from[a] * shapes_[a].frame(), from[b] * shapes_[b].frame());
        const Pose last = relative(to[a] * shapes_[a].frame(), to[b] * shapes_[b].frame());
        const CollisionShape::Node &still = shapes_[a].root(), &moving = shapes_[b].root();
        const double bow = kBow * std::min(still.radius, moving.radius);
        if (pieces && (apart(*pieces, a, b) - apart(to, a, b)).norm() <= bow) continue;
        const Vector3d centre = 0.5 * (first * moving.centre + last * moving.centre) - still.centre;
        if (centre.norm() > still.radius + moving.radius + 0.5 * (last * moving.centre - first * moving.centre).norm())
            continue;  // a screw of at most half a turn stays within half its chord of the chord's middle
        const int pair = static_cast<int>(p);
        const double gap = std::min(gap_lower_bound(pair, from), gap_lower_bound(pair, to));
        const GapTargets targets{.required = options_.keep * gap, .stop = options_.keep * gap};
        const auto free = [&](const Pose& begin, const Pose& end) {
            set_screw(begin, end, memory.motion_);
            if (memory.motion_.is_still()) return true;
            Vector3d direction = Vector3d::Zero();
            return PairCertifier(shapes_[a], shapes_[b], memory.motion_, targets, options_)
                       .certify(1.0, direction)
                       .alpha == 1.0;
        };
        if (free(first, last)) continue;
        const Pose middle = memory.motion_.at(0.5);
        if (!any_side([&](const Vector3d& side) {
                const Pose aside{middle.rotation, middle.position + bow * side};
                return free(first, aside) && free(aside, last);
            }))
            return pairs[p];
    }
    return std::nullopt;
}

double CollisionFilter::gap_lower_bound(int pair, const Poses& poses) const {
    const ContactPair& bodies = geometry().pairs[static_cast<std::size_t>(pair)];
    const auto a = static_cast<std::size_t>(bodies.a), b = static_cast<std::size_t>(bodies.b);
    const Pose frame_a = poses[a] * shapes_[a].frame(), frame_b = poses[b] * shapes_[b].frame();
    double gap = std::numeric_limits<double>::infinity();
    double scale = frame_a.position.norm() + frame_b.position.norm();
    if (!shapes_[a].empty()) scale += shapes_[a].root().reach;
    if (!shapes_[b].empty()) scale += shapes_[b].root().reach;
    if (!shapes_[a].empty() && !shapes_[b].empty())
        gap = distance_lower_bound(shapes_[a], shapes_[b], relative(frame_a, frame_b));
    const auto& collision = geometry().bodies;
    for (const HalfSpace& half : collision[a].half_spaces) {
        if (!shapes_[b].empty()) gap = std::min(gap, height(half, poses[a], shapes_[b], frame_b));
    }
    for (const HalfSpace& half : collision[b].half_spaces) {
        if (!shapes_[a].empty()) gap = std::min(gap, height(half, poses[b], shapes_[a], frame_a));
    }
    return std::max(0.0, gap - kRounding * scale);
}

SweptDistance CollisionFilter::nearest(int pair, const Poses& poses) const {
    const ContactPair& bodies = geometry().pairs[static_cast<std::size_t>(pair)];
    const auto a = static_cast<std::size_t>(bodies.a), b = static_cast<std::size_t>(bodies.b);
    const Pose frame_a = poses[a] * shapes_[a].frame(), frame_b = poses[b] * shapes_[b].frame();
    SweptDistance found{.distance = std::numeric_limits<double>::infinity()};
    if (!shapes_[a].empty() && !shapes_[b].empty()) {
        found = nearest_points(shapes_[a], shapes_[b], relative(frame_a, frame_b));
        found.on_a = frame_a * found.on_a;
        found.on_b = frame_a * found.on_b;
    }
    const auto ground = [&](std::size_t plane, std::size_t body, const Pose& frame) {
        if (shapes_[body].empty()) return;
        for (const HalfSpace& half : geometry().bodies[plane].half_spaces) {
            const double above = height(half, poses[plane], shapes_[body], frame);
            if (above >= found.distance) continue;
            int lowest = 0;
            const Vector3d normal = poses[plane].rotation * half.normal;
            const Vector3d down = -(frame.rotation.transpose() * normal);
            (void)shapes_[body].hull().support(down, lowest);
            const Vector3d point = frame * shapes_[body].hull().extreme(lowest, down), below = point - above * normal;
            found = {.distance = above, .on_a = plane == a ? below : point, .on_b = plane == a ? point : below};
        }
    };
    ground(a, b, frame_b);
    ground(b, a, frame_a);
    return found;
}

std::optional<Intersection> CollisionFilter::find_intersection(const Poses& poses) const {
    std::optional<Intersection> nested;  // told only when nothing crosses
    for (std::size_t p = 0; p < geometry().pairs.size(); ++p) {
        const std::optional<Intersection> found = find_intersection(static_cast<int>(p), poses);
        if (found && !found->inside) return found;
        if (!nested) nested = found;
    }
    return nested;
}

std::optional<Intersection> CollisionFilter::find_intersection(int pair, const Poses& poses) const {
    const auto& collision = geometry();
    const ContactPair& bodies = collision.pairs[static_cast<std::size_t>(pair)];
    const auto a = static_cast<std::size_t>(bodies.a), b = static_cast<std::size_t>(bodies.b);
    const Pose frame_a = poses[a] * shapes_[a].frame(), frame_b = poses[b] * shapes_[b].frame();
    Intersection found{.a = bodies.a, .b = bodies.b};
    const auto below = [&](std::size_t plane, std::size_t body, const Pose& frame) {
        for (const HalfSpace& half : collision.bodies[plane].half_spaces) {
            if (shapes_[body].empty() || height(half, poses[plane], shapes_[body], frame) > 0.0) continue;
            int lowest = 0;
            const Vector3d normal = poses[plane].rotation * half.normal;
            const Vector3d down = -(frame.rotation.transpose() * normal);
            (void)shapes_[body].hull().support(down, lowest);
            found.point = frame * shapes_[body].hull().extreme(lowest, down);
            return true;
        }
        return false;
    };
    if (below(a, b, frame_b) || below(b, a, frame_a)) return found;
    if (shapes_[a].empty() || shapes_[b].empty()) return std::nullopt;
    if (const auto x = crossing_point(shapes_[a], shapes_[b], relative(frame_a, frame_b))) {
        found.point = frame_a * *x;
        return found;
    }
    const auto holds = [&](std::size_t outer, std::size_t inner) {
        const TriangleMesh& mesh = collision.bodies[outer].mesh;
        found.point =
            poses[inner] *
            Vector3d(
                collision.bodies[inner].mesh.vertices.row(collision.bodies[inner].mesh.triangles(0, 0)).transpose());
        const Vector3d local = poses[outer].inverse() * found.point;
        const CollisionShape::Node& root = shapes_[outer].root();
        const Vector3d offset = shapes_[outer].frame().inverse() * local - root.box_centre;
        return (offset.cwiseAbs().array() <= root.box_half.array()).all() && is_watertight(mesh) &&
               contains(mesh, local);
    };
    found.inside = true;
    if (holds(a, b) || holds(b, a)) return found;
    return std::nullopt;
}

}  // namespace farfield
