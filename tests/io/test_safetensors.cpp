// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/safetensors.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "farfield/base/error.hpp"
#include "farfield/io/atomic_file.hpp"
#include "io/full_scene.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

/// A file with this header text and data.
std::string with_header(const std::string& header, const std::string& data = "") {
    std::string bytes(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
    return bytes + header + data;
}

std::string decode_error(const std::string& bytes) {
    return error_of([&] { (void)decode_tensors(bytes, "file 'x'"); });
}

TensorFile example() {
    TensorFile file;
    file.metadata = {{"format", "test"}, {"größe", "line\nbreak \"quote\""}};
    file.tensors["u8"] = {TensorType::U8, {3}, std::string("\x00\xff\x7f", 3)};
    file.tensors["f64"] = {TensorType::F64, {2, 1}, std::string(16, '\x3f')};
    file.tensors["i32"] = {TensorType::I32, {}, std::string(4, '\x01')};
    file.tensors["i64"] = {TensorType::I64, {1}, std::string(8, '\xfe')};
    file.tensors["none"] = {TensorType::F64, {0, 3}, ""};
    return file;
}

}  // namespace

TEST_SUITE_BEGIN("io");

TEST_CASE("tensors and texts come back bit for bit, from bytes and from a file") {
    const TensorFile file = example();
    const TemporaryFolder folder;
    write_tensor_file(folder / "ünïcode.safetensors", file);
    for (const TensorFile& back :
         {decode_tensors(encode_tensors(file, "x"), "x"), read_tensor_file(folder / "ünïcode.safetensors")}) {
        CHECK(back.metadata == file.metadata);
        REQUIRE(back.tensors.size() == file.tensors.size());
        for (const auto& [name, tensor] : file.tensors) {
            CAPTURE(name);
            REQUIRE(back.tensors.contains(name));
            CHECK(back.tensors.at(name).type == tensor.type);
            CHECK(back.tensors.at(name).shape == tensor.shape);
            CHECK(back.tensors.at(name).data == tensor.data);
        }
    }
    CHECK(folder.num_files() == 1);
}

TEST_CASE("the layout is the published one") {
    TensorFile file;
    file.tensors["a"] = {TensorType::I32, {1}, std::string("\x01\x02\x03\x04", 4)};
    const std::string header = R"({"a":{"data_offsets":[0,4],"dtype":"I32","shape":[1]}})";
    const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
    CHECK(encode_tensors(file, "x") == with_header(padded, "\x01\x02\x03\x04"));
}

TEST_CASE("every defect of a file is named") {
    const std::string data(8, '\0');
    const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
        return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
    };
    CHECK(decode_error(with_header(entry("F64", "[1]", "[0,8]"), data)).empty());
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "file 'x': 0 bytes, expected at least 8"},
        {"1234567", "file 'x': 7 bytes, expected at least 8"},
        {std::string(8, '\xff'), "file 'x': header of 18446744073709551615 bytes, expected at most"},
        {with_header("{}").substr(0, 9), "header of 2 bytes in a file of 9 bytes, expected at most 1"},
        {with_header(""), "header: byte 1 is not valid"},
        {with_header("{"), "header: byte 2 is not valid"},
        {with_header("[]"), "header is not a JSON object"},
        {with_header("{\"a\xff\":{}}"), "is not valid, expected UTF-8 JSON"},
        {with_header("{\"a\":1e999}"), "a number is out of range"},
        {with_header("{}", "x"), "1 bytes of data, expected 0 (trailing bytes)"},
        {with_header("{} x"), "is not valid"},
        {with_header(R"({"a":{"b":{"c":[[]]}}})"), "nested deeper than 3 levels"},
        {with_header(std::string(1'000'000, '[')), "nested deeper than 3 levels"},
        {with_header(R"({"a":{"dtype":"F64","dtype":"F64"}})"), "key 'dtype' is repeated"},
        {with_header(R"({"__metadata__":{"a":1}})"), "__metadata__ 'a' is not a text"},
        {with_header(R"({"__metadata__":[]})"), "__metadata__ is not an object"},
        {with_header(R"({"a":{}})"), "tensor 'a': expected exactly the keys dtype, shape, data_offsets"},
        {with_header(entry("F16", "[4]", "[0,8]"), data), "tensor 'a': unknown dtype"},
        {with_header(entry("F64", "[-1]", "[0,8]"), data), "shape is not a whole number >= 0"},
        {with_header(entry("F64", "[1.0]", "[0,8]"), data), "shape is not a whole number >= 0"},
        {with_header(entry("F64", "[4294967296,4294967296,0]", "[0,0]")), "extent 4294967296, expected at most"},
        {with_header(entry("F64", "[2147483647,2147483647,2147483647]", "[0,8]"), data),
         "8 bytes of data, expected far more"},
        {with_header(entry("F64", "[1,1,1,1,1,1,1,1,1]", "[0,8]"), data), "shape is not a list of at most 8 numbers"},
        {with_header(entry("F64", "[2]", "[0,8]"), data), "8 bytes of data, expected 16"},
        {with_header(entry("F64", "[2]", "[0,16]"), data),
         "data_offsets [0, 16], expected increasing and at most 8 (truncated?)"},
        {with_header(entry("F64", "[1]", "[8,0]"), data), "data_offsets [8, 0], expected increasing"},
        {with_header(entry("F64", "[1]", "[0]"), data), "data_offsets is not a pair"},
        {with_header(entry("U8", "[4]", "[4,8]"), data), "data starts at byte 4, expected 0"},
        {with_header(
             R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
             data),
         "tensor 'b': data starts at byte 4, expected 8 (no overlap, no hole)"},
    };
    for (const auto& [bytes, expected] : cases) {
        const std::string error = decode_error(bytes);
        CAPTURE(expected);
        CAPTURE(error);
        CHECK(contains(error, expected));
        CHECK(error.starts_with("file 'x': "));
    }
    CHECK_THROWS_AS((void)decode_tensors("", "x"), FileError);
}

