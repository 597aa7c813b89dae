// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/model_file.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "farfield/base/error.hpp"
#include "farfield/base/random.hpp"
#include "farfield/io/safetensors.hpp"
#include "farfield/io/scene_json.hpp"
#include "io/full_scene.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::testing;

namespace {

/// The bytes of the full model after `change` of its tensors and texts.
template <class Change>
std::string changed(Change&& change) {
    static const std::string original = [] {
        const auto model = build_model(full_scene());
        return model_to_bytes(*model, model->default_parameters());
    }();
    TensorFile file = decode_tensors(original, "x");
    change(file);
    return encode_tensors(file, "x");
}

/// What loading says after `change` of the scene's JSON.
template <class Change>
std::string scene_error(Change&& change) {
    const std::string bytes = changed([&](TensorFile& file) {
        nlohmann::json scene = nlohmann::json::parse(file.metadata.at("scene"));
        change(scene);
        file.metadata["scene"] = scene.dump();
    });
    return error_of([&] { (void)model_from_bytes(bytes); });
}

}  // namespace

TEST_SUITE_BEGIN("io");

TEST_CASE("a model with every feature comes back bit for bit") {
    const Scene scene = full_scene();
    const auto model = build_model(scene);
    const Parameters parameters = full_parameters(*model);
    const TemporaryFolder folder;
    save_model(folder / "modèle", *model, parameters);
    CHECK(read_bytes(folder / "modèle") == model_to_bytes(*model, parameters));
    for (const LoadedModel& loaded :
         {load_model(folder / "modèle"), model_from_bytes(model_to_bytes(*model, parameters))}) {
        CHECK(same(loaded.model->scene(), scene));
        CHECK(same(loaded.parameters, parameters));
        CHECK(same(loaded.model->default_parameters(), model->default_parameters()));
        CHECK(same(loaded.model->default_state().q, model->default_state().q));
        CHECK(same(loaded.model->default_control(), model->default_control()));
        CHECK(loaded.model->collision().pairs.size() == model->collision().pairs.size());
        CHECK(loaded.model->excluded_pairs() == model->excluded_pairs());
        CHECK(loaded.model->warnings() == model->warnings());
        CHECK(model_to_bytes(*loaded.model, loaded.parameters) == model_to_bytes(*model, parameters));
    }
    CHECK_FALSE(same(parameters, model->default_parameters()));
}

TEST_CASE("an empty scene comes back") {
    const auto model = build_model(Scene{});
    const LoadedModel loaded = model_from_bytes(model_to_bytes(*model, model->default_parameters()));
    CHECK(same(loaded.model->scene(), Scene{}));
}

TEST_CASE("files of an earlier version are refused, the time step of a scene is kept") {
    const std::string bytes = changed([](TensorFile& file) { file.metadata["version"] = "1"; });
    CHECK_THROWS_AS(static_cast<void>(model_from_bytes(bytes)), FileError);
    CHECK(model_from_bytes(changed([](TensorFile&) {})).model->default_dt() == 0.01 / 3.0);
    CHECK(contains(scene_error([](nlohmann::json& s) { s["dt"] = "soon"; }), "scene.dt: \"soon\", expected a number"));
    CHECK(contains(scene_error([](nlohmann::json& s) { s["dt"] = -1; }), "dt = -1, expected > 0 [s]"));
}

TEST_CASE("scene numbers keep their bits, also the odd ones") {
    Scene scene = full_scene();
    Random random(7);
    for (int i = 0; i < 2000; ++i) {
        double value = std::bit_cast<double>(random());
        if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
        scene.shapes[0].friction = value;
        CAPTURE(value);
        REQUIRE(same(scene_from_json(scene_to_json(scene, "x"), "x").shapes[0].friction, value));
    }
    scene.shapes[0].color = {-0.0, 5e-324, kInfinity, -kInfinity};
    scene.shapes[0].size[0] = std::numeric_limits<double>::max();
    scene.bodies[1].parent = std::numeric_limits<int>::min();
    Scene back = scene_from_json(scene_to_json(scene, "x"), "x");
    back.meshes = scene.meshes;  // their arrays are kept apart
    CHECK(same(back, scene));
}

