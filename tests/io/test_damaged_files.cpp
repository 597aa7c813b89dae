// SPDX-License-Identifier: Apache-2.0
/// @file  Thousands of damaged files: each loads or throws, never crashes, and never takes much memory.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "farfield/base/random.hpp"
#include "farfield/io/model_file.hpp"
#include "farfield/io/trajectory_file.hpp"
#include "io/full_scene.hpp"

using namespace farfield;
using namespace farfield::testing;
using nlohmann::json;

namespace {

struct Pieces {
    json header;
    std::string data;
};

Pieces take_apart(const std::string& bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    return {json::parse(bytes.substr(8, length)), bytes.substr(8 + length)};
}

std::string put_together(const Pieces& pieces) {
    const std::string text = pieces.header.dump();
    const std::uint64_t length = text.size();
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, 8);
    return bytes + text + pieces.data;
}

std::size_t pick(Random& random, std::size_t count) {
    return static_cast<std::size_t>(uniform_index(random, static_cast<int>(count)));
}

/// Values that break assumptions.
json odd_value(Random& random) {
    static const std::vector<json> values{nullptr,
                                          true,
                                          false,
                                          0,
                                          1,
                                          -1,
                                          2,
                                          7,
                                          2147483647,
                                          -2147483648LL,
                                          4294967296LL,
                                          std::numeric_limits<std::uint64_t>::max(),
                                          0.5,
                                          -0.0,
                                          1e308,
                                          -1e308,
                                          1e-308,
                                          "",
                                          "nan",
                                          "inf",
                                          "-inf",
                                          "world",
                                          "F64",
                                          "I32",
                                          "x\u0000y",
                                          std::string(10'000, 'a'),
                                          json::array(),
                                          json::object(),
                                          json::array({0, 0}),
                                          json::array({0, 0, 0}),
                                          json::array({1e200, 1e200, 1e200}),
                                          json::array({1, 0, 0, 0}),
                                          {{"lower", 1}, {"upper", 0}}};
    return values[pick(random, values.size())];
}

/// Replaces, removes or doubles one randomly chosen value inside.
void damage(json& root, Random& random) {
    std::vector<json*> all{&root};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i]->is_structured()) {
            for (json& child : *all[i]) all.push_back(&child);
        }
    }
    json& chosen = *all[pick(random, all.size())];
    const std::size_t action = pick(random, 6);
    if (action == 0 && chosen.is_object() && !chosen.empty()) {
        chosen.erase(std::next(chosen.begin(), static_cast<std::ptrdiff_t>(pick(random, chosen.size()))));
    } else if (action == 1 && chosen.is_array() && !chosen.empty()) {
        chosen.push_back(chosen[pick(random, chosen.size())]);
    } else if (action == 2 && chosen.is_number()) {
        chosen = chosen.get<double>() * 1e6 * normal(random);
    } else if (action == 3) {
        chosen = json(*all[pick(random, all.size())]);
    } else {
        chosen = odd_value(random);
    }
}

using Mutation = std::function<std::string(const std::string&, Random&)>;

std::string truncate(const std::string& bytes, Random& random) { return bytes.substr(0, pick(random, bytes.size())); }

std::string flip(const std::string& bytes, Random& random) {
    std::string result = bytes;
    for (std::size_t n = 1 + pick(random, 4); n > 0; --n) {
        result[pick(random, result.size())] ^= static_cast<char>(1 << pick(random, 8));
    }
    return result;
}

std::string splice(const std::string& bytes, Random& random) {
    std::string result = bytes;
    const std::size_t from = pick(random, bytes.size()),
                      length = pick(random, std::min<std::size_t>(64, bytes.size() - from)) + 1;
    const std::string part = bytes.substr(from, length);
    const std::size_t to = pick(random, bytes.size());
    return pick(random, 2) == 0 ? result.insert(to, part)
                                : result.replace(to, std::min(length, bytes.size() - to), part);
}

