// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/model_file.hpp"

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/model_tensors.hpp"
#include "farfield/io/scene_json.hpp"

namespace farfield {
namespace {

constexpr const char* kModelFormat = "farfield.model";
constexpr int kModelVersion =
    5;  // 2: scenes may state a time step; 3: friction of pairs; 4: tendons, constraints, force ranges;
        // 5: contact policies
constexpr const char* kMemory = "model_from_bytes";

std::string mesh_name(std::size_t index, const char* part) { return "mesh." + std::to_string(index) + "." + part; }

std::string tensor_name(const char* field) { return std::string("parameters.") + field; }

using Number = Eigen::Matrix<double, 1, 1>;

TensorFile model_to_tensors(const Model& model, const Parameters& parameters, const std::string& place) {
    validate(model, parameters, "save_model: parameters");
    TensorFile file;
    set_format(file, kModelFormat, kModelVersion);
    put(file, model, place);
    put(file, parameters);
    return file;
}

LoadedModel model_from_tensors(const TensorFile& file, const std::string& place) {
    TensorReader reader(file, place, kModelFormat, kModelVersion, kModelVersion);
    LoadedModel loaded = read_model(reader);
    reader.finish();
    return loaded;
}

}  // namespace

void put(TensorFile& file, const Model& model, const std::string& place) {
    const Scene& scene = model.scene();
    file.metadata["scene"] = scene_to_json(scene, place);
    for (std::size_t i = 0; i < scene.meshes.size(); ++i) {
        put(file, mesh_name(i, "vertices"), scene.meshes[i].vertices);
        put(file, mesh_name(i, "triangles"), scene.meshes[i].triangles);
    }
}

void put(TensorFile& file, const Parameters& parameters) {
    visit_fields(parameters, [&]<class Value>(const auto& field, const Value& value) {
        if constexpr (std::is_same_v<Value, double>) {
            put(file, tensor_name(field.name), Number(value));
        } else {
            put(file, tensor_name(field.name), value);
        }
    });
}

Parameters read_parameters(TensorReader& reader) {
    Parameters parameters;
    visit_fields(parameters, [&]<class Value>(const auto& field, Value& value) {
        if constexpr (std::is_same_v<Value, double>) {
            Number number;
            reader.read(tensor_name(field.name), number);
            value = number[0];
        } else {
            reader.read(tensor_name(field.name), value);
        }
    });
    return parameters;
}

LoadedModel read_model(TensorReader& reader) {
    Scene scene = scene_from_json(reader.text("scene"), reader.place());
    for (std::size_t i = 0; i < scene.meshes.size(); ++i) {
        reader.read(mesh_name(i, "vertices"), scene.meshes[i].vertices);
        reader.read(mesh_name(i, "triangles"), scene.meshes[i].triangles);
    }
    LoadedModel loaded{.parameters = read_parameters(reader)};
    return checked_contents(reader.place(), [&] {
        loaded.model = build_model(scene);
        validate(*loaded.model, loaded.parameters, "parameters");
        return loaded;
    });
}

void save_model(const std::filesystem::path& path, const Model& model, const Parameters& parameters) {
    write_tensor_file(path, model_to_tensors(model, parameters, file_place(path)));
}

LoadedModel load_model(const std::filesystem::path& path) {
    return model_from_tensors(read_tensor_file(path), file_place(path));
}

std::string model_to_bytes(const Model& model, const Parameters& parameters) {
    return encode_tensors(model_to_tensors(model, parameters, "model_to_bytes"), "model_to_bytes");
}

LoadedModel model_from_bytes(std::string_view bytes) {
    return model_from_tensors(decode_tensors(bytes, kMemory), kMemory);
}

}  // namespace farfield