TEST_CASE("what cannot be read back is not written") {
    TensorFile file = example();
    file.metadata["a"] = "\xff";
    CHECK(contains(error_of([&] { (void)encode_tensors(file, "file 'x'"); }),
                   "file 'x': a name or text is not valid UTF-8"));
    file = example();
    file.tensors["f64"].shape = {3};
    CHECK(contains(error_of([&] { (void)encode_tensors(file, "x"); }), "tensor 'f64': 16 bytes do not fit its shape"));
    file = example();
    file.tensors["__metadata__"] = file.tensors["f64"];
    CHECK(contains(error_of([&] { (void)encode_tensors(file, "x"); }), "expected another name"));
    file = example();
    file.metadata["long"] = std::string(kMaxHeaderBytes, 'x');
    CHECK(contains(error_of([&] { (void)encode_tensors(file, "x"); }), "expected at most"));
}

TEST_CASE("what is not a readable file is refused with its name") {
    const TemporaryFolder folder;
    const auto read_error = [](const std::filesystem::path& path) {
        const std::string error = error_of([&] { (void)read_tensor_file(path); });
        CHECK(error.starts_with("file '" + path.string() + "': "));
        return error;
    };
    CHECK(contains(read_error(folder / "missing"), "cannot read: No such file or directory"));
    CHECK(contains(read_error(folder / ""), "cannot read: not a regular file"));
    CHECK(contains(read_error("/dev/zero"), "cannot read: not a regular file"));
    write_bytes(folder / "foreign", "<mujoco model=\"ant\"/>");
    CHECK(contains(read_error(folder / "foreign"), "not a safetensors file?"));
    write_bytes(folder / "huge", "<mujoco>");
    std::filesystem::resize_file(folder / "huge", std::uintmax_t{1} << 40);  // sparse: refused without reading it
    CHECK(contains(read_error(folder / "huge"), "not a safetensors file?"));
}

TEST_CASE("a failed write leaves the old file and no other") {
    const TemporaryFolder folder;
    const auto write_error = [](const std::filesystem::path& path) {
        const std::string error = error_of([&] { write_atomically(path, std::string(100'000, 'n')); });
        CHECK(error.starts_with("file '" + path.string() + "': cannot write: "));
        return error;
    };
    CHECK(contains(write_error(folder / "no/such/folder"), "No such file or directory"));
    write_atomically(folder / "a", "old");
    CHECK(contains(write_error(folder / "a" / "b"), "Not a directory"));
    CHECK(contains(write_error("/proc/self/a"), "cannot write"));  // a folder where nobody may create files
    CHECK(contains(write_error(folder / ""), "no file name"));

    std::filesystem::create_directory(folder / "taken");
    CHECK(contains(write_error(folder / "taken"), "directory"));

    // The disk "fills up" half-way: the process may write 4 kB per file.
    struct rlimit before {};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const struct rlimit small { .rlim_cur = 4096, .rlim_max = before.rlim_max };
    const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const std::string error = write_error(folder / "a");
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, old_action);
    CHECK(contains(error, "File too large"));

    CHECK(read_bytes(folder / "a") == "old");
    CHECK(folder.num_files() == 2);  // a and taken
    write_atomically(folder / "a", "new");
    CHECK(read_bytes(folder / "a") == "new");
}

TEST_CASE("a reader never sees a partial file") {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder / "shared";
    TensorFile files[2];
    for (int i = 0; i < 2; ++i)
        files[i].tensors["a"] = {TensorType::U8, {200'000}, std::string(200'000, static_cast<char>('a' + i))};
    write_tensor_file(path, files[0]);
    std::atomic<bool> done{false};
    std::thread writers[2];
    for (int i = 0; i < 2; ++i) {
        writers[i] = std::thread([&, i] {
            for (int n = 0; n < 10; ++n) write_tensor_file(path, files[i]);
            done = true;
        });
    }
    int bad = 0;
    do {
        const std::string data = read_tensor_file(path).tensors.at("a").data;
        if (data != files[0].tensors["a"].data && data != files[1].tensors["a"].data) ++bad;
    } while (!done);
    for (std::thread& writer : writers) writer.join();
    CHECK(bad == 0);
    CHECK(folder.num_files() == 1);
}

TEST_SUITE_END();
