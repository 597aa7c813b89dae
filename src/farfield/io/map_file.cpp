// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/map_file.hpp"

#include <algorithm>
#include <string>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/tensor_arrays.hpp"

namespace farfield {
namespace {

constexpr const char* kTableFormat = "farfield.grain_table";
constexpr int kTableVersion = 1;

Eigen::Map<const Eigen::VectorXf> view(const std::vector<float>& values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

void save_table(const std::filesystem::path& path, const grains::Table& table, const grains::MapAudit& audit) {
    TensorFile file;
    set_format(file, kTableFormat, kTableVersion);
    file.metadata["outline_a"] = hash_text(table.outlines[0]);
    file.metadata["outline_b"] = hash_text(table.outlines[1]);
    put(file, "sizes", Eigen::Vector2i(table.num_theta, table.num_space));
    Eigen::Matrix<double, 5, 1> frame;
    frame << table.period, table.first_theta, table.half_width, table.turn_radius, table.radius_ratio;
    put(file, "frame", frame);
    Eigen::Matrix<double, 5, 1> errors;  // in circumradii of the larger grain, and degrees
    errors << audit.rmse, audit.normal_median, audit.normal_p90, audit.wrap_jump, static_cast<double>(audit.samples);
    put(file, "audit", errors);
    put(file, "distance", Eigen::VectorXf(view(table.distance)));
    put(file, "arm", Eigen::VectorXf(view(table.arm)));
    write_tensor_file(path, file);
}

TableFile load_table(const std::filesystem::path& path) {
    const TensorFile file = read_tensor_file(path);
    TensorReader reader(file, file_place(path), kTableFormat, kTableVersion);
    TableFile out;
    grains::Table& table = out.table;
    table.outlines = {hash_from_text(reader.text("outline_a"), reader.place()),
                      hash_from_text(reader.text("outline_b"), reader.place())};
    Eigen::Vector2i sizes;
    Eigen::Matrix<double, 5, 1> frame, errors;
    Eigen::VectorXf distance, arm;
    reader.read("sizes", sizes);
    reader.read("frame", frame);
    reader.read("audit", errors);
    reader.read("distance", distance);
    reader.read("arm", arm);
    reader.finish();
    table.num_theta = sizes[0];
    table.num_space = sizes[1];
    table.period = frame[0];
    table.first_theta = frame[1];
    table.half_width = frame[2];
    table.turn_radius = frame[3];
    table.radius_ratio = frame[4];
    table.distance.assign(distance.begin(), distance.end());
    table.arm.assign(arm.begin(), arm.end());
    if (table.num_theta < 1 || table.num_space < 1 || table.distance.size() != table.num_values() ||
        table.arm.size() != table.num_values())
        fail_file(reader.place(), ": ", table.num_theta, " x ", table.num_space, " x ", table.num_space,
                  " nodes do not fit the data");
    out.audit = {errors[0], errors[1], errors[2], errors[3], static_cast<int>(errors[4])};
    return out;
}

}  // namespace farfield
