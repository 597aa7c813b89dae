// SPDX-License-Identifier: Apache-2.0
#include "farfield/geometry/polygon_obstacle.hpp"
#include "farfield/grains/contact_map.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;

class ExactMap final : public ContactMap {
 public:
    ExactMap(const GrainShape& a, const GrainShape& b) : a_(a), b_(b) {}

    void evaluate(std::span<const Relative> poses, MapValue* values) const override {
        const double reach = a_.radius + b_.radius;
        for (std::size_t i = 0; i < poses.size(); ++i) {
            const Relative& pose = poses[i];
            const bool apart = pose.x * pose.x + pose.y * pose.y > reach * reach;
            values[i] = apart ? MapValue{} : exact_value(a_, b_, pose);
        }
    }

    [[nodiscard]] std::string description() const override { return "exact " + a_.name + " " + b_.name; }

 private:
    GrainShape a_, b_;
};

}  // namespace

MapValue exact_value(const GrainShape& a, const GrainShape& b, const Relative& pose) {
    const Vector2d shift(pose.x, pose.y);
    const PolygonDistance found = polygon_distance(a.outline, transformed(b.outline, pose.theta, shift));
    const Vector2d &n = found.normal, r = found.point_b - shift;
    // B's witness point moves with S r under a turn of B: d' = n . S r.
    return {found.distance, n.y() * r.x() - n.x() * r.y(), n.x(), n.y(), 0.5 * (found.point_a + found.point_b).dot(n)};
}

std::shared_ptr<const ContactMap> make_exact_map(const GrainShape& a, const GrainShape& b) {
    return std::make_shared<const ExactMap>(a, b);
}

}  // namespace farfield::grains