std::string edit_length(const std::string& bytes, Random& random) {
    std::string result = bytes;
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    const std::uint64_t choices[] = {0,
                                     1,
                                     length - 1,
                                     length + 1,
                                     length + 8,
                                     bytes.size(),
                                     bytes.size() - 8,
                                     ~std::uint64_t{0},
                                     random(),
                                     random() % 100'000};
    length = choices[pick(random, std::size(choices))];
    std::memcpy(result.data(), &length, 8);
    return result;
}

std::string edit_header(const std::string& bytes, Random& random) {
    Pieces pieces = take_apart(bytes);
    damage(pieces.header, random);
    return put_together(pieces);
}

std::string edit_scene(const std::string& bytes, Random& random) {
    Pieces pieces = take_apart(bytes);
    json& text = pieces.header["__metadata__"]["scene"];
    json scene = json::parse(text.get<std::string>());
    damage(scene, random);
    text = scene.dump();
    return put_together(pieces);
}

std::string edit_data(const std::string& bytes, Random& random) {
    Pieces pieces = take_apart(bytes);
    const double values[] = {
        0.0, -1.0, 1e300, -1e300, 1e-300, kInfinity, std::numeric_limits<double>::quiet_NaN(), normal(random)};
    const std::size_t width = pick(random, 2) == 0 ? 8 : 4;
    std::memcpy(pieces.data.data() + width * pick(random, pieces.data.size() / width),
                &values[pick(random, std::size(values))], width);
    return put_together(pieces);
}

/// JSON that a careless parser chokes on, inserted where the header or the scene is.
std::string edit_text(const std::string& bytes, Random& random) {
    const Pieces pieces = take_apart(bytes);
    std::string text = pieces.header.dump();
    const std::string inserts[] = {std::string(5000, '['),
                                   std::string(5000, '{'),
                                   "\"a\":",
                                   "1e9999",
                                   "\xff\xfe",
                                   "\xed\xa0\x80",
                                   "\\ud800",
                                   ",",
                                   "}",
                                   "\"",
                                   "-",
                                   "null"};
    text.insert(pick(random, text.size()), inserts[pick(random, std::size(inserts))]);
    const std::uint64_t length = text.size();
    std::string result(8, '\0');
    std::memcpy(result.data(), &length, 8);
    return result + text + pieces.data;
}

struct Outcome {
    int loaded = 0, refused = 0;
};

/// Two mutations in a row every third time.
Outcome attack(const std::string& bytes, const Mutation& mutation, int count, Random& random,
               const std::function<void(const std::string&)>& load) {
    Outcome outcome;
    for (int i = 0; i < count; ++i) {
        const std::string damaged = i % 3 == 2 ? flip(mutation(bytes, random), random) : mutation(bytes, random);
        try {
            load(damaged);
            ++outcome.loaded;
        } catch (const std::exception& error) {
            const std::string text = error.what();
            CHECK(text.find("_from_bytes: ") < 32);  // names its place
            CHECK(text.find("internal error") == std::string::npos);
            ++outcome.refused;
        }
    }
    return outcome;
}

/// [bytes], the most this process ever held.
std::size_t peak_memory() {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

const std::vector<std::pair<std::string, Mutation>> kMutations{
    {"truncate", truncate},       {"flip", flip},
    {"splice", splice},           {"edit_length", edit_length},
    {"edit_header", edit_header}, {"edit_scene", edit_scene},
    {"edit_data", edit_data},     {"edit_text", edit_text}};

}  // namespace

TEST_SUITE_BEGIN("io");

TEST_CASE("damaged model files load or are refused") {
    const auto model = build_model(full_scene());
    const std::string bytes = model_to_bytes(*model, full_parameters(*model));
    Random random(20240611);
    const std::size_t before = peak_memory();
    for (const auto& [name, mutation] : kMutations) {
        const Outcome outcome =
            attack(bytes, mutation, 500, random, [](const std::string& damaged) { (void)model_from_bytes(damaged); });
        CAPTURE(name);
        CHECK(outcome.refused > 0);
    }
    CHECK(peak_memory() - before < std::size_t{1} << 30);
}

TEST_CASE("damaged trajectory files load or are refused") {
    const auto model = build_model(full_scene());
    const RolloutInput input{.state0 = model->default_state(), .controls = RowMatrix::Zero(4, model->num_controls())};
    const std::string bytes = trajectory_to_bytes(rollout(model, full_parameters(*model), input, {}));
    Random random(99);
    const std::size_t before = peak_memory();
    for (const auto& [name, mutation] : kMutations) {
        const Outcome outcome = attack(bytes, mutation, 250, random,
                                       [](const std::string& damaged) { (void)trajectory_from_bytes(damaged); });
        CAPTURE(name);
        CHECK(outcome.refused > 0);
    }
    CHECK(peak_memory() - before < std::size_t{1} << 30);
}

TEST_SUITE_END();
