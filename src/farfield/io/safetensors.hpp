// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Named arrays and texts in one file: the safetensors format, which Python's `safetensors` package reads too.
///
/// Layout: 8 bytes little-endian header length N; N bytes JSON {"__metadata__": {text: text}, name: {"dtype", "shape",
/// "data_offsets": [begin, end]}, ...}, padded with spaces; then the arrays' bytes, little-endian, row-major, without holes
/// or overlaps. Files hold data only. Reading trusts nothing: memory stays proportional to the file, and every defect is
/// a FileError "<place>: what is wrong, what was expected", where place is "file 'x'".
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

enum class TensorType { F64, I64, I32, U8, F32 };
[[nodiscard]] const char* to_string(TensorType type);
[[nodiscard]] std::size_t item_size(TensorType type);

struct Tensor {
    TensorType type = TensorType::F64;
    std::vector<std::int64_t> shape;  ///< row-major; empty = one number
    std::string data;                 ///< little-endian bytes
};

struct TensorFile {
    std::map<std::string, std::string> metadata;  ///< UTF-8
    std::map<std::string, Tensor> tensors;
};

inline constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 25;
inline constexpr std::size_t kMaxRank = 8;

[[nodiscard]] std::string encode_tensors(const TensorFile& file, const std::string& place);
[[nodiscard]] TensorFile decode_tensors(std::string_view bytes, const std::string& place);

/// Complete or not at all: see write_atomically.
void write_tensor_file(const std::filesystem::path& path, const TensorFile& file);
[[nodiscard]] TensorFile read_tensor_file(const std::filesystem::path& path);

}  // namespace farfield
