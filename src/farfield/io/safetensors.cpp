// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "farfield/base/error.hpp"
#include "farfield/io/atomic_file.hpp"
#include "farfield/io/strict_json.hpp"

namespace farfield {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "arrays are copied byte for byte");

constexpr std::array kTypes{TensorType::F64, TensorType::F32, TensorType::I64, TensorType::I32, TensorType::U8};
constexpr std::size_t kLengthBytes = 8;
constexpr const char* kMetadata = "__metadata__";
constexpr int kMaxHeaderDepth = 3;  // header object, tensor object, list of numbers

std::optional<TensorType> find_type(const std::string& name) {
    for (const TensorType type : kTypes) {
        if (name == to_string(type)) return type;
    }
    return std::nullopt;
}

/// The number of bytes of an array, or nothing when the shape is absurd.
std::optional<std::size_t> byte_count(TensorType type, const std::vector<std::int64_t>& shape) {
    constexpr std::size_t kMost = std::numeric_limits<std::int64_t>::max();
    std::size_t count = item_size(type);
    for (const std::int64_t extent : shape) {
        if (extent < 0 || extent > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
        const auto n = static_cast<std::size_t>(extent);
        if (n != 0 && count > kMost / n) return std::nullopt;
        count *= n;
    }
    return count;
}

std::size_t header_length(std::string_view head, std::uintmax_t size, const std::string& place) {
    if (head.size() < kLengthBytes)
        fail_file(place, ": ", size, " bytes, expected at least ", kLengthBytes, " (truncated?)");
    std::uint64_t length = 0;
    std::memcpy(&length, head.data(), kLengthBytes);
    if (length > kMaxHeaderBytes) {
        fail_file(place, ": header of ", length, " bytes, expected at most ", kMaxHeaderBytes,
                  " (not a safetensors file?)");
    }
    if (length > size - kLengthBytes) {
        fail_file(place, ": header of ", length, " bytes in a file of ", size, " bytes, expected at most ",
                  size - kLengthBytes, " (truncated?)");
    }
    return static_cast<std::size_t>(length);
}

void check_head(std::string_view head, std::uintmax_t size, const std::string& place) {
    (void)header_length(head, size, place);
}

std::uint64_t natural(const json& value, const std::string& place, const char* what) {
    if (!value.is_number_unsigned()) fail_file(place, ": ", what, " is not a whole number >= 0");
    return value.get<std::uint64_t>();
}

struct Entry {
    std::size_t begin = 0, end = 0;
    TensorType type = TensorType::F64;
    std::vector<std::int64_t> shape;
    std::string name;
};

Entry read_entry(const std::string& name, const json& value, std::size_t data_size, const std::string& file_place) {
    const std::string place = file_place + ": tensor '" + name + "'";
    if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
        !value.contains("data_offsets")) {
        fail_file(place, ": expected exactly the keys dtype, shape, data_offsets");
    }
    Entry entry{.name = name};
    const json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    const auto type = dtype.is_string() ? find_type(dtype.get<std::string>()) : std::nullopt;
    if (!type) fail_file(place, ": unknown dtype, expected F64, F32, I64, I32 or U8");
    entry.type = *type;
    if (!shape.is_array() || shape.size() > kMaxRank)
        fail_file(place, ": shape is not a list of at most ", kMaxRank, " numbers");
    for (const json& extent : shape) {
        const std::uint64_t n = natural(extent, place, "shape");
        if (n > std::numeric_limits<std::int32_t>::max()) {
            fail_file(place, ": extent ", n, ", expected at most ", std::numeric_limits<std::int32_t>::max());
        }
        entry.shape.push_back(static_cast<std::int64_t>(n));
    }
    if (!offsets.is_array() || offsets.size() != 2) fail_file(place, ": data_offsets is not a pair of numbers");
    const std::uint64_t begin = natural(offsets[0], place, "data_offsets"),
                        end = natural(offsets[1], place, "data_offsets");
    if (begin > end || end > data_size) {
        fail_file(place, ": data_offsets [", begin, ", ", end, "], expected increasing and at most ", data_size,
                  " (truncated?)");
    }
    entry.begin = static_cast<std::size_t>(begin);
    entry.end = static_cast<std::size_t>(end);
    const auto bytes = byte_count(entry.type, entry.shape);
    if (!bytes || *bytes != entry.end - entry.begin) {
        fail_file(place, ": ", entry.end - entry.begin, " bytes of data, expected ",
                  bytes ? std::to_string(*bytes) : std::string("far more"), " for its dtype and shape");
    }
    return entry;
}

