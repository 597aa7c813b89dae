// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Whole files in and out. A file appears complete or not at all.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace farfield {

/// "file 'path'": how error texts name a file.
[[nodiscard]] std::string file_place(const std::filesystem::path& path);

/// Writes to a temporary name in the same folder, flushes it to the disk and renames it over `path`. Whatever fails,
/// `path` keeps what it held, the temporary file is removed, and FileError names the path and the reason.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Whether a file with these first bytes (at most 8) and of this size is worth reading: throws FileError when not.
using HeadCheck = void (*)(std::string_view head, std::uintmax_t size, const std::string& place);

/// The bytes of a regular file; `check` runs before the bulk is read, so a huge foreign file is refused at once.
[[nodiscard]] std::string read_whole(const std::filesystem::path& path, HeadCheck check);

}  // namespace farfield
