// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/table_map.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>

#include "farfield/base/error.hpp"
#include "farfield/geometry/polygon_obstacle.hpp"
#include "farfield/grains/grid_label.hpp"
#include "farfield/grains/table_lanes.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;

// Slices avoid angles at which edges of like shapes are exactly parallel.
constexpr double kSlicePhase = 0.381966;

class TableMap final : public ContactMap {
 public:
    TableMap(std::shared_ptr<const Table> table, double scale, std::string description)
        : table_(std::move(table)), description_(std::move(description)) {
        view_.distance = table_->distance.data();
        view_.arm = table_->arm.data();
        view_.num_theta = table_->num_theta;
        view_.num_space = table_->num_space;
        view_.scale = scale;
        view_.inverse_scale = 1.0 / scale;
        view_.half_width = table_->half_width;
        view_.per_space = (table_->num_space - 1) / (2.0 * table_->half_width);
        view_.first_theta = table_->first_theta;
        view_.per_theta = table_->num_theta / table_->period;
        // d changes by at most 1 per unit of X and by turn_radius per radian; a node farther than that from its
        // neighbourhood proves separation. Half as much again covers the interpolation.
        view_.clear = static_cast<float>(
            1.5 * (std::numbers::sqrt2 * 0.5 / view_.per_space + 0.5 * table_->turn_radius / view_.per_theta));
    }

    void evaluate(std::span<const Relative> poses, MapValue* values) const override {
        evaluate_table(view_, poses.data(), poses.size(), values);
    }

    [[nodiscard]] std::string description() const override { return description_; }

 private:
    std::shared_ptr<const Table> table_;
    TableView view_;
    std::string description_;
};

void fill_slice(const GrainShape& a, const GrainShape& b, double theta, const TableOptions& options, Table& table,
                int slice) {
    const int n = table.num_space;
    const Polygon turned = transformed(b.outline, theta, Vector2d::Zero());
    const std::vector<ContactSegment> boundary = obstacle_boundary(a.outline, turned);
    const double spacing = 2.0 * table.half_width / (n - 1), reach = a.radius + b.radius;
    const auto first = static_cast<std::size_t>(slice + 1) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            const Vector2d shift(-table.half_width + i * spacing, -table.half_width + j * spacing);
            const bool meet = shift.norm() < reach && interiors_meet(a.outline, turned, shift);
            const PolygonDistance found = distance_to_boundary(boundary, shift, meet);
            const std::size_t at = first + static_cast<std::size_t>(i * n + j);
            table.distance[at] = static_cast<float>(
                options.labels == LabelMode::Exact ? found.distance : grid_label(a.outline, turned, shift));
            table.arm[at] = static_cast<float>(0.5 * (found.point_a + found.point_b).dot(found.normal));
        }
    }
}

double ratio_of(const GrainShape& a, const GrainShape& b) { return b.radius / a.radius; }

}  // namespace

void validate(const TableOptions& options) {
    if (options.theta < 8 || options.theta > 4096) fail("table: theta ", options.theta, ", expected 8 to 4096 slices");
    if (options.space < 16 || options.space > 1024) fail("table: space ", options.space, ", expected 16 to 1024 nodes");
}

Table build_table(const GrainShape& shape_a, const GrainShape& shape_b, const TableOptions& options, ThreadPool& pool,
                  const std::function<void(int, int)>& progress) {
    validate(options);
    const double scale = std::max(shape_a.radius, shape_b.radius);
    const GrainShape a = scaled(shape_a, shape_a.radius / scale), b = scaled(shape_b, shape_b.radius / scale);
    Table table;
    table.num_theta = std::max(12, (options.theta + b.symmetry - 1) / b.symmetry);
    table.num_space = options.space;
    table.period = 2.0 * std::numbers::pi / b.symmetry;
    table.first_theta = kSlicePhase * table.period / table.num_theta;
    // Two nodes beyond the circumcircles, so that every stencil near contact is complete.
    table.half_width = (a.radius + b.radius) * (options.space - 1) / (options.space - 5.0);
    table.turn_radius = b.radius;
    table.radius_ratio = ratio_of(a, b);
    table.outlines = {outline_hash(a), outline_hash(b)};
    table.distance.resize(table.num_values());
    table.arm.resize(table.num_values());
    std::atomic<int> done{0};
    pool.run(table.num_theta, [&](int slice) {
        fill_slice(a, b, table.first_theta + slice * table.period / table.num_theta, options, table, slice);
        const int now = done.fetch_add(1) + 1;
        if (progress) progress(now, table.num_theta);
    });
    const std::size_t slice_size =
        static_cast<std::size_t>(table.num_space) * static_cast<std::size_t>(table.num_space);
    for (std::vector<float>* field : {&table.distance, &table.arm}) {
        const auto copy = [&](int from, int to) {
            std::copy_n(field->begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(from) * slice_size),
                        slice_size,
                        field->begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(to) * slice_size));
        };
        copy(table.num_theta, 0);  // stored slice s + 1 is slice s
        copy(1, table.num_theta + 1);
        copy(2, table.num_theta + 2);
    }
    return table;
}

std::shared_ptr<const ContactMap> make_table_map(std::shared_ptr<const Table> table, const GrainShape& a,
                                                 const GrainShape& b) {
    const std::string place = "contact map of '" + a.name + "' and '" + b.name + "'";
    if (table->outlines != std::array{outline_hash(a), outline_hash(b)})
        fail(place, ": built for other outlines, expected the hashes of these shapes (train them anew)");
    if (std::abs(table->radius_ratio - ratio_of(a, b)) > 1e-9 * table->radius_ratio)
        fail(place, ": built for a ratio of radii ", table->radius_ratio, ", expected ", ratio_of(a, b));
    if (table->num_theta < 4 || table->num_space < 8 || table->distance.size() != table->num_values() ||
        table->arm.size() != table->num_values() || !(table->period > 0.0) || !(table->half_width > 0.0))
        fail(place, ": inconsistent sizes");
    const auto finite = [](float v) { return std::isfinite(v); };
    if (!std::all_of(table->distance.begin(), table->distance.end(), finite) ||
        !std::all_of(table->arm.begin(), table->arm.end(), finite))
        fail(place, ": holds a value that is not finite");
    const std::string text = "table " + std::to_string(table->num_theta) + "x" + std::to_string(table->num_space) +
                             "x" + std::to_string(table->num_space) + " " + a.name + " " + b.name;
    return std::make_shared<const TableMap>(std::move(table), std::max(a.radius, b.radius), text);
}

}  // namespace farfield::grains