void read_metadata(const json& value, TensorFile& file, const std::string& place) {
    if (!value.is_object()) fail_file(place, ": ", kMetadata, " is not an object");
    for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) fail_file(place, ": ", kMetadata, " '", key, "' is not a text");
        file.metadata[key] = text.get<std::string>();
    }
}

/// The arrays must tile the data: no hole, no overlap, nothing left over.
void check_tiling(std::vector<Entry>& entries, std::size_t data_size, const std::string& place) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    std::size_t expected = 0;
    for (const Entry& entry : entries) {
        if (entry.begin != expected) {
            fail_file(place, ": tensor '", entry.name, "': data starts at byte ", entry.begin, ", expected ", expected,
                      " (no overlap, no hole)");
        }
        expected = entry.end;
    }
    if (expected != data_size)
        fail_file(place, ": ", data_size, " bytes of data, expected ", expected, " (trailing bytes)");
}

}  // namespace

const char* to_string(TensorType type) {
    switch (type) {
        case TensorType::F64:
            return "F64";
        case TensorType::F32:
            return "F32";
        case TensorType::I64:
            return "I64";
        case TensorType::I32:
            return "I32";
        case TensorType::U8:
            return "U8";
    }
    return "?";
}

std::size_t item_size(TensorType type) {
    switch (type) {
        case TensorType::F64:
        case TensorType::I64:
            return 8;
        case TensorType::F32:
        case TensorType::I32:
            return 4;
        case TensorType::U8:
            return 1;
    }
    return 0;
}

std::string encode_tensors(const TensorFile& file, const std::string& place) {
    json header = json::object();
    if (!file.metadata.empty()) header[kMetadata] = file.metadata;
    std::vector<const std::pair<const std::string, Tensor>*> order;
    for (const auto& item : file.tensors) order.push_back(&item);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) {  // wide items first: all stay aligned
                         return item_size(a->second.type) > item_size(b->second.type);
                     });
    std::size_t offset = 0;
    for (const auto* item : order) {
        const auto& [name, tensor] = *item;
        if (name == kMetadata) fail_file(place, ": tensor named '", name, "', expected another name");
        if (tensor.shape.size() > kMaxRank)
            fail_file(place, ": tensor '", name, "': rank ", tensor.shape.size(), ", expected at most ", kMaxRank);
        const auto bytes = byte_count(tensor.type, tensor.shape);
        if (!bytes || *bytes != tensor.data.size())
            fail_file(place, ": tensor '", name, "': ", tensor.data.size(), " bytes do not fit its shape");
        header[name] = {{"dtype", to_string(tensor.type)},
                        {"shape", tensor.shape},
                        {"data_offsets", {offset, offset + tensor.data.size()}}};
        offset += tensor.data.size();
    }
    std::string text = dump_strict(header, place);
    text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
    if (text.size() > kMaxHeaderBytes)
        fail_file(place, ": header of ", text.size(), " bytes, expected at most ", kMaxHeaderBytes);
    const std::uint64_t length = text.size();
    std::string bytes(kLengthBytes, '\0');
    std::memcpy(bytes.data(), &length, kLengthBytes);
    bytes.reserve(kLengthBytes + text.size() + offset);
    bytes += text;
    for (const auto* item : order) bytes += item->second.data;
    return bytes;
}

TensorFile decode_tensors(std::string_view bytes, const std::string& place) {
    const std::size_t length = header_length(bytes.substr(0, kLengthBytes), bytes.size(), place);
    const json header = parse_strict(bytes.substr(kLengthBytes, length), place + ": header", kMaxHeaderDepth);
    if (!header.is_object()) fail_file(place, ": header is not a JSON object (not a safetensors file?)");
    const std::string_view data = bytes.substr(kLengthBytes + length);
    TensorFile file;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
        if (name == kMetadata) {
            read_metadata(value, file, place);
        } else {
            entries.push_back(read_entry(name, value, data.size(), place));
        }
    }
    check_tiling(entries, data.size(), place);
    for (Entry& entry : entries) {
        file.tensors[entry.name] = Tensor{.type = entry.type,
                                          .shape = std::move(entry.shape),
                                          .data = std::string(data.substr(entry.begin, entry.end - entry.begin))};
    }
    return file;
}

void write_tensor_file(const std::filesystem::path& path, const TensorFile& file) {
    write_atomically(path, encode_tensors(file, file_place(path)));
}

TensorFile read_tensor_file(const std::filesystem::path& path) {
    return decode_tensors(read_whole(path, &check_head), file_place(path));
}

}  // namespace farfield