TEST_CASE("foreign, newer and truncated files are refused") {
    const auto load_error = [](const std::string& bytes) { return error_of([&] { (void)model_from_bytes(bytes); }); };
    CHECK(load_error(changed([](TensorFile&) {})).empty());
    CHECK(contains(load_error(changed([](TensorFile& f) { f.metadata.erase("format"); })),
                   "no format, expected 'farfield.model'"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.metadata["format"] = "farfield.state"; })),
                   "format 'farfield.state', expected 'farfield.model'"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.metadata["version"] = "6"; })),
                   "version 6, expected at most 5 (written by a newer Farfield)"));
    for (const char* version : {"", "1x", "-1", "0", "99999999999999999999"}) {
        CHECK(contains(load_error(changed([&](TensorFile& f) { f.metadata["version"] = version; })),
                       "expected a number >= 1"));
    }
    CHECK(contains(load_error(changed([](TensorFile& f) { f.metadata.erase("scene"); })), "no text 'scene'"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.metadata["extra"] = ""; })), "unknown text 'extra'"));
    CHECK(contains(load_error(changed([](TensorFile& f) {
                       f.tensors["extra"] = {TensorType::U8, {0}, ""};
                   })),
                   "unknown tensor 'extra'"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.tensors.erase("mesh.1.vertices"); })),
                   "no tensor 'mesh.1.vertices'"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.tensors["mesh.1.vertices"].type = TensorType::I64; })),
                   "tensor 'mesh.1.vertices': dtype I64, expected F64"));
    CHECK(contains(load_error(changed([](TensorFile& f) {
                       f.tensors["mesh.1.vertices"].shape = {3, 8};
                   })),
                   "tensor 'mesh.1.vertices': shape (3, 8), expected (any, 3)"));
    CHECK(contains(load_error(changed([](TensorFile& f) { f.tensors["mesh.1.vertices"].shape = {24}; })),
                   "rank 1, expected 2"));
    CHECK(contains(load_error(changed([](TensorFile& f) {
                       f.tensors["parameters.gravity"] = {TensorType::F64, {2}, std::string(16, '\0')};
                   })),
                   "tensor 'parameters.gravity': shape (2, 1), expected (3, 1)"));
    CHECK(contains(load_error(changed([](TensorFile& f) {
                       f.tensors["parameters.kp"] = {TensorType::F64, {2}, std::string(16, '\0')};
                   })),
                   "parameters: kp has 2 rows, expected " + std::to_string(full_actuators().size())));
    const TemporaryFolder folder;
    const std::string bytes = changed([](TensorFile&) {});
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 50) {
        write_bytes(folder / "cut", bytes.substr(0, size));
        const std::string error = error_of([&] { (void)load_model(folder / "cut"); });
        CHECK(error.starts_with("file '" + (folder / "cut").string() + "': "));
    }
}

TEST_CASE("what is wrong with a scene is named") {
    using nlohmann::json;
    const std::string place = "model_from_bytes: scene";
    CHECK(scene_error([](json&) {}).empty());
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["joints"][1]["damping"] = "high"; }),
                   place + ".bodies[2].joints[1].damping: \"high\", expected a number"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["joints"][1]["type"] = "weld"; }),
                   "expected one of fixed, free, ball"));
    CHECK(contains(scene_error([](json& s) {
                       s["bodies"][2]["position"] = {1, 2};
                   }),
                   ".bodies[2].position: 2 numbers, expected 3"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["parent"] = 1e9; }),
                   ".bodies[2].parent: 1000000000.0, expected a whole number"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["parent"] = 4294967296; }),
                   "4294967296, expected a whole number"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["parent"] = std::numeric_limits<std::uint64_t>::max(); }),
                   "expected a whole number"));
    CHECK(contains(scene_error([](json& s) { s["shapes"][2]["group"] = -1; }),
                   "-1, expected a whole number from 0 to 4294967295"));
    CHECK(contains(scene_error([](json& s) { s["shapes"][2]["collides"] = 1; }), "1, expected true or false"));
    CHECK(contains(scene_error([](json& s) { s["shapes"][2].erase("collides"); }), ".shapes[2]: no 'collides'"));
    CHECK(contains(scene_error([](json& s) { s["ties"][0]["x"] = 1; }),
                   ".ties[0]: 5 keys, expected exactly joint, source, ratio, offset"));
    CHECK(contains(scene_error([](json& s) { s["bodies"] = 1; }), ".bodies: 1, expected a list"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][0] = json::array(); }),
                   ".bodies[0]: array, expected an object"));
    // Beyond the syntax: build_model's own checks, with the file's name in front.
    CHECK(contains(scene_error([](json& s) { s["bodies"][1]["moments"]["mass"] = -1; }),
                   "model_from_bytes: build_model: body 'Rümpf 胴体'"));
    CHECK(
        contains(scene_error([](json& s) { s["gravity"][1] = "nan"; }), "gravity[1] = nan, expected a finite number"));
    CHECK(contains(scene_error([](json& s) { s["bodies"][2]["parent"] = 3; }), "makes a cycle"));
}

TEST_CASE("parameters that do not fit the model are not saved") {
    const auto model = build_model(full_scene());
    const TemporaryFolder folder;
    Parameters parameters = model->default_parameters();
    parameters.kp.resize(1);
    CHECK(contains(error_of([&] { save_model(folder / "a", *model, parameters); }),
                   "save_model: parameters: kp has 1 rows, expected " + std::to_string(full_actuators().size())));
    CHECK(folder.num_files() == 0);
}

TEST_SUITE_END();
