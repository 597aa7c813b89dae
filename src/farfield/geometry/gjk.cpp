// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/gjk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "farfield/base/error.hpp"

namespace farfield {

namespace {

using Eigen::Vector3d;

constexpr double kUnitRounding = std::numeric_limits<double>::epsilon();
constexpr int kMaxIdle = 4;

/// The normal `m` of a triangle made orthogonal to its sides once more. The cross product of a sliver's sides is tilted by
/// rounding, and a tilt along the sides is what costs margin.
Vector3d orthogonal_to(Vector3d m, Vector3d side, Vector3d other) {
    if (side.squaredNorm() < other.squaredNorm()) std::swap(side, other);
    side.normalize();
    other -= other.dot(side) * side;
    other.normalize();
    m -= m.dot(side) * side;
    m -= m.dot(other) * other;
    m -= m.dot(side) * side;
    return m.normalized();
}

const Vector3d& at(const auto& simplex, int i) { return simplex[static_cast<std::size_t>(i)].w; }

}  // namespace

struct Gjk::Candidate {
    int size = 0;
    std::array<int, 3> index{};
    std::array<double, 3> weight{};
    double distance = std::numeric_limits<double>::infinity();
    Vector3d direction = Vector3d::Zero();  // unit, from the origin
};

Gjk::Gjk(const Vector3d& direction, double tolerance)
    : tolerance_(tolerance),
      direction_(direction.squaredNorm() > 0.0 ? Vector3d(direction.stableNormalized()) : Vector3d::UnitX()),
      best_direction_(direction_) {}

void Gjk::offer_vertex(Candidate& best, int i) const {
    const Vector3d& p = at(simplex_, i);
    const double distance = p.norm();
    if (distance < best.distance) best = {1, {i, 0, 0}, {1.0, 0.0, 0.0}, distance, p.normalized()};
}

void Gjk::offer_edge(Candidate& best, int i, int j) const {
    const Vector3d &p = at(simplex_, i), &q = at(simplex_, j);
    const Vector3d e = q - p;
    const double length2 = e.squaredNorm(), t = -p.dot(e) / length2;
    if (!(t > 0.0 && t < 1.0)) return;
    Vector3d v = t < 0.5 ? Vector3d(p + t * e) : Vector3d(q - (1.0 - t) * e);
    const double distance = v.norm();
    if (!(distance < best.distance)) return;
    // v is a small difference of large vectors: what rounding left along e would tilt the direction.
    v -= v.dot(e) / length2 * e;
    const double length = v.norm();  // zero only if v was nothing but rounding: the origin is on the edge
    best = {2, {i, j, 0}, {1.0 - t, t, 0.0}, length > 0.0 ? distance : 0.0, v.normalized()};
}

void Gjk::offer_face(Candidate& best, int i, int j, int k) const {
    const Vector3d &p = at(simplex_, i), &q = at(simplex_, j), &r = at(simplex_, k);
    Vector3d m = (q - p).cross(r - p);
    const double area = m.norm();
    if (!(area > 0.0)) return;
    m /= area;
    // Weights of the corners times the area: the projection of the origin is inside when none is negative. On an edge they
    // are zero up to rounding; the face is then the better choice, because its normal is accurate.
    std::array<double, 3> weight{m.dot(q.cross(r)), m.dot(r.cross(p)), m.dot(p.cross(q))};
    const double slack = -8.0 * kUnitRounding * size_ * size_;
    if (weight[0] < slack || weight[1] < slack || weight[2] < slack) return;
    double sum = 0.0;
    for (double& value : weight) sum += value = std::max(value, 0.0);
    if (!(sum > 0.0)) return;
    for (double& value : weight) value /= sum;
    const double distance = (weight[0] * p + weight[1] * q + weight[2] * r).norm();
    if (!(distance <= best.distance + 8.0 * kUnitRounding * size_)) return;
    m = orthogonal_to(m, q - p, r - p);
    const double height = m.dot(p) + m.dot(q) + m.dot(r);
    best = {3, {i, j, k}, weight, distance, height < 0.0 ? Vector3d(-m) : m};
}

bool Gjk::contains_origin() const {
    const Vector3d &p = simplex_[0].w, &q = simplex_[1].w, &r = simplex_[2].w, &s = simplex_[3].w;
    const double pqr = p.dot(q.cross(r)), pqs = p.dot(q.cross(s)), prs = p.dot(r.cross(s)), qrs = q.dot(r.cross(s));
    // Barycentric coordinates of the origin, times the volume: qrs, -prs, pqs, -pqr.
    return (qrs > 0.0 && prs < 0.0 && pqs > 0.0 && pqr < 0.0) || (qrs < 0.0 && prs > 0.0 && pqs < 0.0 && pqr > 0.0);
}

void Gjk::keep(const Candidate& candidate) {
    std::array<Vertex, 4> kept{};
    for (std::size_t i = 0; i < static_cast<std::size_t>(candidate.size); ++i) {
        kept[i] = simplex_[static_cast<std::size_t>(candidate.index[i])];
        weights_[i] = candidate.weight[i];
    }
    simplex_ = kept;
    num_vertices_ = candidate.size;
    direction_ = candidate.direction;
}

GjkStatus Gjk::add(const Vector3d& a, const Vector3d& b) {
    ++iterations_;
    ++idle_;
    const Vector3d w = b - a;
    size_ = std::max(size_, w.norm());
    const double margin = direction_.dot(w), noise = 4.0 * kUnitRounding * size_;
    if (margin > lower_ + noise) idle_ = 0;
    if (margin > lower_) {
        lower_ = margin;
        best_direction_ = direction_;
    }
    if (bounds_agree()) return GjkStatus::Converged;
    for (std::size_t i = 0; i < count(); ++i) {
        if (simplex_[i].w == w) return GjkStatus::Stalled;
    }
    simplex_[count()] = {w, a, b};
    ++num_vertices_;
    if (num_vertices_ == 4 && contains_origin()) {
        upper_ = 0.0;
        return GjkStatus::Overlap;
    }

    Candidate best;
    for (int i = 0; i < num_vertices_; ++i) {
        offer_vertex(best, i);
        for (int j = 0; j < i; ++j) offer_edge(best, j, i);
    }
    for (int i = 0; i < num_vertices_; ++i) {
        for (int j = 0; j < i; ++j) {
            for (int k = 0; k < j; ++k) offer_face(best, k, j, i);
        }
    }
    keep(best);
    if (best.distance <= noise) {
        upper_ = 0.0;
        return GjkStatus::Overlap;
    }
    if (best.distance < upper_ - noise) idle_ = 0;
    upper_ = std::min(upper_, best.distance);
    if (bounds_agree()) return GjkStatus::Converged;
    return idle_ > kMaxIdle ? GjkStatus::Stalled : GjkStatus::Searching;
}

Vector3d Gjk::closest_a() const {
    Vector3d sum = Vector3d::Zero();
    for (std::size_t i = 0; i < count(); ++i) sum += weights_[i] * simplex_[i].a;
    return sum;
}

Vector3d Gjk::closest_b() const {
    Vector3d sum = Vector3d::Zero();
    for (std::size_t i = 0; i < count(); ++i) sum += weights_[i] * simplex_[i].b;
    return sum;
}

int support(const Eigen::Ref<const Eigen::Matrix3Xd>& points, const Vector3d& direction) {
    int best = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
        const double height = direction.dot(points.col(i));
        if (height > highest) {
            highest = height;
            best = static_cast<int>(i);
        }
    }
    return best;
}

GjkResult gjk_distance(const Eigen::Ref<const Eigen::Matrix3Xd>& a, const Eigen::Ref<const Eigen::Matrix3Xd>& b,
                       const GjkOptions& options) {
    FARFIELD_ASSERT(a.cols() > 0 && b.cols() > 0);
    const bool warm = options.warm_direction.squaredNorm() > 0.0;
    Gjk gjk(warm ? options.warm_direction : Vector3d(b.rowwise().mean() - a.rowwise().mean()), options.tolerance);
    GjkResult result;
    do {
        const Vector3d n = gjk.direction();
        result.status = gjk.add(a.col(support(a, n)), b.col(support(b, -n)));
    } while (result.status == GjkStatus::Searching && gjk.lower() < options.stop_above &&
             gjk.upper() > options.stop_below);
    result.lower = gjk.lower();
    result.upper = gjk.upper();
    result.direction = gjk.best_direction();
    result.on_a = gjk.closest_a();
    result.on_b = gjk.closest_b();
    result.iterations = gjk.iterations();
    return result;
}

}  // namespace farfield
