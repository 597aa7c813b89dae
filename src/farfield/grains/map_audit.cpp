// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/map_audit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "farfield/base/error.hpp"
#include "farfield/geometry/polygon_obstacle.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;
constexpr double kBand = 0.02;
constexpr int kAuditsPerAngle = 16;

/// A point of the boundary, uniform by length.
Vector2d boundary_point(const std::vector<ContactSegment>& boundary, double total, Random& random) {
    double along = uniform(random, 0.0, total);
    for (const ContactSegment& segment : boundary) {
        const double length = (segment.q - segment.p).norm();
        if (along <= length) return segment.p + along / length * (segment.q - segment.p);
        along -= length;
    }
    return boundary.back().q;
}

double percentile(std::vector<double>& values, double share) {
    if (values.empty()) return 0.0;
    const auto at = std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())));
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
    return values[at];
}

double length_of(const std::vector<ContactSegment>& boundary) {
    double total = 0.0;
    for (const ContactSegment& segment : boundary) total += (segment.q - segment.p).norm();
    return total;
}

/// Largest difference of d just before and just behind half a turn, where angles wrap [m].
double jump_at_wrap(const ContactMap& map, const GrainShape& a, const GrainShape& b, int samples, Random& random) {
    constexpr double kPi = std::numbers::pi, kAside = 1e-9;
    const std::vector<ContactSegment> boundary =
        obstacle_boundary(a.outline, transformed(b.outline, kPi + kAside, Vector2d::Zero()));
    const double total = length_of(boundary);
    double largest = 0.0;
    for (int k = 0; k < samples; ++k) {
        const Vector2d p = boundary_point(boundary, total, random) * (1.0 - kBand * uniform(random));
        const double before = map.at({kPi - kAside, p.x(), p.y()}).distance;
        const double behind = map.at({kAside - kPi, p.x(), p.y()}).distance;
        if (before < 0.0 && behind < 0.0) largest = std::max(largest, std::abs(before - behind));
    }
    return largest;
}

}  // namespace

MapAudit audit_map(const ContactMap& map, const GrainShape& a, const GrainShape& b, int samples, Random& random) {
    const double scale = std::max(a.radius, b.radius);
    MapAudit audit;
    double squares = 0.0;
    int compared = 0;
    std::vector<double> angles;
    while (audit.samples < samples) {
        const double theta = uniform(random, -std::numbers::pi, std::numbers::pi);
        const Polygon turned = transformed(b.outline, theta, Vector2d::Zero());
        const std::vector<ContactSegment> boundary = obstacle_boundary(a.outline, turned);
        const double total = length_of(boundary);
        for (int k = 0; k < kAuditsPerAngle; ++k, ++audit.samples) {
            const double direction = uniform(random, -std::numbers::pi, std::numbers::pi);
            const double offset = kBand * scale * uniform(random);
            const Vector2d shift =
                boundary_point(boundary, total, random) + offset * Vector2d(std::cos(direction), std::sin(direction));
            const PolygonDistance exact =
                distance_to_boundary(boundary, shift, interiors_meet(a.outline, turned, shift));
            const MapValue value = map.at({theta, shift.x(), shift.y()});
            if (value.distance >= 0.0 && exact.distance >= 0.0) continue;  // a map may say just "apart"
            const double error = (std::min(value.distance, 0.0) - std::min(exact.distance, 0.0)) / scale;
            squares += error * error;
            ++compared;
            if (value.distance >= 0.0 || exact.distance >= 0.0) continue;
            const Vector2d normal = Vector2d(value.g_x, value.g_y).normalized();
            angles.push_back(std::acos(std::clamp(normal.dot(exact.normal), -1.0, 1.0)) * 180.0 / std::numbers::pi);
        }
    }
    audit.rmse = compared > 0 ? std::sqrt(squares / compared) : 0.0;
    audit.normal_median = percentile(angles, 0.5);
    audit.normal_p90 = percentile(angles, 0.9);
    audit.wrap_jump = jump_at_wrap(map, a, b, samples / 8, random) / scale;
    return audit;
}

void require(const MapAudit& audit, const AuditBounds& bounds, const std::string& place) {
    // Written so that NaN fails.
    if (!(audit.rmse <= bounds.rmse))
        fail(place, ": root mean square error near contact ", audit.rmse, " R, expected at most ", bounds.rmse,
             ": raise the table's space and theta (or the network's width and steps)");
    if (!(audit.normal_median <= bounds.normal_median))
        fail(place, ": median normal error ", audit.normal_median, " degrees, expected at most ", bounds.normal_median,
             ": raise the table's space and theta (or the network's width and steps)");
}

}  // namespace farfield::grains
