// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/tensor_arrays.hpp"

#include <charconv>
#include <sstream>

namespace farfield {

TensorReader::TensorReader(const TensorFile& file, std::string place, const std::string& format, int newest_version,
                           int oldest_version)
    : file_(file), place_(std::move(place)) {
    const auto found = file_.metadata.find("format");
    if (found == file_.metadata.end()) fail_file(place_, ": no format, expected '", format, "' (not a Farfield file?)");
    if (text("format") != format) fail_file(place_, ": format '", found->second, "', expected '", format, "'");
    const std::string& version_text = text("version");
    int version = 0;
    const char* end = version_text.data() + version_text.size();
    const auto [stop, error] = std::from_chars(version_text.data(), end, version);
    if (error != std::errc() || stop != end || version < 1) {
        fail_file(place_, ": version '", version_text, "', expected a number >= 1");
    }
    if (version > newest_version) {
        fail_file(place_, ": version ", version, ", expected at most ", newest_version,
                  " (written by a newer Farfield)");
    }
    if (version < oldest_version) {
        fail_file(place_, ": version ", version, ", expected at least ", oldest_version,
                  " (written by an older Farfield, whose numbers meant something else)");
    }
}

const std::string& TensorReader::text(const std::string& key) {
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) fail_file(place_, ": no text '", key, "', expected one");
    used_.insert("text " + key);
    return found->second;
}

const Tensor& TensorReader::find(const std::string& name, TensorType type, std::size_t rank) {
    const auto found = file_.tensors.find(name);
    if (found == file_.tensors.end()) fail_file(place_, ": no tensor '", name, "', expected one");
    const Tensor& tensor = found->second;
    if (tensor.type != type) {
        fail_file(place_, ": tensor '", name, "': dtype ", to_string(tensor.type), ", expected ", to_string(type));
    }
    if (tensor.shape.size() != rank) {
        fail_file(place_, ": tensor '", name, "': rank ", tensor.shape.size(), ", expected ", rank);
    }
    used_.insert("tensor " + name);
    return tensor;
}

void TensorReader::finish() const {
    for (const auto& [name, tensor] : file_.tensors) {
        if (!used_.contains("tensor " + name)) fail_file(place_, ": unknown tensor '", name, "'");
    }
    for (const auto& [key, value] : file_.metadata) {
        if (!used_.contains("text " + key)) fail_file(place_, ": unknown text '", key, "'");
    }
}

void set_format(TensorFile& file, const std::string& format, int version) {
    file.metadata["format"] = format;
    file.metadata["version"] = std::to_string(version);
}

std::string hash_text(std::uint64_t hash) {
    std::ostringstream text;
    text << std::hex << hash;
    return text.str();
}

std::uint64_t hash_from_text(const std::string& text, const std::string& place) {
    std::size_t used = 0;
    std::uint64_t hash = 0;
    try {
        hash = std::stoull(text, &used, 16);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size()) fail_file(place, ": outline hash '", text, "', expected hexadecimal digits");
    return hash;
}

}  // namespace farfield
