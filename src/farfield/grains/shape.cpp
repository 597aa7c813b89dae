// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/shape.hpp"

#include <algorithm>
#include <cmath>

#include "farfield/base/error.hpp"

namespace farfield::grains {

GrainShape make_shape(const std::string& name, const Polygon& polygon) {
    validate(polygon, "shape '" + name + "'");
    const AreaMoments moments = area_moments(polygon);
    GrainShape shape;
    shape.name = name;
    shape.outline = transformed(polygon, 0.0, -moments.centroid);
    shape.hull = convex_hull(shape.outline);
    shape.area = moments.area;
    shape.gyration2 = moments.polar / moments.area;
    for (const Eigen::Vector2d& p : shape.hull) shape.radius = std::max(shape.radius, p.norm());
    shape.symmetry = rotational_symmetry(shape.outline, 1e-9 * shape.radius);
    return shape;
}

GrainShape scaled(const GrainShape& shape, double radius) {
    if (!(radius > 0.0) || !std::isfinite(radius))
        fail("shape '", shape.name, "': radius ", radius, ", expected > 0 [m]");
    const double factor = radius / shape.radius;
    GrainShape out = shape;
    for (Ring& ring : out.outline.rings) {
        for (Eigen::Vector2d& p : ring) p *= factor;
    }
    for (Eigen::Vector2d& p : out.hull) p *= factor;
    out.area *= factor * factor;
    out.gyration2 *= factor * factor;
    out.radius = radius;
    return out;
}

std::uint64_t outline_hash(const GrainShape& shape) {
    std::uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a, 64 bits
    const auto mix = [&hash](std::int64_t value) {
        for (int byte = 0; byte < 8; ++byte) {
            hash ^= static_cast<std::uint64_t>(value >> (8 * byte)) & 0xffu;
            hash *= 0x100000001b3ull;
        }
    };
    for (const Ring& ring : shape.outline.rings) {
        mix(static_cast<std::int64_t>(ring.size()));
        for (const Eigen::Vector2d& p : ring) {
            // Rounded, so that the same shape at another size or after another summation has the same hash.
            mix(std::llround(1e8 * p.x() / shape.radius));
            mix(std::llround(1e8 * p.y() / shape.radius));
        }
    }
    return hash;
}

}  // namespace farfield::grains
