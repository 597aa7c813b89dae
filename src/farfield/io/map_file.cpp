// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/map_file.hpp"

#include <algorithm>
#include <string>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/tensor_arrays.hpp"

namespace farfield {
namespace {

constexpr const char* kFormat = "farfield.grain_table";
constexpr int kVersion = 1;

Eigen::Map<const Eigen::VectorXf> view(const std::vector<float>& values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::uint64_t parse_hash(const std::string& text, const std::string& place) {
    std::size_t used = 0;
    std::uint64_t value = 0;
    try {
        value = std::stoull(text, &used, 16);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used != text.size() || text.empty())
        fail_file(place, ": outline hash '", text, "', expected hexadecimal digits");
    return value;
}

std::string hex(std::uint64_t value) {
    std::ostringstream text;
    text << std::hex << value;
    return text.str();
}

}  // namespace

void save_table(const std::filesystem::path& path, const grains::Table& table, const grains::MapAudit& audit) {
    TensorFile file;
    set_format(file, kFormat, kVersion);
    file.metadata["outline_a"] = hex(table.outlines[0]);
    file.metadata["outline_b"] = hex(table.outlines[1]);
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
    TensorReader reader(file, file_place(path), kFormat, kVersion);
    TableFile out;
    grains::Table& table = out.table;
    table.outlines = {parse_hash(reader.text("outline_a"), reader.place()),
                      parse_hash(reader.text("outline_b"), reader.place())};
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
