// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Eigen arrays in and out of a TensorFile, bit for bit.
#include <Eigen/Dense>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <type_traits>

#include "farfield/base/error.hpp"
#include "farfield/io/safetensors.hpp"

namespace farfield {

template <class Scalar>
[[nodiscard]] constexpr TensorType tensor_type() {
    static_assert(std::is_same_v<Scalar, double> || std::is_same_v<Scalar, float> ||
                  std::is_same_v<Scalar, std::int32_t>);
    if constexpr (std::is_same_v<Scalar, float>) return TensorType::F32;
    return std::is_same_v<Scalar, double> ? TensorType::F64 : TensorType::I32;
}

/// A vector becomes shape [n], a row-major matrix [rows, cols].
template <class Array>
void put(TensorFile& file, const std::string& name, const Array& values) {
    static_assert(Array::IsVectorAtCompileTime || Array::IsRowMajor);
    Tensor& tensor = file.tensors[name];
    tensor.type = tensor_type<typename Array::Scalar>();
    if constexpr (Array::IsVectorAtCompileTime) {
        tensor.shape = {values.size()};
    } else {
        tensor.shape = {values.rows(), values.cols()};
    }
    const auto bytes = static_cast<std::size_t>(values.size()) * sizeof(typename Array::Scalar);
    if (bytes > 0) tensor.data.assign(reinterpret_cast<const char*>(values.data()), bytes);
}

/// Reads a TensorFile of a known format and remembers what was read, so that nothing in a file is ignored.
class TensorReader {
 public:
    /// Throws unless the metadata say `format` and a version this library knows.
    TensorReader(const TensorFile& file, std::string place, const std::string& format, int newest_version,
                 int oldest_version = 1);

    [[nodiscard]] const std::string& place() const { return place_; }
    [[nodiscard]] const std::string& text(const std::string& key);

    template <class Array>
    void read(const std::string& name, Array& out) {
        constexpr bool kVector = Array::IsVectorAtCompileTime;
        const Tensor& tensor = find(name, tensor_type<typename Array::Scalar>(), kVector ? 1 : 2);
        const std::int64_t rows = tensor.shape[0], cols = kVector ? 1 : tensor.shape[1];
        const bool fits = (Array::RowsAtCompileTime == Eigen::Dynamic || rows == Array::RowsAtCompileTime) &&
                          (kVector || Array::ColsAtCompileTime == Eigen::Dynamic || cols == Array::ColsAtCompileTime);
        if (!fits) {
            fail_file(place_, ": tensor '", name, "': shape (", rows, ", ", cols, "), expected (",
                      extent(Array::RowsAtCompileTime), ", ", extent(Array::ColsAtCompileTime), ")");
        }
        out.resize(rows, cols);
        if (!tensor.data.empty()) std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
    }

    /// Throws when the file holds a tensor or text that was never read.
    void finish() const;

 private:
    [[nodiscard]] const Tensor& find(const std::string& name, TensorType type, std::size_t rank);
    [[nodiscard]] static std::string extent(int n) { return n == Eigen::Dynamic ? "any" : std::to_string(n); }

    const TensorFile& file_;
    std::string place_;
    std::set<std::string> used_;
};

/// Marks a file as `format`, `version`, for TensorReader.
void set_format(TensorFile& file, const std::string& format, int version);

/// Hash of an outline as hexadecimal digits, and back.
[[nodiscard]] std::string hash_text(std::uint64_t hash);
[[nodiscard]] std::uint64_t hash_from_text(const std::string& text, const std::string& place);

/// Runs `call`; what it finds wrong with the contents of a file becomes a FileError that names the place.
template <class Call>
auto checked_contents(const std::string& place, Call&& call) {
    try {
        return call();
    } catch (const std::invalid_argument& error) {
        fail_file(place, ": ", error.what());
    }
}

}  // namespace farfield
