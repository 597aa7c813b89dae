// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact maps of grains in files (safetensors), with their error figures.
#include <filesystem>

#include "farfield/grains/map_audit.hpp"
#include "farfield/grains/table_map.hpp"

namespace farfield {

/// Writes table, outlines and audit, complete or not at all.
void save_table(const std::filesystem::path& path, const grains::Table& table, const grains::MapAudit& audit);

struct TableFile {
    grains::Table table;
    grains::MapAudit audit;
};
/// Throws FileError when the file is missing, damaged, or not a contact map.
[[nodiscard]] TableFile load_table(const std::filesystem::path& path);

}  // namespace farfield
